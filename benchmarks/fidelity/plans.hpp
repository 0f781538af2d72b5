#pragma once
// Plans of programs that are traced and planned when this runs, and what the page says of each.
#include <cmath>
#include <string>

#include "../ipu/tables.hpp"
#include "formulas.hpp"

namespace fidelity {

/// Where all plans have the operands of sums in a tile's memory.
inline tw::BankPolicy bank_policy = tw::BankPolicy::as_allocated;

/// 1,234,567
inline std::string grouped(double number) { return planned::grouped(static_cast<int64_t>(std::llround(number))); }

/// A plan, whether or not it fits. Of one that does not fit, cycles mean nothing.
struct Planned {
  tw::Plan plan{};
  tw::CyclesByKind kinds{};
  double share_of_tile = 0;  ///< of the fullest tile's memory: what the plan needs

  bool fits() const { return share_of_tile <= 1; }
  int64_t cycles() const { return plan.cycles.total(); }
  int64_t cycles_without_streams() const { return plan.cycles.total() - plan.cycles.host; }
};
template <class Build>
Planned plan(const Build& build, const tw::Target& target, tw::BankPolicy policy = bank_policy) {
  const tw::Target unlimited = target.with_bytes_per_tile(0).with_banks(policy);
  const tw::Prepared prepared = tw::prepare(*tw::trace(build, unlimited), unlimited);
  tw::KindCounter kinds;
  Planned result{tw::lower(prepared, kinds)};
  result.kinds = kinds.of_run(result.plan);
  result.share_of_tile = static_cast<double>(result.plan.tile.total()) / static_cast<double>(target.bytes_per_tile);
  return result;
}
/// Returns what a plan says, or that it does not fit.
inline Modelled modelled(const Planned& of, double value, std::string detail = {}) {
  Modelled result(of.fits() ? value : 0, std::move(detail));
  result.fits = of.fits();
  result.kinds = of.kinds;
  return result;
}
/// Returns how much of a tile's memory a plan needs: "194 % of a tile's memory".
inline std::string share_of_tile(const Planned& of) {
  const double percent = 100 * of.share_of_tile;
  return decimals(percent, std::abs(percent - 100) < 1 ? 2 : 0) + " % of a tile's memory";
}
/// Returns where the cycles of a plan go: "compute 58, exchange 34, barriers 4, streams 4 %".
inline std::string kinds_of_cycles(const tw::CycleUse& cycles) {
  const auto percent = [&](int64_t part) {
    return decimals(100 * static_cast<double>(part) / static_cast<double>(cycles.total()), 0);
  };
  return "compute " + percent(cycles.compute) + ", exchange " + percent(cycles.exchange) + ", barriers " + percent(cycles.sync) +
         ", streams " + percent(cycles.host) + " %";
}
/// Returns both, or of a plan that does not fit only its memory.
inline std::string summary(const Planned& of) {
  return (of.fits() ? kinds_of_cycles(of.plan.cycles) + "; " : "") + share_of_tile(of);
}

}  // namespace fidelity
