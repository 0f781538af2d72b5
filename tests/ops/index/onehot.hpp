#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct OneHot : OpTest {
  static constexpr std::string_view op = "OneHot";
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto axis = tw::unpack<tw::OneHotAttributes>(node.attributes).axis;
    Array result(outputs[0]);
    for_each_index(result.spec.shape, [&](const Index& index) {
      Index of_index = index;
      of_index.erase(of_index.begin() + axis);
      element(result, index) = inputs[1][element(inputs[0], of_index) == real(index[at(axis)]) ? 1 : 0];
    });
    return {result};
  }
  static constexpr auto onehot(int classes, int axis = -1) {
    return [=](Tensor t, Tensor values) { return ops::onehot(t, classes, values, axis); };
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<indexed_slices>, const auto& c) {
    c.add("onehot", onehot(5), i32(7), f32(2));
    c.add("onehot_first", onehot(5, 0), i32(2, 3), f32(2));
    c.add(
        "onehot_long", [](Tensor t, Tensor values) { return ops::onehot(t, t.ir().constant(70, tw::int32), values); }, u32(2, 3),
        f32(2));
  }
  static constexpr void compared(In<indexed_dtypes>, const auto& c) {
    const auto four = [](Tensor t, Tensor v) { return ops::onehot(t, 4, v); };
    c.add_forward("onehot_int32", onehot(3), i32(4), i32(2));
    c.add_forward("onehot_bool", onehot(3, 1), i32(4, 2), spec_of(tw::boolean, {2}));
    c.add_forward("onehot_float16", onehot(20), i32(4), f16(2));
    for (const DType dtype : {tw::int8, tw::int16, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
      c.add_forward(tw::text("onehot_by_", tw::to_text(dtype)).view(), four, spec_of(dtype, {5}), f32(2));
    for (const DType dtype : moved_dtypes)
      c.add_forward(tw::text("onehot_of_", tw::to_text(dtype)).view(), four, i32(5), spec_of(dtype, {2}));
  }
  static constexpr void compared(In<indexed_gradients>, const auto& c) { c.add("onehot", onehot(5, 0), i32(2, 3), c.real({2})); }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add(
        "view_onehot", [](Tensor i, Tensor values) { return ops::onehot(i.T(), 5, values[tw::slice(2, tw::none, -2)]); },
        i32(7, 3), f32(4));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add("scalar_onehot", onehot(5), i32(), f32(2));
    c.add("one_onehot", onehot(1), i32(3), f32(2));
  }
  static constexpr void compared(In<second_of_shapes>, const auto& c) {
    c.add(
        "onehot",
        [](Tensor values) {
          const Tensor y = ops::onehot(values.ir().constant({1, 5, 1}, {3}, tw::int32), 3, values);
          return y * y;
        },
        f64(2));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_onehot", onehot(5), i32(7), TensorSpec{{2}, c.dtype});
  }
  static constexpr void edges(const auto& c) { c.add("onehot", onehot(3), c.ints({12}), c.real({2})); }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3, 5), onehot(5), i32(2, 3), f16(2));
    s.result(i32(5, 2, 3), onehot(5, 0), u32(2, 3), i32(2));
    s.result(f32(2, 5, 3), onehot(5, -2), i32(2, 3), f32(2));
    s.result(f32(7), [](Tensor t, Tensor v) { return ops::onehot(t, t.ir().constant(7, tw::int32), v); }, i32(), f32(2));
    s.error(
        "OneHot: num_classes () int32: a number, or a constant of one, expected, in graph",
        [](Tensor t, Tensor v) { return ops::onehot(t, t, v); }, i32(), f32(2));
    s.error("OneHot: num_classes 0: a whole number above 0 expected, in graph", onehot(0), i32(3), f32(2));
    s.error("OneHot: values (3,) float32: two elements, off and on, expected, in graph", onehot(4), i32(3), f32(3));
    s.error("OneHot: indices (3,) float32: integers expected, in graph", onehot(4), f32(3), f32(2));
    s.error("OneHot: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph", onehot(4, 2), i32(3), f32(2));
  }
  static constexpr void handles(auto& list) {
    list.add("onehot", [] { (void)ops::onehot(Tensor(), 1, Tensor()); });
  }
};

}  // namespace op_tests
