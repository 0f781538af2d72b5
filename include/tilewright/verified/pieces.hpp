#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/verified/set_stages.hpp"
#include "tilewright/verified/tiles/tile_slices.hpp"

namespace tilewright::internal::proof::detail {

/// Pieces of the slice of one vertex, of the vertex that has most. The elements of a piece follow each other in a block of a
/// layout and in the slice.
struct PieceRange {
  std::int64_t least = 0;  ///< number of pieces
  std::int64_t most = 0;  ///< largest number that a plan may count: it may take the worst position along each axis
  constexpr void add(const PieceRange& of_vertex, std::int64_t vertices) {
    least += vertices * of_vertex.least;
    most += vertices * of_vertex.most;
  }
};

/// Counts the pieces of slices. `in_blocks`: whether a slice has its elements block of the layout by block, otherwise row-major.
///
/// A digit is a part of an axis in which both slices and layout divide elements alike: an element has one number for each digit,
/// and a block of the layout, or a slice, is a range of numbers along each. Then pieces are counted digit by digit. Where there
/// are no such digits, it walks along the elements of all slices.
class PieceCount {
 public:
  constexpr PieceCount(const TileSlices& slices, const TileLayout& layout, bool in_blocks)
      : slices_(slices), layout_(layout), in_blocks_(in_blocks) {}

  constexpr PieceRange run() {
    if (slices_.elements() <= 1) return {slices_.elements(), slices_.elements()};
    return find_digits() ? by_digits() : by_walk();
  }

 private:
  struct Digit {
    std::int64_t stride = 1, numbers = 1;
    std::int64_t home = 1;  ///< numbers of a block of the layout
    std::int64_t first = 0, extent = 1;  ///< numbers of all slices
    std::int64_t use = 1;  ///< numbers of a slice
    bool is_used = false;
  };
  /// Blocks along a digit in which a slice lies, and its numbers.
  struct Touched {
    std::int64_t all = 1, cut = 0, numbers = 1;
  };
  /// Pieces of the inner digits: boxes that are whole, one piece each, and pieces of others.
  struct Inner {
    std::int64_t whole = 1, others = 0;
    constexpr bool covers(const Inner& other) const {
      return others >= other.others && whole + others >= other.whole + other.others;
    }
  };

  // ---- digits

