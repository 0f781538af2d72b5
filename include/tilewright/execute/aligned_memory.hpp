#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "tilewright/core/platform/platform.hpp"
#include "tilewright/execute/memory_error.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// Zeroed memory that starts at a multiple of memory_alignment. On Linux, most of it uses pages of 2 MB: allocating 4 KB at a
/// time takes the system longer than filling the pages, and a processor translates addresses of fewer pages faster.
class AlignedMemory {
 public:
  /// Allocates memory. Throws MemoryError, which names the purpose `what`, if there is none.
  AlignedMemory(std::int64_t bytes, const char* what)
      : alignment_(static_cast<std::size_t>(bytes) >= huge_page ? huge_page : static_cast<std::size_t>(memory_alignment)),
        data_(static_cast<std::byte*>(
            ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(alignment_), std::nothrow))) {
    if (data_ == nullptr) throw MemoryError(what, bytes);
    if (alignment_ == huge_page) advise_huge_pages(data_, static_cast<std::size_t>(bytes) / huge_page * huge_page);
    std::memset(data_, 0, static_cast<std::size_t>(bytes));
  }
  ~AlignedMemory() { ::operator delete(data_, std::align_val_t(alignment_)); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
  std::size_t alignment_;
  std::byte* data_;
};

}  // namespace tilewright::internal
