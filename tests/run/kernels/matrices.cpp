// labels: asan ubsan
// Systems of 64 rows: residuals beside those of NumPy, which tests/reference/make_residuals.py makes of equal numbers; and
// faults.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr std::size_t rows = 64, columns = 3, matrices = 2;

/// Multiples of 2^-23 from -1 to 1.
std::vector<double> numbers(std::size_t count) {
  std::uint32_t state = 68;
  std::vector<double> result(count);
  for (double& x : result) {
    state = state * 1664525 + 1013904223;
    x = (state >> 8) / 0x1p23 - 1;
  }
  return result;
}
/// Elements (i, j) of all matrices of `count` columns: f(matrix, i, j).
std::vector<double> by_index(std::size_t count, auto f) {
  std::vector<double> result;
  for (std::size_t m = 0; m < matrices; ++m)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < count; ++j) result.push_back(f(m, i, j));
  return result;
}
double at(const std::vector<double>& x, std::size_t m, std::size_t i, std::size_t j, std::size_t count = rows) {
  return x[(m * rows + i) * count + j];
}
/// The largest |a x - b| beside the largest row of |a| and the largest |x|.
double residual(const std::vector<double>& a, const std::vector<double>& x, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t m = 0; m < matrices; ++m) {
    double largest_row = 0, largest_x = 0, largest_rest = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double row = 0;
      for (std::size_t k = 0; k < rows; ++k) row += std::abs(at(a, m, i, k));
      largest_row = std::max(largest_row, row);
      for (std::size_t j = 0; j < columns; ++j) {
        long double rest = -at(b, m, i, j, columns);
        for (std::size_t k = 0; k < rows; ++k) rest += static_cast<long double>(at(a, m, i, k)) * at(x, m, k, j, columns);
        largest_x = std::max(largest_x, std::abs(at(x, m, i, j, columns)));
        largest_rest = std::max(largest_rest, static_cast<double>(std::abs(rest)));
      }
    }
    worst = std::max(worst, largest_rest / (largest_row * largest_x));
  }
  return worst;
}

template <tw::DType dtype>
constexpr void systems(Ir& ir) {
  const auto load = [&](std::string_view name, std::int64_t count) {
    const Tensor elements = ops::host_load(ir.h2d_stream(name, {static_cast<std::int64_t>(matrices * rows) * count}, dtype));
    return elements.reshape({matrices, rows, count});
  };
  const Tensor b = load("b", columns), triangle = load("triangle", rows);
  store("solve", ops::solve(load("general", rows), b));
  store("lower", ops::solve_triangular(triangle, b));
  const Tensor transposed = triangle.transpose({0, 2, 1});
  store("upper", ops::solve_triangular(transposed, b.transpose({0, 2, 1}), {.upper = true, .left = false}));
  store("cholesky", ops::cholesky(load("positive", rows)));
}
template <class T, tw::DType dtype>
void check_residuals(const std::string& name) {
  Values numpy;
  read_reference("residuals.txt", numpy);
  const auto rounded = [](std::vector<double> x) {
    for (double& each : x) each = static_cast<double>(static_cast<T>(each));
    return x;
  };
  const auto general = rounded(numbers(matrices * rows * rows)), b = rounded(numbers(matrices * rows * columns));
  const auto triangle = rounded(by_index(rows, [&](std::size_t m, std::size_t i, std::size_t j) {
    return (j > i ? 0 : at(general, m, i, j) / 8) + (i == j ? 2 : 0);
  }));
  const auto positive = rounded(by_index(rows, [&](std::size_t m, std::size_t i, std::size_t j) {
    double sum = i == j ? rows / 8.0 : 0;
    for (std::size_t k = 0; k < rows; ++k) sum += at(general, m, i, k) * at(general, m, j, k);
    return sum / rows;
  }));
  for (const int threads : {1, 2}) {
    tw::Session<systems<dtype>> session({.threads = threads});
    const auto array = [](const std::vector<double>& x) { return std::vector<T>(x.begin(), x.end()); };
    const auto out = session.run("general"_s = array(general), "triangle"_s = array(triangle), "positive"_s = array(positive),
                                 "b"_s = array(b));
    const auto doubles = [](const auto& x) { return std::vector<double>(x.begin(), x.end()); };
    CHECK(residual(general, doubles(out["solve"_s]), b) <= 10 * numpy.at(name + ".solve")[0]);
    CHECK(residual(triangle, doubles(out["lower"_s]), b) <= 10 * numpy.at(name + ".triangle")[0]);
    const auto of_rows = doubles(out["upper"_s]);  // x^T
    std::vector<double> x = b;
    for (std::size_t i = 0; i < matrices * rows * columns; ++i) {
      const std::size_t m = i / (rows * columns), j = i / columns % rows, k = i % columns;
      x[i] = of_rows[(m * columns + k) * rows + j];
    }
    CHECK(residual(triangle, x, b) <= 10 * numpy.at(name + ".triangle")[0]);
    const auto l = doubles(out["cholesky"_s]);
    double largest = 0, of_all = 0;
    for (std::size_t m = 0; m < matrices; ++m)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < rows; ++j) {
          long double rest = -at(positive, m, i, j);
          for (std::size_t k = 0; k < rows; ++k) rest += static_cast<long double>(at(l, m, i, k)) * at(l, m, j, k);
          largest = std::max(largest, static_cast<double>(std::abs(rest)));
          of_all = std::max(of_all, std::abs(at(positive, m, i, j)));
          if (j > i) CHECK(at(l, m, i, j) == 0);
        }
    CHECK(largest / of_all <= 10 * numpy.at(name + ".cholesky")[0]);
  }
}

