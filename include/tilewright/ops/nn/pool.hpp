#pragma once
#include <limits>

#include "tilewright/op/window.hpp"
#include "tilewright/operand/pool_windows.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/reduce/reductions.hpp"

namespace tilewright {

/// Order in which ONNX numbers the largest elements. No op returns these numbers, so only row is supported.
enum class StorageOrder : std::int64_t { row, column };

/// Options of a pooling. Lists have one number for each spatial axis. `padding` and `out_pads` have two for each: first those of
/// all beginnings, then those of all ends. An empty list means ones, or for padding zeros.
struct PoolOptions {
  List<std::int64_t> stride{};  ///< distance between neighbouring windows, in elements
  List<std::int64_t> padding{};  ///< elements at the beginnings and ends, which never win and are not counted
  List<std::int64_t> out_pads{};  ///< zeros before and after the results
  List<std::int64_t> dilation{};  ///< distance between neighbouring elements of a window
  List<std::int64_t> in_dilations{};  ///< distance between elements of x; the gaps are padding
  PadType auto_pad = PadType::not_set;  ///< if set, it determines the padding
  Flag ceil_mode = false;  ///< whether the number of windows is rounded up; the last windows may then reach beyond the padding
  StorageOrder storage_order = StorageOrder::row;  ///< must be row
};

struct PoolAttributes {
  WindowAttributes windows{};
  std::array<std::int32_t, 3> in_dilations{};
  std::array<std::int32_t, 6> out_pads{};
  std::int8_t dilations_count = 0, pads_count = 0, column = 0, reserved = 0;

  /// Returns the shape of x with gaps between its elements.
  constexpr Shape spread(Shape x) const {
    for (int axis = 2; dilations_count > 0 && axis < x.rank; ++axis)
      x[axis] = (x[axis] - 1) * in_dilations[static_cast<std::size_t>(axis - 2)] + 1;
    return x;
  }
  constexpr Shape kernel_size() const {
    Shape result;
    for (int axis = 0; axis < windows.kernel_count; ++axis) result.push_back(windows.kernel[static_cast<std::size_t>(axis)]);
    return result;
  }
  constexpr kernel::PoolGaps gaps(int axes) const {
    kernel::PoolGaps result;
    for (int axis = 0; axis < axes; ++axis) {
      const auto i = static_cast<std::size_t>(axis), at = static_cast<std::size_t>(3 - axes + axis);
      if (dilations_count > 0) result.spacing[at] = in_dilations[i];
      if (pads_count > 0) result.begin[at] = out_pads[i], result.end[at] = out_pads[i + static_cast<std::size_t>(axes)];
    }
    return result;
  }
};
/// Attributes of the gradients of pools.
struct PoolGradAttributes {
  WindowsAttributes windows{};
  std::array<std::int32_t, 9> gap_numbers{};
  std::int32_t reserved = 0;

  static constexpr PoolGradAttributes make(const kernel::Windows& windows, const kernel::PoolGaps& gaps) {
    PoolGradAttributes result{.windows = WindowsAttributes::make(windows)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      result.gap_numbers[axis] = static_cast<std::int32_t>(gaps.spacing[axis] - 1);
      result.gap_numbers[3 + axis] = static_cast<std::int32_t>(gaps.begin[axis]);
      result.gap_numbers[6 + axis] = static_cast<std::int32_t>(gaps.end[axis]);
    }
    return result;
  }
  constexpr kernel::PoolGaps gaps() const {
    kernel::PoolGaps result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      result.spacing[axis] = gap_numbers[axis] + 1;
      result.begin[axis] = gap_numbers[3 + axis];
      result.end[axis] = gap_numbers[6 + axis];
    }
    return result;
  }
  /// Returns attributes of the pool with these windows on tensors with the given number of spatial axes.
  constexpr PoolAttributes forward(int axes) const {
    PoolAttributes result;
    const kernel::Windows all = windows.windows();
    const auto count = static_cast<std::int8_t>(axes), twice = static_cast<std::int8_t>(2 * axes);
    result.windows.kernel_count = result.windows.stride_count = result.windows.dilation_count = result.dilations_count = count;
    result.windows.padding_count = result.pads_count = twice;
    for (int axis = 0; axis < axes; ++axis) {
      const int at = 3 - axes + axis;
      const kernel::Window& window = all[at];
      const auto i = static_cast<std::size_t>(axis), end = i + static_cast<std::size_t>(axes);
      const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
      result.windows.kernel[i] = number(window.kernel), result.windows.stride[i] = number(window.stride);
      result.windows.dilation[i] = number(window.dilation), result.windows.padding[i] = number(window.begin);
      result.windows.padding[end] = number(
          (std::max)(window.at(window.out - 1, window.kernel - 1) + 1 - window.in, std::int64_t{0}));
      result.in_dilations[i] = number(gaps().spacing[at]);
      result.out_pads[i] = number(gaps().begin[at]), result.out_pads[end] = number(gaps().end[at]);
    }
    return result;
  }
  /// Returns the dtype of an input's gradient: if windows overlap, parts of half precision are added in float32.
  constexpr DType result_dtype(DType input) const {
    const kernel::Windows all = windows.windows();
    for (const kernel::Window& axis : all.axes)
      if ((axis.kernel - 1) * axis.dilation >= axis.stride) return computed_dtype(input);
    return input;
  }
};

