#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Calls f(index of the data, index of the result) for each element that is scattered, in row-major order.
template <class F>
void for_each_scattered(const tw::IndexAttributes& attributes, const Array& data, const Array& indices, F f) {
  const int axis = from_first(attributes.axis, data.rank());
  const bool by_element = attributes.form == tw::kernel::IndexForm::elements;
  for_each_index(by_element ? indices.spec.shape : data.spec.shape, [&](const Index& index) {
    Index to = index, of_index = index;
    if (!by_element) {
      of_index = {index[at(axis)]};
      if (attributes.group_size > 1) of_index.insert(of_index.begin(), index[0]);
    }
    to[at(axis)] = static_cast<std::int64_t>(element(indices, of_index));
    f(index, to);
  });
}

struct Scatter : OpTest {
  static constexpr std::string_view op = "Scatter";
  static constexpr auto along(int axis = 0) {
    return [axis](Tensor t, Tensor i, Tensor v) { return ops::scatter(t, i, v, axis); };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
    Array result = inputs.size() > 2 ? inputs[2].copy() : Array(outputs[0]);
    std::vector<bool> is_written(result.size(), inputs.size() > 2);
    for_each_scattered(attributes, inputs[0], inputs[1], [&](const Index& from, const Index& to) {
      const std::size_t place = number_of(to, result.spec.shape);
      const double x = element(inputs[0], from), old = result[place];
      using enum tw::ScatterReduction;
      if (attributes.reduction == sum) result[place] = old + x;
      else if (attributes.reduction == none || !is_written[place]) result[place] = x;
      else result[place] = attributes.reduction == max ? std::max(old, x) : std::min(old, x);
      is_written[place] = true;
    });
    return {result};
  }
  static void meanings(auto& m) { m[op] = m["ScatterReduce"] = value; }
  static constexpr void compared(In<scatters>, const auto& c) {
    c.add("scatter", along(), f32(5, 4), i32(3, 4), f32(3, 4));
    c.add("scatter_last", along(-1), f32(2, 3, 9), u32(2, 3, 4), f32(2, 3, 4));
    c.add("scatter_rows", along(), f32(7, 4), i32(3), f32(3, 4));
    c.add("scatter_vector", along(), f32(20), i32(17), f32(17));
    c.add("scatter_part", along(1), f32(3, 5), i32(2, 3), f32(3, 4));
    c.add_forward("scatter_repeated", along(), f32(4, 3), i32(5), f32(5, 3));
  }
  static constexpr void compared(In<indexed_gradients>, const auto& c) {
    c.add("scatter", along(-1), c.real({2, 3, 9}), u32(2, 3, 4), c.real({2, 3, 4}));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add(
        "view_scatter", [](Tensor t, Tensor i, Tensor v) { return ops::scatter(t.T(), i.T(), v[{all, every_second}]); },
        f32(7, 5), i32(7, 2), f32(2, 14));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add("one_scatter", along(), f32(1, 3), i32(1), f32(1, 3));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_scatter", along(), TensorSpec{{5, 3}, c.dtype}, i32(2, 3), TensorSpec{{2, 3}, c.dtype});
  }
  static constexpr void compared(In<indexed_dtypes>, const auto& c) {
    for (const DType dtype : moved_dtypes)
      c.add_forward(tw::text("scatter_", tw::to_text(dtype)).view(), along(), spec_of(dtype, {5, 3}), i32(2),
                    spec_of(dtype, {2, 3}));
  }
  static constexpr void edges(const auto& c) { c.add("scatter", along(0), c.real({4, 2}), c.ints({2, 2}), c.real({2, 2})); }
  static constexpr void shapes(const auto& s) {
    s.result(f32(10, 4), along(), f32(10, 4), i32(3, 4), f32(3, 4));
    s.result(f32(10, 4), along(1), f32(10, 4), i32(3, 2), f32(5, 6));
    s.result(spec_of(tw::boolean, {3, 7}), along(-1), spec_of(tw::boolean, {3, 7}), i32(2), spec_of(tw::boolean, {3, 2}));
    s.error(
        "Scatter: data (3, 5) float32 at indices (3, 5) int32 along axis 0 of (10, 4): tensors of one rank, and indices that are "
        "no longer than the data and, along other axes, than the result expected, in graph",
        along(), f32(10, 4), i32(3, 5), f32(3, 5));
    s.error("Scatter: (3, 4) float16 and (10, 4) float32: equal dtypes expected, in graph", along(), f32(10, 4), i32(3, 4),
            f16(3, 4));
    s.error("Scatter: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph", along(2), f32(10, 4), i32(3, 4),
            f32(3, 4));
    s.error("Scatter: indices (3, 4) float32: integers expected, in graph", along(), f32(10, 4), f32(3, 4), f32(3, 4));
  }
  static constexpr void handles(auto& list) {
    list.add("scatter", [] { (void)ops::scatter(Tensor(), Tensor(), Tensor()); });
  }
};
struct ScatterReduce : OpTest {
  static constexpr std::string_view op = "ScatterReduce";
  /// A reduction, from initial values if the case has them.
  static constexpr auto reduced(tw::ScatterReduction reduction, tw::ScatterReduceOptions options = {}, int group_size = 1) {
    return [=](Tensor data, Tensor i, auto... initial) {
      auto all = options;
      if constexpr (sizeof...(initial) == 1) (all.initial_values.emplace(initial), ...);
      if (group_size == 1) return ops::scatter_reduce(data, i, reduction, all);
      return ops::grouped_scatter_reduce(data, i, reduction, group_size, all);
    };
  }
  static constexpr auto grouped_reduce(tw::ScatterReduction reduction, tw::ScatterReduceOptions options, int group_size = 1) {
    return [=](Tensor data, Tensor indices, auto... initial) {
      auto all = options;
      if constexpr (sizeof...(initial) == 1) (all.initial_values.emplace(initial), ...);
      return ops::grouped_scatter_reduce(data, indices, reduction, group_size, all);
    };
  }
  static constexpr void compared(In<scatters>, const auto& c) {
    using enum tw::ScatterReduction;
    c.add("scatter_sum", reduced(sum, {.axis_size = 4}), f32(6, 5), i32(6));
    c.add("scatter_sum_elements", reduced(sum, {.axis = 1, .axis_size = 4}), f32(3, 6), i32(3, 6));
    c.add("scatter_sum_initial", reduced(sum), f32(6, 3), i32(6), f32(4, 3));
    c.add("scatter_sum_long", reduced(sum, {.axis_size = 3}), f32(50), u32(50));
    c.add("scatter_sum_one_axis", reduced(sum, {.axis = -2, .axis_size = 5}), f32(2, 4, 3), i32(4));
    c.add("scatter_none", reduced(none, {.axis_size = 9}), f32(4, 3), i32(4));
    c.add("scatter_none_initial", reduced(none), f32(4, 3), i32(4), f32(9, 3));
    c.add("scatter_grouped", reduced(sum, {.axis = 1, .axis_size = 5}, 2), f32(2, 4, 3), i32(2, 4));
    c.add("scatter_sum_part", reduced(sum, {.enable_index_broadcast = false}), f32(3, 4), i32(2, 3), f32(5, 4));
  }
  static constexpr void compared(In<scattered_extremes>, const auto& c) {
    using enum tw::ScatterReduction;
    c.add("scatter_max", reduced(max, {.axis_size = 4}), f32(6, 5), i32(6));
    c.add("scatter_max_initial", reduced(max, {.axis = 1}), f32(3, 6), i32(3, 6), f32(3, 4));
    c.add("scatter_min", reduced(min, {.axis_size = 4}), f32(6, 5), i32(6));
    c.add("scatter_min_initial", reduced(min), f32(6, 3), i32(6), f32(4, 3));
    c.add("scatter_grouped_max", reduced(max, {.axis = 2, .axis_size = 5}, 2), f32(2, 3, 4), i32(2, 4));
  }
  static constexpr void compared(In<scattered_ties>, const auto& c) {
    using enum tw::ScatterReduction;
    c.add("scatter_max_ties", reduced(max, {.axis_size = 4}), f32(9, 5), i32(9));
    c.add("scatter_min_ties", reduced(min, {.axis = 1, .axis_size = 3}), f32(4, 7), i32(4, 7));
    c.add("scatter_max_ties_initial", reduced(max), f32(9, 5), i32(9), f32(4, 5));
    c.add("scatter_min_ties_initial", reduced(min, {.axis = 1}), f32(3, 8), i32(3, 8), f32(3, 4));
    c.add("scatter_grouped_max_ties", reduced(max, {.axis = 1, .axis_size = 3}, 2), f32(2, 6, 3), i32(2, 6));
  }
  static constexpr void compared(In<indexed_dtypes>, const auto& c) {
    using enum tw::ScatterReduction;
    c.add_forward("scatter_sum_int64", reduced(sum, {.axis_size = 4}), spec_of(tw::int64, {6, 2}), i32(6));
    c.add_forward("scatter_max_int32", reduced(max, {.axis_size = 4}), i32(6, 2), i32(6));
    c.add_forward("scatter_min_uint8", reduced(min, {.axis_size = 4}), spec_of(tw::uint8, {6, 2}), i32(6));
    c.add_forward("scatter_max_nan", reduced(max, {.axis_size = 3}), f32(5, 3), i32(5));
    c.add_forward("scatter_min_nan", reduced(min), f32(5, 3), i32(5), f32(3, 3));
    c.add_forward("scatter_max_float16", reduced(max, {.axis_size = 4}), f16(6, 19), i32(6));
    c.add_forward("scatter_sum_float16", reduced(sum, {.axis_size = 4}), f16(6, 19), i32(6));
    c.add_forward("scatter_sum_float64", reduced(sum, {.axis_size = 4}), spec_of(tw::float64, {6, 19}), i32(6));
    for (const DType dtype : {tw::int8, tw::int16, tw::uint16, tw::uint32, tw::uint64}) {
      c.add_forward(
          tw::text("scatter_", tw::to_text(dtype), "_reduced").view(),
          [](Tensor x, Tensor i) {
            return std::array{reduced(sum, {.axis_size = 3})(x, i), reduced(max, {.axis_size = 3})(x, i),
                              reduced(min, {.axis_size = 3})(x, i)};
          },
          spec_of(dtype, {7, 3}), i32(7));
    }
    c.add_forward("scatter_none_bool", reduced(none, {.axis_size = 5}), spec_of(tw::boolean, {4, 3}), i32(4));
  }
  static constexpr void compared(In<indexed_gradients>, const auto& c) {
    using enum tw::ScatterReduction;
    c.add("scatter_sum", reduced(sum), c.real({6, 3}), i32(6), c.real({4, 3}));
    c.add("scatter_max", reduced(max, {.axis = 1}), c.real({3, 6}), i32(3, 6), c.real({3, 4}));
    c.add("scatter_min", reduced(min, {.axis_size = 4}), c.real({6, 5}), i32(6));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add(
        "view_scatter_sum",
        [](Tensor t, Tensor i) { return ops::scatter_reduce(t.T(), i[back], tw::ScatterReduction::sum, {.axis_size = 4}); },
        f32(7, 9), i32(9));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add("one_scatter_sum", reduced(tw::ScatterReduction::sum, {.axis_size = 1}), f32(4, 3), i32(4));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_scatter_max", reduced(tw::ScatterReduction::max, {.axis_size = 4}), TensorSpec{{6, 7}, c.dtype}, i32(6));
  }
  static constexpr void edges(const auto& c) {
    using enum tw::ScatterReduction;
    c.add("scatter_sum", reduced(sum, {.axis_size = 3}), c.real({12, 2}), c.ints({12}));
    c.add(
        "scatter_sum_initial", [](Tensor v, Tensor i, Tensor t) { return ops::scatter_reduce(v, i, sum, {.initial_values = t}); },
        c.real({12, 2}), c.ints({12}), c.real({3, 2}));
    c.add("scatter_max", reduced(max, {.axis_size = 3}), c.real({12, 2}), c.ints({12}));
  }
  static constexpr void shapes(const auto& s) {
    using enum tw::ScatterReduction;
    s.result(f32(10, 4), grouped_reduce(sum, {.axis_size = 10}), f32(3, 4), i32(3));
    s.result(f32(3, 2), grouped_reduce(sum, {.axis = -1, .axis_size = 2}), f32(3, 4), i32(3, 4));
    s.result(f32(3, 2), grouped_reduce(sum, {.axis = 1, .axis_size = 2}), f32(3, 4), i32(1, 4));
    s.result(f32(2, 9, 5), grouped_reduce(sum, {.axis = 1, .axis_size = 9}, 2), f32(2, 4, 5), i32(2, 4));
    s.result(f32(9, 5), grouped_reduce(sum, {.axis_size = 9, .enable_index_broadcast = false}), f32(4, 5), i32(2, 3));
    s.result(i32(10, 4), grouped_reduce(max, {}), i32(3, 4), i32(3), i32(10, 4));
    s.error("ScatterReduce: neither initial_values nor axis_size: one of them expected, in graph", grouped_reduce(sum, {}),
            f32(3, 4), i32(3));
    s.error("ScatterReduce: axis_size 5 with initial_values (10, 4) float32: 10 expected, in graph",
            grouped_reduce(sum, {.axis_size = 5}), f32(3, 4), i32(3), f32(10, 4));
    s.error("ScatterReduce: axis_size 0: a number above 0 expected, in graph", grouped_reduce(sum, {.axis_size = 0}), f32(3, 4),
            i32(3));
    s.error(
        "ScatterReduce: indices (3, 1, 1) int32 for data (3, 4) float32 along axis 0: the data's shape, or one index for each "
        "place along the axis, expected, in graph",
        grouped_reduce(sum, {.axis_size = 5}), f32(3, 4), i32(3, 1, 1));
    s.error(
        "ScatterReduce: data (3, 4) float32 at indices (3,) int32 along axis 0 of (10, 5): indices of the data's shape, or one "
        "for each place along the axis, expected, in graph",
        grouped_reduce(sum, {}), f32(3, 4), i32(3), f32(10, 5));
    s.error("ScatterReduce: (3,) bool: numbers, or a reduction that is none, expected, in graph",
            grouped_reduce(sum, {.axis_size = 5}), spec_of(tw::boolean, {3}), i32(3));
    s.error("ScatterReduce: axis 3 of a tensor of rank 1: an axis from -1 to 0 expected, in graph",
            grouped_reduce(sum, {.axis = 3, .axis_size = 5}), f32(3), i32(3));
    s.error(
        "ScatterReduce: (3, 4) float32 along axis 0 with group_size 3: 3 elements along axis 0, and another axis than 0, "
        "expected, in graph",
        grouped_reduce(sum, {.axis = 0, .axis_size = 5}, 3), f32(3, 4), i32(3, 4));
  }
  static constexpr void handles(auto& list) {
    list.add("scatter_reduce", [] { (void)ops::scatter_reduce(Tensor(), Tensor(), tw::ScatterReduction::sum, {}); });
    list.add("grouped_scatter_reduce",
             [] { (void)ops::grouped_scatter_reduce(Tensor(), Tensor(), tw::ScatterReduction::sum, 1, {}); });
  }
};
struct SparseAccumulate : OpTest {
  static constexpr std::string_view op = "SparseAccumulate";
  static constexpr auto accumulated(int axis = 0, const tw::NumberOrTensor& f = 1) {
    return [=](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x, i, axis, f); };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs) {
    const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
    const double factor = inputs.size() > 3 ? inputs[3][0] : attributes.factor;
    Array result = inputs[0].copy();
    const int axis = from_first(attributes.axis, result.rank()), index_axes = inputs[2].rank();
    for_each_index(inputs[1].spec.shape, [&](const Index& index) {
      const auto place = index.begin() + axis;
      Index to(index.begin(), place);
      to.push_back(static_cast<std::int64_t>(element(inputs[2], Index(place, place + index_axes))));
      to.insert(to.end(), place + index_axes, index.end());
      element(result, to) += factor * element(inputs[1], index);
    });
    return {result};
  }
  static constexpr auto by_half = [](Tensor t, Tensor x, Tensor indices, auto... w) {
    return ops::sparse_accumulate_(t, x, indices, 0, 0.5, w...);
  };
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<sparse_accumulations>, const auto& c) {
    const auto accumulate = [](int axis, const tw::NumberOrTensor& f) {
      return [=](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x, i, axis, f); };
    };
    c.add_forward("sparse_accumulate", accumulate(0, 1), f32(7, 19), f32(2, 3, 19), i32(2, 3));
    c.add_forward("sparse_accumulate_factor", accumulate(-1, 0.5), f32(3, 7), f32(3, 4), i32(4));
    c.add_forward(
        "sparse_accumulate_tensor",
        [](Tensor t, Tensor x, Tensor i, Tensor f) { return ops::sparse_accumulate_(t, x, i, 0, f, t); }, f32(7, 3), f32(9, 3),
        u32(9), f32());
    c.add_forward("double_sparse_accumulate", accumulate(-1, 0.5), spec_of(tw::float64, {3, 7}), spec_of(tw::float64, {3, 4}),
                  i32(4));
    c.add_forward("sparse_accumulate_of_half", accumulate(0, 1), f32(7, 19), f16(4, 19), i32(4));
    c.add_forward("sparse_accumulate_float16", accumulate(0, 0.5), f16(7, 19), f32(4, 19), i32(4));
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add_forward(
        "view_sparse_accumulate",
        [](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x.T(), i[every_second], 0, 0.5); }, f32(7, 5),
        f32(5, 9), i32(18));
  }
  static constexpr void compared(In<indices_of_one>, const auto& c) {
    c.add_forward("one_sparse_accumulate", accumulated(), f32(1), f32(3), i32(3));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add_forward("floats_sparse_accumulate", accumulated(0, 0.5), c.real({5, 7}), TensorSpec{{4, 7}, c.dtype}, i32(4));
  }
  static constexpr void shapes(const auto& s) {
    s.result(
        f32(5), [](Tensor t, Tensor x, Tensor i) { return ops::var_updates::sparse_accumulate_(t, x, i); }, f32(5), f32(2),
        i32(2));
    s.result(f32(10, 4), by_half, f32(10, 4), f16(2, 3, 4), i32(2, 3));
    s.error(
        "SparseAccumulate: (3, 5) float32 to (10, 4) float32 at indices (3,) int32: the shape of a gather from (10, 4) float32 "
        "expected, in "
        "graph",
        by_half, f32(10, 4), f32(3, 5), i32(3));
    s.error("SparseAccumulate: (10, 4) int32: float16, float32, float64 or bfloat16 expected, in graph", by_half, i32(10, 4),
            i32(3, 4), i32(3));
    s.error("SparseAccumulate: W (4, 4) float32 for (10, 4) float32: equal shapes expected, in graph", by_half, f32(10, 4),
            f32(3, 4), i32(3), f32(4, 4));
  }
  static void numbers(auto& list) {
    list.real("sparse_accumulate_.f", list.as_float32, [](auto& s, auto n) {
      return ops::sparse_accumulate_(s.tensor({3}), s.tensor({2}), s.tensor({2}, tw::int32), 0, n);
    });
    list.narrow("sparse_accumulate_.axis", list.from(-1, 0), [](auto& s, auto n) {
      return ops::sparse_accumulate_(s.tensor({3}), s.tensor({2}), s.tensor({2}, tw::int32), static_cast<int>(n));
    });
  }
  static constexpr void handles(auto& list) {
    list.add("sparse_accumulate_", [] { (void)ops::sparse_accumulate_(Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
