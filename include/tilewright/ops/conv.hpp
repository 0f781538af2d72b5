#pragma once
#include "tilewright/kernel/conv_loops.hpp"
#include "tilewright/kernel/conv_weights.hpp"
#include "tilewright/ops/window.hpp"

namespace tilewright {

/// Options of a convolution. Lists have one number for each spatial axis, padding two: all beginnings, then all ends. An empty
/// list stands for ones, and for no padding.
struct ConvOptions {
  List<std::int64_t> stride{}, padding{}, dilation{};
  std::int64_t groups = 1;  ///< channels are cut into that many groups, each of which is convolved by itself
  PadType pad_type = PadType::not_set;
};

namespace detail {
/// How x (N, C, spatial), w (M, C / groups, kernel) and y (N, M, spatial) of a convolution are cut. With one group all axes of
/// channels can be cut. With several, an axis that is cut into whole groups is C and M at once, if these are equal.
struct ConvWork {
  Work work;
  int n, m, c;

  constexpr ConvWork(const Shape& x, const Shape& w, std::int64_t groups, WorkAxisKind n_kind, WorkAxisKind m_kind,
                     WorkAxisKind c_kind)
      : n(work.add_axis({.extent = x[0], .kind = n_kind})), m(-1), c(-1) {
    const bool equal = x[1] == w[0];
    if (groups == 1) {
      c = work.add_axis({.extent = x[1], .kind = c_kind, .grain = 16});
      m = work.add_axis({.extent = w[0], .kind = m_kind, .grain = 16});
    } else if (equal) {
      c = m = work.add_axis({.extent = w[0], .grain = w[1]});
    }
  }
  constexpr void follow(int x, int w, int y, std::int64_t groups) {
    work.follow(x, 0, n), work.follow(y, 0, n);
    if (m < 0) return;
    work.follow(x, 1, c);
    work.follow(w, 0, m), work.follow(y, 1, m);
    if (groups == 1) work.follow(w, 1, c);
  }
};

/// The shape of one group for the vector kernels, of views of at most two spatial axes; x, w and y as for ConvLoops.
template <Windows windows, class X, class W, class Y>
inline constexpr ConvShape conv_shape = [] {
  const Window h = windows[1], v = windows[2];
  return ConvShape{.images = X::shape[0],
                   .channels = W::shape[1],
                   .results = W::shape[0] / (X::shape[1] / W::shape[1]),
                   .h = h,
                   .v = v,
                   .x_n = X::spec.stride(0),
                   .x_c = X::spec.stride(1),
                   .w_m = W::spec.stride(0),
                   .w_c = W::spec.stride(1),
                   .w_h = v.kernel,
                   .w_v = 1,
                   .y_n = Y::spec.stride(0),
                   .y_m = Y::spec.stride(1)};
}();
/// The gradient of the data as a convolution of dy, spread by the stride, with the weights, turned around:
/// dx[n, c, i] = sum over m, k of w[m, c, k] dy[n, m, (i + begin - k dilation) / stride].
constexpr ConvShape data_gradient_shape(const ConvShape& s) {
  const auto turned = [](const Window& w) {
    return Window{.in = (w.out - 1) * w.stride + 1,
                  .out = w.in,
                  .kernel = w.kernel,
                  .stride = 1,
                  .dilation = w.dilation,
                  .begin = w.span() - 1 - w.begin};
  };
  return {.images = s.images,
          .channels = s.results,
          .results = s.channels,
          .h = turned(s.h),
          .v = turned(s.v),
          .h_spacing = s.h.stride,
          .v_spacing = s.v.stride,
          .x_n = s.y_n,
          .x_c = s.y_m,
          .w_m = s.w_c,
          .w_c = s.w_m,
          .w_h = -s.w_h,
          .w_v = -s.w_v,
          .y_n = s.x_n,
          .y_m = s.x_c};
}
/// Whether the vector kernels take these views: float32, and dense planes.
template <class X, class W, class Y>
constexpr bool conv_planes = std::is_same_v<typename X::element, float> && X::shape.rank <= 4;

/// Calls f with the addresses of each group's x, w and y.
template <ConvShape s, std::int64_t groups, class F>
inline void for_each_group(float* x, float* w, float* y, F&& f) {
  for (std::int64_t group = 0; group < groups; ++group)
    f(x + group * s.channels * s.x_c, w + group * s.results * s.w_m, y + group * s.results * s.y_m);
}
template <class X, class W>
inline constexpr std::int64_t group_count = X::shape[1] / W::shape[1];
}  // namespace detail

/// The gradient of a convolution's data: inputs (dy, weight), result dx.
struct ConvDataGrad : Op<ConvDataGrad> {
  static constexpr WorkKind work_kind = WorkKind::convolution;
  static constexpr std::string_view name = "ConvDataGrad";
  using Attributes = WindowsAttributes;

  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const Windows windows = attributes.windows();
    Shape result{op.input(0).shape[0], op.input(1).shape[1] * attributes.groups};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis) result.push_back(windows[axis].in);
    op.output({result, op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::ConvWork cut(operands[2].shape, operands[1].shape, groups, parallel, reduction, parallel);
    cut.follow(2, 1, 0, groups);
    return cut.work;
  }
  template <PackedAttributes A, class DY, class W, class DX>
  static void compute(DY dy, W w, DX dx) {
    static constexpr Windows windows = unpack<Attributes>(A).windows();
    if constexpr (detail::conv_planes<DX, W, DY>) {
      static constexpr ConvShape forward = detail::conv_shape<windows, DX, W, DY>;
      static constexpr ConvShape s = detail::data_gradient_shape(forward);
      if constexpr (has_conv_kernel<s>)
        return detail::for_each_group<forward, detail::group_count<DX, W>>(
            dx.data, w.data, dy.data, [](float* x, float* weight, float* y) { conv_kernel<s>(y, weight + s.taps() - 1, x); });
    }
    ConvLoops<windows, DX, W, DY>::data_gradient(dy, w, dx);
  }
};

/// The gradient of a convolution's weights: inputs (x, dy), result dw.
struct ConvWeightsGrad : Op<ConvWeightsGrad> {
  static constexpr WorkKind work_kind = WorkKind::convolution;
  static constexpr std::string_view name = "ConvWeightsGrad";
  using Attributes = WindowsAttributes;

  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const Windows windows = attributes.windows();
    Shape result{op.input(1).shape[1], op.input(0).shape[1] / attributes.groups};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis) result.push_back(windows[axis].kernel);
    op.output({result, op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::ConvWork cut(operands[0].shape, operands[2].shape, groups, reduction, parallel, parallel);
    cut.follow(0, 2, 1, groups);
    return cut.work;
  }
  template <PackedAttributes A, class X, class DY, class DW>
  static void compute(X x, DY dy, DW dw) {
    static constexpr Windows windows = unpack<Attributes>(A).windows();
    if constexpr (detail::conv_planes<X, DW, DY>) {
      static constexpr ConvShape s = detail::conv_shape<windows, X, DW, DY>;
      if constexpr (has_conv_weights_kernel<s>)
        return detail::for_each_group<s, detail::group_count<X, DW>>(
            x.data, dw.data, dy.data, [](float* data, float* gradient, float* y) { conv_weights_kernel<s>(data, y, gradient); });
    }
    ConvLoops<windows, X, DW, DY>::weights_gradient(x, dy, dw);
  }
};

/// Convolution, that is cross-correlation: inputs (x, weight).
struct Conv : Op<Conv> {
  static constexpr WorkKind work_kind = WorkKind::convolution;
  static constexpr std::string_view name = "Conv";
  using Attributes = WindowAttributes;

