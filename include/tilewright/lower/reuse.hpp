#pragma once
#include "tilewright/lower/schedule.hpp"

namespace tilewright {

namespace detail {
/// Whether every operand that is in this storage is the whole of it and laid out as the result is.
constexpr bool same_elements(const Schedule& schedule, const Operation& operation, int storage) {
  const Value& result = operation.operands.back();
  if (schedule.storage(storage).whole.bytes() != result.spec.bytes()) return false;
  for (int i = 0; i < operation.input_count; ++i) {
    const Value& input = operation.operands[static_cast<std::size_t>(i)];
    if (schedule.owner(input.storage) == storage && (input.layout != result.layout || input.spec != result.spec)) return false;
  }
  return true;
}
}  // namespace detail

/// The result of an elementwise op takes over the memory of an input of the same layout that nobody reads later.
constexpr void reuse_dying_inputs(Schedule& schedule) {
  Lifetimes lifetimes(schedule);
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    if (operation.is_call() || !operation.op->elementwise || !operation.fused.empty()) continue;
    const int step = static_cast<int>(i), output = operation.operands.back().storage;
    if (!schedule.in_frame(output) || lifetimes.first[static_cast<std::size_t>(output)] != step) continue;
    for (int o = 0; o < operation.input_count; ++o) {
      const int input = schedule.owner(operation.operands[static_cast<std::size_t>(o)].storage);
      if (!schedule.in_frame(input) || input == output || lifetimes.last[static_cast<std::size_t>(input)] != step ||
          !detail::same_elements(schedule, operation, input))
        continue;
      schedule.storage(output).reuses = input;
      lifetimes.last[static_cast<std::size_t>(input)] = lifetimes.last[static_cast<std::size_t>(output)];
      break;
    }
  }
}

}  // namespace tilewright
