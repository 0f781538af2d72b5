// labels: none
// Elementwise ops that are given what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{2, 3}, function>;

constexpr Tensor ints(Tensor x) { return x.cast(tw::int32); }
constexpr Tensor bools(Tensor x) { return x.cast(tw::boolean); }
constexpr Tensor halves(Tensor x) { return x.cast(tw::float16); }
constexpr Tensor row(Tensor x) { return ops::sum(x, 0); }
constexpr Tensor column(Tensor x) { return ops::sum(x, 1); }
constexpr Tensor constant(Tensor x) { return x.ir().constant({0}, {2, 3}); }

// CASE broadcast
// expect: Add: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return x + column(x); }> broadcast;

// CASE broadcast_of_three
// expect: Where: (3,) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return ops::where(row(x), row(x), column(x)); }> broadcast_of_three;

// CASE broadcast_of_many
// expect: Max: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return ops::maximum(x, row(x), column(x)); }> broadcast_of_many;

// CASE broadcast_of_bools
// expect: And: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return x & column(x); }> broadcast_of_bools;

// CASE broadcast_of_a_comparison
// expect: Greater: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return ops::greater(x, column(x)); }> broadcast_of_a_comparison;

// CASE broadcast_of_a_power
// expect: Pow: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return ops::pow(x, column(x)); }> broadcast_of_a_power;

// CASE broadcast_of_a_remainder
// expect: Fmod: (2, 3) and (2,): shapes that broadcast expected, in Net/layer
Case<[](Tensor x) { return x % column(x); }> broadcast_of_a_remainder;

// CASE dtypes
// expect: Add: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x + ints(x); }> dtypes;

// CASE dtypes_of_a_difference
// expect: Sub: (2, 3) float32 and (2, 3) float16: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x - halves(x); }> dtypes_of_a_difference;

// CASE dtypes_of_a_product
// expect: Mul: (2, 3) float32 and (2, 3) float16: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x * halves(x); }> dtypes_of_a_product;

// CASE dtypes_of_a_quotient
// expect: Div: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x / ints(x); }> dtypes_of_a_quotient;

// CASE dtypes_of_a_remainder
// expect: Fmod: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x % ints(x); }> dtypes_of_a_remainder;

// CASE dtypes_of_a_power
// expect: Pow: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::pow(x, ints(x)); }> dtypes_of_a_power;

// CASE dtypes_of_a_comparison
// expect: Equal: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::equal(x, ints(x)); }> dtypes_of_a_comparison;

// CASE dtypes_of_a_maximum
// expect: Max: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::maximum(x, ints(x)); }> dtypes_of_a_maximum;

// CASE dtypes_of_choices
// expect: Where: (2, 3) float32 and (2, 3) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::where(x, x, ints(x)); }> dtypes_of_choices;

// CASE number_of_another_dtype
// expect: Mul: 1.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ints(x) * 1.5; }> number_of_another_dtype;

// CASE number_compared
// expect: Less: -1 as uint32: a whole number from 0 to 4294967295 expected, in Net/layer
Case<[](Tensor x) { return ops::less(x.cast(tw::uint32), -1); }> number_compared;

// CASE two_numbers
// expect: where: two numbers: a tensor expected as one of its choices
Case<[](Tensor x) { return ops::where(x, 1, 2); }> two_numbers;

// CASE two_numbers_compared
// expect: an op of two numbers: a tensor expected as one of its arguments
Case<[](Tensor) { return ops::greater(1, 2); }> two_numbers_compared;

// CASE maximum_of_nothing
// expect-in-source: maximum, minimum: no tensors: at least one expected
Case<[](Tensor) { return ops::maximum(std::span<const Tensor>()); }> maximum_of_nothing;

// CASE exp_of_integers
// expect: Exp: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::exp(ints(x)); }> exp_of_integers;

// CASE relu_in_place_of_integers
// expect: ReluInplace: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::relu_(ints(x)); }> relu_in_place_of_integers;

// CASE gelu_of_integers
// expect: Gelu: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::gelu(ints(x)); }> gelu_of_integers;

// CASE negative_of_bools
// expect: Neg: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return -bools(x); }> negative_of_bools;

// CASE sign_of_bools
// expect: Sign: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::sign(bools(x)); }> sign_of_bools;

// CASE difference_of_bools
// expect: Sub: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return bools(x) - bools(x); }> difference_of_bools;

// CASE remainder_of_bools
// expect: Fmod: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return bools(x) % bools(x); }> remainder_of_bools;

// CASE quotient_of_bools
// expect: Div: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return bools(x) / bools(x); }> quotient_of_bools;

// CASE power_of_bools
// expect: Pow: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::pow(bools(x), bools(x)); }> power_of_bools;

