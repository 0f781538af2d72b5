#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/random/random.hpp"
#include "tilewright/program/check_parameter.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright::layers {

/// Dropout: ops::dropout in training; returns x unchanged in evaluation. torch.nn.Dropout hides its seed; here the seed is an
/// argument. The trace needs a mode scope, `training(ir)` or `evaluation(ir)`. x: float16, bfloat16, float32 or float64, of any
/// shape. seed: (2,) uint32, required in training with a probability above 0. The layer has no variables.
///
/// Errors: p outside of its range; no mode; no seed in training.
struct Dropout : Module<Dropout> {
  static constexpr bool takes_seed = true;

  double p = 0.5;  ///< probability with which an element becomes 0: at least 0, below 1

  constexpr Dropout() = default;
  constexpr explicit Dropout(double probability) : p(probability) {}

  constexpr Tensor build(Tensor x, Tensor seed) {
    if (!tilewright::detail::check_parameter(ir(), "Dropout", "p", p, 0, 1)) return Tensor::invalid(ir());
    if (require_mode(ir(), "Dropout") == Mode::evaluation || p == 0) return x;
    return ops::dropout(x, seed, p);
  }
  constexpr Tensor build(Tensor x) {
    if (!tilewright::detail::check_parameter(ir(), "Dropout", "p", p, 0, 1)) return Tensor::invalid(ir());
    if (require_mode(ir(), "Dropout") == Mode::evaluation || p == 0) return x;
    return ir().fail(text("Dropout: ", to_text(x.spec()), " in training without a seed: dropout(x, seed) expected"));
  }
  constexpr std::int64_t cache_key() const { return p >= 0 && p < 1 ? static_cast<std::int64_t>(p * 0x1p52) : -1; }
};

}  // namespace tilewright::layers
