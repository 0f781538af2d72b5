#pragma once
#include <algorithm>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/compute_sets.hpp"
#include "tilewright/lower/evaluation.hpp"
#include "tilewright/lower/fault_sites.hpp"
#include "tilewright/lower/fuse.hpp"
#include "tilewright/lower/memory.hpp"

namespace tilewright {

namespace detail {

/// Writes a draft's groups to the plan as steps over a frame.
class Placer {
 public:
  constexpr Placer(const Ir& ir, BodyDraft& draft, const Target& target, ComputeSets& compute_sets, Plan& plan)
      : ir_(ir), draft_(draft), target_(target), compute_sets_(compute_sets), plan_(plan), block_of_(draft.storages.size(), -1) {}

  constexpr Body run() {
    Body body{.first_step = static_cast<int>(plan_.steps.size()), .step_count = static_cast<int>(draft_.groups.size())};
    List<Cut> cuts;
    for (const Group& group : draft_.groups) cuts.push_back(cut(group));
    body.frame_bytes = allocate_frame();
    int last_exchange = 0;
    for (std::size_t i = 0; i < draft_.groups.size(); ++i) {
      const Operation& first = draft_.operation(draft_.groups[i].members[0]);
      if (first.alone > 1) {
        if (first.alone != last_exchange) plan_.exchanges.push_back({static_cast<int>(plan_.steps.size())});
        ++plan_.exchanges.back().step_count;
      }
      last_exchange = first.alone;
      if (!first.is_call()) {
        add_compute(draft_.groups[i], cuts[i]);
        continue;
      }
      add_call(first);
      const Calling& calling = first.calling;
      body.max_arguments = std::max(
          {body.max_arguments, calling.inputs + calling.outputs, calling.else_inputs + calling.else_outputs});
    }
    return body;
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  constexpr std::int64_t allocate_frame() {
    for (std::size_t i = 0; i < draft_.groups.size(); ++i)
      for_each_operand(draft_, draft_.groups[i], [&](const Operation& operation, int o, const Member&) {
        const int storage = draft_.owner(operation.operands[at(o)].storage), step = static_cast<int>(i);
        if (!draft_.in_frame(storage) || draft_.storage(storage).internal) return;
        int& block = block_of_[at(storage)];
        if (block < 0) {
          block = static_cast<int>(blocks_.size());
          make_room(blocks_);
          blocks_.push_back({draft_.storage(storage).whole.bytes(), step, step});
        }
        blocks_[at(block)].last = step;
      });
    return allocate(blocks_, static_cast<int>(draft_.groups.size()));
  }
  constexpr Location location(const Value& value) const {
    const int storage = draft_.owner(value.storage);
    Location result = draft_.storage(storage).location;
    if (draft_.in_frame(storage)) result.offset = blocks_[at(block_of_[at(storage)])].offset;
    result.offset += value.layout.offset * size_of(value.spec.dtype);
    return result;
  }
  constexpr void add_call(const Operation& call) {
    if (call.loads_code) {
      make_room(plan_.steps);
      plan_.steps.push_back({.kind = StepKind::load_code, .target = call.calling.body});
      return;
    }
    const Calling& calling = call.calling;
    Step step{.kind = StepKind::call, .target = calling.body, .first_location = static_cast<int>(plan_.locations.size())};
    step.arguments = calling.inputs + calling.outputs;
    make_room(plan_.locations, call.operands.size());
    make_room(plan_.steps);
    if (calling.loop) {
      step.kind = StepKind::loop;
      step.count = calling.loop->count;
      add_iterations(call);
      step.first_stride = static_cast<int>(plan_.strides.size());
      add_slice_strides(call);
    } else {
      const int first_output = call.input_count;
      int first_input = 0;
      if (calling.else_body >= 0) {
        step.kind = StepKind::conditional;
        step.else_target = calling.else_body;
        add_locations(call, first_input++, 1);
      }
      add_locations(call, first_input, calling.inputs);
      add_locations(call, first_output, calling.outputs);
      add_locations(call, first_input + calling.inputs, calling.else_inputs);
      add_locations(call, first_output + calling.outputs, calling.else_outputs);
    }
    step.location_count = static_cast<int>(plan_.locations.size()) - step.first_location;
    step.frame_offset = location(call.operands.back()).offset;
    plan_.steps.push_back(step);
  }
  constexpr void add_locations(const Operation& operation, int first, int count) {
    for (int i = first; i < first + count; ++i) plan_.locations.push_back(location(operation.operands[at(i)]));
  }
  /// The arguments of a loop's first iteration, of odd ones and of even ones. What is carried is written by turns to the output
  /// and to its second place, in the last iteration to the output, and read where the iteration before wrote it.
  constexpr void add_iterations(const Operation& call) {
    const Calling& calling = call.calling;
    const LoopAttributes& loop = *calling.loop;
    for (int turn = 0; turn < 3; ++turn) {
      const bool writes_output = (loop.count - 1 - turn) % 2 == 0;
      const int output = call.input_count, second = output + calling.outputs;
      for (int i = 0; i < calling.inputs; ++i) {
        Location from = location(call.operands[at(i)]);
        if (turn > 0 && i < loop.carried) from = location(call.operands[at((writes_output ? second : output) + i)]);
        if (loop.reversed != 0 && is_slice(loop, i)) from.offset += (loop.count - 1) * slice_bytes(call.operands[at(i)], loop);
        plan_.locations.push_back(from);
      }
      for (int o = 0; o < calling.outputs; ++o)
        plan_.locations.push_back(location(call.operands[at((writes_output || o >= loop.carried ? output : second) + o)]));
    }
  }
  constexpr void add_slice_strides(const Operation& call) {
    const Calling& calling = call.calling;
    const LoopAttributes& loop = *calling.loop;
    for (int i = 0; i < calling.inputs + calling.outputs; ++i) {
      std::int64_t stride = 0;
      if (i >= calling.inputs ? i - calling.inputs >= loop.carried : is_slice(loop, i))
        stride = slice_bytes(call.operands[at(i)], loop) * (loop.reversed != 0 ? -1 : 1);
      plan_.strides.push_back(stride);
    }
  }
  static constexpr bool is_slice(const LoopAttributes& loop, int input) {
    return input >= loop.carried && input < loop.carried + loop.sliced;
  }
  static constexpr std::int64_t slice_bytes(const Value& all, const LoopAttributes& loop) {
    return all.spec.bytes() / loop.count;
  }

  /// How a group is cut into vertices, and its members are evaluated.
  struct Cut {
    Partition partition{};
    Evaluations evaluations{};
  };
  constexpr Cut cut(const Group& group) {
    const Operation& first = draft_.operation(group.members[0]);
    Cut result;
    if (first.is_call()) return result;
    const DType dtype = first.operands[at(first.input_count)].spec.dtype;
    result.evaluations = evaluate(draft_, group);
    result.partition = partition(group.grid, dtype, target_);
    if (group.members.size() == 1) return result;
    const List<PassedOn> passed_on = find_passed_on(group, result.evaluations);
    cut_blocks(result.partition, group.grid, dtype, target_.block_bytes, target_, [&](const auto& blocks) {
      std::int64_t bytes = 0;
      for (const PassedOn& each : passed_on) bytes += block_bytes(*each.value, each.grid_axis, blocks);
      return bytes;
    });
    if (limit_scratch(group, result)) result.evaluations = evaluate(draft_, group);
    return result;
  }
  /// A vertex's own memory is on its thread's stack: what is too large for that goes to the frame. Whether there is such a thing.
  constexpr bool limit_scratch(const Group& group, const Cut& cut) {
    std::int64_t bytes = 0;
    bool is_limited = false;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      for (int o = operation.input_count; cut.evaluations.in_registers[m] == 0 && o < static_cast<int>(operation.operands.size());
           ++o) {
        const Value& value = operation.operands[at(o)];
        Storage& storage = draft_.storage(value.storage);
        if (!storage.internal || operation.op->modifies >= 0) continue;
        bytes += align(block_bytes(value, grid_axes_of(operation, group.members[m], o), cut.partition.blocks));
        if (bytes <= max_scratch_bytes) continue;
        storage.internal = false;
        is_limited = true;
      }
    }
    return is_limited;
  }

