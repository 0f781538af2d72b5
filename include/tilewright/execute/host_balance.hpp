#pragma once
#include "tilewright/execute/program.hpp"
#include "tilewright/lower/host/balance.hpp"

namespace tilewright {

/// Estimates how well the plan of a program scales to a number of host threads, as a constant:
///
///     static_assert(tw::host_balance<train_step>(8).work_speedup > 6);
///
/// `target` must be the host. Arguments that make tw::host_balance(plan, ...) throw are compile errors here if the result is a
/// constant.
template <auto build, Target target = cpu>
constexpr HostBalance host_balance(int threads, Sharing sharing = Sharing::fixed, const HostCosts& costs = {}) {
  static_assert(target.ipu == nullptr, "host_balance: a target that is the host expected, such as tw::cpu");
  return host_balance(internal::Program<build, target>::plan, threads, sharing, costs);
}

}  // namespace tilewright
