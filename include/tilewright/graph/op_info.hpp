#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "tilewright/core/list.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/layout.hpp"
#include "tilewright/graph/placement.hpp"
#include "tilewright/graph/vertex_cost.hpp"
#include "tilewright/graph/work.hpp"
#include "tilewright/graph/work_kind.hpp"

namespace tilewright {

class Inference;
class GradientContext;

/// The identity of an op type: each op type owns one, so that a node of a frozen graph leads back to the C++ type.
struct OpTag {};

/// An op's attributes, packed: a struct of 8-byte members, as words.
struct PackedAttributes {
  static constexpr std::size_t capacity = 40;  ///< in words
  std::int64_t words[capacity]{};  ///< one for each member; 0 after the last
  std::size_t count = 0;           ///< of members
  friend constexpr bool operator==(const PackedAttributes& a, const PackedAttributes& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
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
  packed.count = words.size();
  return packed;
}
template <class A>
constexpr A unpack(const PackedAttributes& packed) {
  if constexpr (std::is_empty_v<A>) {  // libc++'s array of no elements has the size of one
    return {};
  } else {
    std::array<std::int64_t, sizeof(A) / 8> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = packed.words[i];
    return std::bit_cast<A>(words);
  }
}

/// What autodiff does when a gradient reaches an op.
enum class Differentiation : std::uint8_t {
  rule,    ///< the op has a gradient rule, or it is a call: autodiff differentiates the called graph
  stops,   ///< the gradient ends here (detach, integer results)
  refuses  ///< an error: the op has no gradient. An op in place is refused even if no gradient reaches it
};

struct OpInfo;

/// One of the ops that an op stands for.
struct OpPart {
  const OpInfo* op = nullptr;  ///< never null
  PackedAttributes attributes{};  ///< of `op`
  List<int> inputs{};  ///< by number: the whole op's inputs from 0 on, then the outputs of the parts before this one
  List<TensorSpec> outputs{};  ///< not read for the last part, whose outputs are the whole op's
};
/// The parts of an op with these inputs and outputs, in the order in which they run. The outputs of the last are the whole op's.
/// An empty list: the op is planned as it is.
using ExpandRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&);

/// The same for a convolution over so many blocks of rows, which are extents of the first spatial axis: blocks are images of
/// their own there. An empty list: the rows are no multiple of the blocks.
using BlockRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&,
                                   std::int64_t blocks);

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
  int tensor = 0;  ///< the input that is stored. Not read for a load, which writes the input that the op `modifies`, or output 0
  int offset = -1;  ///< remote: the input that holds the row's number in a run; -1: `row` has it. Others: -1
  std::int64_t row = -1;  ///< remote: the row's number, if the trace knows it; -1: `offset` has it. Others: -1
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

/// How the planner cuts a reduction: what blocks take, and what makes one result of their partials.
struct Partials {
  const OpInfo* combiner = nullptr;  ///< the op that reduces partials along their first axis; null: they are summed
  PackedAttributes attributes{};  ///< of the combiner
  int whole_input = -1;  ///< an input that each block also takes whole, as one more input after the others; -1: none
};
using PartialsRule = Partials (*)(const PackedAttributes&);

/// What the library knows about an op without knowing its type.
struct OpInfo {
  const OpTag* tag = nullptr;  ///< never null
  std::string_view name{};  ///< as print_schedule shows it
  void (*infer)(Inference&) = nullptr;  ///< checks the inputs and gives the outputs' specs; null: a call or MultiExchange
  Differentiation differentiation = Differentiation::refuses;
  void (*gradient)(GradientContext&) = nullptr;  ///< gives the inputs' gradients; null: the op has no rule, or is a call
  int modifies = -1;  ///< the input that is written in place and aliased by output 0, or -1
  bool has_side_effect = false;  ///< it is live even if nothing uses its results, and no other op is in its group
  bool gradient_needs_no_result = false;  ///< its gradient rule does not ask for its results
  bool any_result_layout = false;  ///< its kernel writes results of any strides, as that of every formula does
  bool any_layout = false;  ///< its kernel, or its rule `view`, takes inputs of any strides; others get dense inputs
  bool elementwise = false;  ///< each element of output 0 depends on the elements at the same place only
  bool has_formula = false;  ///< it is a formula, which can be part of an expression or of an epilogue
  bool has_epilogue = false;  ///< its kernel can run an epilogue on its result, while that is in registers
  bool bools_are_masks = false;  ///< its formula takes and gives bools as masks of vectors; false: one by one
  ViewRule view = nullptr;  ///< the layout of output 0 in the storage of input 0; null: output 0 is no view
  /// The iteration space, which the planner cuts into vertices; null: one vertex.
  Work (*work)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) = nullptr;
  ExpandRule expand = nullptr;  ///< the ops that are planned in its place; null: none
  /// Of a convolution: what is planned in its place where it occupies few tiles of a simulated IPU; null: it is never cut so.
  BlockRule expand_in_blocks = nullptr;
  bool is_copy = false;  ///< input 1 is written into all of input 0, which it modifies: the planner's own copy, without a kernel
  bool result_stays = false;  ///< an op in place on output 0 is an error of the trace
  bool gives_memory = false;  ///< output 0 is memory with undefined elements: nothing runs
  bool takes_positions = false;  ///< its work and kernel have one more input: the positions of the elements of output 0
  WorkKind work_kind = WorkKind::other;  ///< gives code_kind and takes_float8 of ops that do not state them
  bool takes_float8 = false;  ///< its operands may be float8: it moves elements, or converts them
  CodeKind code_kind = CodeKind::other;  ///< of its kernel: what the op states, else that of its work_kind
  VertexCost vertex_cost{};  ///< what its kernel costs on an IPU: what the op states, else that of its work_kind
  FaultRule fault = nullptr;  ///< the values that its kernel reports as faults, or null: there are none
  bool is_alias = false;  ///< a view that is the same tensor: what changes one changes the other
  bool may_repeat = false;  ///< a gradient graph may recompute it, so that its side effect happens again
  TransferRule transfer = nullptr;  ///< what a load or store moves; null: the op is neither
  /// The number of items into which the work of a collective is cut, of all replicas together. `input` and `output` are as one
  /// replica has them. Null: the op is no collective.
  std::int64_t (*collective_items)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output) = nullptr;
  /// What the graph printer adds to the op's line, such as `partials_type=float16`, or nothing; null: never anything.
  Text (*options)(const PackedAttributes&) = nullptr;
  PartialsRule partials = nullptr;  ///< how partials become results, where a reduction is cut; null: by a sum
  /// The dtype of the partials of an output of some dtype, where a reduction is cut; null: float32 for float16, else the
  /// output's.
  DType (*partials_dtype)(const PackedAttributes&, DType output) = nullptr;
  /// The share of a tile's memory, from 0 to 1, that a product or a convolution may take for its operands and results; -1: the
  /// planner's own. Null: the op has no say.
  double (*memory_proportion)(const PackedAttributes&) = nullptr;
  VolumeRule collective_volume = nullptr;  ///< what a collective moves; null: the op is no collective
  /// Where the op runs and its result is, if that is not where input 0 is; null: all are in one place.
  Placement (*result_placement)(const PackedAttributes&, const Placement& input) = nullptr;
};

/// The iteration space of an op on the given inputs and outputs.
constexpr Work work_of(const OpInfo& op, std::span<const TensorSpec> operands, int input_count,
                       const PackedAttributes& attributes) {
  if (!op.work) return Work{};
  return op.work(operands, input_count, attributes);
}

}  // namespace tilewright
