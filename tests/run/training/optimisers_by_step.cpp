// labels: strict
// RMSprop, Adagrad, Lion, AMSGrad and the defaults of SGD and AdamW, step by step: against PyTorch, or their papers' algorithms.
#include <cmath>
#include <limits>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace optim = tw::optim;

const Values& steps() {
  static const Values all = [] {
    Values values;
    read_reference("optimisers.txt", values);
    return values;
  }();
  return all;
}

constexpr optim::RmsPropParameters rmsprop_decay{.lr = 0.02, .alpha = 0.9, .epsilon = 1e-3, .weight_decay = 0.1};
constexpr optim::RmsPropParameters rmsprop_all{
    .lr = 0.02, .alpha = 0.8, .epsilon = 0.01, .weight_decay = 0.1, .momentum = 0.5, .centered = true};
constexpr optim::LionParameters lion_decay{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5};

/// An optimiser of a weight of its own.
template <tw::DType dtype>
constexpr void optimise(std::string_view name, Tensor gradient, const auto& parameters,
                        std::initializer_list<Tensor> given = {}) {
  using Optimiser = std::remove_cvref_t<decltype(parameters)>::Optimiser;
  const Tensor weight = gradient.ir().variable(tw::zeros(), gradient.shape(), dtype, name);
  const auto [factories, graph] = tw::create_graph(Optimiser{}, weight, gradient, parameters);
  std::vector<Tensor> inputs{weight, gradient};
  for (const Tensor& tensor : given) inputs.push_back(tensor);
  graph.bind(factories.init(tw::text("state of ", name).view())).call_with_inputs(inputs, {});
}

/// All sets of parameters, as numbers.
template <tw::DType dtype>
constexpr void with_numbers(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 4}, dtype));
  const auto add = [&](std::string_view name, const auto& parameters) { optimise<dtype>(name, gradient, parameters); };
  add("sgd", optim::SgdParameters{});
  add("adamw", optim::AdamWParameters{});
  add("rmsprop", optim::RmsPropParameters{});
  add("rmsprop.decay", rmsprop_decay);
  add("rmsprop.momentum", optim::RmsPropParameters{.lr = 0.02, .alpha = 0.9, .epsilon = 1e-6, .momentum = 0.9});
  add("rmsprop.centered", optim::RmsPropParameters{.lr = 0.02, .alpha = 0.9, .epsilon = 1e-3, .centered = true});
  add("rmsprop.all", rmsprop_all);
  add("adagrad", optim::AdagradParameters{});
  add("adagrad.decay", optim::AdagradParameters{.lr = 0.1, .lr_decay = 0.2, .weight_decay = 0.1});
  add("adagrad.initial", optim::AdagradParameters{.lr = 0.1, .initial_accumulator_value = 0.25, .epsilon = 0.01});
  add("adam.amsgrad", optim::AdamParameters{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.7, .epsilon = 1e-5, .amsgrad = true});
  add("adam.plain", optim::AdamParameters{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.7, .epsilon = 1e-5});
  add("adamw.amsgrad", optim::AdamWParameters{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.7, .weight_decay = 0.1, .amsgrad = true});
  add("lion", optim::LionParameters{});
  add("lion.decay", lion_decay);
}
/// The same steps, by parameters that each call gives.
constexpr void with_tensors(Ir& ir) {
  constexpr tw::TensorSpec scalar{{}, tw::float32}, one{{1}, tw::float32};
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 4}));
  const auto number = [&](double value) { return ir.constant(value); };
  const auto element = [&](double value) { return ir.constant(value).reshape({1}); };
  auto rmsprop = rmsprop_all;
  rmsprop.lr = rmsprop.alpha = rmsprop.weight_decay = rmsprop.momentum = scalar;
  rmsprop.epsilon = one;
  optimise<tw::float32>("rmsprop.all", gradient, rmsprop, {number(0.02), number(0.8), element(0.01), number(0.1), number(0.5)});
  optimise<tw::float32>("adagrad.decay", gradient,
                        optim::AdagradParameters{.lr = one, .lr_decay = one, .weight_decay = scalar, .epsilon = scalar},
                        {element(0.1), element(0.2), number(0.1), number(1e-10)});
  auto lion = lion_decay;
  lion.lr = lion.beta1 = lion.beta2 = lion.weight_decay = scalar;
  optimise<tw::float32>("lion.decay", gradient, lion, {number(0.02), number(0.8), number(0.9), number(0.5)});
  optimise<tw::float32>(
      "adamw.amsgrad", gradient,
      optim::AdamWParameters{.lr = scalar, .beta1 = scalar, .beta2 = scalar, .weight_decay = scalar, .amsgrad = true},
      {number(0.02), number(0.8), number(0.7), number(0.1)});
}
/// Weights of half precision, whose state is float32.
template <tw::DType gradient_dtype>
constexpr void in_half_precision(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 4}, gradient_dtype));
  const auto add = [&](std::string_view name, const auto& parameters) { optimise<tw::float16>(name, gradient, parameters); };
  add("half.rmsprop", rmsprop_decay);
  add("half.rmsprop.all", rmsprop_all);
  add("half.adagrad", optim::AdagradParameters{.lr = 0.1, .lr_decay = 0.2, .weight_decay = 0.1, .epsilon = 1e-6});
  add("half.adamw.amsgrad",
      optim::AdamWParameters{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.7, .epsilon = 1e-6, .weight_decay = 0.1, .amsgrad = true});
  add("half.lion", lion_decay);
}

