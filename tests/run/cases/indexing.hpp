#pragma once
// The cases of tests/reference/ops_indexing.txt.
#include <array>

#include "op_case.hpp"

namespace op_cases {

using tw::DType, tw::ScatterReduceOptions, tw::ScatterReduction;

constexpr TensorSpec u32(std::initializer_list<std::int64_t> shape) { return {shape, tw::uint32}; }
constexpr TensorSpec spec_of(DType dtype, std::initializer_list<std::int64_t> shape) { return {shape, dtype}; }

constexpr auto take(int axis = 0) {
  return [axis](Tensor t, Tensor i) { return ops::gather(t, i, axis); };
}
constexpr void gathers(Ir& ir) {
  differentiable(ir, "gather", take(), f32({7, 5}), i32({4}));
  differentiable(ir, "gather_repeated", take(), f32({7, 19}), u32({2, 3}));
  differentiable(ir, "gather_one", take(), f32({5, 3}), i32({}));
  differentiable(ir, "gather_vector", take(), f32({9}), i32({2, 2}));
  differentiable(ir, "gather_last", take(-1), f32({3, 7}), i32({5}));
  differentiable(ir, "gather_middle", take(1), f32({2, 7, 3}), i32({2, 2}));
  differentiable(ir, "gather_wide", take(), f32({3, 520}), i32({4}));
  differentiable(
      ir, "gather_zero_oor", [](Tensor t, Tensor i) { return ops::gather(t, i, 0, {.zero_OOR = true}); }, f32({5, 3}), i32({5}));
  differentiable(ir, "gather_transposed", [](Tensor t, Tensor i) { return ops::gather(t.T(), i); }, f32({3, 7}), i32({4}));
  differentiable(
      ir, "gather_expanded", [](Tensor t, Tensor i) { return ops::gather(ops::expand(t, {7, 3}), i.T()); }, f32({3}),
      i32({2, 3}));
  differentiable(ir, "tied_gather", [](Tensor t, Tensor i) { return ops::tied_gather(t, i); }, f32({7, 5}), i32({2, 2}));
  differentiable(ir, "gather_many", take(), f32({40, 3}), i32({70}));
  const auto grouped = [](int axis) { return [axis](Tensor t, Tensor i) { return ops::groupedgather(t, i, axis, 2); }; };
  differentiable(ir, "groupedgather", grouped(1), f32({2, 7, 3}), i32({2, 4}));
  differentiable(ir, "groupedgather_last", grouped(-1), f32({2, 3, 7}), u32({2, 2, 2}));
}

constexpr auto scatter_along(int axis = 0) {
  return [axis](Tensor t, Tensor i, Tensor v) { return ops::scatter(t, i, v, axis); };
}
/// A reduction, from initial values if the case has them.
constexpr auto reduced(ScatterReduction reduction, ScatterReduceOptions options = {}, int group_size = 1) {
  return [=](Tensor data, Tensor i, auto... initial) {
    auto all = options;
    if constexpr (sizeof...(initial) == 1) (all.initial_values.emplace(initial), ...);
    if (group_size == 1) return ops::scatter_reduce(data, i, reduction, all);
    return ops::grouped_scatter_reduce(data, i, reduction, group_size, all);
  };
}
constexpr void scatters(Ir& ir) {
  using enum ScatterReduction;
  differentiable(ir, "scatter", scatter_along(), f32({5, 4}), i32({3, 4}), f32({3, 4}));
  differentiable(ir, "scatter_last", scatter_along(-1), f32({2, 3, 9}), u32({2, 3, 4}), f32({2, 3, 4}));
  differentiable(ir, "scatter_rows", scatter_along(), f32({7, 4}), i32({3}), f32({3, 4}));
  differentiable(ir, "scatter_vector", scatter_along(), f32({20}), i32({17}), f32({17}));
  differentiable(ir, "scatter_part", scatter_along(1), f32({3, 5}), i32({2, 3}), f32({3, 4}));
  forward(ir, "scatter_repeated", scatter_along(), f32({4, 3}), i32({5}), f32({5, 3}));

  differentiable(ir, "scatter_sum", reduced(sum, {.axis_size = 4}), f32({6, 5}), i32({6}));
  differentiable(ir, "scatter_sum_elements", reduced(sum, {.axis = 1, .axis_size = 4}), f32({3, 6}), i32({3, 6}));
  differentiable(ir, "scatter_sum_initial", reduced(sum), f32({6, 3}), i32({6}), f32({4, 3}));
  differentiable(ir, "scatter_sum_long", reduced(sum, {.axis_size = 3}), f32({50}), u32({50}));
  differentiable(ir, "scatter_sum_one_axis", reduced(sum, {.axis = -2, .axis_size = 5}), f32({2, 4, 3}), i32({4}));
  differentiable(ir, "scatter_none", reduced(none, {.axis_size = 9}), f32({4, 3}), i32({4}));
  differentiable(ir, "scatter_none_initial", reduced(none), f32({4, 3}), i32({4}), f32({9, 3}));
  differentiable(ir, "scatter_grouped", reduced(sum, {.axis = 1, .axis_size = 5}, 2), f32({2, 4, 3}), i32({2, 4}));
  differentiable(ir, "scatter_sum_part", reduced(sum, {.enable_index_broadcast = false}), f32({3, 4}), i32({2, 3}), f32({5, 4}));
}
constexpr void scattered_extremes(Ir& ir) {
  using enum ScatterReduction;
  differentiable(ir, "scatter_max", reduced(max, {.axis_size = 4}), f32({6, 5}), i32({6}));
  differentiable(ir, "scatter_max_initial", reduced(max, {.axis = 1}), f32({3, 6}), i32({3, 6}), f32({3, 4}));
  differentiable(ir, "scatter_min", reduced(min, {.axis_size = 4}), f32({6, 5}), i32({6}));
  differentiable(ir, "scatter_min_initial", reduced(min), f32({6, 3}), i32({6}), f32({4, 3}));
  differentiable(ir, "scatter_grouped_max", reduced(max, {.axis = 2, .axis_size = 5}, 2), f32({2, 3, 4}), i32({2, 4}));
}
/// Of equal elements each has a part of the gradient, which small steps would change.
constexpr void scattered_ties(Ir& ir) {
  using enum ScatterReduction;
  differentiable(ir, "scatter_max_ties", reduced(max, {.axis_size = 4}), f32({9, 5}), i32({9}));
  differentiable(ir, "scatter_min_ties", reduced(min, {.axis = 1, .axis_size = 3}), f32({4, 7}), i32({4, 7}));
  differentiable(ir, "scatter_max_ties_initial", reduced(max), f32({9, 5}), i32({9}), f32({4, 5}));
  differentiable(ir, "scatter_min_ties_initial", reduced(min, {.axis = 1}), f32({3, 8}), i32({3, 8}), f32({3, 4}));
  differentiable(ir, "scatter_grouped_max_ties", reduced(max, {.axis = 1, .axis_size = 3}, 2), f32({2, 6, 3}), i32({2, 6}));
}
constexpr void indexed_slices(Ir& ir) {
  const auto slice = [](Shape axes, Shape sizes) {
    return [=](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, axes, sizes); };
  };
  const auto update = [](Shape axes, Shape sizes) {
    return [=](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, axes, sizes); };
  };
  differentiable(ir, "dynamic_slice", slice({0}, {3}), f32({10, 4}), i32({1}));
  differentiable(ir, "dynamic_slice_two", slice({2, 0}, {3, 2}), f32({4, 3, 7}), u32({2}));
  differentiable(ir, "dynamic_slice_end", slice({-1}, {17}), f32({2, 40}), i32({1}));
  differentiable(
      ir, "dynamic_slice_transposed", [](Tensor t, Tensor i) { return ops::dynamic_slice(t.T(), i, {0}, {3}); }, f32({4, 10}),
      i32({1}));
  differentiable(ir, "dynamic_update", update({0}, {3}), f32({10, 4}), i32({1}), f32({3, 4}));
  differentiable(ir, "dynamic_update_two", update({2, 0}, {3, 2}), f32({4, 3, 7}), u32({2}), f32({2, 3, 3}));
  differentiable(ir, "dynamic_update_columns", update({1}, {9}), f32({5, 40}), i32({1}), f32({5, 9}));

  const auto one_hot = [](int classes, int axis = -1) {
    return [=](Tensor t, Tensor values) { return ops::onehot(t, classes, values, axis); };
  };
  differentiable(ir, "onehot", one_hot(5), i32({7}), f32({2}));
  differentiable(ir, "onehot_first", one_hot(5, 0), i32({2, 3}), f32({2}));
  differentiable(
      ir, "onehot_long", [](Tensor t, Tensor values) { return ops::onehot(t, t.ir().constant(70, tw::int32), values); },
      u32({2, 3}), f32({2}));
}

