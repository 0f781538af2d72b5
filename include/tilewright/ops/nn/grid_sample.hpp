#pragma once
#include "tilewright/operand/grid_points.hpp"
#include "tilewright/ops/elementwise/cast.hpp"

namespace tilewright {

/// Options of grid_sample, with PyTorch's names.
struct GridSampleOptions {
  GridSampleMode mode = GridSampleMode::bilinear;  ///< how a value between elements is computed
  GridPaddingMode padding_mode = GridPaddingMode::zeros;  ///< values beyond the ends of x
  Flag align_corners = false;  ///< whether -1 and 1 are the middles of the end's elements, not their outer ends
};

struct GridSampleAttributes {
  GridSampleMode mode{};
  GridPaddingMode padding_mode{};
  std::int64_t align_corners = 0;
  std::int64_t rows = 1, columns = 1;  ///< of x

  constexpr kernel::GridAxis axis(std::int64_t extent) const { return {extent, mode, padding_mode, align_corners != 0}; }
};

/// Base of GridSample and its gradients.
template <class D>
struct GridSampleOp : Op<D> {
  // Loops, not arrays: each point has elements and weights of its own.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  using Attributes = GridSampleAttributes;
};

/// The gradient of x in GridSample: inputs (grid, dy), result dx.
struct GridSampleGrad : GridSampleOp<GridSampleGrad> {
  static constexpr std::string_view name = "GridSampleGrad";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {80, 1}, {80, 1}); }
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const TensorSpec& dy = op.input(1);
    op.output({{dy.shape[0], dy.shape[1], attributes.rows, attributes.columns}, dy.dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const int images = work.add_axis({.extent = operands[1].shape[0]});
    const int channels = work.add_axis({.extent = operands[1].shape[1]});
    for (const int o : {0, 1, 2}) work.follow(o, 0, images);
    for (const int o : {1, 2}) work.follow(o, 1, channels);
    return work;
  }
  template <PackedAttributes A, class Grid, class DY, class DX>
  static void compute(Grid grid, DY dy, DX dx);
};

/// The gradient of the grid in GridSample: inputs (x, grid, dy), result of the grid's shape.
struct GridSampleGridGrad : GridSampleOp<GridSampleGridGrad> {
  static constexpr std::string_view name = "GridSampleGridGrad";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {80, 1}, {80, 1}); }
  static constexpr void infer(Inference& op) { op.output(op.input(1)); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const int images = work.add_axis({.extent = operands[1].shape[0]}), rows = work.add_axis({.extent = operands[1].shape[1]});
    for (const int o : {0, 1, 2, 3}) work.follow(o, 0, images);
    work.follow(1, 1, rows), work.follow(2, 2, rows), work.follow(3, 1, rows);
    return work;
  }
  template <PackedAttributes A, class X, class Grid, class DY, class DGrid>
  static void compute(X x, Grid grid, DY dy, DGrid dgrid);
};

/// Values of images at the points of a grid: inputs (x, grid).
struct GridSample : GridSampleOp<GridSample> {
  static constexpr std::string_view name = "GridSample";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {60, 1}, {60, 1}); }
  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &grid = op.input(1);
    if (!op.require_floating_point(0) || !op.require_equal_dtypes(0, 1)) return;
    if (x.shape.rank != 4 || x.shape[2] < 1 || x.shape[3] < 1)
      return op.fail(to_text(x), ": (N, C, height, width) of at least one row and column expected");
    if (grid.shape.rank != 4 || grid.shape[0] != x.shape[0] || grid.shape[3] != 2)
      return op.fail("grid ", to_text(grid), " for ", to_text(x), ": (", x.shape[0], ", height, width, 2) expected");
    op.output({{x.shape[0], x.shape[1], grid.shape[1], grid.shape[2]}, x.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    const auto attributes = op.attributes<Attributes>();
    const DType dtype = op.input_spec(0).dtype, sums = is_half(dtype) ? float32 : dtype;
    const Tensor dy = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, apply<GridSampleGrad>({op.input(1).cast(sums), dy.cast(sums)}, attributes).cast(dtype));
    if (op.needs(1)) op.input_gradient(1, apply<GridSampleGridGrad>({op.input(0), op.input(1), dy}, attributes));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const int images = work.add_axis({.extent = operands[0].shape[0]}),
              channels = work.add_axis({.extent = operands[0].shape[1]}), rows = work.add_axis({.extent = operands[1].shape[1]});
    for (const int o : {0, 1, 2}) work.follow(o, 0, images);
    work.follow(0, 1, channels), work.follow(2, 1, channels);
    work.follow(1, 1, rows), work.follow(2, 2, rows);
    return work;
  }
  template <PackedAttributes A, class X, class Grid, class Y>
  static void compute(X x, Grid grid, Y y);
};

namespace ops {
/// Samples images at the points of a grid, as PyTorch's grid_sample. x: (N, C, height, width), floating point; grid: (N, rows,
/// columns, 2) of x's dtype, the x and y of each point, from -1 to 1. Result: (N, C, rows, columns) in x's dtype. A point between
/// elements is on the plane through its four neighbours (bilinear), or the nearest of them, at halves the even one (nearest).
/// Beyond the ends are zeros, the end's elements (border), or the elements mirrored (reflection): at the middles of the end's
/// elements with `align_corners`, otherwise at their outer ends. NaN in the grid counts as -1. Half precision is summed in
/// float32. Gradients: of x and of the grid, which is 0 for nearest, and where a point is moved to an end. Errors: other shapes
/// or dtypes.
///
///     y = ops::grid_sample(x, grid, {.padding_mode = GridPaddingMode::border, .align_corners = true});
[[nodiscard]] constexpr Tensor grid_sample(Tensor x, Tensor grid, const GridSampleOptions& options = {}) {
  const auto extent = [&](int axis) { return x.is_usable() && x.rank() == 4 ? x.shape(axis) : 1; };
  return apply<GridSample>({x, grid}, {options.mode, options.padding_mode, options.align_corners ? 1 : 0, extent(2), extent(3)});
}
}  // namespace ops

}  // namespace tilewright
