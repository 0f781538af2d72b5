// labels: strict
// Optimisers against PyTorch's: six steps with given gradients.
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "tilewright/optim/optim.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace optim = tw::optim;

constexpr optim::AdamParameters adam{.lr = 0.01, .first_order_dtype = tw::float32};
constexpr optim::AdamWParameters adamw{.lr = 0.01, .weight_decay = 0.1};
constexpr optim::LambParameters lamb{.lr = 0.01, .weight_decay = 0.1, .max_weight_norm = 1.0};

/// All optimisers, each on a weight of its own, with learning rates, momenta and decays that are numbers or tensors.
template <bool tensors>
constexpr void program(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {2, 3}));
  const auto optimise = [&](std::string_view name, const auto& optimiser, auto parameters, std::initializer_list<Tensor> given) {
    const Tensor weight = ir.variable(tw::zeros(), {2, 3}, tw::float32, name);
    const auto [factories, graph] = tw::create_graph(optimiser, weight, gradient, parameters);
    std::vector<Tensor> inputs{weight, gradient};
    for (const Tensor& tensor : given) inputs.push_back(tensor);
    graph.bind(factories.init(tw::text("state of ", name).view())).call_with_inputs(inputs, {});
  };
  if constexpr (!tensors) {
    optimise("adam", optim::Adam{}, adam, {});
    optimise("adamw", optim::AdamW{}, adamw, {});
    optimise("sgd", optim::Sgd{}, optim::SgdParameters{.lr = 0.1, .weight_decay = 0.1}, {});
    optimise("momentum", optim::Sgd{}, optim::SgdParameters{.lr = 0.1, .momentum = 0.9}, {});
    optimise("nesterov", optim::Sgd{}, optim::SgdParameters{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
             {});
    optimise("lamb", optim::Lamb{}, lamb, {});
  } else {
    constexpr tw::TensorSpec scalar{{}, tw::float32};
    const auto number = [&](double value) { return ir.constant(value); };
    auto adam_parameters = adam;
    adam_parameters.lr = adam_parameters.beta1 = adam_parameters.beta2 = adam_parameters.epsilon = scalar;
    optimise("adam", optim::Adam{}, adam_parameters, {number(0.01), number(0.9), number(0.999), number(1e-5)});
    auto adamw_parameters = adamw;
    adamw_parameters.weight_decay = scalar;
    optimise("adamw", optim::AdamW{}, adamw_parameters, {number(0.1)});
    optimise("sgd", optim::Sgd{}, optim::SgdParameters{.lr = scalar, .weight_decay = scalar}, {number(0.1), number(0.1)});
    optimise("momentum", optim::Sgd{}, optim::SgdParameters{.lr = 0.1, .momentum = scalar}, {number(0.9)});
    optimise("nesterov", optim::Sgd{},
             optim::SgdParameters{.lr = scalar, .momentum = scalar, .weight_decay = scalar, .nesterov = true},
             {number(0.1), number(0.9), number(0.1)});
    auto lamb_parameters = lamb;
    lamb_parameters.lr = lamb_parameters.max_weight_norm = scalar;
    optimise("lamb", optim::Lamb{}, lamb_parameters, {number(0.01), number(1)});
  }
}

template <class Session>
void check() {
  Session session({.threads = 1});
  const auto& start = reference().at("optimiser.start");
  const auto& gradients = reference().at("optimiser.gradients");
  xt::xtensor<float, 2> array({2, 3});
  std::copy(start.begin(), start.end(), array.begin());
  const auto names = std::tuple("adam"_s, "adamw"_s, "sgd"_s, "momentum"_s, "nesterov"_s, "lamb"_s);
  std::apply([&](auto... name) { (session.write_variable_data(name, array), ...); }, names);
  for (std::size_t step = 0; step < 6; ++step) {
    std::copy_n(gradients.begin() + static_cast<std::ptrdiff_t>(6 * step), 6, array.begin());
    session.run("gradient"_s = array);
  }
  const auto compare = [&](auto name) {
    const auto weight = elements(session.get_tensor_data(name));
    INFO(name.view());
    CHECK(difference({weight.begin(), weight.end()}, reference().at("optimiser." + std::string(name.view()))) < 2e-6);
  };
  std::apply([&](auto... name) { (compare(name), ...); }, names);
  array(1, 2) = NAN;  // which shows in the element's weight
  session.run("gradient"_s = array);
  const auto shows = [&](auto name) { return std::isnan(session.get_tensor_data(name)(1, 2)); };
  CHECK(std::apply([&](auto... name) { return (shows(name) && ...); }, names));
}

