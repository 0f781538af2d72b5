// labels: none
// Training steps that do not compile.
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/optim.hpp>
#include <tilewright/train/step.hpp>

#include "traced.hpp"

struct Model : tw::Module<Model> {
  BOOST_HANA_DEFINE_STRUCT(Model, (tw::layers::Linear<5>, fc1));
  constexpr Tensor build(Tensor x) { return fc1(x); }
};
constexpr tw::optim::SgdParameters sgd{.lr = 0.1};
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, sgd, {{2, 4}}); }> compiles;

// CASE no_micro_batches
// expect: train_step: 0 micro-batches: from 1 to 2147483647 expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, sgd, {{2, 4}}, {.micro_batches = 0}); }> no_micro_batches;

// CASE scalar_image
// expect: shape: axis -1
// expect: in Scalar/net/fc1
struct Scalar : tw::Module<Scalar> {
  BOOST_HANA_DEFINE_STRUCT(Scalar, (Model, net));
  constexpr Tensor build(Tensor x) { return net(x.reshape({})); }
};
Traced<[](Ir& ir) { tw::train::train_step(ir, Scalar{}, sgd, {{1}}); }> scalar_image;

// CASE no_optimiser
// expect: OptimiserParameters
// expect: UpdateFunction
Traced<[](auto& ir) { tw::train::train_step(ir, Model{}, 0.1, {{2, 4}}); }> no_optimiser;

// CASE parameters_without_names
// expect: an argument of a graph, such as the parameters of an optimiser: a tensor, a number, an enumeration, or a struct with
// expect: BOOST_HANA_DEFINE_STRUCT of these expected
struct PlainDescent : tw::Module<PlainDescent> {
  struct Parameters {
    using Optimiser = PlainDescent;
    double step = 0.1;
  };
  constexpr void build(tw::TensorByRef weight, Tensor gradient, const Parameters& parameters) {
    ops::scaled_add_(weight, gradient, {.b = -parameters.step});
  }
};
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, PlainDescent::Parameters{}, {{2, 4}}); }> parameters_without_names;

// CASE rmsprop_alpha
// expect: optimiser: alpha 1: a finite number of at least 0, and below 1, expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::RmsPropParameters{.alpha = 1}, {{2, 4}}); }> rmsprop_alpha;

// CASE adagrad_lr_decay
// expect: optimiser: lr_decay -1: a finite number of at least 0 expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::AdagradParameters{.lr_decay = -1}, {{2, 4}}); }>
    adagrad_lr_decay;

// CASE lion_beta1
// expect: optimiser: beta1 1.5: a finite number of at least 0, and below 1, expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::LionParameters{.beta1 = 1.5}, {{2, 4}}); }> lion_beta1;

// CASE adam_beta2
// expect: optimiser: beta2 1: a finite number of at least 0, and below 1, expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::AdamParameters{.beta2 = 1}, {{2, 4}}); }> adam_beta2;
