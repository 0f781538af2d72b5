// Plans with faults that planners had are refused.
#include "../../support/planner_faults.hpp"

#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../catch.hpp"

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

}  // namespace
