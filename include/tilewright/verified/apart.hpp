#pragma once
#include <string_view>

#include "tilewright/verified/barriers.hpp"
#include "tilewright/verified/set_stages.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that nothing in a step changes bytes which are still to be read there: no vertex accesses bytes that another vertex
/// writes, and no kernel stores elements, its own or those of its epilogue, over others that it reads.
class ApartCheck {
 public:
  /// `accesses`: those of the step's stages.
  constexpr ApartCheck(const SetStages& stages, const Division& division, const List<StepAccess>& accesses, ValueTerms& terms)
      : stages_(stages), division_(division), accesses_(accesses), terms_(terms), has_vertices_(division.vertices() > 1) {}

  /// Returns what is wrong; empty: nothing.
  constexpr std::string_view run() const {
    for (const StepAccess& written : accesses_) {
      if (!written.writes) continue;
      for (const StepAccess& other : accesses_) {
        if (&written == &other) continue;
        const bool stores_rows = other.writes && store_rows(written.stage, other.stage);
        if ((!has_vertices_ && other.writes && !stores_rows) || !written.shares_bytes(other)) continue;
        if (stores_rows) return "a kernel stores rows and elements in the same bytes: bytes of their own expected";
        if (!other.writes && !reads_in_time(written, other))
          return "a kernel writes bytes that it still reads: bytes of their own expected";
        const StageOperand &a = operand_of(written), &b = operand_of(other);
        if (!has_vertices_ || a == b) continue;
        List<Run> of_written, of_other;
        division_.add_runs_of_vertices(a, written.bytes.offset, of_written);
        division_.add_runs_of_vertices(b, other.bytes.offset, of_other);
        if (share_bytes(of_written, of_other))
          return "vertices access bytes that other vertices write: bytes of their own expected";
      }
    }
    return {};
  }

 private:
  constexpr const StageOperand& operand_of(const StepAccess& access) const {
    return stages_.operand(access.stage, access.operand);
  }
  /// Returns whether two stages of one kernel store at the same time, because one of them reads rows.
  constexpr bool store_rows(int a, int b) const {
    return a != b && stages_.kernel_of(a) == stages_.kernel_of(b) &&
           (stages_.reads_rows(a, terms_) || stages_.reads_rows(b, terms_));
  }
  /// Returns whether no element is read after it is written, if both are in one memory.
  constexpr bool reads_in_time(const StepAccess& written, const StepAccess& read) const {
    if (stages_.kernel_of(written.stage) != stages_.kernel_of(read.stage)) return true;
    return have_equal_elements(written.bytes, read.bytes) &&
           stages_.reads_in_place(read.stage, read.operand, written.stage, written.operand, terms_);
  }
  /// Returns whether elements that belong together have equal addresses.
  static constexpr bool have_equal_elements(const Access& a, const Access& b) {
    if (a.offset != b.offset || a.element_bytes != b.element_bytes) return false;
    for (int i = 0, k = 0;; ++i, ++k) {
      while (i < a.rank && a.extents[i] == 1) ++i;
      while (k < b.rank && b.extents[k] == 1) ++k;
      if (i == a.rank || k == b.rank) return i == a.rank && k == b.rank;
      if (a.extents[i] != b.extents[k] || a.strides[i] != b.strides[k]) return false;
    }
  }

  const SetStages& stages_;
  const Division& division_;
  const List<StepAccess>& accesses_;
  ValueTerms& terms_;
  bool has_vertices_;
};

}  // namespace tilewright::internal::proof::detail
