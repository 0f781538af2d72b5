// labels: more
// The worked case of docs/how-it-works/simulated-ipu.md: changes that make a step of training faster on an IPU, and leave its
// losses.
#include <array>
#include <cmath>

#include "../../../examples/tutorial/net.hpp"
#include "../../../examples/tutorial/steps.hpp"
#include "../../catch.hpp"
#include "tilewright/data/generated_digits.hpp"
#include "tilewright/data/loader.hpp"
#include "tilewright/profile/make_profile.hpp"

namespace {

using namespace tw::literals;

template <class Model, int batch_size, int micro_batches>
constexpr void step(tw::Ir& ir) {
  tw::train::train_step(ir, Model{}, tw::optim::SgdParameters{.lr = learning_rate}, {{batch_size, 28, 28}},
                        {.micro_batches = micro_batches});
}
constexpr auto first = step<NetOutlined, 2, 4>, at_once = step<NetOutlined, 8, 1>, inlined = step<Net, 8, 1>;

// As the page says.
static_assert(tw::cycles<first, tw::gc200> == 255'966);
static_assert(tw::cycles<at_once, tw::gc200> == 65'349);
static_assert(tw::cycles<inlined, tw::gc200> == 62'043);

}  // namespace

TEST_CASE("the steps of the worked case have the same losses for 200 steps") {
  constexpr std::size_t steps = 200, batch_size = 8;
  tw::Session<first, tw::gc200> first_session({.seed = 1});
  tw::Session<at_once, tw::gc200> at_once_session;
  tw::Session<inlined, tw::gc200> inlined_session;
  at_once_session.load_from_session(first_session);
  inlined_session.load_from_session(first_session);
  const tilewright::data::Digits digits = tilewright::data::generated_digits(steps * batch_size, 1);
  tilewright::data::Loader loader(digits.train, {.batch_size = batch_size, .shuffle = true, .seed = 1});
  std::size_t done = 0;
  for (const auto& batch : loader) {
    const auto images = xt::adapt(batch.images.data(), batch.images.size(), xt::no_ownership(),
                                  std::array<std::size_t, 4>{4, 2, 28, 28});
    const auto labels = xt::adapt(batch.labels.data(), batch.labels.size(), xt::no_ownership(), std::array<std::size_t, 2>{4, 2});
    const auto expected = static_cast<float>(xt::mean(first_session.run("image"_s = images, "label"_s = labels)["loss"_s])());
    CHECK(std::abs(at_once_session.run("image"_s = batch.images, "label"_s = batch.labels)["loss"_s]() - expected) < 1e-3F);
    CHECK(std::abs(inlined_session.run("image"_s = batch.images, "label"_s = batch.labels)["loss"_s]() - expected) < 1e-3F);
    ++done;
  }
  CHECK(done == steps);
}

TEST_CASE("a session's profile has the cycles of its plan") {
  const tw::Profile profile = tw::Session<inlined, tw::gc200>().profile("inlined");
  CHECK(profile.program == "inlined");
  CHECK(profile.totals().cycles == tw::cycles<inlined, tw::gc200>);
}
