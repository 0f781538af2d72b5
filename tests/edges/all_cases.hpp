#pragma once
// All cases, of which a program has some.
#include "random_cases.hpp"

namespace edges {

/// Adds the cases of these names to an Ir.
constexpr void add_cases(Ir& ir, DType dtype, bool fused, std::span<const std::string_view> names) {
  const Cases cases(ir, dtype, fused, names);
  for (const auto part : {ops_in_files, programs, random_programs}) part(cases);
}

}  // namespace edges
