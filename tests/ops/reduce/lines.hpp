#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Places of a line's elements from the largest, or smallest, on; of equal ones the first stands first.
inline std::vector<std::size_t> ranking(const Line& line, bool largest) {
  std::vector<std::size_t> places(line.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    if (line[a] == line[b]) return a < b;
    return largest ? line[a] > line[b] : line[a] < line[b];
  });
  return places;
}

/// And of the smallest.
struct ArgMax : OpTest {
  static constexpr std::string_view op = "ArgMax";
  static constexpr auto maximum_index(int axis) {
    return [=](Tensor x) { return ops::argmax(x, axis); };
  }
  static constexpr auto minimum_index(int axis) {
    return [=](Tensor x) { return ops::argmin(x, axis); };
  }
  template <bool largest>
  static std::vector<Array> place(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto axis = static_cast<int>(tw::unpack<tw::ArgMax::Attributes>(node.attributes).axis);
    return {by_lines(inputs[0], axis, outputs[0], [](const Line& line) { return Line{real(ranking(line, largest)[0])}; })};
  }
  static void meanings(auto& m) {
    m[op] = place<true>;
    m["ArgMin"] = place<false>;
  }
  static constexpr void compared(In<indices>, const auto& c) {
    c.add_forward("argmax_rows", maximum_index(-1), f32(5, 37));
    c.add_forward("argmax_columns", maximum_index(0), f32(5, 37));
    c.add_forward("argmax_ties", [](Tensor x) { return ops::argmax(x, 1, true); }, f32(3, 4, 19));
    c.add_forward("argmax_transposed", [](Tensor x) { return ops::argmax(x.T()); }, f32(6, 19));
    c.add_forward("argmin_rows", minimum_index(-1), f32(5, 37));
    c.add_forward("argmin_columns", minimum_index(0), f32(5, 37));
    c.add_forward("argmin_ties", [](Tensor x) { return ops::argmin(x, 1, true); }, f32(3, 4, 19));
    c.add_forward("argmin_transposed", [](Tensor x) { return ops::argmin(x.T()); }, f32(6, 19));
  }
  static constexpr void compared(In<half_reductions>, const auto& c) {
    c.add_forward("reduced_half_argmax", maximum_index(0), f16(3, 37));
  }
  static constexpr void compared(In<reductions_in_tiles>, const auto& c) {
    c.add_forward("tiles_argmax", maximum_index(0), f32(9, 34));
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add_forward("view_argmax", [](Tensor t) { return ops::argmax(t[{all, every_second}], 1); }, f32(5, 38));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add_forward("one_argmax", [](Tensor x) { return ops::argmax(x, 0); }, f32(1, 5));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add_forward("floats_places", [](Tensor t) { return std::array{ops::argmax(t, 1), ops::argmin(t, 1)}; }, c.real({3, 7}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(i32(3), [](Tensor x) { return ops::argmax(x); }, f32(2, 3));
    s.result(i32(2, 1), [](Tensor x) { return ops::argmin(x, -1, true); }, f32(2, 3));
    s.error("ArgMax: axis 0 of a scalar: a tensor with axes expected, in graph", [](Tensor x) { return ops::argmax(x); }, f32());
    s.error(
        "ArgMin: axis -3 of a tensor of rank 2: an axis from -2 to 1 expected, in graph",
        [](Tensor x) { return ops::argmin(x, -3); }, f32(2, 3));
    s.error(
        "ArgMin: (4294967297,) float32 along axis 0: at most 4294967296 elements, the indices of uint32, expected, in graph",
        [](Tensor x) { return ops::argmin(x); }, f32((std::int64_t{1} << 32) + 1));
    s.result(i32(4), [](Tensor x) { return ops::argmax(x); }, f32(std::int64_t{1} << 31, 4));
    s.result(u32(4), [](Tensor x) { return ops::argmax(x); }, f32((std::int64_t{1} << 31) + 1, 4));
  }
  static constexpr void handles(auto& list) {
    list.add("argmax", [] { (void)ops::argmax(Tensor()); });
    list.add("argmin", [] { (void)ops::argmin(Tensor()); });
  }
};
struct CumSum : OpTest {
  static constexpr std::string_view op = "CumSum";
  static constexpr auto cumsum(int axis = 0) {
    return [axis](Tensor x) { return ops::cumsum(x, axis); };
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto attributes = tw::unpack<tw::CumSum::Attributes>(node.attributes);
      return std::vector{by_lines(inputs[0], static_cast<int>(attributes.axis), outputs[0], [](Line line) {
        for (std::size_t i = 1; i < line.size(); ++i) line[i] += line[i - 1];
        return line;
      })};
    };
  }
  static constexpr void compared(In<lines>, const auto& c) {
    c.add("cumsum_first", cumsum(), f32(2, 2, 19));
    c.add("cumsum_middle", cumsum(1), f32(2, 2, 19));
    c.add("cumsum_last", cumsum(-1), f32(2, 2, 19));
    c.add("cumsum_transposed", [](Tensor x) { return ops::cumsum(x.T(), 1); }, f32(5, 19));
    c.add("cumsum_one", cumsum(1), f32(3, 1));
  }
  static constexpr void compared(In<indices>, const auto& c) { c.add_forward("reduced_int_cumsum", cumsum(1), i32(5, 19)); }
  static constexpr void compared(In<half_reductions>, const auto& c) {
    c.add_forward("reduced_half_cumsum", cumsum(1), f16(2, 19));
    c.add_forward("reduced_half_cumsum_columns", cumsum(0), f16(2, 19));
  }
  static constexpr void compared(In<double_reductions>, const auto& c) {
    c.add("reduced_double_cumsum", cumsum(0), spec_of(tw::float64, {2, 19}));
  }
  static constexpr void compared(In<reductions_in_tiles>, const auto& c) { c.add("tiles_cumsum", cumsum(1), f32(5, 19)); }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_cumsum", [](Tensor t) { return ops::cumsum(t.T(), 1); }, f32(19, 5));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_cumsum", cumsum(1), c.real({3, 7}));
  }
  static constexpr void edges(const auto& c) {
    c.add("cumsum", cumsum(1), c.real({3, 4}));
    c.add("cumsum_columns", cumsum(0), c.real({3, 4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(i32(2, 3), cumsum(-1), i32(2, 3));
    s.error("CumSum: axis 0 of a scalar: a tensor with axes expected, in graph", cumsum(), f32());
    s.error("CumSum: axis 1 of a tensor of rank 1: an axis from -1 to 0 expected, in graph", cumsum(1), f32(2));
  }
  static constexpr void handles(auto& list) {
    list.add("cumsum", [] { (void)ops::cumsum(Tensor()); });
  }
};
struct TopK : OpTest {
  static constexpr std::string_view op = "TopK";
  /// A function of two results.
  static constexpr auto top(std::int64_t k, int axis, bool largest = true) {
    return [=](Tensor x) {
      const auto [values, indices] = ops::topk(x, k, axis, largest);
      return std::array{values, indices};
    };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::TopK::Attributes>(node.attributes);
    const auto with = [&](const tw::TensorSpec& spec, bool places) {
      return by_lines(inputs[0], static_cast<int>(attributes.axis), spec, [&](const Line& line) {
        Line result;
        const auto ranks = ranking(line, attributes.largest != 0);
        for (std::size_t i = 0; i < at(attributes.k); ++i) result.push_back(places ? real(ranks[i]) : line[ranks[i]]);
        return result;
      });
    };
    return {with(outputs[0], false), with(outputs[1], true)};
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<lines>, const auto& c) {
    c.add("topk", [](Tensor x) { return ops::topk(x, 5).values; }, f32(3, 37));
    c.add("topk_smallest", [](Tensor x) { return ops::topk(x, 2, 0, false).values; }, f32(5, 7));
    c.add("topk_transposed", [](Tensor x) { return ops::topk(x.T(), 3, 0).values; }, f32(4, 6));
  }
  static constexpr void compared(In<indices>, const auto& c) {
    c.add_forward("topk_special", top(4, 1), f32(5, 37));
    c.add_forward("topk_special_smallest", top(36, -1, false), f32(5, 37));
    c.add_forward("topk_ties", top(7, 1), f32(4, 19));
    c.add_forward("topk_all", top(6, 0), f32(6, 5));
    c.add_forward("topk_one", top(1, 0, false), f32(1));
    c.add_forward("reduced_int_topk", top(3, 1), spec_of(tw::int64, {5, 19}));
  }
  static constexpr void compared(In<half_reductions>, const auto& c) {
    c.add_forward("reduced_half_topk", top(3, 1), f16(3, 19));
  }
  static constexpr void compared(In<double_reductions>, const auto& c) {
    c.add("reduced_double_topk", [](Tensor x) { return ops::topk(x, 5, 1).values; }, spec_of(tw::float64, {2, 19}));
  }
  static constexpr void compared(In<reductions_in_tiles>, const auto& c) {
    c.add("tiles_topk", [](Tensor x) { return ops::topk(x, 3).values; }, f32(5, 19));
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_topk", [](Tensor t) { return ops::topk(t.T(), 3, 1).values; }, f32(19, 5));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_topk", [](Tensor x) { return ops::topk(x, 1).values; }, f32(3, 1));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_topk", [](Tensor t) { return ops::topk(t, 3).values; }, c.real({3, 7}));
  }
  static constexpr void edges(const auto& c) {
    c.add("topk", [](Tensor t) { return ops::topk(t, 2, 1).values; }, c.real({3, 4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 2), [](Tensor x) { return ops::topk(x, 2).values; }, f32(2, 3));
    s.result(i32(1, 3), [](Tensor x) { return ops::topk(x, 1, 0).indices; }, f32(2, 3));
    s.error(
        "TopK: 4 of axis 1 of (2, 3) float32: from 1 to 3 expected, in graph", [](Tensor x) { return ops::topk(x, 4).values; },
        f32(2, 3));
    s.error(
        "TopK: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph",
        [](Tensor x) { return ops::topk(x, 1, 2).values; }, f32(2, 3));
    s.error(
        "TopK: (2147483649,) float32 along axis 0: at most 2147483648 elements, the indices of int32, expected, in graph",
        [](Tensor x) { return ops::topk(x, 1).indices; }, f32((std::int64_t{1} << 31) + 1));
  }
  static constexpr void handles(auto& list) {
    list.add("topk", [] { (void)ops::topk(Tensor(), 1); });
  }
};
struct Histogram : OpTest {
  static constexpr std::string_view op = "Histogram";
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const bool absolute = tw::unpack<tw::Histogram::Attributes>(node.attributes).absolute != 0;
    const Array& levels = inputs[1];
    Array counts(outputs[0]);
    for (double x : inputs[0].elements()) {
      if (absolute) x = std::abs(x);
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (x >= levels[i] && (x < levels[i + 1] || (i + 1 == counts.size() && x == levels[i + 1]))) ++counts[i];
    }
    return {counts};
  }
  static constexpr auto of_levels(std::initializer_list<double> levels) {
    return [levels = tw::List<double>(levels)](Tensor x) { return ops::histogram(x, levels); };
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<indices>, const auto& c) {
    const auto histogram = [](bool absolute) {
      return [=](Tensor x) { return ops::histogram(x, {-1, -0.5, 0, 0.25, 2}, absolute); };
    };
    c.add_forward("histogram", histogram(false), f32(4, 33));
    c.add_forward("histogram_absolute", histogram(true), f32(4, 33));
    c.add_forward("histogram_one", of_levels({0, 1}), f32());
  }
  static constexpr void compared(In<reductions_of_other_dtypes>, const auto& c) {
    for (const auto& [name, dtype] : {std::pair("double", tw::float64), std::pair("half", tw::float16)})
      c.add_forward(tw::text("reduced_", name, "_histogram").view(), of_levels({-1, -0.5, 0, 0.25, 2}), spec_of(dtype, {4, 33}));
  }
  static constexpr void compared(In<reductions_in_tiles>, const auto& c) {
    c.add_forward("tiles_histogram", of_levels({-1, -0.5, 0, 0.25, 2}), f32(9, 34));
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add_forward(
        "view_histogram", [](Tensor t) { return ops::histogram(t[{all, every_second}], {-2, -1, 0, 1, 2}); }, f32(5, 38));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add_forward("floats_histogram", of_levels({-1, -0.5, 0, 0.25, 2}), c.real({5, 7}));
  }
  static constexpr void compared(In<few_elements>, const auto& c) {
    c.add_forward("histogram", of_levels({-1, 0.25, 0.5}), c.real());
  }
  static constexpr void shapes(const auto& s) {
    s.result(u32(2), of_levels({0, 1, 2}), f32(2, 3));
    s.error("Histogram: 1 levels: at least 2 expected, in graph", of_levels({0}), f32(2));
    s.error("Histogram: level 0.5 after 0.5: levels that increase expected, in graph", of_levels({0, 0.5, 0.5}), f32(2));
    s.error("Histogram: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph", of_levels({0, 1}), i32(2));
  }
  static constexpr void handles(auto& list) {
    list.add("histogram", [] { (void)ops::histogram(Tensor(), {0, 1}); });
  }
};

}  // namespace op_tests
