// labels: arm clang strict tsan
// Calls: graphs take their inputs by value, may be called and bound often, and return whatever they like.
#include <cmath>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

struct Affine : tw::Module<Affine> {
  constexpr Tensor build(Tensor x) {
    const Tensor w = add_variable_input("weight", tw::ones(), {x.shape(-1), 2});
    return x.matmul(w) + add_variable_input("bias", tw::zeros(), {2});
  }
};

constexpr Tensor sum_with_half(Tensor a, Tensor b) { return a + b * 0.5; }
constexpr void double_in_place(tw::TensorByRef t) { ops::scaled_add_(t, t); }

constexpr void program(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 3}));

  // one graph, three calls
  const Graph plus_one = ir.create_graph([](Tensor t) { return t + 1; }, x);
  Tensor repeated = x;
  for (int i = 0; i < 3; ++i) repeated = tw::call(plus_one, repeated);
  store("plus three", repeated);

  // functions whose calls are outlined; one changes the caller's tensor
  tw::OutlinedFunction<sum_with_half> outlined;
  const Tensor sum = outlined(outlined(x, x), repeated);
  tw::OutlinedFunction<double_in_place>()(sum);
  store("outlined", sum);

  // a result that the host gets twice, and that changes later
  const Tensor kept = tw::call(plus_one, x);
  store("kept", kept);
  store("kept too", kept);
  ops::scaled_add_(kept, x);
  store("changed", kept);

  // one graph bound to two sets of variables
  const auto [factories, affine] = tw::create_graph(Affine{}, x);
  const auto a = factories.init("a"), b = factories.init("b");
  store("a", affine.bind(a).call(x));
  store("b", affine.bind(b).call(x));

  // a called graph that changes its input in place
  const Graph doubling = ir.create_graph([](Tensor t) { return ops::scaled_add_(t, t); }, x);
  store("doubled", tw::call(doubling, x));
  store("doubled weight", tw::call(ir.create_graph([](Tensor t) { return ops::scaled_add_(t, t); }, a["weight"]), a["weight"]));
  store("input", x);

  // outputs that are inputs, views and duplicates of each other, and one that nobody uses
  const Graph shapes = ir.create_graph(
      [](Tensor t, Tensor unused) {
        const Tensor square = t * t;
        return std::array{t, t.T(), square, square.reshape({6}), square, ops::exp(unused)};
      },
      x, x);
  const auto outputs = tw::call(shapes, {x, x});
  store("same", outputs[0]);
  store("transposed", outputs[1]);
  store("square", outputs[2]);
  store("flat", outputs[3]);
  store("sum of duplicates", outputs[2] + outputs[4]);

  // a view as input, a constant inside, and ops without use in the caller and in the called graph
  const Graph scale = ir.create_graph(
      [](Tensor t) {
        [[maybe_unused]] const Tensor dead = ops::log(t);
        return t * t.ir().constant({1, 10}, {2});
      },
      x.T());
  [[maybe_unused]] const Tensor dead = ops::sqrt(x);
  store("columns", tw::call(scale, x.T()));
  store("broadcast", tw::call(scale, ops::expand(ir.constant(2.0), {3, 2})));

  // graphs inside graphs
  const Graph outer = ir.create_graph([&](Tensor t) { return tw::call(plus_one, tw::call(doubling, t)); }, x);
  store("nested", tw::call(outer, tw::call(outer, x)));
}

/// The gradient of a graph that returns one tensor twice is that of both outputs; so through a call of it.
constexpr void duplicate_outputs(Ir& ir) {
  const Tensor x = ir.variable(tw::values({1, 2, 3}), {3}, tw::float32, "x");
  const Graph twice = ir.create_graph(
      [](Tensor t) {
        const Tensor y = t * t;
        return std::array{y, y};
      },
      x);
  const Graph weighted = ir.create_graph(
      [&](Tensor t) {
        const auto [y, same] = tw::call(twice, t).as<2>();
        return y + 10 * same;
      },
      x);
  const auto gradient_of = [&](Graph graph, std::initializer_list<Tensor> dy) {
    const auto call = tw::call_with_info(graph, x);
    const auto gradient = tw::autodiff(graph);
    const auto gradient_call = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call));
    return gradient.fwd_parent_ins_to_grad_parent_outs(call, gradient_call)[x];
  };
  const Tensor one = ir.constant({1}, {3}), ten = ir.constant({10}, {3});
  store("direct", gradient_of(twice, {one, ten}));
  store("through a call", gradient_of(weighted, {one}));
}

