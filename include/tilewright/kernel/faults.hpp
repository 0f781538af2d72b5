#pragma once
#include <atomic>
#include <cstdint>

namespace tilewright {

/// What an op has reported of values that it cannot compute with, since the executor last looked.
struct FaultRecord {
  std::int64_t count = 0;  ///< of the values; 0: none
  std::int64_t value = 0;  ///< one of them: that of the worker which was first
};

/// Where a kernel reports values that it cannot compute with: a divisor of 0, an index out of range. The kernel goes on with
/// another value, and touches no other memory. The run ends, and throws a FaultError.
class Faults {
 public:
  explicit Faults(FaultRecord& record) : record_(&record) {}

  /// Any number of workers may report at a time.
  void report(std::int64_t value) const {
    if (std::atomic_ref(record_->count).fetch_add(1, std::memory_order_relaxed) == 0)
      std::atomic_ref(record_->value).store(value, std::memory_order_relaxed);
  }

 private:
  FaultRecord* record_;
};

}  // namespace tilewright
