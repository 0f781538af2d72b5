// A GPT whose weights are divided among replicas in 1 or 2 processes, beside PyTorch.
#include <cmath>

#include "../catch.hpp"
#include "../support/tensor_parallel_gpt.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/xtensor.hpp"

namespace tw = tilewright;

TEST_CASE("a GPT divided among two replicas trains as PyTorch does") {
  if (tw::distributed::Processes::world().count() > 2) return;
  tw::distributed::Session<tensor_parallel::train<2>> session;
  const auto trained = tensor_parallel::trained<2>(session, session.instance_replication_factor());
  const auto& losses = tensor_parallel::expected().at("gpt.losses");
  CHECK(std::abs(trained.losses[0] - losses[0]) < 1e-6);
  CHECK(difference(trained.losses, losses) < 1e-4);
  CHECK(trained.off_gradients < 1e-5);
}
