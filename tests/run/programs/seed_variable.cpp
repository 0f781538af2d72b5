// labels: strict
// Seeds in variables: each group of replicas draws its own numbers, a run changes the seed, and a checkpoint keeps it.
#include "../../support/elements.hpp"
#include "../../support/same.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/checkpoints.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Words = std::vector<std::uint32_t>;

/// Four replicas, in two groups of neighbours. A run draws numbers, and leaves another seed for the next run.
constexpr void draws(Ir& ir) {
  ir.set_replication_factor(4);
  const auto [variable, seed] = tw::seed_variable(ir, 42, ir.replica_grouping(1, 2));
  const auto [next, now] = ops::split_random_seed(seed).as<2>();
  support::store("numbers", ops::random_uniform(now, {3}));
  ops::copy_var_update_(seed, next);
}
using Draws = tw::Session<draws>;
constexpr std::size_t replicas = 4, numbers = 3, groups = 2;

/// A seed that an op makes of another one, by docs/how-to/random.md: words 0 and 1 of another counter.
tw::PhiloxKey child_of(tw::PhiloxKey seed, std::uint32_t modifier) {
  const auto words = tw::philox({modifier, 0, 0, static_cast<std::uint32_t>(tw::detail::PhiloxUse::child_seeds)}, seed);
  return {words[0], words[1]};
}
/// What `step` draws, counted from 0, with the seeds of create_seeds; `seeds` becomes those after the step.
struct Expected {
  std::array<tw::PhiloxKey, groups> seeds{};
  Expected() {
    const auto of_host = tw::create_seeds(42, {.replicas = groups});
    for (std::size_t group = 0; group < groups; ++group) seeds[group] = {of_host(0, 0, group, 0), of_host(0, 0, group, 1)};
  }
  Floats step() {
    Floats drawn;
    for (std::size_t replica = 0; replica < replicas; ++replica)
      for (std::uint32_t i = 0; i < numbers; ++i)
        drawn.push_back(static_cast<float>(tw::philox({i, 0, 0, 0}, child_of(seeds[replica / 2], 1))[0] >> 8) / 0x1p24f);
    for (tw::PhiloxKey& seed : seeds) seed = child_of(seed, 0);
    return drawn;
  }
  Words words() const { return {seeds[0][0], seeds[0][1], seeds[1][0], seeds[1][1]}; }
};

constexpr bool each_replica_has_a_seed() {
  Ir ir;
  ir.set_replication_factor(4);
  const auto own = tw::seed_variable(ir, 1);
  const auto same = tw::seed_variable(ir, std::uint64_t{1} << 63, ir.replica_grouping(), "same");
  return own.variable.shape_on_host() == tw::Shape{4, 2} && own.variable.name() == "seed" && own.seed.shape() == tw::Shape{2} &&
         own.seed.dtype() == tw::uint32 && same.variable.shape_on_host() == tw::Shape{2};
}
static_assert(each_replica_has_a_seed());
constexpr bool one_replica_has_one_seed() {
  Ir ir;
  return tw::seed_variable(ir, 0).variable.shape_on_host() == tw::Shape{2};
}
static_assert(one_replica_has_one_seed());
TW_SAME(support::failure([](Ir& ir) { tw::seed_variable(ir, -1); }), "seed_variable: -1: a number of at least 0 expected");

}  // namespace

TEST_CASE("groups of replicas draw numbers of their own, and a run changes the seed") {
  const auto check = [](auto& session) {
    Expected expected;
    CHECK(elements(session.get_tensor_data("seed"_s)) == expected.words());
    for (int step = 0; step < 3; ++step) CHECK(elements(session.run()["numbers"_s]) == expected.step());
    CHECK(elements(session.get_tensor_data("seed"_s)) == expected.words());
    CHECK(elements(session.run()["numbers"_s]) == expected.step());
  };
  Draws on_cpu({.seed = 7, .threads = 2});
  check(on_cpu);
  TestSession<draws, tw::ipu_model> on_ipu({.threads = 2});
  check(on_ipu);
}
TEST_CASE("a checkpoint keeps a seed") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path);
  Expected expected;
  {
    Draws session({.threads = 1});
    for (int step = 0; step < 2; ++step) session.run(), expected.step();
    checkpoints.save(2, session.host_tensors());
  }
  Draws session({.threads = 1});
  session.load_tensors(checkpoints.newest()->file);
  CHECK(elements(session.run()["numbers"_s]) == expected.step());
}
