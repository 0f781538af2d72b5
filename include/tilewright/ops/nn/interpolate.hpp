#pragma once
#include "tilewright/core/number.hpp"
#include "tilewright/operand/resize.hpp"
#include "tilewright/ops/elementwise/cast.hpp"

namespace tilewright {

/// Options of interpolate, with ONNX's names.
struct InterpolateOptions {
  ResizeMode mode = ResizeMode::nearest;  ///< how elements between those of x are computed
  NearestMode nearest_mode = NearestMode::round_prefer_floor;  ///< rule for the nearest element
  CoordinateMode coordinate_transformation_mode = CoordinateMode::half_pixel;  ///< position of an element of the result in x
};

struct ResizeAttributes {
  std::int64_t axis = 0, in = 1, out = 1;
  double scale = 1;
  InterpolateOptions options{};
  constexpr kernel::Resize resize() const {
    return {in, out, scale, options.mode, options.nearest_mode, options.coordinate_transformation_mode};
  }
};

/// Base of Resize along an axis and its gradient.
template <class D>
struct ResizeOp : Op<D> {
  // Loops, not arrays: each result has elements and weights of its own.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line}; }
  constexpr operator VertexCost() const { return line_cost(1, {12, 2}, {12, 4}); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  using Attributes = ResizeAttributes;
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    Work work;
    const auto resized = unpack<Attributes>(packed).axis;
    for (int axis = 0; axis < operands[0].shape.rank; ++axis) {
      if (axis == resized) continue;  // whole in each vertex
      const int work_axis = work.add_axis({.extent = operands[0].shape[axis]});
      for (int o = 0; o < 2; ++o) work.follow(o, axis, work_axis);
    }
    return work;
  }
};

/// The gradient of ResizeAxis: input dy, result dx.
struct ResizeAxisGrad : ResizeOp<ResizeAxisGrad> {
  static constexpr std::string_view name = "ResizeGrad";
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    TensorSpec result = op.input(0);
    result.shape[static_cast<int>(attributes.axis)] = attributes.in;
    op.output(result);
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies ResizeAxis
  template <PackedAttributes A, class DY, class DX>
  static void compute(DY dy, DX dx);
  template <PackedAttributes A, class, class DX>
  static constexpr std::int64_t stack_bytes();
};

/// A tensor resized along one axis.
struct ResizeAxis : ResizeOp<ResizeAxis> {
  static constexpr std::string_view name = "Resize";
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    TensorSpec result = op.input(0);
    result.shape[static_cast<int>(attributes.axis)] = attributes.out;
    op.output(result);
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<ResizeAxisGrad>({op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class, class Y>
  static constexpr std::int64_t stack_bytes();
};

constexpr void ResizeAxisGrad::gradient(GradientContext& op) {
  if (op.needs(0)) op.input_gradient(0, apply<ResizeAxis>({op.output_gradient(0)}, op.attributes<Attributes>()));
}

namespace ops {
/// Resizes each axis of x by its factor in `scale_factor`, as ONNX's Resize: an axis gets floor(extent scale) elements. x:
/// floating point; scale_factor: a number above 0 for each axis. The result has x's rank and dtype. Element i of the result is at
/// (i + 1/2) / scale - 1/2 (half_pixel; pytorch_half_pixel too, but 0 if there is one result), i (in - 1) / (out - 1)
/// (align_corners), i / scale (asymmetric) or (i + 1/2) / scale (tf_half_pixel_for_nn) among the elements of x. Its value is the
/// nearest element, by nearest_mode; on the line between its neighbours (linear); or on Keys' cubic with a = -0.75 through four.
/// Beyond the ends, the end's element counts. Half precision is rounded once. PyTorch's `nearest` is nearest with floor and
/// asymmetric. PyTorch's `linear` and `bicubic` are pytorch_half_pixel, or align_corners. Gradient: that of the weighted sums, in
/// all modes. Scales below 1 leave elements out, as in PyTorch without antialias. Errors: another number of scales, scales that
/// are infinite or leave no element; tf_crop_and_resize, which needs a region.
///
///     y = ops::interpolate(x, {1, 1, 2, 2}, {.mode = ResizeMode::linear});
[[nodiscard]] constexpr Tensor interpolate(Tensor x, const List<double>& scale_factor = {1, 1, 1, 1},
                                           const InterpolateOptions& options = {}) {
  if (!x.is_usable()) return x;
  const auto fail = [&](const auto&... message) { return x.ir().fail(text("interpolate: ", message...)); };
  if (!is_floating_point(x.dtype())) return fail(to_text(x.spec()), ": ", floating_point_dtypes(), " expected");
  if (static_cast<int>(scale_factor.size()) != x.rank())
    return fail("scale_factor of ", scale_factor.size(), " numbers for ", to_text(x.spec()), ": ", std::int64_t{x.rank()},
                " expected");
  for (const double scale : scale_factor)
    if (!(scale > 0 && scale * static_cast<double>(x.nelms()) < 0x1p52))
      return fail("scale_factor ", number_text(scale), ": a number above 0 expected");
  if (options.coordinate_transformation_mode == CoordinateMode::tf_crop_and_resize)
    return fail("coordinate_transformation_mode tf_crop_and_resize: another mode, without roi, expected");
  int scaled = 0;
  for (const double scale : scale_factor) scaled += scale != 1 ? 1 : 0;
  Tensor y = scaled > 1 && is_half(x.dtype()) && options.mode != ResizeMode::nearest ? cast(x, float32) : x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const double scale = scale_factor[static_cast<std::size_t>(axis)];
    if (scale == 1) continue;
    const std::int64_t in = x.shape(axis), out = static_cast<std::int64_t>(static_cast<double>(in) * scale);
    if (in > 0 && out == 0)
      return fail("scale_factor ", number_text(scale), " for axis ", std::int64_t{axis}, " of ", to_text(x.spec()),
                  ": a result of at least one element expected");
    y = apply<ResizeAxis>({y}, {axis, in, out, scale, options});
  }
  return cast(y, x.dtype());
}
}  // namespace ops

}  // namespace tilewright
