#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Cast : OpTest {
  static constexpr std::string_view op = "Cast";
  static constexpr auto cast(DType dtype) {
    return [dtype](Tensor x) { return x.cast(dtype); };
  }
  /// An element in another dtype. What a narrower integer does not hold wraps around, when it is stored.
  static double converted(double x, tw::DType from, tw::DType to) {
    if (to == tw::boolean) return x != 0;
    if (!tw::is_int(to) || !tw::is_floating_point(from)) return x;
    if (std::isnan(x)) return 0;
    const tw::NumberRange range = tw::number_range(to);
    return std::clamp(std::trunc(x), range.lowest, range.highest);
  }
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, Inputs inputs, const Line& x) {
      const auto to = static_cast<tw::DType>(tw::unpack<tw::Cast::Attributes>(node.attributes).dtype);
      return converted(x[0], inputs[0].spec.dtype, to);
    });
  }
  static constexpr void compared(In<integers_and_casts>, const auto& c) {
    c.add("cast_to_half", cast(tw::float16), f32(2, 3));
    c.add("cast_from_half", cast(tw::float32), f16(2, 3));
    c.add_forward("cast_to_int", cast(tw::int32), f32(3, 19));
    c.add_forward("cast_from_int", cast(tw::float32), i32(2, 3));
    c.add_forward("cast_to_bool", cast(tw::boolean), f32(4));
  }
  static constexpr void compared(In<arithmetic_in_bfloat16>, const auto& c) {
    c.add("to_float32_and_back", [](Tensor x) { return (x.cast(tw::float32) * 0.3).cast(tw::bfloat16); }, c.real({3, 19}));
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add("view_cast", [](Tensor t) { return t.T().cast(tw::float16); }, f32(19, 5));
  }
  static constexpr void compared(In<few_elements>, const auto& c) { c.add("cast", cast(tw::float16), c.real()); }
  static constexpr void compared(In<second_in_float32>, const auto& c) {
    c.add(
        "cast",
        [](Tensor x) {
          const Tensor y = x.cast(tw::float64);
          return (y * y * y).cast(tw::float32);
        },
        f32(5));
  }
  static constexpr void edges(const auto& c) {
    c.add("cast", [](Tensor t) { return ops::cast(ops::cast(t, tw::float32), t.dtype()); }, c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3), cast(tw::float16), f32(2, 3));
    s.result(spec_of(tw::boolean, {2}), cast(tw::boolean), i32(2));
  }
  static constexpr void handles(auto& list) {
    list.add("cast", [] { (void)ops::cast(Tensor(), tw::float16); });
  }
};

}  // namespace op_tests
