#pragma once
// x[...]: see Tensor.

#include "tilewright/core/span.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/shape/slice.hpp"
#include "tilewright/program/tensor_index.hpp"

namespace tilewright {

namespace detail {
/// Returns the attributes of x[...]; nothing after a failure.
constexpr std::optional<SliceAttributes> subscript_attributes(Tensor x, Span<const TensorIndex> indices) {
  const auto fail = [&](const auto&... pieces) {
    x.ir().fail(text("Slice: ", tilewright::to_text(x.spec()), pieces..., " expected"));
    return std::nullopt;
  };
  int ellipses = 0;
  for (const TensorIndex& index : indices) ellipses += index.kind == TensorIndex::Kind::ellipsis;
  const int given = static_cast<int>(indices.size()) - ellipses;
  if (ellipses > 1) return fail(" by ", ellipses, " ellipses: at most one");
  if (given > x.rank()) return fail(" by ", given, " indices: at most one for each of its ", x.rank(), " axes");
  auto slice = SliceAttributes::of_all(x.shape());
  int axis = 0;
  for (const TensorIndex& index : indices) {
    if (index.kind == TensorIndex::Kind::ellipsis) {
      axis += x.rank() - given;
      continue;
    }
    const auto& [start, stop, step] = index.taken;
    if (index.kind == TensorIndex::Kind::number) {
      const std::int64_t extent = x.shape(axis), at = start.value;
      if (at < -extent || at >= extent)
        return fail(", element ", at, " along axis ", axis, ": one from ", -extent, " to ", extent - 1);
      slice.take(axis, at < 0 ? at + extent : at, 1, 1);
      slice.dropped |= std::int64_t{1} << axis;
    } else if ((start.given || stop.given || step.given) && !take_range(slice, x, axis, start, stop, step)) {
      return std::nullopt;
    }
    ++axis;
  }
  return slice;
}
constexpr Tensor subscript(Tensor x, Span<const TensorIndex> indices) {
  if (!x.is_usable()) return x;
  const auto attributes = subscript_attributes(x, indices);
  return attributes ? apply<Slice>({x}, *attributes) : Tensor::invalid(x.ir());
}
}  // namespace detail

constexpr Tensor Tensor::operator[](const TensorIndex& index) const { return detail::subscript(*this, {&index, 1}); }
constexpr Tensor Tensor::operator[](std::initializer_list<TensorIndex> indices) const {
  return detail::subscript(*this, {indices.begin(), indices.size()});
}
constexpr Tensor Tensor::operator[](Tensor index) const {
  if (!valid() || !index.valid()) return invalid(ir());
  if (index.dtype() == boolean) return ops::where(index, *this, 0);
  if (is_int(index.dtype())) return ops::gather(*this, index, 0);
  return ir().fail(text("x[...]: ", to_text(index), " as index of ", to_text(*this), ": integers, or a mask of bools, expected"));
}

}  // namespace tilewright
