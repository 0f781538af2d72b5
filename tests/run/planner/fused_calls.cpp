// labels: none
// Elementwise ops behind and before calls move into the graph that is called, and change no result.
#include <algorithm>

#include "../../support/elements.hpp"
#include "../../support/same.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/train/update.hpp"

namespace {

using support::load;
using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr tw::Graph product(Ir& ir) {
  return ir.create_graph([](Tensor h, Tensor w) { return h.matmul(w); }, tw::TensorSpec{{8, 16}}, tw::TensorSpec{{16, 16}});
}
constexpr Tensor weight(Ir& ir, std::string_view name, int number, const tw::Shape& shape) {
  return ir.variable(tw::normal(0, 0.25), shape, tw::float32, tw::text(name, number).view());
}

/// h = relu(f(h) + b) / 2 + h, again and again.
template <int calls, bool fuses = true>
constexpr void residuals(Ir& ir) {
  tw::fuses_across_calls(ir, fuses);
  const tw::Graph f = product(ir);
  Tensor h = load(ir, "x", {8, 16});
  for (int i = 0; i < calls; ++i)
    h = ops::relu(tw::call(f, {h, weight(ir, "w", i, {16, 16})}) + weight(ir, "b", i, {16})) * 0.5 + h;
  store("y", h);
}

/// Ops that stay behind their calls, as they would compute something else in the called graph, or cost memory; and some that move
/// between these.
template <bool fuses = true>
constexpr void several(Ir& ir) {
  tw::fuses_across_calls(ir, fuses);
  const Tensor x = load(ir, "x", {8, 16});
  const Tensor u = weight(ir, "u", 0, {8, 16}), v = weight(ir, "v", 0, {8, 16}), w = weight(ir, "w", 0, {16, 16});
  const auto twice = [&](std::string_view name, const auto& follow) {
    const tw::Graph f = product(ir);
    for (int i = 0; i < 2; ++i) store(tw::text(name, i).view(), follow(tw::call(f, {x, w}), i));
  };
  twice("two readers", [&](Tensor y, int i) {
    store(tw::text("first reader", i).view(), y);
    return y * 2;
  });
  twice("larger", [&](Tensor y, int) { return y.reshape({1, 8, 16}) + ops::expand(v, {3, 8, 16}); });
  twice("unlike", [&](Tensor y, int i) { return i == 0 ? y + v : y * v; });
  twice("changed between", [&](Tensor y, int) {
    ops::scaled_add_(v, x);
    return y + v;
  });
  const auto add = [](tw::TensorByRef a, Tensor b) {
    ops::scaled_add_(a, b);
    return b * 2;
  };
  const tw::Graph changes = ir.create_graph(add, v, v);
  for (int i = 0; i < 2; ++i) store(tw::text("changed by the call", i).view(), Tensor(tw::call(changes, {v, x})) + v);
  const tw::Graph returns = ir.create_graph([](Tensor a, Tensor b) { return std::array{a * b, a}; }, v, v);
  for (int i = 0; i < 2; ++i) {
    const auto results = tw::call(returns, {v, x});
    ops::scaled_add_(v, results[0], {.b = 0.5});
    store(tw::text("returned before it changes", i).view(), results[1]);
  }
  const tw::Graph updated = ir.create_graph([](Tensor a, Tensor b) { return ops::tanh(a) * b; }, v, v);
  for (const Tensor& variable : {u, v}) ops::scaled_add_(variable, tw::call(updated, {variable, x}), {.b = -0.25});
  store("u", u);
  store("v", v);
}

/// A graph whose first op is elementwise.
constexpr tw::Graph shifted_product(Ir& ir) {
  return ir.create_graph([](Tensor h, Tensor b, Tensor w) { return (h + b).matmul(w); }, tw::TensorSpec{{8, 16}},
                         tw::TensorSpec{{16}}, tw::TensorSpec{{16, 16}});
}
/// h = f(tanh(h * s)), again and again: ops that stand before all calls, and not behind the last one.
template <int calls, bool fuses = true>
constexpr void activated(Ir& ir) {
  tw::fuses_across_calls(ir, fuses);
  const tw::Graph f = shifted_product(ir);
  Tensor h = load(ir, "x", {8, 16});
  for (int i = 0; i < calls; ++i)
    h = tw::call(f, {ops::tanh(h * weight(ir, "s", i, {16})), weight(ir, "b", i, {16}), weight(ir, "w", i, {16, 16})});
  store("y", h);
}
/// What stands before two calls of `f`: `first(i)` makes the first input of call i.
constexpr void before_two_calls(std::string_view name, tw::Graph f, Tensor b, Tensor w, const auto& first) {
  for (int i = 0; i < 2; ++i) {
    const Tensor h = first(i);
    store(tw::text(name, i).view(), Tensor(tw::call(f, {h, b, w})));
  }
}
/// Ops that stay before their calls.
template <bool fuses = true>
constexpr void stays_before(Ir& ir) {
  tw::fuses_across_calls(ir, fuses);
  const Tensor x = load(ir, "x", {8, 16});
  const Tensor v = weight(ir, "v", 0, {8, 16}), b = weight(ir, "b", 0, {16}), w = weight(ir, "w", 0, {16, 16});
  before_two_calls("two readers", shifted_product(ir), b, w, [&](int i) {
    const Tensor y = x * 2;
    store(tw::text("other reader", i).view(), y);
    return y;
  });
  before_two_calls("unlike", shifted_product(ir), b, w, [&](int i) { return i == 0 ? x * v : x + v; });
  before_two_calls("other number", shifted_product(ir), b, w, [&](int i) { return x * (i + 2); });
  before_two_calls("two operands made", shifted_product(ir), b, w, [&](int) { return x.matmul(w) + v.matmul(w); });
  before_two_calls("changed between", shifted_product(ir), b, w, [&](int) {
    const Tensor y = v * 2;
    ops::scaled_add_(v, x);
    return y;
  });
  const auto read_product = [](Tensor h, Tensor c, Tensor m) { return h.matmul(m) + c; };
  before_two_calls("a product reads it", ir.create_graph(read_product, x, b, w), b, w, [&](int) { return x * 2; });
  const auto change = [](tw::TensorByRef h, Tensor c, Tensor m) {
    ops::scaled_add_(h, h + c);
    return h.matmul(m);
  };
  before_two_calls("the call changes it", ir.create_graph(change, x, b, w), b, w, [&](int) { return x * 2; });
  const auto give_back = [](Tensor h, Tensor c, Tensor m) { return std::array{(h + c).matmul(m), h}; };
  const tw::Graph returned = ir.create_graph(give_back, x, b, w);
  for (int i = 0; i < 2; ++i) store(tw::text("returned", i).view(), tw::call(returned, {x * 2, b, w})[1]);
  store("v", v);
}

/// Layers of one graph.
template <int layers, int width>
struct Stack : tw::Module<Stack<layers, width>> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, layer] = tw::create_graph(tw::layers::Linear<width>{}, x);
    for (int i = 0; i < layers; ++i) x = layer.bind(this->add_variable_inputs(i, factories)).call(x);
    return x;
  }
};
/// A step of training. The rate of gradient descent is made negative behind the gradients' calls, for each variable anew.
template <int layers, class Parameters, int width, bool fuses = true, bool stores = true>
constexpr void step(Ir& ir) {
  tw::fuses_across_calls(ir, fuses);
  const Tensor x = load(ir, "x", {8, width}), rate = load(ir, "rate", {});
  const auto [factories, forward] = tw::create_graph(Stack<layers, width>{}, x);
  const auto backward = tw::autodiff(forward);
  const tw::NamedTensors variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(x, info.inputs_dict(call)));
  tw::train::Updater<Parameters> update(Parameters{.lr = rate}, "state");
  for (const auto& [name, variable] : variables.named_tensors()) update(name.view(), variable, gradients[variable]);
  if (!stores) return;
  for (const auto& [name, variable] : variables.named_tensors()) store(name.view(), variable);
}