/// Returns the gradient of a graph's result, summed, for its first input.
constexpr Tensor derivative(const tw::GraphWithNamedArgs& gradient, Tensor x) {
  const auto info = gradient.grad_graph_info();
  const Graph forward = info.forward_graph();
  const auto call = tw::call_with_info(forward, x);
  const Tensor result = forward.output(0), dy = x.ir().constant({1}, result.shape(), result.dtype());
  return tw::call(info.graph(), {dy}, info.inputs_dict(call))[0];
}
constexpr Tensor derivative(Graph graph, Tensor x) {
  const auto info = tw::autodiff(graph);
  return derivative(tw::GraphWithNamedArgs(info.graph(), {}, info), x);
}
/// x^3 with a gradient by hand.
struct Cube : tw::Module<Cube> {
  constexpr Tensor build(Tensor x) {
    const Tensor square = x * x;
    aux("square", square);
    return square * x;
  }
  constexpr Tensor build_grad(Tensor dy) { return dy * aux("square") * 3; }
};
/// Derivatives of the second and third order: gradients of graphs that call a graph and its gradient graph.
constexpr void derivatives(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  const auto graph = [&](auto function) { return ir.create_graph(function, x); };
  const auto first_of = [&](Graph f) { return graph([f](Tensor v) { return derivative(f, v); }); };
  const auto store_orders = [&](std::string_view name, Graph f) {
    const Graph first = first_of(f), second = first_of(first);
    store(tw::text(name, " 1").view(), derivative(f, x));
    store(tw::text(name, " 2").view(), derivative(first, x));
    store(tw::text(name, " 3").view(), derivative(second, x));
  };
  const Graph cube = graph([](Tensor v) { return v * v * v; });
  const Graph times = ir.create_graph([](Tensor v, Tensor w) { return v * w; }, x, x);
  const Graph twice = graph([](Tensor v) { return v * 2; });
  store_orders("x^9", graph([&](Tensor v) { return tw::call(cube, tw::call(cube, v)[0])[0]; }));
  store_orders("loop", graph([&](Tensor v) { return tw::repeat(times, 3, {v, v})[0]; }));
  const auto branch = [&](Tensor v) { return tw::conditional(ops::greater(ops::sum(v), 0), {cube, {v}}, {twice, {v}})[0]; };
  store("if 2", derivative(first_of(graph(branch)), x));
  // a call whose result and activations both have gradients, and a call without the latter
  const Graph product = graph([&](Tensor v) { return tw::call(cube, v)[0] * derivative(cube, v) + tw::call(cube, v)[0]; });
  store("product 1", derivative(product, x));
  // a gradient graph that computes the forward graph again
  const auto info = tw::autodiff(cube);
  const auto recomputed = tw::recompute_graph({info.graph(), {}, info});
  store("recomputed 2", derivative(graph([&](Tensor v) { return derivative(recomputed, v); }), x));
  // by hand: the second derivative is that of what build_grad computes
  const auto gradient = tw::autodiff(tw::create_graph(ir, Cube(), x).graph);
  store("by hand 2", derivative(graph([&](Tensor v) { return derivative(gradient, v); }), x));
}

/// Differentiates a tower of graphs that call the one below twice. Returns the number of results of all graphs.
std::size_t results_of_tower(int floors) {
  std::size_t results = 0;
  const auto ir = tw::trace(
      [&](Ir& graphs) {
        const Tensor x = ops::host_load(graphs.h2d_stream("x", {8}));
        Graph top = graphs.create_graph([](Tensor t) { return ops::exp(t); }, x);
        for (int floor = 0; floor < floors; ++floor)
          top = graphs.create_graph([&](Tensor t) { return tw::call(top, tw::call(top, t)[0])[0]; }, x);
        store("dx", derivative(top, x));
        for (const auto& record : graphs.tables.graphs) results += record.outputs.size();
      },
      tw::cpu);
  CHECK_FALSE(tw::prepare(*ir, tw::cpu).ir().failed());
  return results;
}

