#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/op_info/layout.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/draft/storage_id.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright::internal {

/// Memory that all views of a tensor share.
struct Storage {
  TensorSpec whole{};     ///< dtype and shape of the tensor that fills it
  Location location{};    ///< if it is in the frame, `place` sets the offset, which is 0 before
  StorageId reuses = StorageId::none;  ///< storage whose memory it takes over; none: it has its own memory
  /// Whether only one group uses it, and each vertex only its own block. The block is in scratch or in registers, so the
  /// storage has no place
  bool internal = false;
  bool begins_undefined = false;  ///< whether an op provides it without writing its elements (OpInfo::gives_memory)
  bool is_call_result = false;  ///< whether a plain call writes it, not a loop or a conditional
  Placement placement{};  ///< IPU and tiles; not known if the program names none, or if several have it
};

/// An operand of an operation: a view of a storage.
struct Value {
  StorageId storage = StorageId::none;  ///< none: not created yet
  Layout layout{};  ///< in elements of `spec.dtype`
  TensorSpec spec{};
};

/// Returns whether a value has all elements of a storage, in row-major order.
constexpr bool is_whole_and_dense(const Value& value, const Storage& storage) {
  return value.layout.offset == 0 && value.spec.bytes() == storage.whole.bytes() && is_dense(value.spec.shape, value.layout);
}

/// Returns whether a value has all elements of a storage, with channels as the last axis of memory.
constexpr bool is_whole_with_channels_last(const Value& value, const Storage& storage) {
  return value.layout.offset == 0 && value.spec.shape == storage.whole.shape && value.spec.dtype == storage.whole.dtype &&
         is_channels_last(value.spec.shape, value.layout.strides) &&
         value.layout.strides == channels_last_strides(value.spec.shape);
}

/// Bodies that an operation calls, or whose code it loads.
struct Calling {
  BodyId body = BodyId::none;  ///< called body (of a conditional: for true), or loaded body; none: an op
  BodyId else_body = BodyId::none;  ///< called by a conditional for false; otherwise none
  int inputs = 0, outputs = 0;  ///< of the graph of `body`, including outputs that nothing uses
  int else_inputs = 0, else_outputs = 0;  ///< of the graph of `else_body`; otherwise 0
  std::optional<LoopAttributes> loop{};  ///< of a loop; otherwise empty
};

/// One op, one call, or one load of code.
struct Operation {
  const OpInfo* op = nullptr;  ///< null: a call or a load of code
  PackedAttributes attributes{};
  int input_count = 0;  ///< of the operands; inputs come before outputs
  /// Operands of a call, in this order. Inputs: the condition of a conditional, then the inputs of each body. Outputs, from index
  /// `input_count` on: the outputs of each body; the second place of each tensor that a loop carries; the inputs that the call
  /// changes, a second time; the bodies' frame.
  List<Value> operands{};
  Work work{};  ///< of an op, set by split_operations; axes of undivided sums are whole
  /// Whether it produces partials: an axis of a reduction (gives_partials) is divided. Each output that does not follow that axis
  /// is the first of Partition::partials tensors, which its storage holds in sequence.
  bool partial = false;
  SumParts parts = SumParts::apart;  ///< whether one worker adds up partials that it makes or combines
  Calling calling{};
  GraphId graph =
      GraphId::none;  ///< graph in which the op was traced; none: a call, a load of code, or a copy or sum of the planner
  int scope = -1;  ///< index in IrTables::name_scopes of the op's scope; -1: no scope, or `graph` is none
  bool loads_code = false;  ///< whether it loads the code of `calling.body`, which does not run
  int stream = -1;  ///< stream that moves to its next element afterwards; -1: none
  bool alone = false;  ///< whether its group has no other operations
  Placement placement{};  ///< placement of its first result, or input; unknown in the cases of Storage
  int exchange = -1;  ///< counted from 0 in each draft: transfers with equal numbers share one exchange; -1: no exchange

  /// Returns whether it is a call or a load of code, which have no op. Step::is_call is true for calls only.
  constexpr bool is_call() const { return calling.body != BodyId::none; }
  constexpr bool is_output(int operand) const { return operand >= input_count; }
  /// Returns the first result of an op that is no input which the op changes in place.
  constexpr int first_new_result() const { return op->modifies >= 0 ? input_count + 1 : input_count; }
  constexpr bool writes(StorageId storage) const {
    const Value* const values = operands.data();
    for (int o = input_count, count = static_cast<int>(operands.size()); o < count; ++o)
      if (values[o].storage == storage) return true;
    return false;
  }
};

