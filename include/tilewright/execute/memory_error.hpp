#pragma once
#include <cstdint>
#include <cstdio>
#include <new>

namespace tilewright {

/// There is no memory for what a session keeps. The text names it, and the bytes that were wanted at once: "session: 8589934592
/// bytes for variables: as much free memory expected". It needs no memory itself.
class MemoryError : public std::bad_alloc {
 public:
  /// `what`: what the bytes are for.
  MemoryError(const char* what, std::int64_t bytes) {
    std::snprintf(text_, sizeof text_, "session: %lld bytes for %s: as much free memory expected", static_cast<long long>(bytes),
                  what);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[160]{};
};

}  // namespace tilewright
