#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// When ops of the main graph run: in a run, after an upload of the variables, or before their download. Names and numbers are
/// PopXL's.
enum class ExecutionContext : std::uint8_t {
  Normal,                     ///< in a run
  AccumulateOuterFragment,    ///< not available: no accumulation loop is around a run
  WeightsFromHostFragment,    ///< after the variables were copied from the host to the device
  WeightsToHostFragment,      ///< before the variables are copied from the device to the host
  OptimizerFromHostFragment,  ///< not available: optimisers have their state in variables
  Subgraph                    ///< when a call does: ops of all graphs but the main one
};
constexpr std::string_view to_text(ExecutionContext context) {
  constexpr std::string_view names[] = {
      "Normal",  "AccumulateOuterFragment", "WeightsFromHostFragment", "WeightsToHostFragment", "OptimizerFromHostFragment",
      "Subgraph"};
  return names[static_cast<int>(context)];
}

namespace detail {
/// Which context comes first: what one makes, later ones can read.
constexpr int context_order(ExecutionContext context) {
  return context == ExecutionContext::WeightsFromHostFragment ? 0 : context == ExecutionContext::WeightsToHostFragment ? 2 : 1;
}
}  // namespace detail

}  // namespace tilewright
