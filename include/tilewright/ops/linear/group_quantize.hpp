#pragma once
#include <cstdint>

#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// A tensor (..., n) in 4 bits an element, which groups of neighbours along the last axis share a scale and a bias for.
struct GroupQuantized {
  Tensor codes{};  ///< (..., n / 4) uint16, four elements in each; the first has the lowest bits
  Tensor scale{};  ///< (..., n / group_size), the difference of two neighbouring codes
  Tensor bias{};   ///< (..., n / group_size), the value of code 0
};

namespace detail {
inline constexpr std::int64_t codes_in_word = 4;  // 4 bits in uint16

/// Returns the shape with another last axis.
constexpr Shape with_last_axis(Shape shape, std::int64_t extent) {
  shape.extents[shape.rank - 1] = extent;
  return shape;
}
/// Returns 1, 16, 256 and 4096, the steps of the four codes in a word.
constexpr Tensor code_steps(Ir& ir) { return ir.constant({1, 16, 256, 4096}, {codes_in_word}); }
}  // namespace detail

namespace ops {
/// Compresses t to 4 bits an element: a group of `group_size` neighbours along the last axis has a bias, its smallest element,
/// and a scale, (largest - smallest) / 15; the code of an element is round((element - bias) / scale), from 0 to 15. This is the
/// compression of "FlexGen" (arXiv 2303.06865). t: (..., n), float16, bfloat16 or float32; scale and bias have its dtype. The
/// error of an element is at most scale / 2, up to the rounding of the dtype. No gradient. Errors: other dtypes; a group_size
/// that is not a multiple of 4 and a divisor of n.
///
///     const tw::GroupQuantized small = ops::group_quantize_compress(weight, 64);
///     const Tensor again = ops::group_quantize_decompress(small);
template <class...>
[[nodiscard]] constexpr GroupQuantized group_quantize_compress(Tensor t, std::int64_t group_size) {
  if (!t.is_usable()) return {t, t, t};
  const std::int64_t n = t.rank() > 0 ? t.shape(-1) : 0;
  if (n == 0 || !computes_in_float(t.dtype()) || group_size < 1 || group_size % tilewright::detail::codes_in_word != 0 ||
      n % group_size != 0) {
    const Tensor invalid = t.ir().fail(
        text("group_quantize_compress: ", to_text(t), " in groups of ", group_size,
             ": axes (..., n) of float16, bfloat16 or float32, and a multiple of 4 that divides n,", " expected"));
    return {invalid, invalid, invalid};
  }
  const std::int64_t groups = t.nelms() / group_size;
  const Tensor grouped = t.detach().reshape({groups, group_size}).cast(float32);
  const Shape of_groups = tilewright::detail::with_last_axis(t.shape(), n / group_size);
  const Tensor least = (min)(grouped, {1}, true), range = (max)(grouped, {1}, true) - least;
  const Tensor scale = (range / 15).cast(t.dtype()), step = scale.cast(float32);  // codes are those of the rounded scale
  const Tensor above = grouped - least, nearest = floor(above / where(equal(step, 0), 1, step) + 0.5);
  const Tensor words = clip(nearest, 0, 15).reshape({-1, tilewright::detail::codes_in_word});
  const Tensor codes = sum(words * tilewright::detail::code_steps(t.ir()), {1}).cast(uint16);
  return {codes.reshape(tilewright::detail::with_last_axis(t.shape(), n / tilewright::detail::codes_in_word)),
          scale.reshape(of_groups), least.cast(t.dtype()).reshape(of_groups)};
}
/// Returns the elements of which group_quantize_compress made the codes: code scale + bias, (..., n) of the scale's dtype. The
/// scale and the bias have a gradient. Errors: codes of another dtype; scales and biases of other shapes than that of groups.
template <class...>
[[nodiscard]] constexpr Tensor group_quantize_decompress(const GroupQuantized& t) {
  const auto& [codes, scale, bias] = t;
  for (const Tensor& tensor : {codes, scale, bias})
    if (!tensor.is_usable()) return tensor;
  constexpr std::int64_t in_word = tilewright::detail::codes_in_word;
  const std::int64_t n = codes.rank() > 0 ? codes.shape(-1) * in_word : 0, groups = scale.rank() > 0 ? scale.shape(-1) : 0;
  if (codes.dtype() != uint16 || n == 0 || groups == 0 || n % groups != 0 || !computes_in_float(scale.dtype()) ||
      scale.shape() != tilewright::detail::with_last_axis(codes.shape(), groups) || bias.spec() != scale.spec())
    return codes.ir().fail(text("group_quantize_decompress: codes ", to_text(codes.spec()), ", scale ", to_text(scale.spec()),
                                ", bias ", to_text(bias.spec()), ": those of group_quantize_compress expected"));
  const Tensor words = codes.cast(float32).reshape({-1, 1});  // exact, as all numbers below
  const Tensor shifted = floor(words / tilewright::detail::code_steps(codes.ir()));
  const Tensor digits = shifted - floor(shifted / 16) * 16;
  const auto each = [](Tensor of_groups) { return of_groups.reshape({-1, 1}).cast(float32); };
  const Tensor rows = digits.reshape({-1, n / groups}), scaled = rows * each(scale), elements = scaled + each(bias);
  return elements.cast(scale.dtype()).reshape(tilewright::detail::with_last_axis(codes.shape(), n));
}
}  // namespace ops

}  // namespace tilewright
