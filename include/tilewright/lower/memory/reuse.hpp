#pragma once
// takes: groups and final Storage::internal
// gives: Storage::reuses: a forest of storages with the same bytes, whose live ranges follow each other
// keeps: all else
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

namespace detail {
/// Returns whether a storage may become the memory of an operation's result: in the group only this operation uses it, all of it,
/// and in the layout of the result.
constexpr bool same_elements(const BodyDraft& draft, const Group& group, const Operation& operation, StorageId storage) {
  const Value& result = operation.operands.back();
  if (draft.storage(storage).whole.bytes() != result.spec.bytes()) return false;
  if (draft.storage(result.storage).whole.bytes() != result.spec.bytes()) return false;  // a part of it, as of a concat
  bool same = true;
  for_each_operand(draft, group, [&](const Operation& user, int i, const Member&) {
    const Value& value = user.operands[i];
    if (draft.owner(value.storage) == storage)
      same = same && &user == &operation && value.layout == result.layout && value.spec == result.spec;
  });
  return same;
}
}  // namespace detail

/// Lets the result of an elementwise op take over the memory of an input of equal layout whose live range ends there: sets
/// Storage::reuses.
constexpr void reuse_dying_inputs(BodyDraft& draft) {
  Lifetimes lifetimes(draft);
  const auto lives_in = [&](StorageId storage) { return draft.in_frame(storage) && !draft.storage(storage).internal; };
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    const int step = static_cast<int>(g);
    for (const Member& member : draft.groups[g].members) {
      const Operation& operation = draft.operation(member);
      // the result of an op in place has memory: it may have been written earlier in this group
      if (operation.is_call() || !operation.op->elementwise || operation.op->modifies >= 0) continue;
      const StorageId output = operation.operands.back().storage;
      if (!lives_in(output) || draft.storage(output).reuses != StorageId::none || lifetimes.first[output] != step) continue;
      for (int o = 0; o < operation.input_count; ++o) {
        const StorageId input = draft.owner(operation.operands[o].storage);
        if (draft.storage(input).placement != draft.storage(output).placement) continue;
        if (!lives_in(input) || input == output || lifetimes.last[input] != step || lifetimes.first[input] == step ||
            !detail::same_elements(draft, draft.groups[g], operation, input))
          continue;
        draft.storage(output).reuses = input;
        lifetimes.last[input] = lifetimes.last[output];
        break;
      }
    }
  }
}

}  // namespace tilewright::internal
