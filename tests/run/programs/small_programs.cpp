// labels: tsan
// Whole programs, small enough to know their results.
#include <cfenv>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void addition(Ir& ir) {
  const Tensor a = ops::host_load(ir.h2d_stream("a", {1})), b = ops::host_load(ir.h2d_stream("b", {1}));
  store("sum", a + b);
}

constexpr void doubled(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("single", {37})), d = ops::host_load(ir.h2d_stream("double", {37}, tw::float64)),
               h = ops::host_load(ir.h2d_stream("half", {37}, tw::float16));
  store("2 single", x + x);
  store("2 double", d + d);
  store("2 half", h + h);
}

/// A sparse matrix of 4 rows and 3 columns by a dense one, and the gradients of both. Two values have one place, one row has
/// none.
constexpr tw::SparsePattern sparse_places() {
  return {.row_count = 4, .column_count = 3, .rows = {3, 0, 3, 1, 3}, .columns = {1, 2, 0, 1, 1}};
}
constexpr void sparse_product(Ir& ir) {
  const Tensor values = ops::host_load(ir, "values", {5}), dense = ops::host_load(ir, "dense", {3, 2});
  const Graph graph = ir.create_graph([](Tensor v, Tensor d) { return ops::static_sparse_matmul(v, sparse_places(), d); }, values,
                                      dense);
  const auto call = tw::call_with_info(graph, {values, dense});
  const auto info = tw::autodiff(graph);
  const auto gradients = tw::call(info.graph(), ops::host_load(ir, "dy", {4, 2}), info.inputs_dict(call)).as<2>();
  ops::host_store("y", call.output(0));
  ops::host_store("d_values", gradients[0]);
  ops::host_store("d_dense", gradients[1]);
}

constexpr std::int64_t thirds_rows = 64, thirds_columns = 4096;
constexpr void thirds(Ir& ir) { store("thirds", ops::host_load(ir.h2d_stream("x", {thirds_rows, thirds_columns})) / 3); }

constexpr void calls(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 2}));
  const auto add = [](Tensor t, Tensor value) { return t + value; };
  const Graph graph = ir.create_graph(add, x, x);
  const Tensor ones = ir.constant({1}, {2, 2}), twos = ir.constant({2}, {2, 2});
  store("plus one", tw::call(graph, {x, ones}));
  store("plus three", tw::call(graph, {tw::call(graph, {x, ones}), twos}));
}

/// Variables that ops in place change: each store sees what was written before it.
constexpr void updates(Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {}, tw::float32, "x"), y = ir.variable(tw::full(3), {}, tw::int32, "y");
  {
    const auto ordered = tw::in_sequence(ir);
    store("before", x);
    ops::scaled_add_(x, ir.constant(5.0), {.a = 0});
    store("after", x);
  }
  const Tensor w = ir.variable(tw::ones(), {}, tw::float32, "w");
  store("product", w * x);
  ops::scaled_add_(w, ir.constant(2.0));
  store("y", y);
}
constexpr void nothing(Ir&) {}
constexpr std::string_view odd_name = "../\n\x01 \xff`'\"/x";
constexpr void oddly_named(Ir& ir) {
  const Tensor v = ir.variable(tw::ones(), {3}, tw::float32, odd_name);
  ops::add_(v, v);
}

/// x W + b, its gradient by autodiff and by hand, and sums of the gradients of two calls.
struct Linear : tw::Module<Linear> {
  constexpr Tensor build(Tensor x) {
    const Tensor w = add_variable_input("w", tw::normal(0, 1), {x.shape(-1), 2});
    return x.matmul(w) + add_variable_input("b", tw::normal(0, 1), {2});
  }
};
constexpr void linear(Ir& ir) {
  const Tensor ones = ir.constant({1}, {2, 16}), x = ops::host_load(ir.h2d_stream("x", {2, 16}));
  const Tensor dy = ops::host_load(ir.h2d_stream("dy", {2, 2}));
  const auto [factories, graph] = tw::create_graph(Linear{}, x);
  const auto variables = factories.init();
  const auto first = graph.bind(variables).call_with_info(ones), second = graph.bind(variables).call_with_info(x);
  store("y of ones", first.output(0));

  const Tensor w = graph.args()["w"], b = graph.args()["b"];
  const auto info = tw::autodiff(graph, {.grads_required = std::vector{b, w}}).grad_graph_info();
  Tensor db = ir.constant({0}, {2}), dw = ir.constant({0}, {16, 2});
  for (const auto& call : {first, second}) {
    const auto gradients = tw::call(info.graph(), dy, info.inputs_dict(call)).as<2>();  // as required: b, then w
    db = db + gradients[0];
    dw = dw + gradients[1];
  }
  store("db", db);
  store("dw", dw);
  store("db by hand", 2 * ops::sum(dy, 0));
  store("dw by hand", ones.T().matmul(dy) + x.T().matmul(dy));
}

}  // namespace

