#pragma once
// takes: a whole draft
// gives: offsets of storages in the frame; in the plan a body, its steps, locations, strides and compute sets
// keeps: all else of the draft; bodies that were placed before
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/memory/call_arguments.hpp"
#include "tilewright/lower/memory/compute_sets.hpp"
#include "tilewright/lower/memory/fault_sites.hpp"
#include "tilewright/lower/memory/memory.hpp"
#include "tilewright/lower/memory/vertex_work.hpp"
#include "tilewright/lower/program/collective_traffic.hpp"

namespace tilewright::internal {

namespace detail {

/// Allocates the blocks of each IPU in a separate part of the frame, because steps on different IPUs run at the same time.
/// Returns the bytes of all parts.
constexpr std::int64_t allocate_apart(List<LiveBlock>& blocks, const List<int>& ipus, int steps) {
  std::int64_t end = 0;
  const int last = *std::max_element(ipus.begin(), ipus.end());
  for (int ipu = -1; ipu <= last; ++ipu) {
    List<LiveBlock> own;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (ipus[i] == ipu) own.push_back(blocks[i]);
    const std::int64_t bytes = allocate(own, steps);
    for (std::size_t i = 0, n = 0; i < blocks.size(); ++i)
      if (ipus[i] == ipu) blocks[i].offset = end + own[n++].offset;
    end += bytes;
  }
  return end;
}
/// Returns the IPU from which an operation copies to another IPU, or -1 if it does not.
constexpr int source_ipu(const BodyDraft& draft, const Operation& operation) {
  if (operation.is_call() || !operation.op->result_placement) return -1;
  const int ipu = draft.placement_of(operation.operands[0]).ipu;
  return ipu == operation.placement.ipu ? -1 : ipu;
}
/// Returns the IPU on which all operations of a draft run. Returns -1 if there are several IPUs, or if a stream moves, because
/// all workers must record it.
constexpr int only_ipu(const BodyDraft& draft) {
  const int first = draft.operations.empty() ? -1 : draft.operations[0].placement.ipu;
  for (const Operation& operation : draft.operations)
    if (operation.placement.ipu != first || operation.stream >= 0 || source_ipu(draft, operation) >= 0) return -1;
  return first;
}

/// Assigns a place in the frame to each storage that needs it: sets the offset of its location. Returns the size of the frame in
/// bytes.
constexpr std::int64_t place_storages(BodyDraft& draft) {
  constexpr int not_seen = -2, no_block = -1;
  PerStorage<int> block_of(draft.storages.size(), not_seen);  // that of its owner
  List<LiveBlock> blocks;
  List<int> ipus;  // of the blocks
  bool is_on_one = true;
  const auto find_block = [&](StorageId used, int step) {
    const StorageId storage = draft.owner(used);
    int& block = block_of[storage];
    if (block == not_seen) {
      block = no_block;
      if (draft.in_frame(storage) && !draft.storage(storage).internal) {
        block = static_cast<int>(blocks.size());
        make_room(blocks);
        blocks.push_back({draft.storage(storage).whole.bytes(), step, step});
        ipus.push_back(draft.storage(storage).placement.ipu);
        is_on_one = is_on_one && ipus.back() == ipus[0];
      }
    }
    block_of[used] = block;
  };
  for (std::size_t i = 0; i < draft.groups.size(); ++i)
    for (const Member& member : draft.groups[i].members) {
      const Operation& operation = draft.operation(member);
      const Value* const operands = operation.operands.data();
      for (std::size_t o = 0, end = operation.operands.size(); o < end; ++o) {
        const StorageId storage = operands[o].storage;
        if (block_of[storage] == not_seen) find_block(storage, static_cast<int>(i));
        if (const int block = block_of[storage]; block >= 0) blocks[block].last = static_cast<int>(i);
      }
    }
  const int steps = static_cast<int>(draft.groups.size());
  const std::int64_t frame_bytes = is_on_one ? allocate(blocks, steps) : allocate_apart(blocks, ipus, steps);
  for (std::size_t i = 0; i < block_of.size(); ++i) {
    const auto s = StorageId(i);
    if (block_of[s] >= 0 && draft.owner(s) == s) draft.storages[s].location.offset = blocks[block_of[s]].offset;
  }
  return frame_bytes;
}

/// Writes the step of a group of ops to the plan, and its compute set if the plan has no equal one.
class ComputePlacer {
 public:
  constexpr ComputePlacer(const Ir& ir, const BodyDraft& draft, std::size_t group, const Target& target,
                          ComputeSets& compute_sets, Plan& plan)
      : ir_(ir),
        draft_(draft),
        group_(draft.groups[group]),
        evaluations_(draft.cuts[group].evaluations),
        partition_(draft.cuts[group].partition),
        target_(target),
        compute_sets_(compute_sets),
        plan_(plan) {}

