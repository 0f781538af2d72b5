#pragma once
#include <concepts>
#include <utility>

#include "tilewright/derivatives/vjp.hpp"

namespace tilewright {

namespace detail {

/// The derivative of a call as a graph that is linear in the tangents of arguments: the gradient of the gradient graph for the
/// gradients of results that it takes.
class LinearCall {
 public:
  constexpr explicit LinearCall(DifferentiatedCall forward) : forward_(std::move(forward)), linear_(forward_.gradient) {
    Ir& ir = forward_.ir();
    if (ir.failed()) return;
    const Graph gradient = forward_.gradient.graph();
    AutodiffOptions options{.skips_unreached = true};
    options.grads_required.emplace();
    List<Tensor> inputs;
    for (const auto& [type, tensor] : forward_.gradient.record().inputs) {
      if (type != ExpectedConnectionType::FwdGrad) continue;
      const Tensor input = gradient.input(static_cast<int>(inputs.size()));
      options.grads_required->push_back(input);
      inputs.push_back(zeros_like(ir, input.spec()));  // the derivative does not depend on them
    }
    linear_ = autodiff(gradient, options);
    for (const Tensor& value : forward_.forward_values()) inputs.push_back(value);
    if (ir.failed()) return;
    for (const auto& [input, value] : linear_.inputs_dict(call_with_info(gradient, inputs))) values_.push_back(value);
  }

  constexpr const DifferentiatedCall& forward() const { return forward_; }
  constexpr const GradGraphInfo& info() const { return linear_; }
  /// Returns the inputs of the linear graph behind the tangents.
  constexpr const List<Tensor>& values() const { return values_; }
  /// Returns the number of the linear graph's output that is the tangent of a result, or -1 if the result has none.
  constexpr int output_of(std::size_t result) const {
    const DType dtype = forward_.applied.result(result).dtype();
    if (!is_floating_point(dtype)) return -1;
    int number = 0;  // among those of floating point
    for (std::size_t i = 0; i < result; ++i) number += is_floating_point(forward_.applied.result(i).dtype()) ? 1 : 0;
    const TensorId input = forward_.gradient.graph().input(number).number();
    for (std::size_t i = 0; i < linear_.record().outputs.size(); ++i)
      if (linear_.record().outputs[i] == input) return static_cast<int>(i);
    return -1;
  }
  /// Returns the tangents of the results. `tangents`: one for each argument.
  constexpr Results call(const List<Tensor>& tangents) const {
    Ir& ir = forward_.ir();
    if (ir.failed()) return Results(ir);
    List<Tensor> inputs, results;
    for (const Tensor& reached : forward_.gradient.outputs())
      for (std::size_t a = 0; a < tangents.size(); ++a)
        if (forward_.applied.graph.input(forward_.applied.arguments[a]) == reached) inputs.push_back(tangents[a]);
    for (const Tensor& value : values_) inputs.push_back(value);
    const Outputs outputs = tilewright::call_with_info(linear_.graph(), inputs).outputs();
    for (std::size_t i = 0; i < forward_.applied.results && !ir.failed(); ++i) {
      const int output = output_of(i);
      if (output >= 0) results.push_back(outputs[static_cast<std::size_t>(output)]);
      else results.push_back(zeros_like(ir, forward_.applied.result(i).spec()));
    }
    return Results(ir, std::move(results));
  }

 private:
  DifferentiatedCall forward_;
  GradGraphInfo linear_;
  List<Tensor> values_{};
};

/// Fails unless there is a tangent of the argument's shape and dtype for each argument.
constexpr void check_tangents(const AppliedGraph& applied, std::string_view what, std::span<const Tensor> tangents) {
  Ir& ir = applied.ir();
  for (std::size_t i = 0; i < tangents.size() && !ir.failed(); ++i)
    if (tangents[i].spec() != applied.argument_spec(i))
      ir.fail(text(what, " of ", applied.graph.name(), ": tangent ", to_text(tangents[i].spec()), " for argument ", i, ", ",
                   to_text(applied.argument_spec(i)), ": the argument's shape and dtype expected"));
}

}  // namespace detail

/// The derivative of a function at a point: takes tangents of the `count` arguments, and returns those of the results.
template <std::size_t count>
class Pushforward {
 public:
  constexpr explicit Pushforward(detail::LinearCall call) : call_(std::move(call)) {}

  /// Returns the tangents of the results. `tangents`: one for each argument, of its shape and dtype; otherwise an error. A result
  /// that depends on no argument gets zeros.
  template <std::same_as<Tensor>... Tensors>
    requires(sizeof...(Tensors) == count)
  constexpr Results operator()(const Tensors&... tangents) const {
    const List<Tensor> all{tangents...};
    detail::check_tangents(call_.forward().applied, "linearize", {all.data(), count});
    return call_.call(all);
  }

 private:
  detail::LinearCall call_;
};

/// Calls a function, and returns its results and its Pushforward: `const auto [y, pushforward] = tw::linearize(f, x)`. The call
/// stores what the derivative needs, as for a gradient, so further tangents cost no further call. The function and the errors are
/// those of vjp.
template <class F, std::convertible_to<Tensor>... Arguments>
[[nodiscard]] TILEWRIGHT_KEPT constexpr std::pair<Results, Pushforward<sizeof...(Arguments)>>&& linearize(
    F function, const Arguments&... arguments) {
  const detail::LinearCall call(
      detail::call_and_differentiate(detail::apply_function("linearize", std::move(function), detail::array_of(arguments...)),
                                     detail::all_numbers(sizeof...(Arguments))));
  return detail::keep(call.forward().ir(), std::pair(call.forward().results, Pushforward<sizeof...(Arguments)>(call)));
}

}  // namespace tilewright
