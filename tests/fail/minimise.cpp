// labels: clang
// Steps of any loss that do not compile.
#include <tilewright/layers/linear.hpp>
#include <tilewright/train/minimise.hpp>

#include "traced.hpp"

namespace train = tw::train;
constexpr tw::optim::SgdParameters sgd{.lr = 0.1};

struct TwoLayers : tw::Module<TwoLayers> {
  BOOST_HANA_DEFINE_STRUCT(TwoLayers, (tw::layers::Linear<5>, fc1), (tw::layers::Linear<1>, fc2));
  constexpr Tensor build(Tensor x) { return fc2(fc1(x)); }
};
constexpr auto mean = [](TwoLayers& net, Tensor x) { return tw::ops::mean(net(x)); };
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}}); }> compiles;

// CASE no_scalar
// expect: minimise: the loss of TwoLayers gives (2, 1) float32: a scalar of floating point, such as ops::mean of the losses,
constexpr auto no_mean = [](TwoLayers& net, Tensor x) { return net(x); };
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, no_mean, sgd, {{"x", {2, 4}}}); }> no_scalar;

// CASE integer_loss
// expect: minimise: the loss of TwoLayers gives () int32: a scalar of floating point
constexpr auto integer = [](TwoLayers& net, Tensor x) { return tw::ops::cast(tw::ops::mean(net(x)), tw::int32); };
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, integer, sgd, {{"x", {2, 4}}}); }> integer_loss;

// CASE nothing_returned
// expect: minimise: Nothing returns nothing: a scalar of floating point expected
struct Nothing : tw::Module<Nothing> {
  constexpr void build(Tensor) {}
};
Traced<[](Ir& ir) { train::minimise(ir, Nothing{}, sgd, {{"x", {2, 4}}}); }> nothing_returned;

// CASE count_of_many
// expect: minimise: the loss of TwoLayers gives the count (2, 4) float32: a scalar, such as ops::sum of the counts,
constexpr auto counted = [](TwoLayers& net, Tensor x) { return train::MeanLoss(tw::ops::sum(net(x)), x); };
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, counted, sgd, {{"x", {2, 4}}}); }> count_of_many;

// CASE all_frozen
// expect: minimise: no gradient reaches a variable of the loss of TwoLayers that is not frozen: at least one expected
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}}, {.groups = {train::frozen("*")}}); }> all_frozen;

// CASE variables_twice
// expect: variables: `fc1.bias` exists already: StepOptions::variables, with what the other step gave, expected
Traced<[](Ir& ir) {
  train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}});
  train::minimise(ir, TwoLayers{}, mean, sgd, {{"y", {2, 4}}}, {.prefix = "second"});
}>
    variables_twice;

// CASE other_arguments
// expect: minimise: the loss takes other arguments than (TwoLayers&, 2 Tensors), one for each input: a function with these
// expect: arguments expected
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}, {"y", {2}}}); }> other_arguments;

// CASE wrong_in_the_model
// expect: inner dimensions 4 and 3 differ, in loss/Mistaken/fc
struct Matrix : tw::Module<Matrix> {
  constexpr Tensor build(Tensor x) { return x.matmul(add_variable_input("weight", tw::zeros(), {3, 3})); }
};
struct Mistaken : tw::Module<Mistaken> {
  BOOST_HANA_DEFINE_STRUCT(Mistaken, (Matrix, fc));
  constexpr Tensor build(Tensor x) { return fc(x); }
};
constexpr auto of_mistaken = [](Mistaken& net, Tensor x) { return tw::ops::mean(net(x)); };
Traced<[](Ir& ir) { train::minimise(ir, Mistaken{}, of_mistaken, sgd, {{"x", {2, 4}}}); }> wrong_in_the_model;

// CASE no_variables
// expect: minimise: Bare has no variables: a model to train expected
struct Bare : tw::Module<Bare> {
  constexpr Tensor build(Tensor x) { return tw::ops::mean(x); }
};
Traced<[](Ir& ir) { train::minimise(ir, Bare{}, sgd, {{"x", {2, 4}}}); }> no_variables;

// CASE half_loss_scaled
// expect: minimise: the loss of TwoLayers gives () float16 for loss scaling: a loss of float32, of logits that are cast to it,
Traced<[](Ir& ir) {
  train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}, tw::float16}}, {.loss_scaling = tw::optim::LossScaling{}});
}>
    half_loss_scaled;

// CASE too_many_outputs
// expect: minimise: the loss of TwoLayers gives 0 outputs behind the loss: at least 1, one for each name in StepOptions::outputs,
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}}, {.outputs = {"logits"}}); }> too_many_outputs;

// CASE group_of_nothing
// expect: groups: `fc3.*` matches no variable: a pattern of one of fc1.bias, fc1.weight, fc2.bias, fc2.weight expected
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}}, {.groups = {train::frozen("fc3.*")}}); }>
    group_of_nothing;

// CASE rate_of_a_function
// expect: groups: lr of `fc1.*`, but a function updates the variables: parameters of an optimiser, such as optim::AdamParameters,
// expect: expected
constexpr auto update = [](std::string_view, Tensor variable, Tensor gradient) { tw::ops::add_(variable, gradient); };
Traced<[](Ir& ir) { train::minimise(ir, TwoLayers{}, mean, update, {{"x", {2, 4}}}, {.groups = {{"fc1.*", {.lr = 0.1}}}}); }>
    rate_of_a_function;

// CASE variable_of_another_shape
// expect: variables: `fc1.weight` is (4, 5) float32: (3, 5) float32, as the model has it, expected
Traced<[](Ir& ir) {
  const auto variables = train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}});
  train::minimise(ir, TwoLayers{}, mean, sgd, {{"y", {2, 3}}}, {.variables = variables, .prefix = "second"});
}>
    variable_of_another_shape;

// CASE decay_of_an_average
// expect: average_variables: decay 1: a finite number of at least 0, and below 1, expected
Traced<[](Ir& ir) {
  train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}}, {.average = tw::optim::AverageOptions{.decay = 1}});
}>
    decay_of_an_average;

// CASE copies_of_other_names
// expect: copy_variables: `bias` is in `to` only: the same names in `from` and `to` expected
Traced<[](Ir& ir) {
  const auto variables = train::minimise(ir, TwoLayers{}, mean, sgd, {{"x", {2, 4}}});
  tw::NamedTensors weight;
  weight.insert("weight", variables["fc1.weight"]);
  tw::optim::copy_variables(weight, variables.subtree("fc1"));
}>
    copies_of_other_names;
