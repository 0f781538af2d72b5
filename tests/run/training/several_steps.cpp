// labels: strict
// Several steps of train::minimise in one program, tensors as inputs, loss scaling, variables that no gradient reaches, copies.
#include <array>
#include <cmath>
#include <limits>

#include "../../support/elements.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/train/minimise.hpp"

namespace {

using tw::Ir, tw::Module, tw::Tensor;
namespace ops = tw::ops;
namespace optim = tw::optim;
namespace train = tw::train;
using optim::SgdParameters;

constexpr std::size_t batch = 4;

/// x times a number.
template <int percent>
struct Times : Module<Times<percent>> {
  constexpr Tensor build(Tensor x) { return x * this->add_variable_input("factor", tw::full(percent / 100.0), {}); }
};
constexpr Tensor square_from(Tensor x, double target) { return ops::mean((x - target) * (x - target)); }

/// A generator v z, and a discriminator w x that takes real x for 1 and made ones for 0: its loss, and the generator's.
struct DiscriminatorLoss : Module<DiscriminatorLoss> {
  BOOST_HANA_DEFINE_STRUCT(DiscriminatorLoss, (Times<70>, generator), (Times<50>, discriminator));
  constexpr Tensor build(Tensor z, Tensor real) {
    return square_from(discriminator(real), 1) + square_from(discriminator(generator(z).detach()), 0);
  }
};
struct GeneratorLoss : Module<GeneratorLoss> {
  BOOST_HANA_DEFINE_STRUCT(GeneratorLoss, (Times<70>, generator), (Times<50>, discriminator));
  constexpr Tensor build(Tensor z) { return square_from(discriminator(generator(z)), 1); }
};
constexpr void adversaries(Ir& ir) {
  const Tensor z = ops::host_load(ir.h2d_stream("z", {batch}));
  const auto variables = train::minimise(ir, DiscriminatorLoss{}, SgdParameters{.lr = 0.1}, {z, {"real", {batch}}},
                                         {.prefix = "discriminating"});
  train::minimise(ir, GeneratorLoss{}, optim::AdamParameters{.lr = 0.1, .epsilon = 1e-12}, {z},
                  {.groups = {train::only("generator.*")}, .variables = variables, .prefix = "generating"});
}

/// Learns `online` from `target`, which follows it.
struct Follow : Module<Follow> {
  BOOST_HANA_DEFINE_STRUCT(Follow, (Times<70>, online), (Times<50>, target));
  constexpr Tensor build(Tensor x, Tensor shift) {
    const Tensor error = online(x) - target(x).detach() - shift;
    return ops::mean(error * error);
  }
};
template <int percent, int micro_batches>
constexpr void follow(Ir& ir) {
  const Tensor shift = ops::host_load(ir.h2d_stream("shift", {}));
  const auto variables = train::minimise(ir, Follow{}, SgdParameters{.lr = 0.1}, {{"x", {batch}}, shift * 2},
                                         {.micro_batches = micro_batches});
  optim::copy_variables(variables.subtree("online"), variables.subtree("target"), {.rate = percent / 100.0});
}

/// A net of a dtype, whose loss is of float32.
template <tw::DType dtype>
struct Net : Module<Net<dtype>> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<8>, fc1), (tw::layers::Linear<1>, fc2));
  constexpr Tensor build(Tensor x, Tensor y) {
    const Tensor error = ops::cast(fc2(ops::tanh(fc1(ops::cast(x, dtype)))), tw::float32) - y;
    return ops::mean(error * error);
  }
};
template <tw::DType dtype, auto options>
constexpr void fit(Ir& ir) {
  train::minimise(ir, Net<dtype>{}, SgdParameters{.lr = 0.1, .momentum = 0.9}, {{"x", {batch, 3}}, {"y", {batch, 1}}}, options());
}
constexpr auto plain = [] { return train::StepOptions{}; };
constexpr auto scaled = [] {
  return train::StepOptions{.variable_dtype = tw::float32, .loss_scaling = optim::static_loss_scaling(4096)};
};
constexpr auto scaled_in_parts = [] {
  return train::StepOptions{.micro_batches = 2,
                            .max_norm = 10,
                            .variable_dtype = tw::float32,
                            .loss_scaling = optim::LossScaling{.init_scale = 256},
                            .average = optim::AverageOptions{}};
};

}  // namespace

