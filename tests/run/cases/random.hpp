#pragma once
// Random numbers, dropout and seeds, as programs. The names are those of tests/reference/make_random.py.
#include "of_ops.hpp"

namespace op_cases {

constexpr void random_numbers(Ir& ir) { add_cases<Program::random_numbers>({ir}); }

/// Of float32 and float64, so that they can be compared with finite differences.
constexpr void dropouts(Ir& ir) { add_cases<Program::dropouts>({ir}); }
constexpr void other_dropouts_and_seeds(Ir& ir) { add_cases<Program::other_dropouts_and_seeds>({ir}); }

}  // namespace op_cases
