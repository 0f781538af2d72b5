// labels: more
// A GPT whose weights are divided among four replicas, beside one replica.
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/tensor_parallel_gpt.hpp"

using tensor_parallel::train, tensor_parallel::bytes_of_step;
static_assert(tw::Session<train<4>, tw::ipu_model>::plan.collectives.bytes == bytes_of_step(4));
static_assert(tw::Session<train<1>>::plan.collectives.bytes == 0);

TEST_CASE("a GPT divided among four replicas trains as one replica does", "[tensor_parallel]") {
  tw::Session<train<1>> of_one;
  tw::Session<train<4>, tw::ipu_model> of_four;
  const auto one = tensor_parallel::trained<1>(of_one, 1), four = tensor_parallel::trained<4>(of_four, 4);
  CHECK(std::abs(four.losses[0] - one.losses[0]) < 1e-6);
  CHECK(difference(four.losses, one.losses) < 1e-4);
  CHECK(difference(one.losses, tensor_parallel::expected().at("gpt.losses")) < 1e-4);
  CHECK(one.off_gradients < 1e-5);
  CHECK(four.off_gradients < 1e-5);
}
