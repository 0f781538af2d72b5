// labels: none
// Gradients against differences: right ones agree, wrong ones do not, and the session stays as it was.
#include "tilewright/train/check_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../../support/elements.hpp"
#include "tilewright/layers/layers.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace train = tw::train;

template <tw::DType dtype>
struct Net : tw::Module<Net<dtype>> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<6>, fc1), (tw::layers::Linear<2>, fc2));
  constexpr Tensor build(Tensor x) { return fc2(ops::tanh(fc1(ops::cast(x, dtype)))); }
};
/// Right, or with the gradient of one of two factors left out.
template <tw::DType dtype, bool right>
constexpr void mean_square(Ir& ir) {
  const auto loss = [](Net<dtype>& net, Tensor x, Tensor y) {
    const Tensor error = net(x) - ops::cast(y, dtype);
    if (right) return ops::mean(error * error);
    return ops::mean(error * error.detach());
  };
  train::gradients(ir, Net<dtype>{}, loss, {{"x", {5, 3}}, {"y", {5, 2}}});
}
/// With running statistics, which a run changes, in two micro-batches.
struct Normalised : tw::Module<Normalised> {
  BOOST_HANA_DEFINE_STRUCT(Normalised, (tw::layers::Conv2d<4, 3>, conv), (tw::layers::BatchNorm<>, norm),
                           (tw::layers::Linear<3>, fc));
  constexpr Tensor build(Tensor x) {
    const Tensor features = ops::tanh(norm(conv(x)));
    return fc(features.reshape({x.shape(0), -1}));
  }
};
constexpr void classes(Ir& ir) {
  const auto loss = [](Normalised& net, Tensor x, Tensor label) { return ops::cross_entropy(net(x), label); };
  train::gradients(ir, Normalised{}, loss, {{"x", {4, 1, 4, 4}}, {"label", {4}, tw::int32}},
                   {.micro_batches = 2, .max_norm = 1e-3, .groups = {{"*.bias", {.weight_decay = 0}}, train::frozen("fc.bias")}});
}

template <class Session>
train::CheckedGradients check(Session& session, const train::GradientCheckOptions& options = {}) {
  xt::xtensor<float, 2> x({5, 3}), y({5, 2});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7919 % 100) / 50 - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(i % 3) - 1;
  return train::check_gradients(session, options, [&](Session& s) { return s.run("x"_s = x, "y"_s = y); });
}

/// The derivative of a net's result for its input, with a second derivative of each activation.
struct Slope : tw::Module<Slope> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, net] = tw::create_graph(Net<tw::float64>{}, x);
    const auto variables = add_variable_inputs("net", factories);
    const auto gradient = tw::autodiff(net, {.grads_required = {{net.graph().input(0)}}});
    const auto call = net.bind(variables).call_with_info(x);
    const Tensor dy = ir().constant({1}, call.output(0).shape(), x.dtype());
    return gradient.call(dy, gradient.grad_graph_info().inputs_dict(call));
  }
};
/// A gradient penalty, as for a critic of a Wasserstein GAN.
struct Penalty : tw::Module<Penalty> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, slope] = tw::create_graph(Slope{}, x);
    const Tensor dx = slope.bind(add_variable_inputs("slope", factories)).call(x);
    return ops::mean((dx - 1) * (dx - 1));
  }
};
constexpr void penalty(Ir& ir) { train::gradients(ir, Penalty{}, {{"x", {5, 3}, tw::float64}}); }

/// Elementwise ops, by number.
constexpr int op_count = 15;
constexpr Tensor apply_op(int op, Tensor x) {
  switch (op) {
    case 0: return ops::exp(x);
    case 1: return ops::log(x);
    case 2: return ops::log2(x);
    case 3: return ops::sqrt(x);
    case 4: return ops::sin(x);
    case 5: return ops::cos(x);
    case 6: return ops::tanh(x);
    case 7: return ops::sigmoid(x);
    case 8: return ops::softplus(x, 2, 3);
    case 9: return ops::swish(x);
    case 10: return ops::gelu(x);
    case 11: return ops::geluerf(x);
    case 12: return ops::pow(x, 2.5);
    case 13: return ops::abs(x) / (x * x);
    default: return ops::relu(x) * ops::clip(x, 0.5, 1.5);
  }
}
double formula(int op, double x) {
  constexpr double pi = 3.141592653589793;
  switch (op) {
    case 0: return std::exp(x);
    case 1: return std::log(x);
    case 2: return std::log2(x);
    case 3: return std::sqrt(x);
    case 4: return std::sin(x);
    case 5: return std::cos(x);
    case 6: return std::tanh(x);
    case 7: return 1 / (1 + std::exp(-x));
    case 8: return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2;
    case 9: return x / (1 + std::exp(-x));
    case 10: return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
    case 11: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case 12: return std::pow(x, 2.5);
    case 13: return 1 / x;
    default: return x * std::min(1.5, std::max(0.5, x));
  }
}
/// The second derivative of each op, for a row of x each.
constexpr void second_derivatives(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {op_count, 3}, tw::float64));
  const auto derivative = [](tw::Graph f, Tensor v) {
    const auto gradient = tw::autodiff(f);
    const Tensor result = f.output(0), dy = v.ir().constant({1}, result.shape(), result.dtype());
    return tw::call(gradient.graph(), {dy}, gradient.inputs_dict(tw::call_with_info(f, v)))[0];
  };
  const tw::Graph rows = ir.create_graph(
      [](Tensor v) {
        Tensor sum = v * 0;
        for (int op = 0; op < op_count; ++op) {
          tw::List<double> mask(op_count, 0.0);
          mask[op] = 1;
          sum = sum + apply_op(op, v) * v.ir().constant(mask, {op_count, 1}, tw::float64);
        }
        return sum;
      },
      x);
  const tw::Graph first = ir.create_graph([&](Tensor v) { return derivative(rows, v); }, x);
  store("second", derivative(first, x));
}

}  // namespace

