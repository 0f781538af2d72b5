#pragma once
#include <span>

#include "tilewright/core/items.hpp"
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/slice.hpp"

namespace tilewright {

/// What Concat and ConcatInplace share: the inputs one after the other along an axis.
template <class D>
struct ConcatOp : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  struct Attributes {
    std::int64_t axis = 0;
    std::int64_t last_first = 0;  ///< 1: the last input is copied first, as it is made first
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
/// The same; ops in place are refused on its result, which would be an alias elsewhere.
struct ConcatInplace : ConcatOp<ConcatInplace> {
  static constexpr std::string_view name = "ConcatInplace";
  constexpr operator Effects() const { return Effects{.result_stays = true}; }
};

/// Into how many equal parts a tensor is split, or the extents of all parts.
struct Splits {
  List<std::int64_t> lengths{};
  std::int64_t count = 0;  ///< 0: `lengths` are given
  constexpr Splits(int parts) : count(parts) {}
  constexpr Splits(std::initializer_list<std::int64_t> extents) : lengths(extents) {}
  constexpr Splits(std::span<const std::int64_t> extents) : lengths(extents.begin(), extents.end()) {}
};

namespace ops {
/// Tensors one after the other along an axis; one tensor is a copy. Any dtype, which they share; the result has the sum of their
/// extents along the axis, and the same extents along the others. A copy: each tensor is written to its place, by the op that
/// makes it where that can. Gradient: slices of dy, which are views. Errors: no tensors; different dtypes, ranks or extents; an
/// axis out of range.
///
/// `concat_` is a copy too, since inputs with memory of their own cannot be one tensor without one: neither sees what changes the
/// other later. Ops in place are refused on its result.
constexpr Tensor concat(std::span<const Tensor> tensors, int axis = 0) {
  if (tensors.empty()) throw TraceError("Concat: no tensors: at least one expected");
  Ir& ir = tensors[0].ir();
  return at_or_invalid(ir, apply_all<Concat>(ir, tensors, {axis}), 0);
}
constexpr Tensor concat(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}
constexpr Tensor concat_(std::span<const Tensor> tensors, int axis = 0) {
  if (tensors.empty()) throw TraceError("ConcatInplace: no tensors: at least one expected");
  Ir& ir = tensors[0].ir();
  return at_or_invalid(ir, apply_all<ConcatInplace>(ir, tensors, {axis}), 0);
}
constexpr Tensor concat_(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concat_(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}
/// x in parts along an axis: in so many equal ones, or in parts of the given extents, whose sum is the axis's. x: any dtype. The
/// parts are slices, which are views. Gradient: the concat of theirs. Errors: a number that does not divide the axis; extents
/// below 1 or of another sum; an axis out of range.
constexpr List<Tensor> split(Tensor x, const Splits& splits, int axis = 0) {
  const std::size_t parts = splits.count > 0 ? static_cast<std::size_t>(splits.count) : splits.lengths.size();
  const auto fail = [&](const auto&... pieces) {
    if (x.valid()) x.ir().fail(text("Split: ", to_text(x.spec()), pieces..., " expected"));
    return List<Tensor>(parts, Tensor::invalid(x.ir()));
  };
  if (!x.valid()) return fail();
  const int rank = x.rank();
  if (rank == 0) return fail(": a tensor with axes");
  if (axis < -rank || axis >= rank) return fail(" along axis ", axis, ": an axis from ", -rank, " to ", rank - 1);
  if (axis < 0) axis += rank;
  const std::int64_t extent = x.shape(axis);
  if (splits.count < 0 || parts == 0 || (splits.count > 0 && extent % splits.count != 0))
    return fail(" into ", splits.count, " parts along axis ", axis, ": a number that divides ", extent);
  std::int64_t sum = 0;
  for (std::int64_t length : splits.lengths) {
    if (length < 1) return fail(" into parts of ", length, " along axis ", axis, ": extents above 0");
    if (length > extent) return fail(" into a part of ", length, " along axis ", axis, ": at most ", extent);
    sum += length;
  }
  if (splits.count == 0 && sum != extent) return fail(" into parts of ", sum, " together along axis ", axis, ": ", extent);
  List<Tensor> result;
  result.reserve(parts);
  auto slice = SliceAttributes::of_all(x.shape());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    slice.take(axis, begin, 1, splits.count > 0 ? extent / splits.count : splits.lengths[i]);
    begin += slice.extent(axis);
    result.push_back(apply<Slice>({x}, slice));
  }
  return result;
}
/// The same for structured bindings: `const auto [q, k, v] = ops::split<3>(x, -1);`.
template <std::size_t parts>
constexpr std::array<Tensor, parts> split(Tensor x, int axis = 0) {
  const List<Tensor> list = split(x, Splits(static_cast<int>(parts)), axis);
  std::array<Tensor, parts> result;
  for (std::size_t i = 0; i < parts; ++i) result[i] = list[i];
  return result;
}
}  // namespace ops

namespace detail {
/// Joins the gradients of slices of one tensor, in as few passes over memory as the slices allow: those along one axis that do
/// not overlap are one concat, with zeros between them; so are those of all columns i, i + n, i + 2 n, ... Others are padded and
/// added.
class SliceJoiner {
 public:
  constexpr SliceJoiner(Ir& ir, const TensorSpec& whole, std::span<const GradientPart> parts) : ir_(ir), whole_(whole) {
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

  /// The gradient of the first slice, and of others that can be joined with it. They leave the rest.
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
  /// The only axis along which a slice does not take all elements in their order; -1: there are several, or it goes backwards.
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
  /// A part's gradient with all axes of the whole.
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
    return at_or_invalid(
        ir_, apply_all<Concat>(ir_, std::span<const Tensor>(pieces.data(), pieces.size()), {axis, last_first ? 1 : 0}), 0);
  }
  constexpr Tensor interleaved(const List<Part>& parts, int axis) const {
    std::int64_t outer = 1, inner = 1;
    for (int i = 0; i < whole_.shape.rank; ++i) (i < axis ? outer : inner) *= i == axis ? 1 : whole_.shape[i];
    List<Tensor> pieces;
    for (const Part& part : parts) pieces.push_back(ops::reshape(part.gradient, {outer, part.slice.extent(axis), 1, inner}));
    return ops::reshape(ops::concat(std::span<const Tensor>(pieces.data(), pieces.size()), 2), whole_.shape);
  }

  Ir& ir_;
  TensorSpec whole_;
  List<Part> rest_{};
};
constexpr Tensor join_slices(Ir& ir, const TensorSpec& whole, std::span<const GradientPart> parts) {
  return SliceJoiner(ir, whole, parts).run();
}
}  // namespace detail

}  // namespace tilewright
