// labels: arm asan strict tsan ubsan
// Inputs by reference, repeat and conditional: what they compute, and their gradients.
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor, tw::TensorByRef;
namespace ops = tw::ops;

Floats floats(const char* name) {
  const auto& values = reference().at(name);
  return {values.begin(), values.end()};
}
void check_close(const auto& array, const char* name) {
  const auto all = elements(array);
  CHECK(difference({all.begin(), all.end()}, reference().at(name)) < 1e-5);
}
/// Checks that a program gives the same with one thread and two, on both targets.
template <auto program>
void on_all_targets(auto check) {
  for (int threads : {1, 2}) {
    tw::Session<program> cpu({.threads = threads});
    check(cpu);
    TestSession<program, tw::ipu_model> ipu({.threads = threads});
    check(ipu);
  }
}

// ---- by reference

/// x = x + step; returns what x was times 10, and an alias of x.
struct Advance {
  constexpr std::array<Tensor, 2> build(TensorByRef x, Tensor step) {
    const Tensor before = x * 10;
    return {before, ops::scaled_add_(x, step)};
  }
};

constexpr void by_reference(Ir& ir) {
  const Tensor w = ir.variable(tw::zeros(), {2}, tw::float32, "w"), one = ir.constant({1, 2}, {2});
  const Graph advance = ir.create_graph(Advance{}, w, w);
  store("before", tw::call(advance, {w, one})[0]);
  const auto second = tw::call(advance, {w, one});
  ops::scaled_add_(w, one, {.b = 100});
  store("second before", second[0]);
  store("second after", second[1]);  // outputs are values: later changes do not reach them

  // a graph called once; an intermediate tensor, and a row of a matrix
  const Tensor y = w * 1;
  tw::call(ir.create_graph(Advance{}, y, y), {y, one});
  store("intermediate", y);
  const Tensor matrix = ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, "matrix");
  tw::call(ir.create_graph([](TensorByRef x, Tensor step) { ops::scaled_add_(x, step); }, matrix, matrix),
           {ops::transpose_(matrix), ir.constant({0, 0, 10, 0}, {2, 2})});
  const Graph add = ir.create_graph([](TensorByRef x, Tensor step) { ops::scaled_add_(x, step); }, matrix, matrix);
  for (int i = 0; i < 2; ++i) tw::call(add, {ops::transpose_(matrix), ir.constant({0, 0, 100, 0}, {2, 2})});

  // the same graph by value and with its input marked at one call only
  const Graph by_value = ir.create_graph([](Tensor x, Tensor step) { return ops::scaled_add_(x, step); }, w, w);
  const Tensor a = ir.variable(tw::zeros(), {2}, tw::float32, "a"), b = ir.variable(tw::zeros(), {2}, tw::float32, "b");
  store("by value", tw::call(by_value, {a, one}));
  tw::call_with_info(by_value, {b, one}).set_parent_input_modified(b);

  // nested: the inner graph changes what the outer one was given
  const Graph outer = ir.create_graph(
      [&](TensorByRef x, Tensor step) {
        tw::call(advance, {x, step});
        tw::call(advance, {x, step});
      },
      w, w);
  const Tensor nested = ir.variable(tw::zeros(), {2}, tw::float32, "nested");
  for (int i = 0; i < 2; ++i) tw::call(outer, {nested, one});

  // what is changed is read by value through a view of it
  const Tensor own = ir.variable(tw::values({1, 2}), {2}, tw::float32, "own");
  tw::call(advance, {own, own.reshape({1, 2}).reshape({2})});
}

