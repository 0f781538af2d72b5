#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/slice.hpp"

namespace tilewright {

/// The gradient of a product: inputs (x, dy), where dy has all axes.
struct ReduceProdGrad : ReductionOp<ReduceProdGrad> {
  static constexpr std::string_view name = "ReduceProdGrad";
  constexpr operator VertexCost() const { return line_cost(3, {9, 2}, {9, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const Shape& x = operands[0].shape;
    const auto bits = axis_bits(unpack<Attributes>(packed), x.rank);
    Work work;
    for (int axis = 0; axis < x.rank; ++axis) {
      const bool reduced = (bits >> axis & 1) != 0;
      work.add_axis({.extent = x[axis], .kind = reduced ? WorkAxisKind::whole : WorkAxisKind::parallel});
      for (int operand : {0, 1, 2})
        if (!reduced || operand != 1) work.follow(operand, axis, axis);
    }
    return work;
  }
  static constexpr void gradient(GradientContext& op);
  template <PackedAttributes A, class X, class DY, class DX>
  static void compute(X x, DY dy, DX dx);
};

namespace detail {
/// Values, and their derivatives along a direction.
struct Tangents {
  Tensor value{}, tangent{};
};
constexpr Tangents product(const Tangents& a, const Tangents& b) {
  return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
}
/// Returns, for each element along the last axis of x, the product of the other elements and `outside`, whose extent there is 1.
/// No division: elements may be 0. Halves are multiplied to pairs, the same is done for the pairs, and the result for a pair
/// times either of its elements is the result for the other.
constexpr Tangents products_of_others(const Tangents& x, const Tangents& outside) {
  const auto part = [](const Tangents& of, std::int64_t from, std::int64_t to) {
    const auto cut = [&](Tensor t) { return ops::slice(t, from, to, {}, -1); };
    return Tangents{cut(of.value), cut(of.tangent)};
  };
  const auto joined = [](const Tangents& a, const Tangents& b) {
    return Tangents{ops::concat({a.value, b.value}, -1), ops::concat({a.tangent, b.tangent}, -1)};
  };
  if (!x.value.is_usable() || x.value.shape(-1) == 1) return outside;
  const std::int64_t count = x.value.shape(-1), half = count / 2;
  const Tangents first = part(x, 0, half), second = part(x, half, 2 * half);
  Tangents pairs = product(first, second);
  if (count % 2 != 0) pairs = joined(pairs, part(x, count - 1, count));
  const Tangents others = products_of_others(pairs, outside), of_pairs = part(others, 0, half);
  const Tangents result = joined(product(of_pairs, second), product(of_pairs, first));
  return count % 2 == 0 ? result : joined(result, part(others, half, half + 1));
}
}  // namespace detail

constexpr void ReduceProdGrad::gradient(GradientContext& op) {
  const TensorSpec x = op.input_spec(0), dy = op.input_spec(1);
  const auto attributes = op.attributes<Attributes>();
  if (op.needs(1)) {
    const Tensor one = op.ir().constant(List<double>{1}, dy.shape, dy.dtype);
    op.input_gradient(1, ops::sum_to(op.output_gradient(0) * apply<ReduceProdGrad>({op.input(0), one}, attributes), dy.shape));
  }
  if (!op.needs(0) || x.shape.nelms() == dy.shape.nelms()) return;
  const auto bits = axis_bits(attributes, x.shape.rank);
  Shape order, inverse = x.shape, ordered;  // the reduced axes last
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < x.shape.rank; ++axis)
      if ((bits >> axis & 1) == (reduced ? 1 : 0)) {
        inverse[axis] = order.rank;
        order.push_back(axis), ordered.push_back(x.shape[axis]);
      }
  const std::int64_t lines = dy.shape.nelms();
  const auto as_lines = [&](Tensor t) { return ops::reshape(ops::transpose(t, order), {lines, -1}); };
  const Tensor outside = ops::reshape(op.input(1), {lines, 1});
  const auto result = detail::products_of_others({as_lines(op.input(0)), as_lines(op.output_gradient(0))},
                                                 {outside, op.ir().constant(List<double>{0}, {lines, 1}, dy.dtype)});
  op.input_gradient(0, ops::transpose(ops::reshape(result.tangent, ordered), inverse));
}

}  // namespace tilewright