TEST_CASE("minimise: two steps of one program, of which one uses the other's variables") {
  tw::Session<adversaries> session({.threads = 1});
  xt::xtensor<float, 1> z(std::array{batch}), real(std::array{batch});
  double w = 0.5, v = 0.7, m = 0, u = 0;
  for (int step = 1; step <= 4; ++step) {
    double of_w = 0, of_v = 0, first = 0, second = 0;
    for (std::size_t i = 0; i < batch; ++i) {
      z(i) = static_cast<float>(i) - 1.25F;
      real(i) = static_cast<float>(i % 2) + 0.5F;
      const double made = v * z(i);
      first += (std::pow(w * real(i) - 1, 2) + std::pow(w * made, 2)) / batch;
      of_w += (2 * real(i) * (w * real(i) - 1) + 2 * made * w * made) / batch;
    }
    w -= 0.1 * of_w;
    for (std::size_t i = 0; i < batch; ++i) {
      second += std::pow(w * v * z(i) - 1, 2) / batch;
      of_v += 2 * w * z(i) * (w * v * z(i) - 1) / batch;
    }
    m = 0.9 * m + 0.1 * of_v;
    u = 0.999 * u + 0.001 * of_v * of_v;
    v -= 0.1 * m / (1 - std::pow(0.9, step)) / std::sqrt(u / (1 - std::pow(0.999, step)));
    const auto outputs = session.run("z"_s = z, "real"_s = real);
    CHECK(std::abs(outputs["discriminating.loss"_s]() - first) < 1e-5);
    CHECK(std::abs(outputs["generating.loss"_s]() - second) < 1e-5);
    CHECK(std::abs(session.get_tensor_data("discriminator.factor"_s)() - w) < 1e-5);
    CHECK(std::abs(session.get_tensor_data("generator.factor"_s)() - v) < 1e-5);
  }
}
TEST_CASE("minimise: tensors of the program as inputs, and variables that follow others") {
  xt::xtensor<float, 1> x(std::array{batch});
  xt::xtensor<float, 2> twice({2, batch});
  for (std::size_t i = 0; i < batch; ++i) x(i) = twice(0, i) = twice(1, i) = static_cast<float>(i) - 1;
  double online = 0.7, target = 0.5;
  tw::Session<follow<25, 1>> session({.threads = 1});
  tw::Session<follow<25, 2>> in_parts({.threads = 1});
  tw::Session<follow<100, 1>> copies({.threads = 1});
  for (int step = 0; step < 3; ++step) {
    double gradient = 0;
    for (std::size_t i = 0; i < batch; ++i) gradient += 2 * x(i) * ((online - target) * x(i) - 0.5) / batch;
    online -= 0.1 * gradient;
    target += 0.25 * (online - target);
    session.run("x"_s = x, "shift"_s = 0.25F);
    in_parts.run("x"_s = twice, "shift"_s = 0.25F);
    copies.run("x"_s = x, "shift"_s = 0.25F);
    CHECK(std::abs(session.get_tensor_data("online.factor"_s)() - online) < 1e-6);
    CHECK(std::abs(session.get_tensor_data("target.factor"_s)() - target) < 1e-6);
    CHECK(std::abs(in_parts.get_tensor_data("target.factor"_s)() - target) < 1e-6);
    CHECK(copies.get_tensor_data("target.factor"_s)() == copies.get_tensor_data("online.factor"_s)());
  }
}
TEST_CASE("minimise: loss scaling gives the step without it, and leaves out a step that is not finite") {
  xt::xtensor<float, 2> x({batch, 3}), y({batch, 1});
  xt::xtensor<float, 3> parts({2, batch, 3}), targets({2, batch, 1});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = parts.data()[i] = static_cast<float>(i * 7919 % 100) / 50 - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = targets.data()[i] = static_cast<float>(i % 3) - 1;
  std::copy_n(x.data(), x.size(), parts.data() + x.size());
  std::copy_n(y.data(), y.size(), targets.data() + y.size());
  tw::Session<fit<tw::float32, plain>> exact({.threads = 1});
  tw::Session<fit<tw::float16, scaled>> half({.threads = 1});
  tw::Session<fit<tw::float16, scaled_in_parts>> in_parts({.threads = 1});
  half.load_from_session(exact);
  in_parts.load_from_session(exact, {.allow_missing = true});
  const auto check = [&](const auto& session, float tolerance) {
    const Floats expected = elements(exact.get_tensor_data("fc1.weight"_s));
    const Floats found = elements(session.get_tensor_data("fc1.weight"_s));
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) < tolerance);
  };
  for (int step = 0; step < 3; ++step) {
    exact.run("x"_s = x, "y"_s = y);
    half.run("x"_s = x, "y"_s = y);
    in_parts.run("x"_s = parts, "y"_s = targets);
    check(half, 2e-3F);
    check(in_parts, 2e-3F);
  }
  const auto kept = [&] {
    return std::array{elements(in_parts.get_tensor_data("fc1.weight"_s)),
                      elements(in_parts.get_tensor_data("average.fc2.weight"_s)),
                      elements(in_parts.get_tensor_data("optimiser.fc1.weight.velocity"_s))};
  };
  const auto before = kept();
  targets(1, 2, 0) = std::numeric_limits<float>::infinity();
  in_parts.run("x"_s = parts, "y"_s = targets);
  CHECK(kept() == before);
  CHECK(in_parts.get_tensor_data("loss_scaling.scale"_s)() == 128);
  targets(1, 2, 0) = 0;
  in_parts.run("x"_s = parts, "y"_s = targets);
  CHECK(kept() != before);
}
