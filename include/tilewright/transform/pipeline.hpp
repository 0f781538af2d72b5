#pragma once
#include <exception>
#include <optional>

#include "tilewright/program/grad_graph_info.hpp"
#include "tilewright/transform/pipeline_cycles.hpp"

namespace tilewright {

/// Scope of a pipeline: new ops of the graph that was current at its creation form a step that runs `steps` times. The step is
/// divided into stages that run in parallel, each on a different step:
///
///     {
///       auto pipeline = tw::pipelined_execution(ir, 8);
///       Tensor hidden;
///       {
///         const auto stage = pipeline.stage(0);
///         const auto device = tw::ipu(ir, 0);
///         hidden = first_layer.call(ops::host_load(images)).copy_to_ipu(1);
///       }
///       {
///         const auto stage = pipeline.stage(1);
///         const auto device = tw::ipu(ir, 1);
///         ops::host_store(results, second_layer.call(hidden));
///       }
///     }
///
/// When the scope ends, the ops are regrouped: stages - 1 cycles that fill the pipeline, a loop of cycles in which all stages
/// run, and stages - 1 cycles that drain it. Each stream moves as often as if the step ran `steps` times in order, and all
/// results have equal bits.
///
/// A stage uses tensors of the previous stage; stash_and_restore_tensor provides those of earlier ones. Tensors of stages cannot
/// be used after the pipeline. To keep a value, one stage writes it in place, such as an accumulated gradient, or stores it to
/// the host. Errors: an op in no stage; fewer than 2 x stages steps; a stage without ops; tensors of other stages; a tensor from
/// outside that one stage changes and another one uses; a stream in two stages.
class [[nodiscard]] Pipeline {
 public:
  constexpr Pipeline(Ir& ir, std::int64_t steps)
      : ir_(ir), steps_(steps), graph_(ir.tables.current_graph), first_(NodeId(ir.tables.current().nodes.size())) {
    if (!std::is_constant_evaluated()) exceptions_ = std::uncaught_exceptions();
    detail::track_placements(ir);
  }
  constexpr ~Pipeline() noexcept(false) {
    if (ir_.failed()) return;
    if (!std::is_constant_evaluated() && std::uncaught_exceptions() != exceptions_) return;
    if (ir_.tables.current().nodes.size() == static_cast<std::size_t>(first_)) return;
    detail::PipelineCycles(ir_, graph_, first_, steps_, stages_, stashes_).run();
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Scope that adds new ops to a stage. Stages count from 0.
  class [[nodiscard]] Stage {
   public:
    constexpr Stage(Pipeline& pipeline, int number)
        : pipeline_(pipeline), number_(number), first_(NodeId(pipeline.ir_.tables.record(pipeline.graph_).nodes.size())) {
      if (number < 0) pipeline.ir_.fail(text("pipeline.stage: ", number, ": a number of at least 0 expected"));
      else if (pipeline.stage_ >= 0)
        pipeline.ir_.fail(text("pipeline.stage: ", number, " in stage ", pipeline.stage_, ": one after the other expected"));
      pipeline.stage_ = number;
    }
    constexpr ~Stage() {
      const auto end = NodeId(pipeline_.ir_.tables.record(pipeline_.graph_).nodes.size());
      if (end > first_) pipeline_.stages_.push_back({number_, first_, end});
      pipeline_.stage_ = -1;
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

   private:
    Pipeline& pipeline_;
    int number_;
    NodeId first_;
  };
  constexpr Stage stage(int number) { return {*this, number}; }

  /// Returns the tensor of an earlier stage with its value in the current stage's step. The value is kept for the cycles in
  /// between. `from_stage` is required for a tensor that no op of the pipeline produces. The result is where t is.
  constexpr Tensor stash_and_restore_tensor(Tensor t, std::optional<int> from_stage = {}) {
    if (!t.valid() || ir_.failed()) return t;
    const auto fail = [&](const auto&... problem) {
      return ir_.fail(text("stash_and_restore_tensor: ", to_text(t), problem..., " expected"));
    };
    if (stage_ < 0) return fail(" in no stage: a scope of pipeline.stage(i)");
    const int from = stage_of(t).value_or(from_stage.value_or(-1));
    if (from < 0) return fail(" is made outside of the pipeline: from_stage");
    if (from_stage && *from_stage != from) return fail(" of stage ", from, ": from_stage ", from, ", not ", *from_stage, ",");
    if (from > stage_) return fail(" of stage ", from, " in stage ", stage_, ": a tensor of an earlier stage");
    if (from == stage_) return t;
    for (const auto& [stash, given, result] : known_)
      if (given == t && stash == stage_) return result;
    const detail::PlacementScope there(ir_, ir_.tables.record(t).placement);
    const auto node = NodeId(ir_.tables.current().nodes.size());
    const Tensor result = apply<Identity>({t});
    stashes_.push_back({node, from, stage_});
    known_.push_back({stage_, t, result});
    return result;
  }
  /// Returns the arguments of a call of a gradient graph, from a call of its forward graph in an earlier stage. Activations that
  /// the pipeline produces are stashed; others, such as weights, are passed directly.
  constexpr TensorMap stash_and_restore_activations(const CallSiteInfo& forward_call, const GradGraphInfo& info) {
    TensorMap result;
    for (const auto& [input, parent] : info.inputs_dict(forward_call))
      result.insert(input, stage_of(parent) ? stash_and_restore_tensor(parent) : parent);
    return result;
  }

 private:
  struct Known {
    int stage;
    Tensor given, result;
  };
  /// Returns the stage that produces a tensor; nothing for one from outside.
  constexpr std::optional<int> stage_of(Tensor t) const {
    const NodeId producer = ir_.tables.record(t).producer;
    if (t.graph_id() != graph_ || producer == NodeId::none || producer < first_) return {};
    for (const auto& [stage, first, end] : stages_)
      if (producer >= first && producer < end) return stage;
    return stage_;
  }

  Ir& ir_;
  std::int64_t steps_;
  GraphId graph_;
  NodeId first_;
  int stage_ = -1;  // that is open; -1: none is
  int exceptions_ = 0;
  List<detail::StageNodes> stages_{};
  List<detail::Stash> stashes_{};
  List<Known> known_{};
};
constexpr Pipeline pipelined_execution(Ir& ir, std::int64_t steps) { return {ir, steps}; }

}  // namespace tilewright
