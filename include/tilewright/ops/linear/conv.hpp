#pragma once
#include "tilewright/op/window.hpp"

namespace tilewright {

/// Options of a convolution. Lists have one number for each spatial axis. `padding` has two for each: first those of all
/// beginnings, then those of all ends. An empty list means ones, or for padding zeros.
struct ConvOptions {
  List<std::int64_t> stride{};  ///< distance between neighbouring windows, in elements
  List<std::int64_t> padding{};  ///< zeros at the beginnings and ends
  List<std::int64_t> dilation{};  ///< distance between neighbouring elements of the kernel
  std::int64_t groups = 1;  ///< number of groups of channels, each of which is convolved separately
  PadType pad_type = PadType::not_set;  ///< if set, it determines the padding, as ONNX's auto_pad
  // Lists of one element, or none. Gradients have the same.
  List<double> available_memory_proportions{};  ///< from 0 to 1: as in MatMulOptions
  List<DType> partials_types{};  ///< float16 or float32: dtype of partial sums, as in MatMulOptions
  detail::NoEffect<List<bool>> enable_conv_dithering{};  ///< deprecated: it has no effect
};

namespace detail {
/// How a plan divides x (N, C, spatial), w (M, C / groups, kernel) and y (N, M, spatial) of a convolution. With one group, all
/// axes of channels can be divided. With several, an axis of whole groups divides C and M together, if these are equal.
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
  /// Divides images into blocks of at least `together`, if it is above 1, and the other parallel axes not at all: vertices share
  /// the points of Winograd's form.
  constexpr void keep_together(std::int64_t together) {
    if (together <= 1) return;
    work.axes[n].grain = together;
    for (const int axis : {c, m})
      if (axis >= 0) work.axes[axis].grain = work.axes[axis].extent;
  }
  constexpr void follow(int x, int w, int y, std::int64_t groups) {
    work.follow(x, 0, n), work.follow(y, 0, n);
    if (m < 0) return;
    work.follow(x, 1, c);
    work.follow(w, 0, m), work.follow(y, 1, m);
    if (groups == 1) work.follow(w, 1, c);
  }
};

/// Returns the work of ops that convolve operand 0 with the weights, operand 1. `together`: see ConvWork::keep_together.
constexpr Work convolution_work(std::span<const TensorSpec> operands, std::int64_t groups, std::int64_t together = 1) {
  using enum WorkAxisKind;
  ConvWork cut(operands[0].shape, operands[1].shape, groups, parallel, parallel, reduction);
  cut.keep_together(together);
  cut.follow(0, 1, 2, groups);
  return cut.work;
}
/// Returns the work of ops that convolve operand 0 back to the data, operand 2.
constexpr Work transposed_work(std::span<const TensorSpec> operands, std::int64_t groups, std::int64_t together = 1) {
  using enum WorkAxisKind;
  ConvWork cut(operands[2].shape, operands[1].shape, groups, parallel, reduction, parallel);
  cut.keep_together(together);
  cut.follow(2, 1, 0, groups);
  return cut.work;
}

constexpr Shape kernel_of(const Shape& weight) {
  Shape result;
  for (int axis = 2; axis < weight.rank; ++axis) result.push_back(weight[axis]);
  return result;
}

constexpr bool check_ranks(Inference& op, const Shape& x, const Shape& weight) {
  if (x.rank < 3 || x.rank > 5)
    return op.fail(to_text(op.input(0)), ": (N, C, spatial) with 1 to 3 spatial axes expected"), false;
  if (weight.rank == x.rank) return true;
  return op.fail("weight ", to_text(weight), " for ", to_text(x), ": rank ", std::int64_t{x.rank}, " expected"), false;
}

}  // namespace detail

/// Base of convolutions and their gradients. A are the attributes, which include the planner's.
template <class D, class A>
struct ConvOp : Op<D> {
  // Loops, not arrays: windows overlap, and blocks of both operands stay in registers and caches.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::convolution}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::convolution, Confidence::published); }
  using Attributes = A;
  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) { return planner_options<A>(packed); }
  constexpr operator CutRules() const { return planner_cut_rules<A>; }

 protected:
  /// How the kernel of an op with such a first operand adds its products.
  template <PackedAttributes attributes, class View>
  static constexpr kernel::ConvSums sums_of = unpack<A>(attributes).planner.sums_of(View::spec.dtype);
};