namespace detail {
constexpr List<TensorSpec> operand_specs(const Operation& operation) {
  List<TensorSpec> specs;
  specs.reserve(operation.operands.size());
  for (const Value& value : operation.operands) specs.push_back(value.spec);
  return specs;
}
/// Channels that a vertex has at least, and a multiple of which, where channels are the last axis of memory: a line of a cache.
inline constexpr std::int64_t channel_grain = 16;
/// Returns the iteration space of an op from its operands.
constexpr Work work_of(const Operation& operation) {
  const List<TensorSpec> specs = operand_specs(operation);
  Work work = tilewright::work_of(*operation.op, {specs.data(), specs.size()}, operation.input_count, operation.attributes);
  for (std::size_t o = 0; o < operation.operands.size(); ++o) {
    const Value& value = operation.operands[o];
    if (value.spec.shape.rank != 4 || !is_channels_last(value.spec.shape, value.layout.strides)) continue;
    if (const int axis = work.follows(static_cast<int>(o), 1); axis >= 0)
      work.axes[axis].grain = (std::max)(work.axes[axis].grain, channel_grain);
  }
  return work;
}
}  // namespace detail

/// Returns the values that the operation's kernel reports as faults.
constexpr FaultText fault_of(const Operation& operation) {
  if (operation.is_call() || !operation.op->fault) return {};
  const List<TensorSpec> specs = detail::operand_specs(operation);
  return operation.op->fault({specs.data(), specs.size()}, operation.input_count, operation.attributes);
}
/// Returns whether the op is a formula that can be part of a larger expression, or of an epilogue. One that can fault has a
/// kernel instead.
constexpr bool is_formula(const Operation& operation) {
  return operation.op->has_formula && !(operation.op->fault && fault_of(operation).possible);
}

/// An operation of a group.
struct Member {
  int operation = 0;  ///< in the draft
  FixedVector<std::int8_t, max_work_axes> grid_axis{};  ///< by axis of its work: the axis of the group's grid; -1: not divided
};

/// Operations over a common grid, which each vertex runs in sequence on its block; or one call or load of code.
struct Group {
  List<Member> members{};
  FixedVector<WorkAxis, max_work_axes> grid{};
  std::int64_t cost = 0;  ///< estimate for all vertices together, in multiply-adds, at least 1; not read for a call
};

/// How the values of a group's members are computed; by member.
struct Evaluations {
  List<Evaluation> kinds{};
  List<int> kernels{};  ///< member in whose kernel or loop the value is computed; itself for a kernel
  List<bool> in_registers{};  ///< whether the value is never in memory: its readers have it in registers
  unsigned by_image = 0;  ///< bit m: whether the value of member m is in scratch for one image at a time: StageOperand::by_image
};

/// How a group is divided into vertices and its members are evaluated. A call has one vertex, and no members.
struct Cut {
  Partition partition{};  ///< extents of blocks by axis of the group's grid, and their number
  Evaluations evaluations{};
};

/// A body during planning. Passes fill the lists in order: see docs/extend/adding-a-pass.md.
struct BodyDraft {
  PerStorage<Storage> storages{};
  List<Operation> operations{};  ///< in a valid order of execution
  List<Group> groups{};  ///< in the order of execution; set by fuse
  List<Cut> cuts{};  ///< by group; set by cut_groups
  Placement placement{};  ///< of new storages, while operations are added
  List<StorageId> constants{};  ///< by number in the plan: storage of each constant that operations use, or none

