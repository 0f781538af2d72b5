// labels: none
// Plans that are wrong are refused: those with faults that planners had, and those that a seed changes.
#include <string>
#include <tilewright/tilewright.hpp>

#include "../../catch.hpp"
#include "../../support/changed_plans.hpp"
#include "../../support/planner_faults.hpp"

namespace tw = tilewright;

namespace {

TEST_CASE("verified: plans with faults that planners had are refused") {
  int planted = 0;
  for (const auto& fault : planner_faults::faults()) {
    int plans = 0;
    for (const tw::Target& target : {tw::cpu, tw::ipu_model}) {
      const tw::Prepared prepared = tw::prepare(*tw::trace(fault.program, target), target);
      tw::Plan plan = tw::lower(prepared);
      INFO(std::string(fault.name) << (target.ipu ? ", ipu_model" : ", cpu"));
      REQUIRE(tw::fault_of_plan(prepared, plan).string() == "");
      if (!fault.plant(plan)) continue;
      ++plans;
      CHECK(tw::fault_of_plan(prepared, plan).string() != "");
    }
    INFO(std::string(fault.name));
    CHECK(plans > 0);
    planted += plans;
  }
  INFO(planted << " plans");
  CHECK(planted >= 40);
}

TEST_CASE("verified: changed plans are refused, or do what they did before") {
  using namespace planner_faults;
  support::ChangedPlans changed;
  std::uint64_t seed = 0;
  for (const auto program : {layer, softmax, chain, updates, calls, loops, rows, streams})
    for (const tw::Target& target : {tw::cpu, tw::ipu_model})
      changed.add(tw::prepare(*tw::trace(program, target), target), ++seed, 10);
  CHECK(changed.count() >= 100);
  changed.check();
}

}  // namespace