  constexpr void add_compute(const Group& group, const Cut& group_cut) {
    const Operation& first = draft_.operation(group.members[0]);
    const Evaluations& evaluations = group_cut.evaluations;
    const Partition& cut = group_cut.partition;
    CompiledSet set;
    set.set.blocks = cut.blocks;
    for (const WorkAxis& axis : group.grid) set.set.extents.push_back(axis.extent);
    Step step{.first_location = static_cast<int>(plan_.locations.size()), .vertices = cut.vertices, .stream = first.stream};
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      Stage stage{operation.op->tag, operation.op->name, operation.attributes, evaluations.kinds[m], operation.input_count};
      stage.first_operand = static_cast<int>(set.operands.size());
      stage.operand_count = static_cast<int>(operation.operands.size());
      for (int o = 0; o < stage.operand_count; ++o) add_operand(set, group, evaluations, m, o);
      stage.can_fault = add_fault_site(operation, step);
      set.stages.push_back(stage);
      set.set.code_bytes += operation.op->code_bytes;
    }
    step.location_count = static_cast<int>(set.locations.size());
    set.set.location_count = step.location_count;
    set.set.scratch_bytes = set.scratch_end;
    make_room(plan_.locations, set.locations.size());
    make_room(plan_.steps);
    for (const Location& location : set.locations) plan_.locations.push_back(location);
    if (first.op->collective_items) {  // a collective: input and output are the first and the last location, or one that is both
      step.kind = StepKind::collective;
      step.vertices = first.op->collective_items(first.attributes, first.operands[0].spec, first.operands[1].spec);
      set.collective_items = step.vertices;
    }
    step.target = compute_sets_.add(plan_, set);
    plan_.steps.push_back(step);
  }

