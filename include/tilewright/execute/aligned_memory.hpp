#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Zeroed memory that starts at a multiple of memory_alignment.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::int64_t bytes)
      : data_(static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment))) {
    std::memset(data_, 0, static_cast<std::size_t>(bytes));
  }
  ~AlignedMemory() { ::operator delete(data_, alignment); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  static constexpr std::align_val_t alignment{static_cast<std::size_t>(memory_alignment)};
  std::byte* data_;
};

}  // namespace tilewright