  constexpr bool find_digits() {
    List<std::int64_t> strides;  // the smallest first
    const auto add = [&](std::int64_t stride) {
      std::size_t at = strides.size();
      while (at > 0 && strides[at - 1] > stride) --at;
      if (at > 0 && strides[at - 1] == stride) return;
      strides.push_back(stride);
      for (std::size_t i = strides.size() - 1; i > at; --i) std::swap(strides[i], strides[i - 1]);
    };
    std::int64_t elements = 1;
    for (const LayoutAxis& axis : layout_.axes) add(axis.stride), elements *= axis.extent;
    for (const SliceAxis& axis : slices_.axes) add(axis.stride);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const std::int64_t above = i + 1 < strides.size() ? strides[i + 1] : elements;
      if (strides[i] < 1 || above % strides[i] != 0 || above == strides[i]) return false;
      digits_.push_back(
          {.stride = strides[i], .numbers = above / strides[i], .first = slices_.offset / strides[i] % (above / strides[i])});
    }
    for (const LayoutAxis& axis : layout_.axes)
      if (!divide_home(axis)) return false;
    for (const SliceAxis& axis : slices_.axes)
      if (!divide_slice(axis)) return false;
    return slices_.offset < elements;
  }
  constexpr std::size_t digit_at(std::int64_t stride) const {
    std::size_t d = 0;
    while (digits_[d].stride != stride) ++d;
    return d;
  }
  /// Divides the blocks of an axis among its digits: a block is within one run of the inner digits, or consists of whole runs.
  constexpr bool divide_home(const LayoutAxis& axis) {
    std::int64_t block = axis.block;
    for (std::size_t d = digit_at(axis.stride); d < digits_.size() && digits_[d].stride < axis.stride * axis.extent; ++d) {
      Digit& digit = digits_[d];
      const bool is_last = digit.stride * digit.numbers == axis.stride * axis.extent;
      if (!is_last && (block >= digit.numbers ? block % digit.numbers : digit.numbers % block) != 0) return false;
      digit.home = is_last ? block : (std::min)(block, digit.numbers);
      block = std::max<std::int64_t>(1, block / digit.numbers);
    }
    return true;
  }
  constexpr bool divide_slice(const SliceAxis& axis) {
    std::int64_t extent = axis.extent, use = axis.block;
    for (std::size_t d = digit_at(axis.stride); d < digits_.size(); ++d) {
      Digit& digit = digits_[d];
      if (std::exchange(digit.is_used, true)) return false;
      if (extent <= digit.numbers) {
        digit.extent = extent, digit.use = use;
        return digit.first + extent <= digit.numbers;
      }
      if (digit.first != 0 || extent % digit.numbers != 0) return false;
      if ((use >= digit.numbers ? use % digit.numbers : digit.numbers % use) != 0) return false;
      digit.extent = digit.numbers, digit.use = (std::min)(use, digit.numbers);
      extent /= digit.numbers, use = std::max<std::int64_t>(1, use / digit.numbers);
    }
    return false;
  }
  constexpr Touched touched(const Digit& digit, std::int64_t slice) const {
    const std::int64_t begin = digit.first + slice * digit.use,
                       end = digit.first + (std::min)(digit.extent, (slice + 1) * digit.use);
    Touched result{(end - 1) / digit.home - begin / digit.home + 1, 0, end - begin};
    for (const std::int64_t block : {begin / digit.home, (end - 1) / digit.home}) {
      const bool is_whole = begin <= block * digit.home && end >= (std::min)(digit.numbers, (block + 1) * digit.home);
      if (!is_whole && (block == begin / digit.home || result.all > 1)) ++result.cut;
      if (result.all == 1) break;
    }
    if (!in_blocks_ && result.all > 1) result.cut = result.all;
    return result;
  }
  constexpr PieceRange by_digits() const {
    List<Inner> states{{}};
    Inner worst;
    for (const Digit& digit : digits_) {
      List<Inner> next;
      Touched most{0, 0, 0};
      const auto add = [&](std::int64_t slice) {
        const Touched its = touched(digit, slice);
        most = {(std::max)(most.all, its.all), (std::max)(most.cut, its.cut), (std::max)(most.numbers, its.numbers)};
        for (const Inner& inner : states) {
          const Inner added{inner.whole * (its.all - its.cut), inner.whole * its.cut + inner.others * its.numbers};
          bool is_covered = false;
          for (const Inner& other : next) is_covered = is_covered || other.covers(added);
          if (is_covered) continue;
          erase_if(next, [&](const Inner& other) { return added.covers(other); });
          next.push_back(added);
        }
      };
      const std::int64_t slices = (digit.extent + digit.use - 1) / digit.use;
      const bool are_alike = digit.home % digit.use == 0 && digit.first % digit.use == 0;  // each is a part of one block
      for (std::int64_t slice = 0; slice < slices; ++slice) {
        if (slice > 0 && (are_alike || (slice * digit.use) % digit.home == 0)) slice = slices - 1;  // as those before
        add(slice);
      }
      worst = {worst.whole * (most.all - most.cut), worst.whole * most.cut + worst.others * most.numbers};
      states = std::move(next);
    }
    PieceRange result{0, worst.whole + worst.others};
    for (const Inner& inner : states) result.least = (std::max)(result.least, inner.whole + inner.others);
    return result;
  }

  // ---- a walk

