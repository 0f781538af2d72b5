#pragma once
#include "tilewright/kernel/pool.hpp"
#include "tilewright/ops/window.hpp"

namespace tilewright {

/// Options of a pooling. Lists have one number for each spatial axis, padding two: all beginnings, then all ends. An empty list
/// stands for ones, and for no padding.
struct PoolOptions {
  List<std::int64_t> stride{}, padding{}, dilation{};
  PadType auto_pad = PadType::not_set;
  bool ceil_mode = false;  ///< the count of results is rounded up: the last windows may go beyond the padding
};

/// What poolings and their gradients share: tensors (N, C, spatial...), each plane by itself.
template <class D>
struct PoolOp : Op<D> {
  static constexpr WorkKind work_kind = WorkKind::reduction;
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    for (int axis = 0; axis < 2; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis]});
      for (std::size_t o = 0; o < operands.size(); ++o) work.follow(static_cast<int>(o), axis, axis);
    }
    return work;
  }
};

/// Base of poolings: D gives `name` and `pool<windows>(x, y)` for a plane; Gradient is the op of the gradient.
template <class D>
struct PoolForward : PoolOp<D> {
  using Attributes = WindowAttributes;

  static constexpr Shape kernel_of(const Attributes& attributes) {
    Shape result;
    for (int axis = 0; axis < attributes.kernel_count; ++axis)
      result.push_back(attributes.kernel[static_cast<std::size_t>(axis)]);
    return result;
  }
  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.template attributes<Attributes>();
    const Shape& x = op.input(0).shape;
    if (!op.require_floating_point(0)) return;
    if (x.rank < 3 || x.rank > 5) return op.fail(to_text(op.input(0)), ": (N, C, spatial) with 1 to 3 spatial axes expected");
    const int axes = x.rank - 2;
    if (attributes.kernel_count != axes)
      return op.fail("kernel_size of ", std::int64_t{attributes.kernel_count}, " numbers for ", to_text(x), ": ",
                     std::int64_t{axes}, " expected");
    const Shape kernel = kernel_of(attributes);
    for (int axis = 0; axis < axes; ++axis)
      if (kernel[axis] < 1) return op.fail("kernel_size ", to_text(kernel), ": numbers of at least 1 expected");
    if (!detail::check_windows(op, x, kernel, attributes)) return;
    const Windows windows = detail::windows_of(x, kernel, attributes);
    for (const Window& window : windows.axes)
      for (std::int64_t o = 0; o < window.out; ++o) {
        std::int64_t k = 0;
        while (k < window.kernel && !window.contains(window.at(o, k))) ++k;
        if (k == window.kernel)
          return op.fail("kernel_size ", to_text(kernel), " on ", to_text(x),
                         ": padding that leaves each window an element expected");
      }
    op.output({detail::windows_shape(x[0], x[1], windows, axes), op.input(0).dtype});
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y) {
    static constexpr auto attributes = unpack<Attributes>(A);
    static constexpr Windows windows = detail::windows_of(X::shape, kernel_of(attributes), attributes);
    for_each_plane(D::template pool<windows, typename X::element>, x, y);
  }

 protected:
  static constexpr WindowsAttributes windows_attributes(const GradientContext& op) {
    const Attributes attributes = op.template attributes<Attributes>();
    return WindowsAttributes::make(detail::windows_of(op.input_spec(0).shape, kernel_of(attributes), attributes));
  }
};

/// The gradient of MaxPool: inputs (x, dy). The largest elements are searched for again.
struct MaxPoolGrad : PoolOp<MaxPoolGrad> {
  static constexpr std::string_view name = "MaxPoolGrad";
  using Attributes = WindowsAttributes;
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <PackedAttributes A, class X, class DY, class DX>
  static void compute(X x, DY dy, DX dx) {
    static constexpr Windows windows = unpack<Attributes>(A).windows();
    for_each_plane(Pool<windows, typename X::element>::maximum_gradient, x, dy, dx);
  }
};

/// The largest element of each window.
struct MaxPool : PoolForward<MaxPool> {
  static constexpr std::string_view name = "MaxPool";
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<MaxPoolGrad>({op.input(0), op.output_gradient(0)}, windows_attributes(op)));
  }
  template <Windows windows, class T>
  static void pool(const T* x, T* y) {
    Pool<windows, T>::maximum(x, y);
  }
};

/// The gradient of AveragePool: input dy.
struct AveragePoolGrad : PoolOp<AveragePoolGrad> {
  static constexpr std::string_view name = "AveragePoolGrad";
  using Attributes = WindowsAttributes;
  static constexpr void infer(Inference& op) {
    const Windows windows = op.attributes<Attributes>().windows();
    Shape result{op.input(0).shape[0], op.input(0).shape[1]};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis) result.push_back(windows[axis].in);
    op.output({result, op.input(0).dtype});
  }
  template <PackedAttributes A, class DY, class DX>
  static void compute(DY dy, DX dx) {
    static constexpr Windows windows = unpack<Attributes>(A).windows();
    for_each_plane(Pool<windows, typename DX::element>::average_gradient, dy, dx);
  }
};

/// The mean of the elements of each window; padding does not count.
struct AveragePool : PoolForward<AveragePool> {
  static constexpr std::string_view name = "AveragePool";
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<AveragePoolGrad>({op.output_gradient(0)}, windows_attributes(op)));
  }
  template <Windows windows, class T>
  static void pool(const T* x, T* y) {
    Pool<windows, T>::average(x, y);
  }
};

namespace detail {
constexpr WindowAttributes pool_attributes(const List<std::int64_t>& kernel_size, const PoolOptions& options) {
  WindowAttributes attributes{.pad_type = options.auto_pad, .ceil_mode = options.ceil_mode};
  WindowAttributes::set(attributes.kernel, attributes.kernel_count, kernel_size);
  WindowAttributes::set(attributes.stride, attributes.stride_count, options.stride);
  WindowAttributes::set(attributes.padding, attributes.padding_count, options.padding);
  WindowAttributes::set(attributes.dilation, attributes.dilation_count, options.dilation);
  return attributes;
}
}  // namespace detail

namespace ops {
/// The largest element of each window, and NaN if it has one. x: (N, C, spatial...) with 1 to 3 spatial axes, float16, float32 or
/// float64; result: (N, C, spatial...) with the windows' count along each spatial axis, as for conv. Padding never wins. The
/// gradient goes to the first of equal elements, and in a window with NaN to a NaN or the largest number. Errors: lists of a
/// wrong length, numbers out of range, a kernel larger than the padded input, windows of nothing but padding.
///
///     y = ops::max_pool(x, {2, 2}, {.stride = {2, 2}});
constexpr Tensor max_pool(Tensor x, const List<std::int64_t>& kernel_size, const PoolOptions& options = {}) {
  return apply<MaxPool>({x}, detail::pool_attributes(kernel_size, options));
}
/// The mean of each window's elements, padding left out; the rest as for max_pool. Half precision sums in float32.
constexpr Tensor average_pool(Tensor x, const List<std::int64_t>& kernel_size, const PoolOptions& options = {}) {
  return apply<AveragePool>({x}, detail::pool_attributes(kernel_size, options));
}
}  // namespace ops

}  // namespace tilewright
