#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/layout.hpp"
#include "tilewright/graph/work.hpp"
#include "tilewright/graph/work_kind.hpp"

namespace tilewright {

class Inference;
class GradientContext;

/// The identity of an op type: each op type owns one, so that a node of a frozen graph leads back to the C++ type.
struct OpTag {};

/// An op's attributes, packed: a struct of 8-byte members, as words.
struct PackedAttributes {
  static constexpr std::size_t capacity = 40;
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
                "attributes are at most PackedAttributes::capacity members of 8 bytes");
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

/// What is at the other end of a transfer.
enum class TransferKind : std::uint8_t {
  stream,  ///< the host: the next element of a stream
  remote,  ///< a row of a remote buffer, in streaming memory
  code  ///< the code of a graph, in streaming memory; it can only be loaded
};
/// What a load or store moves between the tiles and what is outside of them. The planner needs to know no more of the op.
///
/// A stream is read and written by copies that the planner makes: the op has no kernel. For a row the op is the kernel, with
/// operands of its own and without attributes, so that all rows share its code. In their order: a load reads the table of rows
/// (rows, elements) and, if there is one, the offset (1,), and writes the tensor (elements,); a store reads the tensor and the
/// offset, and writes the table. An offset is the number of a row: a kernel reports a fault if the table has no such row. If the
/// trace knows the row, there is no offset, and the table is that row alone.
struct Transfer {
  TransferKind kind{};
  std::int64_t number = -1;  ///< of the stream, the remote buffer, or the graph whose code it is, in the Ir; -1: not set
  bool stores = false;  ///< from the tiles; else it loads
  int tensor = 0;  ///< of a store: the input that is stored. A load writes the input that the op `modifies`, or makes output 0
  int offset = -1;  ///< remote: the input that holds the row's number in a run; -1: `row` is known. Either is given, never both
  std::int64_t row = -1;  ///< remote: the row's number, if the trace knows it; -1: `offset` is given. Others: both are -1
  const OpInfo* kernel = nullptr;  ///< the op whose kernel moves the row; null: the op itself
};
using TransferRule = Transfer (*)(const PackedAttributes&);

/// What a collective moves between the replicas of each replica group. Neither reduced nor gathered: nothing, as for a slice of
/// what each replica has.
struct CollectiveVolume {
  std::int64_t bytes = 0;  ///< of the whole tensor: what each replica has before a reduction, or after gathering
  bool reduces = false;  ///< each replica of a group gets a shard of the group's reduction
  bool gathers = false;  ///< each replica of a group gets all shards; after the reduction, if there is one
  ReplicaGroups groups{};  ///< replicas that take part together; {}: a single replica, for which nothing moves
};
/// Of the first input and the first output, as one replica has them.
using VolumeRule = CollectiveVolume (*)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output);

/// A value that an op cannot compute with, as the run's error text names it: `op: value 7 : expected`.
struct FaultText {
  bool possible = false;  ///< whether operands of these dtypes and shapes can have such a value at all
  Text value{};  ///< what the value is, not its number: "divisor", "offset"
  Text expected{};  ///< "an offset from 0 to 3"; the word "expected" is added to it
  bool of_all_vertices = false;  ///< every vertex of the op reports each wrong value; else one vertex does
};
using FaultRule = FaultText (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&);

/// What the library knows about an op without knowing its type.
struct OpInfo {
  const OpTag* tag = nullptr;
  std::string_view name{};  ///< as print_schedule shows it
  void (*infer)(Inference&) = nullptr;  ///< checks the inputs and gives the outputs' specs; null only for calls and exchanges
  Differentiation differentiation = Differentiation::refuses;
  void (*gradient)(GradientContext&) = nullptr;  ///< gives the inputs' gradients; null: the op has no rule, or is a call
  int modifies = -1;  ///< the input that is written in place and aliased by output 0, or -1
  bool has_side_effect = false;  ///< it stays although nothing uses its results
  bool any_layout = false;  ///< its codelet takes views of any strides; others get dense operands
  bool elementwise = false;  ///< each element of output 0 depends on the elements at the same place only
  bool has_formula = false;  ///< it is a function object of elements, which can be part of a larger expression
  bool has_epilogue = false;  ///< its codelet runs epilogues of others on its result, while that is in registers
  bool bools_are_masks = false;  ///< its formula takes and gives bools as masks, where vectors are computed
  ViewRule view = nullptr;  ///< the layout of output 0 in the storage of input 0; null: output 0 is no view
  Work (*work)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) = nullptr;  ///< null: one vertex
  ExpandRule expand = nullptr;  ///< what is planned in its place, or null
  bool is_copy = false;  ///< input 1 is written into all of input 0, which it modifies: the planner's own copy, without a kernel
  bool result_stays = false;  ///< output 0 may not change in place
  bool gives_memory = false;  ///< it gives memory whose elements nobody has written yet: nothing runs
  bool takes_positions = false;  ///< its work and codelet have one more input: the positions of the elements of output 0
  WorkKind work_kind = WorkKind::other;
  bool takes_float8 = false;  ///< its operands may be float8: it moves elements, or converts them
  CodeKind code_kind = CodeKind::other;  ///< of its codelet: what the op states, else that of its work_kind; so always an answer
  FaultRule fault = nullptr;  ///< the values that its kernel reports as faults, or null: there are none
  bool is_alias = false;  ///< a view that is the same tensor: what changes one changes the other
  bool may_repeat = false;  ///< its side effect may come again where a gradient graph computes its graph again
  TransferRule transfer = nullptr;  ///< what a load or store moves; null: the op is neither
  /// Of a collective, which all replicas run together, each reading what others have: the items into which its work is cut, of
  /// all replicas together. `input` and `output` are as one replica has them. Null: the op is no collective.
  std::int64_t (*collective_items)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output) = nullptr;
  /// What the graph printer adds to the op's line, such as `partials_type=float16`, or nothing; null: never anything.
  Text (*options)(const PackedAttributes&) = nullptr;
  /// The dtype of the partial results of an output of some dtype, where a sum is cut; null: float32 for float16, else the
  /// output's.
  DType (*partials_dtype)(const PackedAttributes&, DType output) = nullptr;
  VolumeRule collective_volume = nullptr;  ///< of a collective: what it moves; null: the op is no collective
};

/// The iteration space of an op on the given inputs and outputs.
constexpr Work work_of(const OpInfo& op, std::span<const TensorSpec> operands, int input_count,
                       const PackedAttributes& attributes) {
  if (!op.work) return Work{};
  return op.work(operands, input_count, attributes);
}

}  // namespace tilewright
