#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "tilewright/core/text.hpp"
#include "tilewright/execute/fault_error.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/operand/faults.hpp"

namespace tilewright::internal {

/// Throws for the first site with faults of a run. There must be one.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_first_fault(std::span<FaultRecord> faults,
                                                                     std::span<const FrozenFaultSite> sites,
                                                                     std::string_view characters) {
  const auto first = std::find_if(faults.begin(), faults.end(), [](const FaultRecord& record) { return record.count != 0; });
  const FrozenFaultSite& site = sites[static_cast<std::size_t>(first - faults.begin())];
  const auto part = [&](const PoolRange& range) { return characters.substr(range.first, range.count); };
  const auto more = first->count / site.reports - 1;
  const auto others = std::count_if(first + 1, faults.end(), [](const FaultRecord& record) { return record.count != 0; });
  Text message = text(part(site.before), first->value);
  if (more > 0) message += text(" (and ", more, " more)");
  message += part(site.after);
  if (others > 0) message += text("; faults of other ops: ", others);
  std::fill(faults.begin(), faults.end(), FaultRecord{});
  throw FaultError(message.string());
}
/// Throws for the first site with faults of a run, if there is one, and discards all faults. `characters` are those of the sites'
/// texts.
inline void throw_faults(std::span<FaultRecord> faults, std::span<const FrozenFaultSite> sites, std::string_view characters) {
  for (const FaultRecord& record : faults)
    if (record.count != 0) [[unlikely]]
      throw_first_fault(faults, sites, characters);
}

}  // namespace tilewright::internal
