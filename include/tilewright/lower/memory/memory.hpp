#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// A block of a frame and its live range.
struct LiveBlock {
  std::int64_t bytes = 0;
  int first = 0;            ///< step of the live range
  int last = 0;             ///< step of the live range
  std::int64_t offset = 0;  ///< in the frame, in bytes; set by allocate
};

namespace detail {
/// Free ranges of a frame that can grow, sorted by offset.
class FreeList {
 public:
  constexpr std::int64_t take(std::int64_t bytes) {
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i].bytes >= bytes && (best == free_.size() || free_[i].bytes < free_[best].bytes)) best = i;
    if (best < free_.size()) {
      const std::int64_t offset = free_[best].offset;
      free_[best].offset += bytes;
      free_[best].bytes -= bytes;
      if (free_[best].bytes == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
      return offset;
    }
    std::int64_t offset = end_;
    if (!free_.empty() && free_.back().offset + free_.back().bytes == end_) {  // it grows
      offset = free_.back().offset;
      free_.pop_back();
    }
    end_ = offset + bytes;
    return offset;
  }
  /// Offsets at which a block may not begin: those between two numbers.
  struct Excluded {
    std::int64_t after, before;
  };
  /// Takes a range that does not begin at an excluded offset: in the smallest free range with such a place, or else at the end.
  /// Returns its offset, or -1 if the frame would have more than `most` bytes.
  constexpr std::int64_t take_apart(std::int64_t bytes, const List<Excluded>& excluded, std::int64_t most) {
    const auto first_apart = [&](std::int64_t from) {
      for (std::size_t i = 0; i < excluded.size();)
        if (from > excluded[i].after && from < excluded[i].before) from = excluded[i].before, i = 0;
        else ++i;
      return from;
    };
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (first_apart(free_[i].offset) + bytes <= free_[i].offset + free_[i].bytes &&
          (best == free_.size() || free_[i].bytes < free_[best].bytes))
        best = i;
    const bool grows = best == free_.size();
    if (grows && !free_.empty() && free_.back().offset + free_.back().bytes == end_) --best;
    const Range range = best < free_.size() ? free_[best] : Range{end_, 0};
    const std::int64_t offset = first_apart(range.offset);
    if (grows && offset + bytes > most) return -1;
    if (best < free_.size()) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
    const std::int64_t end = (std::max)(range.offset + range.bytes, offset + bytes);
    end_ = (std::max)(end_, end);
    if (offset > range.offset) give(range.offset, offset - range.offset);
    if (end > offset + bytes) give(offset + bytes, end - offset - bytes);
    return offset;
  }
  constexpr void give(std::int64_t offset, std::int64_t bytes) {
    auto next = std::lower_bound(free_.begin(), free_.end(), offset,
                                 [](const Range& range, std::int64_t at) { return range.offset < at; });
    if (next != free_.end() && offset + bytes == next->offset) {
      next->offset = offset;
      next->bytes += bytes;
    } else {
      next = free_.insert(next, {offset, bytes});
    }
    if (next == free_.begin()) return;
    auto before = next - 1;
    if (before->offset + before->bytes != next->offset) return;
    before->bytes += next->bytes;
    free_.erase(next);
  }
  constexpr std::int64_t end() const { return end_; }

 private:
  struct Range {
    std::int64_t offset, bytes;
  };
  List<Range> free_{};
  std::int64_t end_ = 0;
};
/// Allocates blocks, each at the offset that take(free ranges, number of the block, bytes) returns.
constexpr std::int64_t allocate_with(List<LiveBlock>& blocks, int steps, std::int64_t alignment, auto take) {
  List<List<std::size_t>> ends(static_cast<std::size_t>(steps) + 1);
  FreeList memory;
  int released = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (; released < blocks[i].first; ++released)
      for (std::size_t ended : ends[released]) memory.give(blocks[ended].offset, align(blocks[ended].bytes, alignment));
    if (blocks[i].bytes == 0) continue;
    blocks[i].offset = take(memory, i, align(blocks[i].bytes, alignment));
    ends[blocks[i].last].push_back(i);
  }
  return memory.end();
}
}  // namespace detail

/// Assigns an offset to each block so that blocks with overlapping live ranges do not overlap in the frame. Blocks come in the
/// order of their first steps; offsets are multiples of `alignment`. Returns the bytes of the frame. Takes the smallest free
/// range that fits; free ranges are few.
constexpr std::int64_t allocate(List<LiveBlock>& blocks, int steps, std::int64_t alignment = memory_alignment) {
  return detail::allocate_with(blocks, steps, alignment,
                               [](detail::FreeList& memory, std::size_t, std::int64_t bytes) { return memory.take(bytes); });
}

}  // namespace tilewright::internal
