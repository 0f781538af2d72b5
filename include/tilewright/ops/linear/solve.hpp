#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/shape/triangle.hpp"

namespace tilewright {

/// Options of solve_triangular, with PyTorch's names.
struct SolveTriangularOptions {
  Flag upper = false;  ///< whether a is an upper triangle; the elements on the other side of the diagonal are not read
  Flag left = true;  ///< whether a stands left of the result, a x = b; otherwise x a = b
  Flag unitriangular = false;  ///< whether the diagonal counts as ones, and is not read
};

/// Base of ops of square matrices, which are the last two axes of operands with equal leading axes.
template <class D>
struct MatricesOp : Op<D> {
  // Loops, not arrays: each step reads what the one before has written.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line}; }
  constexpr operator VertexCost() const { return line_cost(3, {24, 2}, {24, 4}); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }

  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    for (int axis = 0; axis < operands[0].shape.rank - 2; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis]});
      for (int o = 0; o < static_cast<int>(operands.size()); ++o) work.follow(o, axis, axis);
    }
    return work;
  }

 protected:
  static constexpr bool require_square(Inference& op) {
    const auto& [shape, dtype] = op.input(0);
    const bool is_real = dtype == float32 || dtype == float64;
    if (!is_real) op.fail(to_text(op.input(0)), ": float32 or float64 expected");
    else if (shape.rank < 2 || shape[-1] != shape[-2]) op.fail(to_text(op.input(0)), ": square matrices expected");
    return !op.failed();
  }
  /// Infers the result of a x = b: inputs (a, b).
  static constexpr void infer_solution(Inference& op) {
    if (!require_square(op) || !op.require_equal_dtypes(0, 1)) return;
    const Shape &a = op.input(0).shape, &b = op.input(1).shape;
    bool fits = a.rank == b.rank;
    for (int axis = 0; fits && axis < a.rank - 1; ++axis) fits = a[axis] == b[axis];
    if (!fits)
      return op.fail(to_text(op.input(1)), " for ", to_text(op.input(0)),
                     ": leading axes that broadcast, and as many rows, expected");
    op.output(op.input(1));
  }
};

/// The lower triangle L of a = L L^T, of which the lower triangle is read.
struct Cholesky : MatricesOp<Cholesky> {
  static constexpr std::string_view name = "Cholesky";
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec>, int, const PackedAttributes&) {
    return {true, "pivot of column", "a number above 0, of a positive definite matrix,"};
  }
  static constexpr void infer(Inference& op) {
    if (require_square(op)) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op);
  template <PackedAttributes, class A, class L>
  static void compute(A a, L l);
  template <PackedAttributes, class A, class L>
  static void compute_checked(Faults faults, A a, L l);
};

/// The solution of a x = b for triangles a: inputs (a, b).
struct SolveTriangular : MatricesOp<SolveTriangular> {
  static constexpr std::string_view name = "SolveTriangular";
  struct Attributes {
    std::int64_t upper = 0;
    std::int64_t unitriangular = 0;
  };
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec>, int, const PackedAttributes& attributes) {
    return {unpack<Attributes>(attributes).unitriangular == 0, "diagonal element of row", "a number other than 0"};
  }
  static constexpr void infer(Inference& op) { infer_solution(op); }
  static constexpr void gradient(GradientContext& op) {
    const auto [upper, unitriangular] = op.attributes<Attributes>();
    const Tensor db = apply<SolveTriangular>({MatMul::swap_last(op.input(0)), op.output_gradient(0)}, {1 - upper, unitriangular});
    if (op.needs(1)) op.input_gradient(1, db);
    if (!op.needs(0)) return;
    const Tensor da = -apply<MatMul>({db, MatMul::swap_last(op.output(0))});
    op.input_gradient(0, apply<Triangle>({da}, {upper != 0 ? unitriangular : -unitriangular, upper}));
  }
  template <PackedAttributes, class A, class B, class X>
  static void compute(A a, B b, X x);
  template <PackedAttributes, class A, class B, class X>
  static void compute_checked(Faults faults, A a, B b, X x);
};

/// The solution of a x = b: inputs (a, b).
struct Solve : MatricesOp<Solve> {
  static constexpr std::string_view name = "Solve";
  static constexpr std::int64_t most_rows = 64;  ///< whose factors are on the stack: 32 KB
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec>, int, const PackedAttributes&) {
    return {true, "pivot of column", "a number other than 0, of a matrix that is not singular,"};
  }
  static constexpr void infer(Inference& op) {
    infer_solution(op);
    if (!op.failed() && op.input(0).shape[-1] > most_rows)
      op.fail(to_text(op.input(0)), ": at most ", most_rows, " rows expected");
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor db = apply<Solve>({MatMul::swap_last(op.input(0)), op.output_gradient(0)});
    if (op.needs(1)) op.input_gradient(1, db);
    if (op.needs(0)) op.input_gradient(0, -apply<MatMul>({db, MatMul::swap_last(op.output(0))}));
  }
  template <PackedAttributes, class A, class B, class X>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes, class A, class B, class X>
  static void compute(A a, B b, X x);
  template <PackedAttributes, class A, class B, class X>
  static void compute_checked(Faults faults, A a, B b, X x);
};

