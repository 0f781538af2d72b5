// labels: none
// Shapes, dtypes and errors of ops with indices that are known in the run.
#include "../../support/op_results.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text, tw::ScatterReduction;
namespace ops = tw::ops;
using namespace op_results;

constexpr TensorSpec of(DType dtype, auto... extents) { return {{extents...}, dtype}; }

// ---- gather: numpy.take
constexpr auto gather(int axis = 0, tw::GatherOptions options = {}) {
  return [=](Tensor t, Tensor indices) { return ops::gather(t, indices, axis, options); };
}
constexpr auto grouped(int axis, int group_size) {
  return [=](Tensor t, Tensor indices) { return ops::groupedgather(t, indices, axis, group_size); };
}
static_assert(result(gather(), f32(10, 4), i32(3)) == f32(3, 4));
static_assert(result(gather(), f32(10, 4), i32()) == f32(4));
static_assert(result(gather(-1), f16(2, 10, 4), of(tw::uint32, 3, 5)) == f16(2, 10, 3, 5));
static_assert(result(gather(1), of(tw::boolean, 2, 10, 4), of(tw::int64, 1)) == of(tw::boolean, 2, 1, 4));
static_assert(result(grouped(1, 2), f32(2, 10, 4), i32(2, 3)) == f32(2, 3, 4));
static_assert(result(grouped(2, 2), f32(2, 10, 4), i32(2, 3, 5)) == f32(2, 10, 3, 5));
static_assert(result(grouped(0, 1), f32(2, 10), i32(2, 3)) == f32(2, 3, 10));
TW_SAME(failure(gather(), f32(10, 4), f32(3)), "Gather: indices (3,) float32: integers expected, in graph");
TW_SAME(failure(gather(2), f32(10, 4), i32(3)), "Gather: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure(gather(), f32(2, 2, 2, 2), i32(1, 1, 1, 1)),
        "Gather: (2, 2, 2, 2) float32 at indices (1, 1, 1, 1) int32, a result of 7 axes: at most 6 axes expected, in graph");
/// The line of an op in a printed graph.
constexpr Text schedule(auto function, const auto&... specs) {
  Ir ir;
  const Text all = tw::print_schedule(ir.create_graph(function, specs...));
  return all.view().substr(all.view().find("\n    ") + 5, all.view().rfind("\n  }") - all.view().find("\n    ") - 5);
}
// Deprecated options: printed graphs show them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TW_SAME(failure(gather(0, {.available_memory_proportion = 2}), f32(4), i32(1)),
        "Gather: available_memory_proportion 2: a number from 0 to 1 expected, in graph");
TW_SAME(schedule(gather(0, {.available_memory_proportion = 0.25}), f32(4), i32(1)),
        "Gather.100 (%1 [(4,) float32], %2 [(1,) int32]) -> (%3 [(1,) float32]) {available_memory_proportion=0.25}");
TW_SAME(schedule(gather(), f32(4), i32(1)), "Gather.100 (%1 [(4,) float32], %2 [(1,) int32]) -> (%3 [(1,) float32])");
TW_SAME(schedule([](Tensor t, Tensor i, Tensor v) { return ops::scatter(t, i, v, 0, {.available_memory_proportion = 1}); },
                 f32(4), i32(1), f32(1)),
        "Scatter.100 (%3 [(1,) float32], %2 [(1,) int32], %1 [(4,) float32]) -> (%4 [(4,) float32]) "
        "{available_memory_proportion=1}");
TW_SAME(failure(
            [](Tensor x, Tensor i) {
              return ops::scatter_reduce(x, i, tw::ScatterReduction::sum, {.axis_size = 9, .available_memory_proportion = -0.5});
            },
            f32(4), i32(4)),
        "ScatterReduce: available_memory_proportion -0.5: a number from 0 to 1 expected, in graph");
TW_SAME(schedule([](Tensor x) { return ops::topk(x, 2, 0, true, true, 0.5).values; }, f32(4)),
        "TopK.100 (%1 [(4,) float32]) -> (%2 [(2,) float32], %3 [(2,) int32]) {available_memory_proportion=0.5}");
TW_SAME(failure([](Tensor x) { return ops::topk(x, 2, 0, true, true, -0.5).values; }, f32(4)),
        "TopK: available_memory_proportion -0.5: a number from 0 to 1 expected, in graph");
