// labels: none
// Kernels whose extents are arguments give what kernels of static shape give, up to the rounding of sums.
#include <tilewright/library_kernels.hpp>

#include "../planner/fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Shape, tw::Tensor;

/// Whether all compute sets of a program run on kernels of the library.
template <auto build>
constexpr bool is_all_in_library = []<std::size_t... set>(std::index_sequence<set...>) {
  return (tw::internal::detail::is_library_set<tw::Program<build>::plan, set> && ...);
}(std::make_index_sequence<tw::Program<build>::plan.compute_sets.size()>{});

template <auto build>
void check_library(double tolerance) {
  static_assert(is_all_in_library<build>);
  const Values expected = results<build, tw::cpu>(1, 1);
  for (const int threads : {1, 3}) {
    const Values actual = results<build, tw::cpu.with_library_kernels()>(threads, 1);
    REQUIRE(actual.size() == expected.size());
    for (const auto& [name, value] : expected) {
      INFO(name << ", " << threads << " threads");
      CHECK(difference(actual.at(name), value) < tolerance);
    }
  }
}

/// A product of variables, with either operand transposed.
template <tw::DType dtype>
constexpr void product(Ir& ir, std::string_view name, const Shape& a_shape, const Shape& b_shape) {
  const auto swapped = [](const Shape& shape) {
    Shape result = shape;
    std::swap(result[-1], result[-2]);
    return result;
  };
  const auto transposed = [](Tensor x) {
    Shape order;
    for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
    std::swap(order[-1], order[-2]);
    return ops::transpose(x, order);
  };
  const auto made = [&](std::string_view kind, const Shape& shape) {
    return variable(ir, tw::text(name, kind).view(), shape, dtype);
  };
  const Tensor a = made("a", a_shape), b = made("b", b_shape);
  store(tw::text(name, " a b").view(), a.matmul(b));
  store(tw::text(name, " at b").view(), transposed(made("at", swapped(a_shape))).matmul(b));
  store(tw::text(name, " a bt").view(), a.matmul(transposed(made("bt", swapped(b_shape)))));
}
template <tw::DType dtype>
constexpr void products(Ir& ir) {
  product<dtype>(ir, "one", {1, 1}, {1, 1});
  product<dtype>(ir, "row", {1, 40}, {40, 70});
  product<dtype>(ir, "column", {19, 65}, {65, 1});
  product<dtype>(ir, "small", {8, 100}, {100, 10});
  product<dtype>(ir, "large", {77, 300}, {300, 261});
  product<dtype>(ir, "cut", {8, 784}, {784, 512});
  product<dtype>(ir, "one matrix", {3, 5, 33}, {33, 50});
  product<dtype>(ir, "batches", {2, 1, 7, 20}, {3, 20, 17});
}
constexpr void long_product(Ir& ir) { product<tw::float32>(ir, "long", {9, 5000}, {5000, 21}); }

/// Products with epilogues, in place and nested.
template <tw::DType dtype>
constexpr void epilogues(Ir& ir) {
  const Tensor x = variable(ir, "x", {24, 50}, dtype), w = variable(ir, "w", {50, 130}, dtype);
  const Tensor h = ops::gelu(x.matmul(w) + variable(ir, "b", {130}, dtype));
  store("h", h);
  const Tensor dy = h * variable(ir, "row", {24, 1}, dtype) - h;
  store("dx", ops::relu(dy.matmul(ops::transpose(w, {1, 0})) + x));
  ops::scaled_add_(w, ops::transpose(x, {1, 0}).matmul(dy), {.b = -0.01});
  store("w", w);
}

