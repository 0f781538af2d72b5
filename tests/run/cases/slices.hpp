#pragma once
// The cases of tests/reference/ops_slices.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void slices(Ir& ir) { add_cases<Program::slices>({ir}); }

constexpr void readers_of_slices(Ir& ir) { add_cases<Program::readers_of_slices>({ir}); }

constexpr void concats(Ir& ir) { add_cases<Program::concats>({ir}); }

/// Writing through aliases of parts; reading values that views have had.
constexpr void parts_in_place(Ir& ir) { add_cases<Program::parts_in_place>({ir}); }

constexpr void parts_of_other_dtypes(Ir& ir) { add_cases<Program::parts_of_other_dtypes>({ir}); }

constexpr void all_slices(Ir& ir) {
  slices(ir);
  readers_of_slices(ir);
  concats(ir);
}

}  // namespace op_cases
