#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/items.hpp"
#include "tilewright/lower/verify/draft_violation.hpp"

namespace tilewright::internal::detail {

/// Checks the memory of storages: the results of find_internal_storages, reuse_dying_inputs and place.
class StoragesViolation : DraftViolation {
 public:
  using DraftViolation::DraftViolation;

  constexpr Text run() {
    if (after_ >= Pass::find_internal_storages) check_internal();
    if (violation_.empty() && after_ >= Pass::reuse_dying_inputs) check_reuses();
    if (violation_.empty() && after_ >= Pass::place) check_frame();
    return violation_;
  }

 private:
  constexpr void check_internal() {
    PerStorage<int> group_of(draft_.storages.size(), -1);
    for (int g = 0; g < group_count(); ++g)
      for_each_operand(draft_, draft_.groups[g], [&](const Operation& operation, int o, const Member& member) {
        const StorageId s = operation.operands[o].storage;
        if (!draft_.storage(s).internal) return;
        expect(group_of[s] < 0 || group_of[s] == g, "internal storages have one group", member.operation,
               "uses internal storage ", s, " in group ", g, ", and group ", group_of[s], " uses it too: one group expected");
        expect(draft_.in_frame(s), "internal storages have one group", member.operation, "uses internal storage ", s,
               ", which is not in the frame: an internal storage in the frame expected");
        group_of[s] = g;
      });
  }

  /// Checks storages that share memory. By `reuses`, they form a forest, and the live range of a storage begins in the group in
  /// which that of the reused storage ends.
  constexpr void check_reuses() {
    const Lifetimes lifetimes(draft_);
    const int storages = static_cast<int>(draft_.storages.size());
    for (int i = 0; i < storages; ++i) {
      const auto s = StorageId(i);
      const StorageId reused = draft_.storage(s).reuses;
      if (reused == StorageId::none) continue;
      if (!expect(reused < StorageId(storages), "reuses are a forest", -1, "storage ", s, " reuses storage ", reused,
                  ": a storage from 0 to ", storages - 1, " expected"))
        return;
      int steps = 0;
      for (StorageId up = s; up != StorageId::none && steps <= storages; ++steps) up = draft_.storage(up).reuses;
      if (!expect(steps <= storages, "reuses are a forest", -1, "storage ", s,
                  " reuses storages in a circle: a storage with memory of its own at the end expected"))
        return;
      for (const StorageId each : {s, reused})
        expect(draft_.in_frame(each) && !draft_.storage(each).internal, "reused memory is in the frame", -1, "storage ", s,
               " reuses storage ", reused, ", and storage ", each, " has no memory in the frame: both in the frame expected");
      expect(draft_.storage(s).whole.bytes() <= draft_.storage(reused).whole.bytes(), "reused memory is large enough", -1,
             "storage ", s, " of ", draft_.storage(s).whole.bytes(), " bytes reuses a storage of ",
             draft_.storage(reused).whole.bytes(), " bytes: at least ", draft_.storage(s).whole.bytes(), " bytes expected");
    }
    if (!violation_.empty()) return;
    List<StorageId> order;
    PerStorage<StorageId> last_of(draft_.storages.size(), StorageId::none);  // by owner: the storage that lives last so far
    for (int i = 0; i < storages; ++i)
      if (const auto s = StorageId(i); lifetimes.first[s] >= 0 && draft_.in_frame(s)) order.push_back(s);
    sort_items(order, [&](StorageId a, StorageId b) {
      const int of_a = lifetimes.first[a], of_b = lifetimes.first[b];
      return of_a != of_b ? of_a < of_b : lifetimes.last[a] < lifetimes.last[b];
    });
    for (const StorageId s : order) {
      StorageId& last = last_of[draft_.owner(s)];
      expect(last == StorageId::none || lifetimes.last[last] <= lifetimes.first[s], "live ranges do not overlap in reused memory",
             -1, "storage ", s, " lives from group ", lifetimes.first[s], " in the memory of storage ", last,
             ", which lives to group ", last == StorageId::none ? -1 : lifetimes.last[last],
             ": a start in that group or later expected");
      last = s;
    }
  }

  /// Checks that blocks of the frame that live at the same time do not overlap.
  constexpr void check_frame() {
    struct Block {
      StorageId storage;
      int first, last;
      std::int64_t begin, end;
    };
    const Lifetimes lifetimes(draft_);
    List<Block> blocks, live;
    PerStorage<int> block_of(draft_.storages.size(), -1);  // by owner
    for (std::size_t i = 0; i < draft_.storages.size(); ++i) {
      const auto s = StorageId(i);
      const StorageId owner = draft_.owner(s);
      if (!draft_.in_frame(owner) || draft_.storage(owner).internal || lifetimes.first[s] < 0) continue;
      if (block_of[owner] < 0) {
        const std::int64_t begin = draft_.storage(owner).location.offset;
        block_of[owner] = static_cast<int>(blocks.size());
        blocks.push_back({owner, lifetimes.first[s], lifetimes.last[s], begin, begin + draft_.storage(owner).whole.bytes()});
      }
      Block& block = blocks[block_of[owner]];
      block.first = (std::min)(block.first, lifetimes.first[s]);
      block.last = (std::max)(block.last, lifetimes.last[s]);
    }
    sort_items(blocks, [](const Block& a, const Block& b) { return a.first < b.first; });
    for (const Block& block : blocks) {
      if (block.begin == block.end) continue;
      expect(block.begin >= 0 && block.begin % memory_alignment == 0 && block.end <= plan_.bodies[body_].frame_bytes,
             "storages lie in the frame", -1, "storage ", block.storage, " has bytes ", block.begin, " to ", block.end,
             ": a begin that is a multiple of ", memory_alignment, ", and an end of at most ", plan_.bodies[body_].frame_bytes,
             ", expected");
      erase_if(live, [&](const Block& other) { return other.last < block.first; });
      for (const Block& other : live)
        expect(block.end <= other.begin || other.end <= block.begin, "live storages do not overlap", -1, "storages ",
               other.storage, " and ", block.storage, " share bytes of the frame in group ", block.first,
               ": separate bytes expected");
      live.push_back(block);
    }
  }
};

}  // namespace tilewright::internal::detail
