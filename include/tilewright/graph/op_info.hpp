#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/layout.hpp"
#include "tilewright/graph/work.hpp"

namespace tilewright {

class Inference;
class GradientContext;

/// The identity of an op type: each op type owns one, so that a node of a frozen graph leads back to the C++ type.
struct OpTag {};

/// An op's attributes, packed: a struct of 8-byte members, as words.
struct PackedAttributes {
  static constexpr std::size_t capacity = 12;
  std::int64_t words[capacity]{};
  friend constexpr bool operator==(const PackedAttributes& a, const PackedAttributes& b) {
    for (std::size_t i = 0; i < capacity; ++i)
      if (a.words[i] != b.words[i]) return false;
    return true;
  }
};

template <class A>
constexpr PackedAttributes pack(const A& attributes) {
  static_assert(sizeof(A) % 8 == 0 && sizeof(A) / 8 <= PackedAttributes::capacity,
                "attributes are at most 12 members of 8 bytes");
  const auto words = std::bit_cast<std::array<std::int64_t, sizeof(A) / 8>>(attributes);
  PackedAttributes packed;
  for (std::size_t i = 0; i < words.size(); ++i) packed.words[i] = words[i];
  return packed;
}
template <class A>
constexpr A unpack(const PackedAttributes& packed) {
  std::array<std::int64_t, sizeof(A) / 8> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = packed.words[i];
  return std::bit_cast<A>(words);
}

/// What autodiff does when a gradient reaches an op.
enum class Differentiation : std::uint8_t {
  rule,    ///< the op has a gradient rule
  stops,   ///< the gradient ends here (detach, integer results)
  refuses  ///< an error: the op has no gradient
};

struct OpInfo;

/// One of the ops that an op stands for. Its inputs are numbers: those of the whole op's inputs, then of the outputs of the parts
/// before it.
struct OpPart {
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  List<int> inputs{};
  List<TensorSpec> outputs{};
};
/// The parts of an op with these inputs and outputs, in the order in which they run. The outputs of the last are the whole op's.
/// None: it is planned as it is.
using ExpandRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&);

enum class TransferKind : std::uint8_t { stream, remote_load, remote_store, code };
/// What a load or store moves between the machine's tiles and what is outside of them.
struct Transfer {
  TransferKind kind{};
  std::int64_t number = -1;  ///< of the stream, the remote buffer, or the graph whose code it is
  std::int64_t row = -1;  ///< of the remote buffer; -1: a run computes it
};
using TransferRule = Transfer (*)(const PackedAttributes&);

/// A value that an op cannot compute with, as the run's error text names it: `op: value 7 : expected`.
struct FaultText {
  bool possible = false;  ///< whether operands of these dtypes and shapes can have such a value at all
  Text value{};  ///< what it is: "divisor", "offset"
  Text expected{};  ///< "an offset from 0 to 3"
};
using FaultRule = FaultText (*)(std::span<const TensorSpec> operands, int input_count);

/// What the library knows about an op without knowing its type.
struct OpInfo {
  const OpTag* tag = nullptr;
  std::string_view name{};  ///< as print_schedule shows it
  void (*infer)(Inference&) = nullptr;
  Differentiation differentiation = Differentiation::refuses;
  void (*gradient)(GradientContext&) = nullptr;
  int modifies = -1;  ///< the input that is written in place and aliased by output 0, or -1
  bool has_side_effect = false;  ///< it stays although nothing uses its results
  bool any_layout = false;  ///< its codelet takes views of any strides; others get dense operands
  bool elementwise = false;  ///< each element of output 0 depends on the elements at the same place only
  bool has_formula = false;  ///< it is a function object of elements, which can be part of a larger expression
  bool has_epilogue = false;  ///< its codelet can hand its result on in registers, element by element
  ViewRule view = nullptr;  ///< output 0 as a view of input 0, or null: its value is that of the input when it is made
  Work (*work)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) = nullptr;  ///< null: one vertex
  ExpandRule expand = nullptr;  ///< what is planned in its place, or null
  std::int64_t code_bytes = 0;  ///< of its codelet, on an IPU
  FaultRule fault = nullptr;  ///< the values that its kernel reports as faults, or null: there are none
  bool is_alias = false;  ///< a view that is the same tensor: what changes one changes the other
  bool may_repeat = false;  ///< its side effect may come again when a graph is computed again
  TransferRule transfer = nullptr;  ///< what it moves, if it is a load or store that an exchange can be merged of
  /// Of a collective, which all replicas run together, each reading what others have: into how many parts its work is cut. Null:
  /// it is none.
  std::int64_t (*collective_items)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output) = nullptr;
};

/// The iteration space of an op on the given inputs and outputs.
constexpr Work work_of(const OpInfo& op, std::span<const TensorSpec> operands, int input_count,
                       const PackedAttributes& attributes) {
  if (!op.work) return Work{};
  return op.work(operands, input_count, attributes);
}

}  // namespace tilewright
