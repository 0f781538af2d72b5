// labels: none
// Reductions, indices and running sums of what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

constexpr Tensor ints(Tensor x) { return x.cast(tw::int32); }
constexpr Tensor bools(Tensor x) { return x.cast(tw::boolean); }
constexpr Tensor scalar(Tensor x) { return tensor(x, {}); }

// CASE axis
// expect: ReduceMax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::max(x, 2); }> axis;

// CASE axis_of_a_sum
// expect: ReduceSum: axis -3 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::sum(x, -3); }> axis_of_a_sum;

// CASE axis_of_a_mean
// expect: ReduceMean: axis 5 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::mean(x, 5); }> axis_of_a_mean;

// CASE axis_of_a_scalar
// expect: ReduceL1: axis 0 of a scalar: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::l1(scalar(x), 0); }> axis_of_a_scalar;

// CASE axis_twice
// expect: ReduceMean: axis 1 twice: distinct axes expected, in Net/layer
Case<[](Tensor x) { return ops::mean(x, {1, -1}); }> axis_twice;

// CASE axis_of_a_product_twice
// expect: ReduceProd: axis 0 twice: distinct axes expected, in Net/layer
Case<[](Tensor x) { return ops::prod(x, {0, 1, 0}); }> axis_of_a_product_twice;

// CASE many_axes
// expect: ReduceMin: 7 axes: at most 6 expected, in Net/layer
Case<[](Tensor x) { return ops::min(x, {0, 1, 2, 3, 4, 5, 6}); }> many_axes;

// CASE sum_of_bools
// expect: ReduceSum: (8, 5) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::sum(bools(x)); }> sum_of_bools;

// CASE median_of_bools
// expect: ReduceMedian: (8, 5) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::median(bools(x)); }> median_of_bools;

// CASE norm_of_integers
// expect: ReduceL2: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::l2(ints(x)); }> norm_of_integers;

// CASE logarithm_of_integers
// expect: ReduceLogSumExp: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::logsumexp(ints(x)); }> logarithm_of_integers;

// CASE softmax_axis
// expect: Softmax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::softmax(x, 2); }> softmax_axis;

// CASE softmax_of_a_scalar
// expect: Softmax: axis -1 of a scalar: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::softmax(scalar(x)); }> softmax_of_a_scalar;

// CASE softmax_of_integers
// expect: Softmax: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::softmax(ints(x)); }> softmax_of_integers;

// CASE lamb_square_of_integers
// expect: LambSquare: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::lamb_square(ints(x)); }> lamb_square_of_integers;

// CASE argmax_of_bools
// expect: ArgMax: (8, 5) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::argmax(bools(x)); }> argmax_of_bools;

// CASE argmin_axis
// expect: ArgMin: axis -3 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::argmin(x, -3); }> argmin_axis;

// CASE argmax_of_a_scalar
// expect: ArgMax: axis 0 of a scalar: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::argmax(scalar(x)); }> argmax_of_a_scalar;

// CASE argmax_beyond_uint32
// expect: ArgMax: (4294967297,) uint8 along axis 0: at most 4294967296 elements, the indices of uint32, expected, in Net/layer
Case<[](Tensor x) { return ops::argmax(tensor(x, {(std::int64_t{1} << 32) + 1}, tw::uint8)); }> argmax_beyond_uint32;

// CASE cumsum_axis
// expect: CumSum: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::cumsum(x, 2); }> cumsum_axis;

// CASE cumsum_of_bools
// expect: CumSum: (8, 5) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::cumsum(bools(x)); }> cumsum_of_bools;

// CASE top
// expect: TopK: 9 of axis 0 of (8, 5) float32: from 1 to 8 expected, in Net/layer
Case<[](Tensor x) { return ops::topk(x, 9, 0).values; }> top;

// CASE top_of_nothing
// expect: TopK: 0 of axis 1 of (8, 5) float32: from 1 to 5 expected, in Net/layer
Case<[](Tensor x) { return ops::topk(x, 0).indices; }> top_of_nothing;

// CASE top_axis
// expect: TopK: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::topk(x, 1, 2).values; }> top_axis;

// CASE top_of_bools
// expect: TopK: (8, 5) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::topk(bools(x), 1).values; }> top_of_bools;

// CASE levels
// expect: Histogram: level 1 after 2: levels that increase expected, in Net/layer
Case<[](Tensor x) { return ops::histogram(x, {0, 2, 1}); }> levels;

// CASE one_level
// expect: Histogram: 1 levels: at least 2 expected, in Net/layer
Case<[](Tensor x) { return ops::histogram(x, {0}); }> one_level;

// CASE histogram_beyond_uint32
// expect: Histogram: (65536, 65536) float32: at most 4294967295 elements, the counts of uint32, expected, in Net/layer
Case<[](Tensor x) { return ops::histogram(tensor(x, {1 << 16, 1 << 16}), {0, 1}); }> histogram_beyond_uint32;

// CASE histogram_of_integers
// expect: Histogram: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::histogram(ints(x), {0, 1}); }> histogram_of_integers;
