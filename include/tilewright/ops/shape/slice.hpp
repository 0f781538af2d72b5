#pragma once
#include <algorithm>
#include <limits>
#include <optional>

#include "tilewright/ops/shape/slice_and_concat.hpp"
#include "tilewright/program/positions.hpp"

namespace tilewright {

/// The diagonal of a matrix: a view.
struct Diagonal : Op<Diagonal> {
  static constexpr std::string_view name = "Diagonal";
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr void infer(Inference& op) {
    const TensorSpec& in = op.input(0);
    if (in.shape.rank != 2) return op.fail(to_text(in), ": a matrix or a vector expected");
    op.output({{(std::min)(in.shape[0], in.shape[1])}, in.dtype});
  }
  static constexpr void gradient(GradientContext& op);
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape&, const PackedAttributes&) {
    return {layout.offset, {layout.strides[0] + layout.strides[1]}};
  }
};
/// The diagonal of a matrix, as an alias of it: in-place ops change the matrix.
struct DiagonalInplace : Op<DiagonalInplace> {
  static constexpr std::string_view name = "DiagonalInplace";
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  static constexpr void infer(Inference& op) { Diagonal::infer(op); }
  static constexpr void gradient(GradientContext& op) { Diagonal::gradient(op); }
  static constexpr Layout view(const Shape& input, const Layout& layout, const Shape& output, const PackedAttributes& packed) {
    return Diagonal::view(input, layout, output, packed);
  }
};
/// A matrix of zeros with a vector on its diagonal.
struct DiagonalMatrix : Op<DiagonalMatrix> {
  static constexpr std::string_view name = "DiagonalMatrix";
  struct Attributes {
    std::int64_t rows = 0, columns = 0;
  };
  static constexpr void infer(Inference& op) {
    const auto [rows, columns] = op.attributes<Attributes>();
    op.output({{rows, columns}, op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, apply<Diagonal>({op.output_gradient(0)})); }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    detail::AssembledResult result(operands[1], input_count, true);
    result.copy<DiagonalInplace>(0, {}, operands[0]);
    return result.parts();
  }
};
constexpr void Diagonal::gradient(GradientContext& op) {
  if (!op.needs(0)) return;
  const Shape in = op.input_spec(0).shape;
  op.input_gradient(0, apply<DiagonalMatrix>({op.output_gradient(0)}, {in[0], in[1]}));
}

