// Deep Q-learning (Mnih et al., 2015): an agent learns to balance a pole on a cart by trying. The network gives the value of each
// action in a state: the sum of the rewards that are to come, of which later ones count less. A second network, the target, whose
// weights slowly follow those of the first, says how much the next state is worth.
//
// Training can end worse than it was in the middle. So the agent is evaluated ten times, by 20 episodes without random actions,
// and the weights of the best evaluation stay. The arguments are a seed, and a length at which training stops: ./dqn 3 195.
//
// labels: none
// test: 1 195
// expect-regex: best of [0-9]+ evaluations: (19[5-9]|[2-5][0-9][0-9])[.]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

constexpr int state_size = 4;  // position and speed of the cart, angle and angular speed of the pole
constexpr int actions = 2;  // the cart is pushed to the left or to the right
constexpr int batch = 128;  // transitions in a step of training
constexpr int episodes = 20;  // of an evaluation, all at once
constexpr double discount = 0.99;  // how much a reward counts that comes one step later

/// The value of each action in a state.
struct Values : tw::Module<Values> {
  using Hidden = tw::layers::Linear<128>;
  BOOST_HANA_DEFINE_STRUCT(Values, (Hidden, hidden1), (Hidden, hidden2), (tw::layers::Linear<actions>, head));
  constexpr Tensor build(Tensor state) { return head(ops::relu(hidden2(ops::relu(hidden1(state))))); }
};
struct Agent : tw::Module<Agent> {
  BOOST_HANA_DEFINE_STRUCT(Agent, (Values, online), (Values, target));
};

/// The columns of a transition: a state, the next one, the action between them, and 0 if the episode failed so, else 1. Each step
/// has the reward 1. So the value of the action should be 1 and, unless the episode failed, the value of the best next action,
/// as the target sees it. No gradient goes to the target.
constexpr int row_size = 2 * state_size + 2;
constexpr Tensor loss(Agent& agent, Tensor transitions) {
  const auto [state, next_state, action, goes_on] = ops::split(transitions, {state_size, state_size, 1, 1}, 1).as<4>();
  const Tensor value = ops::groupedgather(agent.online(state), action.cast(tw::int32), 1, batch);
  const Tensor next_value = ops::max(agent.target(next_state), {1}, /*keep_axes*/ true).detach();
  return ops::smooth_l1_loss(value, 1 + discount * goes_on * next_value);
}
constexpr void train(tw::Ir& ir) {
  const auto variables = tw::train::minimise(ir, Agent{}, loss, tw::optim::AdamWParameters{.lr = 3e-4},
                                             {{"transitions", {batch, row_size}}});
  tw::optim::copy_variables(variables.subtree("online"), variables.subtree("target"), {.rate = 0.005});
}

/// The best action in each state.
constexpr void act(tw::Ir& ir) {
  const Tensor state = ops::host_load(ir.h2d_stream("state", {episodes, state_size}));
  const auto [factories, values] = tw::create_graph(ir, Values{}, state);
  const Tensor action = ops::argmax(values.bind(factories.init("online")).call(state), 1);
  ops::host_store(ir.d2h_stream("action", {episodes}, tw::int32), action);
}

using State = std::array<float, state_size>;
using Rows = xt::xtensor<float, 2>;

/// A cart with a pole on a hinge ("Neuronlike adaptive elements that can solve difficult learning control problems", Barto,
/// Sutton and Anderson, 1983), without friction. An episode ends if the pole falls, if the cart leaves the track, or after 500
/// steps.
struct CartPole {
  State state{};
  int length = 0;

