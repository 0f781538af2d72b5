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

/// (8, 784) float32
constexpr Text to_text(const TensorSpec& spec) { return text(to_text(spec.shape), " ", to_text(spec.dtype)); }

}  // namespace tilewright
