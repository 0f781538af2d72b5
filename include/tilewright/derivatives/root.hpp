#pragma once
#include "tilewright/derivatives/by_hand.hpp"
#include "tilewright/derivatives/jacobian.hpp"
#include "tilewright/ops/linear/solve.hpp"

namespace tilewright {

/// Options of root.
struct RootOptions {
  std::int64_t iterations = 10;  ///< number of Newton's steps
};

namespace detail {

/// Returns the Jacobian of a function for its argument 0, as a matrix.
template <class F, std::size_t count>
constexpr Tensor square_jacobian(const F& function, const std::array<Tensor, count>& arguments) {
  const Tensor result = call_with_array(jacobian(function), arguments);
  return result.is_usable() ? result.reshape({arguments[0].nelms(), -1}) : result;
}

/// The gradient of a root by the implicit function theorem: dx (df/dx)^-1 df/dp, negative, for a parameter p.
template <class F>
struct RootRule {
  F function;

  template <std::same_as<Tensor>... Parameters>
  constexpr std::array<Tensor, 1 + sizeof...(Parameters)> operator()(Tensor dx, Tensor solution,
                                                                     const Parameters&... parameters) const {
    const Tensor x = depends_on(*this, solution, array_of(parameters...));
    const Tensor slope = square_jacobian(function, array_of(x, parameters...));
    const Tensor weights = ops::solve(slope.T(), -dx.reshape({-1})).reshape(x.shape());
    const auto [value, pullback] = vjp(function, x, parameters...);
    auto gradients = pullback(weights);
    gradients[0] = Tensor::invalid(x.ir());
    return gradients;
  }
};

template <class F, std::size_t count>
constexpr Solution root_of(const F& function, const std::array<Tensor, count>& arguments, const RootOptions& options) {
  const auto step = [function](const std::array<Tensor, count>& at) {
    const Tensor x = at[0], y = call_with_array(function, at);
    if (y.is_usable() && y.shape() != x.shape())
      return x.ir().fail(text("root: a result ", to_text(y.spec()), " for ", to_text(x.spec()), ": equal shapes expected"));
    return x - ops::solve(square_jacobian(function, at), y.reshape({-1})).reshape(x.shape());
  };
  const auto rest = [&function](const std::array<Tensor, count>& at) { return call_with_array(function, at); };
  return solve_by_steps(step, options.iterations, RootRule<F>{function}, rest, arguments);
}

}  // namespace detail

/// Returns x with f(x) = 0 by a fixed number of Newton's steps from x0, and the residual, the largest |f(x)|:
/// `const auto [x, residual] = tw::root(f, x0)`. With parameters, `tw::root(f, {x0, a, b})` solves f(x, a, b) = 0. x0: float32 or
/// float64, at most 64 elements; f: a function of tensors, whose result has x's shape, and which captures none. The derivative
/// for the parameters is that of the implicit function theorem, of all orders; it is right if the residual is small. x0 has none.
/// A singular Jacobian is a fault (ops::solve). Errors: a negative number of steps; a result of
/// another shape; those of jacobian.
///
///     const auto [x, residual] = tw::root([](tw::Tensor y, tw::Tensor a) { return y * y - a; }, {a, a});  // x = sqrt(a)
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr Solution root(F f, const Tensor (&arguments)[count], RootOptions options = {}) {
  return detail::root_of(f, detail::array_of(arguments), options);
}
template <class F>
[[nodiscard]] constexpr Solution root(F f, Tensor x0, RootOptions options = {}) {
  return detail::root_of(f, detail::array_of(x0), options);
}

}  // namespace tilewright
