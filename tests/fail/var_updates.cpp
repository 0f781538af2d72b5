// labels: none
// Updates of variables that are given what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{2, 3}, function>;

constexpr Tensor ints(Tensor x) { return x.cast(tw::int32); }
constexpr Tensor row(Tensor x) { return tensor(x, {3}); }
constexpr Tensor scalar(Tensor x) { return tensor(x, {}); }
constexpr Tensor constant(Tensor x) { return x.ir().constant({0}, {2, 3}); }

// CASE accumulate_shapes
// expect: Accumulate: (2, 3) float32 and (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_(x, row(x)); }> accumulate_shapes;

// CASE accumulate_factor
// expect: Accumulate: factor (3,) float32: one element expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_square_(x, x, row(x)); }> accumulate_factor;

// CASE accumulate_number
// expect: Accumulate: f 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_(ints(x), ints(x), 0.5); }> accumulate_number;

// CASE accumulate_dtypes
// expect: Accumulate: (2, 3) int32 and (2, 3) float32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_(ints(x), x); }> accumulate_dtypes;

// CASE accumulate_of_integers
// expect: Accumulate: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_moving_average_(x, ints(x), 0.9); }> accumulate_of_integers;

// CASE accumulate_constant
// expect: Accumulate: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_mean_(constant(x), x, 1); }> accumulate_constant;

// CASE scale_factor
// expect: AccumulatorScale: factor (3,) float32: one element expected, in Net/layer
Case<[](Tensor x) { return ops::accumulator_scale_(x, row(x)); }> scale_factor;

// CASE scale_number
// expect: AccumulatorScale: f 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::accumulator_scale_(ints(x), 0.5); }> scale_number;

// CASE scale_of_bools
// expect: AccumulatorScale: (2, 3) bool: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::accumulator_scale_(x.cast(tw::boolean), 1); }> scale_of_bools;

// CASE zero_of_a_constant
// expect: AccumulatorScale: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::accumulator_zero_(constant(x)); }> zero_of_a_constant;

// CASE copy_shapes
// expect: CopyVarUpdate: (2, 3) float32 and (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::copy_var_update_(x, row(x)); }> copy_shapes;

// CASE copy_of_float8
// expect: CopyVarUpdate: (2, 3) float32 and (2, 3) float8_143: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::copy_var_update_(x, tensor(x, {2, 3}, tw::float8_143)); }> copy_of_float8;

// CASE decay_without_weight
// expect: AdamUpdater: weight_decay without weight: the weight that decays expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, x, {.weight_decay = 0.5}); }> decay_without_weight;

// CASE time_step_without_betas
// expect: AdamUpdater: time_step without beta1 or beta2: both expected, to correct the moments, in Net/layer
Case<[](Tensor x) { return ops::lamb_updater(x, x, {.time_step = scalar(x), .beta1 = 0.9}); }> time_step_without_betas;

// CASE adamax_without_time_step
// expect: AdamUpdater: Adamax without time_step: a time step expected, in Net/layer
Case<[](Tensor x) { return ops::adamax_updater(x, x, {}); }> adamax_without_time_step;

// CASE moments
// expect: AdamUpdater: moments (2, 3) float32 and (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, row(x)); }> moments;

// CASE moments_of_integers
// expect: AdamUpdater: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, ints(x)); }> moments_of_integers;

// CASE weight
// expect: AdamUpdater: moments (2, 3) float32 of weight (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, x, {.weight = row(x), .weight_decay = 0.5}); }> weight;

// CASE time_step
// expect: AdamUpdater: factor (3,) float32: one element expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, x, {.time_step = row(x), .beta1 = 0.9, .beta2 = 0.99}); }> time_step;

// CASE constant_time_step
// expect: AdamUpdater: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::adam_updater(x, x, {.time_step = x.ir().constant(1.0), .beta1 = 0.9, .beta2 = 0.99}); }>
    constant_time_step;

// CASE step_shapes
// expect: AdamVarUpdate: (2, 3) float32 and (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::adam_var_update(x, row(x), scalar(x), scalar(x), 0.5); }> step_shapes;

// CASE step_norms
// expect: AdamVarUpdate: factor (3,) float32: one element expected, in Net/layer
Case<[](Tensor x) { return ops::adam_var_update(x, x, row(x), scalar(x), 0.5); }> step_norms;

// CASE step_of_integers
// expect: AdamVarUpdate: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::adam_var_update(x, ints(x), scalar(x), scalar(x), 0.5); }> step_of_integers;
