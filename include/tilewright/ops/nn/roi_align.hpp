#pragma once
#include "tilewright/core/number.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/roi_bins.hpp"

namespace tilewright {

struct RoiAlignAttributes {
  std::int64_t out_rows = 1, out_columns = 1;
  double spatial_scale = 1;
  std::int64_t sampling_ratio = 0;
  std::int64_t images = 1, rows = 1, columns = 1;  ///< of the gradient: the input's

  constexpr kernel::RoiBins bins(std::int64_t plane_rows, std::int64_t plane_columns) const {
    return {plane_rows, plane_columns, out_rows, out_columns, spatial_scale, sampling_ratio};
  }
};

/// The gradient of RoiAlign: inputs (rois, batch index, dy), result dx. Regions of images that do not exist contribute nothing.
struct RoiAlignGrad : Op<RoiAlignGrad> {
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  static constexpr std::string_view name = "RoiAlignGrad";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {80, 1}, {80, 1}); }
  using Attributes = RoiAlignAttributes;

  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    op.output({{attributes.images, op.input(2).shape[1], attributes.rows, attributes.columns}, op.input(2).dtype});
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies RoiAlign
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const int channels = work.add_axis({.extent = operands[2].shape[1]});
    const int rois = work.add_axis({.extent = operands[2].shape[0], .kind = WorkAxisKind::reduction});
    work.follow(2, 1, channels), work.follow(3, 1, channels);
    for (int o = 0; o < 3; ++o) work.follow(o, 0, rois);
    return work;
  }
  /// Returns the rows of a plane of half precision whose sums are on the stack together.
  static constexpr std::int64_t rows_at_once(const Shape& dx) { return std::clamp<std::int64_t>(16'384 / dx[3], 1, dx[2]); }
  template <PackedAttributes, class Rois, class Index, class DY, class DX>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class Rois, class Index, class DY, class DX>
  static void compute(Rois rois, Index index, DY dy, DX dx);
};

/// The mean of each bin of each region of interest: inputs (x, rois, batch index).
struct RoiAlign : Op<RoiAlign> {
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  static constexpr std::string_view name = "RoiAlign";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {60, 1}, {60, 1}); }
  using Attributes = RoiAlignAttributes;

  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &rois = op.input(1), &index = op.input(2);
    const auto attributes = op.attributes<Attributes>();
    if (!op.require_floating_point(0)) return;
    if (x.shape.rank != 4) return op.fail(to_text(x), ": (N, C, height, width) expected");
    if (rois.shape.rank != 2 || rois.shape[1] != 4 || !is_floating_point(rois.dtype))
      return op.fail("rois ", to_text(rois), ": (regions, 4) of floating point expected");
    if (index.shape != Shape{rois.shape[0]} || (index.dtype != int32 && index.dtype != uint32))
      return op.fail("batch_index ", to_text(index), " for rois ", to_text(rois), ": (", rois.shape[0],
                     ",) int32 or uint32 expected");
    if (attributes.out_rows < 1 || attributes.out_columns < 1)
      return op.fail("output_size (", attributes.out_rows, ", ", attributes.out_columns, "): numbers of at least 1 expected");
    if (attributes.sampling_ratio < 0)
      return op.fail("sampling_ratio ", attributes.sampling_ratio, ": a number of at least 0 expected");
    if (!op.require_number("spatial_scale", attributes.spatial_scale, float64)) return;
    if (!(attributes.spatial_scale > 0))
      return op.fail("spatial_scale ", number_text(attributes.spatial_scale), ": a number above 0 expected");
    op.output({{rois.shape[0], x.shape[1], attributes.out_rows, attributes.out_columns}, x.dtype});
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return {true, "batch index", text("an index from 0 to ", operands[0].shape[0] - 1)};
  }
  static constexpr void gradient(GradientContext& op) {
    auto attributes = op.attributes<Attributes>();
    const Shape x = op.input_spec(0).shape;
    attributes.images = x[0], attributes.rows = x[2], attributes.columns = x[3];
    if (op.needs(0)) op.input_gradient(0, apply<RoiAlignGrad>({op.input(1), op.input(2), op.output_gradient(0)}, attributes));
  }
  /// Returns the work, which is divided along regions only, so that one vertex reports each wrong index.
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    work.add_axis({.extent = operands[1].shape[0]});
    for (int o = 1; o < 4; ++o) work.follow(o, 0, 0);
    return work;
  }
  template <PackedAttributes, class X, class Rois, class Index, class Y>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class... V>
  static void compute(V... views);
  template <PackedAttributes A, class... V>
  static void compute_checked(Faults faults, V... views);

 private:
  template <PackedAttributes A, class Report, class X, class Rois, class Index, class Y>
  static void align(const Report& report, X x, Rois rois, Index index, Y y);
};

constexpr void RoiAlignGrad::gradient(GradientContext& op) {
  if (op.needs(2))
    op.input_gradient(2, apply<RoiAlign>({op.output_gradient(0), op.input(0), op.input(1)}, op.attributes<Attributes>()));
}

/// Options of roi_align.
struct RoiAlignOptions {
  List<std::int64_t> output_size{1, 1};  ///< bins of a region: rows, columns
  double spatial_scale = 1;  ///< factor from the coordinates of regions to elements of x
  std::int64_t sampling_ratio = 0;  ///< points of a bin along each axis; 0: the number of its elements
};

namespace ops {
/// Pools regions of interest by ONNX's RoiAlign, average mode: each bin of a region is the mean over its points, which are
/// interpolated bilinearly. x: (N, C, height, width), floating point; rois: (regions, 4), floating point, x1, y1, x2, y2;
/// batch_index: (regions,), int32 or uint32, the image of each region. Result: (regions, C, *output_size) in x's dtype. A region
/// is at least one element high and wide. Points more than one element outside of x count as 0. If sampling_ratio is 0, a bin has
/// at most 1,024 points along an axis. Half precision is summed in float32. Gradient: of x only. An index without an image ends
/// the run with a FaultError. Errors: other shapes or dtypes, an output_size that is not two numbers of at least 1, a
/// spatial_scale of 0 or less, a negative sampling_ratio.
///
///     y = ops::roi_align(x, rois, batch_index, {.output_size = {7, 7}, .spatial_scale = 1.0 / 16, .sampling_ratio = 2});
[[nodiscard]] constexpr Tensor roi_align(Tensor x, Tensor rois, Tensor batch_index, const RoiAlignOptions& options = {}) {
  const List<std::int64_t>& size = options.output_size;
  if (size.size() != 2) return x.ir().fail(text("RoiAlign: output_size of ", size.size(), " numbers: 2 expected"));
  return apply<RoiAlign>({x, rois, batch_index}, {.out_rows = size[0],
                                                  .out_columns = size[1],
                                                  .spatial_scale = options.spatial_scale,
                                                  .sampling_ratio = options.sampling_ratio});
}
}  // namespace ops

}  // namespace tilewright
