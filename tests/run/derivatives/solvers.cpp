// labels: none
// Solvers: values and derivatives beside formulas, interpreted in float64, and a session with all of them in float32.
#include "tilewright/solvers.hpp"

#include <cmath>
#include <limits>

#include "../../random_programs/semantics.hpp"
#include "../../support/elements.hpp"
#include "tilewright/derivatives.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Numbers = std::vector<double>;

const Numbers points{0.5, 1, 2};

/// Traces build(x) for a variable x of three elements of float64, and returns the elements of each tensor of its array.
std::vector<Numbers> values(auto build, const Numbers& x = points) {
  Ir ir;
  std::size_t count = 0;
  for (const Tensor& result : build(ir.variable(tw::zeros(), {3}, tw::float64, "x")))
    store(tw::text("result ", count++).view(), result);
  const auto results = random_programs::Interpreter(ir, false).run({{"x", x}});
  std::vector<Numbers> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(results.at(tw::text("result ", i).string()));
  return all;
}
void check_equal(const Numbers& found, auto formula, double tolerance = 1e-12) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << " of " << found.size());
    CHECK(found[i] == Approx(formula(points[i])).epsilon(tolerance).margin(tolerance));
  }
}
constexpr Tensor ones(Tensor x) { return x.ir().constant({1}, x.shape(), x.dtype()); }
constexpr auto sum_of(auto f) {
  return [f](Tensor x) { return ops::sum(f(x)); };
}
/// f, an elementwise function: its value, and derivatives of the orders 1 to 3 in several modes. `formula(x, order)`.
void check_orders(auto f, auto formula, double tolerance) {
  const auto found = values([&](Tensor x) {
    const auto first = sum_of(tw::grad(sum_of(f)));
    const Tensor jacobian = tw::jacobian(f)(x);
    return std::array<Tensor, 7>{f(x),
                                 tw::grad(sum_of(f))(x),
                                 tw::jvp(f, x, ones(x)).second,
                                 ops::sum(jacobian, {0}),
                                 tw::grad(first)(x),
                                 tw::hvp(sum_of(f), x, ones(x)),
                                 tw::grad(sum_of(tw::grad(first)))(x)};
  });
  const int orders[]{0, 1, 1, 1, 2, 2, 3};
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("result " << i << ", of order " << orders[i]);
    check_equal(found[i], [&](double x) { return formula(x, orders[i]); }, tolerance);
  }
}
double root_of(double x, int order) {
  const double factors[]{1, 0.5, -0.25, 0.375};
  return factors[order] * std::pow(x, 0.5 - order);
}

constexpr Tensor square_less(Tensor y, Tensor a) { return y * y - a; }
/// A system: each equation has all unknowns.
constexpr Tensor coupled(Tensor y, Tensor a) { return y * y * y + y * 2 + ops::sum(ops::sin(y)) * 0.25 - a; }
constexpr Tensor to_root(Tensor y, Tensor a) { return y - square_less(y, a) * 0.3; }

}  // namespace

TEST_CASE("root: values, and derivatives of the orders 1 to 3 in both modes") {
  check_orders([](Tensor a) { return tw::root(square_less, {ones(a) * 2, a}).x; }, root_of, 1e-11);
  const auto residuals = values([](Tensor a) {
    return std::array{tw::root(square_less, {ones(a) * 2, a}).residual, tw::root(square_less, {ones(a) * 2, a}, {1}).residual};
  });
  CHECK(residuals[0][0] < 1e-15);
  CHECK(residuals[1][0] == Approx(0.765625));  // 2 - 3.5 / 4 for a = 0.5
}
TEST_CASE("root: a system is solved, and its Jacobian is that of central differences") {
  const auto solution = [](Tensor a) { return tw::root(coupled, {a * 0, a}).x; };
  const auto found = values([&](Tensor a) {
    const Tensor y = solution(a);
    return std::array<Tensor, 4>{y, coupled(y, a), tw::jacobian(solution)(a), tw::hessian(sum_of(solution))(a)};
  });
  for (const double rest : found[1]) CHECK(std::abs(rest) < 1e-14);
  const auto by_differences = [](auto f) {
    const double h = 1e-4;
    Numbers columns(9);
    for (std::size_t j = 0; j < 3; ++j) {
      Numbers above = points, below = points;
      above[j] += h, below[j] -= h;
      const auto only = [&](Tensor a) { return std::array<Tensor, 1>{f(a)}; };
      const Numbers high = values(only, above)[0], low = values(only, below)[0];
      for (std::size_t i = 0; i < 3; ++i) columns[3 * i + j] = (high[i] - low[i]) / (2 * h);
    }
    return columns;
  };
  const Numbers first = by_differences(solution), second = by_differences(tw::grad(sum_of(solution)));
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(found[2][i] == Approx(first[i]).margin(1e-8));
    CHECK(found[3][i] == Approx(second[i]).margin(1e-7));
  }
}