/// Results that are exact in all dtypes.
constexpr void indexed_dtypes(Ir& ir) {
  using enum ScatterReduction;
  const auto moves = [&ir](std::string_view name, DType dtype) {
    forward(ir, tw::text("gather_", name).view(), take(), spec_of(dtype, {5, 3}), i32({4}));
    forward(ir, tw::text("scatter_", name).view(), scatter_along(), spec_of(dtype, {5, 3}), i32({2}), spec_of(dtype, {2, 3}));
  };
  moves("bool", tw::boolean);
  moves("int8", tw::int8);
  moves("int16", tw::int16);
  moves("int32", tw::int32);
  moves("int64", tw::int64);
  moves("uint8", tw::uint8);
  moves("uint16", tw::uint16);
  moves("uint32", tw::uint32);
  moves("uint64", tw::uint64);
  moves("float16", tw::float16);
  moves("float64", tw::float64);
  const auto by = [&ir](std::string_view name, DType dtype) {
    forward(ir, tw::text("gather_by_", name).view(), take(), f32({5, 3}), spec_of(dtype, {4}));
  };
  by("int16", tw::int16);
  by("uint16", tw::uint16);
  by("uint64", tw::uint64);
  by("int8", tw::int8);
  by("uint8", tw::uint8);
  by("uint32", tw::uint32);
  by("int64", tw::int64);

  forward(
      ir, "dynamic_slice_bool", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {0}, {3}); }, spec_of(tw::boolean, {8}),
      i32({1}));
  forward(
      ir, "dynamic_update_int64", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {0}, {3}); },
      spec_of(tw::int64, {8, 3}), i32({1}), spec_of(tw::int64, {3, 3}));
  forward(
      ir, "dynamic_slice_float16", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {1}, {5}); }, f16({3, 8}),
      spec_of(tw::int64, {1}));
  forward(
      ir, "dynamic_update_inplace", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update_(t, i, u, {0, 1}, {2, 3}); },
      f32({5, 6}), i32({2}), f32({2, 3}));
  forward(ir, "onehot_int32", [](Tensor t, Tensor v) { return ops::onehot(t, 3, v); }, i32({4}), i32({2}));
  forward(ir, "onehot_bool", [](Tensor t, Tensor v) { return ops::onehot(t, 3, v, 1); }, i32({4, 2}), spec_of(tw::boolean, {2}));
  forward(ir, "onehot_float16", [](Tensor t, Tensor v) { return ops::onehot(t, 20, v); }, i32({4}), f16({2}));

  forward(ir, "scatter_sum_int64", reduced(sum, {.axis_size = 4}), spec_of(tw::int64, {6, 2}), i32({6}));
  forward(ir, "scatter_max_int32", reduced(max, {.axis_size = 4}), i32({6, 2}), i32({6}));
  forward(ir, "scatter_min_uint8", reduced(min, {.axis_size = 4}), spec_of(tw::uint8, {6, 2}), i32({6}));
  forward(ir, "scatter_max_nan", reduced(max, {.axis_size = 3}), f32({5, 3}), i32({5}));
  forward(ir, "scatter_min_nan", reduced(min), f32({5, 3}), i32({5}), f32({3, 3}));
  forward(ir, "scatter_max_float16", reduced(max, {.axis_size = 4}), f16({6, 19}), i32({6}));
  forward(ir, "scatter_sum_float16", reduced(sum, {.axis_size = 4}), f16({6, 19}), i32({6}));
  forward(ir, "scatter_sum_float64", reduced(sum, {.axis_size = 4}), spec_of(tw::float64, {6, 19}), i32({6}));
  for (const DType dtype : {tw::int8, tw::int16, tw::uint16, tw::uint32, tw::uint64}) {
    forward(
        ir, tw::text("scatter_", tw::to_text(dtype), "_reduced").view(),
        [](Tensor x, Tensor i) {
          return std::array{reduced(sum, {.axis_size = 3})(x, i), reduced(max, {.axis_size = 3})(x, i),
                            reduced(min, {.axis_size = 3})(x, i)};
        },
        spec_of(dtype, {7, 3}), i32({7}));
  }
  const auto four = [](Tensor t, Tensor v) { return ops::onehot(t, 4, v); };
  for (const DType dtype : {tw::int8, tw::int16, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
    forward(ir, tw::text("onehot_by_", tw::to_text(dtype)).view(), four, spec_of(dtype, {5}), f32({2}));
  for (const DType dtype : {tw::boolean, tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64,
                            tw::float16, tw::float64}) {
    forward(
        ir, tw::text("dynamic_", tw::to_text(dtype)).view(),
        [](Tensor t, Tensor i, Tensor u) {
          return std::array{ops::dynamic_slice(t, i, {0, 1}, {3, 2}), ops::dynamic_update(t, i, u, {0, 1}, {3, 2})};
        },
        spec_of(dtype, {8, 3}), i32({2}), spec_of(dtype, {3, 2}));
    forward(ir, tw::text("onehot_of_", tw::to_text(dtype)).view(), four, i32({5}), spec_of(dtype, {2}));
  }
  forward(ir, "scatter_none_bool", reduced(none, {.axis_size = 5}), spec_of(tw::boolean, {4, 3}), i32({4}));
}
/// Each op that has a gradient, in double or half precision.
constexpr void indexed_gradients(Ir& ir, std::string_view kind, DType dtype) {
  using enum ScatterReduction;
  const auto of = [dtype](std::initializer_list<std::int64_t> shape) { return spec_of(dtype, shape); };
  const auto test = [&](std::string_view name, auto op, const auto&... inputs) {
    differentiable(ir, tw::text(kind, "_", name).view(), op, inputs...);
  };
  test("gather", take(), of({7, 19}), i32({2, 3}));
  test("groupedgather", [](Tensor t, Tensor i) { return ops::groupedgather(t, i, 1, 2); }, of({2, 7, 3}), i32({2, 4}));
  test("tied_gather", [](Tensor t, Tensor i) { return ops::tied_gather(t, i, 1); }, of({2, 7}), i32({5}));
  test("scatter", scatter_along(-1), of({2, 3, 9}), u32({2, 3, 4}), of({2, 3, 4}));
  test("scatter_sum", reduced(sum), of({6, 3}), i32({6}), of({4, 3}));
  test("scatter_max", reduced(max, {.axis = 1}), of({3, 6}), i32({3, 6}), of({3, 4}));
  test("scatter_min", reduced(min, {.axis_size = 4}), of({6, 5}), i32({6}));
  test("dynamic_slice", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {2, 0}, {3, 2}); }, of({4, 3, 7}), i32({2}));
  test(
      "dynamic_update", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {1}, {9}); }, of({5, 40}),
      i32({1}), of({5, 9}));
  test("onehot", [](Tensor t, Tensor values) { return ops::onehot(t, 5, values, 0); }, i32({2, 3}), of({2}));
}
constexpr void indexed_doubles(Ir& ir) { indexed_gradients(ir, "double", tw::float64); }
constexpr void indexed_halves(Ir& ir) { indexed_gradients(ir, "half", tw::float16); }