TEST_CASE("check_gradients: a right gradient agrees, in the dtypes of floating point") {
  tw::Session<mean_square<tw::float32, true>> session({.seed = 3, .threads = 1});
  const Floats before = elements(session.get_tensor_data("fc1.weight"_s));
  const auto checked = check(session, {.elements = 100});
  INFO(checked.text());
  CHECK(checked.agree());
  CHECK(checked.elements.size() == 3 * 6 + 6 + 6 * 2 + 2);
  CHECK(elements(session.get_tensor_data("fc1.weight"_s)) == before);

  tw::Session<mean_square<tw::float64, true>> exact({.seed = 3, .threads = 1});
  const auto of_float64 = check(exact, {.tolerance = 1e-8});
  INFO(of_float64.text());
  CHECK(of_float64.agree());
  CHECK(of_float64.elements.size() == 4 * 3 + 2);
}
TEST_CASE("check_gradients: a gradient that is half of what it should be does not agree") {
  tw::Session<mean_square<tw::float32, false>> session({.seed = 3, .threads = 1});
  const auto checked = check(session, {.names = "fc2.*"});
  REQUIRE(checked.elements.size() == 6);
  for (const auto& each : checked.elements) {
    CHECK_FALSE(each.agrees());
    CHECK(each.gradient == Approx(each.difference / 2).epsilon(0.01));
  }
  CHECK(checked.text().find("fc2.bias[0]: gradient ") != std::string::npos);
  CHECK_THROWS_WITH(check(session, {.names = "fc3"}),
                    "check_gradients: nothing to check: a session of train::gradients, and a pattern of names of its variables, "
                    "expected");
}
TEST_CASE("check_gradients: options that are no numbers of elements, steps or tolerances") {
  tw::Session<mean_square<tw::float32, true>> session({.threads = 1});
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(check(session, {.elements = 0}), "check_gradients: elements 0.000000: at least 1 expected");
  for (const double wrong : {-1.0, infinity, nan}) {
    CHECK_THROWS_AS(check(session, {.step = wrong}), std::invalid_argument);
    CHECK_THROWS_AS(check(session, {.tolerance = wrong}), std::invalid_argument);
  }
  CHECK(check(session, {.seed = 7, .step = 0.01, .tolerance = 0.05}).agree());
}
TEST_CASE("check_gradients: statistics that a run changes stay, and micro-batches have one mean") {
  tw::Session<classes> session({.seed = 3, .threads = 1});
  const Floats before = elements(session.get_tensor_data("norm.running_mean"_s));
  xt::xtensor<float, 5> x({2, 4, 1, 4, 4});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7919 % 100) / 50 - 1;
  const xt::xtensor<std::int32_t, 2> label{{0, 1, 2, 1}, {2, 2, 0, 1}};
  const auto checked = train::check_gradients(session, {}, [&](auto& s) { return s.run("x"_s = x, "label"_s = label); });
  INFO(checked.text());
  CHECK(checked.agree());
  CHECK(checked.elements.size() == 4 * 5);  // of all but the frozen one; options of updates change no gradient
  CHECK(elements(session.get_tensor_data("norm.running_mean"_s)) == before);
}
TEST_CASE("check_gradients: the gradient of a gradient penalty agrees") {
  tw::Session<penalty> session({.seed = 3, .threads = 1});
  xt::xtensor<double, 2> x({5, 3});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>(i * 7919 % 100) / 50 - 1;
  const auto checked = train::check_gradients(session, {.tolerance = 1e-6}, [&](auto& s) { return s.run("x"_s = x); });
  INFO(checked.text());
  CHECK(checked.agree());
  CHECK(checked.elements.size() == 3 * 4);  // no gradient reaches the last bias
}
TEST_CASE("second derivatives of elementwise ops") {
  tw::Session<second_derivatives> session({.threads = 1});
  const double points[] = {0.3, 1.1, 2};
  xt::xtensor<double, 2> x({op_count, 3});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = points[i % 3];
  const auto second = elements(session.run("x"_s = x)["second"_s]);
  for (int op = 0; op < op_count; ++op)
    for (int k = 0; k < 3; ++k) {
      INFO("op " << op << " of " << points[k]);
      const auto f = [&](double change) { return formula(op, points[k] + change); };
      const double h = 2e-3, sum = 16 * (f(h) + f(-h)) - 30 * f(0) - f(2 * h) - f(-2 * h);  // differences of order 4
      CHECK(second[static_cast<std::size_t>(3 * op + k)] == Approx(sum / (12 * h * h)).epsilon(1e-6).margin(1e-7));
    }
}