  explicit CartPole(std::mt19937& random) {
    for (float& number : state) number = std::uniform_real_distribution<float>(-0.05F, 0.05F)(random);
  }
  /// One step of Euler's method, with a push to the left (0) or to the right (1).
  void push(std::int32_t action) {
    constexpr float gravity = 9.8F, mass_of_pole = 0.1F, mass = 1 + mass_of_pole, half_length = 0.5F, force = 10, seconds = 0.02F;
    auto& [position, speed, angle, angular_speed] = state;
    const float sine = std::sin(angle), cosine = std::cos(angle), pole = mass_of_pole * half_length;
    const float push = ((action == 1 ? force : -force) + pole * angular_speed * angular_speed * sine) / mass;
    const float turn = (gravity * sine - cosine * push) / (half_length * (4.0F / 3 - mass_of_pole * cosine * cosine / mass));
    position += seconds * speed;
    speed += seconds * (push - pole * turn * cosine / mass);
    angle += seconds * angular_speed;
    angular_speed += seconds * turn;
    ++length;
  }
  bool failed() const { return std::abs(state[0]) > 2.4F || std::abs(state[2]) > 0.2095F; }  // metres; 12 degrees
  bool is_over() const { return failed() || length == 500; }
};

/// The mean length of 20 episodes, in which the agent always takes what it thinks best.
double evaluate(tw::Session<act>& actor, std::mt19937 random) {
  std::vector<CartPole> worlds;
  for (int i = 0; i < episodes; ++i) worlds.emplace_back(random);
  Rows states({episodes, state_size});
  while (std::any_of(worlds.begin(), worlds.end(), [](const CartPole& world) { return !world.is_over(); })) {
    for (std::size_t i = 0; i < episodes; ++i) std::ranges::copy(worlds[i].state, &states(i, 0));
    const auto best = actor.run("state"_s = states)["action"_s];
    for (std::size_t i = 0; i < episodes; ++i)
      if (!worlds[i].is_over()) worlds[i].push(best(i));
  }
  double sum = 0;
  for (const CartPole& world : worlds) sum += world.length;
  return sum / episodes;
}

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 1;
  const double goal = argc > 2 ? std::stod(argv[2]) : 1000;  // more than there is
  constexpr int first_steps = 1000, steps_between = 2500, most_evaluations = 10;  // the first steps only collect transitions
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };

  tw::Session<train> session({.seed = seed});
  tw::Session<act> actor, best;
  Rows seen = xt::zeros<float>({episodes, state_size}), transitions({batch, row_size});
  std::vector<std::array<float, row_size>> memory;  // all transitions
  CartPole world(random);
  double best_length = 0;
  int evaluations = 0;
  for (int step = 1; evaluations < most_evaluations && best_length < goal; ++step) {
    auto action = static_cast<std::int32_t>(below(actions));
    if (std::generate_canonical<double, 53>(random) > std::max(1 - step / 8000.0, 0.05)) {  // the share of random actions
      actor.load_from_session(session);
      std::ranges::copy(world.state, &seen(0, 0));
      action = actor.run("state"_s = seen)["action"_s](0);
    }
    const auto [position, speed, angle, turn] = world.state;
    world.push(action);
    const State& next = world.state;
    memory.push_back({position, speed, angle, turn, next[0], next[1], next[2], next[3], static_cast<float>(action),
                      world.failed() ? 0.0F : 1.0F});
    if (world.is_over()) world = CartPole(random);
    if (step < first_steps) continue;
    for (std::size_t i = 0; i < batch; ++i) std::ranges::copy(memory[below(memory.size())], &transitions(i, 0));
    session.run("transitions"_s = transitions);

    if (step % steps_between != 0) continue;
    actor.load_from_session(session);
    const double length = evaluate(actor, std::mt19937(1000 + seed));
    std::printf("evaluation %d, after %d steps: a mean length of %.1f\n", ++evaluations, step, length);
    if (length <= best_length) continue;
    best_length = length;
    best.load_from_session(session);
  }
  std::printf("best of %d evaluations: %.1f\nin other episodes: %.1f\n", evaluations, best_length,
              evaluate(best, std::mt19937(2000 + seed)));
}
