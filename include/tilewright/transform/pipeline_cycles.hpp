#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/placements.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/index/dynamic_slice.hpp"
#include "tilewright/ops/memory/ipu_copy.hpp"
#include "tilewright/ops/shape/init.hpp"
#include "tilewright/ops/shape/shape.hpp"
#include "tilewright/program/call.hpp"
#include "tilewright/program/repeat.hpp"
#include "tilewright/transform/pipeline_nodes.hpp"

// How the ops of a pipeline's stages become its cycles.

namespace tilewright::detail {

/// Replaces the nodes of a pipeline in their graph by calls: a graph for each stage, called in cycles. In cycle c stage s runs
/// step c - s of the pipeline, on tensors that the stages before it produced in cycle c - 1. The first and the last cycles, in
/// which not all stages run, are single calls; a loop repeats the others.
///
/// Loads from the host, copies to other IPUs and stores to the host are not part of the stages' graphs. Each graph therefore runs
/// on one IPU, and the IPUs wait for each other between cycles only.
class PipelineCycles {
 public:
  constexpr PipelineCycles(Ir& ir, GraphId graph, NodeId first, std::int64_t steps, const List<StageNodes>& ranges,
                           const List<Stash>& stashes)
      : ir_(ir), graph_(graph), steps_(steps), stashes_(stashes), all_(ir, graph, first, ranges, stashes) {}

  constexpr void run() {
    if (!all_.validate(steps_)) return;
    const PlacementScope anywhere(ir_, {});
    make_stashes();
    find_uses();
    for (int s = 0; s < all_.stages && !ir_.failed(); ++s) graphs_.push_back(make_stage(s));
    if (ir_.failed()) return;
    outer_ = List<Tensor, TensorId>(all_.made_in.size());
    for (std::size_t t = 0; t < outer_.size(); ++t) outer_[TensorId(t)] = {ir_, graph_, TensorId(t)};
    for (int cycle = 0; cycle < all_.stages - 1; ++cycle) add_cycle(0, cycle, outer_);
    add_loop();
    for (int first = 1; first < all_.stages; ++first) add_cycle(first, all_.stages - 1, outer_);
  }

 private:
  static constexpr int outside = PipelineNodes::outside;
  /// A tensor that a stage's graph has as an input.
  struct StageInput {
    TensorId tensor{};
    bool by_reference = false;
  };
  /// Counter of a stage for all of its stashes that have the same number of slots.
  struct Counter {
    int stage = 0;
    std::int64_t slot_count = 0;
    TensorId tensor{};
  };
  struct StageGraph {
    GraphId graph{};
    List<StageInput> inputs{};
    List<TensorId> outputs{};
  };

  constexpr GraphRecord& record() { return ir_.tables.record(graph_); }

  // ---- stashes: rings of slots, which one stage writes and another one reads

  /// Returns the stage whose graph writes a stash: the stage of the tensor, or the next stage if the tensor was copied to that
  /// stage's IPU.
  constexpr int writer_of(const Stash& stash) const {
    const int maker = all_.maker[stashed(stash)];
    const bool is_copied = maker >= 0 && all_.nodes[static_cast<std::size_t>(maker)].part == CyclePart::copies_out;
    return stash.from + (is_copied ? 1 : 0);
  }
  constexpr TensorId stashed(const Stash& stash) const {
    return all_.stashed[static_cast<std::size_t>(&stash - stashes_.data())];
  }
  constexpr void make_stashes() {
    for (const Stash& stash : stashes_) {
      const int writer = writer_of(stash);
      const std::int64_t slot_count = stash.to - writer + 1;
      if (slot_count == 1) {  // it gets there as what the stage before made
        rings_.push_back(TensorId::none);
        continue;
      }
      const TensorRecord kept = record().tensors[stashed(stash)];
      Shape shape{slot_count};
      for (int axis = 0; axis < kept.spec.shape.rank; ++axis) shape.push_back(kept.spec.shape[axis]);
      const PlacementScope there(ir_, kept.placement);
      rings_.push_back(ops::init(ir_, shape, kept.spec.dtype).number());
      for (const int stage : {writer, stash.to}) add_counter(stage, slot_count);
    }
    all_.make_room_for_tensors();
    for (std::size_t i = 0; i < stashes_.size(); ++i)
      if (rings_[i] != TensorId::none) all_.changed_in[rings_[i]] = writer_of(stashes_[i]);
    for (const Counter& counter : counters_) all_.changed_in[counter.tensor] = counter.stage;
  }
  constexpr void add_counter(int stage, std::int64_t slot_count) {
    for (const Counter& counter : counters_)
      if (counter.stage == stage && counter.slot_count == slot_count) return;
    counters_.push_back({stage, slot_count, ops::init(ir_, {1}, uint32).number()});
  }
  constexpr Tensor counter_of(int stage, std::int64_t slot_count, auto& input_for) const {
    for (const Counter& counter : counters_)
      if (counter.stage == stage && counter.slot_count == slot_count) return input_for(counter.tensor);
    return Tensor::invalid(ir_);
  }
  static constexpr Shape one_of(const Shape& shape) {
    Shape result{1};
    for (int axis = 0; axis < shape.rank; ++axis) result.push_back(shape[axis]);
    return result;
  }

