// A physics-informed network (Raissi, Perdikaris and Karniadakis, 2019) for the heat equation u_t = a u_xx, a = 0.2, on a rod
// from x = 0 to 1. Its ends stay at 0, and it begins as sin(pi x). No temperature is given to the training: the loss is the mean
// square of u_t - a u_xx at random points. The closed form, exp(-a pi^2 t) sin(pi x), only tells the error. The chart
// heat_network.svg has the rod at three times.
//
// labels: more
// test:
// expect-regex: error: [01]\.[0-9]+ % of the closed form
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/derivatives.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/profile/log_chart.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
using namespace tw::literals;
namespace ops = tw::ops;
using tw::Tensor, tw::layers::Linear;

constexpr double pi = std::numbers::pi, diffusivity = 0.2;
constexpr int batch = 256, steps = 2000;
constexpr int positions = 101, moments = 3;  // of the rod that is drawn

/// The temperature at points (x, t), one a row: sin(pi x) + t x (1 - x) net(x, t), so that the start and the ends are as they
/// should be, whatever the network is (Lagaris, Likas and Fotiadis, 1998).
struct Temperature : tw::Module<Temperature> {
  BOOST_HANA_DEFINE_STRUCT(Temperature, (Linear<32>, hidden1), (Linear<32>, hidden2), (Linear<1>, head));
  constexpr Tensor build(Tensor points) {
    const Tensor x = points[{tw::all, 0}], t = points[{tw::all, 1}];
    const Tensor net = head(ops::tanh(hidden2(ops::tanh(hidden1(points)))));
    return ops::sin(x * pi) + t * x * (1 - x) * net.reshape(x.shape());
  }
};
/// The sum of all temperatures, whose gradient has u_x and u_t of each point as its row.
struct Total : tw::Module<Total> {
  BOOST_HANA_DEFINE_STRUCT(Total, (Temperature, temperature));
  constexpr Tensor build(Tensor points) { return ops::sum(temperature(points)); }
};
/// The mean square of u_t - a u_xx.
struct Residual : tw::Module<Residual> {
  constexpr Tensor build(Tensor points) {
    const auto [factories, total] = tw::create_graph(Total{}, points);
    const auto bound = total.bind(add_variable_inputs("net", factories));
    const Tensor along_x = ops::expand(ir().constant(tw::List<double>{1, 0}, {2}), points.shape());
    const auto [first, second] = tw::jvp(tw::grad(bound), points, along_x);  // rows (u_x, u_t) and (u_xx, u_xt)
    const Tensor u_t = first[0][{tw::all, 1}], u_xx = second[0][{tw::all, 0}];
    const Tensor residual = u_t - u_xx * diffusivity;
    return ops::mean(residual * residual);
  }
};
constexpr void train(tw::Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  tw::train::minimise(ir, Residual{}, tw::optim::AdamParameters{.lr = rate}, {{"points", {batch, 2}}});
}

/// The temperatures of the rod at some times.
constexpr void predict(tw::Ir& ir) {
  const Tensor points = ops::host_load(ir.h2d_stream("points", {moments * positions, 2}));
  const auto [factories, net] = tw::create_graph(ir, Temperature{}, points);
  const auto variables = factories.init("net.temperature");
  ops::host_store(ir.d2h_stream("temperatures", {moments * positions}), net.bind(variables).call(points));
}

double closed_form(double x, double t) { return std::exp(-diffusivity * pi * pi * t) * std::sin(pi * x); }

int main() {
  tw::Session<train> session({.seed = 1});
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform;
  const auto draw = [&](std::uint64_t) {
    tw::data::Arrays points("points"_s = xt::xtensor<float, 2>({batch, 2}));
    for (float& number : points["points"_s]) number = uniform(random);  // x and t from 0 to 1
    return points;
  };
  const auto report = [](const tw::train::Progress& progress) {
    if (progress.step % 500 == 0)
      std::printf("step %d: mean square of u_t - a u_xx %.6f\n", static_cast<int>(progress.step),
                  static_cast<double>(progress.loss));
  };
  tw::train::run_steps(session, draw, {.steps = steps}, report, "rate"_s = tw::optim::CosineDecay{.peak = 3e-3, .steps = steps});

  tw::Session<predict> prediction;
  prediction.load_from_session(session);
  xt::xtensor<float, 2> points({moments * positions, 2});
  for (std::size_t i = 0; i < moments * positions; ++i) {
    points(i, 0) = static_cast<float>(i % positions) / (positions - 1);
    points(i, 1) = static_cast<float>(i / positions) / (moments - 1);
  }
  const auto found = prediction.run("points"_s = points)["temperatures"_s];

  double squares = 0, square_errors = 0;
  tw::train::Log rod({"t = 0", "t = 0.5", "t = 1", "closed form"});
  for (std::size_t i = 0; i < positions; ++i) {
    const auto exact = [&](std::size_t time) { return closed_form(points(i, 0), points(time * positions, 1)); };
    for (std::size_t time = 0; time < moments; ++time) {
      squares += std::pow(exact(time), 2);
      square_errors += std::pow(exact(time) - double{found(time * positions + i)}, 2);
    }
    // dots of the closed form lie on the curves in turn
    rod.add(i, {{"t = 0", found(i)},
                {"t = 0.5", found(positions + i)},
                {"t = 1", found(2 * positions + i)},
                {"closed form", i % 4 == 0 ? exact(i / 4 % moments) : std::nan("")}});
  }
  tw::LogChart(rod, rod.columns(), "temperature", "x, in percent of the rod").write("heat_network.svg");
  std::printf("error: %.3f %% of the closed form\n", 100 * std::sqrt(square_errors / squares));
}
