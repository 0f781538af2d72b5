#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// And of updates of such slices.
struct DynamicSlice : OpTest {
  static constexpr std::string_view op = "DynamicSlice";
  /// Where the slice of a dynamic op begins, by axis.
  static Index begin_of_slice(const tw::Node& node, const Array& t, const Array& starts) {
    const auto attributes = tw::unpack<tw::DynamicSliceAttributes>(node.attributes);
    Index result(at(t.rank()), 0);
    for (std::int64_t i = 0; i < attributes.count; ++i)
      result[at(from_first(attributes.axes[at(i)], t.rank()))] = static_cast<std::int64_t>(starts[at(i)]);
    return result;
  }
  static Index sum_of(Index a, const Index& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static std::vector<Array> slice_of(const tw::Node& node, Inputs inputs, Specs outputs) {
    const Index begin = begin_of_slice(node, inputs[0], inputs[1]);
    Array result(outputs[0]);
    for_each_index(result.spec.shape,
                   [&](const Index& index) { element(result, index) = element(inputs[0], sum_of(index, begin)); });
    return {result};
  }
  static std::vector<Array> updated(const tw::Node& node, Inputs inputs, Specs) {
    const Index begin = begin_of_slice(node, inputs[0], inputs[1]);
    Array result = inputs[0].copy();
    for_each_index(inputs[2].spec.shape,
                   [&](const Index& index) { element(result, sum_of(index, begin)) = element(inputs[2], index); });
    return {result};
  }
  static constexpr auto dynamic_slice(Shape axes, Shape sizes) {
    return [=](Tensor t, Tensor index) { return ops::dynamic_slice(t, index, axes, sizes); };
  }
  static constexpr auto dynamic_update(Shape axes, Shape sizes) {
    return [=](Tensor t, Tensor index, Tensor update) { return ops::dynamic_update(t, index, update, axes, sizes); };
  }
  static void meanings(auto& m) {
    m[op] = slice_of;
    m["DynamicUpdate"] = m["DynamicUpdateInplace"] = updated;
  }
  static constexpr void compared(In<indexed_slices>, const auto& c) {
    c.add("dynamic_slice", dynamic_slice({0}, {3}), f32(10, 4), i32(1));
    c.add("dynamic_slice_two", dynamic_slice({2, 0}, {3, 2}), f32(4, 3, 7), u32(2));
    c.add("dynamic_slice_end", dynamic_slice({-1}, {17}), f32(2, 40), i32(1));
    c.add(
        "dynamic_slice_transposed", [](Tensor t, Tensor i) { return ops::dynamic_slice(t.T(), i, {0}, {3}); }, f32(4, 10),
        i32(1));
    c.add("dynamic_update", dynamic_update({0}, {3}), f32(10, 4), i32(1), f32(3, 4));
    c.add("dynamic_update_two", dynamic_update({2, 0}, {3, 2}), f32(4, 3, 7), u32(2), f32(2, 3, 3));
    c.add("dynamic_update_columns", dynamic_update({1}, {9}), f32(5, 40), i32(1), f32(5, 9));
  }
  static constexpr void compared(In<indexed_dtypes>, const auto& c) {
    c.add_forward("dynamic_slice_bool", dynamic_slice({0}, {3}), spec_of(tw::boolean, {8}), i32(1));
    c.add_forward("dynamic_update_int64", dynamic_update({0}, {3}), spec_of(tw::int64, {8, 3}), i32(1),
                  spec_of(tw::int64, {3, 3}));
    c.add_forward("dynamic_slice_float16", dynamic_slice({1}, {5}), f16(3, 8), spec_of(tw::int64, {1}));
    c.add_forward(
        "dynamic_update_inplace", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update_(t, i, u, {0, 1}, {2, 3}); },
        f32(5, 6), i32(2), f32(2, 3));
    for (const DType dtype : moved_dtypes)
      c.add_forward(
          tw::text("dynamic_", tw::to_text(dtype)).view(),
          [](Tensor t, Tensor i, Tensor u) {
            return std::array{ops::dynamic_slice(t, i, {0, 1}, {3, 2}), ops::dynamic_update(t, i, u, {0, 1}, {3, 2})};
          },
          spec_of(dtype, {8, 3}), i32(2), spec_of(dtype, {3, 2}));
  }
  static constexpr void compared(In<indexed_gradients>, const auto& c) {
    c.add("dynamic_slice", dynamic_slice({2, 0}, {3, 2}), c.real({4, 3, 7}), i32(2));
    c.add("dynamic_update", dynamic_update({1}, {9}), c.real({5, 40}), i32(1), c.real({5, 9}));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    const auto second = tw::slice(1, 2);
    c.add(
        "view_dynamic_slice", [=](Tensor t, Tensor i) { return ops::dynamic_slice(t.T(), i[second], {0}, {3}); }, f32(7, 19),
        i32(3));
    c.add(
        "view_dynamic_update",
        [=](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t.T(), i[second], u.T(), {0}, {3}); }, f32(7, 19), i32(3),
        f32(7, 3));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add("one_dynamic_slice", dynamic_slice({0}, {1}), f32(5), i32(1));
    c.add("whole_dynamic_slice", dynamic_slice({0}, {3}), f32(3), i32(1));
    c.add("one_dynamic_update", dynamic_update({0}, {1}), f32(5), i32(1), f32(1));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_dynamic_slice", dynamic_slice({1}, {3}), c.real({3, 7}), i32(1));
    c.add("floats_dynamic_update", dynamic_update({1}, {3}), c.real({3, 7}), i32(1), TensorSpec{{3, 3}, c.dtype});
  }
  static constexpr void edges(const auto& c) {
    c.add("dynamic_slice", dynamic_slice({0}, {2}), c.real({4, 3}), c.ints({1}));
    c.add("dynamic_update", dynamic_update({0}, {2}), c.real({4, 3}), c.ints({1}), c.real({2, 3}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(3, 4), dynamic_slice({0}, {3}), f32(10, 4), i32(1));
    s.result(f32(2, 3), dynamic_slice({-1, 0}, {3, 2}), f32(10, 4), u32(2));
    s.result(f32(10, 4), dynamic_update({1}, {3}), f32(10, 4), i32(1), f32(10, 3));
    s.error("DynamicSlice: axes (0, 1) and sizes (3,): as many sizes as axes expected, in graph", dynamic_slice({0, 1}, {3}),
            f32(10, 4), i32(2));
    s.error("DynamicSlice: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph", dynamic_slice({2}, {3}),
            f32(10, 4), i32(1));
    s.error("DynamicSlice: axis -2 twice: distinct axes expected, in graph", dynamic_slice({0, -2}, {3, 3}), f32(10, 4), i32(2));
    s.error("DynamicSlice: size 5 along axis 1 of (10, 4) float32: a size from 1 to 4 expected, in graph",
            dynamic_slice({1}, {5}), f32(10, 4), i32(1));
    s.error("DynamicSlice: index (2,) int32 for 1 axes: integers of shape (1,) expected, in graph", dynamic_slice({1}, {3}),
            f32(10, 4), i32(2));
    s.error("DynamicSlice: index (1,) float32 for 1 axes: integers of shape (1,) expected, in graph", dynamic_slice({1}, {3}),
            f32(10, 4), f32(1));
    s.error("DynamicUpdate: t_update (10, 4) float32 for a slice of (10, 4) float32: (10, 3) expected, in graph",
            dynamic_update({1}, {3}), f32(10, 4), i32(1), f32(10, 4));
    s.error("DynamicUpdate: (10, 4) float32 and (10, 3) float16: equal dtypes expected, in graph", dynamic_update({1}, {3}),
            f32(10, 4), i32(1), f16(10, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("dynamic_slice", [] { (void)ops::dynamic_slice(Tensor(), Tensor(), Shape{2}, Shape{2}); });
    list.add("dynamic_update", [] { (void)ops::dynamic_update(Tensor(), Tensor(), Tensor(), Shape{2}, Shape{2}); });
    list.add("dynamic_update_", [] { (void)ops::dynamic_update_(Tensor(), Tensor(), Tensor(), Shape{2}, Shape{2}); });
  }
};

}  // namespace op_tests
