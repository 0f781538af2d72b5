// labels: none
// Random ops: specs of results, messages, what is planned, and what can be computed when a program is compiled.
#include "tilewright/ops/random/random.hpp"

#include "../../support/op_results.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/session/seeds.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace op_results;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;

constexpr TensorSpec seed_spec{{2}, tw::uint32};

// ---- Philox and seeds are constant expressions
static_assert(tw::philox({}, {}) == tw::PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(tw::uint64_to_two_uint32(0x0123456789abcdef) == std::array<std::uint32_t, 2>{0x01234567, 0x89abcdef});
static_assert(tw::two_uint32_to_uint64(0x01234567u, 0x89abcdefu) == 0x0123456789abcdef);

// ---- results
constexpr auto uniform = [](const Shape& shape, double low, double high, DType dtype = tw::float32) {
  return [=](Tensor seed) { return ops::random_uniform(seed, shape, low, high, dtype); };
};
constexpr auto normal = [](const Shape& shape, double mean, double std, DType dtype = tw::float32) {
  return [=](Tensor seed) { return ops::random_normal(seed, shape, mean, std, dtype); };
};
constexpr auto drop = [](double p) { return [=](Tensor x, Tensor seed) { return ops::dropout(x, seed, p); }; };
constexpr auto drop_shaped = [](const Shape& shape, double ratio) {
  return [=](Tensor x, Tensor seed) { return ops::shaped_dropout(x, seed, shape, ratio); };
};
static_assert(result(uniform({2, 3}, 0, 1), seed_spec) == f32(2, 3) && result(uniform({}, 0, 1), seed_spec) == f32());
static_assert(result(normal({4}, 0, 1, tw::float16), seed_spec) == f16(4));
static_assert(result(normal({4}, 0, 0, tw::float64), seed_spec) == TensorSpec{{4}, tw::float64});
static_assert(result(drop(0.5), f16(2, 3), seed_spec) == f16(2, 3) && result(drop(0), f32(), seed_spec) == f32());
static_assert(result(drop_shaped({2, 1}, 0.5), f16(2, 3), seed_spec) == f16(2, 3));
static_assert(result([](Tensor seed) { return ops::split_random_seed(seed)[1]; }, seed_spec) == seed_spec);
static_assert(result(
                  [](Tensor seed) {
                    const auto [dropout_seed, next_seed] = ops::split_random_seed(seed).as<2>();
                    return ops::create_random_seed(next_seed, 1);
                  },
                  seed_spec) == seed_spec);
static_assert([] {
  Ir ir;
  return ops::split_random_seed(ir.constant({1, 2}, {2}, tw::uint32), 300).size() == 300;
}());

// ---- numbers of the dtype
static_assert(tw::detail::uniform_bounds(0, 1, tw::float16).most == 1 - 0x1p-11);
static_assert(tw::detail::uniform_bounds(-2, -1, tw::float32).most == -1 - 0x1p-23);
static_assert(tw::detail::uniform_bounds(-1, 0, tw::float64).most < 0);
static_assert(tw::detail::dropout_threshold(0) == 0 && tw::detail::dropout_threshold(0.5) == 0x80000000);
static_assert(tw::detail::dropout_threshold(1 - 0x1p-50) == 0xffffffff, "something may be left");

// ---- errors
TW_SAME(failure(uniform({2}, 0, 1), f32(2)), "RandomUniform: seed (2,) float32: (2,) uint32 expected, in graph");
TW_SAME(failure(normal({2}, 0, 1), TensorSpec{{1, 2}, tw::uint32}),
        "RandomNormal: seed (1, 2) uint32: (2,) uint32 expected, in graph");
TW_SAME(failure(drop(0.5), f32(2), TensorSpec{{2}, tw::int32}), "Dropout: seed (2,) int32: (2,) uint32 expected, in graph");
TW_SAME(failure(drop_shaped({2}, 0.5), f32(2), f32(2)), "ShapedDropout: seed (2,) float32: (2,) uint32 expected, in graph");
TW_SAME(failure([](Tensor seed) { return ops::create_random_seed(seed, 1); }, f32(2)),
        "CreateRandomSeed: seed (2,) float32: (2,) uint32 expected, in graph");
TW_SAME(failure(uniform({2}, 0, 1, tw::uint32), seed_spec),
        "RandomUniform: uint32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(uniform({2, -1}, 0, 1), seed_spec), "RandomUniform: shape (2, -1): extents above 0 expected, in graph");
TW_SAME(failure(uniform({2}, 0, 70000, tw::float16), seed_spec),
        "RandomUniform: low 0 and high 70000 of float16: low below high, and their difference finite, expected, in graph");
TW_SAME(failure(uniform({2}, 1, 1.0001, tw::float16), seed_spec),
        "RandomUniform: low 1 and high 1.0001 of float16: low below high, and their difference finite, expected, in graph");
TW_SAME(failure(uniform({2}, -3e38, 3e38), seed_spec),
        "RandomUniform: low -3e+38 and high 3e+38 of float32: low below high, and their difference finite, expected, in graph");
TW_SAME(failure(drop(-0.1), f32(2), seed_spec), "Dropout: p -0.1: a number of at least 0, and below 1, expected, in graph");
TW_SAME(failure(drop_shaped({2}, 1), f32(2), seed_spec),
        "ShapedDropout: ratio 1: a number of at least 0, and below 1, expected, in graph");
TW_SAME(failure(drop_shaped({3, 2}, 0.5), f32(2), seed_spec),
        "ShapedDropout: mask of (3, 2) for (2,) float32: a shape that broadcasts to (2,) expected, in graph");
