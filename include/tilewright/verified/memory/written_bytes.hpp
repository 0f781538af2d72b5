#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/tiles/footprints.hpp"

namespace tilewright::internal::proof::detail {

/// A set of bytes of a storage: those that steps have written, or those that they read before that. They count from the start of
/// the storage.
class WrittenBytes {
 public:
  /// Returns the bytes of an access.
  static constexpr WrittenBytes of(const Access& access) {
    WrittenBytes result;
    add_runs(access, 0, result.runs_);
    result.join_runs();
    return result;
  }
  /// `bytes`: of the whole storage. No two elements of the access are at one place.
  constexpr void write(const Access& access, std::int64_t bytes) {
    if (access.elements() * access.element_bytes == bytes) return void(runs_ = {{0, bytes}});
    if (has(access)) return;
    add_runs(access, 0, runs_);
    join_runs();
  }
  /// Adds other bytes, each `shift` bytes on.
  constexpr void add(const WrittenBytes& other, std::int64_t shift = 0) {
    if (other.is_empty() || has(other, shift)) return;
    for (const Run& each : other.runs_) runs_.push_back({each.begin + shift, each.end + shift});
    join_runs();
  }
  constexpr bool is_empty() const { return runs_.empty(); }
  /// Returns whether all bytes of an access are in the set.
  constexpr bool has(const Access& access) const {
    if (access.elements() == 0) return true;
    const auto [below, above] = access.reach();
    if (runs_.size() == 1 && runs_[0].begin <= access.offset + below && access.offset + above <= runs_[0].end) return true;
    return has(of(access), 0);
  }
  /// Returns whether all of other bytes, each `shift` bytes on, are in the set.
  constexpr bool has(const WrittenBytes& other, std::int64_t shift) const {
    std::size_t i = 0;
    for (const Run& each : other.runs_) {
      while (i < runs_.size() && runs_[i].end < each.end + shift) ++i;
      if (i == runs_.size() || runs_[i].begin > each.begin + shift) return false;
    }
    return true;
  }
  /// Returns the bytes that are not among others, each of which counts `shift` bytes on.
  constexpr WrittenBytes without(const WrittenBytes& others, std::int64_t shift = 0) const {
    WrittenBytes result;
    std::size_t first = 0;
    for (Run rest : runs_) {
      while (first < others.runs_.size() && others.runs_[first].end + shift <= rest.begin) ++first;
      for (std::size_t i = first; i < others.runs_.size() && others.runs_[i].begin + shift < rest.end; ++i) {
        if (rest.begin < others.runs_[i].begin + shift) result.runs_.push_back({rest.begin, others.runs_[i].begin + shift});
        rest.begin = (std::max)(rest.begin, others.runs_[i].end + shift);
      }
      if (rest.begin < rest.end) result.runs_.push_back(rest);
    }
    return result;
  }
  /// Returns the bytes that are in both sets.
  constexpr WrittenBytes common(const WrittenBytes& other) const { return without(without(other)); }

 private:
  constexpr void join_runs() {
    sort_runs(runs_);
    std::size_t count = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (count > 0 && runs_[i].begin <= runs_[count - 1].end)
        runs_[count - 1].end = (std::max)(runs_[count - 1].end, runs_[i].end);
      else runs_[count++] = runs_[i];
    runs_.resize(count);
  }

  List<Run> runs_{};  // by their bytes; they do not touch
};

}  // namespace tilewright::internal::proof::detail