namespace detail {
/// Returns a range in Python's notation: [1:7:2].
constexpr Text to_text(const Position& start, const Position& stop, const Position& step) {
  Text result = "[";
  if (start.given) result += start.value;
  result += ":";
  if (stop.given) result += stop.value;
  if (step.given) result += text(":", step.value);
  result += "]";
  return result;
}
/// Selects the elements from `start` to before `stop`, by NumPy's rules. Fails if there are none.
constexpr bool take_range(SliceAttributes& slice, Tensor x, int axis, Position start, Position stop, Position step) {
  const std::int64_t extent = x.shape(axis), by = step.given ? step.value : 1;
  const auto fail = [&](std::string_view expected) {
    x.ir().fail(text("Slice: ", tilewright::to_text(x.spec()), ", ", to_text(start, stop, step), " along axis ", axis, ": ",
                     expected, " expected"));
    return false;
  };
  if (by == 0) return fail("a step that is not 0");
  // from the first element counted, limited to the places before the first and after the last
  const auto place = [&](const Position& given, std::int64_t otherwise) {
    if (!given.given) return otherwise;
    const std::int64_t value = given.value < 0 ? given.value + extent : given.value;
    const std::int64_t lowest = by > 0 ? 0 : -1, highest = by > 0 ? extent : extent - 1;
    return std::clamp(value, lowest, highest);
  };
  const std::int64_t first = place(start, by > 0 ? 0 : extent - 1), end = place(stop, by > 0 ? extent : -1);
  const std::int64_t span = by > 0 ? end - first : first - end;
  if (span <= 0) return fail("at least one element");
  const std::int64_t size = by > 0 ? by : by == (std::numeric_limits<std::int64_t>::min)() ? span : -by;
  const std::int64_t count = 1 + (span - 1) / size;
  slice.take(axis, first, count == 1 ? 1 : by, count);
  return true;
}
/// Returns the attributes of ops::slice; nothing after a failure.
constexpr std::optional<SliceAttributes> slice_attributes(Tensor x, const Positions& start, const Positions& stop,
                                                          const Positions& step, const Axes& axes) {
  const auto fail = [&](const auto&... pieces) {
    x.ir().fail(text("Slice: ", tilewright::to_text(x.spec()), pieces..., " expected"));
    return std::nullopt;
  };
  std::size_t count = 0;
  for (const auto* positions : {&start, &stop, &step})
    if (positions->given) count = (std::max)(count, positions->list.size());
  for (const auto* positions : {&start, &stop, &step})
    if (positions->given && positions->list.size() != count)
      return fail(", with ", positions->list.size(), " and with ", count, " positions: lists of one length");
  if (!axes.all && axes.list.size() != count)
    return fail(", with ", count, " positions along ", axes.list.size(), " axes: equal numbers of positions and axes");
  if (count > static_cast<std::size_t>(x.rank()))
    return fail(", with ", count, " positions: at most one for each of its ", x.rank(), " axes");
  auto slice = SliceAttributes::of_all(x.shape());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t axis = axes.all ? static_cast<std::int64_t>(i) : axes.list[i];
    if (axis < -x.rank() || axis >= x.rank())
      return fail(" along axis ", axis, ": an axis from ", -x.rank(), " to ", x.rank() - 1);
    if (axis < 0) axis += x.rank();
    if (seen >> axis & 1) return fail(" along axis ", axis, " twice: distinct axes");
    seen |= std::uint64_t{1} << axis;
    const auto at = [i](const Positions& positions) { return positions.given ? positions.list[i] : Position(); };
    if (!take_range(slice, x, static_cast<int>(axis), at(start), at(stop), at(step))) return std::nullopt;
  }
  return slice;
}
}  // namespace detail

