#pragma once
#include "tilewright/op/elementwise.hpp"

namespace tilewright {

/// The elements in another dtype, converted by element_cast.
struct Cast : Elementwise<Cast> {
  static constexpr std::string_view name = "Cast";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::cast, Confidence::published); }
  constexpr operator Fusion() const { return Fusion{.has_formula = true, .bools_are_masks = true}; }
  struct Attributes {
    std::int64_t dtype = 0;
  };
  static constexpr void infer(Inference& op) {
    op.output({op.input(0).shape, static_cast<DType>(op.attributes<Attributes>().dtype)});
  }
  template <class X>
  static X forward(X x, Attributes) {
    return x;
  }
  /// Casts the gradient back, between floating-point dtypes only.
  static constexpr void gradient(GradientContext& op) {
    const DType from = op.input_spec(0).dtype;
    if (!op.needs(0) || !is_floating_point(from) || !is_floating_point(op.output_spec(0).dtype)) return;
    op.input_gradient(0, apply<Cast>({op.output_gradient(0)}, {static_cast<std::int64_t>(from)}));
  }
};

namespace detail {
/// Returns the half-precision tensor of which x is the float32 cast; Tensor() if there is none of the dtype.
constexpr Tensor widened_from(const Tensor& x, DType dtype) {
  if (!x.valid() || !is_half(dtype) || x.dtype() != float32) return {};
  const Node* node = find_producer(x);
  if (!node || node->op != &op_info<Cast>) return {};
  const Tensor narrow(x.ir(), x.graph_id(), node->inputs[0]);
  return narrow.dtype() == dtype ? narrow : Tensor();
}
}  // namespace detail

namespace ops {
/// Converts x to another dtype. Returns x itself if it has the dtype. If x is a float32 cast of a half-precision tensor of the
/// dtype, returns that tensor. Any dtype except float8 can be converted to any dtype except float8.
///
/// To bool: true for everything except 0, NaN included. Floating point to integers: truncates; values beyond the range become the
/// nearest end of the range, and NaN becomes 0. Integers to narrower ones, or to the other sign: wraps around. To floating point:
/// rounds to nearest, ties to even; values beyond the range become infinite. Gradient: cast back, between floating-point dtypes
/// only.
[[nodiscard]] constexpr Tensor cast(Tensor x, DType dtype) {
  if (x.valid() && x.dtype() == dtype) return x;
  if (const Tensor narrow = detail::widened_from(x, dtype); narrow.valid()) return narrow;
  return apply<Cast>({x}, {static_cast<std::int64_t>(dtype)});
}
}  // namespace ops

constexpr Tensor Tensor::cast(DType dtype) const { return ops::cast(*this, dtype); }

}  // namespace tilewright