  constexpr void run() {
    set_.set.blocks = partition_.blocks;
    set_.set.pieces = partition_.pieces;
    for (const WorkAxis& axis : group_.grid) set_.set.extents.push_back(axis.extent);
    for (std::size_t m = 0; m < group_.members.size(); ++m) add_stage(static_cast<int>(m));
    const Operation& first = operation(0);
    Step step{.first_location = static_cast<int>(plan_.locations.size()),
              .stream = first.stream,
              .ipu = first.placement.ipu,
              .from_ipu = source_ipu(draft_, first),
              .first_fault_site = first_fault_site_};
    step.location_count = static_cast<int>(set_.locations.size());
    set_.set.location_count = step.location_count;
    set_.set.scratch_bytes = set_.scratch_end;
    make_room(plan_.locations, set_.locations.size());
    make_room(plan_.steps);
    for (const Location& location : set_.locations) plan_.locations.push_back(location);
    if (first.op->collective_items) {  // input and output are the first and the last location, or one that is both
      step.kind = StepKind::collective;
      step.items = first.op->collective_items(first.attributes, first.operands[0].spec, first.operands[1].spec);
      set_.collective_items = step.items;
      const CollectiveVolume volume = first.op->collective_volume(first.attributes, first.operands[0].spec,
                                                                  first.operands[1].spec);
      set_.set.traffic = collective_traffic(volume, target_);
    } else {
      step.vertices = partition_.vertices;
      step.pieces = partition_.pieces;
    }
    const std::size_t known_sets = plan_.compute_sets.size();
    step.compute_set = compute_sets_.add(plan_, set_);
    if (plan_.compute_sets.size() > known_sets) plan_.compute_sets.back().work = work_of_group();
    plan_.steps.push_back(step);
  }