constexpr void three_rows(Ir& ir) {
  const Tensor a = ops::host_load(ir.h2d_stream("a", {18})).reshape({2, 3, 3});
  const Tensor b = ops::host_load(ir.h2d_stream("b", {3})).reshape({3, 1});
  store("solve", ops::solve(a, b));
  store("lower", ops::solve_triangular(a, b));
  store("ones", ops::solve_triangular(a, b, {.unitriangular = true}));
  store("cholesky", ops::cholesky(a));
}
/// What a run throws; empty if nothing.
std::string fault_of(auto& session, const std::vector<float>& second) {
  std::vector<float> a{2, 0, 0, 0, 2, 0, 0, 0, 2};
  a.insert(a.end(), second.begin(), second.end());
  try {
    session.run("a"_s = a, "b"_s = std::array{1.0f, 2.0f, 3.0f});
  } catch (const tw::FaultError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("solutions have at most ten times NumPy's residuals") {
  check_residuals<float, tw::float32>("float32");
  check_residuals<double, tw::float64>("float64");
}
TEST_CASE("a singular matrix, one that is not positive definite, and a 0 on a diagonal are faults") {
  static_assert(tw::Session<three_rows>::plan.fault_sites.size() == 3, "none for a diagonal of ones");
  tw::Session<three_rows> session({.threads = 1});
  CHECK(fault_of(session, {4, 2, 0, 2, 3, 1, 0, 1, 2}).empty());
  const std::string of_solve = "Solve: pivot of column 2: a number other than 0, of a matrix that is not singular, expected, in ";
  CHECK(fault_of(session, {4, 2, 0, 2, 3, 1, 2, 3, 1}).starts_with(of_solve));  // two equal rows
  CHECK(fault_of(session, {0, 1, 0, 1, 0, 0, 0, 0, 1}).find("SolveTriangular: diagonal element of row") != std::string::npos);
  CHECK(fault_of(session, {1, 0, 0, 2, 1, 0, 0, 0, 1}) ==
        "Cholesky: pivot of column 1: a number above 0, of a positive definite matrix, expected, in the main graph");
  CHECK(fault_of(session, {NAN, 0, 0, 0, 1, 0, 0, 0, 1}).starts_with("Cholesky: pivot of column 0"));
  CHECK(fault_of(session, {4, 2, 0, 2, 3, 1, 0, 1, 2}).empty());  // nothing is left of the faults before
}
