#pragma once
#include "../op_test.hpp"

namespace op_tests {

using Rows = std::vector<std::vector<double>>;

/// Solves a x = b by elimination of each column from all other rows, with the largest pivot of all that are left.
inline Rows solved(Rows a, Rows b) {
  const std::size_t rows = a.size();
  std::vector<std::size_t> unknowns;  // by row: the column of its pivot
  for (std::size_t k = 0; k < rows; ++k) {
    std::size_t row = k, column = 0;
    for (std::size_t i = k; i < rows; ++i)
      for (std::size_t j = 0; j < rows; ++j)
        if (std::abs(a[i][j]) > std::abs(a[row][column])) row = i, column = j;
    std::swap(a[k], a[row]), std::swap(b[k], b[row]);
    unknowns.push_back(column);
    const double pivot = a[k][column];
    for (double& element : a[k]) element /= pivot;
    for (double& element : b[k]) element /= pivot;
    for (std::size_t i = 0; i < rows; ++i) {
      const double factor = a[i][column];
      if (i == k) continue;
      for (std::size_t j = 0; j < rows; ++j) a[i][j] = j == column ? 0 : a[i][j] - factor * a[k][j];
      for (std::size_t j = 0; j < b[i].size(); ++j) b[i][j] -= factor * b[k][j];
    }
  }
  Rows x(rows);
  for (std::size_t k = 0; k < rows; ++k) x[unknowns[k]] = b[k];
  return x;
}
/// The meaning of an op: f(node, matrix of each input...) for all matrices, the last two axes.
template <class F>
auto of_matrices(F f) {
  return [f](const tw::Node& node, auto inputs, auto outputs) {
    std::remove_cvref_t<decltype(inputs[0])> result(outputs[0]);
    const auto size = [](const tw::TensorSpec& spec) { return static_cast<std::size_t>(spec.shape[-2] * spec.shape[-1]); };
    for (std::size_t m = 0; m < result.size() / size(outputs[0]); ++m) {
      std::vector<Rows> matrices;
      for (const auto& input : inputs) {
        const auto columns = static_cast<std::size_t>(input.spec.shape[-1]);
        matrices.emplace_back(size(input.spec) / columns, std::vector<double>(columns));
        for (std::size_t i = 0; i < size(input.spec); ++i)
          matrices.back()[i / columns][i % columns] = input[m * size(input.spec) + i];
      }
      std::size_t next = m * size(outputs[0]);
      for (const auto& row : f(node, matrices))
        for (const double element : row) result[next++] = element;
    }
    return std::vector{result};
  };
}
/// Adds to the diagonal, so that elements from -2 to 2 give a matrix that is far from singular.
constexpr Tensor dominant(Tensor a) { return a + a.ir().constant(tw::eye(), {a.shape(-1), a.shape(-1)}, a.dtype()) * 7; }
/// A positive definite matrix, whose triangle has third derivatives that differences of 1e-5 do not see.
constexpr Tensor square_of(Tensor x) { return dominant(x.matmul(tw::MatMul::swap_last(x)) * 0.25); }

/// Shapes and errors of functions of a and b.
constexpr void shapes_of_solutions(const auto& s, std::string_view op, auto solve) {
  const auto error = [&](std::string_view text, const TensorSpec& a, const TensorSpec& b) {
    s.error(tw::text(op, ": ", text, " expected, in graph").view(), solve, a, b);
  };
  s.result(f32(5, 2, 3, 2), solve, f32(5, 1, 3, 3), f32(2, 3, 2));
  error("(3,) float32: square matrices", f32(3), f32(3, 2));
  error("(2, 3) float32: square matrices", f32(2, 3), f32(2, 2));
  error("(3, 3) int32: float32 or float64", i32(3, 3), i32(3, 2));
  error("(3, 3) float32 and (3, 2) float64: equal dtypes", f32(3, 3), TensorSpec{{3, 2}, tw::float64});
  error("(4, 2) float32 for (3, 3) float32: leading axes that broadcast, and as many rows,", f32(3, 3), f32(4, 2));
  error("(3, 4, 2) float32 for (2, 4, 4) float32: leading axes that broadcast, and as many rows,", f32(2, 4, 4), f32(3, 4, 2));
}

struct Cholesky : OpTest {
  static constexpr std::string_view op = "Cholesky";
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m[op] = of_matrices([](const tw::Node&, const std::vector<Rows>& inputs) {
      Rows l(inputs[0].size(), std::vector<double>(inputs[0].size()));
      for (std::size_t i = 0; i < l.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          double rest = inputs[0][i][j];
          for (std::size_t k = 0; k < j; ++k) rest -= l[i][k] * l[j][k];
          l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
        }
      return l;
    });
  }
  static constexpr void cases(const auto& c) {
    if (tw::is_half(c.dtype)) return;
    // an element of a gradient in float32 is a difference of larger numbers: gradients are compared in float64
    const auto add = [&](std::string_view name, auto f, const auto& x) {
      if (c.dtype == tw::float64) c.add(name, f, x);
      else c.add_forward(name, f, x);
    };
    add("cholesky", [](Tensor x) { return ops::cholesky(square_of(x)); }, c.real({2, 3, 3}));
    add("cholesky_of_one", [](Tensor x) { return ops::cholesky(square_of(x)); }, c.real({1, 2}));
    add("cholesky_of_view", [](Tensor x) { return ops::cholesky(square_of(x).transpose({0, 2, 1})); }, c.real({2, 3, 5}));
    c.add_forward("cholesky_of_lower", [](Tensor x) { return ops::cholesky(ops::tril(square_of(x))); }, c.real({19, 3}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3, 3), ops::cholesky, f32(2, 3, 3));
    s.error("Cholesky: (2, 3) float32: square matrices expected, in graph", ops::cholesky, f32(2, 3));
    s.error("Cholesky: (3, 3) int32: float32 or float64 expected, in graph", ops::cholesky, i32(3, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("cholesky", [] { (void)ops::cholesky(Tensor()); });
  }
  static constexpr void compared(In<second_of_matrices>, const auto& c) {
    const auto with_diagonal = [](Tensor a) { return a + a.ir().constant(tw::eye(), {3, 3}, a.dtype()) * 3; };
    c.add("cholesky", [=](Tensor x) { return ops::cholesky(with_diagonal(x.matmul(x.transpose({0, 2, 1})))); }, f64(2, 3, 3));
  }
};

struct SolveTriangular : OpTest {
  static constexpr std::string_view op = "SolveTriangular";
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m[op] = of_matrices([](const tw::Node& node, const std::vector<Rows>& inputs) {
      const auto [upper, unitriangular] = tw::unpack<tw::SolveTriangular::Attributes>(node.attributes);
      Rows a = inputs[0];
      for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
          if (upper != 0 ? j < i : j > i) a[i][j] = 0;
          else if (i == j && unitriangular != 0) a[i][j] = 1;
      return solved(a, inputs[1]);
    });
  }
  static constexpr void cases(const auto& c) {
    if (tw::is_half(c.dtype)) return;
    const auto add = [&](std::string_view name, const tw::SolveTriangularOptions& options, const tw::Shape& shape_of_b) {
      const auto a = c.real({2, 3, 3}), b = c.real(shape_of_b);
      c.add(name, [=](Tensor x, Tensor y) { return ops::solve_triangular(dominant(x), y, options); }, a, b);
      c.add(
          tw::text(name, "_by_b").view(), [=](Tensor y, Tensor x) { return ops::solve_triangular(dominant(x), y, options); }, b,
          a);
    };
    add("solve_lower", {}, {2, 3, 5});
    add("solve_upper", {.upper = true}, {3, 1});
    add("solve_lower_from_the_right", {.left = false}, {2, 5, 3});
    add("solve_upper_from_the_right", {.upper = true, .left = false}, {4, 1, 2, 3});
    add("solve_lower_with_ones", {.unitriangular = true}, {2, 3, 2});
    add("solve_upper_with_ones", {.upper = true, .unitriangular = true}, {2, 3, 2});
    c.add(
        "solve_lower_view", [](Tensor x, Tensor y) { return ops::solve_triangular(dominant(x).T(), y.T()); }, c.real({5, 5}),
        c.real({19, 5}));
  }
  static constexpr void shapes(const auto& s) {
    shapes_of_solutions(s, op, [](Tensor a, Tensor b) { return ops::solve_triangular(a, b); });
    s.result(
        f32(2, 5, 3), [](Tensor a, Tensor b) { return ops::solve_triangular(a, b, {.left = false}); }, f32(3, 3), f32(2, 5, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("solve_triangular", [] { (void)ops::solve_triangular(Tensor(), Tensor()); });
    list.add("solve_triangular", [] { (void)ops::solve_triangular(Tensor(), Tensor(), {.left = false}); });
  }
  static constexpr void compared(In<second_of_matrices>, const auto& c) {
    const auto with_diagonal = [](Tensor a) { return a + a.ir().constant(tw::eye(), {3, 3}, a.dtype()) * 3; };
    c.add(
        "solve_triangular",
        [=](Tensor x, Tensor b) {
          const Tensor a = with_diagonal(x);
          return joined(ops::solve_triangular(a, b), ops::solve_triangular(a, b, {.upper = true}),
                        ops::solve_triangular(a, b.transpose({0, 2, 1}), {.left = false}),
                        ops::solve_triangular(a, b, {.upper = true, .unitriangular = true}),
                        ops::solve_triangular(a, b, {.unitriangular = true}));
        },
        f64(3, 3), f64(2, 3, 2));
  }
};

struct Solve : OpTest {
  static constexpr std::string_view op = "Solve";
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m[op] = of_matrices([](const tw::Node&, const std::vector<Rows>& inputs) { return solved(inputs[0], inputs[1]); });
  }
  static constexpr void cases(const auto& c) {
    if (tw::is_half(c.dtype)) return;
    const auto add = [&](std::string_view name, const tw::Shape& shape_of_a, const tw::Shape& shape_of_b, auto change) {
      const auto a = c.real(shape_of_a), b = c.real(shape_of_b);
      c.add(name, [=](Tensor x, Tensor y) { return ops::solve(change(dominant(x)), y); }, a, b);
      c.add(tw::text(name, "_by_b").view(), [=](Tensor y, Tensor x) { return ops::solve(change(dominant(x)), y); }, b, a);
    };
    const auto same = [](Tensor a) { return a; };
    add("solve", {3, 3}, {3, 2}, same);
    add("solve_batches", {2, 1, 3, 3}, {4, 3, 5}, same);
    add("solve_vectors", {2, 3, 3}, {2, 3}, same);
    add("solve_one", {1, 1}, {1, 1}, same);
    add("solve_rows_in_other_order", {2, 4, 4}, {4, 1},
        [](Tensor a) { return ops::gather(a, a.ir().constant(tw::List<double>{2, 0, 3, 1}, {4}, tw::int32), 1); });
    add("solve_view", {5, 5}, {5, 3}, [](Tensor a) { return ops::flip(a, 0).T(); });
    c.add_forward(
        "solve_large", [](Tensor x, Tensor y) { return ops::solve(x * 0.25 + dominant(x * 0), y); }, c.real({19, 19}),
        c.real({19}));
  }
  static constexpr void shapes(const auto& s) {
    constexpr auto solve = [](Tensor a, Tensor b) { return ops::solve(a, b); };
    shapes_of_solutions(s, op, solve);
    s.result(f32(2, 3), solve, f32(2, 3, 3), f32(2, 3));
    s.error("Solve: (65, 65) float32: at most 64 rows expected, in graph", solve, f32(65, 65), f32(65, 1));
    s.error("Solve: (4,) float32 for (3, 3) float32: leading axes that broadcast, and as many rows, expected, in graph", solve,
            f32(3, 3), f32(4));
  }
  static constexpr void handles(auto& list) {
    list.add("solve", [] { (void)ops::solve(Tensor(), Tensor()); });
  }
  static constexpr void compared(In<second_of_matrices>, const auto& c) {
    const auto with_diagonal = [](Tensor a) { return a + a.ir().constant(tw::eye(), {3, 3}, a.dtype()) * 3; };
    c.add("solve", [=](Tensor a, Tensor b) { return ops::solve(with_diagonal(a), b); }, f64(2, 3, 3), f64(3, 2));
    c.add("solve_vector", [=](Tensor a, Tensor b) { return ops::solve(ops::flip(with_diagonal(a), 0), b); }, f64(3, 3), f64(3));
  }
};

}  // namespace op_tests
