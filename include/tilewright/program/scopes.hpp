#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/contexts.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// While it lives, names of new tensors get the prefix `name` and a slash, and new ops are drawn with it.
class [[nodiscard]] NameScope {
 public:
  constexpr NameScope(Ir& ir, std::string_view name) : ir_(ir), outer_(ir.tables.enter_scope(name)) {}
  constexpr ~NameScope() { ir_.tables.current_scope = outer_; }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  Ir& ir_;
  int outer_;
};
constexpr NameScope name_scope(Ir& ir, std::string_view name) { return {ir, name}; }

/// While it lives, every new op of the graph that was current at its creation runs after the op created before it. If `ordered`
/// is false, the scope's ops have no order among themselves, and the outer scope orders all of them like one op. Scopes never
/// order ops of different graphs or execution contexts. Programs run in the order of their trace in any case: a change in place
/// is seen by all ops after it, and by no op before it. A module has its whole build in such a scope with a member `static
/// constexpr bool in_sequence = true`.
class [[nodiscard]] InSequence {
 public:
  constexpr explicit InSequence(Ir& ir, SequenceMode mode = SequenceMode::ordered) : ir_(ir), outer_(find_outer(ir)) {
    SequenceScope scope{.graph = ir.tables.current_graph, .mode = mode};
    if (outer_ >= 0 && mode != SequenceMode::pass) scope.before = ir.tables.sequences[static_cast<std::size_t>(outer_)].before;
    ir_.tables.sequences.push_back(std::move(scope));
  }
  constexpr ~InSequence() {
    const List<NodeId> last = std::move(ir_.tables.sequences.back().last);
    ir_.tables.sequences.pop_back();
    if (outer_ < 0 || last.empty()) return;
    SequenceScope& outer = ir_.tables.sequences[static_cast<std::size_t>(outer_)];
    if (outer.mode == SequenceMode::ordered) {
      detail::go_on_after(ir_, outer.before, last);
      detail::go_on_after(ir_, outer.last, last);
    } else if (outer.mode == SequenceMode::unordered) {
      for (const NodeId node : last) outer.last.push_back(node);
    }
  }
  InSequence(const InSequence&) = delete;
  InSequence& operator=(const InSequence&) = delete;

 private:
  /// The index in IrTables::sequences of the innermost open scope of the current graph, or -1.
  static constexpr int find_outer(const Ir& ir) {
    for (auto i = static_cast<int>(ir.tables.sequences.size()); i-- > 0;)
      if (ir.tables.sequences[static_cast<std::size_t>(i)].graph == ir.tables.current_graph) return i;
    return -1;
  }

  Ir& ir_;
  int outer_;
};
constexpr InSequence in_sequence(Ir& ir, bool ordered = true) {
  return InSequence(ir, ordered ? SequenceMode::ordered : SequenceMode::unordered);
}
/// SequenceMode::pass: the scope's ops are not ordered, neither among themselves nor with those before and after it, whose order
/// goes on as if they were not there.
constexpr InSequence in_sequence(Ir& ir, SequenceMode mode) { return InSequence(ir, mode); }

/// While it lives, new ops of the main graph have an execution context: they run in a run (Normal), after each upload of the
/// variables (WeightsFromHostFragment), or before each download (WeightsToHostFragment). Ops of called graphs run when their
/// calls do, in whichever scope they are made.
///
///     const tw::Tensor w = ir.variable(tw::ones(), {4}, tw::float32, "w");
///     {
///       const auto context = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
///       tw::ops::mul_(w, scale);  // the device has scale w
///     }
///
/// Contexts share the variables. One reads a tensor that an earlier one made (in the order upload, run, download) as it is after
/// that ran last; before the first run it is 0. Errors: a tensor that a later context makes; streams outside of Normal;
/// AccumulateOuterFragment, OptimizerFromHostFragment; Subgraph in the main graph, and any other in another graph.
class [[nodiscard]] ExecutionContextScope {
 public:
  constexpr ExecutionContextScope(Ir& ir, ExecutionContext context) : ir_(ir), outer_(ir.tables.current_context) {
    if (!check(ir, context) || context == ExecutionContext::Subgraph) return;
    ir.tables.current_context = context;
    if (context != ExecutionContext::Normal) ir.tables.has_contexts = true;
  }
  constexpr ~ExecutionContextScope() { ir_.tables.current_context = outer_; }
  ExecutionContextScope(const ExecutionContextScope&) = delete;
  ExecutionContextScope& operator=(const ExecutionContextScope&) = delete;

 private:
  static constexpr bool check(Ir& ir, ExecutionContext context) {
    const auto fail = [&](const auto&... problem) {
      ir.fail(text("execution_context: ", to_text(context), problem..., " expected"));
      return false;
    };
    if (context == ExecutionContext::AccumulateOuterFragment)
      return fail(", which surrounds PopART's own accumulation: Normal, after the repeat that accumulates,");
    if (context == ExecutionContext::OptimizerFromHostFragment)
      return fail(", which no session runs: WeightsFromHostFragment, as optimisers have their state in variables,");
    const bool is_main = ir.tables.current_graph == GraphId::main;
    if (is_main && context == ExecutionContext::Subgraph)
      return fail(" in the main graph: Normal, WeightsFromHostFragment or WeightsToHostFragment");
    if (!is_main && context != ExecutionContext::Subgraph)
      return fail(" in graph '", ir.tables.current().name, "', whose ops run with its calls: a scope of the main graph");
    return true;
  }

  Ir& ir_;
  ExecutionContext outer_;
};
constexpr ExecutionContextScope execution_context(Ir& ir, ExecutionContext context) { return {ir, context}; }

/// While it lives, layers are traced for training or for evaluation. The innermost scope counts.
class [[nodiscard]] ModeScope {
 public:
  constexpr ModeScope(Ir& ir, Mode mode) : ir_(ir), outer_(std::exchange(ir.tables.current_mode, mode)) {}
  constexpr ~ModeScope() { ir_.tables.current_mode = outer_; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  Ir& ir_;
  std::optional<Mode> outer_;
};
/// For training: dropout drops, batch norm takes the batch's statistics.
constexpr ModeScope training(Ir& ir) { return {ir, Mode::training}; }
/// For evaluation: dropout gives its input, batch norm takes its running statistics.
constexpr ModeScope evaluation(Ir& ir) { return {ir, Mode::evaluation}; }
/// The mode of the innermost scope, or nothing.
constexpr std::optional<Mode> mode_of(const Ir& ir) { return ir.tables.current_mode; }
/// The mode of the innermost scope, for a layer that needs one. A trace without a mode is an error, which names `layer`.
constexpr Mode require_mode(Ir& ir, std::string_view layer) {
  if (ir.tables.current_mode) return *ir.tables.current_mode;
  ir.fail(text(layer, ": traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected"));
  return Mode::evaluation;
}

/// While it lives, errors name this step of the module path.
class [[nodiscard]] PathScope {
 public:
  constexpr PathScope(Ir& ir, std::string_view name) : ir_(ir) { ir_.tables.module_path.push_back(name); }
  constexpr ~PathScope() { ir_.tables.module_path.pop_back(); }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;

 private:
  Ir& ir_;
};
/// While it lives, errors name it as a step of the module path: for a function that appends several ops.
constexpr PathScope op_debug_context(Ir& ir, std::string_view name) { return {ir, name}; }

}  // namespace tilewright