TEST_CASE("fixed_point: values, and derivatives of the orders 1 to 3 in both modes") {
  check_orders([](Tensor a) { return tw::fixed_point(to_root, {ones(a), a}, {80}).x; }, root_of, 1e-10);
  const auto residuals = values([](Tensor a) {
    return std::array{tw::fixed_point(to_root, {ones(a), a}, {80}).residual,
                      tw::fixed_point(to_root, {ones(a), a}, {0}).residual};
  });
  CHECK(residuals[0][0] < 1e-15);
  CHECK(residuals[1][0] == Approx(0.3));  // |1 - 2| 0.3
}

namespace {
constexpr Tensor by_time(Tensor t, Tensor x, Tensor k) { return -k * x * t; }
template <tw::OdeMethod method, tw::OdeGradient gradient>
void check_odeint(double tolerance) {
  const auto decay = [](Tensor k) { return tw::odeint(by_time, {ones(k), k}, 0, 2, 100, {method, gradient}); };
  check_orders(decay, [](double k, int order) { return std::pow(-2, order) * std::exp(-2 * k); }, tolerance);
  const auto alone = [](Tensor t, Tensor x) { return -x * t; };  // without parameters, back in time: e^2 x^2
  const auto from = [alone](Tensor x) { return tw::odeint(alone, x * x, 2, 0, 100, {method, gradient}); };
  const auto formula = [](double x, int order) {
    return std::exp(2) * (order == 0 ? x * x : order == 1 ? 2 * x : order == 2 ? 2 : 0);
  };
  check_orders(from, formula, tolerance);
}
/// The error at 1 of x = 1 / (1 + t^2).
template <tw::OdeMethod method>
double error_of(std::int64_t steps) {
  const auto slope = [](Tensor t, Tensor x) { return t * x * x * -2; };
  const auto found = values([&](Tensor x) { return std::array<Tensor, 1>{tw::odeint(slope, x, 0, 1, steps, {method})}; },
                            {1, 1, 1});
  return std::abs(found[0][0] - 0.5);
}
}  // namespace

TEST_CASE("odeint: a half of the step gives a 16th of the error of rk4, and a 32nd of that of dopri5") {
  using enum tw::OdeMethod;
  CHECK(error_of<rk4>(20) / error_of<rk4>(40) == Approx(16).epsilon(0.1));
  CHECK(error_of<dopri5>(20) / error_of<dopri5>(40) == Approx(32).epsilon(0.1));
  CHECK(error_of<rk4>(40) < 1e-7);
  CHECK(error_of<dopri5>(40) < 1e-9);
}
TEST_CASE("odeint: values, and derivatives of the orders 1 to 3 through the steps and by the adjoint") {
  using enum tw::OdeMethod;
  check_odeint<rk4, tw::OdeGradient::steps>(1e-5);
  check_odeint<rk4, tw::OdeGradient::adjoint>(1e-5);
  check_odeint<dopri5, tw::OdeGradient::steps>(1e-7);
  check_odeint<dopri5, tw::OdeGradient::adjoint>(1e-7);
}
TEST_CASE("odeint: gradients through the steps are exact, and those by the adjoint within the method's error") {
  const auto after = [](tw::OdeGradient gradient) {
    return [gradient](Tensor k) { return ops::sum(tw::odeint(by_time, {ones(k), k}, 0, 2, 16, {.gradient = gradient})); };
  };
  const auto found = values([&](Tensor k) {
    return std::array{tw::grad(after(tw::OdeGradient::steps))(k), tw::grad(after(tw::OdeGradient::adjoint))(k)};
  });
  const double h = 1e-5;
  for (std::size_t i = 0; i < 3; ++i) {
    Numbers above = points, below = points;
    above[i] += h, below[i] -= h;
    const auto only = [&](Tensor k) { return std::array<Tensor, 1>{after(tw::OdeGradient::steps)(k)}; };
    const double slope = (values(only, above)[0][0] - values(only, below)[0][0]) / (2 * h);
    CHECK(found[0][i] == Approx(slope).epsilon(1e-9));
    CHECK(found[1][i] == Approx(slope).epsilon(0.02));
    CHECK(std::abs(found[1][i] - slope) > 1e-7);
  }
}

