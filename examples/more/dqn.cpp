// Deep Q-learning (Mnih et al., 2015): an agent learns to balance a pole on a cart by trying. The network gives the value of each
// action in a state: the sum of the rewards that are to come, of which later ones count less. A second network, the target, whose
// weights slowly follow those of the first, says how much the next state is worth.
//
// Training can end worse than it was in the middle. So the agent is evaluated ten times, by 20 episodes without random actions,
// and the weights of the best evaluation stay. The arguments are a seed, and a length at which training stops: ./dqn 3 195. With
// the seeds 1, 2 and 3, the best evaluations have mean lengths of 255.7, 260.4 and 407.4; with -march=x86-64-v2, 257.4, 259.7 and
// 407.5 (GCC 12).
//
// labels: none
// test: 1 150
// expect-regex: best evaluation: (1[5-9][0-9]|[2-5][0-9][0-9])[.]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <tilewright/data/arrays.hpp>
#include <tilewright/data/subset.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>
#include <vector>

#include "../command_line.hpp"
#include "cart_pole.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

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

/// Each step has the reward 1. So the value of the action that was taken should be 1 and, unless the pole fell, the value of the
/// next action. The network chooses that action, and the target says its value ("Deep Reinforcement Learning with Double
/// Q-learning", van Hasselt, Guez and Silver, 2015). No gradient goes to the target.
constexpr Tensor loss(Agent& agent, Tensor state, Tensor action, Tensor next_state, Tensor goes_on) {
  const Tensor value = ops::groupedgather(agent.online(state), action, 1, batch);
  const Tensor next_action = ops::argmax(agent.online(next_state), 1).reshape({batch, 1});
  const Tensor next_value = ops::groupedgather(agent.target(next_state), next_action, 1, batch).detach();
  return ops::smooth_l1_loss(value, 1 + discount * goes_on * next_value);
}
constexpr void train(tw::Ir& ir) {
  const auto variables = tw::train::minimise(ir, Agent{}, loss, tw::optim::AdamWParameters{.lr = 1e-4},
                                             {{"state", {batch, state_size}},
                                              {"action", {batch, 1}, tw::int32},
                                              {"next_state", {batch, state_size}},
                                              {"goes_on", {batch, 1}}});
  tw::optim::copy_variables(variables.subtree("online"), variables.subtree("target"), {.rate = 0.005});
}

/// The best action in each state.
constexpr void act(tw::Ir& ir) {
  const Tensor state = ops::host_load(ir.h2d_stream("state", {episodes, state_size}));
  const auto [factories, values] = tw::create_graph(ir, Values{}, state);
  const Tensor action = ops::argmax(values.bind(factories.init("online")).call(state), 1);
  ops::host_store(ir.d2h_stream("action", {episodes}, tw::int32), action);
}

using Rows = xt::xtensor<float, 2>;

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
  const std::string wrong = argc > 1 ? check_seed(argv[1]) : "";
  const double goal = argc > 2 ? number_in(argv[2]) : 1000;  // more than there is
  if (!wrong.empty() || std::isnan(goal)) {
    std::fprintf(stderr, "error: %s\n", wrong.empty() ? "goal: a number expected" : wrong.c_str());
    return 1;
  }
  const std::uint64_t seed = argc > 1 ? std::stoull(argv[1]) : 1;
  constexpr std::size_t steps = 25'000, evaluations = 10, first_transitions = 1000, capacity = steps + first_transitions;
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };

  tw::Session<train> session({.seed = seed});
  tw::Session<act> actor, best;
  Rows seen = xt::zeros<float>({episodes, state_size});
  CartPole world(random);
  tw::data::Arrays memory("state"_s = Rows({capacity, state_size}), "action"_s = xt::xtensor<std::int32_t, 2>({capacity, 1}),
                          "next_state"_s = Rows({capacity, state_size}), "goes_on"_s = Rows({capacity, 1}));
  std::size_t known = 0;  // transitions in the memory
  const auto play = [&] {
    auto action = static_cast<std::int32_t>(below(actions));
    const double random_share = std::max(1 - static_cast<double>(known) / 8000, 0.05);
    if (std::generate_canonical<double, 53>(random) > random_share) {
      actor.load_from_session(session);
      std::ranges::copy(world.state, &seen(0, 0));
      action = actor.run("state"_s = seen)["action"_s](0);
    }
    std::ranges::copy(world.state, &memory["state"_s](known, 0));
    world.push(action);
    std::ranges::copy(world.state, &memory["next_state"_s](known, 0));
    memory["action"_s](known, 0) = action;
    memory["goes_on"_s](known++, 0) = world.failed() ? 0.0F : 1.0F;
    if (world.is_over()) world = CartPole(random);
  };
  const auto play_and_remember = [&](std::uint64_t) {  // makes the batch of a step
    do play();
    while (known < first_transitions);
    std::vector<std::size_t> some(batch);
    for (std::size_t& index : some) index = below(known);
    return tw::data::subset(memory, some);
  };

  double best_length = 0;
  const auto report = [&](const tw::train::Progress& progress) {
    if (progress.step % (steps / evaluations) != 0) return true;
    actor.load_from_session(session);
    const double length = evaluate(actor, std::mt19937(1000 + seed));
    std::printf("after %d steps: a mean length of %.1f\n", static_cast<int>(progress.step), length);
    if (length > best_length) best.load_from_session(session);
    best_length = std::max(best_length, length);
    return best_length < goal;
  };
  tw::train::run_steps(session, play_and_remember, {.steps = steps}, report);
  std::printf("best evaluation: %.1f\nin other episodes: %.1f\n", best_length, evaluate(best, std::mt19937(2000 + seed)));
}