/// Starts all weights from the reference's, and compares them after each step; a gradient that is NaN makes all NaN. Result: how
/// many weights there are.
template <class Session, class Element = float>
int check(double tolerance, std::type_identity<Element> = {}) {
  Session session({.threads = 1});
  auto tensors = session.host_tensors();
  int weights = 0;
  std::vector<std::vector<std::byte>> memory;
  for (auto& tensor : tensors)
    if (steps().contains(std::string(tensor.name)))
      tensor.bytes = memory.emplace_back(bytes_of(tensor.spec, steps().at("start")));
  session.load_tensors({"start", tensors});
  const auto& gradients = steps().at("gradients");
  for (std::size_t step = 0; step < gradients.size() / 8; ++step) {
    xt::xtensor<Element, 2> gradient({2, 4});
    for (std::size_t i = 0; i < 8; ++i) gradient.data()[i] = static_cast<Element>(gradients[8 * step + i]);
    session.run("gradient"_s = gradient);
    weights = 0;
    for (const auto& tensor : session.host_tensors()) {
      const auto expected = steps().find(std::string(tensor.name));
      if (expected == steps().end()) continue;
      ++weights;
      const auto begin = expected->second.begin() + static_cast<std::ptrdiff_t>(8 * step);
      INFO(tensor.name << ", step " << step);
      CHECK(difference(elements_of(tensor), {begin, begin + 8}) < tolerance);
    }
  }
  session.run("gradient"_s = xt::xtensor<Element, 2>({2, 4}, static_cast<Element>(NAN)));
  for (const auto& tensor : session.host_tensors()) {
    INFO(tensor.name);
    if (!steps().contains(std::string(tensor.name))) continue;
    for (const double element : elements_of(tensor)) CHECK(std::isnan(element));
  }
  return weights;
}

/// A variance of 1 - (1 + 2^-20)^2.
constexpr void centered(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 4}));
  optimise<tw::float32>("weight", gradient, optim::RmsPropParameters{.alpha = 0.5, .epsilon = 0.25, .centered = true});
}

/// A first step by gradients of 1e-7, and gradients whose factor for a norm of 0.01 is no normal number of their dtype.
constexpr void small_numbers(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 4}));
  optimise<tw::float32>("adam", gradient, optim::AdamParameters{.lr = 1, .epsilon = 1e-12});
  optimise<tw::float32>("adamw", gradient,
                        optim::AdamWParameters{.lr = 1, .beta2 = 0.99999, .epsilon = 1e-12, .weight_decay = 0.0});
  tw::List<Tensor> large{ir.variable(tw::full(1000), {4096}, tw::float16, "large")};
  optim::clip_by_global_norm(large, 0.01);
  ops::host_store(ir.d2h_stream("norm", {}), ops::l2(large[0].cast(tw::float32)));
  const Tensor average = ir.variable(tw::zeros(), {}, tw::float32, "average"),
               one = ir.variable(tw::ones(), {}, tw::float32, "one");
  ops::accumulate_moving_average_(average, one, 0.9999);
}

