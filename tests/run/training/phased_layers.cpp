// labels: strict
// Layers whose variables take turns on the machine: their losses, variables and optimiser's state are those of train_step.
#include "tilewright/train/phased_layers.hpp"

#include <boost/hana/for_each.hpp>

#include "../../support/elements.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace train = tw::train;
using tw::train::PhasedLayers;

constexpr std::int64_t batch = 6, width = 8;

struct Layer : tw::Module<Layer> {
  BOOST_HANA_DEFINE_STRUCT(Layer, (tw::layers::Linear<width>, linear));
  constexpr Tensor build(Tensor x) { return ops::tanh(linear(x)); }
  constexpr Tensor build(Tensor x, Tensor factor) { return ops::tanh(linear(x)) * factor; }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer, a), (Layer, b), (Layer, c), (Layer, head));
  constexpr Tensor build(Tensor x) { return head(c(b(a(x)))); }
};

constexpr tw::optim::AdamParameters adam{.lr = 0.02};
constexpr void plain(Ir& ir) { train::train_step(ir, Net{}, adam, {{batch, width}}); }

struct Batch {
  Tensor image, label;
  constexpr explicit Batch(Ir& ir)
      : image(support::load(ir, "image", {batch, width})), label(support::load(ir, "label", {batch}, tw::int32)) {}
};
constexpr Tensor gradient_of_loss(Tensor logits, Tensor label) {
  const auto [loss, dy] = ops::cross_entropy_with_grad(logits, label);
  store("loss", loss);
  return dy;
}
/// Three layers in a loop, and one alone.
constexpr void phased(Ir& ir) {
  const auto [image, label] = Batch(ir);
  PhasedLayers layers(tw::create_graph(Layer{}, image), {"a", "b", "c"}, adam, {.input_gradient = false, .load_code = true});
  const Tensor x = layers.forward(image);
  PhasedLayers head(tw::create_graph(Layer{}, x), {"head"}, adam);
  layers.backward(head.backward(gradient_of_loss(head.forward(x), label)));
}

/// On two replicas, with a rate that the host gives.
constexpr tw::optim::SgdParameters momentum(Tensor rate) { return {.lr = rate, .momentum = 0.9}; }
constexpr void plain_on_replicas(Ir& ir) {
  ir.set_replication_factor(2);
  train::train_step(ir, Net{}, momentum(support::load(ir, "rate", {})), {{batch, width}});
}
/// Phases with shards of variables and velocities, and with a factor of 1 that all layers share. The phase of the head is written
/// out: it keeps activations, and computes nothing again.
constexpr void sharded(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor rate = support::load(ir, "rate", {});
  const auto [image, label] = Batch(ir);
  const Tensor one = ir.constant(1);
  PhasedLayers layers(tw::create_graph(Layer{}, image, one), {"a", "b", "c"}, momentum(rate), {.replica_sharded = true});
  const Tensor x = layers.forward(image, {one});
  store("evaluated", layers.evaluate(image, {one}) - x);

  const PhasedLayers head(tw::create_graph(Layer{}, x), {"head"}, momentum(rate), {.replica_sharded = true});
  const tw::GraphWithNamedArgs backward = tw::autodiff(head.graph());
  const tw::GradGraphInfo info = backward.grad_graph_info();
  const tw::NamedTensors shards = head.load(0), variables = head.gather(shards);
  const auto call = head.graph().bind(variables).call_with_info(x);
  const Tensor dy = gradient_of_loss(call.output(0), label);
  const auto backward_call = backward.call_with_info(dy, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  const tw::NamedTensors means = head.reduce(variables.remap(gradients), shards), state = head.load_state(0);
  head.step(shards, state, means);
  head.store(0, shards, state);
  layers.backward(gradients[x], {one});
}

/// Runs steps of both programs, and expects the losses, variables and states to be the same to the last bit.
template <std::size_t... replicas>
void compare(auto& expected, auto& session, const auto&... rate) {
  static_assert(std::remove_reference_t<decltype(session)>::plan.memory.variables == 0);
  xt::xtensor<float, sizeof...(replicas) + 2> image(std::array{replicas..., std::size_t{batch}, std::size_t{width}});
  xt::xtensor<std::int32_t, sizeof...(replicas) + 1> label(std::array{replicas..., std::size_t{batch}});
  for (std::size_t step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<float>((step + i) * 7 % 11) / 5 - 1;
    for (std::size_t i = 0; i < label.size(); ++i) label.data()[i] = static_cast<std::int32_t>((step + i) % width);
    const auto run = [&](auto& program) { return program.run("image"_s = image, "label"_s = label, ("rate"_s = rate)...); };
    const auto outputs = run(session);
    CHECK(elements(outputs["loss"_s]) == elements(run(expected)["loss"_s]));
    if constexpr (sizeof...(replicas) > 0) CHECK(elements(outputs["evaluated"_s]) == Floats(image.size()));
  }
  const auto all = session.get_tensors_data();
  boost::hana::for_each(expected.get_tensors_data(), [&](const auto& named) {
    CHECK(elements(all[boost::hana::first(named)]) == elements(boost::hana::second(named)));
  });
}

}  // namespace

TEST_CASE("phased layers: losses, variables and state of train_step, bit for bit") {
  TestSession<plain, tw::ipu_model> expected({.seed = 1});
  TestSession<phased, tw::ipu_model> session({.seed = 1});
  compare(expected, session);
}
TEST_CASE("phased layers: shards on two replicas, tensors among the optimiser's parameters, a phase written by hand") {
  tw::Session<plain_on_replicas> expected({.seed = 1});
  tw::Session<sharded> session({.seed = 1});
  compare<2>(expected, session, xt::xtensor<float, 1>{0.1f, 0.1f});
}
