// labels: none
// Programs that say of a variable that replicas share: its values differ, and are meant to.
#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using support::load, support::variable;

/// Each replica adds its own to a variable, and counts in another; a third one gets their means before the download.
constexpr void own_sums(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor sum = variable(ir, "sum", {2}), square = variable(ir, "square", {2}), mean = variable(ir, "mean", {2});
  const Tensor x = load(ir, "x", {2});
  ops::accumulate_(sum, tw::differs_by_replica(x));
  ops::accumulate_square_(tw::differs_by_replica(square), x);
  store("sum_out", sum);
  store("square_out", square);
  const auto download = tw::execution_context(ir, tw::ExecutionContext::WeightsToHostFragment);
  ops::copy_var_update_(mean, collectives::replicated_all_reduce(sum, {.op = tw::CollectiveOperator::mean}));
}

/// Batch normalisation on each replica's part of a batch. The host gets the mean of one of the statistics.
constexpr void statistics(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor scale = ir.variable(tw::ones(), {1}, tw::float32, "scale"), bias = variable(ir, "bias", {1});
  const Tensor mean = variable(ir, "mean", {1}), var = ir.variable(tw::ones(), {1}, tw::float32, "var");
  const Tensor x = load(ir, "x", {2, 1});
  const Graph graph = ir.create_graph(
      [](Tensor in, Tensor weight, Tensor shift, tw::TensorByRef running_mean, tw::TensorByRef running_var) {
        return ops::batch_norm(in, weight, shift, running_mean, running_var, {.momentum = 0.5});
      },
      x, scale, bias, mean, var);
  const auto call = tw::call_with_info(graph, {x, scale, bias, mean, var});
  store("y", call.output(0));
  const auto gradient = tw::autodiff(graph, {.grads_required = {{graph.input(2)}}});
  const Tensor dbias = tw::call(gradient.graph(), call.output(0) + 1, gradient.inputs_dict(call))[0];
  ops::accumulate_(bias, collectives::replicated_all_reduce(dbias));
  const auto download = tw::execution_context(ir, tw::ExecutionContext::WeightsToHostFragment);
  collectives::replicated_all_reduce_(var, {.op = tw::CollectiveOperator::mean});
}

/// A gradient that only updates a weight, which each replica may have for itself, with and without saying so.
template <bool says>
constexpr void descent(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor w = ir.variable(tw::ones(), {3, 2}, tw::float32, "w", {.retrieval_mode = tw::RetrievalMode::all_replicas});
  const auto meant = [](Tensor t) { return says ? tw::differs_by_replica(t) : t; };
  const Tensor x = load(ir, "x", {4, 3});
  const Graph forward = ir.create_graph([](Tensor in, Tensor weight) { return ops::mean(ops::tanh(in.matmul(weight))); }, x, w);
  const auto call = tw::call_with_info(forward, {x, w});
  const auto backward = tw::autodiff(forward, {.grads_required = {{forward.input(1)}}});
  const Tensor gradient = tw::call(backward.graph(), ir.constant(1.0), backward.inputs_dict(call))[0];
  ops::scaled_add_(meant(w), meant(gradient), {.b = -0.1});
  collectives::replicated_all_reduce_(meant(w.reshape_({6})), {.op = tw::CollectiveOperator::mean});
}
tw::Text text_of_plan(auto program, const tw::Target& target) {
  return tw::print_plan(tw::lower(tw::prepare(*tw::trace(program, target), target)));
}

}  // namespace

TEST_CASE("replicas have the values that a program says are their own", "[replication]") {
  on_all_machines<own_sums>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 2}, {10, 20}};
    session.run("x"_s = x);
    const auto outputs = session.run("x"_s = x);
    CHECK(elements(outputs["sum_out"_s]) == Floats{2, 4, 20, 40});
    CHECK(elements(outputs["square_out"_s]) == Floats{2, 8, 200, 800});
    CHECK(elements(session.get_tensor_data("sum"_s)) == Floats{2, 4});
    CHECK(elements(session.get_tensor_data("square"_s)) == Floats{2, 8});
    CHECK(elements(session.get_tensor_data("mean"_s)) == Floats{11, 22});
  });
}

TEST_CASE("running statistics of replicas are those of their parts of a batch", "[replication]") {
  on_all_machines<statistics>([](auto& session) {
    const auto outputs = session.run("x"_s = xt::xtensor<float, 3>{{{1}, {3}}, {{4}, {8}}});
    const Floats y = elements(outputs["y"_s]);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(y[i] - (i % 2 == 0 ? -1.f : 1.f)) < 1e-4f);
    CHECK(elements(session.get_tensor_data("mean"_s)) == Floats{1});                        // half of 2, the first replica's
    CHECK(elements(session.get_tensor_data("var"_s)) == Floats{((1 + 2) / 2.f + (1 + 8) / 2.f) / 2});  // of both
    CHECK(std::abs(session.get_tensor_data("bias"_s)(0) - 4) < 1e-4f);
  });
}

TEST_CASE("saying that values differ changes no plan", "[replication]") {
  for (const tw::Target& target : {tw::cpu, tw::cpu.without_fusion(), tw::ipu_model})
    CHECK(text_of_plan(descent<true>, target).string() == text_of_plan(descent<false>, target).string());
}
