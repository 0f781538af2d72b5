#pragma once
#include "tilewright/lower/schedule.hpp"

namespace tilewright {

namespace detail {
/// Whether the operation alone in its group uses the storage, as the whole of it and laid out as its result is.
constexpr bool same_elements(const Schedule& schedule, const Group& group, const Operation& operation, int storage) {
  const Value& result = operation.operands.back();
  if (schedule.storage(storage).whole.bytes() != result.spec.bytes()) return false;
  bool same = true;
  for_each_operand(schedule, group, [&](const Operation& user, int i, const Member&) {
    const Value& value = user.operands[static_cast<std::size_t>(i)];
    if (schedule.owner(value.storage) == storage)
      same = same && &user == &operation && value.layout == result.layout && value.spec == result.spec;
  });
  return same;
}
}  // namespace detail

/// The result of an elementwise op takes over the memory of an input of the same layout that nobody reads later.
constexpr void reuse_dying_inputs(Schedule& schedule) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  Lifetimes lifetimes(schedule);
  const auto lives_in = [&](int storage) { return schedule.in_frame(storage) && !schedule.storage(storage).internal; };
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const int step = static_cast<int>(g);
    for (const Member& member : schedule.groups[g].members) {
      const Operation& operation = schedule.operation(member);
      // what an op in place changes was written before it, maybe in this group: it has memory already
      if (operation.is_call() || !operation.op->elementwise || operation.op->modifies >= 0) continue;
      const int output = operation.operands.back().storage;
      if (!lives_in(output) || schedule.storage(output).reuses >= 0 || lifetimes.first[at(output)] != step) continue;
      for (int o = 0; o < operation.input_count; ++o) {
        const int input = schedule.owner(operation.operands[at(o)].storage);
        if (!lives_in(input) || input == output || lifetimes.last[at(input)] != step || lifetimes.first[at(input)] == step ||
            !detail::same_elements(schedule, schedule.groups[g], operation, input))
          continue;
        schedule.storage(output).reuses = input;
        lifetimes.last[at(input)] = lifetimes.last[at(output)];
        break;
      }
    }
  }
}

}  // namespace tilewright
