// labels: asan strict tsan ubsan
// Tensor parallelism between replicas: collectives with gradients, a loss and a norm of divided tensors, and a GPT whose weights
// are divided, beside PyTorch on whole tensors.
#include <algorithm>
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/tensor_parallel_gpt.hpp"
#include "tilewright/ops/collective/distributed_norm.hpp"
#include "tilewright/ops/reduce/grad_reduce_square_add.hpp"

namespace {

using tensor_parallel::expected;
using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using support::load;

/// Four replicas in two groups: {0, 2} and {1, 3}.
constexpr std::int64_t replicas = 4, parts = 2, rows = 5, classes = 8, part = classes / parts;

/// Stores a graph's result under the name, and the gradients of its inputs. The result's gradient is loaded.
constexpr void store_with_gradients(Ir& ir, std::string_view name, tw::Graph graph, const tw::List<Tensor>& inputs) {
  const auto backward = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {inputs.data(), inputs.size()});
  store(name, call.output(0));
  const Tensor dy = load(ir, tw::text("dy_", name).view(), call.output(0).shape()).cast(call.output(0).dtype());
  int number = 0;
  for (const Tensor& dx : tw::call_with_info(backward.graph(), {dy}, backward.inputs_dict(call)).outputs())
    store(tw::text("d", number++, "_", name).view(), dx.cast(tw::float32));
}
constexpr void divided(Ir& ir) {
  ir.set_replication_factor(replicas);
  const auto group = ir.replica_grouping(2, parts);
  const Tensor x = load(ir, "x", {rows, part}), labels = load(ir, "labels", {rows}, tw::int32);
  const auto store_loss = [&](std::string_view name, tw::Reduction reduction, tw::DType dtype) {
    const auto loss = [=](Tensor logits, Tensor given) {
      return ops::cross_entropy_sharded_loss(logits.cast(dtype), given,
                                             {.ignore_index = 3, .reduction = reduction, .group = group});
    };
    store_with_gradients(ir, name, ir.create_graph(loss, x, labels), {x, labels});
  };
  store_loss("loss_mean", tw::Reduction::mean, tw::float32);
  store_loss("loss_sum", tw::Reduction::sum, tw::float16);
  store_loss("loss_none", tw::Reduction::none, tw::float32);
  const Tensor lines = load(ir, "lines", {rows, part}), weight = load(ir, "weight", {part}), bias = load(ir, "bias", {part});
  const auto norm = [=](Tensor t, Tensor w, Tensor b) { return ops::layer_norm_distributed(t, w, b, 1e-5, group); };
  store_with_gradients(ir, "norm", ir.create_graph(norm, lines, weight, bias), {lines, weight, bias});
  const auto sums = [=](Tensor t, Tensor w) {
    return collectives::replicated_all_reduce_identical_grad_inputs(
        collectives::replicated_all_reduce_identical_inputs(t, group) * w, group);
  };
  const Tensor same = load(ir, "same", {3}), own = load(ir, "own", {3});
  store_with_gradients(ir, "sums", ir.create_graph(sums, same, own), {same, own});
  store("squares", ops::grad_reduce_square_add(own, 2));
  store("squares_of_half", ops::grad_reduce_square_add((own * 100).cast(tw::float16), ir.constant(50.0)));
}

/// Returns the part of each replica's group: columns of a matrix, whose rows group {1, 3} has in reverse order.
Floats of_replicas(const std::vector<double>& whole, std::int64_t columns, bool is_divided) {
  Floats result;
  const auto count = static_cast<std::int64_t>(whole.size()) / columns, width = is_divided ? columns / parts : columns;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t from = (replica % 2 == 0 ? row : count - 1 - row) * columns + (is_divided ? replica / 2 * width : 0);
      for (std::int64_t i = 0; i < width; ++i) result.push_back(static_cast<float>(whole[static_cast<std::size_t>(from + i)]));
    }
  return result;
}
Floats of_replicas(const std::string& name, std::int64_t columns, bool is_divided = true) {
  return of_replicas(expected().at(name), columns, is_divided);
}
float largest_difference(const Floats& actual, const Floats& wanted) {
  REQUIRE(actual.size() == wanted.size());
  float most = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const float off = std::abs(actual[i] - wanted[i]) / std::max(1.F, std::abs(wanted[i]));
    most = off <= most ? most : off;
  }
  return most;
}
template <class T, class... Extents>
auto array_of(const Floats& values, Extents... extents) {
  xt::xtensor<T, sizeof...(Extents)> result(std::array<std::size_t, sizeof...(Extents)>{static_cast<std::size_t>(extents)...});
  std::ranges::transform(values, result.data(), [](float value) { return static_cast<T>(value); });
  return result;
}