constexpr void sparse_accumulations(Ir& ir) {
  const auto accumulate = [](int axis, const tw::NumberOrTensor& f) {
    return [=](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x, i, axis, f); };
  };
  forward(ir, "sparse_accumulate", accumulate(0, 1), f32({7, 19}), f32({2, 3, 19}), i32({2, 3}));
  forward(ir, "sparse_accumulate_factor", accumulate(-1, 0.5), f32({3, 7}), f32({3, 4}), i32({4}));
  forward(
      ir, "sparse_accumulate_tensor",
      [](Tensor t, Tensor x, Tensor i, Tensor f) { return ops::sparse_accumulate_(t, x, i, 0, f, t); }, f32({7, 3}), f32({9, 3}),
      u32({9}), f32({}));
  forward(ir, "double_sparse_accumulate", accumulate(-1, 0.5), spec_of(tw::float64, {3, 7}), spec_of(tw::float64, {3, 4}),
          i32({4}));
  forward(ir, "sparse_accumulate_of_half", accumulate(0, 1), f32({7, 19}), f16({4, 19}), i32({4}));
  forward(ir, "sparse_accumulate_float16", accumulate(0, 0.5), f16({7, 19}), f32({4, 19}), i32({4}));
}

/// Three steps of training: an embedding, the mean of three of its rows, and a product.
constexpr void embedding(Ir& ir) {
  const Case test(ir, "embedding");
  const auto loss = [](Tensor table, Tensor weight, Tensor tokens, Tensor labels) {
    return ops::cross_entropy(ops::mean(ops::gather(table, tokens), 1).matmul(weight), labels);
  };
  const tw::Graph graph = ir.create_graph(loss, f32({20, 6}), f32({6, 4}), i32({8, 3}), i32({8}));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const Tensor table = test.variable("x", 0, f32({20, 6})), weight = test.variable("x", 1, f32({6, 4})),
               tokens = test.variable("x", 2, i32({8, 3})), labels = test.variable("x", 3, i32({8}));
  Tensor last;
  for (int step = 0; step < 3; ++step) {
    const auto call = tw::call_with_info(graph, std::vector<Tensor>{table, weight, tokens, labels});
    const auto gradient_call = tw::call_with_info(gradient.graph(), ir.constant(1.0), gradient.inputs_dict(call));
    const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
    ops::scaled_add_(table, *gradients.find(graph.inputs()[0]), {.b = -0.5});
    ops::scaled_add_(weight, *gradients.find(graph.inputs()[1]), {.b = -0.5});
    last = call.output(0);
  }
  test.store("y", 0, table);
  test.store("y", 1, weight);
  test.store("y", 2, last);
}