namespace ops {
/// Selects elements of x from `start` to before `stop`, every `step`-th. Arguments are numbers for axis 0, or lists of equal
/// lengths for the first axes or those of `axes`. Bounds follow NumPy: negative ones count from the end, those outside are
/// clamped, and `tw::none` or a missing one means the beginning or the end, in the direction of the step. The step is any number
/// except 0; a negative one goes backwards. Without arguments, returns x itself.
///
/// x: any dtype. The result has x's dtype and rank. It is a view, and is not copied if its reader supports strides, as most ops
/// do. It is a value: later changes of x do not change it. Gradient: dy at the selected elements, 0 elsewhere. Disjoint slices of
/// one tensor along one axis share one gradient, the concatenation of theirs. Errors: no element is left; a step of 0; an axis
/// out of range or twice; lists of different lengths.
///
///     const Tensor middle = ops::slice(x, 1, -1);                         // x[1:-1]
///     const Tensor corner = ops::slice(x, {0, tw::none}, {2, 3}, {1, -1}); // x[0:2, :3:-1]
[[nodiscard]] constexpr Tensor slice(Tensor x, const Positions& start = {}, const Positions& stop = {},
                                     const Positions& step = {}, const Axes& axes = {}) {
  if (!x.is_usable() || !(start.given || stop.given || step.given)) return x;
  const auto attributes = detail::slice_attributes(x, start, stop, step, axes);
  return attributes ? apply<Slice>({x}, *attributes) : Tensor::invalid(x.ir());
}
/// Returns an alias of a part of x: an in-place change of the alias changes that part of x, and the reverse. Arguments and errors
/// are those of slice.
constexpr Tensor slice_(Tensor x, const Positions& start = {}, const Positions& stop = {}, const Positions& step = {},
                        const Axes& axes = {}) {
  if (!x.is_usable() || !(start.given || stop.given || step.given)) return x;
  const auto attributes = detail::slice_attributes(x, start, stop, step, axes);
  return attributes ? apply<SliceInplace>({x}, *attributes) : Tensor::invalid(x.ir());
}
/// Reverses x along axes, by default along all: a view, of any dtype. Gradient: dy reversed.
[[nodiscard]] constexpr Tensor flip(Tensor x, const Axes& axes = {}) {
  Positions steps;
  const std::size_t count = !x.is_usable() ? 0 : axes.all ? static_cast<std::size_t>(x.rank()) : axes.list.size();
  for (std::size_t i = 0; i < count; ++i) steps.add(-1);
  return slice(x, {}, {}, steps, axes);
}
/// Selects every strides[i]-th element along axis i, from the first on. A number is for axis 0; further axes have stride 1. x:
/// any dtype. The result is a view of x's dtype with extents ceil(extent / stride). Gradient: dy at the selected elements, 0
/// elsewhere. Errors: more strides than axes; one below 1.
[[nodiscard]] constexpr Tensor subsample(Tensor x, const Shape& strides) {
  if (!x.is_usable()) return x;
  if (strides.rank > x.rank()) {
    return x.ir().fail(
        text("Subsample: ", to_text(x.spec()), " by ", to_text(strides), ": at most a stride for each axis expected"));
  }
  auto attributes = SliceAttributes::of_all(x.shape());
  for (int axis = 0; axis < strides.rank; ++axis) {
    if (strides[axis] < 1)
      return x.ir().fail(text("Subsample: ", to_text(x.spec()), " by ", to_text(strides), ": strides above 0 expected"));
    const std::int64_t extent = 1 + (x.shape(axis) - 1) / strides[axis];
    attributes.take(axis, 0, extent == 1 ? 1 : strides[axis], extent);
  }
  return apply<Slice>({x}, attributes);
}
[[nodiscard]] constexpr Tensor subsample(Tensor x, int stride) { return subsample(x, Shape{stride}); }
/// Removes axes of extent 1: all of them, or the given ones. x: any dtype; the result is a view. Gradient: dy in x's shape.
/// Errors: an axis out of range, twice, or of another extent.
[[nodiscard]] constexpr Tensor squeeze(Tensor x, const Axes& axes = {}) {
  if (!x.is_usable()) return x;
  auto attributes = SliceAttributes::of_all(x.shape());
  for (int axis = 0; axes.all && axis < x.rank(); ++axis)
    if (x.shape(axis) == 1) attributes.dropped |= std::int64_t{1} << axis;
  for (std::int64_t given : axes.list) {
    const std::int64_t axis = given < 0 ? given + x.rank() : given;
    const auto fail = [&](const auto&... expected) {
      return x.ir().fail(text("Squeeze: ", to_text(x.spec()), " without axis ", given, expected..., " expected"));
    };
    if (axis < 0 || axis >= x.rank()) return fail(": an axis from ", -x.rank(), " to ", x.rank() - 1);
    if (attributes.drops(static_cast<int>(axis))) return fail(", which is given twice: distinct axes");
    if (x.shape(static_cast<int>(axis)) != 1)
      return fail(", whose extent is ", x.shape(static_cast<int>(axis)), ": an extent of 1");
    attributes.dropped |= std::int64_t{1} << axis;
  }
  return apply<Squeeze>({x}, attributes);
}
/// Returns the diagonal of a matrix, as a view, or the square matrix with a vector on its diagonal and zeros elsewhere. x: any
/// dtype, one or two axes. Each is the gradient of the other. Errors: another rank.
[[nodiscard]] constexpr Tensor diag(Tensor x) {
  if (x.valid() && x.rank() == 1) return apply<DiagonalMatrix>({x}, {x.shape(0), x.shape(0)});
  return apply<Diagonal>({x});
}
}  // namespace ops

constexpr Tensor Tensor::squeeze() const { return ops::squeeze(*this); }
constexpr Tensor Tensor::squeeze(const Axes& axes) const { return ops::squeeze(*this, axes); }
constexpr Tensor Tensor::diag() const { return ops::diag(*this); }

}  // namespace tilewright