TW_SAME(schedule([](Tensor x, Tensor w) { return ops::conv(x, w, {.enable_conv_dithering = {true}}); }, f32(1, 1, 2),
                 f32(1, 1, 2)),
        "Conv.100 (%1 [(1, 1, 2) float32], %2 [(1, 1, 2) float32]) -> (%3 [(1, 1, 1) float32]) {enable_conv_dithering=true}");
#pragma GCC diagnostic pop
TW_SAME(failure(grouped(0, 2), f32(2, 10), i32(2, 3)),
        "Gather: axis 0 with group_size 2: an axis other than 0, the axis of the groups, expected, in graph");
TW_SAME(failure(grouped(1, 2), f32(3, 10), i32(2, 3)),
        "Gather: (3, 10) float32 and indices (2, 3) int32 with group_size 2: 2 elements along axis 0 of both tensors expected, "
        "in graph");
TW_SAME(failure(grouped(1, 0), f32(3, 10), i32(2, 3)), "Gather: group_size 0: a number above 0 expected, in graph");

// ---- scatter: torch.scatter
constexpr auto scatter(int axis = 0) {
  return [=](Tensor t, Tensor indices, Tensor values) { return ops::scatter(t, indices, values, axis); };
}
static_assert(result(scatter(), f32(10, 4), i32(3, 4), f32(3, 4)) == f32(10, 4));
static_assert(result(scatter(1), f32(10, 4), i32(3, 2), f32(5, 6)) == f32(10, 4));
static_assert(result(scatter(-1), of(tw::boolean, 3, 7), i32(2), of(tw::boolean, 3, 2)) == of(tw::boolean, 3, 7));
TW_SAME(failure(scatter(), f32(10, 4), i32(3, 5), f32(3, 5)),
        "Scatter: data (3, 5) float32 at indices (3, 5) int32 along axis 0 of (10, 4): tensors of one rank, and indices that are "
        "no longer than the data and, along other axes, than the result expected, in graph");
TW_SAME(failure(scatter(), f32(10, 4), i32(3, 4), f16(3, 4)),
        "Scatter: (3, 4) float16 and (10, 4) float32: equal dtypes expected, in graph");
