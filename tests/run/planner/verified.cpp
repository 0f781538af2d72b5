// labels: more
// Plans of random programs that are changed by a seed are refused, or do what they did before.
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../catch.hpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#include "../../random_programs/program.hpp"
#pragma GCC diagnostic pop
#include "../../support/changed_plans.hpp"

namespace tw = tilewright;

namespace {

tw::Prepared random_program(std::uint64_t seed, bool gradients, const tw::Target& target) {
  const auto program = [&](tw::Ir& ir) { random_programs::add_program(ir, seed, "s.", {.gradients = gradients}); };
  return tw::prepare(*tw::trace(program, target), target);
}

TEST_CASE("verified: changed plans of random programs are refused, or do what they did before") {
  support::ChangedPlans changed;
  for (std::uint64_t seed = 1; changed.count() < 1001; ++seed) {
    INFO("seed " << seed);
    changed.add(random_program(seed % 50, seed % 2 == 0, seed % 3 == 0 ? tw::ipu_model : tw::cpu), seed, 10);
  }
  changed.check();
}

}  // namespace