template <class Session>
void check() {
  Session session({.threads = 2});
  xt::xtensor<float, 2> weight = xt::ones<float>({3, 2});
  weight(0, 1) = 5;
  session.write_variable_data("b.weight"_s, weight);
  session.write_variable_data("b.bias"_s, Floats{100, 200});
  const auto outputs = session.run("x"_s = xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}});
  CHECK(elements(outputs["plus three"_s]) == Floats{4, 5, 6, 7, 8, 9});
  CHECK(elements(outputs["outlined"_s]) == Floats{7, 11, 15, 19, 23, 27});  // 2 (1.5 x + (x + 3) / 2)
  CHECK(elements(outputs["kept"_s]) == Floats{2, 3, 4, 5, 6, 7});
  CHECK(elements(outputs["kept too"_s]) == Floats{2, 3, 4, 5, 6, 7});
  CHECK(elements(outputs["changed"_s]) == Floats{3, 5, 7, 9, 11, 13});
  CHECK(elements(outputs["a"_s]) == Floats{6, 6, 15, 15});
  CHECK(elements(outputs["b"_s]) == Floats{106, 210, 115, 231});
  CHECK(elements(outputs["doubled"_s]) == Floats{2, 4, 6, 8, 10, 12});
  CHECK(elements(outputs["doubled weight"_s]) == Floats(6, 2));
  CHECK(elements(session.get_tensor_data("a.weight"_s)) == Floats(6, 1));
  CHECK(elements(outputs["input"_s]) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(elements(outputs["same"_s]) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(elements(outputs["transposed"_s]) == Floats{1, 4, 2, 5, 3, 6});
  CHECK(elements(outputs["square"_s]) == Floats{1, 4, 9, 16, 25, 36});
  CHECK(elements(outputs["flat"_s]) == Floats{1, 4, 9, 16, 25, 36});
  CHECK(elements(outputs["sum of duplicates"_s]) == Floats{2, 8, 18, 32, 50, 72});
  CHECK(elements(outputs["columns"_s]) == Floats{1, 40, 2, 50, 3, 60});
  CHECK(elements(outputs["broadcast"_s]) == Floats{2, 20, 2, 20, 2, 20});
  CHECK(elements(outputs["nested"_s]) == Floats{7, 11, 15, 19, 23, 27});
}

}  // namespace

TEST_CASE("called graphs compute by value") {
  check<tw::Session<program>>();
  check<TestSession<program, tw::ipu_model>>();
}
TEST_CASE("gradients of an output that is returned twice add up") {
  tw::Session<duplicate_outputs> session({.threads = 1});
  const auto outputs = session.run();
  CHECK(elements(outputs["direct"_s]) == Floats{22, 44, 66});
  CHECK(elements(outputs["through a call"_s]) == Floats{22, 44, 66});
}
TEST_CASE("gradients of gradients are derivatives of higher order") {
  tw::Session<derivatives> session({.threads = 2});
  const auto outputs = session.run("x"_s = xt::xtensor<float, 1>{0.5, 1, 2});
  const auto is = [](const auto& array, float factor, int power) {
    Floats expected;
    for (const double x : {0.5, 1.0, 2.0}) expected.push_back(factor * static_cast<float>(std::pow(x, power)));
    CHECK(elements(array) == expected);
  };
  is(outputs["x^9 1"_s], 9, 8);
  is(outputs["x^9 2"_s], 72, 7);
  is(outputs["x^9 3"_s], 504, 6);
  is(outputs["loop 1"_s], 4, 3);
  is(outputs["loop 2"_s], 12, 2);
  is(outputs["loop 3"_s], 24, 1);
  is(outputs["if 2"_s], 6, 1);
  is(outputs["recomputed 2"_s], 6, 1);
  is(outputs["by hand 2"_s], 6, 1);
  CHECK(elements(outputs["product 1"_s]) == Floats{15 / 16.0F + 3 / 4.0F, 18, 15 * 16 + 12});  // of 3 x^5 + x^3
}
TEST_CASE("the gradient of a tower of calls is linear in its floors") {
  CHECK(results_of_tower(20) < 20'000);
  CHECK(results_of_tower(40) < 40'000);
}