/// Returns x + 10 y, after it has changed its y.
struct ChangeSecond {
  constexpr Tensor build(Tensor x, Tensor y) {
    ops::accumulate_(y, x.ir().constant({1}, {2}));
    return ops::scaled_add(x, y, {.b = 10});
  }
};
constexpr void by_value(Ir& ir) {
  const Tensor w = ir.variable(tw::values({1, 2}), {2}, tw::float32, "w");
  const Graph change = ir.create_graph(ChangeSecond{}, w, w), once = ir.create_graph(ChangeSecond{}, w, w);
  store("once", tw::call(once, {w, w}));  // a graph called once is planned as part of its caller
  store("again", tw::call(change, {w, w}));
  // each iteration is given the same, though another call lets the graph change it
  const Tensor marked = w * 1;
  store("loop", tw::repeat(change, 3, {w, w}));
  tw::call_with_info(change, {w, marked}).set_parent_input_modified(marked);
  store("marked", marked);
  store("no iteration", tw::repeat(change, 0, {marked, w}));

  // an update of what the same vertices made, by something that nobody needs afterwards
  const Graph twice = ir.create_graph([](Tensor x) { return x * 2; }, w);
  const Tensor step = tw::call(twice, w), mean = ops::exp(w);
  ops::accumulate_moving_average_(mean, step, 0.5);
  store("mean", tw::call(twice, mean));
}
constexpr void branches_change_a_view(Ir& ir) {
  const Tensor condition = ops::host_load(ir.h2d_stream("condition", {}, tw::boolean));
  const Tensor matrix = ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, "matrix");
  const Graph add = ir.create_graph([](TensorByRef x, Tensor step) { ops::scaled_add_(x, step); }, matrix, matrix);
  tw::conditional(condition, {add, {ops::transpose_(matrix), ir.constant({0, 0, 10, 0}, {2, 2})}},
                  {add, {ops::transpose_(matrix), ir.constant({0, 0, 100, 0}, {2, 2})}});
}

// ---- repeat

struct Recurrent {
  constexpr Tensor build(Tensor x, Tensor w, Tensor b) { return ops::tanh(x.matmul(w) + b) * x + b; }
};
struct RepeatedRecurrent {
  constexpr Tensor build(Tensor x, Tensor w, Tensor b) {
    return tw::repeat(x.ir().create_graph(Recurrent{}, x, w, b), 5, {x, w, b});
  }
};

constexpr void repeated(Ir& ir) {
  ir.set_num_host_transfers(8);
  const Tensor ones = ir.constant({1}, {2, 2});
  const Graph add = ir.create_graph([](Tensor x, Tensor value) { return x + value; }, ones, ones);
  store("twice", tw::repeat(add, 2, {ones, ones}));
  store("once", tw::repeat(add, 1, {ones, ones}));
  store("never", tw::repeat(add, 0, {ones, ones}));
  store("ten", tw::repeat(add, 10, {ones, ones}));

  // a host load and a host store in each iteration
  const auto input = ir.h2d_stream("x", {2, 2});
  const auto output = ir.d2h_stream("y", {2, 2});
  const Graph linear = ir.create_graph([&](Tensor w, Tensor b) { ops::host_store(output, ops::host_load(input).matmul(w) + b); },
                                       ones, ones);
  tw::repeat(linear, 8, {ones, ones});

  // two carried tensors that change places, a count, and a sum by reference
  const Tensor count = ir.constant({0}, {}, tw::int32), sum = ir.variable(tw::zeros(), {2, 2}, tw::float32, "sum");
  const Graph body = ir.create_graph(
      [](Tensor a, Tensor b, Tensor i, Tensor total) {
        ops::scaled_add_(total, a);
        return std::array{b, a, i + 1};
      },
      ones, ones, count, sum);
  auto loop = tw::repeat_with_info(body, 5, {ones, ones * 2, count, sum});
  loop.set_parent_input_modified(sum);
  store("a", loop.output(0));
  store("b", loop.output(1));
  store("count", loop.output(2));

  // a loop in a loop
  const Graph inner = ir.create_graph([&](Tensor x, Tensor v) { return tw::repeat(add, 3, {x, v}); }, ones, ones);
  store("nested", tw::repeat(inner, 4, {ones, ones}));
}

constexpr void repeat_gradient(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x0", {4, 3})), w = ops::host_load(ir.h2d_stream("x1", {3, 3})),
               b = ops::host_load(ir.h2d_stream("x2", {3})), dy = ops::host_load(ir.h2d_stream("dy", {4, 3}));
  const Graph graph = ir.create_graph(RepeatedRecurrent{}, x, w, b);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {x, w, b});
  store("y", call.output(0));
  const auto [dx, dw, db] = tw::call(gradient.graph(), dy, gradient.inputs_dict(call)).as<3>();
  store("dx0", dx);
  store("dx1", dw);
  store("dx2", db);
}

// ---- conditional

