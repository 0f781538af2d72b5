// labels: none
// Programs with many layers, variables, shapes, elements or iterations are planned, in time and memory that grow with what they
// have.
#include <array>
#include <cstdint>

#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using support::load, support::store;
using tw::Graph, tw::Ir, tw::Tensor;

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) { return ops::relu(x.matmul(add_variable_input("weight", tw::normal(0, 1), {8, 8}))); }
};
struct Layers : tw::Module<Layers> {
  using Array = std::array<Layer, 1000>;
  BOOST_HANA_DEFINE_STRUCT(Layers, (Array, layers));
  constexpr Tensor build(Tensor x) {
    for (Layer& layer : layers) x = layer(x);
    return x;
  }
};
/// A variable, in a module in a module ...
template <int depth>
struct Nested : tw::Module<Nested<depth>> {
  using Inner = Nested<depth - 1>;
  BOOST_HANA_DEFINE_STRUCT(Nested, (Inner, inner));
  constexpr Tensor build(Tensor x) { return ops::tanh(inner(x)) * 1.5; }
};
template <>
struct Nested<0> : tw::Module<Nested<0>> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("weight", tw::zeros(), {8}); }
};

/// A program that applies a module.
auto applied(const auto& module, const tw::Shape& shape) {
  return [=](Ir& ir) {
    const Tensor x = load(ir, "x", shape);
    const auto [factories, graph] = tw::create_graph(module, x);
    store("y", graph.bind(factories.init()).call(x));
  };
}
void many_variables(Ir& ir) {
  for (int i = 0; i < 2'000; ++i) {
    const Tensor v = ir.variable(tw::ones(), {3}, tw::float32, tw::text("v", i).view());
    ops::add_(v, v);
  }
}
void many_products(Ir& ir) {
  for (int i = 1; i <= 60; ++i) {
    const Tensor x = load(ir, tw::text("x", i).view(), {i, i + 1}), w = load(ir, tw::text("w", i).view(), {i + 1, i + 2});
    store(tw::text("y", i).view(), x.matmul(w));
  }
}
void many_elements(Ir& ir) { store("y", load(ir, "x", {std::int64_t{1} << 31}) * 2); }
/// The gradient of a loop that keeps 8 elements of each iteration.
void many_iterations(Ir& ir) {
  const Tensor x = load(ir, "x", {8});
  const Graph once = ir.create_graph([](Tensor t) { return ops::exp(t); }, x);
  const Graph loop = ir.create_graph([&](Tensor t) { return tw::repeat(once, 1 << 20, {t})[0]; }, x);
  const auto call = tw::call_with_info(loop, {x});
  const auto gradient = tw::autodiff(loop);
  store("dx", tw::call(gradient.graph(), {call.output(0)}, gradient.inputs_dict(call))[0]);
}

/// Plans a program in a child with little memory and time. Returns what is wrong, or what `find(plan)` finds.
std::string problems(auto build, auto find) {
  return in_child([&](Report& report) {
    if (!find(support::plan_of(build))) report.add("the plan lacks a part of the program");
  });
}

}  // namespace

TEST_CASE("large programs: 1,000 layers") {
  CHECK(problems(applied(Layers{}, {8, 8}), [](const tw::Plan& plan) { return plan.variables.size() == 1'000; }) == "");
}
TEST_CASE("large programs: modules in modules, 60 deep") {
  CHECK(problems(applied(Nested<60>{}, {8}), [](const tw::Plan& plan) { return plan.variables.size() == 1; }) == "");
}
TEST_CASE("large programs: 2,000 variables") {
  CHECK(problems(many_variables, [](const tw::Plan& plan) { return plan.variables.size() == 2'000; }) == "");
}
TEST_CASE("large programs: products of 60 shapes") {
  CHECK(problems(many_products, [](const tw::Plan& plan) { return plan.streams.size() == 180; }) == "");
}
TEST_CASE("large programs: tensors of 2^31 elements") {
  CHECK(problems(many_elements, [](const tw::Plan& plan) { return plan.streams.size() == 2; }) == "");
}
TEST_CASE("large programs: the gradient of a loop of 2^20 iterations") {
  constexpr std::int64_t kept = std::int64_t{8} << 22;  // bytes
  CHECK(problems(many_iterations,
                 [](const tw::Plan& plan) { return plan.memory.frame >= kept && plan.memory.frame < 2 * kept; }) == "");
}