template <tw::Target target>
void check_divided() {
  TestSession<divided, target> session({.threads = 2});
  auto labels = array_of<std::int32_t>(of_replicas("loss_mean.x1", 1, false), replicas, rows);
  const xt::xtensor<float, 2> same{{1, 2, 3}, {4, 5, 6}, {1, 2, 3}, {4, 5, 6}}, own{{1, 2, 3}, {1, 0, 2}, {5, 7, 9}, {3, 4, 5}};
  const xt::xtensor<float, 2> dy_sums{{1, 10, 100}, {2, 3, 4}, {1, 10, 100}, {2, 3, 4}};
  const auto run = [&] {
    return session.run("x"_s = array_of<float>(of_replicas("loss_mean.x0", classes), replicas, rows, part), "labels"_s = labels,
                       "dy_loss_mean"_s = array_of<float>(of_replicas("loss_mean.dy0", 1, false), replicas),
                       "dy_loss_sum"_s = array_of<float>(of_replicas("loss_sum.dy0", 1, false), replicas),
                       "dy_loss_none"_s = array_of<float>(of_replicas("loss_none.dy0", 1, false), replicas, rows),
                       "lines"_s = array_of<float>(of_replicas("norm.x0", classes), replicas, rows, part),
                       "weight"_s = array_of<float>(of_replicas("norm.x1", classes), replicas, part),
                       "bias"_s = array_of<float>(of_replicas("norm.x2", classes), replicas, part),
                       "dy_norm"_s = array_of<float>(of_replicas("norm.dy0", classes), replicas, rows, part), "same"_s = same,
                       "own"_s = own, "dy_sums"_s = dy_sums);
  };
  const auto results = run();
  const auto check = [&](auto name, const std::string& wanted, std::int64_t columns, bool is_divided, float tolerance = 1e-6F) {
    INFO(wanted);
    CHECK(largest_difference(elements(results[name]), of_replicas(wanted, columns, is_divided)) < tolerance);
  };
  check("loss_mean"_s, "loss_mean.y0", 1, false);
  check("d0_loss_mean"_s, "loss_mean.dx0", classes, true);
  check("d0_loss_sum"_s, "loss_sum.dx0", classes, true, 2e-3F);  // rounded to float16
  check("loss_none"_s, "loss_none.y0", 1, false);
  check("d0_loss_none"_s, "loss_none.dx0", classes, true);
  check("norm"_s, "norm.y0", classes, true);
  check("d0_norm"_s, "norm.dx0", classes, true, 2e-6F);
  check("d1_norm"_s, "norm.dx1", classes, true, 2e-6F);
  check("d2_norm"_s, "norm.dx2", classes, true);
  CHECK(elements(results["sums"_s]) == Floats{6, 18, 36, 16, 20, 42, 6, 18, 36, 16, 20, 42});
  CHECK(elements(results["d0_sums"_s]) == Floats{6, 90, 1200, 8, 12, 28, 6, 90, 1200, 8, 12, 28});
  CHECK(elements(results["d1_sums"_s]) == Floats{1, 20, 300, 8, 15, 24, 1, 20, 300, 8, 15, 24});
  CHECK(elements(results["squares"_s]) == Floats{3.5F, 1.25F, 38.75F, 12.5F});
  CHECK(elements(results["squares_of_half"_s]) == Floats{56, 20, 620, 200});
  labels.data()[3] = classes;
  CHECK_THROWS_AS(run(), tw::FaultError);
}

using tensor_parallel::train, tensor_parallel::bytes_of_step;
static_assert(tw::Session<train<2>, tw::ipu_model>::plan.collectives.bytes == bytes_of_step(2));
static_assert(tw::Session<train<2>, tw::ipu_model>::plan.collectives.cycles > 0);

}  // namespace

TEST_CASE("collectives, losses and norms of divided tensors", "[tensor_parallel]") { check_divided<tw::ipu_model>(); }

TEST_CASE("a GPT divided among two replicas trains as PyTorch does", "[tensor_parallel]") {
  TestSession<train<2>, tw::ipu_model> session({.threads = 2});
  const auto trained = tensor_parallel::trained<2>(session, 2);
  const auto& losses = expected().at("gpt.losses");
  CHECK(std::abs(trained.losses[0] - losses[0]) < 1e-6);
  CHECK(difference(trained.losses, losses) < 1e-4);
  CHECK(trained.off_gradients < 1e-5);
}
