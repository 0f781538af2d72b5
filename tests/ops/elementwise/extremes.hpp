#pragma once
#include <span>

#include "binary.hpp"

namespace op_tests {

template <class D>
struct ExtremeOfTwoTest : BinaryTest<D> {
  static constexpr Input input = Input::two_apart;
  static constexpr Result elements(const Elements& a, const Elements& b) { return random_programs::hull(a, b); }
  static void numbers(auto& list) {
    const std::string function(D::function);
    list.real(function + ".b", list.everything, [](auto& s, auto n) { return D::call(s.x, n); });
  }
};
struct Maximum : ExtremeOfTwoTest<Maximum> {
  static constexpr std::string_view op = "Max", function = "maximum";
  static constexpr Row rows[] = {{choices, {3, 19}, {3, 19}},
                                 {choices, {4, 1}, {1, 19}, "maximum_outer"},
                                 {steps, {5, 11}, {5, 11}, "maximum_ties"},
                                 {precision_of_two, {1, 7}, {5, 7}},
                                 integers};
  static constexpr Tensor call(auto a, auto b) { return ops::maximum(a, b); }
  static double value(double a, double b) { return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a; }
  static constexpr void handles(auto& list) {
    ExtremeOfTwoTest::handles(list);
    list.add("maximum", [] { (void)ops::maximum(std::span<const Tensor>()); });
    list.add("maximum", [] { (void)ops::maximum(Tensor(), 1); });
  }
  static constexpr void compared(In<choices>, const auto& c) {
    c.add("maximum_of_three", [](Tensor x, Tensor y, Tensor z) { return ops::maximum(x, y, z); }, f32(3, 5), f32(5), f32(3, 1));
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add(
        "view_maximum", [](Tensor a, Tensor b) { return ops::maximum(a.T(), b[{tw::all, every_second}]); }, f32(19, 5),
        f32(5, 38));
  }
};
struct Minimum : ExtremeOfTwoTest<Minimum> {
  static constexpr std::string_view op = "Min", function = "minimum";
  static constexpr Row rows[] = {{steps, {5, 11}, {5, 11}, "minimum_ties"},
                                 {precision_of_steps, {1, 7}, {5, 7}},
                                 {arithmetic_of_floats, {5, 1}, {1, 7}},
                                 integers};
  static constexpr Tensor call(auto a, auto b) { return ops::minimum(a, b); }
  static double value(double a, double b) { return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a; }
  static constexpr void handles(auto& list) {
    ExtremeOfTwoTest::handles(list);
    list.add("minimum", [] { (void)ops::minimum(std::span<const Tensor>()); });
    list.add("minimum", [] { (void)ops::minimum(Tensor(), 1); });
  }
  static constexpr void compared(In<choices>, const auto& c) {
    c.add("minimum", [](Tensor a, Tensor b) { return ops::minimum(ops::minimum(a, b), 1.25); }, f32(3, 19), f32(19));
  }
};

}  // namespace op_tests
