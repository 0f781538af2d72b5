#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Concat : OpTest {
  static constexpr std::string_view op = "Concat";
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const int axis = from_first(tw::unpack<tw::Concat::Attributes>(node.attributes).axis, outputs[0].shape.rank);
    Array result(outputs[0]);
    std::int64_t begin = 0;
    for (const Array& input : inputs) {
      for_each_index(input.spec.shape, [&](Index index) {
        const double x = element(input, index);
        index[at(axis)] += begin;
        element(result, index) = x;
      });
      begin += input.extent(axis);
    }
    return {result};
  }
  static void meanings(auto& m) { m[op] = m["ConcatInplace"] = value; }
  static constexpr void compared(In<concats>, const auto& c) {
    const auto rows = [](Tensor x, Tensor y, Tensor z) { return ops::concat({x, y, z}); };
    const auto columns = [](Tensor x, Tensor y, Tensor z) { return ops::concat_({x, y, z}, 1); };
    c.add("concat_rows", rows, f32(2, 5), f32(1, 5), f32(4, 5));
    c.add("concat_columns", columns, f32(3, 17), f32(3, 1), f32(3, 6));
    c.add("concat_middle", [](Tensor a, Tensor b) { return ops::concat({a, b}, -2); }, f32(2, 3, 4), f32(2, 1, 4));
    c.add("concat_of_one", [](Tensor a) { return ops::concat({a}); }, f32(3));
    c.add("concat_twice_the_same", [](Tensor a) { return ops::concat({a, a}, 1); }, f32(2, 3));
    c.add(
        "concat_of_made", [](Tensor a, Tensor b) { return ops::concat({ops::exp(a), a.matmul(b) * 2}, 1) * 3; }, f32(4, 4),
        f32(4, 5));
    c.add(
        "concat_of_views", [](Tensor a, Tensor b) { return ops::concat({a.T(), b[tw::slice(none, none, -2)]}); }, f32(3, 4),
        f32(5, 3));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add("view_concat", [](Tensor a, Tensor b) { return ops::concat_({a.T(), b[back]}, 1); }, f32(19, 5), f32(5, 7));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add("one_concat", [](Tensor a, Tensor b) { return ops::concat({a, b}); }, f32(1), f32(1));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(5, 3), [](Tensor x) { return ops::concat({x, x[tw::slice(0, 1)], x}); }, f32(2, 3));
    s.error(
        "Concat: (3, 4) and (4, 3) along axis 1: shapes that are equal but for that axis expected, in graph",
        [](Tensor x) { return ops::concat({x, x.T()}, 1); }, f32(3, 4));
    s.error(
        "Concat: (3, 4) float32 and (3, 4) int32: equal dtypes expected, in graph",
        [](Tensor x) { return ops::concat({x, x.cast(tw::int32)}); }, f32(3, 4));
    s.error(
        "Concat: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph",
        [](Tensor x) { return ops::concat({x, x}, 2); }, f32(3, 4));
    s.error(
        "Concat: axis 0 of a scalar: a tensor with axes expected, in graph", [](Tensor x) { return ops::concat({x, x}); }, f32());
  }
  static constexpr void handles(auto& list) {
    list.add("concat", [] { (void)ops::concat(std::span<const Tensor>()); });
    list.add("concat", [] { (void)ops::concat({Tensor()}); });
    list.add("concat_", [] { (void)ops::concat_(std::span<const Tensor>()); });
    list.add("concat_", [] { (void)ops::concat_({Tensor()}); });
  }
};

}  // namespace op_tests