constexpr int main_steps(auto program, const tw::Target& target = tw::cpu) {
  return support::plan_of(program, target).bodies[tw::internal::BodyId::main].step_count;
}
constexpr std::int64_t frame(auto program) { return support::plan_of(program).memory.frame; }

static_assert(main_steps(residuals<12, false>) == 24, "calls, and sums");
static_assert(main_steps(residuals<12>) == 12 && main_steps(residuals<2>) == 2, "calls");
static_assert(main_steps(residuals<1>) == main_steps(residuals<1, false>), "one call is inlined");
static_assert(frame(residuals<12>) <= frame(residuals<12, false>));
TW_SAME(support::plan_text(residuals<2>),
        "Body 0 : 2 steps, 512 bytes\n"
        "  call body 1\n"
        "  call body 1\n"
        "Body 1 : 1 steps, 0 bytes\n"
        "  --\n"
        "  1 of 8 x 16 x 16: MatMul [Add <Add, Relu, Mul>]\n");

static_assert(main_steps(activated<12, false>) == 24, "ops, and calls");
static_assert(main_steps(activated<12>) == 12 && main_steps(activated<2>) == 2, "calls");
static_assert(frame(activated<12>) <= frame(activated<12, false>));
static_assert(main_steps(stays_before<>) == main_steps(stays_before<false>));
TW_SAME(support::plan_text(activated<2>),
        "Body 0 : 2 steps, 1024 bytes\n"
        "  call body 1\n"
        "  call body 1\n"
        "Body 1 : 2 steps, 512 bytes\n"
        "  --\n"
        "  8 of 1 x 16: Add <Mul, Tanh>\n"
        "  --\n"
        "  1 of 8 x 16 x 16: MatMul\n");

