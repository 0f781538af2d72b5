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

/// The identity of an op type: each op type owns one, so that a node of a frozen graph leads back to the C++ type.
struct OpTag {};

/// What autodiff does when a gradient reaches an op.
enum class Differentiation : std::uint8_t {
  rule,    ///< the op has a gradient rule, or it is a call: autodiff differentiates the called graph
  stops,   ///< the gradient ends here (detach, integer results)
  refuses  ///< an error: the op has no gradient. An op in place is refused even if no gradient reaches it
};

/// What the library knows about an op without knowing its type.
struct OpInfo : Effects, KernelOperands, Fusion, CutRules, Movement, CollectiveWork, OpTexts, OpKind {
  const OpTag* tag = nullptr;  ///< never null
  std::string_view name{};  ///< as print_schedule shows it
  void (*infer)(Inference&) = nullptr;  ///< checks the inputs and gives the outputs' specs; null: a call or MultiExchange
  Differentiation differentiation = Differentiation::refuses;
  void (*gradient)(GradientContext&) = nullptr;  ///< gives the inputs' gradients; null: the op has no rule, or is a call
  ViewRule view = nullptr;  ///< the layout of output 0 in the storage of input 0; null: output 0 is no view
  /// The iteration space, which the planner cuts into vertices; null: one vertex.
  Work (*work)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) = nullptr;
  ExpandRule expand = nullptr;  ///< the ops that are planned in its place; null: none
  VertexCost vertex_cost{};  ///< what its kernel costs on an IPU
};

/// The iteration space of an op on the given inputs and outputs.
constexpr Work work_of(const OpInfo& op, std::span<const TensorSpec> operands, int input_count,
                       const PackedAttributes& attributes) {
  if (!op.work) return Work{};
  return op.work(operands, input_count, attributes);
}

}  // namespace tilewright
