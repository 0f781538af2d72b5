// labels: none
// Deprecated options of ops with indices, and plans of large tables.
#include "../../support/op_results.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text, tw::ScatterReduction;
namespace ops = tw::ops;
using namespace op_results;

// ---- gather: numpy.take
constexpr auto gather(int axis = 0, tw::GatherOptions options = {}) {
  return [=](Tensor t, Tensor indices) { return ops::gather(t, indices, axis, options); };
}
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
