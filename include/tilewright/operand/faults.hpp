#pragma once
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
    // builtins, because <atomic> takes as long to read as all other headers of a formula; small cores have none for 64 bits
    if constexpr (__atomic_always_lock_free(sizeof(std::int64_t), nullptr)) {
      if (__atomic_fetch_add(&record_->count, 1, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&record_->value, value, __ATOMIC_RELAXED);
    } else if (record_->count++ == 0) {
      record_->value = value;
    }
  }

 private:
  FaultRecord* record_;
};

}  // namespace tilewright