using Descent = tw::optim::SgdParameters;
using Adam = tw::optim::AdamParameters;
/// A width whose weights are small, and one whose gradients have so many bytes that updates of several ops move.
constexpr int small = 16, large = 512;
template <class Parameters, int width, bool fuses>
constexpr int steps_of_layer = main_steps(step<4, Parameters, width, fuses, false>) -
                               main_steps(step<3, Parameters, width, fuses, false>);
static_assert(steps_of_layer<Descent, small, true> == 2, "calls, forward and backward");
static_assert(steps_of_layer<Descent, small, false> == 4, "and updates of two variables");
static_assert(steps_of_layer<Adam, large, true> == 3, "the update of the bias stays");
static_assert(steps_of_layer<Adam, large, false> >= 4);
static_assert(steps_of_layer<Adam, small, true> == steps_of_layer<Adam, small, false>);
static_assert(frame(step<3, Descent, small>) < frame(step<3, Descent, small, false>), "gradients of weights are never stored");
static_assert(frame(step<3, Adam, large>) < 200'000 && frame(step<3, Adam, large, false>) >= 4 * large * large);

static_assert(main_steps(residuals<12>, tw::ipu_model) == main_steps(residuals<12, false>, tw::ipu_model), "off");
static_assert(main_steps(residuals<3>, tw::cpu.without_fusion()) == main_steps(residuals<3, false>, tw::cpu.without_fusion()));

xt::xtensor<float, 2> some_input(int seed, std::size_t width) {
  xt::xtensor<float, 2> x({8, width});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>((static_cast<int>(i) + seed) * 7919 % 1000) / 500 - 1;
  return x;
}
/// All results of two programs are the same, bit for bit, in each of three runs.
template <auto with, auto without, std::size_t width = 16>
void check_same(auto... rate) {
  tw::Session<with> fused({.threads = 1});
  tw::Session<without> apart({.threads = 2});
  for (int run = 0; run < 3; ++run) {
    const auto x = some_input(run, width);
    const auto outputs = fused.run("x"_s = x, "rate"_s = rate...);
    const auto expected = apart.run("x"_s = x, "rate"_s = rate...);
    const auto results = outputs.host_tensors();
    const auto others = expected.host_tensors();
    REQUIRE(results.size() == others.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      INFO("run " << run << ": " << results[i].name);
      REQUIRE(results[i].name == others[i].name);
      CHECK(std::ranges::equal(results[i].bytes, others[i].bytes));
    }
  }
}

}  // namespace

TEST_CASE("fused calls: sums behind calls give what their formula says") {
  tw::Session<residuals<2>> session({.threads = 1});
  const auto x = some_input(0, 16);
  const xt::xtensor<float, 2> y = session.run("x"_s = x)["y"_s];
  xt::xtensor<double, 2> h = x;
  const auto layer = [&h](const auto& w, const auto& b) {
    const xt::xtensor<double, 2> before = h;
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 16; ++j) {
        double sum = static_cast<double>(b(j));
        for (std::size_t k = 0; k < 16; ++k) sum += before(i, k) * static_cast<double>(w(k, j));
        h(i, j) = before(i, j) + 0.5 * std::max(sum, 0.0);
      }
  };
  layer(session.get_tensor_data("w0"_s), session.get_tensor_data("b0"_s));
  layer(session.get_tensor_data("w1"_s), session.get_tensor_data("b1"_s));
  CHECK(xt::allclose(y, h, 1e-5, 1e-5));
}

TEST_CASE("fused calls: ops before calls give what their formula says") {
  tw::Session<activated<2>> session({.threads = 1});
  const auto x = some_input(0, 16);
  const xt::xtensor<float, 2> y = session.run("x"_s = x)["y"_s];
  xt::xtensor<double, 2> h = x;
  const auto layer = [&h](const auto& scale, const auto& b, const auto& w) {
    const xt::xtensor<double, 2> before = h;
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 16; ++j) {
        h(i, j) = 0;
        for (std::size_t k = 0; k < 16; ++k)
          h(i, j) += (std::tanh(before(i, k) * static_cast<double>(scale(k))) + static_cast<double>(b(k))) *
                     static_cast<double>(w(k, j));
      }
  };
  layer(session.get_tensor_data("s0"_s), session.get_tensor_data("b0"_s), session.get_tensor_data("w0"_s));
  layer(session.get_tensor_data("s1"_s), session.get_tensor_data("b1"_s), session.get_tensor_data("w1"_s));
  CHECK(xt::allclose(y, h, 1e-5, 1e-5));
}

TEST_CASE("fused calls: results are the same without") {
  check_same<residuals<12>, residuals<12, false>>();
  check_same<activated<12>, activated<12, false>>();
  check_same<several<>, several<false>>();
  check_same<stays_before<>, stays_before<false>>();
  check_same<step<3, Descent, small>, step<3, Descent, small, false>, small>(0.1f);
  check_same<step<2, Adam, large>, step<2, Adam, large, false>, large>(0.01f);
}
