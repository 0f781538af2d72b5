#pragma once
#include <atomic>
#include <cstdint>

namespace tilewright {

/// Values with which an op could not compute, as reported since the executor last checked.
struct FaultRecord {
  std::int64_t count = 0;  ///< of the values; 0: none
  std::int64_t value = 0;  ///< one of them, from the worker that reported first
};

/// Where a kernel reports values with which it cannot compute: a divisor of 0, an index out of range. The kernel continues with
/// another value, and accesses no other memory. The run throws a FaultError when it ends.
class Faults {
 public:
  explicit Faults(FaultRecord& record) : record_(&record) {}

  /// Reports a value. Any number of workers may report at a time.
  void report(std::int64_t value) const {
    if (std::atomic_ref(record_->count).fetch_add(1, std::memory_order_relaxed) == 0)
      std::atomic_ref(record_->value).store(value, std::memory_order_relaxed);
  }

 private:
  FaultRecord* record_;
};

}  // namespace tilewright