/// One case of each kind of work, for machines on which it is cut in other ways.
constexpr void some_indexing(Ir& ir) {
  using enum ScatterReduction;
  differentiable(ir, "gather_middle", take(1), f32({2, 7, 3}), i32({2, 2}));
  differentiable(ir, "gather_many", take(), f32({40, 3}), i32({70}));
  differentiable(ir, "gather_wide", take(), f32({3, 520}), i32({4}));
  differentiable(
      ir, "groupedgather", [](Tensor t, Tensor i) { return ops::groupedgather(t, i, 1, 2); }, f32({2, 7, 3}), i32({2, 4}));
  differentiable(ir, "scatter_part", scatter_along(1), f32({3, 5}), i32({2, 3}), f32({3, 4}));
  differentiable(ir, "scatter_vector", scatter_along(), f32({20}), i32({17}), f32({17}));
  differentiable(ir, "scatter_max_initial", reduced(max, {.axis = 1}), f32({3, 6}), i32({3, 6}), f32({3, 4}));
  forward(ir, "scatter_repeated", scatter_along(), f32({4, 3}), i32({5}), f32({5, 3}));
  differentiable(
      ir, "dynamic_slice_two", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {2, 0}, {3, 2}); }, f32({4, 3, 7}),
      u32({2}));
  differentiable(
      ir, "dynamic_update_columns", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {1}, {9}); },
      f32({5, 40}), i32({1}), f32({5, 9}));
  differentiable(ir, "onehot_first", [](Tensor t, Tensor values) { return ops::onehot(t, 5, values, 0); }, i32({2, 3}), f32({2}));
  forward(
      ir, "sparse_accumulate", [](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x, i); }, f32({7, 19}),
      f32({2, 3, 19}), i32({2, 3}));
}

}  // namespace op_cases
