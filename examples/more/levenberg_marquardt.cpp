// Least squares by the method of Levenberg and Marquardt: a damped oscillation a exp(-b t) cos(w t) is fitted to measurements.
// Each step solves (J^T J + l D) d = -J^T r, where J is the Jacobian of the rests r, and D the diagonal of J^T J. A step that
// makes the sum of squares smaller is taken, and makes the next one longer; another one is not. (D. W. Marquardt, "An algorithm
// for least-squares estimation of nonlinear parameters", 1963.)
//
// labels: none
// test:
// expect: parameters: a 2.0000 b 0.2961 w 2.5037, sum of squares 0.0491
// expect: at the end the gradient is below 1e-9
#include <cmath>
#include <cstdio>
#include <tilewright/derivatives.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;
using namespace tw::literals;
namespace ops = tw::ops;
using tw::Tensor;

constexpr int measurements = 40, iterations = 30;

/// The rests of all measurements. `p`: (a, b, w); `data`: rows of times and values.
constexpr Tensor rests(Tensor p, Tensor data) {
  const Tensor t = data[0], y = data[1];
  return p[0] * ops::exp(-p[1] * t) * ops::cos(p[2] * t) - y;
}
constexpr Tensor sum_of_squares(Tensor p, Tensor data) { return ops::sumsquare(rests(p, data)); }

/// One iteration: returns the next parameters and the next l.
constexpr std::pair<Tensor, Tensor> iterate(Tensor p, Tensor l, Tensor data) {
  const Tensor jacobian = tw::jacobian(rests)(p, data), transposed = jacobian.T();
  const Tensor products = transposed.matmul(jacobian),
               damped = products + products * p.ir().constant(tw::eye(), {3, 3}, p.dtype()) * l;
  const Tensor root = ops::cholesky(damped), right = transposed.matmul(rests(p, data)).reshape({3, 1});
  const Tensor step = ops::solve_triangular(root.T(), ops::solve_triangular(root, right), {.upper = true});
  const Tensor moved = p - step.reshape({3});
  const Tensor is_better = ops::less(sum_of_squares(moved, data), sum_of_squares(p, data));
  return {ops::where(is_better, moved, p), ops::where(is_better, l / 3, l * 2)};
}
constexpr void fit(tw::Ir& ir) {
  const Tensor start = ops::host_load(ir.h2d_stream("start", {3}, tw::float64)), l = ir.constant(1.0, tw::float64);
  const Tensor data = ops::host_load(ir.h2d_stream("data", {2 * measurements}, tw::float64)).reshape({2, measurements});
  const Tensor p = tw::repeat(ir.create_graph(iterate, start, l, data), iterations, {start, l, data})[0];
  const auto [sum, gradient] = tw::value_and_grad(sum_of_squares)(p, data);
  ops::host_store(ir.d2h_stream("p", {3}, tw::float64), p);
  ops::host_store(ir.d2h_stream("sum", {}, tw::float64), sum);
  ops::host_store(ir.d2h_stream("slope", {}, tw::float64), ops::max(ops::abs(gradient)));
}

int main() {
  std::vector<double> data(2 * measurements);
  for (int i = 0; i < measurements; ++i) {
    const double t = 0.1 * i, noise = 0.05 * std::sin(1000.0 * i * i);
    data[static_cast<std::size_t>(i)] = t;
    data[static_cast<std::size_t>(measurements + i)] = 2 * std::exp(-0.3 * t) * std::cos(2.5 * t) + noise;
  }
  tw::Session<fit> session;
  const auto out = session.run("start"_s = std::vector<double>{1, 1, 2}, "data"_s = data);
  const auto p = out["p"_s];
  std::printf("parameters: a %.4f b %.4f w %.4f, sum of squares %.4f\n", p(0), p(1), p(2), out["sum"_s]());
  std::printf("at the end the gradient is %s 1e-9\n", out["slope"_s]() < 1e-9 ? "below" : "above");
}
