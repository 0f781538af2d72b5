#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/verified/memory/written_segments.hpp"

namespace tilewright::internal::proof::detail {

/// The values in one memory, by byte.
class Memory : public WrittenSegments {
 public:
  /// Returns what an access finds. `axis`: the first one along which it may find runs; those before it have extent 1.
  constexpr Content read(const Access& access, int axis = 0) const {
    Content result;
    if (access.elements() == 0 || read_run(access, result)) return result;
    const std::int64_t count = axis < access.rank ? access.extents[axis] : 1;
    const std::int64_t even = even_rows(access, axis, result);
    if (even == count) return result;
    if (axis == access.rank) return {};  // one element of bytes of several values
    if (even > 0) result.parts.push_back(result), result.parts[0].count = even;
    result.value = ValueId::unwritten, result.first = 0;
    for (std::int64_t& step : result.steps) step = 0;
    Access rows = access;
    for (std::int64_t i = even; i < count;) {
      if (Content* const last = i > 0 ? &result.parts.back() : nullptr; last && !last->parts.empty()) {
        rows.offset = access.offset + (i - 1) * access.strides[axis];
        if (const std::int64_t more = continue_run(*last, rows, axis, count - i); more > 0) {
          i += more;
          continue;
        }
      }
      if (result.parts.size() == 1 && repeats(result, access, axis)) return result;
      rows.offset = access.offset + i * access.strides[axis];
      rows.extents[axis] = count - i;
      Content run;
      std::int64_t taken = even_rows(rows, axis, run);
      rows.extents[axis] = 1;
      if (taken == 0) {
        run = read(rows, axis + 1);
        taken = 1;
      }
      run.count = taken;
      if (const std::int64_t added = i > 0 ? add_rows(result.parts.back(), run, axis) : 0; added > 0) {
        i += added;
        continue;
      }
      result.parts.push_back(std::move(run));
      i += taken;
    }
    if (result.parts.size() > 1 || !result.parts[0].parts.empty()) return result;
    Content run = std::move(result.parts[0]);
    run.count = 1;
    return run;
  }
  constexpr bool is_empty() const { return groups_.empty(); }
  /// Writes what another access found to elements of equal extents. `axis`: that of the content's runs.
  constexpr void write(const Access& access, const Content& content, int axis = 0) {
    if (access.elements() == 0) return;
    if (content.parts.empty()) return write_even(access, content);
    Access rows = access;
    for (const Content& part : content.parts) {
      rows.extents[axis] = part.count;
      write(rows, part, axis + 1);
      rows.offset += part.count * rows.strides[axis];
    }
  }
  /// Writes a value whose elements are in the order of the access.
  constexpr void write(const Access& access, ValueId value) { write(access, whole_of(value, access)); }
  /// Joins the memories after the two branches of a conditional. `choose(a, b)` returns the value that is `a` or `b`; it is not
  /// called for equal ones.
  template <class Choose>
  static constexpr Memory joined(const Memory& a, const Memory& b, const Choose& choose);

 private:
  // ---- reads

