#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

struct AxisAttributes {
  std::int64_t axis = -1;  ///< from the first
};

/// Base of ops that work on whole lines along one axis: D gives `name` and
/// `line(strides..., pointers...)` in terms of `compute`.
template <class D>
struct LineOp : Op<D> {
  using Attributes = AxisAttributes;
  static constexpr bool any_layout = true;
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
      std::pair<Shape, std::array<std::array<std::int64_t, max_rank>, sizeof...(V)>> result{};
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

/// dx = y (dy - sum(y dy)) along an axis, for y = softmax(x).
struct SoftmaxGrad : LineOp<SoftmaxGrad> {
  static constexpr std::string_view name = "SoftmaxGrad";
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <PackedAttributes A, class Y, class DY, class DX>
  static void compute(Y y, DY dy, DX dx) {
    constexpr auto line = unpack<Attributes>(A).axis;
    using T = compute_t<typename Y::element>;
    constexpr auto n = Y::shape[static_cast<int>(line)];
    constexpr auto y_step = Y::spec.stride(line), dy_step = DY::spec.stride(line), dx_step = DX::spec.stride(line);
    for_each_line<line, Y, DY, DX>([&](const auto& at) {
      T dot{};
      for (std::int64_t i = 0; i < n; ++i)
        dot += static_cast<T>(y.data[at[0] + i * y_step]) * static_cast<T>(dy.data[at[1] + i * dy_step]);
      for (std::int64_t i = 0; i < n; ++i)
        dx.data[at[2] + i * dx_step] = static_cast<typename DX::element>(static_cast<T>(y.data[at[0] + i * y_step]) *
                                                                         (static_cast<T>(dy.data[at[1] + i * dy_step]) - dot));
    });
  }
};

/// exp(x) / sum(exp(x)) along an axis, computed from x less its largest element.
struct Softmax : LineOp<Softmax> {
  static constexpr std::string_view name = "Softmax";
  static constexpr void infer(Inference& op) {
    if (!op.require_floating_point(0)) return;
    if (op.require_axis(op.attributes<Attributes>().axis, op.input(0).shape.rank) >= 0) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<SoftmaxGrad>({op.output(0), op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y) {
    constexpr auto line = unpack<Attributes>(A).axis;
    using T = compute_t<typename X::element>;
    constexpr auto n = X::shape[static_cast<int>(line)];
    constexpr auto x_step = X::spec.stride(line), y_step = Y::spec.stride(line);
    for_each_line<line, X, Y>([&](const auto& at) {
      T largest = static_cast<T>(x.data[at[0]]), sum{};
      for (std::int64_t i = 1; i < n; ++i) largest = std::max(largest, static_cast<T>(x.data[at[0] + i * x_step]));
      for (std::int64_t i = 0; i < n; ++i) sum += math::exp(static_cast<T>(x.data[at[0] + i * x_step]) - largest);
      for (std::int64_t i = 0; i < n; ++i)
        y.data[at[1] + i * y_step] = static_cast<typename Y::element>(
            math::exp(static_cast<T>(x.data[at[0] + i * x_step]) - largest) / sum);
    });
  }
};

namespace ops {
/// Softmax along an axis (the last by default). x: float16 or float32; result: the same.
constexpr Tensor softmax(Tensor x, int axis = -1) {
  const int rank = x.rank();
  return apply<Softmax>({x}, {axis < 0 && axis >= -rank ? axis + rank : axis});
}
}  // namespace ops

}  // namespace tilewright
