#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/contexts.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// Scope that prefixes the names of new tensors with `name` and a slash. Drawings show new ops with the prefix.
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

/// Scope that orders ops: every new op of the graph that was current at its creation runs after the op created before it. If
/// `ordered` is false, the scope's ops are unordered among themselves, and the outer scope orders them together as one op. Scopes
/// never order ops of different graphs or execution contexts. A program always runs as if in the order of its trace: every later
/// op sees an in-place change, and no earlier op does. A module with a member `static constexpr bool in_sequence = true` has its
/// whole build in such a scope.
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
  /// Returns the index in IrTables::sequences of the innermost open scope of the current graph, or -1.
  static constexpr int find_outer(const Ir& ir) {
    for (auto i = static_cast<int>(ir.tables.sequences.size()); i-- > 0;)
      if (ir.tables.sequences[static_cast<std::size_t>(i)].graph == ir.tables.current_graph) return i;
    return -1;
  }

  Ir& ir_;
  int outer_;
};
[[nodiscard]] constexpr InSequence in_sequence(Ir& ir, bool ordered = true) {
  return InSequence(ir, ordered ? SequenceMode::ordered : SequenceMode::unordered);
}
/// Opens a scope. With SequenceMode::pass, the scope's ops are unordered, both among themselves and with the ops before and after
/// the scope. The outer order continues as if they did not exist.
[[nodiscard]] constexpr InSequence in_sequence(Ir& ir, SequenceMode mode) { return InSequence(ir, mode); }

/// Scope that sets the execution context of new ops of the main graph: they run in each run (Normal), after each upload of the
/// variables (WeightsFromHostFragment), or before each download (WeightsToHostFragment). Ops of called graphs run when their
/// calls run, whichever scope they are created in.
///
///     const tw::Tensor w = ir.variable(tw::ones(), {4}, tw::float32, "w");
///     {
///       const auto context = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
///       tw::ops::mul_(w, scale);  // the device has scale w
///     }
///
/// Contexts share the variables. A context can read tensors of an earlier context (in the order upload, run, download), with the
/// values of that context's last execution, or 0 before the first run. Errors: a tensor of a later context; streams outside of
/// Normal; AccumulateOuterFragment, OptimizerFromHostFragment; Subgraph in the main graph, and any other context in another
/// graph.
class [[nodiscard]] ExecutionContextScope {
 public:
  constexpr ExecutionContextScope(Ir& ir, ExecutionContext context) : ir_(ir), outer_(ir.tables.current_context) {
    if (!validate(ir, context) || context == ExecutionContext::Subgraph) return;
    ir.tables.current_context = context;
    if (context != ExecutionContext::Normal) ir.tables.has_contexts = true;
  }
  constexpr ~ExecutionContextScope() { ir_.tables.current_context = outer_; }
  ExecutionContextScope(const ExecutionContextScope&) = delete;
  ExecutionContextScope& operator=(const ExecutionContextScope&) = delete;

 private:
  static constexpr bool validate(Ir& ir, ExecutionContext context) {
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
[[nodiscard]] constexpr ExecutionContextScope execution_context(Ir& ir, ExecutionContext context) { return {ir, context}; }

/// Scope in which layers are traced for training or for evaluation. The innermost scope counts.
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
/// Opens a scope for training: dropout drops elements, and batch norm uses the batch's statistics.
[[nodiscard]] constexpr ModeScope training(Ir& ir) { return {ir, Mode::training}; }
/// Opens a scope for evaluation: dropout returns its input, and batch norm uses its running statistics.
[[nodiscard]] constexpr ModeScope evaluation(Ir& ir) { return {ir, Mode::evaluation}; }
/// Returns the mode of the innermost scope, or nothing.
[[nodiscard]] constexpr std::optional<Mode> mode_of(const Ir& ir) { return ir.tables.current_mode; }
/// Returns the mode of the innermost scope for a layer that needs one. Fails in a trace without a mode; the error names `layer`.
constexpr Mode require_mode(Ir& ir, std::string_view layer) {
  if (ir.tables.current_mode) return *ir.tables.current_mode;
  ir.fail(text(layer, ": traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected"));
  return Mode::evaluation;
}

/// Scope that adds a step to the module path in errors.
class [[nodiscard]] PathScope {
 public:
  constexpr PathScope(Ir& ir, std::string_view name) : ir_(ir) { ir_.tables.module_path.push_back(name); }
  constexpr ~PathScope() { ir_.tables.module_path.pop_back(); }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;

 private:
  Ir& ir_;
};
/// Opens a scope that adds `name` to the module path in errors, for a function that appends several ops.
[[nodiscard]] constexpr PathScope op_debug_context(Ir& ir, std::string_view name) { return {ir, name}; }

}  // namespace tilewright
