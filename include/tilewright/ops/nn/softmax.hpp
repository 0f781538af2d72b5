#pragma once
#include "tilewright/core/pair.hpp"
#include "tilewright/op/elementwise.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

struct AxisAttributes {
  std::int64_t axis = -1;  ///< counted from the first
};

/// Base of ops on whole lines along one axis. D defines `name` and `compute`, which visits the lines by `for_each_line`.
template <class D>
struct LineOp : Op<D> {
  // Loops, not arrays: Softmax adds up exponentials while it writes them, and a gradient's short lines take less time.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  using Attributes = AxisAttributes;
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto line = unpack<AxisAttributes>(packed).axis;
    Work work;
    for (int axis = 0; axis < operands[0].shape.rank; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis], .kind = axis == line ? WorkAxisKind::whole : WorkAxisKind::parallel});
      for (std::size_t o = 0; o < operands.size(); ++o) work.follow(static_cast<int>(o), axis, axis);
    }
    return work;
  }

 protected:
  /// Calls f(offsets of the operands) for every line.
  template <std::int64_t line, class... V, class F>
  static void for_each_line(F&& f) {
    constexpr auto count = static_cast<int>(sizeof...(V));
    constexpr auto loops = [] {
      Pair<Shape, std::array<std::array<std::int64_t, max_rank>, sizeof...(V)>> result{};
      const std::array<ViewSpec, sizeof...(V)> views{V::spec...};
      for (int axis = 0; axis < views[0].shape.rank; ++axis) {
        if (axis == line) continue;
        for (std::size_t o = 0; o < views.size(); ++o)
          result.second[o][static_cast<std::size_t>(result.first.rank)] = views[o].stride(axis);
        result.first.push_back(views[0].shape[axis]);
      }
      return result;
    }();
    for_each_offset<count>(loops.first, loops.second, f);
  }
};

namespace detail {
/// Returns the gradient of y for the gradient `of_dx` of dx = y (dy - sum(y dy)).
constexpr Tensor gradient_of_softmax_result(Tensor y, Tensor dy, Tensor of_dx, const AxisAttributes& attributes) {
  const Axes axis(static_cast<int>(attributes.axis));
  return of_dx * (dy - ops::sum(y * dy, axis, true)) - dy * ops::sum(y * of_dx, axis, true);
}
}  // namespace detail

/// dx = y (dy - sum(y dy)) along an axis, for y = softmax(x).
struct SoftmaxGrad : LineOp<SoftmaxGrad> {
  static constexpr std::string_view name = "SoftmaxGrad";
  constexpr operator VertexCost() const { return line_cost(4, {10, 2}, {10, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) {
    const Tensor y = op.input(0), dy = op.input(1), of_dx = op.output_gradient(0);
    const auto attributes = op.attributes<Attributes>();
    if (op.needs(0)) op.input_gradient(0, detail::gradient_of_softmax_result(y, dy, of_dx, attributes));
    if (op.needs(1)) op.input_gradient(1, apply<SoftmaxGrad>({y, of_dx}, attributes));
  }

  template <PackedAttributes A, class Y, class DY, class DX>
  static void compute(Y y, DY dy, DX dx);
};

/// dx of softmax along an axis in half precision, from x instead of y = softmax(x). y is recomputed, because the stored result is
/// rounded.
struct SoftmaxGradOfHalf : LineOp<SoftmaxGradOfHalf> {
  static constexpr std::string_view name = "SoftmaxGrad";
  constexpr operator VertexCost() const { return line_cost(7, {20, 2}, {18, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op);  // below, because it applies Softmax

  template <PackedAttributes A, class X, class... V>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class X, class DY, class DX>
  static void compute(X x, DY dy, DX dx);
};

/// exp(x) / sum(exp(x)) along an axis, computed from x less its largest element.
struct Softmax : LineOp<Softmax> {
  static constexpr std::string_view name = "Softmax";
  // fitted to softmax_cycles
  constexpr operator VertexCost() const { return line_cost(5, {14, 2}, {12, 4}, Confidence::derived); }
  static constexpr void infer(Inference& op) {
    if (!op.require_floating_point(0)) return;
    if (op.require_axis(op.attributes<Attributes>().axis, op.input(0).shape.rank) >= 0) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const auto attributes = op.attributes<Attributes>();
    const Tensor dy = op.output_gradient(0);
    if (is_half(op.input_spec(0).dtype)) op.input_gradient(0, apply<SoftmaxGradOfHalf>({op.input(0), dy}, attributes));
    else op.input_gradient(0, apply<SoftmaxGrad>({op.output(0), dy}, attributes));
  }
  template <PackedAttributes A, class X, class... V>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
};

constexpr void SoftmaxGradOfHalf::gradient(GradientContext& op) {
  const Tensor x = op.input(0), of_dx = op.output_gradient(0);
  const auto attributes = op.attributes<Attributes>();
  if (op.needs(1)) op.input_gradient(1, apply<SoftmaxGradOfHalf>({x, of_dx}, attributes));
  if (!op.needs(0)) return;
  const Tensor y = apply<Softmax>({x.cast(float32)}, attributes);
  const Tensor dy = detail::gradient_of_softmax_result(y, op.input(1).cast(float32), of_dx.cast(float32), attributes);
  op.input_gradient(0, apply<SoftmaxGrad>({y, dy}, attributes).cast(x.dtype()));
}

namespace ops {
/// Returns the softmax along an axis (the last by default). x: float16, bfloat16, float32 or float64. The result has x's shape
/// and dtype. Gradient: y (dy - sum(y dy)); half precision recomputes y in float32.
[[nodiscard]] constexpr Tensor softmax(Tensor x, int axis = -1) {
  const int rank = x.rank();
  return apply<Softmax>({x}, {axis < 0 && axis >= -rank ? axis + rank : axis});
}
}  // namespace ops

}  // namespace tilewright