  /// Finds elements of a segment without gaps, as most often. Returns whether the access is to such.
  constexpr bool read_run(const Access& access, Content& result) const {
    const auto [below, above] = access.reach();
    const std::size_t i = find(access.offset + below);
    if (i == groups_.size() || groups_.data()[i].newest != groups_.data()[i].oldest) return false;
    const Segment& found = segment(groups_.data()[i].newest);
    return found.has_run(access, below, above) && found.rows_of_run(access, max_rank, 1, 0, result) > 0;
  }
  /// Returns how many rows, from the first on, are evenly spaced elements of one segment, or are not written. `axis`: that of the
  /// rows.
  constexpr std::int64_t even_rows(Access access, int axis, Content& result) const {
    const bool has_rows = axis < access.rank;
    std::int64_t count = has_rows ? std::exchange(access.extents[axis], 1) : 1;
    const std::int64_t row = has_rows ? access.strides[axis] : 0;
    const auto [below, above] = access.reach();
    const std::int64_t begin = access.offset + below, end = access.offset + above;
    const std::size_t i = find(begin);
    const bool has_group = i < groups_.size() && groups_[i].begin < end;
    const std::size_t next = has_group ? i + 1 : i;
    if (next < groups_.size()) {
      if (groups_[next].begin < end) return 0;
      if (row > 0) count = (std::min)(count, (groups_[next].begin - end) / row + 1);
    }
    if (row < 0 && i > 0) count = (std::min)(count, (begin - groups_[i - 1].end) / -row + 1);
    if (!has_group) return result = {}, count;
    Lattice bytes;  // of the access
    std::int64_t rows_of_bytes = -1;
    for (int number = groups_[i].newest; number >= 0; number = segment(number).older) {
      if (has_rows) access.extents[axis] = count;
      if (const std::int64_t rows = segment(number).rows_of(access, axis, begin, end, result); rows > 0) return rows;
      const Lattice own = segment(number).lattice();
      const auto is_apart = [&](std::int64_t rows) {
        if (rows != rows_of_bytes) {
          rows_of_bytes = rows;
          if (has_rows) access.extents[axis] = rows;
          bytes = lattice_of(access);
        }
        return are_apart(own, bytes);
      };
      if (is_apart(count)) continue;
      if (count == 1 || !is_apart(1)) return 0;
      do count /= 2;
      while (!is_apart(count));
    }
    return result = {}, count;
  }
  /// Continues a run, of which `rows` is the last row, by up to `most` rows. Returns by how many.
  constexpr std::int64_t continue_run(Content& run, Access rows, int axis, std::int64_t most) const {
    std::int64_t count = most;
    if (!find_steps(run, run.count, rows, axis, axis + 1, count)) {
      count = rows.extents[axis] = 1;
      rows.offset += rows.strides[axis];
      if (!find_next(run, run.count, rows, axis, axis + 1)) {
        if (run.count == 1) forget_steps(run, axis);
        return 0;
      }
    }
    run.count += count;
    return count;
  }
  /// Finds along how many more rows, up to `count`, each part of a run is evenly spaced; writes the parts' steps. Returns whether
  /// there are any. `known`: rows of the run; `axis`: that of the rows; `inner`: that of the parts.
  constexpr bool find_steps(Content& run, std::int64_t known, Access rows, int axis, int inner, std::int64_t& count) const {
    for (Content& part : run.parts) {
      if (inner == max_rank) return false;  // never; for GCC, which warns of a seventh axis
      rows.extents[inner] = part.count;
      if (!find_steps(part, known, rows, axis, inner + 1, count)) return false;
      rows.offset += part.count * rows.strides[inner];
    }
    if (!run.parts.empty()) return true;
    rows.extents[axis] = 1 + count;
    Content found;
    count = even_rows(rows, axis, found) - 1;
    if (count < 1 || found.value != run.value || (known > 1 && found.steps[axis] != run.steps[axis])) return false;
    run.steps[axis] = found.steps[axis];
    return true;
  }
  /// Finds whether a row continues each part of a run, however it was written; writes the parts' steps.
  constexpr bool find_next(Content& run, std::int64_t known, Access row, int axis, int inner) const {
    for (Content& part : run.parts) {
      if (inner == max_rank) return false;  // never; for GCC, which warns of a seventh axis
      row.extents[inner] = part.count;
      if (!find_next(part, known, row, axis, inner + 1)) return false;
      row.offset += part.count * row.strides[inner];
    }
    if (!run.parts.empty()) return true;
    Content next = read(row, axis + 1);
    if (!next.parts.empty() || next.value != run.value) return false;
    if (known == 1) run.steps[axis] = next.first - run.first;
    next.first -= known * run.steps[axis], next.count = run.count;
    next.steps[axis] = run.steps[axis];
    return same(next, run);
  }

