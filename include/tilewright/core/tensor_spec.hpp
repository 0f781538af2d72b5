#pragma once
#include "tilewright/core/dtype.hpp"
#include "tilewright/core/shape.hpp"

namespace tilewright {

/// Shape and element type of a tensor.
struct TensorSpec {
  Shape shape;
  DType dtype = float32;

  constexpr std::int64_t nelms() const { return shape.nelms(); }
  constexpr std::int64_t bytes() const { return nelms() * size_of(dtype); }
  constexpr bool operator==(const TensorSpec&) const = default;
};

/// Largest size of a tensor in bytes: the address space of a program on today's machines, where users have 47 bits.
inline constexpr double max_tensor_bytes = 0x1p47;

/// Returns the names of the floating-point dtypes with arithmetic: float16, float32, float64 or bfloat16.
constexpr Text floating_point_dtypes() {
  Text result;
  int left = 0;
  for (const auto& row : detail::dtype_facts) left += row.is_floating_point && has_arithmetic(row.dtype);
  for (const auto& row : detail::dtype_facts)
    if (row.is_floating_point && has_arithmetic(row.dtype))
      result += text(row.name, --left == 0 ? "" : left == 1 ? " or " : ", ");
  return result;
}

/// Returns the spec as text: (8, 784) float32
constexpr Text to_text(const TensorSpec& spec) { return text(to_text(spec.shape), " ", to_text(spec.dtype)); }

}  // namespace tilewright
