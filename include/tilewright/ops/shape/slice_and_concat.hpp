#pragma once
// Slices and concatenations as ops: the gradient of each takes the other.
#include <span>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/shape/init.hpp"

namespace tilewright {

/// Elements of a slice along each axis of its input.
struct SliceAttributes {
  std::array<std::int64_t, max_rank> starts{}, steps{}, extents{};
  std::int64_t dropped = 0;  ///< bits for the axes of extent 1 that the result drops

  constexpr bool drops(int axis) const { return (dropped >> axis & 1) != 0; }
  /// Selects all elements along an axis.
  constexpr void take_all(int axis, std::int64_t extent) { take(axis, 0, 1, extent); }
  constexpr void take(int axis, std::int64_t start, std::int64_t step, std::int64_t extent) {
    const auto i = static_cast<std::size_t>(axis);
    starts[i] = start, steps[i] = step, extents[i] = extent;
  }
  constexpr std::int64_t start(int axis) const { return starts[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t step(int axis) const { return steps[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t extent(int axis) const { return extents[static_cast<std::size_t>(axis)]; }
  constexpr Shape result_shape(int rank, bool keeps_all = false) const {
    Shape result;
    for (int axis = 0; axis < rank; ++axis)
      if (keeps_all || !drops(axis)) result.push_back(extent(axis));
    return result;
  }
  static constexpr SliceAttributes of_all(const Shape& shape) {
    SliceAttributes result;
    for (int axis = 0; axis < shape.rank; ++axis) result.take_all(axis, shape[axis]);
    return result;
  }
};

/// Base of slices: views of elements at equal steps along each axis, forwards or backwards.
template <class D>
struct SliceOp : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  using Attributes = SliceAttributes;

  static constexpr void infer(Inference& op) {
    const auto slice = op.attributes<Attributes>();
    const TensorSpec& in = op.input(0);
    for (int axis = 0; axis < in.shape.rank; ++axis) {
      const std::int64_t first = slice.start(axis), extent = slice.extent(axis), last = first + (extent - 1) * slice.step(axis);
      if (extent < 1 || first < 0 || first >= in.shape[axis] || last < 0 || last >= in.shape[axis])
        return op.fail(to_text(in), ", elements ", first, " to ", last, " along axis ", axis, ": elements from 0 to ",
                       in.shape[axis] - 1, " expected");
      if (slice.drops(axis) && extent != 1)
        return op.fail(to_text(in), " without axis ", axis, " of extent ", extent, ": an extent of 1 expected");
    }
    op.output({slice.result_shape(in.shape.rank), in.dtype});
  }
  static constexpr Layout view(const Shape& input, const Layout& layout, const Shape&, const PackedAttributes& packed) {
    const auto slice = unpack<Attributes>(packed);
    Layout result{layout.offset, {}};
    std::size_t kept = 0;
    for (int axis = 0; axis < input.rank; ++axis) {
      const std::int64_t stride = layout.strides[static_cast<std::size_t>(axis)];
      result.offset += slice.start(axis) * stride;
      if (!slice.drops(axis)) result.strides[kept++] = slice.step(axis) * stride;
    }
    return result;
  }
};

namespace detail {
constexpr Tensor join_slices(Ir& ir, const TensorSpec& whole, Span<const GradientPart> parts);
}  // namespace detail

/// Elements at equal steps: a view.
struct Slice : SliceOp<Slice> {
  static constexpr std::string_view name = "Slice";
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient_part(0, {op.output_gradient(0), op.node().attributes}, &detail::join_slices);
  }
};
/// Elements at equal steps, as an alias of the tensor: in-place ops change it.
struct SliceInplace : SliceOp<SliceInplace> {
  static constexpr std::string_view name = "SliceInplace";
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  static constexpr void gradient(GradientContext& op) { Slice::gradient(op); }
};
/// A view of a tensor's elements without axes of extent 1.
struct Squeeze : SliceOp<Squeeze> {
  static constexpr std::string_view name = "Squeeze";
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, ops::reshape(op.output_gradient(0), op.input_spec(0).shape));
  }
};
/// The gradient of a slice: dy at the selected elements, 0 elsewhere.
struct SliceGrad : Op<SliceGrad> {
  static constexpr std::string_view name = "SliceGrad";
  struct Attributes {
    SliceAttributes slice{};
    detail::AxisList whole{};
  };
  static constexpr void infer(Inference& op) { op.output({op.attributes<Attributes>().whole.shape(), op.input(0).dtype}); }
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient(0, apply<Slice>({op.output_gradient(0)}, op.attributes<Attributes>().slice));
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    detail::AssembledResult result(operands[1], input_count, operands[0].nelms() < operands[1].nelms());
    result.copy<SliceInplace>(0, unpack<Attributes>(packed).slice, operands[0]);
    return result.parts();
  }
};

