#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/graph/ir.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/pow.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/shape.hpp"
#include "tilewright/ops/shape/subscript.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

/// Cosines and sines of rotary positions, each (length, head_dim / 2) float32, or (batch, 1, length, head_dim / 2).
struct RotaryEmbedding {
  Tensor cos, sin;
};

/// Returns the cosines and sines for `positions`, integers: (length,), or (batch, length) if texts have different ones. The
/// angles are position theta^(-2 i / head_dim) for i from 0 to head_dim / 2 - 1 ("RoFormer", arXiv 2104.09864). All layers of a
/// graph can share one embedding. head_dim: even.
[[nodiscard]] constexpr RotaryEmbedding rotary_embedding(Tensor positions, int head_dim, double theta = 10000) {
  Ir& ir = positions.ir();
  if (positions.rank() < 1 || positions.rank() > 2 || head_dim < 2 || head_dim % 2 != 0) {
    const Tensor invalid = ir.fail(text("rotary_embedding: positions ", to_text(positions.spec()), ", head_dim ", head_dim,
                                        ": positions of one or two axes and an even head_dim expected"));
    return {invalid, invalid};
  }
  if (!tilewright::detail::check_above_0(ir, "rotary_embedding", "theta", theta))
    return {Tensor::invalid(ir), Tensor::invalid(ir)};
  const Tensor exponents = ir.constant(range(0, -2.0 / head_dim), {head_dim / 2}, float32, "rotary_exponents");
  Shape shape{-1, 1};
  if (positions.rank() == 2) shape = {positions.shape(0), 1, positions.shape(1), 1};
  const Tensor column = ops::cast(positions, float32).reshape(shape);
  const Tensor angles = column * ops::pow(ir.constant(theta), exponents);
  return {ops::cos(angles), ops::sin(angles)};
}
/// Rotates each pair of elements i and i + head_dim / 2 of x by the angle of its position, as Hugging Face's Llama does. x: (...,
/// length, head_dim), or (batch, heads, length, head_dim) for positions by batch; float16, bfloat16, float32 or float64; half
/// precision is computed in float32. The result has x's shape and dtype.
[[nodiscard]] constexpr Tensor apply_rotary(Tensor x, const RotaryEmbedding& embedding) {
  if (!x.valid() || !embedding.cos.valid()) return Tensor::invalid(x.ir());
  const std::int64_t half = embedding.cos.shape(-1);
  const bool has_batch = embedding.cos.rank() == 4;
  if (x.rank() < 2 || x.shape(-1) != 2 * half || x.shape(-2) != embedding.cos.shape(-2) ||
      (has_batch && (x.rank() != 4 || x.shape(0) != embedding.cos.shape(0))))
    return x.ir().fail(text("apply_rotary: ", to_text(x.spec()), " with cosines ", to_text(embedding.cos.spec()),
                            ": axes (..., length, head_dim) expected"));
  const DType dtype = computed_dtype(x.dtype());
  const Tensor wide = ops::cast(x, dtype), cos = ops::cast(embedding.cos, dtype), sin = ops::cast(embedding.sin, dtype);
  const Tensor first = wide[{ellipsis, slice(0, half)}], second = wide[{ellipsis, slice(half, 2 * half)}];
  Tensor turned_first = first * cos;
  turned_first = turned_first - second * sin;
  Tensor turned_second = second * cos;
  turned_second = turned_second + first * sin;
  return ops::cast(ops::concat({turned_first, turned_second}, -1), x.dtype());
}

}  // namespace tilewright::layers