/// Base of poolings and their gradients: tensors (N, C, spatial...), each plane separately.
template <class D>
struct PoolOp : Op<D> {
  // Loops, not arrays: windows overlap, and go beyond the plane.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator VertexCost() const { return loop_cost(CostFormula::window, {3, 2}, {3, 4}, Confidence::published); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    for (int axis = 0; axis < 2; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis]});
      for (std::size_t o = 0; o < operands.size(); ++o) work.follow(static_cast<int>(o), axis, axis);
    }
    return work;
  }
};

/// Base of poolings: D defines `name`, `pool<Kernel>(x, y)` for a plane, `pool_rows<Kernel>(x, y, first, last)` for the rows
/// [first, last) of its result, and `pool_stack_bytes<Kernel>`.
template <class D>
struct PoolForward : PoolOp<D> {
  using Attributes = PoolAttributes;

  static constexpr void infer(Inference& op) {
    const Attributes attributes = op.template attributes<Attributes>();
    const Shape& x = op.input(0).shape;
    if (!op.require_floating_point(0)) return;
    if (x.rank < 3 || x.rank > 5) return op.fail(to_text(op.input(0)), ": (N, C, spatial) with 1 to 3 spatial axes expected");
    const int axes = x.rank - 2;
    if (attributes.windows.kernel_count != axes)
      return op.fail("kernel_size of ", std::int64_t{attributes.windows.kernel_count}, " numbers for ", to_text(x), ": ",
                     std::int64_t{axes}, " expected");
    const Shape kernel = attributes.kernel_size();
    for (int axis = 0; axis < axes; ++axis)
      if (kernel[axis] < 1 || kernel[axis] > WindowAttributes::most)
        return op.fail("kernel_size ", to_text(kernel), ": numbers from 1 to ", std::int64_t{WindowAttributes::most},
                       " expected");
    if (attributes.column != 0) return op.fail("storage_order column: row expected");
    if (!detail::check_list(op, x, "in_dilations", attributes.in_dilations, attributes.dilations_count, axes, 1) ||
        !detail::check_list(op, x, "out_pads", attributes.out_pads, attributes.pads_count, 2 * axes, 0) ||
        !detail::check_windows(op, attributes.spread(x), kernel, attributes.windows))
      return;
    const kernel::Windows windows = detail::windows_of(attributes.spread(x), kernel, attributes.windows);
    const kernel::PoolGaps gaps = attributes.gaps(axes);
    for (int axis = 0; axis < 3; ++axis)
      for (std::int64_t o = 0; o < windows[axis].out; ++o) {
        const kernel::Window& window = windows[axis];
        std::int64_t k = 0;
        while (k < window.kernel && !gaps.contains(window, axis, window.at(o, k))) ++k;
        if (k == window.kernel)
          return op.fail("kernel_size ", to_text(kernel), " on ", to_text(x),
                         ": padding that leaves each window an element expected");
      }
    Shape result = detail::windows_shape(x[0], x[1], windows, axes);
    for (int axis = 0; axis < axes; ++axis) result[2 + axis] += gaps.begin[3 - axes + axis] + gaps.end[3 - axes + axis];
    op.output({result, op.input(0).dtype});
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class X, class Y>
  static void compute_rows(const typename X::element* x, typename Y::element* y, std::int64_t first, std::int64_t count);
  template <PackedAttributes A, class X, class Y>
  static constexpr std::int64_t stack_bytes();

 protected:
  static constexpr PoolGradAttributes grad_attributes(const GradientContext& op) {
    const Attributes attributes = op.template attributes<Attributes>();
    const Shape x = op.input_spec(0).shape;
    return PoolGradAttributes::make(detail::windows_of(attributes.spread(x), attributes.kernel_size(), attributes.windows),
                                    attributes.gaps(x.rank - 2));
  }
};

/// The gradient of MaxPool: inputs (x, dy). It searches for the largest elements again.
struct MaxPoolGrad : PoolOp<MaxPoolGrad> {
  static constexpr std::string_view name = "MaxPoolGrad";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::window, {5, 2}, {5, 4}, Confidence::published); }
  using Attributes = PoolGradAttributes;
  constexpr operator Fusion() const { return Fusion{.has_epilogue = true}; }
  static constexpr bool takes_epilogue(const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    return attributes.gaps().none() && kernel::is_in_pairs(attributes.windows.windows());
  }
  static constexpr void infer(Inference& op) {
    op.output({op.input(0).shape, op.attributes<Attributes>().result_dtype(op.input(0).dtype)});
  }

  static constexpr void gradient(GradientContext& op);
  template <PackedAttributes A, class X, class DY, class DX>
  static void compute(X x, DY dy, DX dx);
  template <PackedAttributes A, class X, class DY, class DX>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class DX, class Epilogue, class X, class DY>
  static void compute_with(const Epilogue& epilogue, X x, DY dy);
};

