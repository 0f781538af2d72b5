// labels: quick
// FLOPs and parameters of graphs, by op and by module.
#include "tilewright/profile/figures.hpp"

#include "../../support/programs.hpp"
#include "models.hpp"

using tw::Graph, tw::Ir, tw::NamedTensors, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

constexpr Graph product(Ir& ir, const tw::Shape& a, const tw::Shape& b) {
  return ir.create_graph([](Tensor x, Tensor y) { return ops::matmul(x, y); }, TensorSpec{a, tw::float32},
                         TensorSpec{b, tw::float32});
}
constexpr std::int64_t flops_of_product(const tw::Shape& a, const tw::Shape& b) {
  Ir ir;
  return tw::evaluate_flops(product(ir, a, b)).total();
}

// ---- the values of popxl.addons' test of its estimates: m n k of a product, twice

static_assert(flops_of_product({4}, {4, 8}) == 64);
static_assert(flops_of_product({4}, {4}) == 8);
static_assert(flops_of_product({10, 9}, {9, 5}) == 900);
static_assert(flops_of_product({3, 5, 10, 9}, {3, 5, 9, 3}) == 2 * 9 * 3 * 10 * 3 * 5);
static_assert(flops_of_product({3, 1, 10, 9}, {5, 9, 3}) == 2 * 9 * 3 * 10 * 3 * 5, "leading axes broadcast");

// ---- other ops

constexpr std::int64_t flops_of(auto build, const auto&... specs) {
  Ir ir;
  return tw::evaluate_flops(ir.create_graph(build, specs...)).total();
}
constexpr TensorSpec square{{4, 4}, tw::float32};
static_assert(flops_of([](Tensor x) { return ops::exp(x) + x; }, square) == 0, "only products count");
static_assert(flops_of([](Tensor x) { return static_cast<void>(ops::matmul(x, x)), x + 1; }, square) == 0,
              "a product that nothing uses");
// 2 images, 3 channels to 8 in windows of 3 x 3, 5 x 5 positions
static_assert(flops_of([](Tensor x, Tensor w) { return ops::conv(x, w); }, TensorSpec{{2, 3, 7, 7}, tw::float32},
                       TensorSpec{{8, 3, 3, 3}, tw::float32}) == 2 * 2 * 25 * 8 * 3 * 9);
constexpr TensorSpec heads{{2, 3, 16, 8}, tw::float32};
constexpr auto attend = [](Tensor q, Tensor k, Tensor v) { return ops::scaled_dot_product_attention(q, k, v); };
static_assert(flops_of(attend, heads, heads, heads) == 2 * 2 * (2 * 3 * 16 * 16 * 8), "scores, and their product with v");
constexpr bool the_gradient_of_attention_has_four_products_and_computes_scores_again() {
  Ir ir;
  const auto flops = tw::evaluate_flops(tw::autodiff(ir.create_graph(attend, heads, heads, heads)).graph());
  const std::int64_t product = 2 * (2 * 3 * 16 * 16 * 8);
  return flops.total() == 4 * product && flops.recomputed() == product;
}
static_assert(the_gradient_of_attention_has_four_products_and_computes_scores_again());

// ---- calls, loops and conditionals

constexpr bool calls_and_loops_count_each_execution() {
  Ir ir;
  const Graph inner = product(ir, {4, 4}, {4, 4});
  const Graph outer = ir.create_graph(
      [&](Tensor x, Tensor w) { return tw::repeat(inner, 3, {tw::call(inner, {x, w})[0], w})[0]; }, square, square);
  const auto flops = tw::evaluate_flops(outer);
  return flops.ops().size() == 1 && flops.ops()[0].op == "MatMul" && flops.ops()[0].times == 4 &&
         flops.ops()[0].flops == 2 * 64 && flops.total() == 4 * 2 * 64 && tw::evaluate_flops(inner).total() == 2 * 64;
}
static_assert(calls_and_loops_count_each_execution());

