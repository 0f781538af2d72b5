#pragma once
// Plans of programs that are traced and planned when this runs, and what the page says of each.
#include <cmath>
#include <string>

#include "../ipu/tables.hpp"
#include "formulas.hpp"

namespace fidelity {

/// 1,234,567
inline std::string grouped(double number) { return planned::grouped(static_cast<int64_t>(std::llround(number))); }

template <class Build>
tw::Plan plan(const Build& build, const tw::Target& target) {
  return planned::plan("", build, target).plan;
}
/// Returns how much of a tile's memory a plan needs: "194 % of a tile's memory".
inline std::string share_of_tile(const tw::Plan& plan, const tw::Target& target) {
  const double share = 100 * static_cast<double>(plan.tile.total()) / static_cast<double>(target.bytes_per_tile);
  return decimals(share, 0) + " % of a tile's memory";
}
/// Returns where the cycles of a plan go: "compute 58, exchange 34, barriers 4, streams 4 %".
inline std::string kinds_of_cycles(const tw::Plan& plan) {
  const auto percent = [&](int64_t cycles) {
    return decimals(100 * static_cast<double>(cycles) / static_cast<double>(plan.cycles.total()), 0);
  };
  return "compute " + percent(plan.cycles.compute) + ", exchange " + percent(plan.cycles.exchange) + ", barriers " +
         percent(plan.cycles.sync) + ", streams " + percent(plan.cycles.host) + " %";
}

}  // namespace fidelity
