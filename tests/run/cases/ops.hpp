#pragma once
// The cases of tests/reference/ops.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void matrices_and_arithmetic(Ir& ir) { add_cases<Program::matrices_and_arithmetic>({ir}); }

constexpr void functions_and_reductions(Ir& ir) {
  add_cases<Program::float32>({ir, tw::float32, {3, 19}});
  add_cases<Program::functions_and_reductions>({ir});
}

constexpr void softmax_and_losses(Ir& ir) { add_cases<Program::softmax_and_losses>({ir}); }

constexpr void half_precision(Ir& ir) {
  add_cases<Program::half>({ir, tw::float16, {3, 19}, "half_"});
  add_cases<Program::half_precision>({ir});
}

/// What has no rounding.
constexpr void integers_and_casts(Ir& ir) {
  add_cases<Program::numbers_of_int32>({ir, tw::int32, {2, 3}, "int_"});
  add_cases<Program::integers_and_casts>({ir});
}
constexpr void normalisation(Ir& ir) { add_cases<Program::normalisation>({ir}); }
constexpr void variable_updates(Ir& ir) { add_cases<Program::variable_updates>({ir}); }
constexpr void optimisers(Ir& ir) { add_cases<Program::optimisers>({ir}); }

/// All operands of one dtype.
constexpr void adam_in(Ir& ir, std::string_view kind, tw::DType dtype) { add_cases<Program::adam_in>({ir, dtype, {}, kind}); }
constexpr void double_updates(Ir& ir) {
  adam_in(ir, "double", tw::float64);
  add_cases<Program::double_updates>({ir});
}
constexpr void half_precision_norms_and_updates(Ir& ir) {
  adam_in(ir, "half", tw::float16);
  add_cases<Program::half_precision_norms_and_updates>({ir});
}
constexpr void convolutions(Ir& ir) { add_cases<Program::convolutions>({ir}); }
constexpr void half_convolutions(Ir& ir) { add_cases<Program::half_convolutions>({ir}); }

/// What finite differences can check, in two programs.
constexpr void float32_functions(Ir& ir) {
  matrices_and_arithmetic(ir);
  functions_and_reductions(ir);
}
constexpr void float32_layers(Ir& ir) {
  softmax_and_losses(ir);
  normalisation(ir);
  variable_updates(ir);
  optimisers(ir);
}
/// Float32 ops with gradients that, by definition, are not derivatives.
constexpr void other_gradients(Ir& ir) { add_cases<Program::other_gradients>({ir}); }

}  // namespace op_cases
