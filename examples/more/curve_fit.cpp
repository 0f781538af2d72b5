// Curve fitting: a exp(-b x) + c through measured points, by the method of Gauss and Newton, with confidence intervals of the
// parameters. Steps and intervals come from expected Hessians of half the sum of squares. The intervals are those of SciPy
// 1.10's curve_fit, from `python3 tests/reference/make_curve_fit.py`. The chart curve_fit.svg has the points, and the curve with
// its confidence band.
//
// labels: more
// test:
// expect: parameters and errors: as SciPy's
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tilewright/derivatives.hpp>
#include <tilewright/profile/log_chart.hpp>
#include <tilewright/tilewright.hpp>
#include <utility>

namespace tw = tilewright;
using namespace tw::literals;
namespace ops = tw::ops;
using tw::Tensor;

constexpr std::array measured{3.000, 2.710, 2.414, 2.148, 1.964, 1.756, 1.649, 1.573, 1.359, 1.245,
                              1.206, 1.116, 1.031, 0.915, 0.904, 0.890, 0.745, 0.751, 0.646, 0.647,
                              0.594, 0.651, 0.580, 0.639, 0.618, 0.588, 0.459, 0.548, 0.563, 0.563};  // at x = 0, 0.1, 0.2, ...
constexpr int points = measured.size(), grid = 4 * points;  // of points, and of positions along the drawn curve
constexpr double spacing = 0.1,
                 student = 2.05183052;  // of the points; 97.5 % of Student's t are below it, for points - 3 degrees
constexpr std::array scipy{2.5334574, 1.2720395, 0.457627423}, scipy_errors{0.0280389041, 0.0379914667, 0.0203009886};

constexpr Tensor curve(Tensor p, Tensor x) { return p[0] * ops::exp(-p[1] * x) + p[2]; }
constexpr Tensor half_square_sum(Tensor r) { return ops::sum(r * r) * 0.5; }

/// Half the sum of squares with its gradient and its Hessian, the Hessian that is expected, and the curve with its slopes.
constexpr void program(tw::Ir& ir) {
  tw::List<double> given, positions, drawn;
  for (int i = 0; i < points; ++i) given.push_back(measured[static_cast<std::size_t>(i)]), positions.push_back(spacing * i);
  for (int i = 0; i < grid; ++i) drawn.push_back(spacing * i / 4);
  const Tensor p = ops::host_load(ir.h2d_stream("parameters", {3}, tw::float64));
  const Tensor x = ir.constant(positions, {points}, tw::float64), y = ir.constant(given, {points}, tw::float64);
  const Tensor x_drawn = ir.constant(drawn, {grid}, tw::float64);
  const auto loss = [](Tensor q, Tensor at, Tensor values) { return half_square_sum(curve(q, at) - values); };
  // Errors of measurement are 0 in the mean: without them, the Hessian has no part of the curve's second derivatives.
  const auto expected = [](Tensor q, Tensor at) { return half_square_sum(curve(q, at) - tw::stop_gradient(curve(q, at))); };
  const auto store = [&ir](const char* name, Tensor result) { ops::host_store(ir.d2h_stream(name, result.spec()), result); };
  const auto [value, gradient] = tw::value_and_grad(loss)(p, x, y);
  store("loss", value);
  store("gradient", gradient);
  store("hessian", tw::hessian(loss)(p, x, y));
  store("expected", tw::hessian(expected)(p, x));
  store("curve", curve(p, x_drawn));
  store("slopes", tw::jacobian(curve)(p, x_drawn));
}

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;
/// Returns the inverse of a positive definite matrix.
Matrix inverse(const auto& given) {
  Matrix left, right{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) left[i][j] = given(i, j), right[i][j] = i == j;
  for (std::size_t pivot = 0; pivot < 3; ++pivot)
    for (std::size_t i = 0; i < 3; ++i) {
      const double factor = i == pivot ? 1 - 1 / left[i][i] : left[i][pivot] / left[pivot][pivot];
      for (std::size_t j = 0; j < 3; ++j) left[i][j] -= factor * left[pivot][j], right[i][j] -= factor * right[pivot][j];
    }
  return right;
}
double product(const Matrix& matrix, const auto& u, const auto& v) {
  double result = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) result += u[i] * matrix[i][j] * v[j];
  return result;
}

int main() {
  tw::Session<program> session({.threads = 1});
  Vector p{1, 1, 1};
  for (int step = 0; step < 20; ++step) {
    const auto results = session.run("parameters"_s = p);
    const Matrix by = inverse(results["expected"_s]);
    const Vector before = p;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) p[i] -= by[i][j] * results["gradient"_s](j);
    if (p == before) break;
  }
  const auto results = session.run("parameters"_s = p);
  const double variance = 2 * results["loss"_s]() / (points - 3);
  const Matrix by_expected = inverse(results["expected"_s]), by_hessian = inverse(results["hessian"_s]);
  double difference = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double error = std::sqrt(variance * by_expected[i][i]), own = std::sqrt(variance * by_hessian[i][i]);
    std::printf("%c = %.5f +- %.5f with 95 %% confidence; %.5f by the Hessian at the points\n", "abc"[i], p[i], student * error,
                student * own);
    difference = std::max({difference, std::abs(p[i] / scipy[i] - 1), std::abs(error / scipy_errors[i] - 1)});
  }

  tw::train::Log log({"measured", "fitted", "from", "to"});
  for (std::size_t i = 0; i < grid; ++i) {
    const Vector slopes{results["slopes"_s](i, 0), results["slopes"_s](i, 1), results["slopes"_s](i, 2)};
    const double y = results["curve"_s](i), width = student * std::sqrt(variance * product(by_expected, slopes, slopes));
    log.add(i,
            {{"measured", i % 4 == 0 ? measured[i / 4] : std::nan("")}, {"fitted", y}, {"from", y - width}, {"to", y + width}});
  }
  tw::LogChart(log, log.columns(), "y", "x, in steps of 0.025").write("curve_fit.svg");
  std::printf("parameters and errors: %s\n", difference <= 1e-4 ? "as SciPy's" : "not SciPy's");
  return difference <= 1e-4 ? 0 : 1;
}
