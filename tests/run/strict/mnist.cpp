// labels: more
// 200 steps of the tutorial's training, on all tiles of an IPU with memory of their own, give what the fast mode gives.
#include "../../../examples/tutorial/net.hpp"
#include "../../../examples/tutorial/steps.hpp"
#include "../../catch.hpp"
#include "tilewright/data/generated_digits.hpp"
#include "tilewright/data/loader.hpp"
#include "tilewright/execute/strict_executor.hpp"

using namespace tw::literals;

TEST_CASE("200 steps of the tutorial's training give in strict mode the losses and the weights of the fast mode") {
  constexpr int steps = 200, batch_size = 8;
  using Session = tw::Session<train_step<Net, batch_size, 28, 28>, tw::gc200>;
  Session fast({.seed = 1}), strict({.seed = 1, .strict = true});
  const tw::data::Digits digits = tw::data::generated_digits(steps * batch_size, 1);
  tilewright::data::Loader loader(digits.train, {.batch_size = batch_size, .shuffle = true, .seed = 1});
  for (const auto& batch : loader) {
    const auto expected = fast.run("image"_s = batch.images, "label"_s = batch.labels);
    const auto result = strict.run("image"_s = batch.images, "label"_s = batch.labels);
    REQUIRE(expected["loss"_s]() == result["loss"_s]());
  }
  const auto same = [&](auto name) { return fast.get_tensor_data(name) == strict.get_tensor_data(name); };
  CHECK((same("fc1.weight"_s) && same("fc2.weight"_s) && same("fc3.weight"_s) && same("fc4.weight"_s) && same("fc1.bias"_s)));
}
