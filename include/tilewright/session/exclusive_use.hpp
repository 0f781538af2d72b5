#pragma once
#include <atomic>
#include <stdexcept>

#include "tilewright/core/text.hpp"

namespace tilewright {

/// Lock on a flag. A second lock on the flag throws std::logic_error with the name of the call.
class [[nodiscard]] ExclusiveUse {
 public:
  ExclusiveUse(std::atomic<bool>& in_use, const char* call) : in_use_(in_use) {
    if (in_use_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      throw_in_use(call);
  }
  ~ExclusiveUse() { in_use_.store(false, std::memory_order_release); }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

 private:
  [[noreturn, gnu::noinline, gnu::cold]] static void throw_in_use(const char* call) {
    throw std::logic_error(
        text(call, ": the session is in use, by another thread or by an op: one call at a time expected").string());
  }
  std::atomic<bool>& in_use_;
};

}  // namespace tilewright
