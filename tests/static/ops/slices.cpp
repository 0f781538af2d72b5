// labels: none
// Slices, concats and splits: shapes, errors, and what the planner makes of them.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "../programs/models.hpp"
#include "tilewright/lower/verify.hpp"

namespace {

using support::load, support::store;
using tw::all, tw::ellipsis, tw::Ir, tw::none, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

constexpr Shape shape_of(auto function, const Shape& shape) {
  Ir ir;
  return ir.create_graph(function, TensorSpec{shape, tw::float32}).output(0).shape();
}
constexpr Text failure(auto function, const Shape& shape) {
  return support::failure([&](Ir& ir) { ir.create_graph(function, TensorSpec{shape, tw::float32}); });
}

// ---- bounds are NumPy's
constexpr Shape sliced(std::int64_t extent, tw::Position start, tw::Position stop, tw::Position step = {}) {
  return shape_of([=](Tensor x) { return x[tw::slice(start, stop, step)]; }, {extent});
}
static_assert(sliced(10, 2, 5) == Shape{3} && sliced(10, -3, none) == Shape{3} && sliced(10, none, -3) == Shape{7});
static_assert(sliced(10, 1, 100, 4) == Shape{3} && sliced(10, 9, none, 100) == Shape{1});
static_assert(sliced(10, none, none, -1) == Shape{10} && sliced(10, 100, -100, -3) == Shape{4} &&
              sliced(10, 1, none, -1) == Shape{2});
static_assert(sliced(10, none, none, std::numeric_limits<std::int64_t>::min()) == Shape{1});
static_assert(shape_of([](Tensor x) { return x[{0, ellipsis, tw::slice(none, none, 2)}]; }, {2, 3, 4, 5}) == Shape{3, 4, 3});
static_assert(shape_of([](Tensor x) { return x[{ellipsis}][{all, -1}]; }, {2, 3, 4}) == Shape{2, 4});
static_assert(shape_of([](Tensor x) { return x[{1, -1}]; }, {2, 3}) == Shape{});
static_assert(shape_of([](Tensor x) { return x[x.ir().constant({1, 0, 1, 1}, {2, 2}, tw::int32)]; }, {2, 3}) == Shape{2, 2, 3});
static_assert(shape_of([](Tensor x) { return x[x.ir().constant({1, 0, 1}, {3}, tw::boolean)]; }, {2, 3}) == Shape{2, 3});
static_assert(shape_of([](Tensor x) { return ops::slice(x, {}, {}, {}, 1); }, {2, 3}) == Shape{2, 3}, "x itself");
static_assert(shape_of([](Tensor x) { return ops::slice(x, 1, none, none, {-1}); }, {2, 3}) == Shape{2, 2});
static_assert(shape_of([](Tensor x) { return ops::concat({x, x[tw::slice(0, 1)], x}); }, {2, 3}) == Shape{5, 3});

// ---- errors
TW_SAME(failure([](Tensor x) { return x[tw::slice(3, 3)]; }, {8, 4}),
        "Slice: (8, 4) float32, [3:3] along axis 0: at least one element expected, in graph");
TW_SAME(failure([](Tensor x) { return x[{all, tw::slice(none, none, 0)}]; }, {8, 4}),
        "Slice: (8, 4) float32, [::0] along axis 1: a step that is not 0 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::slice(x, {1, 2}, 3); }, {8, 4}),
        "Slice: (8, 4) float32, with 1 and with 2 positions: lists of one length expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::slice(x, 1, none, none, 2); }, {8, 4}),
        "Slice: (8, 4) float32 along axis 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::slice(x, {1, 1}, none, none, {0, -2}); }, {8, 4}),
        "Slice: (8, 4) float32 along axis 0 twice: distinct axes expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::slice(x, {1, 1}, none, none, 0); }, {8, 4}),
        "Slice: (8, 4) float32, with 2 positions along 1 axes: equal numbers of positions and axes expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::slice(x, {1, 1, 1}); }, {8, 4}),
        "Slice: (8, 4) float32, with 3 positions: at most one for each of its 2 axes expected, in graph");
TW_SAME(failure([](Tensor x) { return x[{0, 0, 0}]; }, {8, 4}),
        "Slice: (8, 4) float32 by 3 indices: at most one for each of its 2 axes expected, in graph");
TW_SAME(failure([](Tensor x) { return x[{ellipsis, ellipsis}]; }, {8, 4}),
        "Slice: (8, 4) float32 by 2 ellipses: at most one expected, in graph");
TW_SAME(failure([](Tensor x) { return x[{all, -5}]; }, {8, 4}),
        "Slice: (8, 4) float32, element -5 along axis 1: one from -4 to 3 expected, in graph");
TW_SAME(failure([](Tensor x) { return x[x]; }, {8, 4}),
        "x[...]: Tensor[float32 (8, 4)] as index of Tensor[float32 (8, 4)]: integers, or a mask of bools, expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::subsample(x, {1, 1, 2}); }, {8, 4}),
        "Subsample: (8, 4) float32 by (1, 1, 2): at most a stride for each axis expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::subsample(x, 0); }, {8, 4}),
        "Subsample: (8, 4) float32 by (0,): strides above 0 expected, in graph");
TW_SAME(failure([](Tensor x) { return x.squeeze(1); }, {1, 4}),
        "Squeeze: (1, 4) float32 without axis 1, whose extent is 4: an extent of 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return x.squeeze({0, -2}); }, {1, 4}),
        "Squeeze: (1, 4) float32 without axis -2, which is given twice: distinct axes expected, in graph");
TW_SAME(failure([](Tensor x) { return x.squeeze(2); }, {1, 4}),
        "Squeeze: (1, 4) float32 without axis 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return x.diag(); }, {1, 4, 2}),
        "Diagonal: (1, 4, 2) float32: a matrix or a vector expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::concat({x, x.T()}, 1); }, {3, 4}),
        "Concat: (3, 4) and (4, 3) along axis 1: shapes that are equal but for that axis expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::concat({x, x.cast(tw::int32)}); }, {3, 4}),
        "Concat: (3, 4) float32 and (3, 4) int32: equal dtypes expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::concat({x, x}, 2); }, {3, 4}),
        "Concat: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::concat({x, x}); }, {}),
        "Concat: axis 0 of a scalar: a tensor with axes expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::split(x, 3)[0]; }, {8, 4}),
        "Split: (8, 4) float32 into 3 parts along axis 0: a number that divides 8 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::split(x, {2, 3}, -1)[1]; }, {8, 4}),
        "Split: (8, 4) float32 into parts with the sum 5 along axis 1: the sum 4 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::split(x, {4, 0}, 1)[1]; }, {8, 4}),
        "Split: (8, 4) float32 into parts of 0 along axis 1: extents above 0 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::split<2>(x, 2)[0]; }, {8, 4}),
        "Split: (8, 4) float32 along axis 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::accumulate_(ops::expand(x, {4, 8}), x.ir().constant({0}, {4, 8})); }, {8}),
        "Accumulate: Tensor[float32 (4, 8)], which is a broadcast view of Tensor[float32 (8,)]: a tensor with memory for each "
        "element expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::accumulate_(ops::expand(x, {4, 8})[0], x); }, {8}), "",
        "a row of it repeats nothing: that is a value with memory of its own");
TW_SAME(
    failure([](Tensor x) { return ops::accumulate_(ops::concat_({x, x}), x.ir().constant({0}, {16})); }, {8}),
    "Accumulate: Tensor[float32 (16,)] of ConcatInplace, which is a copy: a tensor that may change in place expected, in graph");

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
