#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/values.hpp"

namespace tilewright::internal::proof::detail {

/// Blocks of equal numbers of bytes, repeated along axes.
struct Lattice {
  struct Axis {
    std::int64_t stride = 0, count = 1;
  };
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 1;  // of a block
  int axis_count = 0;
  Axis axes[max_rank]{};  // the smallest stride first; strides and counts of 1 or more

  constexpr void add(std::int64_t stride, std::int64_t count) {
    int at = axis_count++;
    for (; at > 0 && axes[at - 1].stride > stride; --at) axes[at] = axes[at - 1];
    axes[at] = {stride, count};
    end += stride * (count - 1);
  }
};

/// Returns the bytes of an access.
constexpr Lattice lattice_of(const Access& access) {
  Lattice result{access.offset, access.offset + access.element_bytes, access.element_bytes, 0, {}};
  for (int axis = 0; axis < access.rank; ++axis) {
    const std::int64_t stride = access.strides[axis], count = access.extents[axis];
    if (stride < 0) result.begin += stride * (count - 1), result.end += stride * (count - 1);
    if (stride != 0 && count > 1) result.add(stride < 0 ? -stride : stride, count);
  }
  return result;
}
/// Returns whether `b` is in the gaps of `a`: within the periods of an axis of `a`, in bytes that `a` leaves out.
constexpr bool is_in_gaps(const Lattice& a, const Lattice& b) {
  std::int64_t offset = b.begin - a.begin, span = a.end - a.begin;
  bool is_whole[max_rank]{};  // axes of `b` of whole periods of an axis of `a`
  for (int i = a.axis_count; i-- > 0;) {
    const std::int64_t period = a.axes[i].stride;
    span -= period * (a.axes[i].count - 1);  // now of one period
    if (span > period) return false;
    offset %= period;
    if (offset < 0) offset += period;
    std::int64_t bytes = b.bytes;
    for (int k = 0; k < b.axis_count; ++k) {
      is_whole[k] = is_whole[k] || b.axes[k].stride % period == 0;
      if (!is_whole[k]) bytes += b.axes[k].stride * (b.axes[k].count - 1);
    }
    if (offset + bytes > period) return false;
    if (offset >= span) return true;
  }
  return false;
}
/// Returns whether two lattices certainly share no byte.
constexpr bool are_apart(const Lattice& a, const Lattice& b) {
  return a.end <= b.begin || b.end <= a.begin || is_in_gaps(a, b) || is_in_gaps(b, a);
}

/// Bytes with evenly spaced elements of one value: where a step wrote them, or a part of that.
struct Segment {
  /// An axis of the elements.
  struct Digit {
    std::int64_t stride = 0;  // in bytes
    std::int64_t count = 1;
    std::int64_t step = 0;  // to the number of the next element
  };
  std::int64_t begin = 0, end = 0;
  std::int64_t origin = 0;  // byte at which all digits are 0
  ValueId value = ValueId::unwritten;
  std::int64_t first = 0;  // number of the element there
  int element_bytes = 1;
  int digit_count = 0, dense_count = 0;  // the first dense_count digits have no gaps
  int older = -1;  // in a memory: the segment of an earlier write
  std::int64_t bytes = 1;  // of the elements along those digits
  Digit digits[max_rank]{};  // the smallest stride first; each is at least the span of those before it