TEST_CASE("program: two streams added") {
  tw::Session<addition> session;
  CHECK(session.run("a"_s = Floats{1.5f}, "b"_s = Floats{-4})["sum"_s](0) == -2.5f);
  CHECK(session.run("b"_s = Floats{2}, "a"_s = Floats{1})["sum"_s](0) == 3);
}
TEST_CASE("program: one graph called with ones, then twos") {
  tw::Session<calls> session;
  const auto outputs = session.run("x"_s = xt::xtensor<float, 2>{{1, -2}, {0.5f, 4}});
  CHECK(elements(outputs["plus one"_s]) == Floats{2, -1, 1.5f, 5});
  CHECK(elements(outputs["plus three"_s]) == Floats{4, 1, 3.5f, 7});
}
TEST_CASE("program: variables are read, changed and written") {
  tw::Session<updates> session;
  CHECK(session.get_tensor_data("y"_s)() == 3);
  CHECK(session.get_tensor_data("x"_s)() == 1);
  const auto outputs = session.run();
  CHECK(outputs["before"_s]() == 1);
  CHECK(outputs["after"_s]() == 5);
  CHECK(outputs["product"_s]() == 5);
  CHECK(session.get_tensor_data("w"_s)() == 3);
  session.write_variable_data("y"_s, 5);
  CHECK(session.get_tensor_data("y"_s)() == 5);
  for (int value = 1; value <= 3; ++value) {
    session.write_variable_data("y"_s, value);
    CHECK(session.run()["y"_s]() == value);
  }
}
TEST_CASE("program: one without ops") {
  tw::Session<nothing> session({.threads = 1});
  session.run();
  CHECK(session.plan.steps.size() == 0);
  CHECK(session.host_tensors().size() == 0);
}
TEST_CASE("program: a variable's name has any characters") {
  tw::Session<oddly_named> session({.threads = 1});
  session.run();
  const auto tensors = session.host_tensors();
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].name == odd_name);
}
TEST_CASE("program: a linear layer and its gradients") {
  tw::Session<linear> session;
  xt::xtensor<float, 2> x(std::array<std::size_t, 2>{2, 16});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7) - 3;
  const auto outputs = session.run("x"_s = x, "dy"_s = xt::xtensor<float, 2>{{1, 2}, {-3, 4}});
  const auto w = session.get_tensor_data("w"_s);
  const auto b = session.get_tensor_data("b"_s);
  const auto y = outputs["y of ones"_s];
  for (std::size_t column = 0; column < 2; ++column) {
    float expected = b(column);
    for (std::size_t row = 0; row < 16; ++row) expected += w(row, column);
    CHECK(y(0, column) == Approx(expected).margin(1e-5));
    CHECK(y(1, column) == y(0, column));
  }
  CHECK(elements(outputs["db"_s]) == elements(outputs["db by hand"_s]));
  CHECK(elements(outputs["dw"_s]) == elements(outputs["dw by hand"_s]));
  CHECK(elements(outputs["db"_s]) == Floats{-4, 12});
}

TEST_CASE("denormal numbers are 0 in a run, but for float16, and stay what they are outside") {
  tw::Session<doubled> session({.threads = 2});
  const xt::xtensor<float, 1> single = 1e-40f * xt::ones<float>({37});
  const xt::xtensor<double, 1> twice = 1e-310 * xt::ones<double>({37});
  xt::xtensor<tw::float16_t, 1> half(std::array<std::size_t, 1>{37});
  const auto smallest = static_cast<tw::float16_t>(0x1p-24f);
  half.fill(smallest);
  const auto outputs = session.run("single"_s = single, "double"_s = twice, "half"_s = half);
#if defined(__SSE__) || defined(__aarch64__)
  CHECK(elements(outputs["2 single"_s]) == Floats(37, 0));
  CHECK(elements(outputs["2 double"_s]) == std::vector<double>(37, 0));
#else
  CHECK(outputs["2 single"_s](0) >= 0);
#endif
  for (const tw::float16_t number : outputs["2 half"_s]) CHECK(static_cast<float>(number) == 0x1p-23f);
  volatile float outside = 1e-40f;
  outside = outside + outside;
  CHECK(outside > 0);
}
TEST_CASE("a sparse matrix by a dense one") {
  tw::Session<sparse_product> session;
  const xt::xtensor<float, 1> values{1, 2, 3, 4, 5};
  const xt::xtensor<float, 2> dense{{1, 10}, {2, 20}, {3, 30}}, dy{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  xt::xtensor<float, 2> y = xt::zeros<float>({4, 2}), d_dense = xt::zeros<float>({3, 2});
  xt::xtensor<float, 1> d_values = xt::zeros<float>({5});
  const tw::SparsePattern places = sparse_places();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t n = 0; n < 2; ++n) {
      const auto row = static_cast<std::size_t>(places.rows[i]), column = static_cast<std::size_t>(places.columns[i]);
      y(row, n) += values(i) * dense(column, n);
      d_values(i) += dy(row, n) * dense(column, n);
      d_dense(column, n) += values(i) * dy(row, n);
    }
  const auto outputs = session.run("values"_s = values, "dense"_s = dense, "dy"_s = dy);
  CHECK(elements(outputs["y"_s]) == Floats(y.begin(), y.end()));
  CHECK(elements(outputs["d_values"_s]) == Floats(d_values.begin(), d_values.end()));
  CHECK(elements(outputs["d_dense"_s]) == Floats(d_dense.begin(), d_dense.end()));
}
TEST_CASE("results do not depend on how the caller rounds numbers, which stays as it is") {
  xt::xtensor<float, 2> x(std::array<std::size_t, 2>{thirds_rows, thirds_columns});
  Floats expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x.data()[i] = static_cast<float>(i);
    expected.push_back(static_cast<float>(i) / 3);
  }
  for (const int threads : {1, 3}) {
    tw::Session<thirds> session({.threads = threads});
    for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      REQUIRE(std::fesetround(mode) == 0);
      const auto outputs = session.run("x"_s = x);
      const int after = std::fegetround();
      std::fesetround(FE_TONEAREST);
      CHECK(after == mode);
      CHECK(elements(outputs["thirds"_s]) == expected);
    }
  }
}