// CASE nan_of_bools
// expect: IsNaN: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::isnan(bools(x)); }> nan_of_bools;

// CASE fractional_power_of_integers
// expect: PowNumber: exponent 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::pow(ints(x), 0.5); }> fractional_power_of_integers;

// CASE negative_power_of_integers
// expect: PowNumber: exponent -1 for a base of int32: 0 or more expected, in Net/layer
Case<[](Tensor x) { return ops::pow(ints(x), -1); }> negative_power_of_integers;

// CASE bound
// expect: Clip: min 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::clip(ints(x), 0.5); }> bound;

// CASE bounds_of_bools
// expect: Clip: (2, 3) bool: a dtype other than bool expected: cast it first, in Net/layer
Case<[](Tensor x) { return ops::clip(bools(x), 0, 1); }> bounds_of_bools;

// CASE increment
// expect: IncrementMod: increment 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::increment_mod(ints(x), 0.5, 3); }> increment;

// CASE modulus
// expect: IncrementMod: modulus 0: another number expected, in Net/layer
Case<[](Tensor x) { return ops::increment_mod(x, 1, 0); }> modulus;

// CASE softplus
// expect: Softplus: beta 0: a number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::softplus(x, 0); }> softplus;

// CASE softplus_threshold
// expect: Softplus: threshold nan: a number expected, in Net/layer
Case<[](Tensor x) { return ops::softplus(x, 1, std::numeric_limits<double>::quiet_NaN()); }> softplus_threshold;

// CASE power_nan
// expect: PowNumber: exponent nan as float32: a number from -3.40282346639e+38 to 3.40282346639e+38 expected, in Net/layer
Case<[](Tensor x) { return ops::pow(x, std::numeric_limits<double>::quiet_NaN()); }> power_nan;

// CASE scaled_add_shapes
// expect: ScaledAdd: (2, 3) float32 and (3,) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_add(x, row(x)); }> scaled_add_shapes;

// CASE scaled_add_factor
// expect: ScaledAdd: factor (3,) float32: one element expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_add(x, x, row(x), 1); }> scaled_add_factor;

// CASE scaled_add_number
// expect: ScaledAdd: a 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_add(ints(x), ints(x), {.a = 0.5}); }> scaled_add_number;

// CASE scaled_add_constant
// expect: ScaledAddLhsInplace: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_add_(constant(x), x); }> scaled_add_constant;

// CASE in_place_shape
// expect: AddInplace: (2, 3) float32 into (3,) float32: a result of (3,) float32 expected, in Net/layer
Case<[](Tensor x) { return ops::add_(row(x), x); }> in_place_shape;

// CASE in_place_dtype
// expect: MulInplace: (1,) float16 into (1,) float32: a result of (1,) float32 expected
Case<[](Tensor x) { return ops::mul_(tensor(x, {1}), tensor(x, {1}, tw::float16)); }> in_place_dtype;

// CASE in_place_constant
// expect: TanhInplace: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::tanh_(constant(x)); }> in_place_constant;

// CASE in_place_expanded
// expect: ExpInplace: Tensor[float32 (2, 3)], which is a broadcast view of Tensor[float32 (3,)]: a tensor with memory for each
// expect: element expected, in Net/layer
Case<[](Tensor x) { return ops::exp_(row(x).expand({2, 3})); }> in_place_expanded;

// CASE print_title
// expect: print_tensor: title `a title of many words, with which one would say all about a tensor` of 66 characters: at most 64
// expect: expected, in Net/layer
Case<[](Tensor x) {
  return ops::print_tensor(x, {.title = "a title of many words, with which one would say all about a tensor"});
}>
    print_title;

// CASE print_level
// expect: print_tensor: level off: one from trace to error expected, in Net/layer
Case<[](Tensor x) { return ops::print_tensor(x, {.level = tw::LogLevel::off}); }> print_level;

// CASE long_text
// expect: print_text: `a text of many words, with which one would say all about a program` of 66 characters: at most 64 expected
Case<[](Tensor x) {
  ops::print_text(x.ir(), "a text of many words, with which one would say all about a program");
  return x;
}>
    long_text;

// CASE print_edge_items
// expect: print_tensor: edge_items 0: at least 1 expected, in Net/layer
Case<[](Tensor x) { return ops::print_tensor(x, {.edge_items = 0}); }> print_edge_items;

// CASE print_digits
// expect: print_tensor: digits -1: at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::print_tensor(x, {.digits = -1}); }> print_digits;

// CASE print_threshold
// expect: print_tensor: summarise_threshold -1: at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::print_tensor(x, {.summarise_threshold = -1}); }> print_threshold;

// CASE print_width
// expect: print_tensor: max_line_width -1: at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::print_tensor(x, {.max_line_width = -1}); }> print_width;
