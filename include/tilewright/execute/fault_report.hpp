#pragma once
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/execute/fault_error.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/execute/run_status.hpp"
#include "tilewright/operand/faults.hpp"

namespace tilewright::internal {

/// Throws for the first site with faults of a run. There must be one.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_first_fault(Span<FaultRecord> faults, Span<const FrozenFaultSite> sites,
                                                                     std::string_view characters) {
  const RunStatus status = take_faults(faults, sites, characters);
  Text message = text(status.before, status.value);
  if (status.more > 0) message += text(" (and ", status.more, " more)");
  message += status.after;
  if (status.others > 0) message += text("; faults of other ops: ", status.others);
  throw FaultError(message.string());
}
/// Throws for the first site with faults of a run, if there is one, and discards all faults. `characters` are those of the sites'
/// texts.
inline void throw_faults(Span<FaultRecord> faults, Span<const FrozenFaultSite> sites, std::string_view characters) {
  for (const FaultRecord& record : faults)
    if (record.count != 0) [[unlikely]]
      throw_first_fault(faults, sites, characters);
}

}  // namespace tilewright::internal
