#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Of lines, and of groups of channels.
struct Norms : OpTest {
  static constexpr std::string_view op = "GroupNormalization";
  static constexpr auto layer_norm(double eps = 1e-5) {
    return [eps](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, eps); };
  }
  static constexpr auto group_norm(std::int64_t num_groups, double eps = 1e-5) {
    return [=](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, num_groups, eps); };
  }
  /// Normalisation of lines, or of groups of channels.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto [groups, eps] = tw::unpack<tw::NormAttributes>(node.attributes);
    const Array& x = inputs[0];
    const bool by_line = is_op<tw::LayerNorm>(node);
    std::vector<Array> results{x.copy(), Array(outputs[1]), Array(outputs[2])};
    const std::size_t blocks = results[1].size(), size = x.size() / blocks, channels = inputs[1].size();
    for (std::size_t block = 0; block < blocks; ++block) {
      double mean = 0, variance = 0;
      for (std::size_t i = block * size; i < (block + 1) * size; ++i) mean += x[i] / real(size);
      for (std::size_t i = block * size; i < (block + 1) * size; ++i) variance += std::pow(x[i] - mean, 2) / real(size);
      results[1][block] = mean;
      results[2][block] = 1 / std::sqrt(variance + eps);
      for (std::size_t i = block * size; i < (block + 1) * size; ++i) {
        const std::size_t channel = by_line ? i % channels : at(index_of(i, x.spec.shape)[1]);
        results[0][i] = (x[i] - mean) * results[2][block] * inputs[1][channel] + inputs[2][channel];
      }
    }
    return results;
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<normalisation>, const auto& c) {
    c.add("layer_norm", layer_norm(1e-5), f32(4, 5), f32(5), f32(5));
    c.add("layer_norm_long", layer_norm(0.125), f32(2, 3, 37), f32(37), f32(37));
    c.add("layer_norm_line", layer_norm(1e-5), f32(16), f32(16), f32(16));
    c.add(
        "layer_norm_transposed", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x.T(), w, b); }, f32(4, 5), f32(4),
        f32(4));
    c.add("group_norm", group_norm(2, 1e-5), f32(3, 6), f32(6), f32(6));
    c.add("group_norm_images", group_norm(2, 0.125), f32(2, 4, 3, 7), f32(4), f32(4));
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    c.add("half_layer_norm", layer_norm(), f16(4, 19), f16(19), f16(19));
    c.add("half_group_norm", group_norm(1), f16(2, 3, 5), f16(3), f16(3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("double_layer_norm", layer_norm(0.125), f64(4, 19), f64(19), f64(19));
    c.add("double_group_norm", group_norm(2, 0.125), f64(2, 4, 3, 5), f64(4), f64(4));
  }
  static constexpr void compared(In<bfloat16_norm>, const auto& c) {
    c.add("bfloat16_layer_norm", layer_norm(), c.real({3, 37}), c.real({37}), c.real({37}));
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add(
        "view_layer_norm", [](Tensor t, Tensor w, Tensor b) { return ops::layer_norm(t.T(), w[every_second], b[back], 0.125); },
        f32(19, 5), f32(38), f32(19));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add(
        "view_group_norm",
        [](Tensor t, Tensor w, Tensor b) { return ops::group_norm(t.transpose({0, 2, 1}), w[every_second], b[back], 2, 0.125); },
        f32(3, 5, 4), f32(8), f32(4));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_layer_norm", layer_norm(0.125), f32(3, 1), f32(1), f32(1));
    c.add("one_group_norm", group_norm(2, 0.125), f32(1, 2), f32(2), f32(2));
  }
  static constexpr void compared(In<second_of_norms>, const auto& c) {
    c.add("layer_norm", layer_norm(0.125), f64(2, 3, 5), f64(5), f64(5));
    c.add("group_norm", group_norm(2, 0.0625), f64(2, 4, 3), f64(4), f64(4));
  }
  static constexpr void compared(In<float16_at_edges>, const auto& c) {
    c.add("layer_norm_constant", layer_norm(1e-12), c.real({2, 4}), c.real({4}), c.real({4}));
    c.add("layer_norm_small", layer_norm(1e-12), c.real({2, 4}), c.real({4}), c.real({4}));
  }
  static constexpr void compared(In<bfloat16_at_edges>, const auto& c) {
    c.add("layer_norm_mean", layer_norm(), c.real({1, 4}), c.real({4}), c.real({4}));
    c.add("group_norm_mean", group_norm(2), c.real({1, 4, 2}), c.real({4}), c.real({4}));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add("exact_layer_norm", layer_norm(0.125), f64(3, 7), f64(7), f64(7));
    c.add("exact_group_norm", group_norm(2, 0.125), f64(2, 4, 3), f64(4), f64(4));
  }
  static constexpr void edges(const auto& c) {
    c.add("layer_norm", layer_norm(), c.real({3, 4}), c.real({4}), c.real({4}));
    c.add("layer_norm_small_epsilon", layer_norm(1e-12), c.real({3, 4}), c.real({4}), c.real({4}));
    c.add("group_norm", group_norm(2), c.real({2, 4, 2}), c.real({4}), c.real({4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 8, 10), layer_norm(), f32(2, 8, 10), f32(10), f32(10));
    s.result(f16(10), layer_norm(), f16(10), f16(10), f16(10));
    s.error("GroupNormalization: weight (8,) float32 for (8, 10) float32: (10,) float32 expected, in graph", layer_norm(),
            f32(8, 10), f32(8), f32(8));
    s.error("GroupNormalization: bias (10,) float32 for (8, 10) float16: (10,) float16 expected, in graph", layer_norm(),
            f16(8, 10), f16(10), f32(10));
    s.error("GroupNormalization: (8, 10) int32: float16, float32, float64 or bfloat16 expected, in graph", layer_norm(),
            i32(8, 10), i32(10), i32(10));
    s.error("GroupNormalization: () float32: at least one axis expected, in graph", layer_norm(), f32(), f32(1), f32(1));
    s.result(f32(8, 6, 5, 5), group_norm(2), f32(8, 6, 5, 5), f32(6), f32(6));
    s.error("GroupNormalization: 4 groups of the 6 channels of (8, 6, 5, 5) float32: a divisor of 6 expected, in graph",
            group_norm(4), f32(8, 6, 5, 5), f32(6), f32(6));
    s.error("GroupNormalization: 0 groups of the 6 channels of (8, 6) float32: a divisor of 6 expected, in graph", group_norm(0),
            f32(8, 6), f32(6), f32(6));
    s.error("GroupNormalization: (8,) float32: at least 2 axes, for samples and channels, expected, in graph", group_norm(1),
            f32(8), f32(8), f32(8));
    s.error("GroupNormalization: weight (5,) float32 for (8, 6, 5) float32: (6,) float32 expected, in graph", group_norm(1),
            f32(8, 6, 5), f32(5), f32(5));
  }
  static void numbers(auto& list) {
    list.real("layer_norm.eps", list.not_negative,
              [](auto& s, auto n) { return ops::layer_norm(s.x, s.tensor({6}), s.tensor({6}), n); });
    list.whole("group_norm.num_groups", {1, 1},
               [](auto& s, auto n) { return ops::group_norm(s.x, s.tensor({4}), s.tensor({4}), n); });
    list.real("group_norm.eps", list.not_negative,
              [](auto& s, auto n) { return ops::group_norm(s.x, s.tensor({4}), s.tensor({4}), 2, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("layer_norm", [] { (void)ops::layer_norm(Tensor(), Tensor(), Tensor()); });
    list.add("group_norm", [] { (void)ops::group_norm(Tensor(), Tensor(), Tensor(), 1); });
  }
};

}  // namespace op_tests