  constexpr bool is_dense() const { return digit_count == dense_count; }
  constexpr Lattice lattice() const {
    if (is_dense()) return {begin, end, end - begin, 0, {}};
    Lattice result{begin, end, bytes, 0, {}};
    for (int d = dense_count; d < digit_count; ++d) result.axes[result.axis_count++] = {digits[d].stride, digits[d].count};
    return result;
  }
  /// Adds the elements of another segment, if they follow along one axis. Returns whether they do.
  constexpr bool add(const Segment& other) {
    if (value != other.value || value == ValueId::unwritten || element_bytes != other.element_bytes) return false;
    if (!is_whole() || !other.is_whole() || other.origin <= origin) return false;
    Segment result = *this;
    const Digit added{other.origin - origin, 2, other.first - first};
    const auto are_equal = [](const Digit& a, const Digit& b) {
      return a.stride == b.stride && a.count == b.count && a.step == b.step;
    };
    int at = 0;  // the first digit that the other one does not have
    while (at < digit_count && at < other.digit_count && are_equal(digits[at], other.digits[at])) ++at;
    if (digit_count == other.digit_count && at == digit_count && digit_count < max_rank) {
      at = result.digit_count++;
      for (; at > 0 && result.digits[at - 1].stride > added.stride; --at) result.digits[at] = result.digits[at - 1];
      result.digits[at] = added;
    } else if (digit_count == other.digit_count + 1) {
      for (int d = at; d < other.digit_count; ++d)
        if (!are_equal(digits[d + 1], other.digits[d])) return false;
      Digit& more = result.digits[at];
      if (added.stride != more.stride * more.count || added.step != more.step * more.count) return false;
      ++more.count;
    } else {
      return false;
    }
    std::int64_t span = element_bytes;
    result.dense_count = 0;
    result.bytes = element_bytes;
    for (int d = 0; d < result.digit_count; ++d) {
      const Digit& digit = result.digits[d];
      if (digit.stride < span) return false;
      const bool is_next = result.dense_count == d && digit.stride == span;
      span += digit.stride * (digit.count - 1);
      if (is_next) ++result.dense_count, result.bytes = span;
    }
    result.end = result.begin + span;
    *this = result;
    return true;
  }
  /// Returns whether no part of the segment was written again.
  constexpr bool is_whole() const {
    std::int64_t span = element_bytes;
    for (int d = 0; d < digit_count; ++d) span += digits[d].stride * (digits[d].count - 1);
    return begin == origin && end == begin + span;
  }
  /// Returns how many rows of an access, from the first on, have evenly spaced elements of this segment; writes which ones.
  /// `axis`: that of the rows; `row_begin`, `row_end`: the bytes of the first row.
  constexpr std::int64_t rows_of(const Access& access, int axis, std::int64_t row_begin, std::int64_t row_end,
                                 Content& found) const {
    if (begin > row_begin || end < row_end) return 0;
    std::int64_t count = 1, row = 0;
    if (axis < access.rank) {
      count = access.extents[axis];
      row = access.strides[axis];
      if (row > 0) count = (std::min)(count, (end - row_end) / row + 1);
      if (row < 0) count = (std::min)(count, (row_begin - begin) / -row + 1);
    }
    if (value == ValueId::unwritten && is_dense()) return found = {}, count;
    if (element_bytes != access.element_bytes) return 0;
    if (digit_count == 1 && digits[0].stride == element_bytes) return rows_of_run(access, axis, count, row, found);
    std::int64_t low[max_rank]{}, high[max_rank]{}, rest = access.offset - origin, number = first;
    for (int d = digit_count; d-- > 0;) {
      low[d] = high[d] = rest / digits[d].stride;
      if (low[d] >= digits[d].count) return 0;
      rest %= digits[d].stride;
      number += low[d] * digits[d].step;
    }
    if (rest != 0) return 0;
    for (int i = 0; i < access.rank; ++i) {
      found.steps[i] = 0;
      if (i == axis || access.extents[i] == 1) continue;
      const std::int64_t stride = access.strides[i];
      std::int64_t left = stride < 0 ? -stride : stride;
      for (int d = digit_count; d-- > 0 && left != 0;) {
        if (left < digits[d].stride) continue;
        const std::int64_t moved = left / digits[d].stride;
        left %= digits[d].stride;
        if (stride > 0) high[d] += moved * (access.extents[i] - 1);
        else low[d] -= moved * (access.extents[i] - 1);
        found.steps[i] += (stride < 0 ? -moved : moved) * digits[d].step;
      }
      if (left != 0) return 0;
    }
    for (int d = 0; d < digit_count; ++d)
      if (low[d] < 0 || high[d] >= digits[d].count) return 0;
    if (count > 1) {
      std::int64_t left = row < 0 ? -row : row, step = 0;
      for (int d = digit_count; d-- > 0 && left != 0;) {
        if (left < digits[d].stride) continue;
        const std::int64_t moved = left / digits[d].stride;
        left %= digits[d].stride;
        count = (std::min)(count, (row < 0 ? low[d] : digits[d].count - 1 - high[d]) / moved + 1);
        step += (row < 0 ? -moved : moved) * digits[d].step;
      }
      if (left != 0) count = 1;
      found.steps[axis] = count > 1 ? step : 0;
    }
    found.value = value;
    found.first = number;
    if (value == ValueId::unwritten) found = {};
    return count;
  }
  /// Returns whether the segment has elements that follow each other, and the bytes of an access, whose reach is given.
  constexpr bool has_run(const Access& access, std::int64_t below, std::int64_t above) const {
    return digit_count == 1 && element_bytes == access.element_bytes && digits[0].stride == element_bytes &&
           value != ValueId::unwritten && begin <= access.offset + below && access.offset + above <= end;
  }
  /// `rows_of` for elements that follow each other, of which the segment has the bytes of `count` rows.
  constexpr std::int64_t rows_of_run(const Access& access, int axis, std::int64_t count, std::int64_t row, Content& found) const {
    const std::int64_t size = element_bytes, step = digits[0].step, rest = access.offset - origin;
    if (rest % size != 0) return 0;
    for (int i = 0; i < access.rank; ++i) {
      found.steps[i] = 0;
      if (i == axis || access.extents[i] == 1) continue;
      const std::int64_t stride = access.strides[i];
      if (stride % size != 0) return 0;
      found.steps[i] = stride / size * step;
    }
    if (count > 1 && row % size != 0) count = 1;
    if (count > 1) found.steps[axis] = row / size * step;
    found.value = value;
    found.first = first + rest / size * step;
    if (value == ValueId::unwritten) found = {};
    return count;
  }
  /// Returns whether all bytes of a lattice are bytes of this segment. It may not know it.
  constexpr bool covers(const Lattice& other) const {
    if (other.begin < begin || other.end > end) return false;
    if (is_dense()) return true;
    std::int64_t rest = other.begin - origin, last[max_rank]{}, above = other.bytes;
    for (int d = digit_count; d-- > dense_count;) {
      last[d] = rest / digits[d].stride;
      rest %= digits[d].stride;
    }
    for (int axis = 0; axis < other.axis_count; ++axis) {
      std::int64_t stride = other.axes[axis].stride;
      for (int d = digit_count; d-- > dense_count;) {
        last[d] += stride / digits[d].stride * (other.axes[axis].count - 1);
        stride %= digits[d].stride;
      }
      above += stride * (other.axes[axis].count - 1);
    }
    for (int d = dense_count; d < digit_count; ++d)
      if (last[d] >= digits[d].count) return false;
    return rest + above <= bytes;
  }
};

}  // namespace tilewright::internal::proof::detail
