#pragma once
#include "../op_test.hpp"
#include "../reduce/norms_of_lines.hpp"

namespace op_tests {

struct Softmax : OpTest {
  static constexpr std::string_view op = "Softmax";
  static constexpr auto softmax(int axis = -1) {
    return [axis](Tensor x) { return ops::softmax(x, axis); };
  }
  static Line value(const Line& line) {
    const double log_total = LogSumExp::value(line);
    Line result;
    for (double x : line) result.push_back(std::exp(x - log_total));
    return result;
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto axis = static_cast<int>(tw::unpack<tw::Softmax::Attributes>(node.attributes).axis);
      return std::vector{by_lines(inputs[0], axis, outputs[0], value)};
    };
  }
  static constexpr void compared(In<softmax_and_losses>, const auto& c) {
    c.add("softmax", softmax(), f32(4, 5));
    c.add("softmax_first", softmax(0), f32(4, 5));
    c.add("softmax_middle", softmax(-2), f32(2, 3, 4));
  }
  static constexpr void compared(In<half_precision>, const auto& c) { c.add("half_softmax", softmax(), f16(4, 5)); }
  static constexpr void compared(In<normalisation>, const auto& c) {
    c.add("softmax_long", softmax(), f32(3, 37));
    c.add("softmax_long_first", softmax(0), f32(37, 3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) { c.add("double_softmax", softmax(), f64(3, 19)); }
  static constexpr void compared(In<in_bfloat16>, const auto& c) { c.add("softmax", softmax(), c.real({3, 37})); }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_softmax", [](Tensor t) { return ops::softmax(t.T()); }, f32(19, 5));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_softmax", softmax(1), f32(3, 1));
    c.add("line_softmax", softmax(0), f32(7));
  }
  static constexpr void compared(In<second_of_norms>, const auto& c) {
    c.add("softmax", [](Tensor x) { return joined(ops::softmax(x, 0), ops::softmax(x)); }, f64(3, 4));
  }
  static constexpr void compared(In<exact_functions_and_losses>, const auto& c) { c.add("exact_softmax", softmax(), f64(3, 7)); }
  static constexpr void edges(const auto& c) {
    c.add("softmax", softmax(1), c.real({3, 4}));
    c.add("softmax_columns", softmax(0), c.real({3, 4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(8, 10), softmax(), f32(8, 10));
    s.result(f16(8, 10), softmax(-2), f16(8, 10));
    s.error("Softmax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph", softmax(2), f32(8, 10));
    s.error("Softmax: (8,) int32: float16, float32, float64 or bfloat16 expected, in graph", softmax(), i32(8));
  }
  static void numbers(auto& list) {
    list.narrow("softmax.axis", {-4, 3}, [](auto& s, auto n) { return ops::softmax(s.x, static_cast<int>(n)); });
  }
  static constexpr void handles(auto& list) {
    list.add("softmax", [] { (void)ops::softmax(Tensor()); });
  }
};

}  // namespace op_tests
