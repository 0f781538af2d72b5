#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// When ops of the main graph run: in a run, after an upload of the variables, or before their download. Names and numbers are
/// PopXL's.
enum class ExecutionContext : std::uint8_t {
  Normal,  ///< in a run
  AccumulateOuterFragment,  ///< not available: there is no accumulation loop around a run
  WeightsFromHostFragment,  ///< after the variables are copied from the host to the device
  WeightsToHostFragment,  ///< before the variables are copied from the device to the host
  OptimizerFromHostFragment,  ///< not available: optimisers keep their state in variables
  Subgraph  ///< when a call runs: ops of all graphs except the main one
};
[[nodiscard]] constexpr std::string_view to_text(ExecutionContext context) {
  constexpr std::string_view names[] = {
      "Normal",  "AccumulateOuterFragment", "WeightsFromHostFragment", "WeightsToHostFragment", "OptimizerFromHostFragment",
      "Subgraph"};
  return names[static_cast<int>(context)];
}

namespace detail {
/// Returns the place of a context in the order of contexts: later ones can read the tensors of earlier ones.
constexpr int context_order(ExecutionContext context) {
  return context == ExecutionContext::WeightsFromHostFragment ? 0 : context == ExecutionContext::WeightsToHostFragment ? 2 : 1;
}
}  // namespace detail

}  // namespace tilewright
