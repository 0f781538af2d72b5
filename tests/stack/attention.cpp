// labels: more
// Attention with a mask and dropout, in half precision, and its gradients.
#include "run/cases/attention.hpp"

#include "painted.hpp"

constexpr void program(tw::Ir& ir) {
  using namespace op_cases;
  differentiable(ir, "causal", op_tests::Attention::dropped_attention({.is_causal = true, .dropout_p = 0.25}),
                 f16({1, 2, 128, 64}), f16({1, 2, 128, 64}), f16({1, 2, 128, 64}), op_tests::seed_spec);
  differentiable(ir, "masked", op_tests::Attention::masked_attention(), f32({2, 2, 100, 32}), f32({2, 1, 150, 32}),
                 f32({2, 1, 150, 32}), bools({2, 150}));
}

int main() { return check_memory<program>("attention"); }
