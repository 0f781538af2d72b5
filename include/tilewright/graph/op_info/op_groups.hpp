#pragma once
#include <cstdint>
#include <span>

#include "tilewright/core/list.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/op_info/packed_attributes.hpp"
#include "tilewright/graph/op_info/work_kind.hpp"
#include "tilewright/graph/placement.hpp"

namespace tilewright {

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

/// The parts of a convolution in `blocks` horizontal strips of each image, which become images of their own. An empty list: the
/// number of rows is no multiple of `blocks`.
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

// The groups of optional facts and rules of an op. An op states a group by a conversion to it, with the members that it has
// something to say about:
//
//   constexpr operator Effects() const { return Effects{.modifies = 0}; }
//
// A group that an op states replaces that of its base. No two groups have a member of one name, as OpInfo has them all.

/// What an op changes apart from its results, and what may be changed.
struct Effects {
  int modifies = -1;  ///< the input that is written in place and aliased by output 0, or -1
  bool has_side_effect = false;  ///< it is live even if nothing uses its results, and no other op is in its group
  bool may_repeat = false;  ///< a gradient graph may recompute it, so that its side effect happens again
  bool is_alias = false;  ///< its view is the same tensor: what changes one changes the other
  bool result_stays = false;  ///< an op in place on output 0 is an error of the trace
  /// Its gradient rule does not ask for its results (GradientContext::output), so that they need not be kept for it.
  bool gradient_needs_no_result = false;
};

/// What its kernel takes and writes.
struct KernelOperands {
  bool any_layout = false;  ///< its kernel, or its rule `view`, takes inputs of any strides; others get dense inputs
  bool any_result_layout = false;  ///< its kernel writes results of any strides; kernels of formulas always do
  /// An element depends on its position, its number in the row-major order of output 0. `work` and `compute` have one more
  /// input, after the others: a view of output 0's shape, of which `position_of` gives the first element's position.
  bool takes_positions = false;
  /// `compute` and `compute_with` have a last argument, `const kernel::Pieces&`, the pieces of a vertex that they compute: its
  /// threads share those of large vertices. Results are the same whichever pieces come together.
  bool takes_pieces = false;
  /// Operands may be float8, with which nothing is computed. Views, transfers and ops of CodeKind::copy need not say so.
  bool takes_float8 = false;
};

/// How it joins other ops in one kernel.
struct Fusion {
  /// `forward` is a function of elements that can be part of an expression or of an epilogue: `compute` is then not called.
  bool has_formula = false;
  bool elementwise = has_formula;  ///< each element of output 0 depends on the elements at the same place only
  /// `compute_with<A, Y>(epilogue, inputs...)` runs an epilogue on the result, while that is in registers.
  bool has_epilogue = false;
  bool bools_are_masks = false;  ///< its formula takes and gives bools as masks (kernel/mask.hpp) in batches; false: one by one
};

/// How the planner cuts its work.
struct CutRules {
  PartialsRule partials = nullptr;  ///< how partials become results, where a reduction is cut; null: by a sum
  /// The dtype of the partials of an output of some dtype, where a reduction is cut; null: float32 for float16, else the
  /// output's.
  DType (*partials_dtype)(const PackedAttributes&, DType output) = nullptr;
  /// Of a convolution: what is planned in its place where it occupies few tiles of a simulated IPU; null: it is never cut so.
  BlockRule expand_in_blocks = nullptr;
  /// The share of a tile's memory, from 0 to 1, that a product or a convolution may take for its operands and results; -1: the
  /// planner's own. Null: the op has no say.
  double (*memory_proportion)(const PackedAttributes&) = nullptr;
};

/// What it moves, or gives without computing.
struct Movement {
  TransferRule transfer = nullptr;  ///< what a load or store moves; null: the op is neither
  /// Where the op runs and its result is, if that is not where input 0 is; null: all are in one place.
  Placement (*result_placement)(const PackedAttributes&, const Placement& input) = nullptr;
  bool is_copy = false;  ///< input 1 is written into all of input 0, which it modifies: the planner's own copy, without a kernel
  bool gives_memory = false;  ///< output 0 is memory with undefined elements: nothing runs
};

/// Of a collective, which all replicas of a group run together by `run_collective<A, in, out>`: both rules, or none.
struct CollectiveWork {
  /// The number of items into which the work is cut, of all replicas together. `input` and `output` are as one replica has
  /// them.
  std::int64_t (*collective_items)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output) = nullptr;
  VolumeRule collective_volume = nullptr;  ///< what moves between the replicas
};

/// What it tells its user.
struct OpTexts {
  /// What the graph printer adds to the op's line, such as `partials_type=float16`, or nothing; null: never anything.
  Text (*options)(const PackedAttributes&) = nullptr;
  FaultRule fault = nullptr;  ///< the values that its `compute_checked` reports as faults; null: there are none
};

/// What kind of work it does, for passes that price or rewrite ops, and what kind of code.
struct OpKind {
  WorkKind work_kind = WorkKind::other;  ///< other: what its other members show
  CodeKind code_kind = code_kind_of(work_kind);  ///< of its kernel
};

}  // namespace tilewright
