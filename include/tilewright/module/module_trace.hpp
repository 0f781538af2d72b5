#pragma once
#include <string_view>

#include "tilewright/core/move_only_function.hpp"
#include "tilewright/graph/gradient_rule.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/module/variable_factory.hpp"

namespace tilewright {

/// How a call that inlines a module with a build_grad is reported, because autodiff then uses the ops of `build`, not build_grad.
/// A module chooses by a member `static constexpr auto grad_inlining_error = tw::GradInlining::none`.
enum class GradInlining : std::uint8_t {
  error,  ///< an error, the default
  warning,  ///< a warning of the compiler at the call
  none  ///< not at all
};

class GraphWithNamedArgs;
/// Options of Module::call_module.
struct CallModuleOptions {
  std::string_view name{};  ///< of the variables; empty: the member's name, or the class's name for a module that is no member
  GradientMethod method = GradientMethod::automatic;  ///< how autodiff of callers makes the gradient graph
  /// Returns the outputs of the graph whose gradients callers provide; none: all of floating point.
  detail::MoveOnlyFunction<List<Tensor>(const GraphWithNamedArgs&)> grads_provided{};
  /// Returns the inputs of the graph whose gradients callers require; none: all that a gradient reaches.
  detail::MoveOnlyFunction<List<Tensor>(const GraphWithNamedArgs&)> grads_required{};
};

namespace detail {
/// A build_grad that is at work: what it reads, and the gradients of variables that it has set.
struct GradientPhase {
  ForwardValues& values;
  NamedTensors var_grads{};
};
/// Factories and inputs of the variables that the modules of one create_graph collect.
struct ModuleTrace {
  Ir& ir;
  NamedVariableFactories factories{};
  NamedTensors args{};
  NamedTensors aux{};  ///< saved in build, and read in build_grad
  GradientPhase* gradient = nullptr;  ///< null: the forward graph is being built

  constexpr Tensor activation(Tensor forward) const { return gradient->values.activation(forward.number()); }
};

/// A module with a function build_grad, which states its gradient.
template <class M>
concept HasBuildGrad = requires { &M::build_grad; } || requires(M& module, Tensor dy) { module.build_grad(dy); } ||
                       requires(M& module, Tensor dy) { module.build_grad(dy, dy); };
/// Returns how a call that inlines the module is reported.
template <class M>
constexpr GradInlining grad_inlining() {
  if constexpr (!HasBuildGrad<M>) return GradInlining::none;
  else if constexpr (requires { M::grad_inlining_error; }) return M::grad_inlining_error;
  else return GradInlining::error;
}

/// Saves a tensor of the forward graph under a dotted name. Does nothing if build_grad calls again what has saved it.
constexpr void save_aux(ModuleTrace& trace, const Text& name, Tensor value, bool overwrite) {
  if (trace.gradient && trace.aux.contains(name.view())) return;
  if (!trace.gradient && value.graph_id() == trace.ir.tables.current_graph)
    return trace.aux.insert(name.view(), value, overwrite);
  trace.ir.fail(text("aux: '", name, "' of ", to_text(value), trace.gradient ? " saved in build_grad" : "",
                     ": a tensor of the graph of build, saved in build, expected"));
}
/// Returns the value of a saved tensor, or of a variable, in the gradient graph.
constexpr Tensor read_aux(const ModuleTrace& trace, const Text& name) {
  if (!trace.gradient)
    return trace.ir.fail(text("aux: '", name, "' read outside of build_grad: aux(name) in build_grad expected"));
  const Tensor* value = trace.aux.find(name.view());
  if (!value) value = trace.args.find(name.view());
  if (value) return trace.activation(*value);
  return trace.ir.fail(text("aux: '", name, "': a saved tensor, of {", join(trace.aux.keys_flat(), ", "),
                            "}, or a variable, of {", join(trace.args.keys_flat(), ", "), "}, expected"));
}
/// Sets the gradient of a variable.
constexpr void set_var_grad(ModuleTrace& trace, const Text& name, Tensor gradient) {
  Ir& ir = trace.ir;
  if (!gradient.valid() && ir.failed()) return;
  const Tensor* variable = trace.args.find(name.view());
  if (!trace.gradient) {
    ir.fail(text("var_grad: '", name, "' outside of build_grad: in build_grad expected"));
  } else if (!variable) {
    ir.fail(text("var_grad: '", name, "': a variable, one of {", join(trace.args.keys_flat(), ", "), "}, expected"));
  } else if (gradient.spec() != variable->spec()) {
    ir.fail(text("var_grad: ", to_text(gradient.spec()), " for '", name, "': ", to_text(variable->spec()),
                 ", as the variable has it, expected"));
  } else if (ir.tables.record(gradient).meta_shape != ir.tables.record(*variable).meta_shape) {
    const auto whole = [](Tensor t) { return to_text(t.meta_shape().value_or(t.shape())); };
    ir.fail(
        text("var_grad: ", whole(gradient), " for '", name, "', a shard of ", whole(*variable), ": a gradient of that expected"));
  } else {
    trace.gradient->var_grads.insert(name.view(), gradient);
  }
}
/// Returns the gradients of a forward graph's inputs: those of variables that var_grad set, and the results of build_grad for the
/// others. Fails unless each input of floating point has one of its spec.
constexpr GradientRule::Gradients gradients_of_inputs(const ModuleTrace& trace, std::string_view module, Graph forward,
                                                      const List<Tensor>& results) {
  Ir& ir = trace.ir;
  GradientRule::Gradients gradients;
  List<bool, TensorId> is_variable(ir.tables.record(forward.id()).tensors.size(), false);
  for (const auto& [name, variable] : trace.args.to_dict()) {
    is_variable[variable.number()] = true;
    if (const Tensor* gradient = trace.gradient->var_grads.find(name.view())) gradients.push_back({variable.number(), *gradient});
    else if (is_floating_point(variable.dtype()))
      ir.fail(text("build_grad of ", module, ": variable '", name, "' of ", to_text(variable.spec()),
                   " without a gradient: var_grad for each variable expected"));
  }
  std::size_t next = 0;
  for (const Tensor& input : forward.inputs()) {
    if (is_variable[input.number()] || !is_floating_point(input.dtype())) continue;
    if (next < results.size() && !results[next].is_usable()) return {};
    if (next < results.size() && results[next].spec() != input.spec())
      ir.fail(text("build_grad of ", module, ": result ", next, ", ", to_text(results[next].spec()), ", for ", to_text(input),
                   ": ", to_text(input.spec()), " expected"));
    if (next < results.size()) gradients.push_back({input.number(), results[next]});
    ++next;
  }
  if (next != results.size())
    ir.fail(text("build_grad of ", module, ": ", results.size(), " results for ", next,
                 " inputs of floating point that are no variables: one for each expected"));
  return gradients;
}
}  // namespace detail

}  // namespace tilewright
