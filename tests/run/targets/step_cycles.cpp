// labels: none
// Cycles of the steps of a plan on tiles, beside the formulas of their vertices.
#include <cstdint>
#include <string_view>

#include "../../catch.hpp"
#include "../../support/programs.hpp"
#include "tilewright/lower/products/product_blocks.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
using std::int64_t;
using tw::float16, tw::float32, tw::gc200_model;

constexpr tw::Target one_tile = tw::gc200.with_tiles(1);

/// A step of a plan by the name of an op in it.
struct FoundStep {
  tw::internal::CycleUse cycles{};
  tw::internal::StepMoves moves{};
  tw::FixedVector<int64_t, tw::max_work_axes> blocks{};
  int stages = 0;
};
FoundStep step_of(auto build, std::string_view name, const tw::Target& target, int number = 0) {
  const tw::Plan plan = support::plan_of(build, target);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].compute_set < 0) continue;
    const auto& set = plan.compute_sets[plan.steps[s].compute_set];
    for (int stage = set.first_stage; stage < set.first_stage + set.stage_count; ++stage)
      if (plan.stages[stage].name == name && number-- == 0)
        return {plan.step_cycles[s], plan.moves[s], set.blocks, set.stage_count};
  }
  return {};
}

// ---- programs

template <int axis>
constexpr void sum_of_square(tw::Ir& ir) {
  support::store("y", tw::ops::sum(support::load(ir, "x", {64, 64}), tw::Axes{axis}));
}
constexpr void sum_of_parts(tw::Ir& ir) {
  support::store("y", support::variable(ir, "x", {32, 8192}).matmul(support::variable(ir, "w", {8192, 64})));
}
constexpr void global_pool(tw::Ir& ir) {
  support::store("y", tw::ops::average_pool(support::load(ir, "x", {1, 8, 6, 6}), {6, 6}));
}
/// An op of a user with windows, for which the library has no rule.
struct WindowSum : tw::SumOp<WindowSum> {
  static constexpr std::string_view name = "WindowSum";
  constexpr operator tw::VertexCost() const { return tw::loop_cost(tw::CostFormula::window, {3, 2}, {3, 4}); }
};
constexpr void window_sum(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", {40, 16});
  support::store("y", tw::apply<WindowSum>({x}, WindowSum::make(tw::Axes{1}, false)));
}
constexpr int64_t large = int64_t{1} << 31;
constexpr void large_pool(tw::Ir& ir) { support::store("y", tw::ops::max_pool(support::load(ir, "x", {1, 1, large + 2}), {3})); }
constexpr void layer_with_gradients(tw::Ir& ir) {
  const tw::Tensor x = support::variable(ir, "x", {32, 512}, float16), w = support::variable(ir, "w", {512, 256}, float16),
                   dy = support::variable(ir, "dy", {32, 256}, float16);
  support::store("y", x.matmul(w));
  support::store("dx", dy.matmul(w.transpose({1, 0})));
  support::store("dw", x.transpose({1, 0}).matmul(dy));
}

// ---- their steps

TEST_CASE("a reduction takes the cycles of the axes that it reduces") {
  // terms are neighbours along axis 1, although the result has as many elements as a line
  CHECK(step_of(sum_of_square<1>, "ReduceSum", one_tile).cycles.compute ==
        tw::vertex_cycles(tw::op_info<tw::ReduceSum>, float32, 64, 64, gc200_model, tw::TermOrder::lines).cycles);
  CHECK(step_of(sum_of_square<0>, "ReduceSum", one_tile).cycles.compute ==
        tw::vertex_cycles(tw::op_info<tw::ReduceSum>, float32, 64, 64, gc200_model, tw::TermOrder::rows).cycles);
}
TEST_CASE("parts of a product are added by poplin's vertex") {
  const FoundStep sum = step_of(sum_of_parts, "ReduceSum", tw::gc200);
  REQUIRE(sum.stages == 1);
  REQUIRE(sum.blocks[0] > 1);
  CHECK(sum.cycles.compute == tw::reduction_stage_cycles(sum.blocks[1] * sum.blocks[2], sum.blocks[0], 4, 4));
}
TEST_CASE("a global pooling is a reduction with its launch") {
  CHECK(step_of(global_pool, "AveragePool", one_tile).cycles.compute ==
        gc200_model.launch_cycles + tw::reduce_lines_cycles(gc200_model, float32, 8, 36));
}
TEST_CASE("windows of a user's op count by their terms") {
  CHECK(step_of(window_sum, "WindowSum", one_tile).cycles.compute ==
        tw::vertex_cycles(tw::op_info<WindowSum>, float32, 40, 16, gc200_model).cycles);
}
TEST_CASE("cuts of images with more elements than 32 bits count") {
  tw::Work work{};
  for (const int64_t extent : {large, large}) work.axes.push_back({.extent = extent});
  work.follows_plus_one[0] = work.follows_plus_one[2] = 0x21;  // rows of a product
  CHECK(tw::internal::detail::set_even_rows(work, 64) == large / 64 * large);
  CHECK(step_of(large_pool, "MaxPool", tw::gc200.with_bytes_per_tile(0)).cycles.compute > large / 1472);
}
TEST_CASE("operands whose terms are not neighbours are transposed") {
  const auto before = [](int product) {
    return step_of(layer_with_gradients, "MatMul", tw::gc200, product).moves.transposed_bytes;
  };
  CHECK(before(0) == 0);  // variables lie as their first product reads them
  CHECK(before(1) == 512);  // of w: each tile has at most one of its blocks
  CHECK(before(2) == 2 * 512);  // of x and dy, whose sum is over the batch
}

}  // namespace
