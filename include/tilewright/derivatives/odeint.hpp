#pragma once
#include "tilewright/derivatives/by_hand.hpp"

namespace tilewright {

/// How a step is computed.
enum class OdeMethod : std::uint8_t {
  rk4,  ///< the classical method of Runge and Kutta, of order 4: f is called 4 times
  dopri5  ///< Dormand and Prince's, of order 5: f is called 6 times
};
/// How gradients are computed.
enum class OdeGradient : std::uint8_t {
  steps,  ///< through the steps, exactly: what each step needs is stored
  adjoint  ///< by the adjoint equation, which is integrated back from t1 with the same method: nothing is stored
};

/// Options of odeint.
struct OdeOptions {
  OdeMethod method = OdeMethod::rk4;  ///< how a step is computed
  OdeGradient gradient = OdeGradient::steps;  ///< how gradients are computed
};

namespace detail {

/// An explicit method: stage i is f(t + h nodes[i], x + h sum_j factors[i][j] stage j); a step adds h sum_i weights[i] stage i.
struct Tableau {
  int stages = 0;
  double nodes[6]{}, factors[6][5]{}, weights[6]{};
};
constexpr Tableau tableau_of(OdeMethod method) {
  if (method == OdeMethod::rk4)
    return {4, {0, 0.5, 0.5, 1}, {{}, {0.5}, {0, 0.5}, {0, 0, 1}}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
  // J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", 1980
  return {6,
          {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1},
          {{},
           {1.0 / 5},
           {3.0 / 40, 9.0 / 40},
           {44.0 / 45, -56.0 / 15, 32.0 / 9},
           {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
           {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656}},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
}

/// The times of an integration.
struct OdeTimes {
  double begin = 0, end = 0;
  std::int64_t steps = 1;
  OdeMethod method{};

  constexpr OdeTimes backward() const { return {end, begin, steps, method}; }
};

/// Integrates dx/dt = slope(t, x, parameters), all of them arrays, as a loop.
template <class Slope, std::size_t states, std::size_t count>
constexpr std::array<Tensor, states> integrate(const Slope& slope, const OdeTimes& times, const std::array<Tensor, states>& x0,
                                               const std::array<Tensor, count>& parameters) {
  using States = std::array<Tensor, states>;
  Ir& ir = x0[0].ir();
  const double h = (times.end - times.begin) / static_cast<double>(times.steps);
  // the number of the step is carried, not the time, whose rounding errors would add up
  const auto step = [=](const States& x, Tensor number, const std::array<Tensor, count>& fixed) {
    const Tableau of = tableau_of(times.method);
    const auto moved = [&](const List<States>& stages, const double* factors) {
      States result = x;
      for (std::size_t s = 0; s < states; ++s)
        for (std::size_t j = 0; j < stages.size(); ++j)
          if (factors[j] != 0) result[s] = result[s] + stages[j][s] * (h * factors[j]);
      return result;
    };
    List<States> stages;
    for (int i = 0; i < of.stages; ++i)
      stages.push_back(slope((number + of.nodes[i]) * h + times.begin, moved(stages, of.factors[i]), fixed));
    return std::pair(moved(stages, of.weights), number + 1);
  };
  const Tensor first = ir.constant(0, x0[0].dtype());
  List<Tensor> inputs(x0.begin(), x0.end());
  inputs.push_back(first);
  for (const Tensor& parameter : parameters) inputs.push_back(parameter);
  const CallSiteInfo loop = repeat_with_info(ir.create_graph(step, x0, first, parameters), times.steps, inputs);
  States result;
  for (std::size_t s = 0; s < states; ++s) result[s] = loop.output(static_cast<int>(s));
  return result;
}
/// Integrates dx/dt = f(t, x, parameters...).
template <class F, std::size_t count>
constexpr Tensor integrate_function(const F& function, const OdeTimes& times, Tensor x0,
                                    const std::array<Tensor, count>& parameters) {
  const auto slope = [function](Tensor t, const std::array<Tensor, 1>& x, const std::array<Tensor, count>& fixed) {
    return std::array<Tensor, 1>{call_with_array(function, joined_arguments(t, joined_arguments(x[0], fixed)))};
  };
  return integrate(slope, times, std::array{x0}, parameters)[0];
}

/// The gradient of x(t1) by the adjoint equations dw/dt = -w df/dx and dg/dt = -w df/dp, integrated back from w(t1) = dx and
/// g(t1) = 0 beside x: w(t0) is the gradient of x(t0), and g(t0) that of a parameter p (L. S. Pontryagin and others, "The
/// mathematical theory of optimal processes", 1962).
template <class F>
struct AdjointRule {
  F function;
  OdeTimes times;

  template <std::same_as<Tensor>... Parameters>
  constexpr std::array<Tensor, 2 + sizeof...(Parameters)> operator()(Tensor dx, Tensor solution, Tensor x0,
                                                                     const Parameters&... parameters) const {
    constexpr std::size_t count = sizeof...(Parameters);
    using States = std::array<Tensor, 2 + count>;  // x, w, and g of each parameter
    const auto slope = [f = function](Tensor t, const States& at, const std::array<Tensor, count>& fixed) {
      const List<int> numbers = all_numbers(2 + count);
      const auto call = call_and_differentiate(apply_function("odeint", f, joined_arguments(t, joined_arguments(at[0], fixed))),
                                               List<int>(numbers.begin() + 1, numbers.end()));
      States result;
      gradients_of_arguments(call, {-at[1]}, {numbers.data() + 1, 1 + count}, {result.data() + 1, 1 + count});
      result[0] = call.results;
      return result;
    };
    Ir& ir = dx.ir();
    States last{depends_on(*this, solution, array_of(x0, parameters...)), dx};
    const auto fixed = array_of(parameters...);
    for (std::size_t i = 0; i < count; ++i) last[2 + i] = zeros_like(ir, fixed[i].spec());
    States gradients = integrate(slope, times.backward(), last, fixed);
    gradients[0] = Tensor::invalid(ir);
    return gradients;
  }
};

template <class F, std::size_t count>
constexpr Tensor odeint_of(const F& function, const std::array<Tensor, count>& arguments, const OdeTimes& times,
                           OdeGradient gradient) {
  Ir& ir = arguments[0].ir();
  if (ir.failed()) return Tensor::invalid(ir);
  const double span = times.end - times.begin;
  const DType dtype = arguments[0].dtype();
  if (dtype != float32 && dtype != float64)
    return ir.fail(text("odeint: ", to_text(arguments[0].spec()), ": float32 or float64 expected"));
  if (const std::int64_t most = std::int64_t(1) << (dtype == float32 ? 24 : 53); times.steps > most)
    return ir.fail(text("odeint: ", times.steps, " steps: at most ", most, ", which the dtype counts, expected"));
  if (times.steps < 1 || span - span != 0)
    return ir.fail(text("odeint: ", times.steps, " steps from ", number_text(times.begin), " to ", number_text(times.end),
                        ": at least one step, and finite times, expected"));
  const bool is_adjoint = gradient == OdeGradient::adjoint;
  const auto given = is_adjoint ? detached(arguments) : arguments;
  std::array<Tensor, count - 1> parameters;
  for (std::size_t i = 1; i < count; ++i) parameters[i - 1] = given[i];
  const Tensor x = integrate_function(function, times, given[0], parameters);
  return is_adjoint ? depends_on(AdjointRule<F>{function, times}, x, arguments) : x;
}

}  // namespace detail

/// Returns x(t1) with dx/dt = f(t, x) and x(t0) = x0, by `steps` equal steps, as a repeat. With parameters,
/// `tw::odeint(f, {x0, a, b}, t0, t1, steps)` integrates f(t, x, a, b). x0: any shape, float32 or float64; f: a function of
/// tensors, which captures none. t has one element of x's dtype, and the result x's shape and dtype. t1 may be less than t0.
/// Derivatives: for x0 and the parameters, of all orders. Those by the adjoint differ from those through the steps by the error
/// of the method. Errors: another dtype; steps below 1, or more than
/// the dtype counts, 2^24 or 2^53; a time that is not finite; a result of another shape or dtype; those of vjp.
///
///     x = tw::odeint([](tw::Tensor t, tw::Tensor x, tw::Tensor k) { return -k * x; }, {x, k}, 0, 1, 20);  // x exp(-k)
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr Tensor odeint(F f, const Tensor (&arguments)[count], double t0, double t1, std::int64_t steps,
                                      const OdeOptions& options = {}) {
  return detail::odeint_of(f, detail::array_of(arguments), {t0, t1, steps, options.method}, options.gradient);
}
template <class F>
[[nodiscard]] constexpr Tensor odeint(F f, Tensor x0, double t0, double t1, std::int64_t steps, const OdeOptions& options = {}) {
  return detail::odeint_of(f, detail::array_of(x0), {t0, t1, steps, options.method}, options.gradient);
}

}  // namespace tilewright