  /// Finds the tensors that leave the graph of their stage, and those that the next stage uses.
  constexpr void find_uses() {
    const std::size_t count = all_.made_in.size();
    leaves_graph_.assign(count, false);
    is_handed_on_.assign(count, false);
    is_used_.assign(count, false);
    for (const StagedNode& user : all_.nodes) {
      const bool is_ring = user.stash >= 0 && rings_[static_cast<std::size_t>(user.stash)] != TensorId::none;
      const int stage = is_ring ? writer_of(stashes_[static_cast<std::size_t>(user.stash)]) : user.stage;
      for (const TensorId t : user.node.inputs) {
        const int made = all_.made_in[t];
        if (made == outside) is_used_[t] = true;
        else if (stage > made) is_handed_on_[t] = true;
        if (made != outside && (stage > made || (user.part != CyclePart::stages))) leaves_graph_[t] = true;
      }
    }
    for (const TensorId ring : rings_)
      if (ring != TensorId::none) is_used_[ring] = true;
    for (const Counter& counter : counters_) is_used_[counter.tensor] = true;
  }

  // ---- graphs of stages

  constexpr Tensor restored(const StagedNode& staged, auto& input_for) {
    const auto number = static_cast<std::size_t>(staged.stash);
    if (rings_[number] == TensorId::none) return input_for(staged.node.inputs[0]);
    const Stash& stash = stashes_[number];
    const Shape shape = record().tensors[staged.node.inputs[0]].spec.shape;
    const std::int64_t slot_count = stash.to - writer_of(stash) + 1;
    const Tensor ring = input_for(rings_[number]), counter = counter_of(stash.to, slot_count, input_for);
    return ops::reshape(ops::dynamic_slice(ring, counter, {0}, {1}), shape);
  }
  constexpr void keep(std::size_t number, auto& input_for) {
    const Stash& stash = stashes_[number];
    const Tensor kept = input_for(stashed(stash));
    const std::int64_t slot_count = stash.to - writer_of(stash) + 1;
    const Tensor ring = input_for(rings_[number]), counter = counter_of(writer_of(stash), slot_count, input_for);
    ops::dynamic_update_(ring, counter, ops::reshape(kept, one_of(kept.shape())), {0}, {1});
  }
  constexpr StageGraph make_stage(int s) {
    StageGraph stage{.graph = ir_.tables.add_graph(text("pipeline_stage", s).view())};
    const GraphScope scope(ir_.graph(stage.graph));
    List<Tensor, TensorId> values(all_.made_in.size());
    const auto input_for = [&](TensorId t) {
      if (values[t].valid()) return values[t];
      const TensorRecord outer = record().tensors[t];
      if (outer.kind == TensorKind::constant) return values[t] = copy_constant(ir_, outer);
      const bool by_reference = all_.changed_in[t] == s && all_.made_in[t] == outside;
      values[t] = detail::add_graph_input(ir_, outer.spec, outer.name.view(), by_reference, outer.meta_shape);
      ir_.tables.record(values[t]).placement = outer.placement;
      stage.inputs.push_back({t, by_reference});
      return values[t];
    };
    for (StagedNode& staged : all_.nodes) {
      if (staged.stage != s || staged.part != CyclePart::stages) continue;
      if (staged.stash >= 0) values[staged.node.outputs[0]] = restored(staged, input_for);
      else append_copy(ir_, graph_, staged.node, values, input_for);
    }
    for (std::size_t i = 0; i < stashes_.size(); ++i)
      if (rings_[i] != TensorId::none && writer_of(stashes_[i]) == s) keep(i, input_for);
    for (const Counter& counter : counters_)
      if (counter.stage == s) ops::increment_mod_(input_for(counter.tensor), 1, static_cast<double>(counter.slot_count));
    for (const StagedNode& staged : all_.nodes) {
      if (staged.stage != s || staged.part != CyclePart::stages) continue;
      for (const TensorId output : staged.node.outputs)
        if (leaves_graph_[output]) {
          stage.outputs.push_back(output);
          graph_output(values[output]);
        }
    }
    return stage;
  }

