#pragma once
#include <cstddef>

namespace tilewright::internal {

/// Watches the stages of vertices on a simulated IPU: for strict mode.
class StageObserver {
 public:
  /// Returns memory for the scratch of a vertex, in place of the stack's.
  virtual std::byte* scratch() = 0;
  /// Called before a kernel runs. `elementwise`: whether its op promises that, by `Fusion::elementwise`, and is no formula.
  virtual void before(int stage, bool elementwise, std::byte* const* locations) = 0;
  /// Called after it. Returns whether it runs again.
  virtual bool after() = 0;

 protected:
  ~StageObserver() = default;
};

/// The observer of the vertices that this thread runs. Programs for the host do not ask for it.
inline constinit thread_local StageObserver* stage_observer = nullptr;

}  // namespace tilewright::internal
