// Random ops that are given what they do not take.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

constexpr Tensor seed_of(Tensor x) { return x.ir().constant({1, 2}, {2}, tw::uint32); }
/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return ops::dropout(x, seed_of(x), 0.5); }

// CASE seed
// expect: RandomUniform: seed (8, 5) float32: (2,) uint32 expected, in Net
// expect: layer(
#ifdef CASE_seed
constexpr Tensor layer(Tensor x) { return ops::random_uniform(x, {3}); }
#endif

// CASE seed_of_dropout
// expect: Dropout: seed (3,) uint32: (2,) uint32 expected, in Net
// expect: layer(
#ifdef CASE_seed_of_dropout
constexpr Tensor layer(Tensor x) { return ops::dropout(x, x.ir().constant({1, 2, 3}, {3}, tw::uint32), 0.5); }
#endif

// CASE dtype
// expect: RandomNormal: int32: float16, float32 or float64 expected, in Net
// expect: layer(
#ifdef CASE_dtype
constexpr Tensor layer(Tensor x) { return ops::random_normal(seed_of(x), {3}, 0, 1, tw::int32); }
#endif

// CASE bounds
// expect: RandomUniform: low 1 and high 1 of float32: low below high, and their difference finite, expected, in Net
// expect: layer(
#ifdef CASE_bounds
constexpr Tensor layer(Tensor x) { return ops::random_uniform(seed_of(x), {3}, 1, 1); }
#endif

// CASE deviation
// expect: RandomNormal: mean 0 and standard deviation -1 of float32: finite numbers, the second at least 0, expected, in Net
// expect: layer(
#ifdef CASE_deviation
constexpr Tensor layer(Tensor x) { return ops::random_normal(seed_of(x), {3}, 0, -1); }
#endif

// CASE extents
// expect: RandomNormal: shape (3, 0): extents above 0 expected, in Net
// expect: layer(
#ifdef CASE_extents
constexpr Tensor layer(Tensor x) { return ops::random_normal(seed_of(x), {3, 0}); }
#endif

// CASE probability
// expect: Dropout: p 1: a number of at least 0, and below 1, expected, in Net
// expect: layer(
#ifdef CASE_probability
constexpr Tensor layer(Tensor x) { return ops::dropout(x, seed_of(x), 1); }
#endif

// CASE ratio
// expect: ShapedDropout: ratio -0.5: a number of at least 0, and below 1, expected, in Net
// expect: layer(
#ifdef CASE_ratio
constexpr Tensor layer(Tensor x) { return ops::shaped_dropout(x, seed_of(x), {8, 1}, -0.5); }
#endif

// CASE integers
// expect: Dropout: (8, 5) int32: float16, float32 or float64 expected, in Net
// expect: layer(
#ifdef CASE_integers
constexpr Tensor layer(Tensor x) { return ops::dropout(x.cast(tw::int32), seed_of(x), 0.5); }
#endif

// CASE mask
// expect: ShapedDropout: mask of (8, 2) for (8, 5) float32: a shape that broadcasts to (8, 5) expected, in Net
// expect: layer(
#ifdef CASE_mask
constexpr Tensor layer(Tensor x) { return ops::shaped_dropout(x, seed_of(x), {8, 2}, 0.5); }
#endif

// CASE modifier
// expect: CreateRandomSeed: modifier (8, 5) float32: one element of int32, uint32, int64 or uint64 expected, in Net
// expect: layer(
#ifdef CASE_modifier
constexpr Tensor layer(Tensor x) { return ops::create_random_seed(seed_of(x), x); }
#endif

// CASE split
// expect: split_random_seed: 0 seeds: at least 1 expected, in Net
// expect: layer(
#ifdef CASE_split
constexpr Tensor layer(Tensor x) { return ops::split_random_seed(seed_of(x), 0)[0]; }
#endif

struct Net : tw::Module<Net> {
  constexpr Tensor build(Tensor x) { return layer(x); }
};
constexpr void program(tw::Ir& ir) { tw::create_graph(Net{}, ops::host_load(ir.h2d_stream("x", {8, 5}))); }
tw::Session<program> session;