  static constexpr Shape kernel_of(const Shape& weight) {
    Shape result;
    for (int axis = 2; axis < weight.rank; ++axis) result.push_back(weight[axis]);
    return result;
  }
  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &weight = op.input(1);
    const Attributes attributes = op.attributes<Attributes>();
    if (!op.require_floating_point(0) || !op.require_equal_dtypes(0, 1)) return;
    if (x.shape.rank < 3 || x.shape.rank > 5) return op.fail(to_text(x), ": (N, C, spatial) with 1 to 3 spatial axes expected");
    if (weight.shape.rank != x.shape.rank)
      return op.fail("weight ", to_text(weight.shape), " for ", to_text(x.shape), ": rank ", std::int64_t{x.shape.rank},
                     " expected");
    const std::int64_t groups = attributes.groups;
    if (groups < 1 || x.shape[1] % groups != 0 || weight.shape[0] % groups != 0)
      return op.fail(groups, " groups of ", x.shape[1], " channels to ", weight.shape[0], ": a divisor of both expected");
    if (weight.shape[1] != x.shape[1] / groups)
      return op.fail("weight ", to_text(weight.shape), " for ", to_text(x.shape), " in ", groups,
                     groups == 1 ? " group" : " groups", ": ", x.shape[1] / groups, " channels expected");
    const Shape kernel = kernel_of(weight.shape);
    if (!detail::check_windows(op, x.shape, kernel, attributes)) return;
    const Windows windows = detail::windows_of(x.shape, kernel, attributes);
    op.output({detail::windows_shape(x.shape[0], weight.shape[0], windows, kernel.rank), x.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const auto windows = detail::windows_of(op.input_spec(0).shape, kernel_of(op.input_spec(1).shape), attributes);
    const auto explicit_attributes = WindowsAttributes::make(windows, attributes.groups);
    if (op.needs(0)) op.input_gradient(0, apply<ConvDataGrad>({op.output_gradient(0), op.input(1)}, explicit_attributes));
    if (op.needs(1)) op.input_gradient(1, apply<ConvWeightsGrad>({op.input(0), op.output_gradient(0)}, explicit_attributes));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::ConvWork cut(operands[0].shape, operands[1].shape, groups, parallel, parallel, reduction);
    cut.follow(0, 1, 2, groups);
    return cut.work;
  }
  template <PackedAttributes A, class X, class W, class Y>
  static void compute(X x, W w, Y y) {
    static constexpr Windows windows = detail::windows_of(X::shape, kernel_of(W::shape), unpack<Attributes>(A));
    if constexpr (detail::conv_planes<X, W, Y>) {
      static constexpr ConvShape s = detail::conv_shape<windows, X, W, Y>;
      if constexpr (has_conv_kernel<s>)
        return detail::for_each_group<s, detail::group_count<X, W>>(
            x.data, w.data, y.data, [](float* data, float* weight, float* result) { conv_kernel<s>(data, weight, result); });
    }
    ConvLoops<windows, X, W, Y>::forward(x, w, y);
  }
};

namespace ops {
/// Convolution (cross-correlation: the kernel is not turned around). x: (N, C, spatial...) with 1 to 3 spatial axes, float16 or
/// float32; weight: (M, C / groups, kernel...), the same dtype. Result: (N, M, spatial...) with
/// (in + padding - ((kernel - 1) dilation + 1)) / stride + 1 elements along each spatial axis, rounded down. Half precision sums
/// in float32. Errors: lists of a wrong length, numbers out of range, groups that do not divide the channels, a kernel larger
/// than the padded input.
///
///     y = ops::conv(x, weight, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
constexpr Tensor conv(Tensor x, Tensor weight, const ConvOptions& options = {}) {
  WindowAttributes attributes{.pad_type = options.pad_type, .groups = static_cast<std::int32_t>(options.groups)};
  WindowAttributes::set(attributes.stride, attributes.stride_count, options.stride);
  WindowAttributes::set(attributes.padding, attributes.padding_count, options.padding);
  WindowAttributes::set(attributes.dilation, attributes.dilation_count, options.dilation);
  return apply<Conv>({x, weight}, attributes);
}
}  // namespace ops

}  // namespace tilewright
