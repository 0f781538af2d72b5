// labels: light
// Gradients against differences: right ones agree, wrong ones do not, and the session stays as it was.
#include "tilewright/train/check_gradients.hpp"

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
