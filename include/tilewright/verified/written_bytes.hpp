#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/footprints.hpp"

namespace tilewright::internal::proof::detail {

/// Bytes of a storage that steps have written. Accesses count from the start of the storage.
class WrittenBytes {
 public:
  /// `bytes`: of the whole storage. No two elements of the access are at one place.
  constexpr void write(const Access& access, std::int64_t bytes) {
    if (access.elements() * access.element_bytes == bytes) return void(runs_ = {{0, bytes}});
    if (has(access)) return;
    add_runs(access, 0, runs_);
    sort_runs(runs_);
    std::size_t count = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (count > 0 && runs_[i].begin <= runs_[count - 1].end)
        runs_[count - 1].end = std::max(runs_[count - 1].end, runs_[i].end);
      else runs_[count++] = runs_[i];
    runs_.resize(count);
  }
  /// Returns whether all bytes of an access are written.
  constexpr bool has(const Access& access) const {
    if (access.elements() == 0) return true;
    const auto [below, above] = access.reach();
    if (runs_.size() == 1 && runs_[0].begin <= access.offset + below && access.offset + above <= runs_[0].end) return true;
    List<Run> needed;
    add_runs(access, 0, needed);
    sort_runs(needed);
    std::size_t i = 0;
    for (const Run& each : needed) {
      while (i < runs_.size() && runs_[i].end < each.end) ++i;
      if (i == runs_.size() || runs_[i].begin > each.begin) return false;
    }
    return true;
  }

 private:
  List<Run> runs_{};  // by their bytes; they do not touch
};

}  // namespace tilewright::internal::proof::detail
