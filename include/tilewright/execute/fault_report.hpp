#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tilewright/execute/fault_error.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/kernel/faults.hpp"

namespace tilewright::internal {

/// Throws for the first site with faults of a run, and discards all faults. `characters` are those of the sites' texts.
[[gnu::cold]] inline void throw_faults(std::span<FaultRecord> faults, std::span<const FrozenFaultSite> sites,
                                       std::string_view characters) {
  const auto first = std::find_if(faults.begin(), faults.end(), [](const FaultRecord& record) { return record.count != 0; });
  if (first == faults.end()) return;
  const FrozenFaultSite& site = sites[static_cast<std::size_t>(first - faults.begin())];
  const auto part = [&](const PoolRange& range) { return std::string(characters.substr(range.first, range.count)); };
  const auto more = first->count / site.reports - 1;
  const auto others = std::count_if(first + 1, faults.end(), [](const FaultRecord& record) { return record.count != 0; });
  std::string message = part(site.before) + std::to_string(first->value);
  if (more > 0) message += " (and " + std::to_string(more) + " more)";
  message += part(site.after);
  if (others > 0) message += "; faults of other ops: " + std::to_string(others);
  std::fill(faults.begin(), faults.end(), FaultRecord{});
  throw FaultError(message);
}

}  // namespace tilewright::internal