void check_schedule(const char* name, auto schedule) {
  const auto& rates = reference().at(name);
  for (std::size_t step = 0; step < rates.size(); ++step)
    CHECK(schedule(static_cast<std::int64_t>(step)) == Approx(rates[step]).epsilon(1e-8));
}

}  // namespace

TEST_CASE("optimisers make PyTorch's steps") {
  check<tw::Session<program<false>>>();
  check<tw::Session<program<true>>>();
  check<TestSession<program<false>, tw::ipu_model>>();
}
TEST_CASE("schedules give PyTorch's rates") {
  check_schedule("schedule.step", optim::StepDecay{.start = 0.5, .every = 5, .factor = 0.1});
  check_schedule("schedule.linear", optim::LinearDecay{.start = 0.5, .end = 0.1, .steps = 8});
  check_schedule("schedule.cosine", optim::CosineDecay{.peak = 0.5, .end = 0.1, .steps = 11});
}
TEST_CASE("schedules of no steps, and of numbers that are none") {
  CHECK(optim::LinearDecay{.start = 1, .end = 0.5, .steps = 0}(0) == 0.5);
  CHECK(optim::CosineDecay{.peak = 1, .end = 0.5, .steps = 0}(3) == 0.5);
  CHECK(optim::WarmUp{.steps = 0, .after = optim::LinearDecay{.start = 1, .end = 0.5, .steps = 0}}(0) == 0.5);
  CHECK_THROWS_WITH((optim::StepDecay{.every = 0}(0)), "StepDecay: every 0: 1 or more expected");
  CHECK_THROWS_WITH((optim::LinearDecay{.steps = -1}(0)), "LinearDecay: steps -1: 0 or more expected");
  CHECK_THROWS_WITH((optim::WarmUp{.steps = -1, .after = optim::StepDecay{}}(0)), "WarmUp: steps -1: 0 or more expected");
  CHECK_THROWS_WITH((optim::CosineDecay{.peak = NAN}(0)), "CosineDecay: peak nan: a finite number expected");
}
TEST_CASE("a schedule warms up in equal parts") {
  const optim::WarmUp schedule{.steps = 3, .after = optim::LinearDecay{.start = 1, .end = 0, .steps = 2}};
  const double rates[] = {0.25, 0.5, 0.75, 1, 0.5, 0, 0};
  for (int step = 0; step < 7; ++step) CHECK(schedule(step) == Approx(rates[step]));
}
TEST_CASE("a warm-up before a cosine is the schedule of nanoGPT's published settings") {
  const std::int64_t warm_up = 100, steps = 2000;
  const double peak = 1e-3, least = 1e-4;
  const optim::WarmUp schedule{.steps = warm_up,
                               .after = optim::CosineDecay{.peak = peak, .end = least, .steps = steps - warm_up}};
  for (std::int64_t step = 0; step <= steps; ++step) {
    const double part = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
    const double expected = step < warm_up ? peak * static_cast<double>(step + 1) / static_cast<double>(warm_up + 1)
                                           : least + 0.5 * (1 + std::cos(3.14159265358979323846 * part)) * (peak - least);
    CHECK(schedule(step) == Approx(expected).epsilon(1e-12));
  }
  CHECK(schedule(0) == Approx(1e-3 / 101));
  CHECK(schedule(100) == 1e-3);
  CHECK(schedule(steps + 1000) == 1e-4);
}
