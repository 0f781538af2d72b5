#pragma once
#include <algorithm>

#include "tilewright/op/op.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/math.hpp"

namespace tilewright {

/// Returns the shape to which two shapes broadcast by NumPy's rules; nothing if they do not fit.
constexpr std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result = a.rank >= b.rank ? a : b;
  for (int axis = 1; axis <= (std::min)(a.rank, b.rank); ++axis) {
    if (a[-axis] != b[-axis] && a[-axis] != 1 && b[-axis] != 1) return std::nullopt;
    result[-axis] = (std::max)(a[-axis], b[-axis]);
  }
  return result;
}

namespace detail {
/// Formula of an op as a function object for scalars and batches.
template <class D, PackedAttributes A>
struct Formula {
  // the result types tell xtensor what can be called
  static constexpr bool plain = __is_empty(typename D::Attributes);
  static constexpr bool bools_are_masks = groups_of<D>().operator Fusion().bools_are_masks;
  template <class... X>
    requires plain
  auto operator()(const X&... x) const -> decltype(D::forward(x...)) {
    return D::forward(x...);
  }
  template <class... X>
    requires(!plain)
  auto operator()(const X&... x) const -> decltype(D::forward(x..., unpack<typename D::Attributes>(A))) {
    return D::forward(x..., unpack<typename D::Attributes>(A));
  }
};
/// Checks that the result of an in-place op has its first input's shape and dtype; fails if not.
constexpr bool require_same_in_place(Inference& op, const TensorSpec& result) {
  if (result == op.input(0)) return true;
  op.fail(to_text(result), " into ", to_text(op.input(0)), ": a result of ", to_text(op.input(0)), " expected");
  return false;
}
/// Sets one output of the shape to which the inputs broadcast.
constexpr void infer_elementwise(Inference& op, DType dtype, bool in_place) {
  Shape shape = op.input(0).shape;
  for (int i = 1; i < op.input_count(); ++i) {
    const auto common = broadcast(shape, op.input(i).shape);
    if (!common) return op.fail(to_text(shape), " and ", to_text(op.input(i).shape), ": shapes that broadcast expected");
    shape = *common;
  }
  const TensorSpec result{shape, dtype};
  if (!in_place || require_same_in_place(op, result)) op.output(result);
}
constexpr Work elementwise_work(std::span<const TensorSpec> operands, int input_count) {
  Work work;
  const Shape& result = operands[static_cast<std::size_t>(input_count)].shape;
  for (int axis = 0; axis < result.rank; ++axis) work.add_axis({.extent = result[axis], .vectorised = axis == result.rank - 1});
  for (std::size_t o = 0; o < operands.size(); ++o)
    for (int axis = 1; axis <= operands[o].shape.rank; ++axis)
      if (operands[o].shape[-axis] != 1) work.follow(static_cast<int>(o), operands[o].shape.rank - axis, result.rank - axis);
  return work;
}
/// Returns the cost that a unary op states, otherwise that of its kind.
constexpr VertexCost cost_of_map(const VertexCost& stated) {
  return stated.is_stated() ? stated : default_vertex_cost(WorkKind::map, CodeKind::map);
}
/// Groups of an elementwise op that it does not state.
struct ElementwiseDefaults : OpDefaults {
  constexpr operator Fusion() const { return Fusion{.has_formula = true}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
};
}  // namespace detail

/// Base of ops whose result at a position depends on the inputs at that position only. D defines `name` and `template <class X>
/// static X forward(X x, ...[, Attributes])` on scalars and batches. Inputs broadcast as in NumPy and have one dtype, which
/// is also the result's. An op with other dtypes defines `check_dtypes` and `result_dtype`.
template <class D>
struct Elementwise : Op<D, detail::ElementwiseDefaults> {
  // No arrays: the planner puts formulas of numbers into each other, which it cannot do with a kernel.
  static constexpr void infer(Inference& op) {
    if (D::check_dtypes(op)) detail::infer_elementwise(op, D::result_dtype(op), op.is_in_place());
  }
  static constexpr bool check_dtypes(Inference& op) { return equal_dtypes(op); }
  static constexpr bool equal_dtypes(Inference& op) {
    for (int i = 1; i < op.input_count(); ++i)
      if (!op.require_equal_dtypes(0, i)) return false;
    return true;
  }
  /// A check_dtypes for ops on numbers, which refuses bool.
  static constexpr bool check_numbers(Inference& op) { return op.require_number_dtype(0) && equal_dtypes(op); }
  static constexpr DType result_dtype(const Inference& op) { return op.input(0).dtype; }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return detail::elementwise_work(operands, input_count);
  }
  template <PackedAttributes A, class... V>
  static void compute(V... views);
  /// Computes an op with `fault` on views, the last of which is the result, and reports wrong inputs to `faults`. D defines
  /// `forward_checked(faults, x, ...)` in addition to `forward`.
  template <PackedAttributes, class... V>
  static void compute_checked(Faults faults, V... views);
};

