#pragma once
#include "tilewright/lower/body_draft.hpp"

namespace tilewright {

namespace detail {
/// Whether the operation alone in its group uses the storage, as the whole of it and laid out as its result is.
constexpr bool same_elements(const BodyDraft& draft, const Group& group, const Operation& operation, int storage) {
  const Value& result = operation.operands.back();
  if (draft.storage(storage).whole.bytes() != result.spec.bytes()) return false;
  bool same = true;
  for_each_operand(draft, group, [&](const Operation& user, int i, const Member&) {
    const Value& value = user.operands[static_cast<std::size_t>(i)];
    if (draft.owner(value.storage) == storage)
      same = same && &user == &operation && value.layout == result.layout && value.spec == result.spec;
  });
  return same;
}
}  // namespace detail

/// The result of an elementwise op takes over the memory of an input of the same layout that nobody reads later.
constexpr void reuse_dying_inputs(BodyDraft& draft) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  Lifetimes lifetimes(draft);
  const auto lives_in = [&](int storage) { return draft.in_frame(storage) && !draft.storage(storage).internal; };
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    const int step = static_cast<int>(g);
    for (const Member& member : draft.groups[g].members) {
      const Operation& operation = draft.operation(member);
      // what an op in place changes was written before it, maybe in this group: it has memory already
      if (operation.is_call() || !operation.op->elementwise || operation.op->modifies >= 0) continue;
      const int output = operation.operands.back().storage;
      if (!lives_in(output) || draft.storage(output).reuses >= 0 || lifetimes.first[at(output)] != step) continue;
      for (int o = 0; o < operation.input_count; ++o) {
        const int input = draft.owner(operation.operands[at(o)].storage);
        if (!lives_in(input) || input == output || lifetimes.last[at(input)] != step || lifetimes.first[at(input)] == step ||
            !detail::same_elements(draft, draft.groups[g], operation, input))
          continue;
        draft.storage(output).reuses = input;
        lifetimes.last[at(input)] = lifetimes.last[at(output)];
        break;
      }
    }
  }
}

}  // namespace tilewright
