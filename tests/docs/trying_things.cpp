#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>
#include <tilewright/train/step.hpp>
namespace tw = tilewright;
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, tw::layers::Linear<10>{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 784}});
}
