#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/verified/memory/memory.hpp"

namespace tilewright::internal::proof::detail {

/// A memory that recalls what reads take long to find: elements of several values, such as all heads of an attention. Several ops
/// read them in the same way. It does not even write what is the only write, and is read as it was written.
class RecalledMemory {
 public:
  constexpr RecalledMemory() = default;
  constexpr explicit RecalledMemory(Memory&& memory) : memory_(std::move(memory)) {}

  constexpr Content read(const Access& access) {
    if (has_only_write_) {
      if (only_write_.access == access) return only_write_.found;
      apply();
    }
    for (const Read& each : reads_)
      if (each.access == access) return each.found;
    Content found = memory_.read(access);
    if (found.parts.empty()) return found;
    if (reads_.size() == most_reads) reads_.erase(reads_.begin());
    const Access::Reach reach = access.reach();
    reads_.push_back({access, access.offset + reach.below, access.offset + reach.above, found});
    return found;
  }
  constexpr void write(const Access& access, const Content& content) {
    if (access.elements() == 0) return;
    if (has_only_write_ && !(only_write_.access == access)) apply();
    if (memory_.is_empty() && !has_unwritten(content) && has_own_places(access)) {
      only_write_ = {access, 0, 0, content};
      has_only_write_ = true;
      reads_.clear();
      return;
    }
    has_only_write_ = false;  // its elements are written again
    if (const Access::Reach reach = access.reach(); !reads_.empty())
      drop(access.offset + reach.below, access.offset + reach.above);
    memory_.write(access, content);
  }
  constexpr void write(const Access& access, ValueId value) { write(access, whole_of(value, access)); }
  constexpr void forget(std::int64_t begin, std::int64_t end) {
    if (has_only_write_) apply();
    drop(begin, end);
    memory_.forget(begin, end);
  }
  constexpr const Memory& memory() {
    if (has_only_write_) apply();
    return memory_;
  }

 private:
  static constexpr std::size_t most_reads = 4;

  /// An access, and its content. No byte in its reach was written since.
  struct Read {
    Access access{};
    std::int64_t begin = 0, end = 0;  ///< of its bytes
    Content found{};
  };
  constexpr void apply() {
    has_only_write_ = false;
    memory_.write(only_write_.access, only_write_.found);
  }
  constexpr void drop(std::int64_t begin, std::int64_t end) {
    erase_if(reads_, [&](const Read& each) { return each.begin < end && begin < each.end; });
  }

  Memory memory_{};
  Read only_write_{};  // not in memory_, which is empty
  bool has_only_write_ = false;
  List<Read> reads_{};  // the last one at the end
};

}  // namespace tilewright::internal::proof::detail