  /// Finds whether all rows repeat the first run: whether the elements of each value are the same ones, moved by one number from
  /// run to run. Adds the other runs if so.
  constexpr bool repeats(Content& result, const Access& access, int axis) const {
    const std::int64_t rows = result.parts[0].count, times = access.extents[axis] / rows;
    if (result.parts[0].parts.empty() || rows < 2 || access.extents[axis] % rows != 0 || access.rank == max_rank) return false;
    Access runs = access;  // with an axis of runs before that of the rows
    ++runs.rank;
    for (int i = access.rank; i > axis; --i) runs.extents[i] = access.extents[i - 1], runs.strides[i] = access.strides[i - 1];
    runs.extents[axis] = times, runs.strides[axis] = rows * access.strides[axis];
    runs.extents[axis + 1] = rows;
    List<Move> moves;
    if (!find_moves(result.parts[0], runs, axis, axis + 2, moves)) return false;
    result.parts.reserve(static_cast<std::size_t>(times));
    for (std::int64_t i = 1; i < times; ++i) {
      result.parts.push_back(result.parts.back());
      move(result.parts.back(), moves);
    }
    return true;
  }
  /// By how much the elements of a value move from run to run.
  struct Move {
    ValueId value{};
    std::int64_t step = 0;
  };
  /// Finds by how much the elements of each part of a run move. `axis`: that of the runs; `inner`: that of the parts.
  constexpr bool find_moves(const Content& run, Access runs, int axis, int inner, List<Move>& moves) const {
    for (const Content& part : run.parts) {
      if (inner >= max_rank) return false;
      runs.extents[inner] = part.count;
      if (!find_moves(part, runs, axis, inner + 1, moves)) return false;
      runs.offset += part.count * runs.strides[inner];
    }
    if (!run.parts.empty()) return true;
    Content found;
    if (even_rows(runs, axis, found) < runs.extents[axis] || found.value != run.value || found.first != run.first) return false;
    if (run.value == ValueId::unwritten) return false;
    for (int i = axis; i + 1 < max_rank; ++i)
      if (found.steps[i + 1] != run.steps[i]) return false;
    for (const Move& each : moves)
      if (each.value == run.value) return each.step == found.steps[axis];
    moves.push_back({run.value, found.steps[axis]});
    return true;
  }
  static constexpr void move(Content& run, const List<Move>& moves) {
    for (Content& part : run.parts) move(part, moves);
    for (const Move& each : moves)
      if (each.value == run.value) run.first += each.step;
  }

  // ---- writes

  constexpr void write_even(const Access& access, const Content& content) {
    Segment added{.origin = access.offset,
                  .value = content.value,
                  .first = content.first,
                  .element_bytes = access.element_bytes,
                  .bytes = access.element_bytes};
    int axes[max_rank]{};  // with extents above 1, by stride
    const auto distance = [&](int axis) { return access.strides[axis] < 0 ? -access.strides[axis] : access.strides[axis]; };
    int count = 0;
    for (int axis = 0; axis < access.rank; ++axis) {
      if (access.extents[axis] == 1) continue;
      int at = count++;
      for (; at > 0 && distance(axes[at - 1]) > distance(axis); --at) axes[at] = axes[at - 1];
      axes[at] = axis;
    }
    std::int64_t span = access.element_bytes;
    for (int i = 0; i < count; ++i) {
      const int axis = axes[i];
      if (distance(axis) < span) return write_rows(access, content, axis);
      Segment::Digit digit{distance(axis), access.extents[axis], content.steps[axis]};
      const std::int64_t last = digit.count - 1;
      if (access.strides[axis] < 0) {  // from the last element on
        added.origin -= digit.stride * last;
        added.first += digit.step * last;
        digit.step = -digit.step;
      }
      const bool is_dense = added.is_dense() && digit.stride == added.bytes;
      span += digit.stride * last;
      if (is_dense) added.bytes = span;
      Segment::Digit* const before = added.digit_count > 0 ? &added.digits[added.digit_count - 1] : nullptr;
      if (before && digit.stride == before->stride * before->count && digit.step == before->step * before->count) {
        before->count *= digit.count;
      } else {
        added.digits[added.digit_count++] = digit;
        if (is_dense) ++added.dense_count;
      }
    }
    added.begin = added.origin;
    added.end = added.origin + span;
    put(added);
  }
  /// Writes the elements at each index of an axis that is in the range of others.
  constexpr void write_rows(Access row, Content content, int axis) {
    const std::int64_t count = std::exchange(row.extents[axis], 1);
    for (std::int64_t i = 0; i < count; ++i) {
      write_even(row, content);
      row.offset += row.strides[axis];
      content.first += content.steps[axis];
    }
  }
  // ---- branches