/// The gradient of a convolution's data: inputs (dy, weight), result dx.
struct ConvDataGrad : ConvOp<ConvDataGrad, WindowsAttributes> {
  static constexpr std::string_view name = "ConvDataGrad";

  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const kernel::Windows windows = attributes.windows();
    Shape result{op.input(0).shape[0], op.input(1).shape[1] * attributes.groups};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis) result.push_back(windows[axis].in);
    op.output({result, op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op);  // below, as those of the other gradients: each applies the others
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    return detail::transposed_work(operands, attributes.groups, attributes.planner.images_together);
  }
  template <PackedAttributes A, class DY, class W, class DX>
  static void compute(DY dy, W w, DX dx);
  template <PackedAttributes A, class DY, class W, class DX>
  static constexpr std::int64_t stack_bytes();
};

/// The gradient of a convolution's weights: inputs (x, dy), result dw.
struct ConvWeightsGrad : ConvOp<ConvWeightsGrad, WindowsAttributes> {
  static constexpr std::string_view name = "ConvWeightsGrad";

  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const kernel::Windows windows = attributes.windows();
    Shape result{op.input(1).shape[1], op.input(0).shape[1] / attributes.groups};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis) result.push_back(windows[axis].kernel);
    op.output({result, op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op);
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const auto attributes = unpack<Attributes>(packed);
    const std::int64_t groups = attributes.groups, images = attributes.planner.images_of_part;
    detail::ConvWork cut(operands[0].shape, operands[2].shape, groups, images > 0 ? summed : reduction, parallel, parallel);
    if (images > 0) cut.work.axes[cut.n].grain = images;
    cut.follow(0, 2, 1, groups);
    return cut.work;
  }
  template <PackedAttributes A, class X, class DY, class DW>
  static void compute(X x, DY dy, DW dw);
  template <PackedAttributes A, class X, class DY, class DW>
  static constexpr std::int64_t stack_bytes();
};

/// The gradient of a transposed convolution's data, a convolution with given windows: inputs (dy, weight), result dx.
struct ConvTransposeDataGrad : ConvOp<ConvTransposeDataGrad, WindowsAttributes> {
  static constexpr std::string_view name = "ConvTransposeDataGrad";