namespace detail {
/// Returns the op of matrices a and b, whose leading axes broadcast.
template <class D>
constexpr Tensor solve_broadcast(Tensor a, Tensor b, const typename D::Attributes& attributes = {}) {
  if (!a.is_usable() || !b.is_usable() || a.rank() < 2 || b.rank() < 2) return apply<D>({a, b}, attributes);
  Shape batches[2];
  for (int axis = 0; axis < a.rank() - 2; ++axis) batches[0].push_back(a.shape(axis));
  for (int axis = 0; axis < b.rank() - 2; ++axis) batches[1].push_back(b.shape(axis));
  const auto batch = broadcast(batches[0], batches[1]);
  if (!batch) return apply<D>({a, b}, attributes);
  const auto expanded = [&](Tensor x) {
    Shape shape = *batch;
    for (const int axis : {-2, -1}) shape.push_back(x.shape(axis));
    return shape == x.shape() ? x : ops::expand(x, shape);
  };
  return apply<D>({expanded(a), expanded(b)}, attributes);
}
}  // namespace detail

namespace ops {
/// Returns the lower triangles L of symmetric positive definite matrices a = L L^T, as torch.linalg.cholesky. a: (..., n, n),
/// float32 or float64, of which only the lower triangle is read. The result has a's shape and dtype. Gradient: symmetric, of all
/// orders (I. Murray, "Differentiation of the Cholesky decomposition", 2016). A matrix that is not positive definite is a fault:
/// the session's run throws FaultError when it ends. Errors: matrices that are not square; another dtype.
///
///     x = ops::solve_triangular(l.T(), ops::solve_triangular(l, b), {.upper = true});  // a x = b, with l = cholesky(a)
[[nodiscard]] constexpr Tensor cholesky(Tensor a) { return apply<Cholesky>({a}); }
/// Solves a x = b for triangles a, or x a = b, as torch.linalg.solve_triangular. a: (..., n, n), float32 or float64; b: (..., n,
/// k), or with left = false (..., k, n), of a's dtype; leading axes broadcast. The result has b's shape, with the leading axes of
/// both. Gradients: of a, in its triangle, and of b, of all orders. A 0 on the diagonal is a fault: the session's run throws
/// FaultError when it ends. Errors: other shapes or dtypes.
[[nodiscard]] constexpr Tensor solve_triangular(Tensor a, Tensor b, const SolveTriangularOptions& options = {}) {
  const auto solve = [&](Tensor matrices, Tensor right, bool upper) {
    return detail::solve_broadcast<SolveTriangular>(matrices, right, {upper, options.unitriangular});
  };
  if (options.left || !a.is_usable() || !b.is_usable()) return solve(a, b, options.upper);
  return MatMul::swap_last(solve(MatMul::swap_last(a), MatMul::swap_last(b), !options.upper));
}
/// Solves a x = b, as torch.linalg.solve, by elimination with partial pivoting, in float64. a: (..., n, n), n at most 64, float32
/// or float64; b: (..., n, k), or vectors in the shape of a without its last axis, of a's dtype; leading axes broadcast. The
/// result has b's shape, with the leading axes of both. Gradients: of a and of b, of all orders. A singular matrix, with a pivot
/// of 0, is a fault: the session's run throws FaultError when it ends. Errors: other shapes or dtypes.
///
///     x = ops::solve(a, b);
[[nodiscard]] constexpr Tensor solve(Tensor a, Tensor b) {
  if (!a.is_usable() || !b.is_usable() || a.rank() < 2 || b.rank() != a.rank() - 1) return detail::solve_broadcast<Solve>(a, b);
  Shape column = b.shape();
  column.push_back(1);
  for (int axis = 0; axis < b.rank(); ++axis)
    if (b.shape(axis) != a.shape(axis)) return detail::solve_broadcast<Solve>(a, b);
  return apply<Solve>({a, b.reshape(column)}).reshape(b.shape());
}
}  // namespace ops

constexpr void Cholesky::gradient(GradientContext& op) {
  // da is the symmetric part of L^-T P L^-1, where P is the lower triangle of L^T dL with half of its diagonal
  const Tensor l = op.output(0), transposed = MatMul::swap_last(l);
  const Tensor product = apply<MatMul>({transposed, op.output_gradient(0)});
  const Tensor half = (ops::tril(product) + ops::tril(product, -1)) * 0.5;
  const Tensor left = ops::solve_triangular(transposed, half, {.upper = true});
  const Tensor da = ops::solve_triangular(l, left, {.left = false});
  op.input_gradient(0, (da + MatMul::swap_last(da)) * 0.5);
}

}  // namespace tilewright