/// The largest element of each window.
struct MaxPool : PoolForward<MaxPool> {
  static constexpr std::string_view name = "MaxPool";
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class X, class Y>
  static constexpr std::int64_t stack_bytes();
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype;
    op.input_gradient(0, apply<MaxPoolGrad>({op.input(0), op.output_gradient(0)}, grad_attributes(op)).cast(dtype));
  }
  template <class Kernel, class T>
  static void pool(const T* x, T* y) {
    Kernel::maximum(x, y);
  }
  template <class Kernel, class T>
  static void pool_rows(const T* x, T* y, std::int64_t first, std::int64_t last) {
    Kernel::maximum_rows(x, y, first, last);
  }
  template <class Kernel>
  static constexpr std::int64_t pool_stack_bytes = Kernel::maximum_stack_bytes;
};

/// The gradient of AveragePool: input dy.
struct AveragePoolGrad : PoolOp<AveragePoolGrad> {
  static constexpr std::string_view name = "AveragePoolGrad";
  using Attributes = PoolGradAttributes;
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const kernel::Windows windows = attributes.windows.windows();
    const kernel::PoolGaps gaps = attributes.gaps();
    Shape result{op.input(0).shape[0], op.input(0).shape[1]};
    for (int axis = 5 - op.input(0).shape.rank; axis < 3; ++axis)
      result.push_back((windows[axis].in - 1) / gaps.spacing[axis] + 1);
    op.output({result, attributes.result_dtype(op.input(0).dtype)});
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies AveragePool
  template <PackedAttributes A, class DY, class DX>
  static void compute(DY dy, DX dx);
  template <PackedAttributes A, class DY, class DX>
  static constexpr std::int64_t stack_bytes();
};

/// The mean of the elements of each window; padding does not count.
struct AveragePool : PoolForward<AveragePool> {
  static constexpr std::string_view name = "AveragePool";
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype;
    op.input_gradient(0, apply<AveragePoolGrad>({op.output_gradient(0)}, grad_attributes(op)).cast(dtype));
  }
  template <class Kernel, class T>
  static void pool(const T* x, T* y) {
    Kernel::average(x, y);
  }
  template <class Kernel, class T>
  static void pool_rows(const T* x, T* y, std::int64_t first, std::int64_t last) {
    Kernel::average_rows(x, y, first, last);
  }
  template <class Kernel>
  static constexpr std::int64_t pool_stack_bytes = Kernel::average_stack_bytes;
};

constexpr void AveragePoolGrad::gradient(GradientContext& op) {
  if (!op.needs(0)) return;
  const TensorSpec dy = op.input_spec(0);
  const auto attributes = op.attributes<Attributes>().forward(dy.shape.rank - 2);
  op.input_gradient(0, apply<AveragePool>({op.output_gradient(0)}, attributes).cast(dy.dtype));
}

