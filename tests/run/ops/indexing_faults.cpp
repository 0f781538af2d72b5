// labels: asan strict tsan
// Indices out of range: the run ends, other memory is as it was, and the error has op, place, index and count.
#include <cmath>
#include <vector>

#include "../../catch.hpp"
#include "../../support/test_session.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

namespace {

constexpr int count = 70;

struct Embedding : tw::Module<Embedding> {
  constexpr Tensor build(Tensor table, Tensor indices) { return ops::gather(table, indices, 1); }
};
/// Tables of 6 rows and a step of each op at the same indices, but for starts.
constexpr void index(tw::Ir& ir) {
  const auto load = [&](std::string_view name, std::int64_t n) { return ops::host_load(ir.h2d_stream(name, {n}, tw::int32)); };
  const auto table = [&](std::string_view name) { return ir.variable(tw::zeros(), {6, 20}, tw::float32, name); };
  const auto store = [&](std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); };
  const Tensor ones = ops::expand(ir.constant(1.0), {count, 20});
  const Tensor rows = load("rows", count), sums = load("sums", count), adds = load("adds", count), starts = load("starts", 2);
  const auto [factories, graph] = tw::create_graph(Embedding{}, tw::TensorSpec{{4, 6, 5}, tw::float32}, rows);
  store("gathered", graph.bind(factories.init()).call(table("table").reshape({4, 6, 5}), rows));
  store("zeros", ops::gather(table("other"), rows, 0, {.zero_OOR = true}));
  store("summed", ops::scatter_reduce(ones, sums, tw::ScatterReduction::sum, {.axis_size = 6}));
  ops::sparse_accumulate_(table("added"), ones, adds);
  ops::dynamic_update_(table("updated"), starts, ops::expand(ir.constant(2.0), {2, 7}), {0, 1}, {2, 7});
  store("slice", ops::dynamic_slice(table("sliced"), starts, {0, 1}, {2, 7}));
}

using Ints = std::vector<int>;
struct Inputs {
  Ints rows = Ints(count, 5), sums = Ints(count, 0), adds = Ints(count, 3), starts{4, 13};
};
std::string fault_of(auto& session, const Inputs& in) {
  try {
    session.run("rows"_s = in.rows, "sums"_s = in.sums, "adds"_s = in.adds, "starts"_s = in.starts);
  } catch (const tw::FaultError& error) {
    return error.what();
  }
  return "";
}
template <tw::Target target>
void check_faults() {
  for (const int threads : {1, 2}) {
    TestSession<index, target> session({.threads = threads});
    const auto row_sum = [&](auto name, int row) {
      const auto table = session.get_tensor_data(name);
      float sum = 0;
      for (int column = 0; column < 20; ++column) sum += table(row, column);
      return sum;
    };
    CHECK(fault_of(session, {}).empty());
    CHECK(row_sum("added"_s, 3) == 20 * count);
    CHECK(row_sum("updated"_s, 4) == 14);

    Inputs wrong;
    wrong.rows[2] = wrong.rows[69] = 6;
    CHECK(fault_of(session, wrong) == "Gather: index 6 (and 1 more): an index from 0 to 5 expected, in Embedding_subgraph(0)");
    wrong = {};
    wrong.sums[0] = -1;
    CHECK(fault_of(session, wrong) == "ScatterReduce: index -1: an index from 0 to 5 expected, in the main graph");
    wrong = {};
    wrong.adds.assign(count, 1 << 30);
    wrong.adds[7] = 2;
    CHECK(fault_of(session, wrong) ==
          "SparseAccumulate: index 1073741824 (and 68 more): an index from 0 to 5 expected, in the main graph");
    CHECK(row_sum("added"_s, 2) == 20);
    CHECK(row_sum("added"_s, 3) == 3 * 20 * count);
    wrong = {};
    wrong.starts = {0, 14};
    CHECK(fault_of(session, wrong) ==
          "DynamicUpdateInplace: start 14: a start of a slice (2, 7) inside of (6, 20) expected, in the main graph; faults of "
          "other ops: 1");
    CHECK(row_sum("updated"_s, 0) == 0);
    CHECK(row_sum("updated"_s, 4) == 14);
    CHECK(fault_of(session, {}).empty());
  }
}