struct Then {
  constexpr Tensor build(Tensor x, Tensor w) { return ops::tanh(x.matmul(w)) * x; }
};
struct Else {
  constexpr Tensor build(Tensor x) { return x * x * x; }
};
struct Choice {
  constexpr Tensor build(Tensor condition, Tensor x, Tensor w) {
    return tw::conditional(condition, {x.ir().create_graph(Then{}, x, w), {x, w}}, {x.ir().create_graph(Else{}, x), {x}});
  }
};

constexpr void conditional_gradient(Ir& ir) {
  const Tensor condition = ops::host_load(ir.h2d_stream("condition", {}, tw::boolean));
  const Tensor x = ops::host_load(ir.h2d_stream("x0", {4, 3})), w = ops::host_load(ir.h2d_stream("x1", {3, 3})),
               dy = ops::host_load(ir.h2d_stream("dy", {4, 3}));
  const Graph graph = ir.create_graph(Choice{}, condition, x, w);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {condition, x, w});
  store("y", call.output(0));
  const auto [dx, dw] = tw::call(gradient.graph(), dy, gradient.inputs_dict(call)).as<2>();
  store("dx0", dx);
  store("dx1", dw);
}

constexpr void branches(Ir& ir) {
  const Tensor condition = ops::host_load(ir.h2d_stream("condition", {1}, tw::boolean));
  const Tensor x = ir.constant({20}, {}), y = ir.constant({10}, {});
  const Tensor chosen = ir.variable(tw::zeros(), {2}, tw::float32, "chosen");
  const Graph plus = ir.create_graph([](Tensor t) { return t + 5; }, x);
  const Graph minus = ir.create_graph([](Tensor t) { return t - 3; }, y);
  store("one output", tw::conditional(condition, {plus, {x}}, {minus, {y}}));
  const Graph two = ir.create_graph([](Tensor a, Tensor b) { return std::array{a + b, a * b}; }, x, y);
  const Graph other = ir.create_graph([](Tensor a) { return std::array{a, a * 2}; }, x);
  const auto outputs = tw::conditional(condition, {two, {x, y}}, {other, {}, {{other.input(0), y}}});
  store("first", outputs[0]);
  store("second", outputs[1]);
  // no outputs: each branch changes its part of a variable
  const Graph count = ir.create_graph([](TensorByRef counts, Tensor part) { ops::scaled_add_(counts, part); }, chosen, chosen);
  tw::conditional(condition, {count, {chosen, ir.constant({1, 0}, {2})}}, {count, {chosen, ir.constant({0, 1}, {2})}});
}

}  // namespace

