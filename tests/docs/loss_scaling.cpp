#include <tilewright/layers/linear.hpp>
#include <tilewright/train/step.hpp>
using Net = tw::layers::Linear<10>;
// the block
constexpr bool has_a_scale = [] {
  tw::Ir ir;
  train_step(ir);
  const auto variables = ir.main_graph().variables();  // scale, tracker, weight and bias with three of the optimiser each
  return variables.size() == 10 && variables[0].name() == "loss_scaling.scale";
}();
static_assert(has_a_scale);
