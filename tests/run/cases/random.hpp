#pragma once
// Random numbers, dropout and seeds, as programs. The names are those of tests/reference/make_random.py.
#include "op_case.hpp"

namespace op_cases {

inline constexpr TensorSpec seed_spec{{2}, tw::uint32};

constexpr void random_numbers(Ir& ir) {
  const auto uniform = [&](std::string_view name, const Shape& shape, double low, double high, tw::DType dtype) {
    forward(ir, name, [&](Tensor seed) { return ops::random_uniform(seed, shape, low, high, dtype); }, seed_spec);
  };
  const auto normal = [&](std::string_view name, const Shape& shape, double mean, double std, tw::DType dtype) {
    forward(ir, name, [&](Tensor seed) { return ops::random_normal(seed, shape, mean, std, dtype); }, seed_spec);
  };
  uniform("uniform", {3, 5, 7}, -2, 3, tw::float32);
  uniform("uniform_of_one_ulp", {70}, 1, 1 + 0x1p-23, tw::float32);
  forward(ir, "uniform_scalar", [](Tensor seed) { return ops::random_uniform(seed, {}); }, seed_spec);
  uniform("uniform_half", {9, 11}, 0.1, 0.7, tw::float16);
  uniform("uniform_wide", {5, 13}, -0.1, 0.3, tw::float64);
  forward(ir, "normal", [](Tensor seed) { return ops::random_normal(seed, {13, 15}); }, seed_spec);
  normal("normal_moved", {2, 3, 1, 33}, 0.1, 3, tw::float32);
  normal("normal_half", {1, 65}, -1, 0.3, tw::float16);
  normal("normal_wide", {7, 11}, 0.1, 0.7, tw::float64);
}

constexpr auto drop(double p) {
  return [=](Tensor x, Tensor seed) { return ops::dropout(x, seed, p); };
}
constexpr auto drop_shaped(const Shape& shape, double ratio) {
  return [=](Tensor x, Tensor seed) { return ops::shaped_dropout(x, seed, shape, ratio); };
}
/// Of float32 and float64, so that they can be compared with finite differences.
constexpr void dropouts(Ir& ir) {
  differentiable(ir, "dropout", drop(0.3), f32({9, 23}), seed_spec);
  differentiable(ir, "dropout_of_few", drop(0.5), f32({5}), seed_spec);
  differentiable(ir, "dropout_nothing", drop(0), f32({5, 3}), seed_spec);
  differentiable(ir, "dropout_wide", drop(0.3), f64({9, 23}), seed_spec);
  differentiable(ir, "dropout_rows", drop_shaped({9, 1}, 0.4), f32({9, 4}), seed_spec);
  differentiable(ir, "dropout_columns", drop_shaped({9}, 0.4), f32({3, 9}), seed_spec);
  differentiable(ir, "dropout_columns_wide", drop_shaped({9}, 0.4), f64({3, 9}), seed_spec);
  differentiable(ir, "dropout_all", drop_shaped({}, 0.4), f32({2, 3}), seed_spec);
  differentiable(ir, "dropout_shaped_fully", drop_shaped({9, 23}, 0.3), f32({9, 23}), seed_spec);
}
constexpr void other_dropouts_and_seeds(Ir& ir) {
  differentiable(ir, "dropout_half", drop(0.3), f16({9, 23}), seed_spec);
  differentiable(ir, "dropout_columns_half", drop_shaped({9}, 0.4), f16({3, 9}), seed_spec);
  forward(ir, "dropout_special", drop(0.5), f32({4, 6}), seed_spec);
  forward(
      ir, "split",
      [](Tensor seed) {
        const auto seeds = ops::split_random_seed(seed, 3);
        return std::vector<Tensor>{seeds[0], seeds[1], seeds[2]};
      },
      seed_spec);
  forward(ir, "seed_of_number", [](Tensor seed) { return ops::create_random_seed(seed, -5); }, seed_spec);
  forward(
      ir, "seed_of_large_number", [](Tensor seed) { return ops::create_random_seed(seed, (std::int64_t{1} << 40) + 7); },
      seed_spec);
  const auto by_tensor = [](Tensor seed, Tensor modifier) { return ops::create_random_seed(seed, modifier); };
  forward(ir, "seed_of_int32", by_tensor, seed_spec, i32({}));
  forward(ir, "seed_of_uint32", by_tensor, seed_spec, TensorSpec{{}, tw::uint32});
  forward(ir, "seed_of_int64", by_tensor, seed_spec, TensorSpec{{}, tw::int64});
  forward(ir, "seed_of_uint64", by_tensor, seed_spec, TensorSpec{{}, tw::uint64});
}

}  // namespace op_cases
