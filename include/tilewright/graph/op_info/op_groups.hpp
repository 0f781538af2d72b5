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

/// One of the ops into which an op expands.
struct OpPart {
  const OpInfo* op = nullptr;  ///< never null
  PackedAttributes attributes{};  ///< of `op`
  List<int> inputs{};  ///< numbers of tensors: the whole op's inputs from 0 on, then the outputs of the previous parts
  List<TensorSpec> outputs{};  ///< not read for the last part, whose outputs are the whole op's
};
/// Rule for the parts of an op with these inputs and outputs, in the order of execution. The outputs of the last part are the
/// whole op's. An empty list: the op is planned without expansion.
using ExpandRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&);

/// Place outside of the tiles with which a transfer exchanges data.
enum class TransferKind : std::uint8_t {
  stream,  ///< the host: the next element of a stream
  remote,  ///< a row of a remote buffer, in streaming memory
  code  ///< the code of a graph, in streaming memory; it can only be loaded
};
/// Describes the transfer of a load or store between the tiles and the outside. The planner needs no other knowledge of the op.
///
/// The planner reads and writes streams by copies, so the op has no kernel. A row of a remote buffer is moved by a kernel, with
/// its own operands and without attributes, so that all rows share its code. Operands in order: a load reads the table of rows
/// (rows, elements) and, if there is one, the offset (1,), and writes the tensor (elements,); a store reads the tensor and the
/// offset, and writes the table. An offset is the number of a row: a kernel reports a fault if the table has no such row. If the
/// trace knows the row, there is no offset, and the table is that row alone.
struct Transfer {
  TransferKind kind{};
  std::int64_t number = -1;  ///< in the Ir: the stream, the remote buffer, or the graph whose code it is; -1: not set
  bool stores = false;  ///< whether it stores from the tiles; otherwise it loads
  int tensor = 0;  ///< the input that is stored. Not read for a load, which writes the input that the op `modifies`, or output 0
  int offset = -1;  ///< remote: the input that holds the row's number in a run; -1: `row` has it. Others: -1
  std::int64_t row = -1;  ///< remote: the row's number, if the trace knows it; -1: `offset` has it. Others: -1
  const OpInfo* kernel = nullptr;  ///< the op whose kernel moves the row; null: the op itself
};
using TransferRule = Transfer (*)(const PackedAttributes&);

/// Bytes that a collective moves between the replicas of each replica group. Neither reduced nor gathered: no bytes, as for a
/// slice of a tensor that each replica has.
struct CollectiveVolume {
  std::int64_t bytes = 0;  ///< of the whole tensor: what each replica has before a reduction, or after gathering
  bool reduces = false;  ///< each replica of a group gets a shard of the group's reduction
  bool gathers = false;  ///< each replica of a group gets all shards; after the reduction, if there is one
  ReplicaGroups groups{};  ///< replicas that take part together; {}: a single replica, for which nothing moves
};
/// Rule for the volume, from the first input and the first output of one replica.
using VolumeRule = CollectiveVolume (*)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output);

/// A value that an op cannot compute with, for the run's error text: `op: value 7 : expected`.
struct FaultText {
  bool possible = false;  ///< whether operands of these dtypes and shapes can have such a value at all
  Text value{};  ///< name of the value: "divisor", "offset"
  Text expected{};  ///< "an offset from 0 to 3"; the word "expected" is added to it
  bool of_all_vertices = false;  ///< whether every vertex of the op reports each wrong value; otherwise one vertex does
};
using FaultRule = FaultText (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&);

/// How the planner divides a reduction: the inputs of blocks, and the op that combines their partials.
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

/// Side effects of an op, and constraints on changing its results.
struct Effects {
  int modifies = -1;  ///< the input that is written in place and aliased by output 0, or -1
  bool has_side_effect = false;  ///< whether it is live even if nothing uses its results; no other op is in its group
  bool may_repeat = false;  ///< whether a gradient graph may recompute it and so repeat the side effect
  bool is_alias = false;  ///< whether its view is the same tensor: a change of one changes both
  bool result_stays = false;  ///< whether an in-place op on output 0 is an error of the trace
  /// Whether its gradient rule does not ask for its results (GradientContext::output), so that they need not be kept.
  bool gradient_needs_no_result = false;
};

/// Operands that an op's kernel supports.
struct KernelOperands {
  bool any_layout = false;  ///< whether its kernel, or its rule `view`, supports inputs of any strides; others get dense inputs
  /// Whether an element depends on its position, its number in the row-major order of output 0. `work` and `compute` then have
  /// one more input, after the others: a view of output 0's shape, from which `position_of` returns the first element's position.
  bool takes_positions = false;
  /// Whether operands may be float8, which supports no arithmetic. Views, transfers and ops of CodeKind::copy need not set it.
  bool takes_float8 = false;
};

/// How an op joins other ops in one kernel.
struct Fusion {
  /// Whether `forward` is a function of elements that can be part of an expression or of an epilogue; `compute` is then not
  /// called.
  bool has_formula = false;
  bool elementwise = has_formula;  ///< whether each element of output 0 depends on the elements at the same position only
  /// Whether `compute_with<A, Y>(epilogue, inputs...)` runs an epilogue on the result in registers.
  bool has_epilogue = false;
  /// Whether its formula uses masks (kernel/mask.hpp) for bools in batches; false: one bool at a time
  bool bools_are_masks = false;
};

/// How the planner divides an op's work.
struct CutRules {
  PartialsRule partials = nullptr;  ///< how partials become results if a reduction is divided; null: by a sum
  /// Dtype of the partials of an output of some dtype if a reduction is divided; null: float32 for float16, otherwise the
  /// output's.
  DType (*partials_dtype)(const PackedAttributes&, DType output) = nullptr;
  /// Returns the attributes with a dtype of partial sums, if they have none of their own; null: the op's cannot be chosen.
  PackedAttributes (*with_partials_type)(const PackedAttributes&, DType partials_type) = nullptr;
};

/// Data movement of an op, or results that it provides without computing.
struct Movement {
  TransferRule transfer = nullptr;  ///< transfer of a load or store; null: the op is neither
  /// Placement of the op and its result, if it is not that of input 0; null: all have one placement.
  Placement (*result_placement)(const PackedAttributes&, const Placement& input) = nullptr;
  /// Whether it writes input 1 into all of input 0, which it modifies: the planner's copy, without a kernel
  bool is_copy = false;
  bool gives_memory = false;  ///< whether output 0 is memory with undefined elements: nothing runs
};

/// Work of a collective, which all replicas of a group run together by `run_collective<A, in, out>`: both rules, or none. A
/// view may state `collective_volume` alone: which replicas have equal results.
struct CollectiveWork {
  /// Number of items into which the work is divided, of all replicas together. `input` and `output` are those of one replica.
  std::int64_t (*collective_items)(const PackedAttributes&, const TensorSpec& input, const TensorSpec& output) = nullptr;
  VolumeRule collective_volume = nullptr;  ///< bytes that move between the replicas
};

/// Texts for users.
struct OpTexts {
  /// Text that the graph printer adds to the op's line, such as `partials_type=float16`, or nothing; null: never anything.
  Text (*options)(const PackedAttributes&) = nullptr;
  FaultRule fault = nullptr;  ///< values that its `compute_checked` reports as faults; null: none
};

/// Kind of work, for passes that price or rewrite ops, and kind of code.
struct OpKind {
  WorkKind work_kind = WorkKind::other;  ///< other: derived from the other members
  CodeKind code_kind = code_kind_of(work_kind);  ///< of its kernel
};

}  // namespace tilewright