  constexpr Storage& storage(StorageId i) { return storages[i]; }
  constexpr const Storage& storage(StorageId i) const { return storages[i]; }
  constexpr const Operation& operation(const Member& member) const { return operations[member.operation]; }
  /// Returns whether the location of a storage is in the frame. True also for an internal one, which has no place there.
  constexpr bool in_frame(StorageId i) const { return storages[i].location.base == Base::frame; }
  /// Returns the storage whose memory this one finally uses.
  constexpr StorageId owner(StorageId i) const {
    while (storages[i].reuses != StorageId::none) i = storages[i].reuses;
    return i;
  }
  constexpr StorageId add_storage(const TensorSpec& whole, const Location& location = {}) {
    make_room(storages);
    storages.push_back({.whole = whole, .location = location, .placement = placement});
    return StorageId(storages.size() - 1);
  }
  constexpr void add(Operation&& operation) {
    make_room(operations);
    const int results = static_cast<int>(operation.operands.size()) - operation.input_count;
    if (!operation.is_call() && !operation.operands.empty())
      operation.placement = storages[operation.operands[results > 0 ? operation.input_count : 0].storage].placement;
    operations.push_back(std::move(operation));
  }
  /// Adds a dense value with a new storage in the frame, or at the location.
  constexpr Value add_value(const TensorSpec& spec, const Location& location = {}) {
    return {add_storage(spec, location), dense_layout(spec.shape), spec};
  }
  /// Sets the placement of a new value's storage.
  constexpr Value placed(const Value& value, const Placement& where) {
    storages[value.storage].placement = where;
    return value;
  }
  constexpr const Placement& placement_of(const Value& value) const { return storages[value.storage].placement; }
  /// Returns where the first element of a value is. In the frame, the offset is valid only after `place` has run.
  constexpr Location location_of(const Value& value) const {
    Location result = storages[owner(value.storage)].location;
    result.offset += value.layout.offset * size_of(value.spec.dtype);
    return result;
  }
};

/// Calls f(operation, number of the operand, member) for every operand of a group.
constexpr void for_each_operand(const BodyDraft& draft, const Group& group, auto f) {
  for (const Member& member : group.members) {
    const Operation& operation = draft.operation(member);
    for (std::size_t i = 0; i < operation.operands.size(); ++i) f(operation, static_cast<int>(i), member);
  }
}

/// By axis of an operand, the axis of the grid along which it is divided; -1: not divided.
class GridAxes {
 public:
  constexpr GridAxes() = default;
  constexpr GridAxes(const Operation& operation, const Member& member, int operand) {
    int shift = 0;
    for (std::uint32_t follows = operation.work.follows_plus_one[operand]; follows != 0; follows >>= 4, shift += 4)
      if ((follows & 15) != 0) plus_one_ |= static_cast<unsigned>(member.grid_axis.items[(follows & 15) - 1] + 1) << shift;
  }
  constexpr int operator[](int axis) const { return static_cast<int>(plus_one_ >> 4 * axis & 15) - 1; }
  constexpr bool operator==(const GridAxes&) const = default;

 private:
  std::uint32_t plus_one_ = 0;  // 4 bits for each axis
};
constexpr GridAxes grid_axes_of(const Operation& operation, const Member& member, int operand) {
  return {operation, member, operand};
}
/// Returns the bytes that a value's block for one vertex has when the block is dense.
constexpr std::int64_t block_bytes(const Value& value, const GridAxes& axes,
                                   const FixedVector<std::int64_t, max_work_axes>& blocks) {
  std::int64_t bytes = size_of(value.spec.dtype);
  for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
    const int cut = axes[axis];
    bytes *= cut < 0 ? value.spec.shape[axis] : (std::min)(blocks[cut], value.spec.shape[axis]);
  }
  return bytes;
}

/// Returns the bytes of a value's block in scratch. `by_image`: of its part of one index of the first axis.
constexpr std::int64_t scratch_bytes(const Value& value, const GridAxes& axes,
                                     const FixedVector<std::int64_t, max_work_axes>& blocks, bool by_image) {
  if (!by_image) return block_bytes(value, axes, blocks);
  Value image = value;
  image.spec.shape[0] = 1;
  return block_bytes(image, axes, blocks);
}

/// By storage, the first and the last group that uses it; -1: none does.
struct Lifetimes {
  PerStorage<int> first, last;
  constexpr explicit Lifetimes(const BodyDraft& draft) : first(draft.storages.size(), -1), last(first) {
    for (std::size_t g = 0; g < draft.groups.size(); ++g)
      for_each_operand(draft, draft.groups[g], [&](const Operation& operation, int i, const Member&) {
        const StorageId s = operation.operands[i].storage;
        if (first[s] < 0) first[s] = static_cast<int>(g);
        last[s] = static_cast<int>(g);
      });
  }
};

}  // namespace tilewright::internal
