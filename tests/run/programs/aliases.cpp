// labels: arm asan strict tsan ubsan
// Ops that work in place change a tensor and its aliases, but no other value that may be in the same memory.
#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const auto matrix = [&](std::string_view name) { return ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, name); };
  const Tensor through_alias = matrix("through alias");
  ops::scaled_add_(ops::transpose_(through_alias), ir.constant({0, 0, 10, 0}, {2, 2}));

  const Tensor own_transpose = matrix("own transpose");
  ops::scaled_add_(own_transpose, own_transpose.T(), {.b = 10});

  const Tensor from_rows = matrix("from rows");
  const Tensor before = from_rows + 0;
  const Tensor alias = ops::scaled_add_(from_rows, from_rows, {.a = 0, .b = 3});
  ops::scaled_add_(alias, before);
  store("before", before);
  store("after", from_rows);

  const Tensor constant = ir.constant({1, 2, 3, 4}, {4});
  const Tensor view = constant.reshape({2, 2});
  ops::scaled_add_(view, view);
  store("changed view", view);
}

/// Adds 10 to all elements, in place.
constexpr Tensor add_ten(Tensor x) { return ops::accumulate_(x, x.ir().constant({10}, x.shape())); }

/// A view is a value: it has the elements of the time when it was made.
constexpr void views(Ir& ir) {
  const auto matrix = [&](std::string_view name) { return ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, name); };
  const Tensor viewed = matrix("viewed");  // changes after
  const Tensor before = viewed.T();
  const Tensor of_view = before.reshape({4});
  add_ten(viewed);
  store("before", before);
  store("of view", of_view);
  store("after", viewed.T());

  const Tensor kept = matrix("kept");  // stays while a view of it changes
  const Tensor changed = kept.T();
  add_ten(changed);
  store("changed", changed);

  const Tensor x = matrix("x") + 0;  // an intermediate tensor, whose two views part ways
  const Tensor first = x.flatten(), second = x.T();
  add_ten(first);
  store("first", first);
  store("second", second);

  const Tensor y = matrix("y") + 0;  // the same, both changed by one call
  const Tensor rows = y.reshape({2, 2}), columns = y.T();
  tw::call(ir.create_graph([](tw::TensorByRef a, tw::TensorByRef b) { add_ten(add_ten(a)), add_ten(b); }, rows, columns),
           {rows, columns});
  store("rows", rows);
  store("columns", columns);

  const Tensor detached = matrix("detached");
  const Tensor value = ops::detach(detached);
  add_ten(detached);
  store("detached value", value);
}
/// Forms with _ are the tensor itself.
constexpr void aliases(Ir& ir) {
  const auto matrix = [&](std::string_view name) { return ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, name); };
  const Tensor x = matrix("x");
  const Tensor vector = ops::flatten_(x), transposed = ops::transpose_(ops::reshape_(vector, {2, 2}));
  const Tensor value = transposed.flatten();
  ops::accumulate_(transposed, ir.constant({0, 0, 10, 0}, {2, 2}));
  ops::accumulate_(vector, ir.constant({0, 0, 0, 100}, {4}));
  ops::accumulate_(ops::detach_(x), ir.constant({1000}, {2, 2}));
  store("vector", vector);
  store("transposed", transposed);
  store("value", value);
}

/// The same inside of graphs, called once or twice, by value and by reference, with a view as input.
struct Twist {
  constexpr Tensor build(tw::TensorByRef x, Tensor y) {
    const Tensor before = x.T(), row = ops::flatten_(y);
    add_ten(x);
    ops::accumulate_(row, ir_of(x).constant({1, 2, 3, 4}, {4}));
    return before * 100 + y + x.T() * 10000;
  }
  static constexpr Ir& ir_of(Tensor x) { return x.ir(); }
};
template <int calls>
constexpr void called(Ir& ir) {
  const Tensor x = ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, "x");
  const Tensor y = ir.variable(tw::values({5, 6, 7, 8}), {2, 2}, tw::float32, "y");
  const tw::Graph twist = ir.create_graph(Twist{}, x, y);
  for (int i = 0; i < calls; ++i) {
    const Tensor early = x.T();
    const Tensor result = tw::call(twist, {ops::transpose_(x), y.T()})[0];
    store(tw::text("result ", i).view(), result);
    store(tw::text("early ", i).view(), early);
  }
}

