#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/grow.hpp"
#include "tilewright/core/items.hpp"
#include "tilewright/verified/values.hpp"

namespace tilewright::internal::proof::detail {

/// The values in one memory, by byte. It keeps segments: bytes with evenly spaced elements of one value.
class Memory {
 public:
  /// Returns what an access finds.
  constexpr Content read(const Access& access) const {
    Content result;
    if (access.elements() == 0 || is_even(access, result)) return result;
    result = {};
    if (access.rank == 0) return result;  // one element of bytes of several values
    if (access.rank == 1) return read_row(access);
    for (std::int64_t i = 0; i < access.extents[0]; ++i) result.parts.push_back(read(access.part(i)));
    merge(access, result);
    return result;
  }
  /// Writes what another access found to elements of equal extents.
  constexpr void write(const Access& access, const Content& content) {
    if (access.elements() == 0) return;
    if (content.parts.empty()) return write_even(access, content);
    std::int64_t i = 0;
    for (const Content& part : content.parts) {
      if (access.rank == 1)
        write_even({access.offset + i * access.strides[0], access.element_bytes, 1, {part.count}, {access.strides[0]}}, part);
      else write(access.part(i), part);
      i += part.count;
    }
  }
  /// Writes a value whose elements are in the order of the access.
  constexpr void write(const Access& access, ValueId value) { write(access, whole_of(value, access)); }
  /// Forgets the values of a range of bytes.
  constexpr void forget(std::int64_t begin, std::int64_t end) {
    if (begin < end) replace(begin, end, nullptr);
  }
  /// Joins the memories after the two branches of a conditional. `choose(a, b)` returns the value that is `a` or `b`; it is not
  /// called for equal ones.
  template <class Choose>
  static constexpr Memory joined(const Memory& a, const Memory& b, const Choose& choose);

 private:
  /// An axis of the elements in a segment's memory.
  struct Digit {
    std::int64_t stride = 0;  // in bytes
    std::int64_t count = 1;
    std::int64_t step = 0;  // to the number of the next element
  };
  struct Segment {
    std::int64_t begin = 0, end = 0;
    std::int64_t origin = 0;  // byte at which all digits are 0
    ValueId value = ValueId::unwritten;
    std::int64_t first = 0;  // number of the element there
    int element_bytes = 1;
    int digit_count = 0;
    Digit digits[max_rank + 1]{};  // by stride, the smallest first; together they are dense
  };

