// labels: none
// Random ops that are given what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

constexpr Tensor seed(Tensor x) { return tensor(x, {2}, tw::uint32); }

// CASE seed_of_uniform
// expect: RandomUniform: seed (8, 5) float32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::random_uniform(x, {3}); }> seed_of_uniform;

// CASE seed_of_normal
// expect: RandomNormal: seed (2, 1) uint32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::random_normal(seed(x).reshape({2, 1}), {3}); }> seed_of_normal;

// CASE seed_of_dropout
// expect: Dropout: seed (3,) uint32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::dropout(x, tensor(x, {3}, tw::uint32), 0.5); }> seed_of_dropout;

// CASE seed_of_shaped_dropout
// expect: ShapedDropout: seed (2,) int32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::shaped_dropout(x, tensor(x, {2}, tw::int32), {8, 1}, 0.5); }> seed_of_shaped_dropout;

// CASE seed_of_seeds
// expect: CreateRandomSeed: seed () uint32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::split_random_seed(tensor(x, {}, tw::uint32))[1]; }> seed_of_seeds;

// CASE dtype
// expect: RandomNormal: int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::random_normal(seed(x), {3}, 0, 1, tw::int32); }> dtype;

// CASE bounds
// expect: RandomUniform: low 1 and high 1 of float32: low below high, and their difference finite, expected, in Net/layer
Case<[](Tensor x) { return ops::random_uniform(seed(x), {3}, 1, 1); }> bounds;

// CASE deviation
// expect: RandomNormal: mean 0 and standard deviation -1 of float32: finite numbers, the second at least 0, expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::random_normal(seed(x), {3}, 0, -1); }> deviation;

// CASE extents
// expect: RandomNormal: shape (3, 0): extents above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::random_normal(seed(x), {3, 0}); }> extents;

// CASE probability
// expect: Dropout: p 1: a number of at least 0, and below 1, expected, in Net/layer
Case<[](Tensor x) { return ops::dropout(x, seed(x), 1); }> probability;

// CASE ratio
// expect: ShapedDropout: ratio -0.5: a number of at least 0, and below 1, expected, in Net/layer
Case<[](Tensor x) { return ops::shaped_dropout(x, seed(x), {8, 1}, -0.5); }> ratio;

// CASE integers
// expect: Dropout: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::dropout(x.cast(tw::int32), seed(x), 0.5); }> integers;

// CASE mask
// expect: ShapedDropout: mask of (8, 2) for (8, 5) float32: a shape that broadcasts to (8, 5) expected, in Net/layer
Case<[](Tensor x) { return ops::shaped_dropout(x, seed(x), {8, 2}, 0.5); }> mask;

// CASE modifier
// expect: CreateRandomSeed: modifier (8, 5) float32: one element of int32, uint32, int64 or uint64 expected, in Net/layer
Case<[](Tensor x) { return ops::create_random_seed(seed(x), x); }> modifier;

// CASE split
// expect: split_random_seed: 0 seeds: from 1 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::split_random_seed(seed(x), 0)[0]; }> split;