  /// Returns the newest segment that has a byte; null: nothing is written there.
  constexpr const Segment* holder(std::int64_t byte) const {
    const std::size_t i = find(byte);
    if (i == groups_.size() || groups_[i].begin > byte) return nullptr;
    const Lattice bytes{byte, byte + 1, 1, 0, {}};
    for (int number = groups_[i].newest; number >= 0; number = segment(number).older)
      if (segment(number).covers(bytes)) return segment(number).value == ValueId::unwritten ? nullptr : &segment(number);
    return nullptr;
  }
  /// Adds the ends of the ranges of bytes that segments have without gaps.
  constexpr void add_ends(List<std::int64_t>& ends) const {
    for (const Group& group : groups_)
      for (int number = group.newest; number >= 0; number = segment(number).older) {
        const Lattice bytes = segment(number).lattice();
        add_ends(bytes, bytes.axis_count, bytes.begin, ends);
      }
  }
  static constexpr void add_ends(const Lattice& bytes, int axes, std::int64_t begin, List<std::int64_t>& ends) {
    if (axes == 0) return ends.push_back(begin), ends.push_back(begin + bytes.bytes);
    const auto [stride, count] = bytes.axes[axes - 1];
    for (std::int64_t i = 0; i < count; ++i) add_ends(bytes, axes - 1, begin + i * stride, ends);
  }
};

template <class Choose>
constexpr Memory Memory::joined(const Memory& a, const Memory& b, const Choose& choose) {
  List<std::int64_t> ends;  // of ranges in which neither memory changes from one segment to another
  a.add_ends(ends), b.add_ends(ends);
  sort_items(ends, [](std::int64_t x, std::int64_t y) { return x < y; });
  Memory result = a;
  const auto join = [&](auto&& self, const Access& part) -> void {
    const Content of_a = a.read(part), of_b = b.read(part);
    if (of_a.parts.empty() && of_b.parts.empty() && (of_a.steps[0] == of_b.steps[0] || same(of_a, of_b)))
      return result.write(part, choose(of_a, of_b));
    Access element = part;
    element.extents[0] = 1;
    for (std::int64_t k = 0; k < part.extents[0]; ++k, element.offset += part.strides[0]) self(self, element);
  };
  std::int64_t begin = ends.empty() ? 0 : ends[0];
  for (const std::int64_t end : ends) {
    while (begin < end) {
      const Segment *const in_a = a.holder(begin), *const in_b = b.holder(begin);
      const int bytes = in_a ? in_a->element_bytes : in_b ? in_b->element_bytes : 1;
      const Access element{begin, bytes, 0, {}, {}};
      std::int64_t count = (end - begin) / bytes;
      if (count == 0 && !(has_unwritten(a.read(element)) && has_unwritten(b.read(element)))) count = 1;  // it goes on behind
      if ((!in_a && !in_b) || count == 0) {
        result.forget(begin, end);
        begin = end;
        continue;
      }
      join(join, {begin, bytes, 1, {count}, {bytes}});
      begin += count * bytes;
    }
  }
  return result;
}

}  // namespace tilewright::internal::proof::detail
