#pragma once
#include "reduction.hpp"

namespace op_tests {

/// Of those that are one of the elements.
template <class D>
struct SelectionTest : ReductionTest<D> {
  static constexpr Input input = Input::distinct;
  static constexpr bool is_selection = true, has_ties = true;
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    return count <= 64 ? std::optional(x.elements) : std::nullopt;
  }
};
/// Of the largest and the smallest.
template <class D>
struct ExtremeTest : SelectionTest<D> {
  static constexpr void fixtures(const auto& c) {
    SelectionTest<D>::fixtures(c);
    c.add_forward(in_parts, tw::text(D::function, "_both").view(), [](Tensor x) { return D::call(x, {}, true); }, {66, 65});
    c.add_forward(in_parts, tw::text(D::function, "_nan").view(), D::template over<1>, {3, 200});
  }
};
struct ReduceMax : ExtremeTest<ReduceMax> {
  static constexpr std::string_view op = "ReduceMax", function = "max";
  static constexpr Reduction call = ops::max;
  static double value(const Line& line) { return *std::ranges::max_element(line); }
  static constexpr void fixtures(const auto& c) {
    ExtremeTest::fixtures(c);
    c.add(of_integers, "max", over<1>, {{5, 19}, tw::int16});
    c.add_forward(reduced_half, "columns", over<0>, {5, 37});
    c.add(in_tiles, "rows", over<1>, {5, 34});
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_max", [](Tensor t) { return ops::max(t.T(), 1); }, f32(7, 19));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_max", [](Tensor x) { return ops::max(x, 0); }, f32(1, 5));
  }
};
struct ReduceMin : ExtremeTest<ReduceMin> {
  static constexpr std::string_view op = "ReduceMin", function = "min";
  static constexpr Reduction call = ops::min;
  static double value(const Line& line) { return *std::ranges::min_element(line); }
};
struct Median : SelectionTest<Median> {
  static constexpr std::string_view op = "ReduceMedian", function = "median";
  static constexpr Reduction call = ops::median;
  static double value(Line line) {
    std::ranges::sort(line);
    return line[(line.size() - 1) / 2];
  }
};

}  // namespace op_tests
