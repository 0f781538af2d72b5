// labels: none
// Training steps that do not compile.
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/optim.hpp>
#include <tilewright/train/phased_layers.hpp>
#include <tilewright/train/step.hpp>

#include "traced.hpp"

struct Model : tw::Module<Model> {
  BOOST_HANA_DEFINE_STRUCT(Model, (tw::layers::Linear<5>, fc1));
  constexpr Tensor build(Tensor x) { return fc1(x); }
};
constexpr tw::optim::SgdParameters sgd{.lr = 0.1};
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, sgd, {{2, 4}}); }> compiles;

using Phased = tw::train::PhasedLayers<tw::optim::SgdParameters>;
constexpr void no_calls(Phased&, Tensor) {}
/// Layers of a kind that takes x, and are called with it; then what a case does.
template <class Kind, auto function = no_calls>
constexpr void phases(Ir& ir, const tw::train::LayerNames& names, const tw::Shape& x = {2, 5},
                      const tw::train::PhasedOptions& options = {}) {
  const Tensor input = ops::init(ir, x, tw::float32);
  Phased layers(tw::create_graph(Kind{}, input), names, sgd, options);
  function(layers, input);
}
Traced<[](Ir& ir) { phases<Model, [](Phased& layers, Tensor x) { layers.backward(layers.forward(x)); }>(ir, {"a", "b"}); }>
    phases_compile;

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
// expect: train_step: double as optimiser: its parameters, such as AdamWParameters{.lr = 1e-3}, or a function
// expect: f(name, variable, gradient) expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, 0.1, {{2, 4}}); }> no_optimiser;

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

// CASE no_phased_layer
// expect: PhasedLayers: Model_subgraph(0) for 0 layers: from 1 to 65536 expected
Traced<[](Ir& ir) { phases<Model>(ir, {}); }> no_phased_layer;

// CASE phased_output_is_no_input
// expect: PhasedLayers: Model_subgraph(0) makes (2, 5) float32 of (2, 4) float32: equal shapes and dtypes, because the output is
// expect: the input of the next one of 2 layers, expected
Traced<[](Ir& ir) { phases<Model>(ir, {"a", "b"}, {2, 4}); }> phased_output_is_no_input;

// CASE phased_outputs
// expect: PhasedLayers: Twice_subgraph(0) has 2 outputs: one expected
struct Twice : tw::Module<Twice> {
  BOOST_HANA_DEFINE_STRUCT(Twice, (Model, net));
  constexpr auto build(Tensor x) { return std::pair(net(x), x); }
};
Traced<[](Ir& ir) { phases<Twice>(ir, {"a"}); }> phased_outputs;

// CASE phased_without_input
// expect: PhasedLayers: Weight_subgraph(0) takes only variables: an input x as the first argument of build expected
struct Weight : tw::Module<Weight> {
  constexpr Tensor build() { return add_variable_input("weight", tw::ones(), {3}) * 2; }
};
Traced<[](Ir& ir) { Phased(tw::create_graph(ir, Weight{}), {"a"}, sgd); }> phased_without_input;

// CASE phased_running_mean
// expect: PhasedLayers: Counting_subgraph(0) changes its variable `count`: a layer whose variables only the optimiser changes
struct Counting : tw::Module<Counting> {
  constexpr Tensor build(Tensor x) {
    return x + ops::accumulate_(add_variable_input("count", tw::zeros(), {}, tw::float32, {.by_ref = true}), ir().constant(1));
  }
};
Traced<[](Ir& ir) { phases<Counting>(ir, {"a"}); }> phased_running_mean;

// CASE phased_side_effect
// expect: recompute_graph of Storing_subgraph(0)_bwd: Storing_subgraph(0) has side effects: a forward graph that
struct Storing : tw::Module<Storing> {
  BOOST_HANA_DEFINE_STRUCT(Storing, (Model, net));
  constexpr Tensor build(Tensor x) {
    ops::host_store(ir().d2h_stream("x", x.spec()), x);
    return net(x);
  }
};
Traced<[](Ir& ir) { phases<Storing>(ir, {"a"}); }> phased_side_effect;

// CASE phased_input_without_gradient
// expect: PhasedLayers: no gradient reaches the input Tensor
// expect: of Lookup_subgraph(0): .input_gradient = false expected
struct Lookup : tw::Module<Lookup> {
  constexpr Tensor build(Tensor x) { return ops::gather(add_variable_input("table", tw::ones(), {4, 3}), x.cast(tw::int32)); }
};
Traced<[](Ir& ir) { phases<Lookup>(ir, {"a"}); }> phased_input_without_gradient;

// CASE phased_layers_without_gradient
// expect: of Blocked_subgraph(0): a differentiable path to it expected
struct Blocked : tw::Module<Blocked> {
  BOOST_HANA_DEFINE_STRUCT(Blocked, (Model, net));
  constexpr Tensor build(Tensor x) { return net(x.detach()); }
};
Traced<[](Ir& ir) { phases<Blocked>(ir, {"a", "b"}, {2, 5}, {.input_gradient = false}); }> phased_layers_without_gradient;

// CASE phased_name_in_use
// expect: PhasedLayers: `a.fc1.bias` exists already: another name of layer 1 than `a` expected
Traced<[](Ir& ir) { phases<Model>(ir, {"a", "a"}); }> phased_name_in_use;

// CASE phased_backward_first
// expect: PhasedLayers: backward of Model_subgraph(0) without inputs: a call of forward before expected
Traced<[](Ir& ir) { phases<Model, [](Phased& layers, Tensor x) { layers.backward(x); }>(ir, {"a"}); }> phased_backward_first;

// CASE phased_row
// expect: PhasedLayers: layer 2 of 2: a number from 0 to 1 expected
Traced<[](Ir& ir) { phases<Model, [](Phased& layers, Tensor) { layers.load(2); }>(ir, {"a", "b"}); }> phased_row;

// CASE phased_input_shape
// expect: call of forward_phase_subgraph
// expect: (5, 2) float32 for input 0
// expect: (2, 5) float32 expected
Traced<[](Ir& ir) { phases<Model, [](Phased& layers, Tensor x) { layers.forward(x.T()); }>(ir, {"a"}); }> phased_input_shape;

// CASE phased_gradient_shape
// expect: call of backward_phase_subgraph
// expect: (5, 2) float32 for input 0
Traced<[](Ir& ir) { phases<Model, [](Phased& layers, Tensor x) { layers.backward(layers.forward(x).T()); }>(ir, {"a"}); }>
    phased_gradient_shape;
