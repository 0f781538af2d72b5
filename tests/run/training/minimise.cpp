// labels: strict
// Steps of any loss: their numbers are those of formulas written out here, and of steps of other programs that must agree.
#include "tilewright/train/minimise.hpp"

#include <array>
#include <cmath>

#include "../../support/elements.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Module, tw::Tensor;
namespace ops = tw::ops;
namespace train = tw::train;
using tw::optim::SgdParameters;

constexpr std::size_t rows = 6, size = 3;
using Rows = std::array<float, rows * size>;

/// y = x weight + bias for a row.
struct Line : Module<Line> {
  constexpr Tensor build(Tensor x) {
    const Tensor weight = add_variable_input("weight", tw::zeros(), {size});
    return ops::sum(x * weight, {-1}) + add_variable_input("bias", tw::zeros(), {});
  }
};
struct MeanSquare : Module<MeanSquare> {
  BOOST_HANA_DEFINE_STRUCT(MeanSquare, (Line, line));
  constexpr std::pair<Tensor, Tensor> build(Tensor x, Tensor y) {
    const Tensor prediction = line(x), error = prediction - y;
    return {ops::mean(error * error), prediction};
  }
};
/// The mean over rows whose weight is not 0.
struct Counted : Module<Counted> {
  BOOST_HANA_DEFINE_STRUCT(Counted, (Line, line));
  constexpr std::pair<train::MeanLoss, Tensor> build(Tensor x, Tensor y, Tensor counts) {
    const Tensor prediction = line(x), error = prediction - y;
    return {train::MeanLoss(ops::sum(error * error * counts), ops::sum(counts)), prediction};
  }
};

struct Data {
  Rows x{};
  std::array<float, rows> y{}, counts{1, 1, 0, 1, 0, 0};
  Data() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 100) / 50 - 1;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 4) - 1.5F;
  }
};
template <std::size_t rank>
auto array(const auto& values, const std::array<std::size_t, rank>& shape) {
  xt::xtensor<float, rank> result(shape);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

/// What gradient descent on the mean of counted squares gives, in float64.
struct Expected {
  std::array<double, size> weight{};
  double bias = 0, loss = 0;
  void step(const Data& data, double lr, bool all = true, double weight_decay = 0) {
    std::array<double, size> gradient{};
    double of_bias = 0, count = 0;
    loss = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const double factor = all ? 1 : data.counts[row];
      double error = bias - data.y[row];
      for (std::size_t i = 0; i < size; ++i) error += weight[i] * data.x[row * size + i];
      loss += factor * error * error;
      count += factor;
      of_bias += 2 * factor * error;
      for (std::size_t i = 0; i < size; ++i) gradient[i] += 2 * factor * error * data.x[row * size + i];
    }
    loss /= count;
    for (std::size_t i = 0; i < size; ++i) weight[i] -= lr * (gradient[i] / count + weight_decay * weight[i]);
    bias -= lr * of_bias / count;
  }
};
void check_line(auto& session, const Expected& expected) {
  const Floats weight = elements(session.get_tensor_data("line.weight"_s));
  for (std::size_t i = 0; i < size; ++i) CHECK(std::abs(weight[i] - expected.weight[i]) < 2e-6);
  CHECK(std::abs(session.get_tensor_data("line.bias"_s)() - expected.bias) < 2e-6);
}

constexpr SgdParameters sgd{.lr = 0.1};

constexpr void fit(Ir& ir) {
  train::minimise(ir, MeanSquare{}, sgd, {{"x", {rows, size}}, {"y", {rows}}}, {.outputs = {"prediction"}});
}
/// As `fit`, by a function of a model.
constexpr void fit_model(Ir& ir) {
  const auto loss = [](Line& line, Tensor x, Tensor y) {
    const Tensor error = line(x) - y;
    return ops::mean(error * error);
  };
  train::minimise(ir, Line{}, loss, sgd, {{"x", {rows, size}}, {"y", {rows}}});
}

constexpr void counted(Ir& ir) {
  train::minimise(ir, Counted{}, sgd, {{"x", {rows, size}}, {"y", {rows}}, {"counts", {rows}}}, {.outputs = {"prediction"}});
}
constexpr void counted_in_parts(Ir& ir) {
  train::minimise(ir, Counted{}, sgd, {{"x", {2, size}}, {"y", {2}}, {"counts", {2}}},
                  {.micro_batches = 3, .outputs = {"prediction"}});
}
template <int micro_batches>
constexpr void counted_on_replicas(Ir& ir) {
  ir.set_replication_factor(3);
  constexpr std::int64_t part = 2 / micro_batches;
  train::minimise(ir, Counted{}, sgd, {{"x", {part, size}}, {"y", {part}}, {"counts", {part}}}, {.micro_batches = micro_batches});
}

