#pragma once
#include <cstddef>
#include <cstdint>

namespace tilewright::internal {

/// Watches the stages of vertices on a simulated IPU: for strict mode.
class StageObserver {
 public:
  /// Called before a kernel runs that is no formula. `elementwise`: whether its op promises that, by `Fusion::elementwise`.
  virtual void before(int stage, bool elementwise, std::byte* const* locations, std::byte* scratch) = 0;
  /// Called after it. Returns whether it runs again.
  virtual bool after() = 0;

 protected:
  ~StageObserver() = default;
};

/// Bytes after the scratch of a vertex on a simulated IPU: strict mode finds what is written there.
inline constexpr std::int64_t scratch_guard = 64;

/// The observer of the vertices that this thread runs. Programs for the host do not ask for it.
inline constinit thread_local StageObserver* stage_observer = nullptr;

}  // namespace tilewright::internal