TEST_CASE("inputs by reference change the caller's tensor, others do not") {
  on_all_targets<by_reference>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["before"_s]) == Floats{0, 0});
    CHECK(elements(outputs["second before"_s]) == Floats{10, 20});
    CHECK(elements(outputs["second after"_s]) == Floats{2, 4});
    CHECK(elements(session.get_tensor_data("w"_s)) == Floats{102, 204});
    CHECK(elements(outputs["intermediate"_s]) == Floats{103, 206});
    CHECK(elements(outputs["by value"_s]) == Floats{1, 2});
    CHECK(elements(session.get_tensor_data("a"_s)) == Floats{0, 0});
    CHECK(elements(session.get_tensor_data("b"_s)) == Floats{1, 2});
    CHECK(elements(session.get_tensor_data("matrix"_s)) == Floats{1, 212, 3, 4});
    CHECK(elements(session.get_tensor_data("nested"_s)) == Floats{4, 8});
    CHECK(elements(session.get_tensor_data("own"_s)) == Floats{2, 4});
  });
}
TEST_CASE("inputs by value stay apart: from each other, from other calls, and from one iteration to the next") {
  on_all_targets<by_value>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["once"_s]) == Floats{21, 32});
    CHECK(elements(outputs["again"_s]) == Floats{21, 32});
    CHECK(elements(outputs["loop"_s]) == Floats{61, 92});
    CHECK(elements(outputs["marked"_s]) == Floats{2, 3});
    CHECK(elements(outputs["no iteration"_s]) == Floats{2, 3});
    CHECK(outputs["mean"_s](0) == Approx(std::exp(1.f) + 2));
    CHECK(outputs["mean"_s](1) == Approx(std::exp(2.f) + 4));
    CHECK(elements(session.get_tensor_data("w"_s)) == Floats{1, 2});
  });
}
TEST_CASE("branches change the same view") {
  on_all_targets<branches_change_a_view>([](auto& session) {
    session.run("condition"_s = true);
    CHECK(elements(session.get_tensor_data("matrix"_s)) == Floats{1, 12, 3, 4});
    session.run("condition"_s = false);
    CHECK(elements(session.get_tensor_data("matrix"_s)) == Floats{1, 112, 3, 4});
  });
}
TEST_CASE("a graph is repeated with what it returned, and its streams go on") {
  on_all_targets<repeated>([](auto& session) {
    xt::xtensor<float, 3> x({8, 2, 2});
    for (std::size_t i = 0; i < 32; ++i) x.data()[i] = static_cast<float>(i);
    const auto outputs = session.run("x"_s = x);
    const auto one_of_eight = [](const auto& array) { return Floats(array.data(), array.data() + 4); };
    CHECK(one_of_eight(outputs["never"_s]) == Floats(4, 1));
    CHECK(one_of_eight(outputs["once"_s]) == Floats(4, 2));
    CHECK(one_of_eight(outputs["twice"_s]) == Floats(4, 3));
    CHECK(one_of_eight(outputs["ten"_s]) == Floats(4, 11));
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t column = 0; column < 2; ++column)
          CHECK(outputs["y"_s](i, row, column) == x(i, row, 0) + x(i, row, 1) + 1);
    CHECK(one_of_eight(outputs["a"_s]) == Floats(4, 2));
    CHECK(one_of_eight(outputs["b"_s]) == Floats(4, 1));
    CHECK(outputs["count"_s](0) == 5);
    CHECK(elements(session.get_tensor_data("sum"_s)) == Floats(4, 1 + 2 + 1 + 2 + 1));
    CHECK(one_of_eight(outputs["nested"_s]) == Floats(4, 13));
  });
}
TEST_CASE("the gradient of repeat is that of the calls one after the other") {
  on_all_targets<repeat_gradient>([](auto& session) {
    const auto input = [](const char* name, std::array<std::size_t, 2> shape) {
      return xt::eval(xt::reshape_view(xt::adapt(floats(name)), shape));
    };
    const auto outputs = session.run("x0"_s = input("repeat.x0", {4, 3}), "x1"_s = input("repeat.x1", {3, 3}),
                                     "x2"_s = floats("repeat.x2"), "dy"_s = input("repeat.dy", {4, 3}));
    check_close(outputs["y"_s], "repeat.y");
    check_close(outputs["dx0"_s], "repeat.dx0");
    check_close(outputs["dx1"_s], "repeat.dx1");
    check_close(outputs["dx2"_s], "repeat.dx2");
  });
}
TEST_CASE("a conditional runs one of its graphs") {
  on_all_targets<branches>([](auto& session) {
    auto outputs = session.run("condition"_s = std::array{true});
    CHECK(outputs["one output"_s]() == 25);
    CHECK(outputs["first"_s]() == 30);
    CHECK(outputs["second"_s]() == 200);
    outputs = session.run("condition"_s = std::array{false});
    CHECK(outputs["one output"_s]() == 7);
    CHECK(outputs["first"_s]() == 10);
    CHECK(outputs["second"_s]() == 20);
    session.run("condition"_s = std::array{false});
    CHECK(elements(session.get_tensor_data("chosen"_s)) == Floats{1, 2});
  });
}
TEST_CASE("the gradient of a conditional is that of the graph that ran") {
  on_all_targets<conditional_gradient>([](auto& session) {
    const auto input = [](const char* name, std::array<std::size_t, 2> shape) {
      return xt::eval(xt::reshape_view(xt::adapt(floats(name)), shape));
    };
    auto outputs = session.run("condition"_s = true, "x0"_s = input("then.x0", {4, 3}), "x1"_s = input("then.x1", {3, 3}),
                               "dy"_s = input("then.dy", {4, 3}));
    check_close(outputs["y"_s], "then.y");
    check_close(outputs["dx0"_s], "then.dx0");
    check_close(outputs["dx1"_s], "then.dx1");
    outputs = session.run("condition"_s = false, "x0"_s = input("else.x0", {4, 3}), "x1"_s = input("else.x1", {3, 3}),
                          "dy"_s = input("else.dy", {4, 3}));
    check_close(outputs["y"_s], "else.y");
    check_close(outputs["dx0"_s], "else.dx0");
    check_close(outputs["dx1"_s], "else.dx1");
  });
}