struct TwoLayers : Module<TwoLayers> {
  BOOST_HANA_DEFINE_STRUCT(TwoLayers, (tw::layers::Linear<4>, fc1), (tw::layers::Linear<1>, fc2));
  constexpr Tensor build(Tensor x) { return fc2(ops::tanh(fc1(x))); }
};
/// The mean square of the error, in float32.
constexpr Tensor square_error(TwoLayers& net, Tensor x, Tensor y) {
  const Tensor error = ops::cast(net(x), tw::float32) - y;
  return ops::mean(error * error);
}
/// Steps of the same net with other options.
template <auto options>
constexpr void fit_layers(Ir& ir) {
  train::minimise(ir, TwoLayers{}, square_error, SgdParameters{.lr = 0.1, .weight_decay = 0.5},
                  {{"x", {rows, size}}, {"y", {rows, 1}}}, options());
}
constexpr auto plain = [] { return train::StepOptions{}; };
constexpr auto in_groups = [] {
  return train::StepOptions{.groups = {{"*.bias", {.weight_decay = 0}}, {"fc2.*", {.lr = 0.2}}, train::frozen("fc1.w*t")}};
};
constexpr auto frozen_in_parts = [] { return train::StepOptions{.micro_batches = 2, .groups = {train::frozen("fc1*")}}; };
constexpr auto averaged = [] { return train::StepOptions{.average = tw::optim::AverageOptions{.decay = 0.75}}; };
constexpr void use_layers(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {rows, size}));
  const auto [factories, graph] = tw::create_graph(ir, TwoLayers{}, x);
  store("y", graph.bind(factories.init()).call(x)[0]);
}

template <auto program>
void on_machines(auto check) {
  tw::Session<program> host({.threads = 1});
  check(host);
  TestSession<program, tw::ipu_model> ipu({.threads = 1});
  check(ipu);
}

}  // namespace

TEST_CASE("minimise: a step is gradient descent on the loss, and gives its other outputs") {
  on_machines<fit>([](auto& session) {
    const Data data;
    Expected expected;
    for (int step = 0; step < 5; ++step) {
      const auto outputs = session.run("x"_s = array<2>(data.x, {rows, size}), "y"_s = array<1>(data.y, {rows}));
      if (step == 0) CHECK(outputs["prediction"_s](5) == 0);
      expected.step(data, 0.1);
      CHECK(std::abs(outputs["loss"_s]() - expected.loss) < 1e-6);
      check_line(session, expected);
    }
  });
}
TEST_CASE("minimise: a function of a model gives variables the model's names") {
  tw::Session<fit_model> session({.threads = 1});
  const Data data;
  Expected expected;
  session.run("x"_s = array<2>(data.x, {rows, size}), "y"_s = array<1>(data.y, {rows}));
  expected.step(data, 0.1);
  CHECK(std::abs(session.get_tensor_data("weight"_s)(1) - expected.weight[1]) < 1e-6);
  CHECK(std::abs(session.get_tensor_data("bias"_s)() - expected.bias) < 1e-6);
}
TEST_CASE("minimise: what counts counts the same in every micro-batch and on every replica") {
  const Data data;
  Expected expected;
  const auto check = [&](auto& session, const auto& x, const auto& y, const auto& counts) {
    expected = {};
    for (int step = 0; step < 3; ++step) {
      session.run("x"_s = x, "y"_s = y, "counts"_s = counts);
      expected.step(data, 0.1, false);
      check_line(session, expected);
    }
  };
  on_machines<counted>([&](auto& session) {
    check(session, array<2>(data.x, {rows, size}), array<1>(data.y, {rows}), array<1>(data.counts, {rows}));
  });
  on_machines<counted_in_parts>([&](auto& session) {  // the last micro-batch has one row that counts
    check(session, array<3>(data.x, {3, 2, size}), array<2>(data.y, {3, 2}), array<2>(data.counts, {3, 2}));
  });
  on_machines<counted_on_replicas<1>>([&](auto& session) {
    check(session, array<3>(data.x, {3, 2, size}), array<2>(data.y, {3, 2}), array<2>(data.counts, {3, 2}));
  });
}