constexpr void train(Ir& ir, const auto& parameters, const tw::train::StepOptions& options = {}) {
  tw::train::train_step(ir, tw::layers::Linear<3, {.bias = false}>{}, parameters, {{2, 4}}, options);
}
/// How far the first step of training a layer moves each element of its weight.
template <auto program>
std::vector<double> first_step() {
  tw::Session<program> session({.seed = 1, .threads = 1});
  const auto before = elements(session.get_tensor_data("weight"_s));
  session.run("image"_s = xt::xtensor<float, 2>{{1, -1, 2, 0.5}, {-1, 2, 0.5, 1}},
              "label"_s = xt::xtensor<std::int32_t, 1>{0, 2});
  const auto after = elements(session.get_tensor_data("weight"_s));
  std::vector<double> moved;
  for (std::size_t i = 0; i < before.size(); ++i) moved.push_back(std::abs(double(after[i]) - double(before[i])));
  return moved;
}

}  // namespace

TEST_CASE("SGD, AdamW, RMSprop, Adagrad and AMSGrad make PyTorch's steps, Lion its paper's") {
  CHECK(check<tw::Session<with_numbers<tw::float32>>>(3e-6) == 15);
  CHECK(check<TestSession<with_numbers<tw::float32>, tw::ipu_model>>(3e-6) == 15);
}
TEST_CASE("optimisers in float64 make them to all digits of the reference") {
  CHECK(check<tw::Session<with_numbers<tw::float64>>, double>(1e-8) == 15);
}
TEST_CASE("parameters that are tensors make the same steps") { CHECK(check<tw::Session<with_tensors>>(3e-6) == 4); }
TEST_CASE("weights in float16 with state in float32 make the steps of a model in NumPy") {
  // one unit in the last place of weights below 2
  CHECK(check<tw::Session<in_half_precision<tw::float16>>, tw::float16_t>(1e-3) == 5);
  CHECK(check<TestSession<in_half_precision<tw::float32>, tw::ipu_model>>(1e-3) == 5);
}
TEST_CASE("centred RMSprop: a variance that rounding makes negative counts as 0") {
  tw::Session<centered> session({.threads = 1});
  const float mean = 1 + 1.F / (1 << 20);
  session.write_variable_data("state of weight.second_order"_s, xt::xtensor<float, 2>(xt::ones<float>({2, 4})));
  session.write_variable_data("state of weight.first_order"_s, xt::xtensor<float, 2>(mean * xt::ones<float>({2, 4})));
  session.run("gradient"_s = xt::xtensor<float, 2>(xt::ones<float>({2, 4})));
  for (const float weight : elements(session.get_tensor_data("weight"_s))) CHECK(weight == Approx(-0.01 / 0.25));
}
TEST_CASE("small gradients, a decay close to 1 and a small norm: a first step is the rate, a clipped norm the one asked for") {
  tw::Session<small_numbers> session({.threads = 1});
  const auto outputs = session.run("gradient"_s = xt::xtensor<float, 2>(1e-7F * xt::ones<float>({2, 4})));
  for (const float weight : elements(session.get_tensor_data("adam"_s))) CHECK(weight == Approx(-1).epsilon(1e-4));
  for (const float weight : elements(session.get_tensor_data("adamw"_s))) CHECK(weight == Approx(-1).epsilon(1e-4));
  CHECK(outputs["norm"_s]() == Approx(0.01).epsilon(1e-3));  // each element is rounded to float16
  CHECK(session.get_tensor_data("average"_s)() == Approx(1e-4).epsilon(1e-6));
}
TEST_CASE("train_step takes the optimisers: each element's first step is as long as the rate says") {
  const auto check_length = [](const std::vector<double>& moved, double expected) {
    CHECK(moved.size() == 12);
    for (const double length : moved) CHECK(length == Approx(expected).epsilon(1e-4));
  };
  static constexpr optim::RmsPropParameters rmsprop{.lr = 0.5, .alpha = 0.75};
  static constexpr optim::AdagradParameters adagrad{.lr = 0.5, .lr_decay = 0.5};
  static constexpr optim::LionParameters lion{.lr = 0.5};
  static constexpr optim::AdamWParameters amsgrad{.lr = 0.5, .weight_decay = 0, .amsgrad = true};
  check_length(first_step<[](Ir& ir) { train(ir, rmsprop); }>(), 0.5 / std::sqrt(0.25));
  check_length(first_step<[](Ir& ir) { train(ir, adagrad); }>(), 0.5);
  check_length(first_step<[](Ir& ir) { train(ir, lion); }>(), 0.5);
  check_length(first_step<[](Ir& ir) { train(ir, lion, {.loss_scaling = optim::LossScaling{}}); }>(), 0.5);
  check_length(first_step<[](Ir& ir) { train(ir, amsgrad); }>(), 0.5);
}
