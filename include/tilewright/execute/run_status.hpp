#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/operand/faults.hpp"

namespace tilewright {

/// How a run ended that throws nothing.
enum class RunResult : std::uint8_t {
  done,  ///< without faults
  fault,  ///< an op met values with which it cannot compute: where a Session throws FaultError
  not_initialised,  ///< nothing ran: variables and constants have no values yet
  shared_memory,  ///< nothing ran: an array shares memory with another one, or with the session
  missing_array,  ///< nothing ran: a stream has no array
  misaligned_memory,  ///< nothing ran: the object's memory of a C program, or a file of read-only variables, is not aligned
  unfit_number,  ///< a function of the program gave a number for an initial value that the dtype does not have
  unfit_file  ///< nothing changed: a .safetensors file has not the tensors of the variables, or its memory is too small
};

/// The end of a run. For a fault, it has the facts of a FaultError: they name the first op, in the order of the plan, that met
/// values with which it cannot compute. The run continued to its end with another value in their place. The texts are constants,
/// and a zero follows each.
struct [[nodiscard]] RunStatus {
  RunResult result = RunResult::done;
  std::string_view before{};  ///< fault: the op and what the value is, such as "Div: divisor "; otherwise all that is wrong
  std::string_view after{};  ///< fault: what is expected, and the op's place in the model
  std::int64_t value = 0;  ///< one of the values
  std::int64_t more = 0;  ///< number of other such values that the op met
  std::int64_t others = 0;  ///< number of other ops that have met such values

  constexpr bool is_done() const { return result == RunResult::done; }
};

/// Writes the text of a status, which is that of the FaultError, as far as the memory holds it. Returns what was written.
inline std::string_view write_text(const RunStatus& status, Span<char> memory) {
  std::size_t size = 0;
  const auto add = [&](std::string_view text) {
    const std::size_t count = (std::min)(text.size(), memory.size() - size);
    if (count > 0) std::memcpy(memory.data() + size, text.data(), count);
    size += count;
  };
  const auto add_number = [&](std::int64_t number) {
    char digits[20];  // a sign and 19 digits
    add({digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  };
  add(status.before);
  if (status.result == RunResult::fault) add_number(status.value);
  if (status.more > 0) add(" (and "), add_number(status.more), add(" more)");
  add(status.after);
  if (status.others > 0) add("; faults of other ops: "), add_number(status.others);
  return {memory.data(), size};
}

namespace internal {
/// Returns the facts of the first site with faults of a run, and discards all faults. `characters` are those of the sites' texts.
inline RunStatus take_faults(Span<FaultRecord> faults, Span<const FrozenFaultSite> sites, std::string_view characters) {
  const auto has_faults = [](const FaultRecord& record) { return record.count != 0; };
  const auto first = std::find_if(faults.begin(), faults.end(), has_faults);
  if (first == faults.end()) return {};
  const FrozenFaultSite& site = sites[static_cast<std::size_t>(first - faults.begin())];
  const RunStatus status{.result = RunResult::fault,
                         .before = {characters.data() + site.before.first, site.before.count},
                         .after = {characters.data() + site.after.first, site.after.count},
                         .value = first->value,
                         .more = first->count / site.reports - 1,
                         .others = std::count_if(first + 1, faults.end(), has_faults)};
  std::fill(faults.begin(), faults.end(), FaultRecord{});
  return status;
}
}  // namespace internal

}  // namespace tilewright
