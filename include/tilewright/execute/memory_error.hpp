#pragma once
#include <cstdint>
#include <cstdio>
#include <new>

namespace tilewright {

/// Thrown if memory for a session runs out. The text names the purpose and the number of bytes of the failed allocation:
/// "session: 8589934592 bytes for variables: as much free memory expected". The error itself allocates nothing.
class MemoryError : public std::bad_alloc {
 public:
  /// `what`: the purpose of the bytes.
  MemoryError(const char* what, std::int64_t bytes) {
    std::snprintf(text_, sizeof text_, "session: %lld bytes for %s: as much free memory expected", static_cast<long long>(bytes),
                  what);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[160]{};
};

}  // namespace tilewright