/// A graph that is called once, with a tensor whose elements share memory: each gets its own when an alias changes.
constexpr void repeated(Ir& ir) {
  const Tensor rows = ops::expand(ir.variable(tw::values({1, 2}), {2}, tw::float32, "row"), {2, 2});
  const auto change = [](Tensor x) {
    const Tensor transposed = ops::transpose_(x);
    ops::accumulate_(transposed, x.ir().constant({10, 20, 30, 40}, {2, 2}));
    return std::array{x, transposed};
  };
  const auto results = tw::call(ir.create_graph(change, rows), rows);
  store("changed", results[0]);
  store("transposed", results[1]);
  store("rows", rows);
}

/// A tensor is overwritten by an update of its own shape, of which each vertex needs all along the axis.
constexpr void overwritten(Ir& ir) {
  const Tensor x = ir.variable(tw::values({1, 2, 3, 4, 5, 6, 7, 8}), {4, 2}, tw::float32, "x");
  ops::dynamic_update_(x, ir.constant({0}, {1}, tw::int32), x * 10, {0}, {4});
}

}  // namespace

TEST_CASE("views are values, forms with _ aliases") {
  on_all_machines<views>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["before"_s]) == Floats{1, 3, 2, 4});
    CHECK(elements(outputs["of view"_s]) == Floats{1, 3, 2, 4});
    CHECK(elements(outputs["after"_s]) == Floats{11, 13, 12, 14});
    CHECK(elements(outputs["changed"_s]) == Floats{11, 13, 12, 14});
    CHECK(elements(session.get_tensor_data("kept"_s)) == Floats{1, 2, 3, 4});
    CHECK(elements(outputs["first"_s]) == Floats{11, 12, 13, 14});
    CHECK(elements(outputs["second"_s]) == Floats{1, 3, 2, 4});
    CHECK(elements(outputs["rows"_s]) == Floats{21, 22, 23, 24});
    CHECK(elements(outputs["columns"_s]) == Floats{11, 13, 12, 14});
    CHECK(elements(outputs["detached value"_s]) == Floats{1, 2, 3, 4});
  });
  on_all_machines<aliases>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["vector"_s]) == Floats{1001, 1012, 1003, 1104});
    CHECK(elements(outputs["transposed"_s]) == Floats{1001, 1003, 1012, 1104});
    CHECK(elements(outputs["value"_s]) == Floats{1, 3, 2, 4});
    CHECK(elements(session.get_tensor_data("x"_s)) == Floats{1001, 1012, 1003, 1104});
  });
}

TEST_CASE("views and aliases in called graphs") {
  const auto check = [](auto& session) {
    const auto outputs = session.run();
    // x' = 1 3 2 4; before' = 1 2 3 4; y' + 1 2 3 4 = 6 9 9 12; after' = 11 12 13 14
    CHECK(elements(outputs["result 0"_s]) == Floats{110106, 120209, 130309, 140412});
    CHECK(elements(outputs["early 0"_s]) == Floats{1, 3, 2, 4});
    CHECK(elements(session.get_tensor_data("y"_s)) == Floats{5, 6, 7, 8});
    return elements(session.get_tensor_data("x"_s));
  };
  on_all_machines<called<1>>([&](auto& session) { CHECK(check(session) == Floats{11, 12, 13, 14}); });
  on_all_machines<called<2>>([&](auto& session) { CHECK(check(session) == Floats{21, 22, 23, 24}); });
}

TEST_CASE("ops in place read and write the same memory safely") {
  tw::Session<program, tw::cpu.with_tiles(3)> session({.threads = 2});
  for (int run = 1; run <= 2; ++run) {
    const auto outputs = session.run();
    CHECK(elements(outputs["changed view"_s]) == Floats{2, 4, 6, 8});
    if (run > 1) continue;
    CHECK(elements(session.get_tensor_data("through alias"_s)) == Floats{1, 12, 3, 4});
    CHECK(elements(session.get_tensor_data("own transpose"_s)) == Floats{11, 32, 23, 44});
    CHECK(elements(outputs["before"_s]) == Floats{1, 2, 3, 4});
    CHECK(elements(outputs["after"_s]) == Floats{4, 8, 12, 16});
  }
}

TEST_CASE("an alias of a tensor whose elements share memory changes") {
  on_all_machines<repeated>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["changed"_s]) == Floats{11, 32, 21, 42});
    CHECK(elements(outputs["transposed"_s]) == Floats{11, 21, 32, 42});
    CHECK(elements(outputs["rows"_s]) == Floats{1, 2, 1, 2});
  });
}

TEST_CASE("a tensor is overwritten by what is computed of it") {
  on_all_machines<overwritten>([](auto& session) {
    session.run();
    CHECK(elements(session.get_tensor_data("x"_s)) == Floats{10, 20, 30, 40, 50, 60, 70, 80});
  });
}
