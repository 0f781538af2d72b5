#pragma once
#include "tilewright/kernel/matmul.hpp"
#include "tilewright/ops/sum.hpp"

namespace tilewright {

/// Products of matrices: (..., m, k) x (..., k, n) to (..., m, n); leading axes broadcast.
struct MatMul : Op<MatMul> {
  static constexpr WorkKind work_kind = WorkKind::product;
  static constexpr std::string_view name = "MatMul";
  static constexpr bool any_layout = true;
  static constexpr bool has_epilogue = true;

  static constexpr void infer(Inference& op) {
    const TensorSpec &a = op.input(0), &b = op.input(1);
    if (!op.require_equal_dtypes(0, 1)) return;
    const auto given = text(to_text(a.shape), " x ", to_text(b.shape));
    if (a.shape.rank < 2 || b.shape.rank < 2) return op.fail(given, ": matrices expected");
    if (a.shape[-1] != b.shape[-2]) return op.fail(given, ": inner dimensions ", a.shape[-1], " and ", b.shape[-2], " differ");
    const auto batch = broadcast(batch_of(a.shape), batch_of(b.shape));
    if (!batch) return op.fail(given, ": leading axes that broadcast expected");
    Shape result = *batch;
    result.push_back(a.shape[-2]);
    result.push_back(b.shape[-1]);
    op.output({result, a.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    // da = dy b^T and db = a^T dy, summed over the leading axes that were broadcast
    if (op.needs(0))
      op.input_gradient(0, ops::sum_to(apply<MatMul>({op.output_gradient(0), swap_last(op.input(1))}), op.input_spec(0).shape));
    if (op.needs(1))
      op.input_gradient(1, ops::sum_to(apply<MatMul>({swap_last(op.input(0)), op.output_gradient(0)}), op.input_spec(1).shape));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    const Shape &a = operands[0].shape, &b = operands[1].shape, &c = operands[2].shape;
    Work work;
    for (int axis = 0; axis < c.rank - 2; ++axis) work.add_axis({.extent = c[axis]});
    // The longer one is cut first: a vertex of a few rows would read all of b. For short sums b is small; and the gradient of a
    // weight, which is such a product, should be cut as the other product in the backward pass is.
    const WorkAxis rows{.extent = c[-2], .grain = 8}, columns{.extent = c[-1], .vectorised = true};
    const bool rows_first = c[-2] >= c[-1] || a[-1] <= detail::short_sum;
    const int first = work.add_axis(rows_first ? rows : columns), second = work.add_axis(rows_first ? columns : rows);
    const int m = rows_first ? first : second, n = rows_first ? second : first;
    const int k = work.add_axis({.extent = a[-1], .kind = WorkAxisKind::reduction, .grain = 8});
    for (int axis = 3; axis <= c.rank; ++axis) {
      work.follow(2, c.rank - axis, c.rank - axis);
      if (axis <= a.rank && a[-axis] != 1) work.follow(0, a.rank - axis, c.rank - axis);
      if (axis <= b.rank && b[-axis] != 1) work.follow(1, b.rank - axis, c.rank - axis);
    }
    work.follow(0, a.rank - 2, m), work.follow(0, a.rank - 1, k);
    work.follow(1, b.rank - 2, k), work.follow(1, b.rank - 1, n);
    work.follow(2, c.rank - 2, m), work.follow(2, c.rank - 1, n);
    return work;
  }
  template <PackedAttributes, class A, class B, class C>
  static void compute(A a, B b, C c) {
    constexpr auto strides = batch_strides<C, A, B, C>();
    for_each_offset<3>(batch_of(C::shape), strides,
                       [&](const auto& at) { matmul_kernel<matrix<A, B, C>()>(a.data + at[0], b.data + at[1], c.data + at[2]); });
  }
  template <PackedAttributes, class C, class Epilogue, class A, class B>
  static void compute_with(const Epilogue& epilogue, A a, B b) {
    constexpr auto strides = batch_strides<C, A, B>();
    std::int64_t number = 0;
    for_each_offset<2>(batch_of(C::shape), strides, [&](const auto& at) {
      matmul_kernel<matrix<A, B, C>()>(a.data + at[0], b.data + at[1], epilogue.matrix(number++));
    });
  }

 private:
  static constexpr Shape batch_of(const Shape& shape) {
    Shape result = shape;
    result.rank -= 2;
    result.extents[shape.rank - 1] = result.extents[shape.rank - 2] = 0;
    return result;
  }
  template <class A, class B, class C>
  static constexpr MatMulShape matrix() {
    return {C::shape[-2],       C::shape[-1],       A::shape[-1],       A::spec.stride(-2), A::spec.stride(-1),
            B::spec.stride(-2), B::spec.stride(-1), C::spec.stride(-2), C::spec.stride(-1)};
  }
  /// The strides of operands along the leading axes of c; 0 where they are broadcast.
  template <class C, class... V>
  static constexpr auto batch_strides() {
    std::array<std::array<std::int64_t, max_rank>, sizeof...(V)> result{};
    const std::array<ViewSpec, sizeof...(V)> views{V::spec...};
    for (std::size_t o = 0; o < views.size(); ++o)
      for (int axis = 3; axis <= C::shape.rank; ++axis)
        if (axis <= views[o].shape.rank && views[o].shape[-axis] != 1)
          result[o][static_cast<std::size_t>(C::shape.rank - axis)] = views[o].stride(-axis);
    return result;
  }
  static constexpr Tensor swap_last(Tensor x) {
    Shape order;
    for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
    if (x.rank() >= 2) std::swap(order[-1], order[-2]);
    return ops::transpose(x, order);
  }
};

namespace ops {
/// Matrix product as in NumPy: (..., m, k) x (..., k, n) to (..., m, n), leading axes broadcast; a vector on the left counts as
/// a row, on the right as a column. Equal dtypes; half precision sums in float32.
constexpr Tensor matmul(Tensor a, Tensor b) {
  if (!a.valid() || !b.valid()) return a.valid() ? b : a;
  if (a.rank() == 0 || b.rank() == 0)
    return a.ir().fail(text("MatMul: ", to_text(a.shape()), " x ", to_text(b.shape()), ": vectors or matrices expected"));
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = a.reshape({1, a.shape(0)});
  if (column) b = b.reshape({b.shape(0), 1});
  const Tensor product = apply<MatMul>({a, b});
  if (!row && !column) return product;
  Shape result;
  for (int axis = 0; axis < product.rank(); ++axis)
    if (!(row && axis == product.rank() - 2) && !(column && axis == product.rank() - 1)) result.push_back(product.shape(axis));
  return product.reshape(result);
}
}  // namespace ops

constexpr Tensor Tensor::matmul(Tensor rhs) const { return ops::matmul(*this, rhs); }

}  // namespace tilewright
