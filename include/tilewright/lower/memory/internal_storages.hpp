#pragma once
// takes: groups
// gives: Storage::internal: only one group uses the storage, each vertex its own block
// keeps: all else
#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

/// Finds the storages that need no place in the frame: in a group of several operations, each vertex writes its block before it
/// reads it, and no other group uses the storage. All operands of such a storage are one view of it.
constexpr void find_internal_storages(BodyDraft& draft) {
  const Lifetimes lifetimes(draft);
  PerStorage<const Value*> first(draft.storages.size(), nullptr);  // the operand that used it first, in groups of several
  for (const Group& group : draft.groups) {
    if (group.members.size() == 1) continue;
    for_each_operand(draft, group, [&](const Operation& operation, int i, const Member&) {
      const Value& value = operation.operands[i];
      const StorageId s = value.storage;
      Storage& storage = draft.storage(s);
      if (first[s] != nullptr) {
        storage.internal = storage.internal && value.layout == first[s]->layout && value.spec == first[s]->spec;
      } else {
        first[s] = &value;
        storage.internal = storage.location.base == Base::frame && lifetimes.first[s] == lifetimes.last[s] &&
                           operation.is_output(i) &&
                           (is_whole_and_dense(value, storage) || is_whole_with_channels_last(value, storage));
      }
    });
  }
}

}  // namespace tilewright::internal