TEST_CASE("minimise: a micro-batch of which nothing counts changes nothing") {
  tw::Session<counted_on_replicas<2>> session({.threads = 1});
  Data data;
  const auto run = [&] {
    return elements(session.run("x"_s = array<4>(data.x, {2, 3, 1, size}), "y"_s = array<3>(data.y, {2, 3, 1}),
                                "counts"_s = array<3>(data.counts, {2, 3, 1}))["loss"_s]);
  };
  data.counts.fill(0);
  CHECK(run() == Floats(6, 0.F));
  CHECK(elements(session.get_tensor_data("line.weight"_s)) == Floats(size, 0.F));
  data = {};
  Expected expected;
  const Floats losses = run();
  expected.step(data, 0.1, false);
  check_line(session, expected);
  CHECK(std::abs(losses[0] - data.y[0] * data.y[0]) < 1e-6F);  // of one row
  CHECK(losses[2] == 0);
}
TEST_CASE("minimise: groups have rates and decays of their own, and frozen variables stay") {
  const Data data;
  const auto x = array<2>(data.x, {rows, size});
  const auto y = array<2>(data.y, {rows, 1});
  tw::Session<fit_layers<plain>> all({.threads = 1});
  tw::Session<fit_layers<in_groups>> session({.threads = 1});
  const Floats weight1 = elements(session.get_tensor_data("fc1.weight"_s)),
               bias1 = elements(session.get_tensor_data("fc1.bias"_s)),
               weight2 = elements(session.get_tensor_data("fc2.weight"_s));
  REQUIRE(weight1 == elements(all.get_tensor_data("fc1.weight"_s)));
  all.run("x"_s = x, "y"_s = y);
  session.run("x"_s = x, "y"_s = y);
  CHECK(elements(session.get_tensor_data("fc1.weight"_s)) == weight1);
  CHECK(elements(all.get_tensor_data("fc1.weight"_s)) != weight1);
  const Floats bias_with_decay = elements(all.get_tensor_data("fc1.bias"_s)),
               bias_now = elements(session.get_tensor_data("fc1.bias"_s));
  for (std::size_t i = 0; i < bias1.size(); ++i) CHECK(std::abs(bias_now[i] - (bias_with_decay[i] + 0.05F * bias1[i])) < 1e-6F);
  const Floats once = elements(all.get_tensor_data("fc2.weight"_s)), twice = elements(session.get_tensor_data("fc2.weight"_s));
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(std::abs(twice[i] - weight2[i] - 2 * (once[i] - weight2[i])) < 1e-6F);
}
TEST_CASE("minimise: nothing is kept or computed for what is frozen") {
  using Frozen = tw::Session<fit_layers<frozen_in_parts>>;
  const auto has = [](std::string_view text) {
    for (std::size_t v = 0; v < Frozen::plan.variables.size(); ++v)
      if (Frozen::plan.variable_name(v).find(text) != std::string_view::npos) return true;
    return false;
  };
  CHECK(has("gradients.accum.fc2.weight"));
  CHECK_FALSE(has("gradients.accum.fc1"));
  CHECK_FALSE(has("optimiser.fc1"));
}
TEST_CASE("minimise: averages of variables, which a session for tests takes") {
  const Data data;
  tw::Session<fit_layers<averaged>> session({.threads = 1});
  Floats expected;
  for (int step = 0; step < 4; ++step) {
    session.run("x"_s = array<2>(data.x, {rows, size}), "y"_s = array<2>(data.y, {rows, 1}));
    const Floats now = elements(session.get_tensor_data("fc1.weight"_s));
    if (step == 0) expected = now;
    for (std::size_t i = 0; i < now.size(); ++i) expected[i] = 0.75F * expected[i] + 0.25F * now[i];
  }
  const Floats average = elements(session.get_tensor_data("average.fc1.weight"_s));
  for (std::size_t i = 0; i < average.size(); ++i) CHECK(std::abs(average[i] - expected[i]) < 1e-6F);
  tw::Session<use_layers> test({.threads = 1});
  test.load_from_session(session, "average"_s);
  CHECK(elements(test.get_tensor_data("fc1.weight"_s)) == average);
  test.load_from_session(session);
  CHECK(elements(test.get_tensor_data("fc1.weight"_s)) == elements(session.get_tensor_data("fc1.weight"_s)));
}