constexpr bool of_a_conditional_the_larger_branch_counts() {
  Ir ir;
  const Graph none = ir.create_graph([](Tensor x) { return x + 1; }, square);
  const Graph one = ir.create_graph([](Tensor x) { return ops::matmul(x, x); }, square);
  const auto of = [&](const Graph& then_graph, const Graph& else_graph) {
    const Graph graph = ir.create_graph(
        [&](Tensor condition, Tensor x) { return tw::conditional(condition, {then_graph, {x}}, {else_graph, {x}})[0]; },
        TensorSpec{{}, tw::boolean}, square);
    return tw::evaluate_flops(graph).total();
  };
  return of(none, one) == 2 * 64 && of(one, none) == 2 * 64 && of(one, one) == 2 * 64 && of(none, none) == 0;
}
static_assert(of_a_conditional_the_larger_branch_counts());

constexpr std::int64_t flops_of_nested_loops(int depth) {
  Ir ir;
  Graph graph = ir.create_graph([](Tensor x) { return ops::matmul(x, x); }, square);
  for (int i = 0; i < depth; ++i) graph = ir.create_graph([&](Tensor x) { return tw::repeat(graph, 1'000'000, {x})[0]; }, square);
  return tw::evaluate_flops(graph).total();
}
static_assert(flops_of_nested_loops(2) == 2 * 64 * 1'000'000'000'000);
static_assert(flops_of_nested_loops(4) == largest, "beyond 64 bits");

// ---- modules

constexpr void step(Ir& ir) {
  const Tensor x = support::load(ir, "x", {8, 28, 28});
  const auto [factories, net] = tw::create_graph(Net{}, x);
  support::store("y", net.bind(factories.init()).call(x));
}
// layers of 784 x 512 x 512 x 512 x 10
constexpr std::int64_t of_net = 2 * 8 * (784 * 512 + 2 * 512 * 512 + 512 * 10);
static_assert(tw::flops<step> == of_net && tw::flops<step, tw::ipu_model> == of_net);
static_assert(tw::module_flops<step, "Net_subgraph(0)"> == of_net);
static_assert(tw::module_flops<step, "Net_subgraph(0)/fc1"> == 2 * 8 * 784 * 512);
static_assert(tw::module_flops<step, "Net_subgraph(0)/fc"> == 0, "no module, although a path begins so");

constexpr bool ops_of_a_shared_graph_are_one_row() {
  Ir ir;
  const Tensor x = support::load(ir, "x", {8, 28, 28});
  const auto [factories, net] = tw::create_graph(NetOutlined{}, x);
  const auto flops = tw::evaluate_flops(net.graph());
  const auto modules = flops.modules();
  const NamedTensors variables = factories.init();
  const auto parameters = tw::count_parameters(variables);
  return flops.total() == of_net && modules.size() == 3 && modules.of("Linear_subgraph(1)") == 2 * 2 * 8 * 512 * 512 &&
         parameters.size() == 4 && parameters.of("fc3") == 512 * 512 + 512;
}
static_assert(ops_of_a_shared_graph_are_one_row());

constexpr bool all_elements_of_a_sharded_variable_count() {
  Ir ir;
  ir.set_replication_factor(2);
  ir.replica_sharded_variable(tw::ones(), {3, 8}, tw::float32, "blocks.1.w");
  ir.variable(tw::ones(), {5}, tw::float32, "blocks.1.inner/w");
  ir.variable(tw::ones(), {7}, tw::float32, "blocks.10.w");
  ir.variable(tw::ones(), {}, tw::float32, "step");
  const auto parameters = tw::count_parameters(ir);
  return parameters.of("blocks.1") == 29 && parameters.of("blocks") == 36 && parameters.of("the main graph") == 1 &&
         parameters.total() == 37 && parameters.of("block") == 0;
}
static_assert(all_elements_of_a_sharded_variable_count());

constexpr bool replicas_count_all_flops_and_each_variable_once() {
  Ir ir;
  ir.set_replication_factor(4);
  step(ir);
  const auto parameters = tw::count_parameters(ir);
  return tw::total_flops(ir) == 4 * of_net && parameters.of("fc1") == 784 * 512 + 512 &&
         parameters.total() == 784 * 512 + 2 * 512 * 512 + 512 * 10 + 3 * 512 + 10;
}
static_assert(replicas_count_all_flops_and_each_variable_once());
