#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

/// The elements in another dtype: floating point to integers truncates, to bool is true for other than 0.
struct Cast : Elementwise<Cast> {
  static constexpr std::string_view name = "Cast";
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
  /// Only between floating point dtypes: the gradient cast back.
  static constexpr void gradient(GradientContext& op) {
    const DType from = op.input_spec(0).dtype;
    if (!op.needs(0) || !is_floating_point(from) || !is_floating_point(op.output_spec(0).dtype)) return;
    op.input_gradient(0, apply<Cast>({op.output_gradient(0)}, {static_cast<std::int64_t>(from)}));
  }
};

namespace ops {
/// x in another dtype; x itself if it has it already.
constexpr Tensor cast(Tensor x, DType dtype) {
  return x.valid() && x.dtype() == dtype ? x : apply<Cast>({x}, {static_cast<std::int64_t>(dtype)});
}
}  // namespace ops

constexpr Tensor Tensor::cast(DType dtype) const { return ops::cast(*this, dtype); }

}  // namespace tilewright
