// labels: none
// The account of code on the tiles, and of code that comes and goes.
#include "../../support/programs.hpp"
#include "../programs/models.hpp"
#include "tilewright/tilewright.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

using support::load, support::store;

/// The model without exchange code: tests/static/planner/tile_map.cpp counts that.
constexpr tw::IpuModel free_exchange = [] {
  tw::IpuModel model = tw::gc200_model;
  model.code.exchange_instruction = 0;
  return model;
}();
constexpr tw::Target ipu = tw::gc200.with_ipu(&free_exchange);
constexpr tw::Plan plan_of(auto build, const tw::Target& target = ipu) { return support::plan_of(build, target); }

// ---- the formula

constexpr auto one_product = [](Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16});
  store("y", x.matmul(load(ir, "w", {16, 8})));
};
static_assert(plan_of(one_product).memory.code == (1000 + 200) + (4 * 3 + 4) + 8,
              "MatMul and copy, the state of a vertex, control");
static_assert(plan_of(one_product).memory.loaded_code == 0);

constexpr tw::IpuModel dear_products = [] {
  tw::IpuModel model = free_exchange;
  model.code.vertex_code[static_cast<std::size_t>(tw::CodeKind::product)] = 5000;
  model.code.operand = 100;
  return model;
}();
constexpr tw::Target with_dear_products = tw::ipu_model.with_ipu(&dear_products);
static_assert(plan_of(one_product, with_dear_products).memory.code == (5000 + 200) + (100 * 3 + 4) + 8,
              "sizes are numbers of the target's model");

constexpr auto in_steps = [](Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16});
  store("y", ops::softmax(ops::softmax(x).T()));
};
static_assert(plan_of(in_steps, ipu.without_fusion()).memory.code == 1560 + 1560 + 200 + 3 * (4 * 2 + 4) + 20 + 8 * 2,
              "three steps of two operands; the second gets data from other tiles");

constexpr auto twice = [](Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16});
  for (const std::string_view name : {"a", "b"}) store(name, ops::softmax(x));
};
static_assert(plan_of(twice, ipu.without_fusion()).memory.code == 1560 + 200 + 4 * (4 * 2 + 4) + 4 * 8,
              "the same code for both; state and control for each");

// ---- code that comes and goes

enum class Loads { nothing, both, second_too_late };

/// Two graphs, called twice each: a product and a softmax.
template <Loads loads>
constexpr auto two_graphs = [](Ir& ir) {
  Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const Graph softmax = ir.create_graph([](Tensor t) { return ops::softmax(t); }, x);
  if (loads == Loads::both) ops::remote_code_load(product);
  for (int i = 0; i < 2; ++i) x = tw::call(product, x);
  if (loads == Loads::both) ops::remote_code_load(softmax);
  for (int i = 0; i < 2; ++i) {
    if (loads == Loads::second_too_late && i == 1) ops::remote_code_load(softmax);
    x = tw::call(softmax, x);
  }
  store("y", x);
};
constexpr auto without = [] { return plan_of(two_graphs<Loads::nothing>).memory; }();
constexpr auto with = [] { return plan_of(two_graphs<Loads::both>).memory; }();
constexpr std::int64_t of_product = 1000 + (4 * 3 + 4) + 8, of_softmax = 1560 + (4 * 2 + 4) + 20, of_load = 8;
static_assert(with.code == without.code - of_product - of_softmax + 2 * of_load);
static_assert(with.loaded_code == of_softmax && without.loaded_code == 0, "the larger of two that are not there together");
static_assert(with.fullest_tile < without.fullest_tile);
static_assert(with.fullest_tile == without.fullest_tile - of_product + 2 * of_load);

constexpr auto too_late = [] { return plan_of(two_graphs<Loads::second_too_late>).memory; }();
static_assert(too_late.code == without.code + of_load && too_late.loaded_code == 0,
              "a graph that is called before it is loaded is there from the beginning");

constexpr auto overlapping = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const Graph softmax = ir.create_graph([](Tensor t) { return ops::softmax(t); }, x);
  ops::remote_code_load(product);
  ops::remote_code_load(softmax);
  store("y", tw::call(product, tw::call(softmax, x)));
};
static_assert(plan_of(overlapping).memory.loaded_code == of_product + of_softmax);
static_assert(plan_of(overlapping).bodies.size() == 3, "what is loaded keeps code of its own, although it is called once");

constexpr auto nested = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const auto outer_graph = [&product](Tensor t) {
    ops::remote_code_load(product);
    return ops::softmax(Tensor(tw::call(product, t)));
  };
  const Graph outer = ir.create_graph(outer_graph, x);
  ops::remote_code_load(outer);
  store("y", tw::call(outer, tw::call(outer, x)));
};
static_assert(plan_of(nested).memory.loaded_code == of_product + of_softmax + of_load + 8, "outer: load, call, softmax");

constexpr auto looped = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const Graph softmax = ir.create_graph([](Tensor t) { return ops::softmax(t); }, x);
  const auto iteration = [&](Tensor t) {
    ops::remote_code_load(product);
    t = tw::call(product, t);
    ops::remote_code_load(softmax);
    return tw::call(softmax, t);
  };
  store("y", tw::repeat(ir.create_graph(iteration, x), 10, x));
};
static_assert(plan_of(looped).memory.loaded_code == of_softmax, "in each iteration one after the other");
static_assert(plan_of(looped).remote.code_bytes == 10 * 1472 * (of_product + of_softmax));

constexpr auto unused_results = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  ops::remote_code_load(product);
  tw::call(product, x);
  store("y", x);
};
static_assert(plan_of(unused_results).bodies.size() == 1, "what is not computed is not loaded");

// ---- the time that it takes

static_assert(plan_of(two_graphs<Loads::both>).remote ==
              tw::RemoteTraffic{.code_bytes = 1472 * (of_product + of_softmax),
                                .cycles = tw::gc200_model.streaming_memory.cycles(1472 * of_product, tw::gc200_model.clock_hz) +
                                          tw::gc200_model.streaming_memory.cycles(1472 * of_softmax, tw::gc200_model.clock_hz),
                                .exchanges = 2});
static_assert(plan_of(two_graphs<Loads::both>, tw::cpu).remote == tw::RemoteTraffic{});

}  // namespace