TW_SAME(failure(scatter(2), f32(10, 4), i32(3, 4), f32(3, 4)),
        "Scatter: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure(scatter(), f32(10, 4), f32(3, 4), f32(3, 4)), "Scatter: indices (3, 4) float32: integers expected, in graph");

// ---- scatter_reduce
constexpr auto reduce(ScatterReduction reduction, tw::ScatterReduceOptions options, int group_size = 1) {
  return [=](Tensor data, Tensor indices, auto... initial) {
    auto all = options;
    if constexpr (sizeof...(initial) == 1) (all.initial_values.emplace(initial), ...);
    return ops::grouped_scatter_reduce(data, indices, reduction, group_size, all);
  };
}
constexpr auto sum = ScatterReduction::sum;
static_assert(result(reduce(sum, {.axis_size = 10}), f32(3, 4), i32(3)) == f32(10, 4));
static_assert(result(reduce(sum, {.axis = -1, .axis_size = 2}), f32(3, 4), i32(3, 4)) == f32(3, 2));
static_assert(result(reduce(sum, {.axis = 1, .axis_size = 2}), f32(3, 4), i32(1, 4)) == f32(3, 2));
static_assert(result(reduce(sum, {.axis = 1, .axis_size = 9}, 2), f32(2, 4, 5), i32(2, 4)) == f32(2, 9, 5));
static_assert(result(reduce(sum, {.axis_size = 9, .enable_index_broadcast = false}), f32(4, 5), i32(2, 3)) == f32(9, 5));
static_assert(result(reduce(ScatterReduction::max, {}), i32(3, 4), i32(3), i32(10, 4)) == i32(10, 4));
TW_SAME(failure(reduce(sum, {}), f32(3, 4), i32(3)),
        "ScatterReduce: neither initial_values nor axis_size: one of them expected, in graph");
TW_SAME(failure(reduce(sum, {.axis_size = 5}), f32(3, 4), i32(3), f32(10, 4)),
        "ScatterReduce: axis_size 5 with initial_values (10, 4) float32: 10 expected, in graph");
TW_SAME(failure(reduce(sum, {.axis_size = 0}), f32(3, 4), i32(3)),
        "ScatterReduce: axis_size 0: a number above 0 expected, in graph");
TW_SAME(failure(reduce(sum, {.axis_size = 5}), f32(3, 4), i32(3, 1, 1)),
        "ScatterReduce: indices (3, 1, 1) int32 for data (3, 4) float32 along axis 0: the data's shape, or one index for each "
        "place along the axis, expected, in graph");
TW_SAME(failure(reduce(sum, {}), f32(3, 4), i32(3), f32(10, 5)),
        "ScatterReduce: data (3, 4) float32 at indices (3,) int32 along axis 0 of (10, 5): indices of the data's shape, or one "
        "for each place along the axis, expected, in graph");
TW_SAME(failure(reduce(sum, {.axis_size = 5}), of(tw::boolean, 3), i32(3)),
        "ScatterReduce: (3,) bool: numbers, or a reduction that is none, expected, in graph");
TW_SAME(failure(reduce(sum, {.axis = 3, .axis_size = 5}), f32(3), i32(3)),
        "ScatterReduce: axis 3 of a tensor of rank 1: an axis from -1 to 0 expected, in graph");
TW_SAME(failure(reduce(sum, {.axis = 0, .axis_size = 5}, 3), f32(3, 4), i32(3, 4)),
        "ScatterReduce: (3, 4) float32 along axis 0 with group_size 3: 3 elements along axis 0, and another axis than 0, "
        "expected, in graph");

// ---- sparse_accumulate_
constexpr auto accumulate = [](Tensor t, Tensor x, Tensor indices, auto... w) {
  return ops::sparse_accumulate_(t, x, indices, 0, 0.5, w...);
};
static_assert(result(accumulate, f32(10, 4), f16(2, 3, 4), i32(2, 3)) == f32(10, 4));
TW_SAME(failure(accumulate, f32(10, 4), f32(3, 5), i32(3)),
        "SparseAccumulate: (3, 5) float32 to (10, 4) float32 at indices (3,) int32: the shape of a gather from (10, 4) float32 "
        "expected, in "
        "graph");
TW_SAME(failure(accumulate, i32(10, 4), i32(3, 4), i32(3)),
        "SparseAccumulate: (10, 4) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(accumulate, f32(10, 4), f32(3, 4), i32(3), f32(4, 4)),
        "SparseAccumulate: W (4, 4) float32 for (10, 4) float32: equal shapes expected, in graph");

// ---- slices with starts that are tensors
constexpr auto dynamic_slice(Shape axes, Shape sizes) {
  return [=](Tensor t, Tensor index) { return ops::dynamic_slice(t, index, axes, sizes); };
}
constexpr auto dynamic_update(Shape axes, Shape sizes) {
  return [=](Tensor t, Tensor index, Tensor update) { return ops::dynamic_update(t, index, update, axes, sizes); };
}
static_assert(result(dynamic_slice({0}, {3}), f32(10, 4), i32(1)) == f32(3, 4));
static_assert(result(dynamic_slice({-1, 0}, {3, 2}), f32(10, 4), of(tw::uint32, 2)) == f32(2, 3));
static_assert(result(dynamic_update({1}, {3}), f32(10, 4), i32(1), f32(10, 3)) == f32(10, 4));
TW_SAME(failure(dynamic_slice({0, 1}, {3}), f32(10, 4), i32(2)),
        "DynamicSlice: axes (0, 1) and sizes (3,): as many sizes as axes expected, in graph");
TW_SAME(failure(dynamic_slice({2}, {3}), f32(10, 4), i32(1)),
        "DynamicSlice: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure(dynamic_slice({0, -2}, {3, 3}), f32(10, 4), i32(2)),
        "DynamicSlice: axis -2 twice: distinct axes expected, in graph");
TW_SAME(failure(dynamic_slice({1}, {5}), f32(10, 4), i32(1)),
        "DynamicSlice: size 5 along axis 1 of (10, 4) float32: a size from 1 to 4 expected, in graph");
TW_SAME(failure(dynamic_slice({1}, {3}), f32(10, 4), i32(2)),
        "DynamicSlice: index (2,) int32 for 1 axes: integers of shape (1,) expected, in graph");
TW_SAME(failure(dynamic_slice({1}, {3}), f32(10, 4), f32(1)),
        "DynamicSlice: index (1,) float32 for 1 axes: integers of shape (1,) expected, in graph");
TW_SAME(failure(dynamic_update({1}, {3}), f32(10, 4), i32(1), f32(10, 4)),
        "DynamicUpdate: t_update (10, 4) float32 for a slice of (10, 4) float32: (10, 3) expected, in graph");
TW_SAME(failure(dynamic_update({1}, {3}), f32(10, 4), i32(1), f16(10, 3)),
        "DynamicUpdate: (10, 4) float32 and (10, 3) float16: equal dtypes expected, in graph");

// ---- onehot
constexpr auto onehot(int classes, int axis = -1) {
  return [=](Tensor t, Tensor values) { return ops::onehot(t, classes, values, axis); };
}
static_assert(result(onehot(5), i32(2, 3), f16(2)) == f16(2, 3, 5));
static_assert(result(onehot(5, 0), of(tw::uint32, 2, 3), i32(2)) == i32(5, 2, 3));
static_assert(result(onehot(5, -2), i32(2, 3), f32(2)) == f32(2, 5, 3));
static_assert(result([](Tensor t, Tensor v) { return ops::onehot(t, t.ir().constant(7, tw::int32), v); }, i32(), f32(2)) ==
              f32(7));
TW_SAME(failure([](Tensor t, Tensor v) { return ops::onehot(t, t, v); }, i32(), f32(2)),
        "OneHot: num_classes () int32: a number, or a constant of one, expected, in graph");
TW_SAME(failure(onehot(0), i32(3), f32(2)), "OneHot: num_classes 0: a whole number above 0 expected, in graph");
TW_SAME(failure(onehot(4), i32(3), f32(3)), "OneHot: values (3,) float32: two elements, off and on, expected, in graph");
TW_SAME(failure(onehot(4), f32(3), f32(2)), "OneHot: indices (3,) float32: integers expected, in graph");
TW_SAME(failure(onehot(4, 2), i32(3), f32(2)), "OneHot: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");

// ---- a table that is too large for a tile: its columns are cut, and each vertex has few of them
struct Widest {
  std::int64_t bytes = 0;  ///< of the fullest tile; 0: they are too many
  std::int64_t vertices = 0;  ///< the fewest of a step
};
constexpr Widest planned(auto build, const tw::Target& target = tw::ipu_model) {
  const tw::Plan plan = tw::lower(support::prepared(build, target, tw::OnError::record));
  if (!plan.failure.empty()) return {};
  Widest result{plan.memory.fullest_tile, target.tiles};
  for (const tw::internal::Step& step : plan.steps) result.vertices = std::min(result.vertices, step.vertices);
  return result;
}
template <std::int64_t rows, std::int64_t columns, std::int64_t hits>
constexpr void large_gather(Ir& ir) {
  const Tensor indices = support::load(ir, "indices", {hits}, tw::int32);
  support::store("y", ops::gather(support::variable(ir, "table", {rows, columns}), indices));
}
template <std::int64_t rows, std::int64_t columns, std::int64_t hits>
constexpr void large_gather_gradient(Ir& ir) {
  const tw::Graph graph = ir.create_graph(gather(), f32(rows, columns), i32(hits));
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(
      graph, {support::variable(ir, "table", {rows, columns}), support::load(ir, "indices", {hits}, tw::int32)});
  const Tensor dy = support::load(ir, "dy", {hits, columns});
  support::store("dx", tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).output(0));
}
constexpr Widest gathered = planned(large_gather<32'768, 256, 4096>),
                 its_gradient = planned(large_gather_gradient<32'768, 256, 4096>);
static_assert(gathered.bytes < 32'768 * 4, "a vertex has less than a column of the table");
static_assert(gathered.bytes < tw::ipu_model.bytes_per_tile / 2 && gathered.vertices > 1200);
static_assert(its_gradient.bytes > 0 && its_gradient.bytes < tw::ipu_model.bytes_per_tile / 2 && its_gradient.vertices > 1200);
static_assert(planned(large_gather<400'000, 256, 4096>).bytes > 0, "columns are cut, too");
// A norm of the gathered rows needs whole ones, so it stays a step of its own.
static_assert(planned([](Ir& ir) {
                const Tensor indices = support::load(ir, "indices", {4096}, tw::int32);
                support::store("y", ops::softmax(ops::gather(support::variable(ir, "table", {32'768, 256}), indices)));
              }).bytes < tw::ipu_model.bytes_per_tile / 2);
