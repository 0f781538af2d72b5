// `lower` as it was before `prepare` was a step of its own, for older programs: `-include support/lower_of_ir.hpp`.
#pragma once

#include <tilewright/tilewright.hpp>

namespace tilewright {
constexpr Plan lower(const Ir& ir, const Target& target) { return lower(prepare(ir, target)); }
}  // namespace tilewright
