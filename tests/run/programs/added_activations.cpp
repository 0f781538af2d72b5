// labels: systems
// What gradient rules add to forward graphs: slopes of activations. They change gradients by rounding only.
#include "../../support/elements.hpp"
#include "tilewright/layers/layers.hpp"

namespace {

using support::load;
using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr auto gelu = [](Tensor x) { return ops::gelu(x); };
constexpr auto geluerf = [](Tensor x) { return ops::geluerf(x); };
constexpr auto swish = [](Tensor x) { return ops::swish(x); };

/// A graph of (x, w, v) and its gradients. Whether it adds activations.
template <auto build, bool adds = true>
constexpr void step(Ir& ir) {
  tw::adds_activations(ir, adds);
  const Tensor x = load(ir, "x", {6, 5}), w = load(ir, "w", {5, 8}), v = load(ir, "v", {8, 5}), dy = load(ir, "dy", {6, 5});
  const tw::Graph graph = ir.create_graph([](Tensor a, Tensor b, Tensor c) { return build(a, b, c); }, x, w, v);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {x, w, v});
  store("y", call.output(0));
  const auto gradients = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).outputs();
  for (std::size_t i = 0; i < 3; ++i) store(std::array{"dx", "dw", "dv"}[i], gradients[i]);
}
template <auto activation>
constexpr auto layer = [](Tensor x, Tensor w, Tensor v) { return activation(x.matmul(w)).matmul(v); };
/// A call behind the activation: the slope stands at the end of the graph.
constexpr auto before_a_call = [](Tensor x, Tensor w, Tensor v) {
  const Tensor h = ops::gelu(x.matmul(w));
  const tw::Graph product = x.ir().create_graph([](Tensor a, Tensor b) { return a.matmul(b); }, h, v);
  return Tensor(tw::call(product, {h, v})) + Tensor(tw::call(product, {h, v * 2}));
};
/// Activations whose input is needed as well, or can change.
constexpr auto read_twice = [](Tensor x, Tensor w, Tensor v) {
  const Tensor h = x.matmul(w);
  return (ops::gelu(h) * h).matmul(v);
};
constexpr auto of_a_result_that_is_kept = [](Tensor x, Tensor w, Tensor v) { return ops::gelu(ops::exp(x.matmul(w))).matmul(v); };
constexpr auto in_place = [](Tensor x, Tensor w, Tensor v) { return ops::relu_(ops::gelu(x.matmul(w)) - 0.1f).matmul(v); };
constexpr auto of_an_input = [](Tensor x, Tensor w, Tensor v) { return ops::gelu(x).matmul(w).matmul(v); };

template <auto program>
constexpr bool has(std::string_view text) {
  return support::plan_text(program).view().find(text) != std::string_view::npos;
}
template <auto program>
constexpr std::int64_t frame = support::plan_of(program).memory.frame;

static_assert(has<step<layer<gelu>>>("MatMul [Gelu, GeluSlope]") && !has<step<layer<gelu>>>("GeluGrad"));
static_assert(has<step<layer<geluerf>>>("MatMul [GeluErf, GeluErfSlope]") &&
              has<step<layer<swish>>>("MatMul [Swish, SwishSlope]"));
static_assert(!has<step<layer<gelu>, false>>("Slope") && has<step<layer<gelu>, false>>("GeluGrad"));
static_assert(has<step<before_a_call>>("GeluSlope"));
static_assert(!has<step<read_twice>>("Slope") && !has<step<of_a_result_that_is_kept>>("Slope"));
static_assert(!has<step<in_place>>("Slope") && !has<step<of_an_input>>("Slope"));
static_assert(frame<step<layer<gelu>>> <= frame<step<layer<gelu>, false>>);

xt::xtensor<float, 2> numbers(std::size_t rows, std::size_t columns, int seed) {
  xt::xtensor<float, 2> x({rows, columns});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>((static_cast<int>(i) + seed) * 7919 % 1000) / 250 - 2;
  return x;
}
template <auto build>
void check_same() {
  tw::Session<step<build>> with({.threads = 1});
  tw::Session<step<build, false>> without({.threads = 1});
  const auto x = numbers(6, 5, 0), w = numbers(5, 8, 1), v = numbers(8, 5, 2), dy = numbers(6, 5, 3);
  const auto run = [&](auto& session) { return session.run("x"_s = x, "w"_s = w, "v"_s = v, "dy"_s = dy); };
  auto a = run(with);
  auto b = run(without);
  const auto check = [](const xt::xtensor<float, 2>& found, const xt::xtensor<float, 2>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(std::abs(found.data()[i] - expected.data()[i]) <= 4e-6f * std::max(1.f, std::abs(expected.data()[i])));
  };
  check(a["y"_s], b["y"_s]);
  check(a["dx"_s], b["dx"_s]);
  check(a["dw"_s], b["dw"_s]);
  check(a["dv"_s], b["dv"_s]);
}

}  // namespace

TEST_CASE("added activations: gradients are those without them") {
  check_same<layer<gelu>>();
  check_same<layer<geluerf>>();
  check_same<layer<swish>>();
  check_same<before_a_call>();
}
