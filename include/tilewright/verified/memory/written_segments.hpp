#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/verified/memory/segments.hpp"

namespace tilewright::internal::proof::detail {

/// Segments that were written to one memory. Segments with common bytes, or one in the gaps of another, are a group; in a
/// group, the newest segment that has a byte says what it holds.
class WrittenSegments {
 public:
  /// Forgets the values of a range of bytes.
  constexpr void forget(std::int64_t begin, std::int64_t end) {
    if (begin < end) put({.begin = begin, .end = end, .origin = begin});
  }

 protected:
  struct Group {
    std::int64_t begin = 0, end = 0;
    int newest = -1, oldest = -1;  // segments
  };

  constexpr std::size_t find(std::int64_t byte) const {  // the first group that ends behind the byte
    std::size_t low = 0, high = groups_.size();
    const Group* const groups = groups_.data();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (groups[middle].end <= byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  constexpr const Segment& segment(int number) const { return segments_.data()[number]; }

  /// Puts a segment on what its bytes had, or, if it has no value, removes that.
  constexpr void put(const Segment& added) {
    const std::size_t from = find(added.begin);
    if (from == groups_.size()) return put_last(added);
    std::size_t to = from;
    Group kept;
    bool is_beside = true;  // whether kept segments are before the added one or behind it
    const auto keep = [&](int number) {
      append(kept, number);
      is_beside = is_beside && (segment(number).end <= added.begin || segment(number).begin >= added.end);
    };
    for (; to < groups_.size() && groups_[to].begin < added.end; ++to)
      for (int number = groups_[to].newest, older = -1; number >= 0; number = older) {
        Segment& old = segments_[static_cast<std::size_t>(number)];
        older = old.older;
        if (added.covers(old.lattice())) {
          free_.push_back(number);
        } else if (!added.is_dense() || !old.is_dense() || old.end <= added.begin || old.begin >= added.end) {
          keep(number);
        } else if (old.begin >= added.begin) {
          old.begin = added.end;
          keep(number);
        } else {
          Segment behind = old;
          old.end = added.begin;
          keep(number);
          behind.begin = added.end;
          if (behind.begin < behind.end) keep(add(behind));
        }
      }
    Group groups[3];
    std::size_t count = 0;
    if (is_beside) {
      Group before, behind;
      for (int number = kept.newest, older = -1; number >= 0; number = older) {
        older = segment(number).older;
        append(segment(number).begin < added.begin ? before : behind, number);
      }
      if (before.newest >= 0) groups[count++] = before;
      if (added.value != ValueId::unwritten) append(groups[count++], add(added));
      if (behind.newest >= 0) groups[count++] = behind;
    } else if (Segment& newest = segments_[static_cast<std::size_t>(kept.newest)]; newest.add(added)) {
      groups[0] = {(std::min)(newest.begin, kept.begin), (std::max)(newest.end, kept.end), kept.newest, kept.oldest};
      count = 1;
    } else {
      append(groups[0], add(added));
      segments_[static_cast<std::size_t>(groups[0].newest)].older = kept.newest;
      groups[0] = {(std::min)(added.begin, kept.begin), (std::max)(added.end, kept.end), groups[0].newest, kept.oldest};
      count = 1;
    }
    replace(from, to, groups, count);
  }
  /// Puts a segment behind all others.
  constexpr void put_last(const Segment& added) {
    if (added.value == ValueId::unwritten) return;
    make_room(groups_);
    const int number = add(added);
    groups_.push_back({added.begin, added.end, number, number});
  }
  constexpr int add(const Segment& added) {
    if (free_.empty()) {
      make_room(segments_);
      segments_.push_back(added);
      return static_cast<int>(segments_.size()) - 1;
    }
    const int number = free_.back();
    free_.pop_back();
    segments_[static_cast<std::size_t>(number)] = added;
    return number;
  }
  /// Makes a segment the oldest one of a group.
  constexpr void append(Group& group, int number) {
    Segment& added = segments_[static_cast<std::size_t>(number)];
    added.older = -1;
    if (group.oldest < 0) group = {added.begin, added.end, number, number};
    else segments_[static_cast<std::size_t>(group.oldest)].older = number;
    group.begin = (std::min)(group.begin, added.begin);
    group.end = (std::max)(group.end, added.end);
    group.oldest = number;
  }
  /// Replaces the groups [from, to) by others.
  constexpr void replace(std::size_t from, std::size_t to, const Group* groups, std::size_t count) {
    const std::size_t removed = to - from, size = groups_.size();
    if (count > removed) {
      make_room(groups_, count - removed);
      groups_.resize(size + count - removed);
      for (std::size_t i = size; i-- > to;) groups_[i + count - removed] = groups_[i];
    } else if (count < removed) {
      for (std::size_t i = to; i < size; ++i) groups_[i + count - removed] = groups_[i];
      groups_.resize(size + count - removed);
    }
    for (std::size_t i = 0; i < count; ++i) groups_[from + i] = groups[i];
  }

  List<Group> groups_{};  // by their bytes; they do not overlap
  List<Segment> segments_{};
  List<int> free_{};  // segments that are no longer in use
};

}  // namespace tilewright::internal::proof::detail