  /// Where elements are that follow each other in one block.
  struct Found {
    std::int64_t block = 0, address = 0, count = 1;
  };
  constexpr Found find(std::int64_t element) const {
    Found result;
    for (const LayoutAxis& axis : layout_.axes) {
      const std::int64_t number = element / axis.stride % axis.extent, block = number / axis.block;
      result.block = result.block * ((axis.extent + axis.block - 1) / axis.block) + block;
      result.address = result.address * (std::min)(axis.block, axis.extent - block * axis.block) + number % axis.block;
    }
    for (int a = layout_.axes.size(); a-- > 0;) {  // inner axes of which a block has all, and one of which it has a range
      const LayoutAxis& axis = layout_.axes[a];
      const std::int64_t number = element / axis.stride % axis.extent, block = number / axis.block;
      const std::int64_t end = (std::min)(axis.block, axis.extent - block * axis.block);
      result.count += axis.stride * (end - number % axis.block - 1);
      if (axis.block < axis.extent) break;
    }
    return result;
  }
  /// Counts the pieces of a vertex whose slice begins at an element and has some numbers along each axis.
  constexpr std::int64_t pieces_at(std::int64_t begin, const FixedVector<std::int64_t, max_rank + max_work_axes>& counts) const {
    List<std::pair<std::int64_t, std::int64_t>> ends;  // by block: behind the last element
    std::int64_t pieces = 0;
    const int inner = slices_.axes.size() - 1;
    const bool has_rows = slices_.axes[inner].stride == 1;
    FixedVector<std::int64_t, max_rank + max_work_axes> index;
    index.count = counts.count;
    for (;;) {
      for (std::int64_t at = begin, rest = has_rows ? counts[inner] : 1; rest > 0;) {
        const Found found = find(at);
        const std::int64_t count = (std::min)(rest, found.count);
        std::size_t known = ends.size();
        while (known > 0 && ends[known - 1].first != found.block) --known;
        if (known == 0 && (in_blocks_ || ends.empty())) ends.push_back({found.block, -1}), known = ends.size();
        if (known == 0) ends[0] = {found.block, -1}, known = 1;
        if (ends[known - 1].second != found.address) ++pieces;
        ends[known - 1].second = found.address + count;
        at += count, rest -= count;
      }
      int axis = has_rows ? inner - 1 : inner;
      for (; axis >= 0; --axis) {
        begin += slices_.axes[axis].stride;
        if (++index[axis] < counts[axis]) break;
        begin -= slices_.axes[axis].stride * counts[axis];
        index[axis] = 0;
      }
      if (axis < 0) return pieces;
    }
  }
  constexpr PieceRange by_walk() const {
    FixedVector<std::int64_t, max_rank + max_work_axes> slice, counts;
    slice.count = counts.count = slices_.axes.size();
    PieceRange result;
    for (;;) {
      std::int64_t begin = slices_.offset;
      for (int a = 0; a < slice.size(); ++a) {
        const SliceAxis& axis = slices_.axes[a];
        counts[a] = (std::min)(axis.block, axis.extent - slice[a] * axis.block);
        begin += slice[a] * axis.block * axis.stride;
      }
      result.least = (std::max)(result.least, pieces_at(begin, counts));
      int a = slice.size() - 1;
      for (; a >= 0; --a) {
        if (++slice[a] * slices_.axes[a].block < slices_.axes[a].extent) break;
        slice[a] = 0;
      }
      if (a < 0) break;
    }
    result.most = most_by_rows();
    return result;
  }
  /// Returns the pieces if no row follows another one, and each begins at the last element of a block.
  constexpr std::int64_t most_by_rows() const {
    const SliceAxis& inner = slices_.axes[slices_.axes.size() - 1];
    const std::int64_t row = inner.stride == 1 ? inner.block : 1;
    std::int64_t of_row = 1, run = 1;
    for (int a = layout_.axes.size(); a-- > 0;) {
      const LayoutAxis& axis = layout_.axes[a];
      run *= axis.block;
      if (axis.block == axis.extent) continue;
      of_row += (row + run - 2) / run;
      if (axis.extent % axis.block != 0) of_row += (row + axis.stride * axis.extent - 2) / (axis.stride * axis.extent);
      break;
    }
    return (std::min)(slices_.elements(), slices_.elements() / row * of_row);
  }

  const TileSlices& slices_;
  const TileLayout& layout_;
  bool in_blocks_;
  List<Digit> digits_{};  // the smallest stride first
};

/// Counts the pieces of an operand on tiles. Products, and ops that compute each element alone, take a slice block of the layout
/// by block; others, row-major. What a stage reads where an earlier stage of the step wrote it may count as either, and what a
/// stage uses that no run comes to.
constexpr PieceRange pieces_of(const auto& plan, const Step& step, const StepRecord& record, const TileOperand& of,
                               const TileSlices& slices, const TileLayout& layout, ValueTerms& terms) {
  const SetStages stages(plan, plan.compute_sets[static_cast<std::size_t>(step.compute_set)]);
  const StageOperand& operand = stages.operand(of.member, of.operand);
  bool may_be_in_rows = false, is_in_rows = false, is_written = false;
  for (int m = 0; m < stages.count(); ++m) {
    const OpInfo* const op = stages.op(m, terms);
    const bool takes_blocks = op != nullptr &&
                              (op->elementwise || op->work_kind == WorkKind::product || op->work_kind == WorkKind::convolution);
    for (int o = 0; o < stages[m].operand_count; ++o) {
      const StageOperand& other = stages.operand(m, o);
      if (other.source != Source::memory) continue;
      bool is_same = other.index == operand.index && other.view == operand.view;
      for (int axis = 0; axis < operand.view.shape.rank; ++axis)
        is_same = is_same && other.grid_axis[axis] == operand.grid_axis[axis];
      const bool is_output = o >= stages[m].input_count;
      if (is_same && !takes_blocks) (op && (is_output || !is_written) ? is_in_rows : may_be_in_rows) = true;
      is_written = is_written ||
                   (is_output && record.location_storages[static_cast<std::size_t>(other.index)] == static_cast<int>(of.storage));
    }
  }
  PieceRange pieces = PieceCount(slices, layout, !is_in_rows).run();
  if (may_be_in_rows && !is_in_rows) pieces.most = PieceCount(slices, layout, false).run().most;
  return pieces;
}

}  // namespace tilewright::internal::proof::detail
