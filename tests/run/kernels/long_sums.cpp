// labels: none
// Sums of a million and of ten million numbers, in each order of loops: their error does not grow with their number.
#include <cmath>
#include <string_view>

#include "../../catch.hpp"
#include "../../support/reference.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;

namespace {

/// 0.1, of which float32 is 1.5e-8 off.
constexpr double tenth = 0.1F;
/// The relative error of a sum of numbers of one sign: 256 roundings of an accumulator, and some that join them.
constexpr double bound = 264 * 0x1p-24;

constexpr void store(tw::Ir& ir, std::string_view name, tw::Tensor y) { ops::host_store(ir.d2h_stream(name, y.spec()), y); }

template <std::int64_t n>
constexpr void reductions(tw::Ir& ir) {
  const auto x = ir.variable(tw::full(0.1), {n / 8, 8}, tw::float32, "x");
  const auto columns = x.T();
  for (const auto& [name, axes] : {std::pair{"columns", tw::Axes(0)}, {"all", tw::Axes()}}) {
    const auto named = [&](std::string_view op) { return tw::text(op, " ", name); };
    store(ir, named("sum").view(), ops::sum(x, axes));
    store(ir, named("mean").view(), ops::mean(x, axes));
    store(ir, named("l1").view(), ops::l1(x, axes));
    store(ir, named("sumsquare").view(), ops::sumsquare(x, axes));
    store(ir, named("l2").view(), ops::l2(x, axes));
    store(ir, named("logsumexp").view(), ops::logsumexp(x, axes));
  }
  store(ir, "sum strided", ops::sum(columns, {1}));
  store(ir, "l1 strided", ops::l1(columns, {1}));
  store(ir, "sum backwards", ops::sum(ops::flip(x, {1})));
  store(ir, "l1 backwards", ops::l1(ops::flip(x, {1})));
  store(ir, "sum of blocks", ops::sum(x.reshape({n / 80, 10, 8}), {0, 2}));
  store(ir, "sum of halves", ops::cast(ops::sum(ops::cast(x, tw::float16) * 0x1p-8, {0}), tw::float32));
  store(ir, "softmax", ops::slice(ops::softmax(x.reshape({n})), 0, 1));
  store(ir, "softmax of halves", ops::slice(ops::softmax(ops::cast(x.reshape({n}), tw::bfloat16)), 0, 1).cast(tw::float32));
}
template <std::int64_t n>
void check_reductions(int threads) {
  tw::Session<reductions<n>> session({.threads = threads});
  const double count = static_cast<double>(n), half = static_cast<double>(tw::float16_t(0.1F)) * 0x1p-8;
  const std::map<std::string, double> per_term{{"sum", tenth}, {"l1", tenth}, {"sumsquare", tenth * tenth}};
  for (const auto& [name, elements] : run(session)) {
    const std::string op = name.substr(0, name.find(' '));
    const double terms = elements.size() == 1 ? count : elements.size() == 8 ? count / 8 : count / 10;
    double expected = 0;
    if (name == "sum of halves") expected = half * terms;
    else if (per_term.contains(op)) expected = per_term.at(op) * terms;
    else if (op == "mean") expected = tenth;
    else if (op == "l2") expected = tenth * std::sqrt(terms);
    else if (op == "logsumexp") expected = tenth + std::log(terms);
    else expected = 1 / count;
    const double tolerance = name.ends_with("halves") ? (op == "sum" ? 0x1p-11 : 0x1p-8) + bound : bound;
    for (const double element : elements) {
      INFO(name << ": " << element << ", " << expected << " expected");
      CHECK(std::abs(element / expected - 1) <= tolerance);
    }
  }
}

template <std::int64_t n>
constexpr void running_sums(tw::Ir& ir) {
  const auto x = ir.variable(tw::full(0.1), {n / 8, 8}, tw::float32, "x");
  const auto line = x.reshape({n});
  store(ir, "columns", ops::slice(ops::cumsum(x, 0), n / 8 - 1, n / 8));
  store(ir, "line", ops::slice(ops::cumsum(line, 0), n - 1, n));
  store(ir, "strided", ops::slice(ops::cumsum(x.T(), 1), n / 8 - 1, n / 8, 1, 1));
}

constexpr tw::Tensor norm(tw::Tensor x, tw::Tensor weight, tw::Tensor bias) { return ops::layer_norm(x, weight, bias); }
/// Rows of -1, 1, -1, 1: dweight is -+0.1 for each, dbias 0.1.
template <std::int64_t rows, tw::DType dtype>
constexpr void norm_gradients(tw::Ir& ir) {
  const auto x = ir.variable(tw::values({-1, 1, -1, 1}), {1, 4}, dtype, "x");
  const auto all = ops::expand(x, {rows, 4}) + ops::cast(ir.constant(tw::zeros(), {rows, 4}, dtype), dtype);
  const auto weight = ir.variable(tw::ones(), {4}, dtype, "weight"), bias = ir.variable(tw::zeros(), {4}, dtype, "bias");
  const auto graph = ir.create_graph(norm, all.spec(), weight, bias);
  const auto call = tw::call_with_info(graph, {all, weight, bias});
  const auto info = tw::autodiff(graph);
  const auto gradient_call = tw::call_with_info(info.graph(), {ir.constant(tw::full(0.0625), {rows, 4}, dtype)},
                                                info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call);
  store(ir, "dweight", ops::cast(gradients[weight], tw::float32));
  store(ir, "dbias", ops::cast(gradients[bias], tw::float32));
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("reductions of many numbers", "", ((std::int64_t n), n), 1'000'000, 10'000'000) {
  check_reductions<n>(1);
  if (n == 1'000'000) check_reductions<n>(3);
}
TEST_CASE("running sums of many numbers") {
  constexpr std::int64_t n = 10'000'000;
  tw::Session<running_sums<n>> session({.threads = 1});
  for (const auto& [name, elements] : run(session))
    for (const double element : elements) {
      const double expected = tenth * static_cast<double>(name == "line" ? n : n / 8);
      INFO(name << ": " << element << ", " << expected << " expected");
      CHECK(std::abs(element / expected - 1) <= bound);
    }
}
TEST_CASE("gradients of the weights of normalisations of many rows") {
  constexpr std::int64_t rows = 1'000'000;
  const auto check = [](auto& session, double tolerance) {
    for (const auto& [name, elements] : run(session))
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const double expected = (name == "dbias" || i % 2 == 1 ? 0.0625 : -0.0625) * static_cast<double>(rows);
        INFO(name << ": " << elements[i] << ", " << expected << " expected");
        CHECK(std::abs(elements[i] / expected - 1) <= tolerance);
      }
  };
  tw::Session<norm_gradients<rows, tw::float32>> of_floats({.threads = 1});
  check(of_floats, 1e-5);  // of which 5e-6 is layer_norm's epsilon
  tw::Session<norm_gradients<rows, tw::bfloat16>> of_halves({.threads = 1});
  check(of_halves, 0x1p-8);
}
