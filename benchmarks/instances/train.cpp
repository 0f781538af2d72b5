// The rate of training the tutorial's network on two replicas of batches of 64, in one or two processes of one thread.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tilewright/distributed/distributed.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>

#include "tutorial/net.hpp"

namespace tw = tilewright;
using namespace tw::literals;

constexpr void train(tw::Ir& ir) {
  ir.set_replication_factor(2);
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{64, 28, 28}});
}

int main() {
  tw::distributed::Session<train> session({.seed = 1, .threads = 1});
  const auto replicas = static_cast<std::size_t>(session.instance_replication_factor());
  xt::xtensor<float, 4> images({replicas, 64, 28, 28}, 0.25f);
  xt::xtensor<std::int32_t, 2> labels({replicas, 64}, 3);
  constexpr int warm_up = 50, steps = 1000;
  for (int i = 0; i < warm_up; ++i) session.run("image"_s = images, "label"_s = labels);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) session.run("image"_s = images, "label"_s = labels);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (tw::distributed::Processes::world().is_first()) std::printf("%.1f it/s\n", steps / seconds.count());
}