namespace {
constexpr void in_float32(Ir& ir) {
  const Tensor a = ops::host_load(ir.h2d_stream("a", {3}));
  const auto stored = [&](std::string_view name, auto f) {
    const auto [y, slope] = tw::value_and_grad(sum_of(f))(a);
    store(name, ops::concat({y.reshape({1}), slope}));
  };
  stored("root", [](Tensor x) { return tw::root(square_less, {ones(x) * 2, x}).x; });
  stored("fixed_point", [](Tensor x) { return tw::fixed_point(to_root, {ones(x), x}, {40}).x; });
  stored("odeint", [](Tensor k) { return tw::odeint(by_time, {ones(k), k}, 0, 2, 80); });
  stored("adjoint", [](Tensor k) { return tw::odeint(by_time, {ones(k), k}, 0, 2, 80, {.gradient = tw::OdeGradient::adjoint}); });
}
}  // namespace

TEST_CASE("solvers in a session, in float32") {
  tw::Session<in_float32> session({.threads = 1});
  const auto out = session.run("a"_s = std::array{0.5f, 1.0f, 2.0f});
  const auto check = [](const Floats& found, auto value, auto slope) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      sum += value(points[i]);
      CHECK(found[1 + i] == Approx(slope(points[i])).epsilon(1e-5));
    }
    CHECK(found[0] == Approx(sum).epsilon(1e-5));
  };
  const auto root = [](double x) { return root_of(x, 0); };
  const auto of_root = [](double x) { return root_of(x, 1); };
  check(elements(out["root"_s]), root, of_root);
  check(elements(out["fixed_point"_s]), root, of_root);
  const auto decay = [](double k) { return std::exp(-2 * k); };
  const auto of_decay = [](double k) { return -2 * std::exp(-2 * k); };
  check(elements(out["odeint"_s]), decay, of_decay);
  check(elements(out["adjoint"_s]), decay, of_decay);
}

TEST_CASE("solvers: numbers that are errors") {
  const auto message = [](auto solve) {
    return support::failure([&](Ir& ir) { (void)solve(ir.constant(1.0), ir.constant(1.0)); }).string();
  };
  const auto integrated = [&](double t0, double t1, std::int64_t steps) {
    return message([=](Tensor x, Tensor k) { return tw::odeint(by_time, {x, k}, t0, t1, steps); });
  };
  CHECK(integrated(0, 1, 0) == "odeint: 0 steps from 0 to 1: at least one step, and finite times, expected");
  CHECK(integrated(0, 1, 1 << 24).empty());
  CHECK(integrated(0, 1, (1 << 24) + 1) == "odeint: 16777217 steps: at most 16777216, which the dtype counts, expected");
  const std::string half = message(
      [](Tensor x, Tensor k) { return tw::odeint(by_time, {x.cast(tw::float16), k.cast(tw::float16)}, 0, 1, 1); });
  CHECK(half.find("float16: float32 or float64 expected") != std::string::npos);
  const std::string other_shape = message([](Tensor x, Tensor) { return tw::root([](Tensor y) { return y.reshape({1}); }, x); });
  CHECK(other_shape.find("equal shapes expected") != std::string::npos);
  for (const std::int64_t wrong : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    CHECK(integrated(0, 1, wrong).find("expected") != std::string::npos);
    CHECK(message([=](Tensor x, Tensor a) { return tw::root(square_less, {x, a}, {wrong}); }).find("expected") !=
          std::string::npos);
    CHECK(message([=](Tensor x, Tensor a) { return tw::fixed_point(to_root, {x, a}, {wrong}); }).find("expected") !=
          std::string::npos);
  }
  for (const double wrong : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(integrated(wrong, 1, 10).find("finite times") != std::string::npos);
    CHECK(integrated(0, wrong, 10).find("finite times") != std::string::npos);
  }
}
