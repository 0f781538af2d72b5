#pragma once
#include "../op_test.hpp"
#include "tilewright/core/philox.hpp"

namespace op_tests {

/// The random words of a seed.
class Words {
 public:
  explicit Words(const Array& seed) : key_{static_cast<std::uint32_t>(seed[0]), static_cast<std::uint32_t>(seed[1])} {}

  std::uint64_t word(std::uint64_t counter, std::size_t number) const {
    return tw::philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key_)[number];
  }
  /// That of an element of 32 bits or less.
  std::uint64_t of_element(std::uint64_t i) const { return word(16 * (i / 64) + i % 16, i / 16 % 4); }
  /// Two words, of an element of 64 bits.
  std::uint64_t of_wide_element(std::uint64_t i) const {
    const std::uint64_t counter = 16 * (i / 32) + i % 16, pair = i / 16 % 2;
    return word(counter, 2 * pair) << 32 | word(counter, 2 * pair + 1);
  }
  tw::PhiloxCounter child(std::uint64_t modifier) const {
    return tw::philox({static_cast<std::uint32_t>(modifier), static_cast<std::uint32_t>(modifier >> 32), 0, 1}, key_);
  }

 private:
  tw::PhiloxKey key_;
};

struct RandomUniform : OpTest {
  static constexpr std::string_view op = "RandomUniform";
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::RandomUniform::Attributes>(node.attributes);
    const Words words(inputs[0]);
    Array result(outputs[0]);
    const bool is_wide = result.spec.dtype == tw::float64;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double u = is_wide ? real(words.of_wide_element(i) >> 11) * 0x1p-53 : real(words.of_element(i) >> 8) * 0x1p-24;
      result[i] = attributes.first + (attributes.second - attributes.first) * u;
    }
    return {result};
  }
  static constexpr auto of_shape = [](const Shape& shape, double low, double high, DType dtype = tw::float32) {
    return [=](Tensor seed) { return ops::random_uniform(seed, shape, low, high, dtype); };
  };
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<random_numbers>, const auto& c) {
    const auto uniform = [&](std::string_view name, const Shape& shape, double low, double high, tw::DType dtype) {
      c.add_forward(name, [&](Tensor seed) { return ops::random_uniform(seed, shape, low, high, dtype); }, seed_spec);
    };
    uniform("uniform", {3, 5, 7}, -2, 3, tw::float32);
    uniform("uniform_of_one_ulp", {70}, 1, 1 + 0x1p-23, tw::float32);
    c.add_forward("uniform_scalar", [](Tensor seed) { return ops::random_uniform(seed, {}); }, seed_spec);
    uniform("uniform_half", {9, 11}, 0.1, 0.7, tw::float16);
    uniform("uniform_wide", {5, 13}, -0.1, 0.3, tw::float64);
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add_forward("view_uniform", [](Tensor s) { return ops::random_uniform(s[1], {5, 19}, -2, 3); }, u32(2, 2));
  }
  static constexpr void compared(In<few_elements>, const auto& c) {
    c.add_forward("uniform", [&](Tensor s) { return ops::random_uniform(s, c.shape, -2, 3); }, seed_spec);
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3), of_shape({2, 3}, 0, 1), seed_spec);
    s.result(f32(), of_shape({}, 0, 1), seed_spec);
    s.error("RandomUniform: seed (2,) float32: (2,) uint32 expected, in graph", of_shape({2}, 0, 1), f32(2));
    s.error("RandomUniform: uint32: float16, float32, float64 or bfloat16 expected, in graph", of_shape({2}, 0, 1, tw::uint32),
            seed_spec);
    s.error("RandomUniform: shape (2, -1): extents above 0 expected, in graph", of_shape({2, -1}, 0, 1), seed_spec);
    s.error("RandomUniform: low 0 and high 70000 of float16: low below high, and their difference finite, expected, in graph",
            of_shape({2}, 0, 70000, tw::float16), seed_spec);
    s.error("RandomUniform: low 1 and high 1.0001 of float16: low below high, and their difference finite, expected, in graph",
            of_shape({2}, 1, 1.0001, tw::float16), seed_spec);
    s.error(
        "RandomUniform: low -3e+38 and high 3e+38 of float32: low below high, and their difference finite, expected, in graph",
        of_shape({2}, -3e38, 3e38), seed_spec);
  }
  static void numbers(auto& list) {
    list.whole("random_uniform.shape", list.any_outcome,
               [](auto& s, auto n) { return ops::random_uniform(s.tensor({2}, tw::uint32), {n, 2}); });
    list.real("random_uniform.low", {-0x1.fffffep127, 1, true, false},
              [](auto& s, auto n) { return ops::random_uniform(s.tensor({2}, tw::uint32), {3}, n); });
    list.real("random_uniform.high", {0, 0x1.fffffep127, false},
              [](auto& s, auto n) { return ops::random_uniform(s.tensor({2}, tw::uint32), {3}, 0, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("random_uniform", [] { (void)ops::random_uniform(Tensor(), Shape{2}); });
  }
};
struct RandomNormal : OpTest {
  static constexpr std::string_view op = "RandomNormal";
  /// By pairs of elements 16 apart: a radius of the first one's bits, an angle of the second one's.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::RandomNormal::Attributes>(node.attributes);
    const Words words(inputs[0]);
    Array result(outputs[0]);
    const bool is_wide = result.spec.dtype == tw::float64;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::size_t first = i / 32 * 32 + i % 16, second = first + 16;
      double u, turns;  // a part of the circle, counted from the middle of the first quarter
      if (is_wide) {
        u = (real(words.of_wide_element(first) >> 11) + 0.5) * 0x1p-53;
        const std::uint64_t bits = words.of_wide_element(second);
        turns = real(bits >> 62) / 4 + real(static_cast<std::int64_t>(bits << 2)) * 0x1p-66;
      } else {
        u = (real(words.of_element(first) >> 1) + 0.5) * 0x1p-31;
        const auto bits = static_cast<std::uint32_t>(words.of_element(second));
        turns = real(bits >> 30) / 4 + real(static_cast<std::int32_t>(bits << 2)) * 0x1p-34;
      }
      const double angle = 2 * M_PI * turns, radius = std::sqrt(-2 * std::log(u));
      result[i] = attributes.first + attributes.second * radius * (i == first ? std::cos(angle) : std::sin(angle));
    }
    return {result};
  }
  static constexpr auto of_shape = [](const Shape& shape, double mean, double std, DType dtype = tw::float32) {
    return [=](Tensor seed) { return ops::random_normal(seed, shape, mean, std, dtype); };
  };
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<random_numbers>, const auto& c) {
    const auto normal = [&](std::string_view name, const Shape& shape, double mean, double std, tw::DType dtype) {
      c.add_forward(name, [&](Tensor seed) { return ops::random_normal(seed, shape, mean, std, dtype); }, seed_spec);
    };
    c.add_forward("normal", [](Tensor seed) { return ops::random_normal(seed, {13, 15}); }, seed_spec);
    normal("normal_moved", {2, 3, 1, 33}, 0.1, 3, tw::float32);
    normal("normal_half", {1, 65}, -1, 0.3, tw::float16);
    normal("normal_wide", {7, 11}, 0.1, 0.7, tw::float64);
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(4), of_shape({4}, 0, 1, tw::float16), seed_spec);
    s.result(spec_of(tw::float64, {4}), of_shape({4}, 0, 0, tw::float64), seed_spec);
    s.error("RandomNormal: seed (1, 2) uint32: (2,) uint32 expected, in graph", of_shape({2}, 0, 1), u32(1, 2));
  }
  static void numbers(auto& list) {
    list.whole("random_normal.shape", list.any_outcome,
               [](auto& s, auto n) { return ops::random_normal(s.tensor({2}, tw::uint32), {n, 2}); });
    list.real("random_normal.mean", list.as_float32,
              [](auto& s, auto n) { return ops::random_normal(s.tensor({2}, tw::uint32), {3}, n); });
    list.real("random_normal.std", {0, 0x1.fffffep127},
              [](auto& s, auto n) { return ops::random_normal(s.tensor({2}, tw::uint32), {3}, 0, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("random_normal", [] { (void)ops::random_normal(Tensor(), Shape{2}); });
  }
};
struct Dropout : OpTest {
  static constexpr std::string_view op = "Dropout";
  static constexpr auto drop(double p) {
    return [=](Tensor x, Tensor seed) { return ops::dropout(x, seed, p); };
  }
  /// The mask of `shape`, broadcast to x, times x.
  static Array dropped(const Array& x, const Array& seed, const tw::Shape& shape, double p) {
    const Words words(seed);
    Array mask(tw::TensorSpec{shape, x.spec.dtype}), result = x.copy();
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = p == 0 || real(words.of_element(i)) >= p * 0x1p32 ? 1 / (1 - p) : 0;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] *= broadcast_at(mask, index_of(i, x.spec.shape));
    return result;
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs) {
      return std::vector{
          dropped(inputs[0], inputs[1], inputs[0].spec.shape, tw::unpack<tw::Dropout::Attributes>(node.attributes).p)};
    };
  }
  static constexpr void compared(In<dropouts>, const auto& c) {
    c.add("dropout", drop(0.3), f32(9, 23), seed_spec);
    c.add("dropout_of_few", drop(0.5), f32(5), seed_spec);
    c.add("dropout_nothing", drop(0), f32(5, 3), seed_spec);
    c.add("dropout_wide", drop(0.3), f64(9, 23), seed_spec);
  }
  static constexpr void compared(In<other_dropouts_and_seeds>, const auto& c) {
    c.add("dropout_half", drop(0.3), f16(9, 23), seed_spec);
    c.add_forward("dropout_special", drop(0.5), f32(4, 6), seed_spec);
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add("view_dropout", [](Tensor t, Tensor s) { return ops::dropout(t.T(), s[1], 0.25); }, f32(19, 5), u32(2, 2));
  }
  static constexpr void compared(In<few_elements>, const auto& c) { c.add("dropout", drop(0.25), c.real(), seed_spec); }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3), drop(0.5), f16(2, 3), seed_spec);
    s.result(f32(), drop(0), f32(), seed_spec);
    s.error("Dropout: seed (2,) int32: (2,) uint32 expected, in graph", drop(0.5), f32(2), spec_of(tw::int32, {2}));
    s.error("Dropout: p -0.1: a number of at least 0, and below 1, expected, in graph", drop(-0.1), f32(2), seed_spec);
  }
  static void numbers(auto& list) {
    list.real("dropout.p", list.probability, [](auto& s, auto n) { return ops::dropout(s.x, s.tensor({2}, tw::uint32), n); });
  }
  static constexpr void handles(auto& list) {
    list.add("dropout", [] { (void)ops::dropout(Tensor(), Tensor(), 1); });
  }
};
struct ShapedDropout : OpTest {
  static constexpr std::string_view op = "ShapedDropout";
  static constexpr auto drop_shaped(const Shape& shape, double ratio) {
    return [=](Tensor x, Tensor seed) { return ops::shaped_dropout(x, seed, shape, ratio); };
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs) {
      const auto attributes = tw::unpack<tw::ShapedDropout::Attributes>(node.attributes);
      return std::vector{Dropout::dropped(inputs[0], inputs[1], attributes.shape.shape(), attributes.ratio)};
    };
  }
  static constexpr void compared(In<dropouts>, const auto& c) {
    c.add("dropout_rows", drop_shaped({9, 1}, 0.4), f32(9, 4), seed_spec);
    c.add("dropout_columns", drop_shaped({9}, 0.4), f32(3, 9), seed_spec);
    c.add("dropout_columns_wide", drop_shaped({9}, 0.4), f64(3, 9), seed_spec);
    c.add("dropout_all", drop_shaped({}, 0.4), f32(2, 3), seed_spec);
    c.add("dropout_shaped_fully", drop_shaped({9, 23}, 0.3), f32(9, 23), seed_spec);
  }
  static constexpr void compared(In<other_dropouts_and_seeds>, const auto& c) {
    c.add("dropout_columns_half", drop_shaped({9}, 0.4), f16(3, 9), seed_spec);
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3), drop_shaped({2, 1}, 0.5), f16(2, 3), seed_spec);
    s.error("ShapedDropout: seed (2,) float32: (2,) uint32 expected, in graph", drop_shaped({2}, 0.5), f32(2), f32(2));
    s.error("ShapedDropout: ratio 1: a number of at least 0, and below 1, expected, in graph", drop_shaped({2}, 1), f32(2),
            seed_spec);
    s.error("ShapedDropout: mask of (3, 2) for (2,) float32: a shape that broadcasts to (2,) expected, in graph",
            drop_shaped({3, 2}, 0.5), f32(2), seed_spec);
  }
  static void numbers(auto& list) {
    list.whole("shaped_dropout.shape", {1, 1},
               [](auto& s, auto n) { return ops::shaped_dropout(s.x, s.tensor({2}, tw::uint32), {n, 4, 6, 6}, 0.5); });
    list.real("shaped_dropout.ratio", list.probability,
              [](auto& s, auto n) { return ops::shaped_dropout(s.x, s.tensor({2}, tw::uint32), {2, 1, 6, 6}, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("shaped_dropout", [] { (void)ops::shaped_dropout(Tensor(), Tensor(), Shape{2}, 1); });
  }
};
struct CreateRandomSeed : OpTest {
  static constexpr std::string_view op = "CreateRandomSeed";
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto given = tw::unpack<tw::CreateRandomSeed::Attributes>(node.attributes).modifier;
      const auto modifier = static_cast<std::uint64_t>(inputs.size() > 1 ? static_cast<std::int64_t>(inputs[1][0]) : given);
      const auto words = Words(inputs[0]).child(modifier);
      return std::vector{Array(outputs[0], {real(words[0]), real(words[1])})};
    };
  }
  static constexpr void compared(In<other_dropouts_and_seeds>, const auto& c) {
    const auto by_tensor = [](Tensor seed, Tensor modifier) { return ops::create_random_seed(seed, modifier); };
    c.add_forward("seed_of_number", [](Tensor seed) { return ops::create_random_seed(seed, -5); }, seed_spec);
    c.add_forward(
        "seed_of_large_number", [](Tensor seed) { return ops::create_random_seed(seed, (std::int64_t{1} << 40) + 7); },
        seed_spec);
    c.add_forward("seed_of_int32", by_tensor, seed_spec, i32());
    c.add_forward("seed_of_uint32", by_tensor, seed_spec, u32());
    c.add_forward("seed_of_int64", by_tensor, seed_spec, spec_of(tw::int64, {}));
    c.add_forward("seed_of_uint64", by_tensor, seed_spec, spec_of(tw::uint64, {}));
  }
  static constexpr void compared(In<other_index_dtypes>, const auto& c) {
    const auto seed_of = [](Tensor seed, Tensor modifier) { return ops::create_random_seed(seed, modifier); };
    c.add_forward("seed_of_int32", seed_of, seed_spec, spec_of(tw::int64, {}));
    c.add_forward("seed_of_uint32", seed_of, seed_spec, spec_of(tw::uint64, {}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(seed_spec, [](Tensor seed) { return ops::split_random_seed(seed)[1]; }, seed_spec);
    s.result(
        seed_spec,
        [](Tensor seed) {
          const auto [dropout_seed, next_seed] = ops::split_random_seed(seed).as<2>();
          return ops::create_random_seed(next_seed, 1);
        },
        seed_spec);
    s.error(
        "CreateRandomSeed: seed (2,) float32: (2,) uint32 expected, in graph",
        [](Tensor seed) { return ops::create_random_seed(seed, 1); }, f32(2));
  }
  static void numbers(auto& list) {
    list.whole("create_random_seed.modifier", list.everything,
               [](auto& s, auto n) { return ops::create_random_seed(s.tensor({2}, tw::uint32), n); });
    list.narrow("split_random_seed.n", list.any_outcome,
                [](auto& s, auto n) { return ops::split_random_seed(s.tensor({2}, tw::uint32), static_cast<int>(n))[0]; });
  }
  static constexpr void handles(auto& list) {
    list.add("create_random_seed", [] { (void)ops::create_random_seed(Tensor(), 1); });
    list.add("create_random_seed", [] { (void)ops::create_random_seed(Tensor(), Tensor()); });
    list.add("split_random_seed", [] { (void)ops::split_random_seed(Tensor()); });
  }
};

}  // namespace op_tests
