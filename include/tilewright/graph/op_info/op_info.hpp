#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/graph/op_info/layout.hpp"
#include "tilewright/graph/op_info/op_groups.hpp"
#include "tilewright/graph/op_info/vertex_cost.hpp"
#include "tilewright/graph/op_info/work.hpp"

namespace tilewright {

class Inference;
class GradientContext;

/// Identity of an op type. Each op type owns one, so that a node of a frozen graph leads back to the C++ type.
struct OpTag {};

struct HostRules;  // rules/host/host_rules.hpp
struct IpuRules;  // rules/ipu/ipu_rules.hpp

/// The rules of an op that the planner of one kind of machine alone reads. Null: the op states none.
struct MachineRules {
  const HostRules* host = nullptr;
  const IpuRules* ipu = nullptr;
};

/// Action of autodiff when a gradient reaches an op.
enum class Differentiation : std::uint8_t {
  rule,    ///< the op has a gradient rule, or it is a call: autodiff differentiates the called graph
  stops,   ///< the gradient ends here (detach, integer results)
  refuses  ///< an error: the op has no gradient. An in-place op is refused even if no gradient reaches it
};

/// Type-erased description of an op.
struct OpInfo : Effects, KernelOperands, Fusion, CutRules, Movement, CollectiveWork, OpTexts, OpKind {
  const OpTag* tag = nullptr;  ///< never null
  std::string_view name{};  ///< name, as print_schedule shows it
  void (*infer)(Inference&) = nullptr;  ///< checks the inputs and sets the outputs' specs; null: a call or MultiExchange
  Differentiation differentiation = Differentiation::refuses;
  void (*gradient)(GradientContext&) = nullptr;  ///< computes the inputs' gradients; null: the op has no rule, or is a call
  ViewRule view = nullptr;  ///< layout of output 0 in the storage of input 0; null: output 0 is not a view
  /// Iteration space, which the planner divides into vertices; null: one vertex.
  Work (*work)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) = nullptr;
  ExpandRule expand = nullptr;  ///< ops that are planned in its place; null: none
  VertexCost vertex_cost{};  ///< cost of its kernel on an IPU
  MachineRules machine_rules{};  ///< read by host_rules_of and ipu_rules_of, which have those of the library's ops
};

/// Returns the iteration space of an op on the given inputs and outputs.
constexpr Work work_of(const OpInfo& op, std::span<const TensorSpec> operands, int input_count,
                       const PackedAttributes& attributes) {
  if (!op.work) return Work{};
  return op.work(operands, input_count, attributes);
}

}  // namespace tilewright