/// Base of Concat and ConcatInplace: the inputs one after the other along an axis.
template <class D>
struct ConcatOp : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  struct Attributes {
    std::int64_t axis = 0;
    std::int64_t last_first = 0;  ///< 1: the last input is copied first, because it is computed first
  };
  static constexpr int axis_of(const Attributes& attributes, int rank) {
    return static_cast<int>(attributes.axis < 0 ? attributes.axis + rank : attributes.axis);
  }
  static constexpr void infer(Inference& op) {
    const TensorSpec& first = op.input(0);
    const int axis = op.require_axis(op.template attributes<Attributes>().axis, first.shape.rank);
    if (axis < 0) return;
    Shape result = first.shape;
    for (int i = 1; i < op.input_count(); ++i) {
      if (!op.require_equal_dtypes(0, i)) return;
      const Shape& shape = op.input(i).shape;
      bool fits = shape.rank == result.rank;
      for (int other = 0; fits && other < shape.rank; ++other) fits = other == axis || shape[other] == result[other];
      if (!fits)
        return op.fail(to_text(first.shape), " and ", to_text(shape), " along axis ", axis,
                       ": shapes that are equal but for that axis expected");
      result[axis] += shape[axis];
    }
    op.output({result, first.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    const Shape whole = op.output_spec(0).shape;
    const int axis = axis_of(op.template attributes<Attributes>(), whole.rank);
    std::int64_t begin = 0;
    for (int i = 0; i < op.input_count(); ++i) {
      auto slice = SliceAttributes::of_all(whole);
      slice.take(axis, begin, 1, op.input_spec(i).shape[axis]);
      begin += slice.extent(axis);
      if (op.needs(i)) op.input_gradient(i, apply<Slice>({op.output_gradient(0)}, slice));
    }
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const TensorSpec& whole = operands[static_cast<std::size_t>(input_count)];
    const int axis = axis_of(unpack<Attributes>(packed), whole.shape.rank);
    const bool last_first = unpack<Attributes>(packed).last_first != 0;
    detail::AssembledResult result(whole, input_count, false);
    std::int64_t begin = last_first ? whole.shape[axis] : 0;
    for (int n = 0; n < input_count; ++n) {
      const int i = last_first ? input_count - 1 - n : n;
      const TensorSpec& part = operands[static_cast<std::size_t>(i)];
      auto slice = SliceAttributes::of_all(whole.shape);
      if (last_first) begin -= part.shape[axis];
      slice.take(axis, begin, 1, part.shape[axis]);
      if (!last_first) begin += part.shape[axis];
      result.template copy<SliceInplace>(i, slice, part);
    }
    return result.parts();
  }
};
struct Concat : ConcatOp<Concat> {
  static constexpr std::string_view name = "Concat";
};
/// A concat whose result refuses in-place ops, because in other libraries the result is an alias.
struct ConcatInplace : ConcatOp<ConcatInplace> {
  static constexpr std::string_view name = "ConcatInplace";
  constexpr operator Effects() const { return Effects{.result_stays = true}; }
};

namespace detail {
/// Joins the gradients of slices of one tensor in as few passes over memory as possible. Disjoint slices along one axis become
/// one concat, with zeros between them. Slices that together have all columns, each the columns i, i + n, i + 2 n, ..., become
/// one concat too. The gradients of other slices are padded and added.
class SliceJoiner {
 public:
  constexpr SliceJoiner(Ir& ir, const TensorSpec& whole, Span<const GradientPart> parts) : ir_(ir), whole_(whole) {
    for (const GradientPart& part : parts) rest_.push_back({part.gradient, unpack<SliceAttributes>(part.where)});
  }
  constexpr Tensor run() {
    Tensor sum = next();
    while (!rest_.empty() && !ir_.failed()) sum = sum + next();
    return sum;
  }

 private:
  struct Part {
    Tensor gradient{};
    SliceAttributes slice{};
  };

  /// Returns the gradient of the first slice and of others that can be joined with it. The other slices are left for later calls.
  constexpr Tensor next() {
    const int axis = only_axis(rest_[0].slice);
    if (axis < 0 || rest_.size() == 1) return padded(take(0));
    const std::int64_t step = rest_[0].slice.step(axis);
    List<std::size_t> order;
    for (std::size_t i = 0; i < rest_.size(); ++i)
      if (only_axis(rest_[i].slice) == axis && rest_[i].slice.step(axis) == step) order.push_back(i);
    const auto start = [&](std::size_t i) { return rest_[i].slice.start(axis); };
    sort_items(order, [&](std::size_t a, std::size_t b) { return start(a) != start(b) ? start(a) < start(b) : a < b; });
    List<std::size_t> chosen;
    std::int64_t end = 0;  // of the chosen ones; of interleaved ones: the next start
    for (std::size_t i : order) {
      if (step == 1 ? start(i) < end : start(i) != end || rest_[i].slice.extent(axis) * step != whole_.shape[axis]) continue;
      chosen.push_back(i);
      end = step == 1 ? start(i) + rest_[i].slice.extent(axis) : end + 1;
    }
    if (chosen.size() < 2 || (step > 1 && end != step)) return padded(take(0));
    List<Part> parts;
    for (std::size_t i : chosen) parts.push_back(rest_[i]);
    sort_items(chosen, [](std::size_t a, std::size_t b) { return a < b; });
    List<Part> others;
    for (std::size_t i = 0, c = 0; i < rest_.size(); ++i) {
      if (c < chosen.size() && chosen[c] == i) ++c;
      else others.push_back(rest_[i]);
    }
    rest_ = std::move(others);
    return step == 1 ? joined(parts, axis) : interleaved(parts, axis);
  }
  /// Returns the only axis along which a slice does not take all elements in order. Returns -1 if there are several axes, or if
  /// the slice goes backwards.
  constexpr int only_axis(const SliceAttributes& slice) const {
    int only = -1;
    for (int axis = 0; axis < whole_.shape.rank; ++axis) {
      if (slice.extent(axis) == whole_.shape[axis] && slice.step(axis) == 1) continue;
      if (only >= 0 || slice.step(axis) < 1) return -1;
      only = axis;
    }
    return only;
  }
  constexpr Part take(std::size_t i) {
    const Part part = rest_[i];
    rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(i));
    return part;
  }
  constexpr Tensor padded(const Part& part) const {
    return apply<SliceGrad>({part.gradient}, {part.slice, axis_list(whole_.shape)});
  }
  /// Returns a part's gradient with all axes of the whole tensor.
  constexpr Tensor with_all_axes(const Part& part) const {
    return part.slice.dropped == 0 ? part.gradient
                                   : ops::reshape(part.gradient, part.slice.result_shape(whole_.shape.rank, true));
  }
  constexpr Tensor joined(const List<Part>& parts, int axis) const {
    List<Tensor> pieces;
    std::int64_t end = 0;
    const auto fill_to = [&](std::int64_t next) {
      if (next == end) return;
      Shape gap = whole_.shape;
      gap[axis] = next - end;
      pieces.push_back(ops::expand(ir_.constant(0, whole_.dtype), gap));
    };
    for (const Part& part : parts) {
      fill_to(part.slice.start(axis));
      pieces.push_back(with_all_axes(part));
      end = part.slice.start(axis) + part.slice.extent(axis);
    }
    fill_to(whole_.shape[axis]);
    const bool last_first = parts[0].gradient.number() > parts[parts.size() - 1].gradient.number();
    return concatenated(pieces, {axis, last_first ? 1 : 0});
  }
  constexpr Tensor concatenated(const List<Tensor>& pieces, const Concat::Attributes& attributes) const {
    return at_or_invalid(ir_, apply_all<Concat>(ir_, Span<const Tensor>(pieces.data(), pieces.size()), attributes), 0);
  }
  constexpr Tensor interleaved(const List<Part>& parts, int axis) const {
    std::int64_t outer = 1, inner = 1;
    for (int i = 0; i < whole_.shape.rank; ++i) (i < axis ? outer : inner) *= i == axis ? 1 : whole_.shape[i];
    List<Tensor> pieces;
    for (const Part& part : parts) pieces.push_back(ops::reshape(part.gradient, {outer, part.slice.extent(axis), 1, inner}));
    return ops::reshape(concatenated(pieces, {2}), whole_.shape);
  }

  Ir& ir_;
  TensorSpec whole_;
  List<Part> rest_{};
};
constexpr Tensor join_slices(Ir& ir, const TensorSpec& whole, Span<const GradientPart> parts) {
  return SliceJoiner(ir, whole, parts).run();
}
}  // namespace detail

}  // namespace tilewright