  /// Appends what a fault of the operation is called, if it can have one; returns whether it can.
  constexpr bool add_fault_site(const Operation& operation, Step& step) {
    const FaultText fault = fault_of(operation);
    if (!fault.possible) return false;
    if (step.first_fault_site < 0) step.first_fault_site = static_cast<int>(plan_.fault_sites.size());
    plan_.fault_sites.push_back(fault_site_of(ir_, operation, fault));
    return true;
  }

  /// Memory that several kernels of a group use: it should still be near when the second one comes.
  struct PassedOn {
    const Value* value = nullptr;
    GridAxes grid_axis{};
    int kernel = -1;
    bool counts = false;
  };
  constexpr List<PassedOn> find_passed_on(const Group& group, const Evaluations& evaluations) const {
    List<PassedOn> all;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      for (std::size_t o = 0; o < operation.operands.size(); ++o) {
        const Value& value = operation.operands[o];
        std::size_t known = 0;
        while (known < all.size() && all[known].value->storage != value.storage) ++known;
        if (known == all.size())
          all.push_back({&value, grid_axes_of(operation, group.members[m], static_cast<int>(o)), evaluations.kernels[m]});
        else if (all[known].kernel != evaluations.kernels[m] && is_cut(all[known].grid_axis, group)) all[known].counts = true;
      }
    }
    erase_if(all, [](const PassedOn& each) { return !each.counts; });
    return all;
  }
  static constexpr bool is_cut(const GridAxes& axes, const Group& group) {
    for (int axis : axes)
      if (axis >= 0 && group.grid[axis].kind == WorkAxisKind::parallel) return true;
    return false;
  }
  static constexpr std::int64_t block_bytes(const Value& value, const GridAxes& axes,
                                            const FixedVector<std::int64_t, max_work_axes>& blocks) {
    std::int64_t bytes = size_of(value.spec.dtype);
    for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
      const int cut = axes[at(axis)];
      bytes *= cut < 0 ? value.spec.shape[axis] : std::min(blocks[cut], value.spec.shape[axis]);
    }
    return bytes;
  }

  constexpr void add_operand(CompiledSet& set, const Group& group, const Evaluations& evaluations, std::size_t m, int o) const {
    const Operation& operation = draft_.operation(group.members[m]);
    const Value& value = operation.operands[at(o)];
    StageOperand operand{.view = written_out({value.spec.dtype, value.spec.shape, value.layout.strides})};
    const GridAxes axes = grid_axes_of(operation, group.members[m], o);
    for (int axis = 0; axis < max_rank; ++axis) operand.grid_axis[axis] = axes[at(axis)];
    const int maker = maker_in_registers(group, evaluations, m, o);
    if (maker >= 0) {
      operand.source = Source::value;
      operand.index = maker;
    } else if (draft_.storage(value.storage).internal) {
      operand.source = Source::scratch;
      operand.index = set.scratch_for(value.storage, block_bytes(value, axes, set.set.blocks));
    } else {
      operand.index = set.location_for(location(value), strides(operation, group.members[m], value, o, axes, set.set));
    }
    make_room(set.operands);
    set.operands.push_back(operand);
  }
  /// The member whose value an operand is, if that is in registers when the member is evaluated; or -1.
  constexpr int maker_in_registers(const Group& group, const Evaluations& evaluations, std::size_t member, int operand) const {
    const Operation& operation = draft_.operation(group.members[member]);
    if (operation.is_output(operand)) return evaluations.in_registers[member] != 0 ? static_cast<int>(member) : -1;
    for (std::size_t m = member; m-- > 0;) {
      const Operation& maker = draft_.operation(group.members[m]);
      if (!maker.writes(operation.operands[at(operand)].storage)) continue;
      const bool in_epilogue = maker.op->has_epilogue && evaluations.kernels[member] == static_cast<int>(m);
      return evaluations.in_registers[m] != 0 || in_epilogue ? static_cast<int>(m) : -1;
    }
    return -1;
  }
  /// Bytes from one block to the next along each axis of the grid.
  constexpr List<std::int64_t> strides(const Operation& operation, const Member& member, const Value& value, int o,
                                       const GridAxes& axes, const ComputeSet& set) const {
    List<std::int64_t> result(at(set.blocks.size()), 0);
    for (int axis = 0; axis < value.spec.shape.rank; ++axis)
      if (const int cut = axes[at(axis)]; cut >= 0)
        result[at(cut)] += set.blocks[cut] * value.layout.strides[at(axis)] * size_of(value.spec.dtype);
    if (!operation.partial || !operation.is_output(o)) return result;
    std::int64_t part = value.spec.bytes();
    for (int axis = operation.work.axes.size(); axis-- > 0;) {
      const int cut = member.grid_axis[axis];
      if (cut < 0 || !is_sum(operation.work.axes[axis].kind) || operation.work.has_follower(o, axis)) continue;
      result[at(cut)] += part;
      part *= block_count(set.extents[cut], set.blocks[cut]);
    }
    return result;
  }

  const Ir& ir_;
  BodyDraft& draft_;
  const Target& target_;
  ComputeSets& compute_sets_;
  Plan& plan_;
  List<int> block_of_;  // by storage
  List<LiveBlock> blocks_{};
};

}  // namespace detail

/// Cuts a draft's groups into vertices, gives its memory places in a frame, and appends the steps to the plan.
constexpr Body place(const Ir& ir, BodyDraft& draft, const Target& target, ComputeSets& compute_sets, Plan& plan) {
  return detail::Placer(ir, draft, target, compute_sets, plan).run();
}

}  // namespace tilewright
