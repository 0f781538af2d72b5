#pragma once
// The rule by which results at the edges of dtypes agree with those of float64.
#include <cmath>

#include "tilewright/core/dtype.hpp"

namespace edges {

/// By how much a result may differ from float64's, given its own exact value and by how much it moves when each input moves by a
/// rounding of float32. Ops compute in float32: 16 roundings, and 8 times what such moves of their inputs make of the result.
/// Half precision is rounded to once: by half a distance of neighbours, and by a sixteenth of that where float32 was beside a
/// tie.
inline double tolerance(tilewright::DType dtype, double expected, double move) {
  const double half = dtype == tilewright::float16 ? 0x1.1p-11 : dtype == tilewright::bfloat16 ? 0x1.1p-8 : 0;
  const double smallest = dtype == tilewright::float16 ? 0x1p-24
                                                       : 0x1p-122;  // float32 flushes denormal numbers, of sums each term
  return (half + 16 * 0x1p-24) * std::abs(expected) + 8 * move + smallest;
}
/// Infinities are where rounding to the dtype makes them, NaN is where PyTorch has NaN.
inline bool agree(tilewright::DType dtype, double actual, double expected, double move) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected) || std::isinf(move);
  const double most = dtype == tilewright::float16 ? 0x1.ffep15 : dtype == tilewright::bfloat16 ? 0x1.ffp127 : 0x1.fffffep127;
  if (std::isinf(actual) && actual * expected > 0) return std::abs(expected) * (1 + 0x1p-8) + 8 * move >= most;
  return actual == expected || std::abs(actual - expected) <= tolerance(dtype, expected, move);
}

}  // namespace edges
