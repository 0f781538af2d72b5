// labels: none
// What the planner makes of slices, concats and splits.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "../programs/models.hpp"
#include "tilewright/lower/verify.hpp"

namespace {

using support::load, support::store;
using tw::all, tw::ellipsis, tw::Ir, tw::none, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

// ---- plans: steps, and barriers between them
struct Counts {
  std::size_t steps = 0, barriers = 0;
  std::int64_t frame = 0;
  constexpr bool operator==(const Counts&) const = default;
};
constexpr Counts counts_of(auto build, const tw::Target& target = tw::cpu.with_tiles(4)) {
  const tw::Plan plan = tw::internal::lower_checked(support::prepared(build, target));
  Counts counts{.steps = plan.steps.size(), .frame = plan.memory.frame};
  for (const auto& step : plan.steps) counts.barriers += step.barrier_before;
  return counts;
}

constexpr auto sum_of_slice = [](Ir& ir) {
  store("y", load(ir, "x", {64, 64})[{tw::slice(none, none, -2), tw::slice(1, 50, 3)}].sum(1));
};
static_assert(counts_of(sum_of_slice) == Counts{1, 0, 0}, "a slice that is summed is no copy");
constexpr auto product_of_slices = [](Ir& ir) {
  const auto [a, b] = ops::split<2>(load(ir, "x", {64, 128}), 1);
  store("y", a.matmul(b));
};
static_assert(counts_of(product_of_slices, tw::cpu.with_tiles(1)) == Counts{1, 0, 0}, "nor are the factors of a product");

template <int axis>
constexpr auto concat_of_eight = [](Ir& ir) {
  tw::List<Tensor> parts;
  for (int i = 0; i < 8; ++i) parts.push_back(support::variable(ir, tw::text("part", i).view(), {512, 512}));
  store("y", ops::exp(ops::concat({parts.data(), parts.size()}, axis)));
};
static_assert(counts_of(concat_of_eight<0>) == Counts{9, 1, 4 * 8 * 512 * 512});
static_assert(counts_of(concat_of_eight<1>) == Counts{9, 1, 4 * 8 * 512 * 512}, "copies to other columns wait for nothing");
constexpr auto concat_of_made = [](Ir& ir) {
  const Tensor a = load(ir, "a", {512, 512}), b = load(ir, "b", {512, 512});
  store("y", ops::concat({ops::exp(a), ops::tanh(b)}, 1).T());
};
static_assert(counts_of(concat_of_made) == Counts{3, 1, 4 * 2 * 512 * 512}, "what is made is written to its place");

constexpr auto concat_of_200 = [](Ir& ir) {
  tw::List<Tensor> parts;
  for (int i = 0; i < 200; ++i) parts.push_back(support::variable(ir, tw::text("part", i).view(), {2, 3}));
  store("y", ops::concat({parts.data(), parts.size()}, -1));
};
static_assert(counts_of(concat_of_200).steps < 20);
constexpr auto gradient_of_split = [](Ir& ir) {
  const auto twice_each = [](Tensor x) {
    tw::List<Tensor> parts = ops::split(x, 100);
    for (Tensor& part : parts) part = part * 2;
    return ops::concat({parts.data(), parts.size()});
  };
  const Tensor x = support::variable(ir, "x", {100, 2048});
  const tw::Graph graph = ir.create_graph(twice_each, x);
  const auto call = tw::call_with_info(graph, x);
  const auto gradient = tw::autodiff(graph);
  store("dx", tw::call(gradient.graph(), x, gradient.inputs_dict(call))[0]);
};
static_assert(counts_of(gradient_of_split).frame == 4 * 100 * 2048, "one concat, of products that are written to their places");

constexpr auto gradient_ops = [](auto function, const Shape& shape) {
  Ir ir;
  const tw::Graph graph = ir.create_graph(function, TensorSpec{shape, tw::float32});
  Text names;
  for (const tw::Node& node : ir.tables.record(tw::autodiff(graph).graph().id()).nodes) names += tw::text(node.op->name, " ");
  return names;
};
TW_SAME(gradient_ops([](Tensor x) { return x[tw::slice(0, 2)] + x[tw::slice(2, 4)]; }, Shape{4, 2}), "Concat ");
TW_SAME(gradient_ops([](Tensor x) { return x[1] + x[3]; }, Shape{4, 2}), "Expand Reshape Expand Reshape Concat ",
        "rows that nobody read get 0");
TW_SAME(gradient_ops([](Tensor x) { return ops::subsample(x, {1, 2}) + x[{all, tw::slice(1, none, 2)}]; }, Shape{4, 6}),
        "Reshape Reshape Concat Reshape ");
TW_SAME(gradient_ops([](Tensor x) { return x[{tw::slice(1, 2), 0}]; }, Shape{4, 2}), "SliceGrad ");

// ---- barriers: columns of the same rows are different memory
using tw::internal::detail::Access, tw::internal::detail::conflict;
constexpr Access columns(std::int64_t first, std::int64_t count, std::int64_t period = 64) {
  return {.from = {.offset = first}, .bytes = 9 * period + count, .writes = true, .period = period, .width = count};
}
static_assert(conflict(columns(0, 16), columns(12, 16)) && conflict(columns(12, 16), columns(0, 16)));
static_assert(!conflict(columns(0, 16), columns(16, 16)) && !conflict(columns(48, 16), columns(0, 48)));
static_assert(conflict(columns(56, 16), columns(0, 16)), "columns of the next row");
static_assert(conflict(columns(0, 16), columns(16, 16, 32)), "other rows");
static_assert(!conflict(columns(3 * 64, 16), columns(16, 16)) && conflict(columns(3 * 64 + 8, 16), columns(16, 16)));

}  // namespace