  static constexpr void infer(Inference& op) {
    const Shape &dy = op.input(0).shape, &weight = op.input(1).shape;
    op.output({detail::windows_shape(dy[0], weight[0], op.attributes<Attributes>().windows(), dy.rank - 2), op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op);
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    return detail::convolution_work(operands, unpack<Attributes>(packed).groups);
  }
  template <PackedAttributes A, class DY, class W, class DX>
  static void compute(DY dy, W w, DX dx);
  template <PackedAttributes A, class DY, class W, class DX>
  static constexpr std::int64_t stack_bytes();
};

constexpr void ConvDataGrad::gradient(GradientContext& op) {
  const Tensor dy = op.input(0), weight = op.input(1), of_dx = op.output_gradient(0);
  const auto attributes = op.attributes<Attributes>();
  if (op.needs(0)) op.input_gradient(0, apply<ConvTransposeDataGrad>({of_dx, weight}, attributes));
  if (op.needs(1)) op.input_gradient(1, apply<ConvWeightsGrad>({of_dx, dy}, attributes));
}
constexpr void ConvWeightsGrad::gradient(GradientContext& op) {
  const Tensor x = op.input(0), dy = op.input(1), of_dw = op.output_gradient(0);
  const auto attributes = op.attributes<Attributes>();
  if (op.needs(0)) op.input_gradient(0, apply<ConvDataGrad>({dy, of_dw}, attributes));
  if (op.needs(1)) op.input_gradient(1, apply<ConvTransposeDataGrad>({x, of_dw}, attributes));
}
constexpr void ConvTransposeDataGrad::gradient(GradientContext& op) {
  const Tensor dy = op.input(0), weight = op.input(1), of_dx = op.output_gradient(0);
  const auto attributes = op.attributes<Attributes>();
  if (op.needs(0)) op.input_gradient(0, apply<ConvDataGrad>({of_dx, weight}, attributes));
  if (op.needs(1)) op.input_gradient(1, apply<ConvWeightsGrad>({dy, of_dx}, attributes));
}

/// Convolution, that is cross-correlation: inputs (x, weight).
struct Conv : ConvOp<Conv, WindowAttributes> {
  static constexpr std::string_view name = "Conv";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator Fusion() const { return Fusion{.has_epilogue = true}; }
  static constexpr bool takes_epilogue(const PackedAttributes& packed) {
    return unpack<WindowAttributes>(packed).planner.takes_epilogue != 0;
  }

  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &weight = op.input(1);
    const Attributes attributes = op.attributes<Attributes>();
    if (!op.require_floating_point(0) || !op.require_equal_dtypes(0, 1)) return;
    if (!detail::check_ranks(op, x.shape, weight.shape)) return;
    const std::int64_t groups = attributes.groups;
    if (groups < 1 || x.shape[1] % groups != 0 || weight.shape[0] % groups != 0)
      return op.fail(groups, " groups for ", x.shape[1], " input channels and ", weight.shape[0],
                     " output channels: a divisor of ", x.shape[1], " and ", weight.shape[0], " expected");
    if (weight.shape[1] != x.shape[1] / groups)
      return op.fail("weight ", to_text(weight.shape), " for ", to_text(x.shape), " in ", groups,
                     groups == 1 ? " group" : " groups", ": ", x.shape[1] / groups, " channels expected",
                     detail::advice_on_channels(x.shape, weight.shape[1] * groups));
    const Shape kernel = detail::kernel_of(weight.shape);
    if (!attributes.planner.validate(op) || !detail::check_windows(op, x.shape, kernel, attributes)) return;
    const kernel::Windows windows = detail::windows_of(x.shape, kernel, attributes);
    op.output({detail::windows_shape(x.shape[0], weight.shape[0], windows, kernel.rank), x.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const auto windows = detail::windows_of(op.input_spec(0).shape, detail::kernel_of(op.input_spec(1).shape), attributes);
    const auto explicit_attributes = WindowsAttributes::make(windows, attributes.groups, attributes.planner);
    if (op.needs(0)) op.input_gradient(0, apply<ConvDataGrad>({op.output_gradient(0), op.input(1)}, explicit_attributes));
    if (op.needs(1)) op.input_gradient(1, apply<ConvWeightsGrad>({op.input(0), op.output_gradient(0)}, explicit_attributes));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    return detail::convolution_work(operands, attributes.groups, attributes.planner.images_together);
  }
  template <PackedAttributes A, class X, class W, class Y>
  static void compute(X x, W w, Y y);
  template <PackedAttributes A, class Y, class Epilogue, class X, class W>
  static void compute_with(const Epilogue& epilogue, X x, W w);
  template <PackedAttributes A, class X, class W, class Y>
  static constexpr std::int64_t stack_bytes();
};

namespace detail {
/// Returns the window attributes for the options of a convolution or a transposed one.
template <class Options>
constexpr WindowAttributes window_attributes(const Options& options) {
  WindowAttributes attributes{.pad_type = options.pad_type,
                              .groups = options.groups,
                              .planner = PlannerAttributes::make(options.available_memory_proportions, options.partials_types,
                                                                 options.enable_conv_dithering.value)};
  attributes.set_lists(options);
  return attributes;
}
}  // namespace detail

namespace ops {
/// Convolves x with a kernel (cross-correlation: the kernel is not flipped). x: (N, C, spatial...) with 1 to 3 spatial axes,
/// float16, bfloat16, float32 or float64; weight: (M, C / groups, kernel...), the same dtype. Result: (N, M, spatial...) with (in
/// + padding - dilation (kernel - 1) - 1) / stride + 1 elements along each spatial axis, rounded down. Half precision is summed
/// in float32. With `partials_types` {float16}, sums of float16 are rounded after each 16 channels of an element of the kernel,
/// and those of weights' gradients after each 16 places. If the sum over channels is divided into blocks for tiles, the sums of
/// blocks have this dtype. Without the option it is the target's (Target::with_partials_type), by default {float32}; float64
/// keeps float64. On the host, sums of float32 can have Winograd's form (docs/reference/numerics.md). Gradients: of x and weight.
/// Errors: lists of a wrong length, numbers out of range, groups that do not divide the channels, a kernel larger than the padded
/// input.
///
///     y = ops::conv(x, weight, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
[[nodiscard]] constexpr Tensor conv(Tensor x, Tensor weight, const ConvOptions& options = {}) {
  return apply<Conv>({x, weight}, detail::window_attributes(options));
}
}  // namespace ops

}  // namespace tilewright