/// Value from which a unary op's derivative is computed.
enum class GradientFrom { input, output };

namespace detail {
/// Applies D::gradient_of_slope to the inputs of a gradient op of D, the gradient of its result, and the attributes of D.
template <class D>
constexpr Tensor gradient_of_slope(Tensor value, Tensor dy, Tensor gradient, const typename D::Attributes& attributes) {
  if constexpr (__is_empty(typename D::Attributes)) return D::gradient_of_slope(value, dy, gradient);
  else return D::gradient_of_slope(value, dy, gradient, attributes);
}
/// Returns the gradient rule of Grad, a gradient op of D; null if D has no `gradient_of_slope`.
template <class D, class Grad, bool is_of_half>
constexpr decltype(OpInfo::gradient) rule_of_gradient() {
  if constexpr (!requires { D::gradient_of_slope; }) return nullptr;
  else
    return [](GradientContext& op) {
      const auto attributes = op.attributes<typename D::Attributes>();
      const Tensor value = op.input(0), gradient = op.output_gradient(0);
      if (op.needs(1)) op.input_gradient(1, apply<Grad>({value, gradient}, attributes));
      if (!op.needs(0)) return;
      const Tensor y = is_of_half ? apply<D>({value}, attributes) : value;
      const Tensor of_value = gradient_of_slope<D>(y, op.input(1), gradient, attributes);
      op.input_gradient(0, is_of_half && of_value.valid() ? apply<Grad>({value, of_value}, attributes) : of_value);
    };
}
}  // namespace detail

/// The gradient op of a unary op: inputs (x or y, dy), result dx.
template <class D>
struct UnaryGrad : Elementwise<UnaryGrad<D>> {
  using Attributes = typename D::Attributes;
  static constexpr decltype(OpInfo::gradient) gradient = detail::rule_of_gradient<D, UnaryGrad, false>();
  static constexpr std::string_view name = GradientName<D>::value;
  constexpr operator VertexCost() const {
    return unary_gradient_cost(detail::cost_of_map(detail::groups_of<D>()), D::gradient_from == GradientFrom::output);
  }
  template <class X, class... A>
  static X forward(X x_or_y, X dy, A... attributes) {
    return D::backward(x_or_y, dy, attributes...);
  }
};

/// The gradient op of a unary op whose derivative is computed from its result in half precision: inputs (x, dy). The result is
/// recomputed, because the stored one is rounded. D can define `backward_of_input(x, dy)` if the float32 result is not precise
/// enough.
template <class D>
struct UnaryGradOfHalf : Elementwise<UnaryGradOfHalf<D>> {
  using Attributes = typename D::Attributes;
  static constexpr decltype(OpInfo::gradient) gradient = detail::rule_of_gradient<D, UnaryGradOfHalf, true>();
  static constexpr std::string_view name = GradientName<D>::value;
  constexpr operator VertexCost() const { return unary_gradient_cost(detail::cost_of_map(detail::groups_of<D>()), false); }
  template <class X, class... A>
  static X forward(X x, X dy, A... attributes) {
    if constexpr (requires { D::backward_of_input(x, dy, attributes...); }) return D::backward_of_input(x, dy, attributes...);
    else return D::backward(D::forward(x, attributes...), dy, attributes...);
  }
};

/// Base of ops with one input, which is floating point unless D defines `check_dtypes`. D defines `name`, `forward(x)` and
/// `backward(x, dy)`, the gradient of x, or `backward(y, dy)` with `gradient_from = GradientFrom::output`. Both take the
/// attributes last, if there are any. For gradients of gradients, D defines `gradient_of_slope(x or y, dy, gradient)`: gradient
/// dy times the derivative of the slope, as graph code, or Tensor() if that is 0.
template <class D>
struct UnaryOp : Elementwise<D> {
  static constexpr GradientFrom gradient_from = GradientFrom::input;
  /// Whether the gradient is exact from a result in half precision, like that of relu
  static constexpr bool gradient_takes_rounded = false;

  static constexpr bool check_dtypes(Inference& op) { return op.require_floating_point(0); }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const auto attributes = op.attributes<typename D::Attributes>();
    const Tensor dy = op.output_gradient(0);
    if constexpr (D::gradient_from == GradientFrom::output && !D::gradient_takes_rounded) {
      if (is_half(op.input_spec(0).dtype)) return op.input_gradient(0, apply<UnaryGradOfHalf<D>>({op.input(0), dy}, attributes));
    }
    const Tensor value = D::gradient_from == GradientFrom::input ? op.input(0) : op.output(0);
    op.input_gradient(0, apply<UnaryGrad<D>>({value, dy}, attributes));
  }
};

}  // namespace tilewright