/// Regions of images, and labels of classes: one of the labels is ignored where it is -1.
constexpr void regions_and_labels(tw::Ir& ir) {
  const auto store = [&](std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); };
  const auto variable = [&](std::string_view name, const tw::Shape& shape) {
    return ir.variable(tw::ones(), shape, tw::float32, name);
  };
  const Tensor images = ops::host_load(ir.h2d_stream("images", {5}, tw::int32));
  const Tensor labels = ops::host_load(ir.h2d_stream("labels", {40}, tw::int32));
  const auto graph = ir.create_graph(
      [](Tensor x, Tensor index) {
        const Tensor rois = ops::expand(x.ir().constant({0, 0, 4, 4}, {4}), {5, 4});
        return ops::roi_align(x, rois, index, {.output_size = {2, 2}, .sampling_ratio = 1});
      },
      tw::TensorSpec{{3, 2, 6, 6}, tw::float32}, images);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {variable("x", {3, 2, 6, 6}), images});
  store("regions", call.output(0));
  store("dx",
        tw::call_with_info(gradient.graph(), ops::expand(ir.constant(1.0), {5, 2, 2, 2}), gradient.inputs_dict(call)).output(0));
  const Tensor logits = variable("logits", {40, 3});
  store("losses", ops::nll_loss(ops::softmax(logits), labels, {.ignore_index = -1, .reduction = tw::Reduction::none}));
  const auto [loss, dlogits] = ops::cross_entropy_with_grad(logits, labels, 1, {.ignore_index = -1});
  store("loss", loss);
  store("dlogits", dlogits);
}

template <tw::Target target>
void check_regions_and_labels() {
  for (const int threads : {1, 2}) {
    TestSession<regions_and_labels, target> session({.threads = threads});
    float regions[5][2][2][2], dx[3][2][6][6], losses[40], loss = 0, dlogits[40][3];
    const auto fault = [&](const Ints& images, const Ints& labels) -> std::string {
      try {
        session.run_with_outputs("images"_s = images, "labels"_s = labels, "regions"_s = regions, "dx"_s = dx,
                                 "losses"_s = losses, "loss"_s = loss, "dlogits"_s = dlogits);
      } catch (const tw::FaultError& error) {
        return error.what();
      }
      return "";
    };
    const auto sum = [](const auto& array) {
      double result = 0;
      const auto* const first = reinterpret_cast<const float*>(&array);
      for (std::size_t i = 0; i < sizeof(array) / sizeof(float); ++i) result += static_cast<double>(first[i]);
      return result;
    };
    Ints images{0, 2, 1, 2, 0}, labels(40, 2);
    labels[7] = labels[30] = -1;  // ignored
    CHECK(fault(images, labels).empty());
    CHECK(sum(regions) == 40);
    CHECK(sum(dx) == 40);
    CHECK(std::abs(sum(losses) - 38 * std::log(3)) < 1e-4);

    images[1] = images[4] = 3;
    CHECK(fault(images, labels) == "RoiAlign: batch index 3 (and 1 more): an index from 0 to 2 expected, in graph_subgraph(0)");
    CHECK(sum(regions) == 24);  // of an image that is not there: zeros, and no gradient
    CHECK(sum(regions[1]) == 0);
    CHECK(sum(dx) == 24);
    images[1] = 0, images[4] = -1;
    CHECK(fault(images, labels) == "RoiAlign: batch index -1: an index from 0 to 2 expected, in graph_subgraph(0)");
    images[4] = 0;

    labels[3] = 3, labels[39] = -2;
    CHECK(fault(images, labels) ==
          "Nll: label 3 (and 1 more): a label from 0 to 2, or the ignored one, expected, in the main graph; faults of other "
          "ops: 1");
    CHECK(std::abs(sum(losses) - 36 * std::log(3)) < 1e-4);  // such labels count as ignored ones do
    CHECK(losses[3] == 0);
    CHECK(std::abs(static_cast<double>(loss) - std::log(3)) < 1e-5);
    CHECK(sum(dlogits[39]) == 0);
    CHECK(dlogits[39][0] == 0);
    CHECK(dlogits[38][0] > 0);
    labels[3] = labels[39] = 0;
    CHECK(fault(images, labels).empty());
  }
}

}  // namespace

TEST_CASE("an index out of range ends the run") { check_faults<tw::cpu>(); }
TEST_CASE("a region of no image and a label of no class end the run") { check_regions_and_labels<tw::cpu>(); }
TEST_CASE("a region of no image and a label of no class end the run on the IPU model") {
  check_regions_and_labels<tw::ipu_model>();
}
TEST_CASE("an index out of range ends the run on the IPU model") { check_faults<tw::ipu_model>(); }
