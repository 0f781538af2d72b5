#pragma once
#include "tilewright/execute/program.hpp"
#include "tilewright/lower/host/balance.hpp"

namespace tilewright {

/// How well the plan of a program follows a number of threads of the host, as a constant:
///
///     static_assert(tw::host_balance<train_step>(8).work_speedup > 6);
///
/// A machine other than the host, and what the function of a plan throws for, are compile errors there.
template <auto build, Target target = cpu>
constexpr HostBalance host_balance(int threads, Sharing sharing = Sharing::fixed, const HostCosts& costs = {}) {
  static_assert(target.ipu == nullptr, "host_balance: a target that is the host expected, such as tw::cpu");
  return host_balance(internal::Program<build, target>::plan, threads, sharing, costs);
}

}  // namespace tilewright
