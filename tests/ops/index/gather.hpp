#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Gather : OpTest {
  static constexpr std::string_view op = "Gather";
  static constexpr auto tied(int axis = 0) {
    return [axis](Tensor t, Tensor i) { return ops::tied_gather(t, i, axis); };
  }
  static constexpr auto grouped(int axis, int group_size = 2) {
    return [=](Tensor t, Tensor i) { return ops::groupedgather(t, i, axis, group_size); };
  }
  /// Where in a table of `rank` axes the element of the result comes from. It may be out of range along the axis.
  static Index place_in_table(const tw::IndexAttributes& attributes, int rank, const Array& indices, const Index& index) {
    const auto axis = from_first(attributes.axis, rank), groups = attributes.group_size > 1 ? 1 : 0;
    const auto first = index.begin(), place = first + axis, end = place + indices.rank() - groups;
    Index of_index(place, end), from(first, place);
    if (groups == 1) of_index.insert(of_index.begin(), index[0]);
    from.push_back(static_cast<std::int64_t>(element(indices, of_index)));
    from.insert(from.end(), end, index.end());
    return from;
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
    const Array& t = inputs[0];
    const int axis = from_first(attributes.axis, t.rank());
    Array result(outputs[0]);
    for_each_index(result.spec.shape, [&](const Index& index) {
      const Index from = place_in_table(attributes, t.rank(), inputs[1], index);
      const std::int64_t found = from[at(axis)];
      element(result, index) = found < 0 || found >= t.extent(axis) ? 0 : element(t, from);
    });
    return {result};
  }
  static std::vector<Array> gradient_value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
    Array result(outputs[0]);
    for_each_index(inputs[0].spec.shape, [&](const Index& index) {
      const Index to = place_in_table(attributes, result.rank(), inputs[1], index);
      const std::int64_t found = to[at(attributes.axis)];
      if (found >= 0 && found < attributes.extent) element(result, to) += element(inputs[0], index);
    });
    return {result};
  }
  static constexpr auto gather(int axis = 0, tw::GatherOptions options = {}) {
    return [=](Tensor t, Tensor indices) { return ops::gather(t, indices, axis, options); };
  }
  static void meanings(auto& m) {
    m[op] = m["PopartTiedGather"] = value;
    m["GatherGrad"] = gradient_value;
  }
  static constexpr void compared(In<gathers>, const auto& c) {
    c.add("gather", gather(), f32(7, 5), i32(4));
    c.add("gather_repeated", gather(), f32(7, 19), u32(2, 3));
    c.add("gather_one", gather(), f32(5, 3), i32());
    c.add("gather_vector", gather(), f32(9), i32(2, 2));
    c.add("gather_last", gather(-1), f32(3, 7), i32(5));
    c.add("gather_middle", gather(1), f32(2, 7, 3), i32(2, 2));
    c.add("gather_wide", gather(), f32(3, 520), i32(4));
    c.add("gather_zero_oor", gather(0, {.zero_OOR = true}), f32(5, 3), i32(5));
    c.add("gather_transposed", [](Tensor t, Tensor i) { return ops::gather(t.T(), i); }, f32(3, 7), i32(4));
    c.add("gather_expanded", [](Tensor t, Tensor i) { return ops::gather(ops::expand(t, {7, 3}), i.T()); }, f32(3), i32(2, 3));
    c.add("tied_gather", tied(), f32(7, 5), i32(2, 2));
    c.add("gather_many", gather(), f32(40, 3), i32(70));
    c.add("groupedgather", grouped(1), f32(2, 7, 3), i32(2, 4));
    c.add("groupedgather_last", grouped(-1), f32(2, 3, 7), u32(2, 2, 2));
  }
  static constexpr void compared(In<indexed_gradients>, const auto& c) {
    c.add("gather", gather(), c.real({7, 19}), i32(2, 3));
    c.add("groupedgather", grouped(1, 2), c.real({2, 7, 3}), i32(2, 4));
    c.add("tied_gather", tied(1), c.real({2, 7}), i32(5));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add("view_gather", [](Tensor t, Tensor i) { return ops::gather(t.T(), i.T()); }, f32(7, 19), i32(3, 4));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) { c.add("one_gather", gather(), f32(1, 5), i32(1)); }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_gather", gather(), c.real({5, 7}), i32(3));
    c.add("floats_tied_gather", tied(), c.real({5, 7}), i32(3));
  }
  static constexpr void compared(In<indexed_dtypes>, const auto& c) {
    for (const DType dtype : moved_dtypes)
      c.add_forward(tw::text("gather_", tw::to_text(dtype)).view(), gather(), spec_of(dtype, {5, 3}), i32(4));
    for (const DType dtype : integer_dtypes)
      if (dtype != tw::int32)
        c.add_forward(tw::text("gather_by_", tw::to_text(dtype)).view(), gather(), f32(5, 3), spec_of(dtype, {4}));
  }
  static constexpr void edges(const auto& c) {
    c.add("gather", gather(), c.real({4, 2}), c.ints({12}));
    c.add("tied_gather", tied(), c.real({3, 2}), c.ints({12}));
    c.add("groupedgather", grouped(1, 2), c.real({2, 3, 2}), c.ints({2, 6}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(3, 4), gather(), f32(10, 4), i32(3));
    s.result(f32(4), gather(), f32(10, 4), i32());
    s.result(f16(2, 10, 3, 5), gather(-1), f16(2, 10, 4), u32(3, 5));
    s.result(spec_of(tw::boolean, {2, 1, 4}), gather(1), spec_of(tw::boolean, {2, 10, 4}), spec_of(tw::int64, {1}));
    s.result(f32(2, 3, 4), grouped(1, 2), f32(2, 10, 4), i32(2, 3));
    s.result(f32(2, 10, 3, 5), grouped(2, 2), f32(2, 10, 4), i32(2, 3, 5));
    s.result(f32(2, 3, 10), grouped(0, 1), f32(2, 10), i32(2, 3));
    s.error("Gather: indices (3,) float32: integers expected, in graph", gather(), f32(10, 4), f32(3));
    s.error("Gather: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph", gather(2), f32(10, 4), i32(3));
    s.error("Gather: (2, 2, 2, 2) float32 at indices (1, 1, 1, 1) int32, a result of 7 axes: at most 6 axes expected, in graph",
            gather(), f32(2, 2, 2, 2), i32(1, 1, 1, 1));
    s.error("Gather: axis 0 with group_size 2: an axis other than 0, the axis of the groups, expected, in graph", grouped(0, 2),
            f32(2, 10), i32(2, 3));
    s.error(
        "Gather: (3, 10) float32 and indices (2, 3) int32 with group_size 2: 2 elements along axis 0 of both tensors expected, "
        "in graph",
        grouped(1, 2), f32(3, 10), i32(2, 3));
    s.error("Gather: group_size 0: a number above 0 expected, in graph", grouped(1, 0), f32(3, 10), i32(2, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("gather", [] { (void)ops::gather(Tensor(), Tensor()); });
    list.add("tied_gather", [] { (void)ops::tied_gather(Tensor(), Tensor()); });
    list.add("groupedgather", [] { (void)ops::groupedgather(Tensor(), Tensor(), 0, 1); });
  }
};

}  // namespace op_tests
