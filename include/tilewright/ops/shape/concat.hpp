#pragma once

#include "tilewright/core/span.hpp"
#include "tilewright/ops/shape/slice_and_concat.hpp"

namespace tilewright {

/// Number of equal parts of a split, or the extents of all parts.
struct Splits {
  List<std::int64_t> lengths{};
  std::int64_t count = 0;  ///< 0: `lengths` are given
  constexpr Splits(int parts) : count(parts) {}
  constexpr Splits(std::initializer_list<std::int64_t> extents) : lengths(extents) {}
  constexpr Splits(Span<const std::int64_t> extents) : lengths(extents.begin(), extents.end()) {}
};

namespace ops {
/// Concatenates tensors along an axis; a single tensor is copied. All tensors have the same dtype, which can be any, and equal
/// extents along the other axes. The op copies, but an op that computes an input writes it directly to its place where possible.
/// Gradient: slices of dy, which are views. Errors: no tensors; different dtypes, ranks or extents; an axis out of range.
[[nodiscard]] constexpr Tensor concat(Span<const Tensor> tensors, int axis = 0) {
  if (tensors.empty()) TW_THROW TraceError("Concat: no tensors: at least one expected");
  Ir& ir = tensors[0].ir();
  return at_or_invalid(ir, apply_all<Concat>(ir, tensors, {axis}), 0);
}
[[nodiscard]] constexpr Tensor concat(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concat(Span<const Tensor>(tensors.begin(), tensors.size()), axis);
}
/// Concatenates tensors along an axis, like concat, and refuses in-place ops on the result. PopXL's concat_ is an alias; here the
/// result is a copy, because separate inputs cannot form one tensor without a copy. Later changes of inputs do not change it.
constexpr Tensor concat_(Span<const Tensor> tensors, int axis = 0) {
  if (tensors.empty()) TW_THROW TraceError("ConcatInplace: no tensors: at least one expected");
  Ir& ir = tensors[0].ir();
  return at_or_invalid(ir, apply_all<ConcatInplace>(ir, tensors, {axis}), 0);
}
constexpr Tensor concat_(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concat_(Span<const Tensor>(tensors.begin(), tensors.size()), axis);
}
/// Splits x along an axis into equal parts, or into parts of the given extents. The sum of these is the axis's extent. x: any
/// dtype. The parts are slices, which are views. Gradient: the concatenation of the parts' gradients. Errors: a number that does
/// not divide the axis; extents below 1 or with another sum; an axis out of range.
[[nodiscard]] constexpr List<Tensor>&& split(Tensor x, const Splits& splits, int axis = 0) {
  const std::size_t parts = splits.count > 0 ? static_cast<std::size_t>(splits.count) : splits.lengths.size();
  const auto fail = [&](const auto&... pieces) -> List<Tensor>&& {
    if (x.valid()) x.ir().fail(text("Split: ", to_text(x.spec()), pieces..., " expected"));
    return tilewright::detail::keep(x.ir(), List<Tensor>(parts, Tensor::invalid(x.ir())));
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
  if (splits.count == 0 && sum != extent)
    return fail(" into parts with the sum ", sum, " along axis ", axis, ": the sum ", extent);
  List<Tensor> result;
  result.reserve(parts);
  auto slice = SliceAttributes::of_all(x.shape());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    slice.take(axis, begin, 1, splits.count > 0 ? extent / splits.count : splits.lengths[i]);
    begin += slice.extent(axis);
    result.push_back(apply<Slice>({x}, slice));
  }
  return tilewright::detail::keep(x.ir(), std::move(result));
}
/// Splits x along an axis into `parts` equal parts, as an array for structured bindings: `const auto [q, k, v] = ops::split<3>(x,
/// -1);`.
template <std::size_t parts>
[[nodiscard]] constexpr std::array<Tensor, parts> split(Tensor x, int axis = 0) {
  const List<Tensor> list = split(x, Splits(static_cast<int>(parts)), axis);
  std::array<Tensor, parts> result;
  for (std::size_t i = 0; i < parts; ++i) result[i] = list[i];
  return result;
}
}  // namespace ops

}  // namespace tilewright
