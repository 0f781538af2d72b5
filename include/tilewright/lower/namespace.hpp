#pragma once

namespace tilewright::detail {}

/// The planner and the executor. Not for users: all of it may change in any version.
namespace tilewright::internal {
namespace detail {
using namespace tilewright::detail;
}
}  // namespace tilewright::internal