  // ---- cycles

  /// Appends a cycle, in which stages `first` to `last` run, to the graph that is being built. `values` has the tensors from
  /// outside and those that stages produced in the previous cycle; it gets those of this cycle.
  constexpr void add_cycle(int first, int last, List<Tensor, TensorId>& values) {
    List<Tensor, TensorId> made = values;
    const auto value_for = [&](int stage) {
      return [&, stage](TensorId t) { return all_.made_in[t] == stage ? made[t] : values[t]; };
    };
    const auto add_all = [&](CyclePart part) {
      for (const StagedNode& staged : all_.nodes) {
        if (staged.part != part || staged.stage < first || staged.stage > last) continue;
        const auto value_of = value_for(staged.stage);
        append_copy(ir_, graph_, staged.node, made, value_of);
      }
    };
    add_all(CyclePart::loads);
    add_all(CyclePart::copies_in);
    for (int s = first; s <= last; ++s) {
      const auto value_of = value_for(s);
      const StageGraph& stage = graphs_[static_cast<std::size_t>(s)];
      List<Tensor> inputs;
      for (const StageInput& input : stage.inputs) inputs.push_back(value_of(input.tensor));
      const auto outputs = call_with_info(ir_.graph(stage.graph), inputs).outputs();
      for (std::size_t o = 0; o < stage.outputs.size(); ++o) made[stage.outputs[o]] = outputs[o];
    }
    add_all(CyclePart::copies_out);
    add_all(CyclePart::stores);
    values = std::move(made);
  }
  constexpr void add_loop() {
    List<TensorId> carried;  // what a stage made and the next one uses
    for (std::size_t i = 0; i < is_handed_on_.size(); ++i)
      if (is_handed_on_[TensorId(i)]) carried.push_back(TensorId(i));
    const GraphId cycle = ir_.tables.add_graph("pipeline_cycle");
    List<Tensor> parents;
    List<TensorId> inputs;
    {
      const GraphScope scope(ir_.graph(cycle));
      List<Tensor, TensorId> values(all_.made_in.size());
      const auto add_input = [&](TensorId t, bool by_reference) {
        const TensorRecord outer = record().tensors[t];
        if (outer.kind == TensorKind::constant) {
          values[t] = copy_constant(ir_, outer);
          return;
        }
        values[t] = detail::add_graph_input(ir_, outer.spec, outer.name.view(), by_reference, outer.meta_shape);
        ir_.tables.record(values[t]).placement = outer.placement;
        inputs.push_back(t);
      };
      for (const TensorId t : carried) add_input(t, false);
      for (const bool by_reference : {false, true})
        for (std::size_t i = 0; i < all_.made_in.size(); ++i)
          if (const auto t = TensorId(i);
              all_.made_in[t] == outside && is_used_[t] && (all_.changed_in[t] != outside) == by_reference)
            add_input(t, by_reference);
      add_cycle(0, all_.stages - 1, values);
      for (const TensorId t : carried) graph_output(values[t]);
    }
    for (const TensorId t : inputs) parents.push_back(outer_[t]);
    if (ir_.failed()) return;
    const auto results = append_loop(ir_.graph(cycle),
                                     {.count = steps_ - all_.stages + 1, .carried = static_cast<std::int64_t>(carried.size())},
                                     parents)
                             .outputs();
    for (std::size_t i = 0; i < carried.size(); ++i) outer_[carried[i]] = results[i];
  }
  Ir& ir_;
  GraphId graph_;
  std::int64_t steps_;
  const List<Stash>& stashes_;
  PipelineNodes all_;
  List<TensorId> rings_{};  // by stash: its slots; none: it has no need of any
  List<Counter> counters_{};
  List<bool, TensorId> leaves_graph_{};  // by tensor: its stage's graph gives it
  List<bool, TensorId> is_handed_on_{};  // the next stage uses it, in the next cycle
  List<bool, TensorId> is_used_{};  // it is from outside, and cycles use it
  List<StageGraph> graphs_{};
  List<Tensor, TensorId> outer_{};  // by tensor: its latest value in the pipeline's graph
};

}  // namespace tilewright::detail
