#pragma once

namespace tilewright::detail {}

/// The planner and the executor: what a program becomes, and what runs it. Not for users: all of it may change in any version.
namespace tilewright::internal {
namespace detail {
using namespace tilewright::detail;
}
}  // namespace tilewright::internal
