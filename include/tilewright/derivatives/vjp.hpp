#pragma once
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tilewright {

namespace detail {

/// A call of a graph, and the gradient graph of that graph.
struct DifferentiatedCall {
  AppliedGraph applied;
  CallSiteInfo call;
  GradGraphInfo gradient;
  Results results;

  constexpr Ir& ir() const { return applied.ir(); }
  /// Returns the arguments of a call of the gradient graph behind the gradients of results.
  constexpr List<Tensor> forward_values() const {
    List<Tensor> result;
    for (const auto& [input, value] : gradient.inputs_dict(call)) result.push_back(value);
    return result;
  }
  /// Returns the number of the gradient graph's output that is the gradient of an argument, or -1 if no gradient reaches it.
  constexpr int output_of(int argument) const {
    const TensorId input = applied.graph.input(applied.arguments[argument]).number();
    const List<TensorId>& outputs = gradient.record().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] == input) return static_cast<int>(i);
    return -1;
  }
};

/// Calls a graph, and differentiates it for some of its arguments.
constexpr DifferentiatedCall call_and_differentiate(AppliedGraph applied, const List<int>& arguments) {
  Ir& ir = applied.ir();
  if (ir.failed()) return {applied, {ir}, {ir, applied.graph.id(), {.graph = GraphId::main}}, Results(ir)};
  const CallSiteInfo call = call_with_info(applied.graph, applied.parents);
  List<Tensor> results;
  for (std::size_t i = 0; i < applied.results; ++i) results.push_back(call.output(static_cast<int>(i)));
  AutodiffOptions options{.skips_unreached = true};
  options.grads_required.emplace();
  for (int argument : arguments) options.grads_required->push_back(applied.graph.input(applied.arguments[argument]));
  return {applied, call, autodiff(applied.graph, options), Results(ir, std::move(results))};
}

/// Returns the gradients of arguments: outputs of a call of the gradient graph, or zeros where no gradient reaches one.
constexpr void gradients_of_arguments(const DifferentiatedCall& call, const List<Tensor>& of_results,
                                      std::span<const int> arguments, std::span<Tensor> gradients) {
  Ir& ir = call.ir();
  for (Tensor& gradient : gradients) gradient = Tensor::invalid(ir);
  if (ir.failed()) return;
  List<Tensor> inputs = of_results;
  for (const Tensor& value : call.forward_values()) inputs.push_back(value);
  const Outputs outputs = tilewright::call_with_info(call.gradient.graph(), inputs).outputs();
  for (std::size_t i = 0; i < arguments.size() && !ir.failed(); ++i) {
    const int output = call.output_of(arguments[i]);
    if (output >= 0) gradients[i] = outputs[static_cast<std::size_t>(output)];
    else gradients[i] = zeros_like(ir, call.applied.argument_spec(static_cast<std::size_t>(arguments[i])));
  }
}
constexpr List<int> all_numbers(std::size_t count) {
  List<int> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<int>(i));
  return result;
}

}  // namespace detail

/// The transposed derivative of a function at a point: takes gradients of the results, and returns those of the `count`
/// arguments.
template <std::size_t count>
class Pullback {
 public:
  constexpr explicit Pullback(detail::DifferentiatedCall call) : call_(std::move(call)) {}

  /// Returns the gradients of the arguments, as a Tensor for one argument and an array for several. `gradients`: one for each
  /// result of floating point, of its shape and dtype. An argument on which no result depends gets zeros.
  constexpr auto operator()(std::initializer_list<Tensor> gradients) const {
    std::array<Tensor, count> result;
    const List<int> arguments = detail::all_numbers(count);
    detail::gradients_of_arguments(call_, List<Tensor>(gradients), {arguments.data(), count}, result);
    if constexpr (count == 1) return result[0];
    else return result;
  }
  constexpr auto operator()(Tensor gradient) const { return (*this)({gradient}); }

 private:
  detail::DifferentiatedCall call_;
};

/// Calls a function, and returns its results and its Pullback: `const auto [y, pullback] = tw::vjp(f, x)`. The function is a
/// lambda, a module without variables, a graph, or a bound graph, whose bound tensors are constants. Each of the arguments is a
/// tensor of the current graph. Errors: those of autodiff.
template <class F, std::convertible_to<Tensor>... Arguments>
[[nodiscard]] TILEWRIGHT_KEPT constexpr std::pair<Results, Pullback<sizeof...(Arguments)>>&& vjp(F function,
                                                                                                 const Arguments&... arguments) {
  const auto call = detail::call_and_differentiate(
      detail::apply_function("vjp", std::move(function), detail::array_of(arguments...)),
      detail::all_numbers(sizeof...(Arguments)));
  return detail::keep(call.ir(), std::pair(call.results, Pullback<sizeof...(Arguments)>(call)));
}

}  // namespace tilewright