constexpr void formulas(Ir& ir) {
  const Tensor x = variable(ir, "x", {5, 42}), y = variable(ir, "y", {42, 5}), z = ops::transpose(y, {1, 0});
  const Tensor positive = ops::exp(x), number = variable(ir, "number", {}), row = variable(ir, "row", {42});
  store("arithmetic", (x + z) * row - positive / (number + 3));
  store("negated", -x);
  store("column", z + variable(ir, "column", {5, 1}));
  store("functions", ops::log(positive) + ops::sqrt(positive) + ops::tanh(z));
  store("activations", ops::sigmoid(x) + ops::relu(z) + ops::gelu(x) + ops::swish(z));
  store("of the program", ops::softplus(x) + ops::clip(z, -0.5, 0.5));
  store("scaled", ops::scaled_add(x, z, {.a = 0.5, .b = number}));
  store("cast", (x.cast(tw::float16) * z.cast(tw::float16)).cast(tw::float32));
  const Tensor large = variable(ir, "large", {3, 7, 301});
  store("large", ops::gelu(large) * variable(ir, "of matrices", {7, 1}));
}

template <tw::DType dtype>
constexpr void sums(Ir& ir) {
  const Tensor x = variable(ir, "x", {6, 300, 33}, dtype);
  store("rows", ops::sum(x, {0}));
  store("long", ops::sum(x, {1}));
  store("runs", ops::mean(x, {2}, true));
  store("outer", ops::sum(x, {0, 1}) * 0.5);
  store("inner", ops::mean(x, {1, 2}));
  store("all", ops::mean(x));
  store("strided", ops::sum(ops::transpose(x, {2, 1, 0}), {0}));
}

template <tw::DType dtype>
constexpr void losses(Ir& ir) {
  const Tensor labels = ir.constant({0, 9, 3, 5, 3, 1}, {6}, tw::int32);
  const auto differentiate = [&](std::string_view name, std::int64_t classes, const tw::NllOptions& options) {
    const Tensor x = variable(ir, tw::text("x ", name).view(), {6, classes}, dtype);
    const tw::Graph loss = ir.create_graph(
        [&](Tensor logits, Tensor of_rows) { return ops::cross_entropy(logits, of_rows, options); }, x.spec(), labels.spec());
    const auto call = tw::call_with_info(loss, {x, labels});
    const auto gradient = tw::autodiff(loss);
    const Tensor dy = variable(ir, tw::text("dy ", name).view(), call.output(0).shape(), dtype);
    store(tw::text("loss ", name).view(), call.output(0));
    store(tw::text("dx ", name).view(), tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).output(0));
  };
  differentiate("mean", 10, {});
  differentiate("sum", 17, {.reduction = tw::Reduction::sum});
  differentiate("none", 300, {.reduction = tw::Reduction::none});
  differentiate("ignores", 10, {.ignore_index = 3});
  const auto [loss, dx] = ops::cross_entropy_with_grad(variable(ir, "x", {6, 10}, dtype), labels, 4);
  store("loss", loss);
  store("dx", dx);
}

constexpr void wrong_label(Ir& ir) {
  const Tensor labels = ir.constant({0, 10}, {2}, tw::int32);
  store("loss", ops::cross_entropy(variable(ir, "x", {2, 10}), labels));
}

}  // namespace

TEST_CASE("products of the library") {
  check_library<products<tw::float32>>(2e-5);
  check_library<products<tw::float16>>(2e-3);
  check_library<long_product>(5e-5);  // 5,000 terms, of which either kernel adds parts of other lengths
}
TEST_CASE("products of the library with epilogues") {
  check_library<epilogues<tw::float32>>(1e-5);
  check_library<epilogues<tw::float16>>(4e-3);
}
TEST_CASE("formulas of the library") { check_library<formulas>(1e-6); }
TEST_CASE("sums of the library") {
  check_library<sums<tw::float32>>(1e-5);
  check_library<sums<tw::float16>>(2e-3);
}
TEST_CASE("losses of the library") {
  check_library<losses<tw::float32>>(1e-5);
  check_library<losses<tw::float16>>(2e-3);
  TestSession<wrong_label, tw::cpu.with_library_kernels()> session;
  CHECK_THROWS_AS(session.run(), tw::FaultError);
}
TEST_CASE("simulated IPUs have no kernels of the library") {
  CHECK_THROWS_AS(tw::ipu_model.with_library_kernels(), std::invalid_argument);
}
