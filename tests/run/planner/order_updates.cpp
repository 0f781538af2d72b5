// labels: none
// Updates of variables follow the calls that give their gradients, and change nothing else.
#include <algorithm>
#include <map>

#include "../../support/elements.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/train/step.hpp"
#include "tilewright/train/update.hpp"

namespace {

using tw::Ir, tw::Tensor;
using tw::internal::BodyDraft, tw::internal::Operation, tw::internal::Pass;
namespace ops = tw::ops;

constexpr int width = 32;

/// So many layers of one graph, each with weights of its own, or all with the same.
template <int layers, bool shared>
struct Stack : tw::Module<Stack<layers, shared>> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, layer] = tw::create_graph(tw::layers::Linear<width, {.zero_bias = true}>{}, x);
    tw::NamedTensors weights;
    for (int i = 0; i < layers; ++i) {
      if (i == 0 || !shared) weights = this->add_variable_inputs(i, factories);
      x = layer.bind(weights).call(x);
    }
    return x;
  }
};
/// A step of an optimiser on such a stack; the gradient and the new weight of the first layer are stored.
template <int layers, bool shared, class Parameters>
constexpr void step(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {4, width}));
  const auto [factories, forward] = tw::create_graph(Stack<layers, shared>{}, x);
  const auto backward = tw::autodiff(forward);
  const tw::NamedTensors variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(x, info.inputs_dict(call)));
  tw::train::Updater<Parameters> update(Parameters{.lr = 0.1}, "state");
  for (const auto& [name, variable] : variables.named_tensors()) update(name.view(), variable, gradients[variable]);
  const Tensor first = variables["0.weight"];
  store("gradient", gradients[first]);
  store("weight", first);
}
template <int layers>
constexpr void sgd_step(Ir& ir) {
  step<layers, false, tw::optim::SgdParameters>(ir);
}

template <int layers>
constexpr std::int64_t frame = tw::Session<sgd_step<layers>>::plan.memory.frame;
constexpr std::int64_t weight_bytes = width * width * 4;
static_assert(frame<9> - frame<5> < weight_bytes, "the frame has the gradients of one layer, not of all");

/// With gradients that are clipped by their global norm, all of which must be there before the first update.
template <int layers>
constexpr void clipped_step(Ir& ir) {
  tw::train::train_step(ir, Stack<layers, false>{}, tw::optim::SgdParameters{.lr = 0.1}, {{4, width}}, {.max_norm = 1});
}
template <int layers>
constexpr std::int64_t clipped_frame = tw::Program<clipped_step<layers>>::plan.memory.frame;
constexpr std::int64_t gradient_bytes = weight_bytes + width * 4, result_bytes = 4 * width * 4;
static_assert(clipped_frame<9> - clipped_frame<5> <= 4 * (gradient_bytes + result_bytes), "all gradients are there once");

/// The main body's operations after a pass, as texts that no two of them share.
std::vector<std::string> operations_after(Pass wanted, void (*program)(Ir&), std::vector<Operation>& operations) {
  struct Keep {
    Pass pass;
    std::vector<Operation>& kept;
    void operator()(Pass after, tw::internal::BodyId body, const BodyDraft& draft, const tw::internal::Plan&) const {
      if (after == pass && body == tw::internal::BodyId::main) kept.assign(draft.operations.begin(), draft.operations.end());
    }
    void operator()(const tw::internal::Plan&) const {}
  };
  Ir ir;
  program(ir);
  tw::lower(tw::prepare(std::move(ir), tw::cpu), Keep{wanted, operations});
  std::vector<std::string> texts;
  for (const Operation& operation : operations) {
    std::string text = operation.is_call() ? "call" : std::string(operation.op->name);
    for (const auto& operand : operation.operands)
      text += " " + std::to_string(static_cast<int>(operand.storage)) + "+" + std::to_string(operand.layout.offset);
    texts.push_back(text);
  }
  return texts;
}
/// Whether one of them writes what the other uses.
bool conflict(const Operation& a, const Operation& b) {
  return std::ranges::any_of(a.operands, [&](const auto& operand) { return b.writes(operand.storage); }) ||
         std::ranges::any_of(b.operands, [&](const auto& operand) { return a.writes(operand.storage); });
}
/// Checks that operations which share memory keep their order; gives how many others changed it.
int check_order(void (*program)(Ir&)) {
  std::vector<Operation> before, after;
  const auto first = operations_after(Pass::flatten, program, before);
  const auto second = operations_after(Pass::order_updates, program, after);
  REQUIRE(std::ranges::is_permutation(first, second));
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < second.size(); ++i) place[second[i]] = i;
  REQUIRE(place.size() == second.size());
  int changed = 0;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = i + 1; j < first.size(); ++j) {
      const bool kept = place[first[i]] < place[first[j]];
      changed += !kept;
      INFO(first[i] << ", then " << first[j]);
      if (conflict(before[i], before[j])) CHECK(kept);
    }
  return changed;
}

}  // namespace

TEST_CASE("order_updates: operations that share memory keep their order") {
  using tw::optim::AdamParameters, tw::optim::SgdParameters;
  CHECK(check_order(step<4, false, SgdParameters>) > 0);
  CHECK(check_order(step<4, false, AdamParameters>) > 0);
  check_order(step<4, true, SgdParameters>);
  check_order(step<4, true, AdamParameters>);
  CHECK(check_order(step<1, false, SgdParameters>) == 0);  // one call is inlined
}

TEST_CASE("order_updates: shared weights are read by all calls before they change") {
  tw::Session<step<3, true, tw::optim::SgdParameters>> session({.threads = 1});
  const auto weight = session.get_tensor_data("0.weight"_s);
  xt::xtensor<float, 2> x({4, width});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  const auto outputs = session.run("x"_s = x);
  const auto gradient = outputs["gradient"_s], changed = outputs["weight"_s];
  // y = x W^3, dy = x: the gradient of W is x^T x W2^T + (x W)^T x W^T + (x W2)^T x, with W2 = W W.
  const auto product = [](const auto& a, const auto& b) {
    xt::xtensor<double, 2> result = xt::zeros<double>({a.shape(0), b.shape(1)});
    for (std::size_t i = 0; i < a.shape(0); ++i)
      for (std::size_t j = 0; j < b.shape(1); ++j)
        for (std::size_t k = 0; k < b.shape(0); ++k) result(i, j) += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
    return result;
  };
  const xt::xtensor<double, 2> wt = xt::transpose(weight), xw = product(x, weight), xww = product(xw, weight);
  const xt::xtensor<double, 2> xt0 = xt::transpose(x), xt1 = xt::transpose(xw), xt2 = xt::transpose(xww);
  const xt::xtensor<double, 2> dy = x, dy1 = product(dy, wt), dy0 = product(dy1, wt);
  const xt::xtensor<double, 2> expected = product(xt0, dy0) + product(xt1, dy1) + product(xt2, dy);
  CHECK(xt::allclose(gradient, expected, 1e-4, 1e-5));
  CHECK(xt::allclose(changed, weight - 0.1 * expected, 1e-4, 1e-5));
}
