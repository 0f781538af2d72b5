// labels: clang
// What users of PyTorch write first. Each message says what to write.
#include <array>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/data/csv.hpp>
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/sequential.hpp>
#include <tilewright/optim/schedule.hpp>
#include <tilewright/train/step.hpp>

#include "traced.hpp"

using namespace tw::literals;

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

struct Model : tw::Module<Model> {
  BOOST_HANA_DEFINE_STRUCT(Model, (tw::layers::Linear<5>, fc1));
  constexpr Tensor build(Tensor x) { return fc1(x); }
};
constexpr void test_step(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 4}));
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  ops::host_store(ir.d2h_stream("y", {2, 5}), Tensor(forward.bind(factories.init()).call(x)));
}
using Session = tw::Session<test_step>;

// CASE assignment_to_a_part
// expect: Tensor: no x[...] = y: ops::copy_var_update_(ops::slice_(x, 0, 2), y) expected, in Net/layer
Case<[](Tensor x) {
  x[{tw::slice(0, 2)}] = x[{tw::slice(0, 2)}] * 100;
  return x;
}>
    assignment_to_a_part;

// CASE number_for_a_row
// expect: Tensor: no x[...] = y: ops::copy_var_update_(ops::slice_(x, 0, 2), y) expected, in Net/layer
Case<[](Tensor x) { x[0] = 5; }> number_for_a_row;

// CASE sum_with_a_part
// expect: Tensor: no x[...] += y: ops::add_(ops::slice_(x, 0, 2), y) expected, in Net/layer
Case<[](Tensor x) { x[0] += 1; }> sum_with_a_part;

// CASE extent_of_a_copy
// expect-in-source: x.shape()[0] = 4
constexpr void set_extent(Tensor x) { x.shape()[0] = 4; }

// CASE tensor_in_a_copied_list
// expect-in-source: graph.inputs()[0] = x
constexpr void set_input(tw::Graph graph, Tensor x) { graph.inputs()[0] = x; }

// CASE choice_by_elements
// expect: Tensor: no x > y: ops::greater(x, y) expected, in Net/layer
Case<[](Tensor x) { return (ops::sum(x) > 0) ? x : x * -1; }> choice_by_elements;

// CASE tensor_as_a_bool
// expect: Tensor: no value before a run: ops::where, or tw::conditional, for a choice by elements expected, in Net/layer
Case<[](Tensor x) { return ops::greater(ops::sum(x), 0) ? x : x * -1; }> tensor_as_a_bool;

// CASE mask_of_handles
// expect: Mul: (8, 5) float32 and a bool: a number, or ops::equal(a, b) for a == b, expected, in Net/layer
Case<[](Tensor x) { return x * (x == x); }> mask_of_handles;

// CASE two_axes
// expect: true or false expected: this option takes no text, pattern or number
Case<[](Tensor x) { return x.sum(0, 1); }> two_axes;

// CASE size
// expect: Tensor: no size(): x.shape(axis), or x.nelms() expected, in Net/layer
Case<[](Tensor x) { return x.size(0); }> size;

// CASE to
// expect: Tensor: no to(float16): x.cast(tw::float16) expected, in Net/layer
Case<[](Tensor x) { return x.to(tw::float16); }> to;

// CASE item
// expect: Tensor: no item(), because a run computes the elements: ops::host_store to a stream expected, in Net/layer
Case<[](Tensor x) { return ops::sum(x).item(); }> item;

// CASE relu
// expect: Tensor: no relu(): ops::relu(x) expected, in Net/layer
Case<[](Tensor x) { return x.relu(); }> relu;

// CASE loss_without_its_header
// expect: mse_loss: its header is not included: #include <tilewright/ops/nn/losses.hpp> expected, in Net/layer
Case<[](Tensor x) { return ops::mse_loss(x, x * 2); }> loss_without_its_header;

// CASE module_for_parameters
// expect: train_step: AdamW as optimiser: its parameters, such as AdamWParameters{.lr = 1e-3}, or a function
// expect: f(name, variable, gradient) expected
Traced<[](Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::AdamW{}, {{2, 4}}); }> module_for_parameters;

// CASE options_of_a_module
// expect: an optimiser's module: its parameters, such as AdamWParameters{.lr = 1e-3}, expected
constexpr auto optimiser = tw::optim::AdamW{.lr = 1e-3};

// CASE schedule_as_a_rate
// expect: a schedule, which the host calls: a tensor, `lr = ops::host_load(ir.h2d_stream("lr", {}))`, and
constexpr tw::optim::AdamWParameters scheduled{.lr = tw::optim::CosineDecay{.peak = 1e-3, .steps = 10}};

// CASE momentum_of_a_group
// expect: groups: lr, weight_decay or frozen expected: other settings are the same for all variables
constexpr tw::train::GroupOptions group{.momentum = 0};

// CASE pattern_without_a_list
// expect: true, false, or a list of patterns, such as {"head.*"}, expected
const tw::LoadPolicy policy{.allow_missing = "head.*"};

// CASE text_for_a_bool
// expect: true or false expected: this option takes no text, pattern or number
const tw::optim::SgdParameters sgd{.lr = 0.1, .momentum = 0.9, .nesterov = "yes"};

// CASE pointer_for_a_bool
// expect: true or false expected: this option takes no text, pattern or number
tw::layers::Linear<5, {.bias = nullptr}> linear;

// CASE row_of_names
// expect: true or false expected: this option takes no text, pattern or number
const tw::data::CsvOptions csv{.header = 0u};  // 0, as in pandas, has its error in the case two_axes

// CASE output_without_s
// expect: a name with _s, such as "loss"_s, after `using namespace tilewright::literals`, expected
auto output_without_s(const Session::Outputs& out) { return out["y"]; }

// CASE variable_without_s
// expect: a name with _s, such as "loss"_s, after `using namespace tilewright::literals`, expected
auto variable_without_s(Session& session) { return session.get_tensor_data("fc1.weight"); }

// CASE assignment_to_a_copy
// expect-in-source: session.get_tensor_data("fc1.weight"_s)(0, 0) = 1
void assign(Session& session) { session.get_tensor_data("fc1.weight"_s)(0, 0) = 1; }

// CASE state_dict
// expect: Module: no state_dict(): a session has the values: tw::save_safetensors(file, session.host_tensors()) expected
auto weights = Model{}.state_dict();

// CASE function_for_a_module
// expect-in-source: ModuleOrApplyOfFunction
using Body = tw::layers::Sequential<tw::layers::Linear<16>, ops::relu>;

// CASE number_for_options
// expect: ConvLayerOptions<2>
using Convolution = tw::layers::Conv2d<16, 3, 2>;

#pragma GCC diagnostic error "-Wunused-result"
// CASE result_that_nobody_uses
// expect: ignoring return value of
constexpr void forget(Tensor x) { ops::relu(x); }

// CASE scope_that_ends_at_once
// expect: ignoring return value of
constexpr void forget(Ir& ir) { tw::training(ir); }