  constexpr std::size_t find(std::int64_t byte) const {  // the first segment that ends behind the byte
    std::size_t low = 0, high = segments_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (segments_[middle].end <= byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  /// Returns whether all elements are evenly spaced elements of one segment, or none of them is written.
  constexpr bool is_even(const Access& access, Content& result) const {
    const auto [below, above] = access.reach();
    const std::int64_t begin = access.offset + below, end = access.offset + above;
    const std::size_t i = find(begin);
    if (i == segments_.size() || segments_[i].begin >= end) return true;
    const Segment& segment = segments_[i];
    if (segment.begin > begin || segment.end < end || segment.element_bytes != access.element_bytes) return false;
    std::int64_t low[max_rank + 1]{}, high[max_rank + 1]{};
    std::int64_t rest = access.offset - segment.origin;
    result.value = segment.value;
    result.first = segment.first;
    for (int d = segment.digit_count; d-- > 0;) {
      const Digit& digit = segment.digits[d];
      low[d] = high[d] = rest / digit.stride;
      rest %= digit.stride;
      result.first += low[d] * digit.step;
    }
    if (rest != 0) return false;
    for (int axis = 0; axis < access.rank; ++axis) {
      result.steps[axis] = 0;
      if (access.extents[axis] == 1) continue;
      const std::int64_t sign = access.strides[axis] < 0 ? -1 : 1;
      std::int64_t stride = access.strides[axis] * sign;
      for (int d = segment.digit_count; d-- > 0;) {
        const Digit& digit = segment.digits[d];
        const std::int64_t moved = stride / digit.stride * sign;
        stride %= digit.stride;
        (sign < 0 ? low : high)[d] += moved * (access.extents[axis] - 1);
        result.steps[axis] += moved * digit.step;
      }
      if (stride != 0) return false;
    }
    for (int d = 0; d < segment.digit_count; ++d)
      if (low[d] < 0 || high[d] >= segment.digits[d].count) return false;
    return true;
  }
  /// Returns how many elements of a row, from its first on, are evenly spaced elements of one segment, or are not written.
  constexpr std::int64_t first_run(Access row, Content& content) const {
    const std::size_t i = find(row.offset);
    std::int64_t count = row.extents[0];
    if (row.strides[0] <= 0) count = 1;
    else if (i < segments_.size()) {
      const Segment& segment = segments_[i];
      const std::int64_t bytes = segment.begin > row.offset ? segment.begin - row.offset : segment.end - row.offset;
      count = std::max<std::int64_t>(
          1, std::min(count, segment.begin > row.offset ? (bytes - 1) / row.strides[0] + 1
                                                        : (bytes - row.element_bytes) / row.strides[0] + 1));
    }
    const auto is_run = [&](std::int64_t elements) {
      row.extents[0] = elements;
      content = {};
      return is_even(row, content);
    };
    if (!is_run(count)) {
      std::int64_t low = 1;  // a longest run that is known
      for (std::int64_t high = count - 1; low < high;) {
        const std::int64_t middle = (low + high + 1) / 2;
        if (is_run(middle)) low = middle;
        else high = middle - 1;
      }
      if (!is_run(count = low)) content = {};  // one element of bytes of several values
    }
    return content.count = count;
  }
  /// Appends elements to the runs of a row. A run is as long as can be: so equal rows have equal runs, however they were written.
  static constexpr void add_run(List<Content>& runs, Content added) {
    while (added.count > 0) {
      Content* const last = runs.empty() || runs.back().value != added.value ? nullptr : &runs.back();
      if (last && last->count == 1) last->steps[0] = added.first - last->first;
      if (!last || added.first != last->first + last->count * last->steps[0]) {
        if (added.count == 1) added.steps[0] = 0;
        return runs.push_back(std::move(added));
      }
      const std::int64_t taken = added.steps[0] == last->steps[0] ? added.count : 1;
      last->count += taken, added.count -= taken, added.first += taken * added.steps[0];
    }
  }
  constexpr Content read_row(const Access& row) const {
    Content result;
    for (std::int64_t i = 0; i < row.extents[0];) {
      Content run;
      i += first_run({row.offset + i * row.strides[0], row.element_bytes, 1, {row.extents[0] - i}, {row.strides[0]}}, run);
      add_run(result.parts, std::move(run));
    }
    if (result.parts.size() > 1) return result;
    Content run = std::move(result.parts[0]);
    run.count = 1;
    return run;
  }
  /// Replaces parts that are evenly spaced elements of one value by one description of them all.
  static constexpr void merge(const Access& access, Content& content) {
    const Content& first = content.parts[0];
    const std::int64_t step = content.parts.size() > 1 ? content.parts[1].first - first.first : 0;
    for (std::size_t i = 0; i < content.parts.size(); ++i) {
      const Content& part = content.parts[i];
      if (!part.parts.empty() || part.value != first.value || part.first != first.first + static_cast<std::int64_t>(i) * step)
        return;
      for (int axis = 0; axis + 1 < access.rank; ++axis)
        if (part.steps[axis] != first.steps[axis]) return;
    }
    Content result{.value = first.value, .first = first.first};
    result.steps[0] = step;
    for (int axis = 1; axis < access.rank; ++axis) result.steps[axis] = first.steps[axis - 1];
    content = std::move(result);
  }
  constexpr void write_even(const Access& access, const Content& content) {
    List<std::pair<Digit, int>> axes;  // with extents above 1, by stride
    Access outer{access.offset, access.element_bytes, 0, {}, {}};
    std::int64_t first = content.first;
    for (int axis = 0; axis < access.rank; ++axis) {
      if (access.extents[axis] == 1) continue;
      Digit digit{access.strides[axis], access.extents[axis], content.steps[axis]};
      if (digit.stride < 0) {  // from the last element on
        outer.offset += digit.stride * (digit.count - 1);
        first += digit.step * (digit.count - 1);
        digit.stride = -digit.stride, digit.step = -digit.step;
      }
      axes.push_back({digit, axis});
    }
    sort_items(axes, [](const auto& a, const auto& b) { return a.first.stride < b.first.stride; });
    Segment segment{.value = content.value, .element_bytes = access.element_bytes};
    std::int64_t bytes = access.element_bytes;
    std::size_t next = 0;
    for (; next < axes.size() && axes[next].first.stride == bytes; ++next) {
      const Digit& digit = axes[next].first;
      bytes *= digit.count;
      if (Digit* const last = segment.digit_count > 0 ? &segment.digits[segment.digit_count - 1] : nullptr;
          last && digit.step == last->step * last->count)
        last->count *= digit.count;
      else segment.digits[segment.digit_count++] = digit;
    }
    if (segment.digit_count == 0) segment.digits[segment.digit_count++] = {access.element_bytes, 1, 0};
    write_blocks(segment, bytes, axes, next, outer.offset, first);
  }
  /// Writes a dense segment for each index of the axes from `axis` on.
  constexpr void write_blocks(Segment& segment, std::int64_t bytes, const List<std::pair<Digit, int>>& axes, std::size_t axis,
                              std::int64_t offset, std::int64_t first) {
    if (axis < axes.size()) {
      const Digit& digit = axes[axis].first;
      for (std::int64_t i = 0; i < digit.count; ++i)
        write_blocks(segment, bytes, axes, axis + 1, offset + i * digit.stride, first + i * digit.step);
      return;
    }
    segment.begin = segment.origin = offset;
    segment.end = offset + bytes;
    segment.first = first;
    if (segment.value == ValueId::unwritten) forget(segment.begin, segment.end);
    else replace(segment.begin, segment.end, &segment);
  }
  /// Removes the values of a range of bytes, and adds a segment there.
  constexpr void replace(std::int64_t begin, std::int64_t end, const Segment* added) {
    const std::size_t from = find(begin);
    std::size_t to = from;
    while (to < segments_.size() && segments_[to].begin < end) ++to;
    Segment kept[3];
    std::size_t count = 0;
    if (from < to && segments_[from].begin < begin) kept[count] = segments_[from], kept[count++].end = begin;
    if (added) kept[count++] = *added;
    if (from < to && segments_[to - 1].end > end) kept[count] = segments_[to - 1], kept[count++].begin = end;
    const std::size_t removed = to - from, size = segments_.size();
    if (count > removed) {
      make_room(segments_, count - removed);
      segments_.resize(size + count - removed);
      for (std::size_t i = size; i-- > to;) segments_[i + count - removed] = segments_[i];
    } else if (count < removed) {
      for (std::size_t i = to; i < size; ++i) segments_[i + count - removed] = segments_[i];
      segments_.resize(size + count - removed);
    }
    for (std::size_t i = 0; i < count; ++i) segments_[from + i] = kept[i];
  }

  List<Segment> segments_{};  // by their bytes; they do not overlap
};

template <class Choose>
constexpr Memory Memory::joined(const Memory& a, const Memory& b, const Choose& choose) {
  List<std::int64_t> ends;  // of ranges in which neither memory changes from one segment to another
  for (const Memory* each : {&a, &b})
    for (const Segment& segment : each->segments_) ends.push_back(segment.begin), ends.push_back(segment.end);
  sort_items(ends, [](std::int64_t x, std::int64_t y) { return x < y; });
  Memory result = a;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const std::int64_t begin = ends[i], end = ends[i + 1];
    if (begin == end) continue;
    const std::size_t in_a = a.find(begin), in_b = b.find(begin);
    const bool has_a = in_a < a.segments_.size() && a.segments_[in_a].begin <= begin;
    const bool has_b = in_b < b.segments_.size() && b.segments_[in_b].begin <= begin;
    if (!has_a && !has_b) continue;
    const int bytes = has_a ? a.segments_[in_a].element_bytes : b.segments_[in_b].element_bytes;
    Access run{begin, bytes, 1, {(end - begin) / bytes}, {bytes}};
    const auto join = [&](auto&& self, const Access& part) -> void {
      const Content of_a = a.read(part), of_b = b.read(part);
      if (of_a.parts.empty() && of_b.parts.empty() && (of_a.steps[0] == of_b.steps[0] || same(of_a, of_b)))
        return result.write(part, choose(of_a, of_b));
      for (std::int64_t k = 0; k < part.extents[0]; ++k) self(self, Access{part.offset + k * bytes, bytes, 1, {1}, {bytes}});
    };
    join(join, run);
  }
  return result;
}

}  // namespace tilewright::internal::proof::detail
