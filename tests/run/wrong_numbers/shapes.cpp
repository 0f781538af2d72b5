// labels: none
// Wrong numbers as axes, shapes, positions and counts of ops.
#include "../../catch.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;

constexpr Legal axis_of_4{-4, 3}, axis_of_1{-1, 0};

Tensor indices(const Scene& s) { return s.tensor({3}, tw::int32); }
int axis(Whole n) { return static_cast<int>(n); }

const Case axes[] = {
    whole("Tensor::sum.axes", axis_of_4, [](const Scene& s, Whole n) { return s.x.sum({n}); }),
    whole("Tensor::mean.axes", axis_of_4, [](const Scene& s, Whole n) { return s.x.mean({n}); }),
    whole("flip.axes", axis_of_4, [](const Scene& s, Whole n) { return ops::flip(s.x, {n}); }),
    whole("slice.axes", axis_of_4, [](const Scene& s, Whole n) { return ops::slice(s.x, {0}, {1}, {}, {n}); }),
    whole("slice_.axes", axis_of_4, [](const Scene& s, Whole n) { return ops::slice_(s.x, {0}, {1}, {}, {n}); }),
    whole("squeeze.axes", any_outcome, [](const Scene& s, Whole n) { return ops::squeeze(s.tensor({1, 3}), {n}); }),
    whole("Tensor::squeeze.axes", any_outcome, [](const Scene& s, Whole n) { return s.tensor({1, 3}).squeeze({n}); }),
    narrow("argmax.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::argmax(s.x, axis(n)); }),
    narrow("argmin.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::argmin(s.x, axis(n)); }),
    narrow("cumsum.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::cumsum(s.x, axis(n)); }),
    narrow("topk.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::topk(s.x, 1, axis(n)).values; }),
    narrow("concat.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::concat({s.x, s.x}, axis(n)); }),
    narrow("concat_.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::concat_({s.x, s.x}, axis(n)); }),
    narrow("split.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::split(s.x, 2, axis(n))[0]; }),
    narrow("gather.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::gather(s.x, indices(s), axis(n)); }),
    narrow("tied_gather.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::tied_gather(s.x, indices(s), axis(n)); }),
    narrow("groupedgather.axis", any_outcome,
           [](const Scene& s, Whole n) { return ops::groupedgather(s.x, s.tensor({2, 3}, tw::int32), axis(n), 2); }),
    narrow("onehot.axis", any_outcome,
           [](const Scene& s, Whole n) { return ops::onehot(indices(s), 4, s.tensor({2}), axis(n)); }),
    narrow("scatter.axis", axis_of_1,
           [](const Scene& s, Whole n) { return ops::scatter(s.tensor({9}), indices(s), s.tensor({3}), axis(n)); }),
    narrow("ScatterReduceOptions.axis", axis_of_1,
           [](const Scene& s, Whole n) {
             return ops::scatter_reduce(s.tensor({3}), indices(s), tw::ScatterReduction::sum, {.axis = axis(n), .axis_size = 9});
           }),
    narrow("Tensor::shape.axis", any_outcome, [](const Scene& s, Whole n) { return s.tensor({s.x.shape(axis(n))}); }),
};

const Case shapes[] = {
    whole("sum_to.shape", any_outcome, [](const Scene& s, Whole n) { return ops::sum_to(s.x, {n, 6}); }),
    whole("reshape.shape", any_outcome, [](const Scene& s, Whole n) { return ops::reshape(s.x, {n, 6}); }),
    whole("reshape_.shape", any_outcome, [](const Scene& s, Whole n) { return ops::reshape_(s.x, {n, 6}); }),
    whole("Tensor::reshape.shape", any_outcome, [](const Scene& s, Whole n) { return s.x.reshape({n, n}); }),
    whole("Tensor::reshape_.shape", any_outcome, [](const Scene& s, Whole n) { return s.x.reshape_({n, -1}); }),
    whole("transpose.permutation", any_outcome, [](const Scene& s, Whole n) { return ops::transpose(s.x, {0, n, 1, 2}); }),
    whole("transpose_.permutation", any_outcome, [](const Scene& s, Whole n) { return ops::transpose_(s.x, {0, n, 1, 2}); }),
    whole("Tensor::transpose.permutation", any_outcome, [](const Scene& s, Whole n) { return s.x.transpose({0, n, 1, 2}); }),
    whole("Tensor::transpose_.permutation", any_outcome, [](const Scene& s, Whole n) { return s.x.transpose_({0, n, 1, 2}); }),
    whole("expand.shape", any_outcome, [](const Scene& s, Whole n) { return ops::expand(s.tensor({1, 6}), {n, 6}); }),
    whole("Tensor::expand.shape", any_outcome, [](const Scene& s, Whole n) { return s.tensor({6}).expand({n, n, 6}); }),
    whole("subsample.strides", {1, infinity}, [](const Scene& s, Whole n) { return ops::subsample(s.x, Shape{1, n}); }),
    narrow("subsample.stride", {1, infinity}, [](const Scene& s, Whole n) { return ops::subsample(s.x, axis(n)); }),
    whole("init.shape", any_outcome, [](const Scene& s, Whole n) { return ops::init(s.ir, {n, 2}, tw::float32); }),
    whole("graph_input.shape", any_outcome,
          [](const Scene& s, Whole n) {
            const tw::GraphScope scope(s.ir.create_empty_graph());
            return tw::graph_input(s.ir, {n, 2}).valid() ? s.x : Tensor();
          }),
    whole("dynamic_slice.axes", axis_of_4,
          [](const Scene& s, Whole n) { return ops::dynamic_slice(s.x, s.tensor({1}, tw::uint32), {n}, {1}); }),
    whole("dynamic_slice.sizes", {1, 4},
          [](const Scene& s, Whole n) { return ops::dynamic_slice(s.x, s.tensor({1}, tw::uint32), {1}, {n}); }),
    whole("dynamic_update.axes", {-2, 1},
          [](const Scene& s, Whole n) {
            return ops::dynamic_update(s.tensor({2, 2}), s.tensor({1}, tw::uint32), s.tensor({2, 2}), {n}, {2});
          }),
    whole("dynamic_update.sizes", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::dynamic_update(s.x, s.tensor({1}, tw::uint32), s.tensor({2, 1, 6, 6}), {1}, {n});
          }),
    whole("dynamic_update_.axes", {-2, 1},
          [](const Scene& s, Whole n) {
            return ops::dynamic_update_(s.tensor({2, 2}), s.tensor({1}, tw::uint32), s.tensor({2, 2}), {n}, {2});
          }),
    whole("dynamic_update_.sizes", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::dynamic_update_(s.tensor({4, 2}), s.tensor({1}, tw::uint32), s.tensor({1, 2}), {0}, {n});
          }),
    whole("TensorSpec.shape", any_outcome,
          [](const Scene& s, Whole n) {
            const auto twice = [](Tensor x) { return x + x; };
            return tw::call(s.ir.create_graph(twice, TensorSpec{{n}, tw::float32}), {s.tensor({1})})[0];
          }),
};

const Case positions[] = {
    whole("slice.start", any_outcome, [](const Scene& s, Whole n) { return ops::slice(s.x, {n}); }),
    whole("slice.stop", any_outcome, [](const Scene& s, Whole n) { return ops::slice(s.x, {}, {n}); }),
    whole("slice.step", any_outcome, [](const Scene& s, Whole n) { return ops::slice(s.x, {}, {}, {n}); }),
    whole("slice_.start", any_outcome, [](const Scene& s, Whole n) { return ops::slice_(s.x, {n}); }),
    whole("slice_.stop", any_outcome, [](const Scene& s, Whole n) { return ops::slice_(s.x, {}, {n}); }),
    whole("slice_.step", any_outcome, [](const Scene& s, Whole n) { return ops::slice_(s.x, {}, {}, {n}); }),
    whole("Range.start", any_outcome, [](const Scene& s, Whole n) { return s.x[tw::slice(n, tw::none)]; }),
    whole("Range.stop", any_outcome, [](const Scene& s, Whole n) { return s.x[tw::slice(tw::none, n)]; }),
    whole("Range.step", any_outcome, [](const Scene& s, Whole n) { return s.x[tw::slice(tw::none, tw::none, n)]; }),
    whole("TensorIndex.number", {-2, 1}, [](const Scene& s, Whole n) { return s.x[n]; }),
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of options without effect
const Case counts[] = {
    narrow("split.splits", any_outcome, [](const Scene& s, Whole n) { return ops::split(s.x, static_cast<int>(n))[0]; }),
    whole("split.splits", any_outcome, [](const Scene& s, Whole n) { return ops::split(s.x, {1, n})[0]; }),
    whole("split.splits", any_outcome, [](const Scene& s, Whole n) { return ops::split(s.x, {n, n, 2})[0]; }),
    whole("groupedgather.group_size", any_outcome,
          [](const Scene& s, Whole n) { return ops::groupedgather(s.x, s.tensor({2, 3}, tw::int32), 1, n); }),
    real("GatherOptions.available_memory_proportion", part,
         [](const Scene& s, double n) { return ops::gather(s.x, indices(s), 0, {.available_memory_proportion = n}); }),
    real("onehot.num_classes", any_outcome, [](const Scene& s, double n) { return ops::onehot(indices(s), n, s.tensor({2})); }),
    real("ScatterOptions.available_memory_proportion", part,
         [](const Scene& s, double n) {
           return ops::scatter(s.tensor({9}), indices(s), s.tensor({3}), 0, {.available_memory_proportion = n});
         }),
    whole("ScatterReduceOptions.axis_size", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::scatter_reduce(s.tensor({3}), indices(s), tw::ScatterReduction::sum, {.axis_size = n});
          }),
    real("ScatterReduceOptions.available_memory_proportion", part,
         [](const Scene& s, double n) {
           return ops::scatter_reduce(s.tensor({3}), indices(s), tw::ScatterReduction::sum,
                                      {.axis_size = 9, .available_memory_proportion = n});
         }),
    whole("grouped_scatter_reduce.group_size", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::grouped_scatter_reduce(s.tensor({2, 3}), s.tensor({2, 3}, tw::int32), tw::ScatterReduction::sum, n,
                                               {.axis = 1, .axis_size = 9});
          }),
    whole("topk.k", {1, 6}, [](const Scene& s, Whole n) { return ops::topk(s.x, n).values; }),
    real("topk.available_memory_proportion", part,
         [](const Scene& s, double n) { return ops::topk(s.x, 2, -1, true, true, n).values; }),
    real("histogram.levels", any_outcome, [](const Scene& s, double n) { return ops::histogram(s.x, {0, n}); }),
    whole("PrintOptions.summarise_threshold", whole_not_negative,
          [](const Scene& s, Whole n) { return ops::print_tensor(s.x, {.summarise_threshold = n}); }),
    narrow("PrintOptions.edge_items", any_outcome,
           [](const Scene& s, Whole n) { return ops::print_tensor(s.x, {.edge_items = static_cast<std::int32_t>(n)}); }),
    narrow("PrintOptions.max_line_width", any_outcome,
           [](const Scene& s, Whole n) { return ops::print_tensor(s.x, {.max_line_width = static_cast<std::int32_t>(n)}); }),
    narrow("PrintOptions.digits", any_outcome,
           [](const Scene& s, Whole n) { return ops::print_tensor(s.x, {.digits = static_cast<std::int32_t>(n)}); }),
    narrow("ipu_copy.destination", any_outcome, [](const Scene& s, Whole n) { return ops::ipu_copy(s.x, axis(n)); }),
    narrow("ipu_copy.source", any_outcome, [](const Scene& s, Whole n) { return ops::ipu_copy(s.x, 0, axis(n)); }),
    narrow("Tensor::copy_to_ipu.destination", any_outcome, [](const Scene& s, Whole n) { return s.x.copy_to_ipu(axis(n)); }),
    narrow("Tensor::copy_to_ipu.source", any_outcome, [](const Scene& s, Whole n) { return s.x.copy_to_ipu(0, axis(n)); }),
};
#pragma GCC diagnostic pop
}  // namespace

TEST_CASE("wrong numbers as axes") { CHECK(problems(axes) == ""); }
TEST_CASE("wrong numbers as shapes") { CHECK(problems(shapes) == ""); }
TEST_CASE("wrong numbers as positions") { CHECK(problems(positions) == ""); }
TEST_CASE("wrong numbers as counts") { CHECK(problems(counts) == ""); }
