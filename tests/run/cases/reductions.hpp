#pragma once
// The cases of tests/reference/ops_reductions.txt.
#include <array>

#include "of_ops.hpp"

namespace op_cases {

constexpr void selections(Ir& ir) { add_cases<Program::selections>({ir}); }
constexpr void sums_of_functions(Ir& ir) { add_cases<Program::sums_of_functions>({ir}); }

constexpr void lines(Ir& ir) { add_cases<Program::lines>({ir}); }

constexpr void ties_and_special_numbers(Ir& ir) { add_cases<Program::ties>({ir}); }

constexpr void indices(Ir& ir) {
  add_cases<Program::of_integers>({ir, tw::int32, {}, "reduced_int_"});
  add_cases<Program::indices>({ir});
}

constexpr void half_reductions(Ir& ir) {
  add_cases<Program::reduced_half>({ir, tw::float16, {}, "reduced_half_"});
  add_cases<Program::half_reductions>({ir});
}

constexpr void double_reductions(Ir& ir) {
  add_cases<Program::reduced_double>({ir, tw::float64, {}, "reduced_double_"});
  add_cases<Program::double_reductions>({ir});
}
/// Of integers of all kinds, and indices and counts of double and half precision.
constexpr void reductions_of_other_dtypes(Ir& ir) {
  forward(
      ir, "reduced_double_indices",
      [](Tensor x) {
        const auto [values, places] = ops::topk(x, 3, 1, false);
        return std::array{ops::argmax(x, 1), ops::argmin(x, 0), values, places};
      },
      f64({5, 37}));
  for (const tw::DType dtype : {tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
    forward(
        ir, tw::text("reduced_", tw::to_text(dtype)).view(),
        [](Tensor x) {
          const auto [values, places] = ops::topk(x, 2, 1);
          return std::array{ops::max(x, 1), ops::min(x, 1),    ops::median(x, 1), ops::prod(x, 1),   ops::sumsquare(x, 1),
                            ops::l1(x, 1),  ops::cumsum(x, 1), ops::argmax(x, 1), ops::argmin(x, 1), values,
                            places};
        },
        TensorSpec{{3, 11}, dtype});
  add_cases<Program::reductions_of_other_dtypes>({ir});
}

/// Of which tiles have parts.
constexpr void reductions_in_tiles(Ir& ir) {
  add_cases<Program::in_tiles>({ir, tw::float32, {}, "tiles_"});
  add_cases<Program::reductions_in_tiles>({ir});
}

/// Of lines of which blocks have parts on a target that cuts reductions.
constexpr void reductions_in_parts(Ir& ir) { add_cases<Program::in_parts>({ir, tw::float32, {}, "parts_"}); }
constexpr void other_reductions_in_parts(Ir& ir) {
  forward(
      ir, "parts_half", [](Tensor x) { return std::array{ops::max(x), ops::min(x), ops::prod(x), ops::logsumexp(x)}; },
      f16({100}));
}
constexpr void integers_in_parts(Ir& ir) {
  forward(
      ir, "parts_int8", [](Tensor x) { return std::array{ops::max(x), ops::min(x), ops::prod(x)}; }, TensorSpec{{300}, tw::int8});
}
constexpr void losses_in_parts(Ir& ir) { add_cases<Program::losses_in_parts>({ir}); }

}  // namespace op_cases
