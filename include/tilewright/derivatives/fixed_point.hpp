#pragma once
#include "tilewright/derivatives/by_hand.hpp"

namespace tilewright {

/// Options of fixed_point.
struct FixedPointOptions {
  std::int64_t iterations = 50;  ///< of the function, and of the gradient's sum
};

namespace detail {

/// The gradient of a fixed point x = f(x, p) by the implicit function theorem: w df/dp, where w = dx + w df/dx is a fixed point,
/// too.
template <class F>
struct FixedPointRule {
  F function;
  std::int64_t iterations;

  template <std::same_as<Tensor>... Parameters>
  constexpr std::array<Tensor, 1 + sizeof...(Parameters)> operator()(Tensor dx, Tensor solution,
                                                                     const Parameters&... parameters) const {
    constexpr std::size_t count = 1 + sizeof...(Parameters);
    Ir& ir = dx.ir();
    std::array<Tensor, count> gradients;
    gradients.fill(Tensor::invalid(ir));
    const Tensor x = depends_on(*this, solution, array_of(parameters...));
    const auto call = call_and_differentiate(apply_function("fixed_point", function, array_of(x, parameters...)),
                                             all_numbers(count));
    if (ir.failed()) return gradients;
    const int output = call.output_of(0);
    Tensor weights = dx;
    if (output >= 0) {
      const Graph gradient = call.gradient.graph();
      const auto step = [gradient, output](Tensor w, Tensor dy, const List<Tensor>& values) {
        List<Tensor> inputs{w};
        for (const Tensor& value : values) inputs.push_back(value);
        return dy + call_with_info(gradient, inputs).output(output);
      };
      const List<Tensor> values = call.forward_values();
      List<Tensor> inputs{dx, dx};
      for (const Tensor& value : values) inputs.push_back(value);
      weights = repeat_with_info(ir.create_graph(step, dx, dx, values), iterations, inputs).output(0);
    }
    const List<int> numbers = all_numbers(count);
    gradients_of_arguments(call, {weights}, {numbers.data(), count}, gradients);
    gradients[0] = Tensor::invalid(ir);
    return gradients;
  }
};

template <class F, std::size_t count>
constexpr Solution fixed_point_of(const F& function, const std::array<Tensor, count>& arguments,
                                  const FixedPointOptions& options) {
  const auto step = [function](const std::array<Tensor, count>& at) -> Tensor { return call_with_array(function, at); };
  const auto rest = [&step](const std::array<Tensor, count>& at) { return step(at) - at[0]; };
  return solve_by_steps(step, options.iterations, FixedPointRule<F>{function, options.iterations}, rest, arguments);
}

}  // namespace detail

/// Returns x with x = f(x) by calling f a fixed number of times, from x0, and the residual, the largest |f(x) - x|:
/// `const auto [x, residual] = tw::fixed_point(f, x0)`. With parameters, `tw::fixed_point(f, {x0, a, b})` solves x = f(x, a, b).
/// x0: any shape of floating point; f: a function of tensors, whose result has x's shape and dtype, and which captures none. f
/// must bring values closer to each other. The derivative for the parameters is that of the implicit function theorem, of all
/// orders, for which the loop stores nothing; it is right if the residual is small. x0 has none. Errors: a negative number of
/// iterations; a result of another shape or dtype; those of vjp.
///
///     const auto [x, residual] = tw::fixed_point([](tw::Tensor y, tw::Tensor a) { return ops::cos(y * a); }, {a, a});
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr Solution fixed_point(F f, const Tensor (&arguments)[count], FixedPointOptions options = {}) {
  return detail::fixed_point_of(f, detail::array_of(arguments), options);
}
template <class F>
[[nodiscard]] constexpr Solution fixed_point(F f, Tensor x0, FixedPointOptions options = {}) {
  return detail::fixed_point_of(f, detail::array_of(x0), options);
}

}  // namespace tilewright
