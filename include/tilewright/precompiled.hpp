#pragma once
// The headers that tilewright_precompile compiles once, and a program. GCC instantiates most functions of templates at the end of
// each source, also those of a precompiled header that the source does not use. It does so earlier, and once, for functions that
// a constant expression calls. So the header plans a program whose ops and passes are those of many programs.
#include "tilewright/core/requirements.hpp"

#include "tilewright/data/loader.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/train/train.hpp"

namespace tilewright::internal {

using PrecompiledModel = layers::Sequential<layers::Linear<8>, layers::LayerNorm<>, layers::Apply<ops::gelu>, layers::Linear<4>>;
constexpr void precompiled_step(Ir& ir) {
  train::train_step(ir, PrecompiledModel{}, optim::AdamParameters{.lr = 0.01}, {{2, 8}});
}
static_assert(detail::make_draft<precompiled_step, cpu>().failure == 0);
static_assert(detail::make_draft<precompiled_step, gc200>().failure == 0);

}  // namespace tilewright::internal
