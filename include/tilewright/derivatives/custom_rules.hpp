#pragma once
#include <concepts>
#include <span>
#include <string_view>
#include <utility>

#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tilewright {

namespace detail {

/// Lets `build(values, dy)` make the gradient graph of a graph: it returns the gradients of all inputs.
constexpr void add_rule(Ir& ir, Graph forward, auto build) {
  auto run = [forward, build = std::move(build)](ForwardValues& values, std::span<const Tensor> dy) {
    Ir& program = forward.ir();
    GradientRule::Gradients gradients;
    if (dy.size() != 1)
      program.fail(text("derivative by hand of ", forward.name(), ": ", dy.size(), " results of floating point: one expected"));
    if (program.failed()) return gradients;
    List<Tensor> inputs, results;
    for (const Tensor& input : forward.inputs()) inputs.push_back(values.activation(input.number()));
    build(inputs, dy[0], results);
    if (results.size() != inputs.size() && !program.failed())
      program.fail(text("derivative by hand of ", forward.name(), ": ", results.size(), " gradients for ", inputs.size(),
                        " arguments: one for each expected"));
    for (std::size_t i = 0; i < inputs.size() && !program.failed(); ++i) {
      if (!results[i].valid()) continue;
      if (results[i].spec() != inputs[i].spec())
        program.fail(text("derivative by hand of ", forward.name(), ": ", to_text(results[i].spec()), " for argument ", i, ", ",
                          to_text(inputs[i].spec()), ": the argument's shape and dtype expected"));
      gradients.push_back({forward.input(static_cast<int>(i)).number(), results[i]});
    }
    return gradients;
  };
  ir.tables.functions.gradient_rules.push_back({.graph = forward.id(), .build_grad = std::move(run)});
}

/// A function with a derivative by hand. `Rule`: see custom_vjp and custom_jvp.
template <class F, class Rule, bool is_forward>
class CustomDerivative {
 public:
  static constexpr std::string_view traced_name = "custom_derivative";
  constexpr CustomDerivative(F function, Rule rule) : function_(std::move(function)), rule_(std::move(rule)) {}

  template <std::convertible_to<Tensor>... Arguments>
  constexpr Results operator()(const Arguments&... arguments) const {
    Ir& ir = find_ir_of(Tensor(arguments)...);
    const Graph graph = ir.create_graph(function_, Tensor(arguments)...);
    if (ir.failed()) return Results(ir);
    add_rule(ir, graph, [rule = rule_](const List<Tensor>& inputs, Tensor dy, List<Tensor>& gradients) {
      if constexpr (is_forward) transpose<sizeof...(Arguments)>(rule, inputs, dy, gradients);
      else call_rule<sizeof...(Arguments)>(rule, inputs, dy, gradients);
    });
    const Outputs outputs = call(graph, {Tensor(arguments)...});
    return Results(ir, List<Tensor>(outputs.begin(), outputs.end()));
  }

 private:
  static constexpr Ir& find_ir_of(Tensor first, auto...) { return first.ir(); }

  template <std::size_t count>
  static constexpr void call_rule(const Rule& rule, const List<Tensor>& inputs, Tensor dy, List<Tensor>& gradients) {
    const auto results = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return rule(dy, inputs[i]...);
    }(std::make_index_sequence<count>());
    for_each_result(results, [&](Tensor gradient) { gradients.push_back(gradient); });
  }
  /// Traces the rule, which is linear in the tangents, and differentiates it for them.
  template <std::size_t count>
  static constexpr void transpose(const Rule& rule, const List<Tensor>& inputs, Tensor dy, List<Tensor>& gradients) {
    Ir& ir = dy.ir();
    const Graph graph = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return ir.create_graph(rule, inputs[i]..., inputs[i]...);
    }(std::make_index_sequence<count>());
    AutodiffOptions options{.skips_unreached = true};
    options.grads_required.emplace();
    List<Tensor> all = inputs;
    for (std::size_t i = 0; i < count && !ir.failed(); ++i) {
      options.grads_required->push_back(graph.input(static_cast<int>(count + i)));
      all.push_back(zeros_like(ir, inputs[i].spec()));  // the gradient does not depend on tangents
    }
    if (ir.failed()) return;
    const GradGraphInfo info = autodiff(graph, options);
    if (ir.failed()) return;
    const List<Tensor> results = call_forward_and_gradient(ir, graph.id(), info.record(), all, {dy});
    const TensorPositions output_of(info.record().outputs, graph.tensors().size());
    for (const Tensor& tangent : *options.grads_required) {
      const int output = output_of[tangent.number()];
      gradients.push_back(output < 0 ? Tensor::invalid(ir) : results[static_cast<std::size_t>(output)]);
    }
  }

  F function_;
  Rule rule_;
};

}  // namespace detail

/// Returns a function with a gradient by hand: `rule(dy, arguments...)` returns the gradients of all arguments, a tensor or an
/// array, from the gradient dy of the one result.
///
///     const auto log = tw::custom_vjp([](tw::Tensor x) { return ops::log(x); },
///                                     [](tw::Tensor dy, tw::Tensor x) { return dy / ops::maximum(x, 1e-6); });
///
/// The function makes a call of a graph, whose gradient the rule makes, in forward mode, too. Errors: another number of gradients
/// than of arguments; a gradient of another shape or dtype than its argument.
template <class F, class Rule>
[[nodiscard]] constexpr auto custom_vjp(F function, Rule rule) {
  return detail::CustomDerivative<F, Rule, false>(std::move(function), std::move(rule));
}
/// Returns a function with a derivative by hand: `rule(arguments..., tangents...)` returns the tangent of the one result, and is
/// linear in the tangents. The gradient is the transposed rule.
///
///     const auto log = tw::custom_jvp([](tw::Tensor x) { return ops::log(x); },
///                                     [](tw::Tensor x, tw::Tensor dx) { return dx / ops::maximum(x, 1e-6); });
///
/// Errors: those of custom_vjp; an op of the rule without a gradient.
template <class F, class Rule>
[[nodiscard]] constexpr auto custom_jvp(F function, Rule rule) {
  return detail::CustomDerivative<F, Rule, true>(std::move(function), std::move(rule));
}

}  // namespace tilewright