 private:
  constexpr const Operation& operation(int member) const { return draft_.operation(group_.members[member]); }
  constexpr double work_of_group() const {
    double work = 0;
    for (const Member& member : group_.members) work += work_of_operation(draft_.operation(member));
    return work;
  }
  constexpr void add_stage(int member) {
    const Operation& added = operation(member);
    Stage stage{added.op->tag, added.op->name, added.attributes, evaluations_.kinds[member], added.input_count};
    stage.first_operand = static_cast<int>(set_.operands.size());
    stage.operand_count = static_cast<int>(added.operands.size());
    for (int o = 0; o < stage.operand_count; ++o) add_operand(member, o);
    const Value* const operands = added.operands.data();
    for (int o = added.input_count; o < stage.operand_count; ++o) {
      written_[written_count_] = operands[o].storage;
      maker_of_[written_count_++] = member;
    }
    stage.parts = added.parts;
    stage.can_fault = add_fault_site(added);
    set_.stages.push_back(stage);
    set_.set.code_bytes += target_.code().code(added.op->code_kind);
  }
  /// Appends the fault site of the operation, if it can fault. Returns whether it can.
  constexpr bool add_fault_site(const Operation& added) {
    const FaultText fault = fault_of(added);
    if (!fault.possible) return false;
    if (first_fault_site_ < 0) first_fault_site_ = static_cast<int>(plan_.fault_sites.size());
    plan_.fault_sites.push_back(fault_site_of(ir_, added, fault));
    if (fault.of_all_vertices) plan_.fault_sites.back().reports = partition_.vertices;
    return true;
  }
  constexpr void add_operand(int member, int o) {
    const Operation& of = operation(member);
    const Value& value = of.operands[o];
    const GridAxes axes = grid_axes_of(of, group_.members[member], o);
    make_room(set_.operands);
    set_.operands.push_back({});
    StageOperand& operand = set_.operands.back();
    operand.view.dtype = value.spec.dtype;
    operand.view.shape = value.spec.shape;
    const std::int64_t* const strides = value.layout.strides.data();
    std::int64_t* const view_strides = operand.view.strides.data();
    // GCC does not know that a rank is at most max_rank, and warns without the second test
    for (int axis = 0, rank = value.spec.shape.rank; axis < rank && axis < max_rank; ++axis) {
      view_strides[axis] = strides[axis];
      operand.grid_axis[axis] = static_cast<std::int8_t>(axes[axis]);
    }
    const int maker = maker_in_registers(member, o);
    if (maker >= 0) {
      operand.source = Source::value;
      operand.index = maker;
    } else if (draft_.storage(value.storage).internal) {
      operand.source = Source::scratch;
      operand.by_image = is_by_image(member, o);
      operand.index = set_.scratch_for(value.storage, scratch_bytes(value, axes, set_.set.blocks, operand.by_image));
    } else {
      operand.index = set_.location_for(draft_.location_of(value), block_strides(member, o, axes));
    }
  }
  /// Returns the member that makes the value of operand `o`, if that value is in registers when `member` is evaluated;
  /// otherwise -1.
  constexpr int maker_in_registers(int member, int o) const {
    const Operation& of = operation(member);
    if (of.is_output(o)) return evaluations_.in_registers[member] ? member : -1;
    const int maker = maker_of(of.operands[o].storage);
    if (maker < 0 || evaluations_.in_registers[maker]) return maker;
    return is_in_epilogue_with(member, maker) && is_formula(of) ? maker : -1;
  }
  /// Returns the last member so far with the storage as a result, or -1.
  constexpr int maker_of(StorageId storage) const {
    for (int i = written_count_; i-- > 0;)
      if (written_[i] == storage) return maker_of_[i];
    return -1;
  }
  /// Returns whether operand `o`, which is in scratch, is there for one image at a time.
  constexpr bool is_by_image(int member, int o) const {
    const Operation& of = operation(member);
    const int maker = of.is_output(o) ? member : maker_of(of.operands[o].storage);
    return maker >= 0 && (evaluations_.by_image >> maker & 1) != 0;
  }
  /// Returns whether an earlier member is the kernel in whose epilogue the member is computed, or is computed there, too.
  constexpr bool is_in_epilogue_with(int member, int earlier) const {
    const int kernel = evaluations_.kernels[member];
    if (kernel == member || !operation(kernel).op->has_epilogue) return false;
    return earlier == kernel || (evaluations_.kinds[earlier] == Evaluation::epilogue && evaluations_.kernels[earlier] == kernel);
  }
  /// Returns the bytes of an operand from one block to the next along each axis of the grid.
  constexpr FixedVector<std::int64_t, max_work_axes> block_strides(int member, int o, const GridAxes& axes) const {
    const Operation& of = operation(member);
    const Value& value = of.operands[o];
    const ComputeSet& set = set_.set;
    FixedVector<std::int64_t, max_work_axes> result{.count = set.blocks.size()};
    for (int axis = 0; axis < value.spec.shape.rank; ++axis)
      if (const int cut = axes[axis]; cut >= 0)
        result[cut] += set.blocks[cut] * value.layout.strides[static_cast<std::size_t>(axis)] * size_of(value.spec.dtype);
    if (!of.partial || !of.is_output(o)) return result;
    std::int64_t part = value.spec.bytes();  // partials stand one after the other, the last cut axis fastest
    for (int axis = of.work.axes.size(); axis-- > 0;) {
      const int cut = group_.members[member].grid_axis[axis];
      if (cut < 0 || !gives_partials(of.work.axes[axis].kind) || of.work.has_follower(o, axis)) continue;
      result[cut] += part;
      part *= block_count(set.extents[cut], set.blocks[cut]);
    }
    return result;
  }

  const Ir& ir_;
  const BodyDraft& draft_;
  const Group& group_;
  const Evaluations& evaluations_;
  const Partition& partition_;
  const Target& target_;
  ComputeSets& compute_sets_;
  Plan& plan_;
  CompiledSet set_{};
  int first_fault_site_ = -1;
  StorageId written_[max_locations]{};  // by results of the members so far
  int maker_of_[max_locations]{};  // the member with each of these results
  int written_count_ = 0;
};

}  // namespace detail

/// Assigns places in a frame to the storages of a draft, and appends a step for each group to the plan.
constexpr Body place(const Ir& ir, BodyDraft& draft, BodyId number, const Target& target, ComputeSets& compute_sets, Plan& plan) {
  Body body{.first_step = static_cast<int>(plan.steps.size()), .step_count = static_cast<int>(draft.groups.size())};
  body.frame_bytes = detail::place_storages(draft);
  if (!plan.is_root(number)) body.ipu = detail::only_ipu(draft);
  int last_exchange = -1;
  for (std::size_t i = 0; i < draft.groups.size(); ++i) {
    const Operation& first = draft.operation(draft.groups[i].members[0]);
    if (first.exchange >= 0) {
      if (first.exchange != last_exchange) plan.exchanges.push_back({static_cast<int>(plan.steps.size())});
      ++plan.exchanges.back().step_count;
    }
    last_exchange = first.exchange;
    if (!first.is_call()) {
      detail::ComputePlacer(ir, draft, i, target, compute_sets, plan).run();
      continue;
    }
    detail::place_call(draft, first, plan);
    const Calling& calling = first.calling;
    body.max_arguments = (std::max)(
        {body.max_arguments, calling.inputs + calling.outputs, calling.else_inputs + calling.else_outputs});
  }
  return body;
}

}  // namespace tilewright::internal
