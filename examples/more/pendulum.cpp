// A driven pendulum with friction of an unknown form: angle'' = drive cos(1.5 t) - gravity sin(angle) - friction(speed). Measured
// angles are all that is known of it. Training finds `gravity`, `drive` and a network in the place of the friction through a
// solver of fourth order (Runge and Kutta), whose steps a repeat makes. The chart pendulum.svg has the friction by the network
// and the true one.
//
// labels: more
// test:
// expect: both within 2 %
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/profile/log_chart.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
using namespace tw::literals;
namespace ops = tw::ops;
using tw::Tensor, tw::layers::Linear;

constexpr int batch = 64, measurements = 20, training_steps = 1500;  // trajectories of a training step, and angles of each
constexpr double interval = 0.1, frequency = 1.5;  // time between measurements; of the drive
constexpr int speeds = 41;  // of the drawn friction: 0, 0.05, ..., 2

/// The friction for some speeds: odd, because it acts against the speed in both directions.
struct Friction : tw::Module<Friction> {
  BOOST_HANA_DEFINE_STRUCT(Friction, (Linear<16>, hidden), (Linear<1>, head));
  constexpr Tensor half(Tensor v) { return head(ops::tanh(hidden(v.reshape({-1, 1})))).reshape(v.shape()); }
  constexpr Tensor build(Tensor v) { return half(v) - half(-v); }
};
/// From one measurement to the next: pendulums' angles, speeds and times, and the sum of the losses so far.
struct Step : tw::Module<Step> {
  BOOST_HANA_DEFINE_STRUCT(Step, (Friction, friction));
  constexpr auto build(Tensor angle, Tensor speed, Tensor time, Tensor loss, Tensor number, Tensor measured) {
    const Tensor gravity = add_variable_input("gravity", tw::ones(), {}, tw::float32);
    const Tensor drive = add_variable_input("drive", tw::ones(), {}, tw::float32);
    const auto slope = [&](Tensor at, Tensor v, double later) {  // of the speed
      return drive * ops::cos((time + later) * frequency) - gravity * ops::sin(at) - friction(v);
    };
    constexpr double h = interval;
    const Tensor v1 = speed, a1 = slope(angle, v1, 0), v2 = speed + a1 * (h / 2);
    const Tensor a2 = slope(angle + v1 * (h / 2), v2, h / 2), v3 = speed + a2 * (h / 2);
    const Tensor a3 = slope(angle + v2 * (h / 2), v3, h / 2), v4 = speed + a3 * h, a4 = slope(angle + v3 * h, v4, h);
    const Tensor next = angle + (v1 + (v2 + v3) * 2 + v4) * (h / 6);
    const Tensor error = next - ops::dynamic_slice(measured, number.reshape({1}), {0}, {1}).reshape(next.shape());
    return std::array<Tensor, 5>{next, speed + (a1 + (a2 + a3) * 2 + a4) * (h / 6), time + h, loss + ops::mean(error * error),
                                 number + 1};
  }
};
/// The mean square error of the angles of trajectories.
struct Fit : tw::Module<Fit> {
  constexpr Tensor build(Tensor angle, Tensor speed, Tensor time, Tensor measured) {
    const Tensor zero = ir().constant(0.0, tw::float32), first = ir().constant(0, tw::int32), by_time = measured.T();
    const auto [factories, step] = tw::create_graph(Step{}, angle, speed, time, zero, first, by_time);
    const auto bound = step.bind(add_variable_inputs("step", factories));
    return tw::repeat(bound, measurements, {angle, speed, time, zero, first, by_time})[3] / measurements;
  }
};
constexpr void train(tw::Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  tw::train::minimise(ir, Fit{}, tw::optim::AdamParameters{.lr = rate},
                      {{"angle", {batch}}, {"speed", {batch}}, {"time", {batch}}, {"measured", {batch, measurements}}});
}
constexpr void predict(tw::Ir& ir) {
  const Tensor speed = ops::host_load(ir.h2d_stream("speed", {speeds}));
  const auto [factories, friction] = tw::create_graph(ir, Friction{}, speed);
  ops::host_store(ir.d2h_stream("friction", {speeds}), friction.bind(factories.init("step.friction")).call(speed));
}

// ---- the true pendulum, in small steps

constexpr double true_gravity = 2, true_drive = 0.6;
double true_friction(double v) { return 0.15 * v + 0.1 * v * std::abs(v); }
struct Pendulum {
  double angle, speed, time;
  void move(double seconds) {
    constexpr int parts = 20;  // by the midpoint rule
    const double h = seconds / parts;
    const auto slope = [](double at, double v, double t) {
      return true_drive * std::cos(frequency * t) - true_gravity * std::sin(at) - true_friction(v);
    };
    for (int i = 0; i < parts; ++i, time += h) {
      const double middle = angle + speed * h / 2, faster = speed + slope(angle, speed, time) * h / 2;
      angle += faster * h;
      speed += slope(middle, faster, time + h / 2) * h;
    }
  }
};

int main() {
  tw::Session<train> session({.seed = 1});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> noise(0, 0.005);
  const auto draw = [&](std::uint64_t) {
    using Row = xt::xtensor<float, 1>;
    tw::data::Arrays some("angle"_s = Row::from_shape({batch}), "speed"_s = Row::from_shape({batch}),
                          "time"_s = Row::from_shape({batch}), "measured"_s = xt::xtensor<float, 2>({batch, measurements}));
    for (std::size_t i = 0; i < batch; ++i) {
      Pendulum pendulum{2 * uniform(random), 2 * uniform(random), 5 + 5 * uniform(random)};
      some["angle"_s](i) = static_cast<float>(pendulum.angle);
      some["speed"_s](i) = static_cast<float>(pendulum.speed);
      some["time"_s](i) = static_cast<float>(pendulum.time);
      for (std::size_t number = 0; number < measurements; ++number) {
        pendulum.move(interval);
        some["measured"_s](i, number) = static_cast<float>(pendulum.angle + noise(random));
      }
    }
    return some;
  };
  tw::train::run_steps(
      session, draw, {.steps = training_steps}, [](const tw::train::Progress&) {},
      "rate"_s = tw::optim::CosineDecay{.peak = 1e-2, .steps = training_steps});
  const double gravity = session.get_tensor_data("step.gravity"_s)(), drive = session.get_tensor_data("step.drive"_s)();
  std::printf("gravity %.4f, %.4f is right; drive %.4f, %.4f is right\n", gravity, true_gravity, drive, true_drive);

  tw::Session<predict> prediction;
  prediction.load_from_session(session);
  auto speed = xt::xtensor<float, 1>::from_shape({speeds});
  for (std::size_t i = 0; i < speeds; ++i) speed(i) = 0.05F * static_cast<float>(i);
  const auto found = prediction.run("speed"_s = speed)["friction"_s];
  tw::train::Log friction({"network", "true"});
  for (std::size_t i = 0; i < speeds; ++i) friction.add(i, {{"network", found(i)}, {"true", true_friction(speed(i))}});
  tw::LogChart(friction, friction.columns(), "friction", "speed, in steps of 0.05").write("pendulum.svg");
  const bool is_right = std::abs(gravity / true_gravity - 1) < 0.02 && std::abs(drive / true_drive - 1) < 0.02;
  std::printf("%s\n", is_right ? "both within 2 %" : "not within 2 %");
  return is_right ? 0 : 1;
}
