// Deep Q-learning (Mnih et al., 2015): an agent learns to balance a pole on a cart by trying. The network gives the value of each
// action in a state: the sum of the rewards that are to come, of which later ones count less. A second network, the target, whose
// weights slowly follow those of the first, says how much the next state is worth.
//
// labels: none
// test:
// expect-regex: mean length of the last 20 episodes: 2[0-9][0-9]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::minimise;

constexpr int state_size = 4;  // position and speed of the cart, angle and angular speed of the pole
constexpr int actions = 2;  // the cart is pushed to the left or to the right
constexpr int batch = 128;  // transitions in a step of training
constexpr double discount = 0.99;  // how much a reward counts that comes one step later

/// The value of each action in a state.
struct Values : tw::Module<Values> {
  using Hidden = tw::layers::Linear<128>;
  BOOST_HANA_DEFINE_STRUCT(Values, (Hidden, hidden1), (Hidden, hidden2), (tw::layers::Linear<actions>, head));
  constexpr Tensor build(Tensor state) { return head(ops::relu(hidden2(ops::relu(hidden1(state))))); }
};

struct Agent : tw::Module<Agent> {
  BOOST_HANA_DEFINE_STRUCT(Agent, (Values, online), (Values, target));

  /// What the network that learns says of the actions that were taken, one in each row.
  constexpr Tensor value(Tensor state, Tensor action) { return ops::groupedgather(online(state), action, 1, batch); }
  /// What the best action in a state is worth to the target, to which no gradient goes.
  constexpr Tensor best_value(Tensor state) { return ops::max(target(state), {1}, /*keep_axes*/ true).detach(); }
};

/// Each step has the reward 1. So an action's value should be 1 and, unless the episode is over, that of the best next action.
constexpr Tensor loss(Agent& agent, Tensor state, Tensor action, Tensor next_state, Tensor goes_on) {
  return ops::smooth_l1_loss(agent.value(state, action), 1 + discount * goes_on * agent.best_value(next_state));
}
constexpr void train(tw::Ir& ir) {
  const auto variables = minimise(ir, Agent{}, loss, tw::optim::AdamWParameters{.lr = 3e-4},
                                  {{"state", {batch, state_size}},
                                   {"action", {batch, 1}, tw::int32},
                                   {"next_state", {batch, state_size}},
                                   {"goes_on", {batch, 1}}});
  tw::optim::copy_variables(variables.subtree("online"), variables.subtree("target"), {.rate = 0.005});
}

/// The best action in a state.
constexpr void act(tw::Ir& ir) {
  const Tensor state = ops::host_load(ir.h2d_stream("state", {1, state_size}));
  const auto [factories, values] = tw::create_graph(ir, Values{}, state);
  ops::host_store(ir.d2h_stream("action", {1}, tw::int32), ops::argmax(values.bind(factories.init("online")).call(state), 1));
}

using State = std::array<float, state_size>;

/// A cart with a pole on a hinge ("Neuronlike adaptive elements that can solve difficult learning control problems", Barto,
/// Sutton and Anderson, 1983), without friction. An episode ends if the pole falls, if the cart leaves the track, or after 500
/// steps.
class CartPole {
 public:
  static constexpr int longest = 500;

  const State& reset(std::mt19937& random) {
    std::uniform_real_distribution<float> small(-0.05F, 0.05F);
    for (float& number : state) number = small(random);
    steps = 0;
    return state;
  }

  /// One step of Euler's method, with a push to the left (0) or to the right (1).
  const State& push(std::int32_t action) {
    constexpr float gravity = 9.8F, mass_of_cart = 1, mass_of_pole = 0.1F, mass = mass_of_cart + mass_of_pole;
    constexpr float half_length = 0.5F, force = 10, seconds = 0.02F;
    auto& [position, speed, angle, angular_speed] = state;
    const float sine = std::sin(angle), cosine = std::cos(angle);
    const float push = ((action == 1 ? force : -force) + mass_of_pole * half_length * angular_speed * angular_speed * sine) /
                       mass;
    const float angular_acceleration = (gravity * sine - cosine * push) /
                                       (half_length * (4.0F / 3 - mass_of_pole * cosine * cosine / mass));
    const float acceleration = push - mass_of_pole * half_length * angular_acceleration * cosine / mass;
    position += seconds * speed;
    speed += seconds * acceleration;
    angle += seconds * angular_speed;
    angular_speed += seconds * angular_acceleration;
    ++steps;
    return state;
  }

  bool failed() const {
    constexpr float track = 2.4F, largest_angle = 0.2095F;  // metres from the middle; 12 degrees
    return std::abs(state[0]) > track || std::abs(state[2]) > largest_angle;
  }
  bool is_over() const { return failed() || steps == longest; }
  int length() const { return steps; }

 private:
  State state{};
  int steps = 0;
};

/// What the agent has seen: the last transitions, of which each step of training takes some at random.
struct Transition {
  State state, next_state;
  std::int32_t action;
  float goes_on;  // 0 if the episode ended by a failure, else 1
};

int main() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::uniform_int_distribution<std::int32_t> any_action(0, actions - 1);

  tw::Session<train> session({.seed = 1});
  tw::Session<act> actor;
  xt::xtensor<float, 2> state({batch, state_size}), next_state({batch, state_size}), goes_on({batch, 1});
  xt::xtensor<std::int32_t, 2> action({batch, 1});

  constexpr int most_steps = 100'000, first_steps = 1000;  // the first ones only collect transitions
  constexpr int last = 20, solved = 200;  // training ends when the last 20 episodes have this mean length
  constexpr double exploring_until = 8000, at_least = 0.05;  // the share of random actions falls from 1 to this
  constexpr std::size_t capacity = 40'000;
  std::vector<Transition> memory;
  std::vector<int> lengths;
  CartPole world;
  State now = world.reset(random);
  int mean = 0;
  for (int step = 0; step < most_steps && mean < solved; ++step) {
    Transition transition{.state = now, .next_state = {}, .action = any_action(random), .goes_on = 1};
    if (uniform(random) > std::max(1 - step / exploring_until, at_least)) {
      actor.load_from_session(session);
      const float view[1][state_size] = {{now[0], now[1], now[2], now[3]}};
      transition.action = actor.run("state"_s = view)["action"_s](0);
    }
    now = transition.next_state = world.push(transition.action);
    transition.goes_on = world.failed() ? 0 : 1;
    if (memory.size() < capacity) memory.push_back(transition);
    else memory[static_cast<std::size_t>(step) % capacity] = transition;
    if (world.is_over()) {
      lengths.push_back(world.length());
      if (lengths.size() >= last) mean = std::accumulate(lengths.end() - last, lengths.end(), 0) / last;
      now = world.reset(random);
      if (lengths.size() % 50 == 0) std::printf("step %d, episode %zu: %d steps long\n", step, lengths.size(), lengths.back());
    }

    if (step < first_steps) continue;
    std::uniform_int_distribution<std::size_t> any(0, memory.size() - 1);
    for (std::size_t i = 0; i < batch; ++i) {
      const Transition& chosen = memory[any(random)];
      std::copy(chosen.state.begin(), chosen.state.end(), &state(i, 0));
      std::copy(chosen.next_state.begin(), chosen.next_state.end(), &next_state(i, 0));
      action(i, 0) = chosen.action;
      goes_on(i, 0) = chosen.goes_on;
    }
    session.run("state"_s = state, "action"_s = action, "next_state"_s = next_state, "goes_on"_s = goes_on);
  }

  std::printf("episodes: %zu\nmean length of the last %d episodes: %d\n", lengths.size(), last, mean);
}