namespace detail {
/// Returns, for each result of a pool and each place of a window, the number of the element in its plane of shape x, in row-major
/// order; -1 for padding: (results, places).
constexpr Tensor window_elements(Ir& ir, const Shape& x, const PoolGradAttributes& attributes) {
  const kernel::Windows windows = attributes.windows.windows();
  const kernel::PoolGaps gaps = attributes.gaps();
  Shape results, places, plane{1, 1, 1};
  for (int axis = 0; axis < 3; ++axis) {
    results.push_back(gaps.begin[axis] + windows[axis].out + gaps.end[axis]);
    places.push_back(windows[axis].kernel);
    if (axis >= 5 - x.rank) plane[axis] = x[axis + x.rank - 3];
  }
  const auto digits = [](std::int64_t number, const Shape& extents) {
    Shape result = extents;
    for (int axis = 2; axis >= 0; --axis) result[axis] = number % extents[axis], number /= extents[axis];
    return result;
  };
  List<double> numbers;
  for (std::int64_t r = 0; r < results.nelms(); ++r)
    for (std::int64_t p = 0; p < places.nelms(); ++p) {
      const Shape result = digits(r, results), place = digits(p, places);
      std::int64_t element = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t o = result[axis] - gaps.begin[axis], at = windows[axis].at(o, place[axis]);
        const bool is_inside = o >= 0 && o < windows[axis].out && gaps.contains(windows[axis], axis, at);
        element = is_inside && element >= 0 ? element * plane[axis] + at / gaps.spacing[axis] : -1;
      }
      numbers.push_back(static_cast<double>(element));
    }
  return ir.constant(numbers, {results.nelms(), places.nelms()}, int32);
}
}  // namespace detail

/// dy gets the gradient's element at the place of each window's largest element. x only selects, so its derivative is 0.
constexpr void MaxPoolGrad::gradient(GradientContext& op) {
  if (!op.needs(1)) return;
  const Shape shape = op.input_spec(0).shape;
  const TensorSpec dy = op.input_spec(1);
  const Tensor gradient = op.output_gradient(0), elements = detail::window_elements(op.ir(), shape, op.attributes<Attributes>());
  const auto in_windows = [&](Tensor t) {
    return ops::gather(ops::reshape(t, {shape[0], shape[1], -1}), elements, 2, {.zero_OOR = true});
  };
  const Tensor no_element = ops::less(elements, 0), x = in_windows(op.input(0).cast(gradient.dtype()));
  const Tensor candidates = ops::where(no_element, -std::numeric_limits<double>::infinity(), x);
  const Tensor largest = (ops::max)(candidates, -1, true),
               one = op.ir().constant(List<double>{1}, largest.shape(), largest.dtype());
  const Tensor is_selected = apply<SelectionGrad<ReduceMax>>({candidates, largest, one}, ReduceMax::make(-1, false));
  op.input_gradient(1, ops::reshape(ops::sum(is_selected * in_windows(gradient), -1), dy.shape).cast(dy.dtype));
}

namespace detail {
constexpr PoolAttributes pool_attributes(const List<std::int64_t>& kernel_size, const PoolOptions& options) {
  PoolAttributes attributes{.windows = {.pad_type = options.auto_pad, .ceil_mode = options.ceil_mode},
                            .column = options.storage_order == StorageOrder::column};
  WindowAttributes& windows = attributes.windows;
  WindowAttributes::set(windows.kernel, windows.kernel_count, kernel_size);
  windows.set_lists(options);
  WindowAttributes::set(attributes.in_dilations, attributes.dilations_count, options.in_dilations);
  WindowAttributes::set(attributes.out_pads, attributes.pads_count, options.out_pads);
  return attributes;
}
}  // namespace detail

namespace ops {
/// Returns the largest element of each window, and NaN if it contains one. x: (N, C, spatial...) with 1 to 3 spatial axes,
/// float16, bfloat16, float32 or float64. Result: (N, C, spatial...) with the number of windows along each spatial axis, as in
/// conv, plus out_pads, which are zeros. Padding never wins; in_dilations spread x, with padding between its elements.
/// storage_order must be row. The gradient goes to the first of equal elements, and in a window with NaN to the last NaN, as in
/// PyTorch. Errors: lists of a wrong length, numbers out of range, a kernel larger than the padded input, windows that contain
/// padding only.
///
///     y = ops::max_pool(x, {2, 2}, {.stride = {2, 2}});
[[nodiscard]] constexpr Tensor max_pool(Tensor x, const List<std::int64_t>& kernel_size, const PoolOptions& options = {}) {
  return apply<MaxPool>({x}, detail::pool_attributes(kernel_size, options));
}
/// Returns the mean of each window's elements; padding does not count. Shapes, dtypes, options and errors are those of max_pool.
/// Half precision is summed in float32. The gradient is summed in float32 too where windows overlap.
[[nodiscard]] constexpr Tensor average_pool(Tensor x, const List<std::int64_t>& kernel_size, const PoolOptions& options = {}) {
  return apply<AveragePool>({x}, detail::pool_attributes(kernel_size, options));
}
}  // namespace ops

}  // namespace tilewright
