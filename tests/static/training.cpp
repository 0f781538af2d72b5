// labels: none
// layers/ and train/: names, shapes and plans of what they make.
#include "programs/models.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/train/step.hpp"

namespace {

namespace ops = tw::ops;
namespace optim = tw::optim;
using tw::Ir, tw::Plan, tw::Tensor, tw::TensorSpec, tw::Text;

/// weight float32 (4, 3), ...: all variables, in the order in which they were made.
constexpr Text variables_of(auto program) {
  Ir ir;
  program(ir);
  tw::List<Text> result;
  for (const Tensor& variable : ir.main_graph().variables())
    result.push_back(tw::text(variable.name(), " ", to_text(variable.spec())));
  return join(result, ", ");
}
constexpr Text graphs_of(auto program) {
  Ir ir;
  program(ir);
  Text result;
  for (std::size_t graph = 0; graph < ir.tables.graphs.size(); ++graph) result += print_schedule(ir.graph(tw::GraphId(graph)));
  return result;
}
constexpr int count(std::string_view all, std::string_view part) {
  int found = 0;
  for (std::size_t at = all.find(part); at != all.npos; at = all.find(part, at + 1)) ++found;
  return found;
}

// ---- Linear: PyTorch's names; the weight is (in_features, out_features)

template <class Layer>
constexpr auto init = [](Ir& ir) { tw::create_graph(ir, Layer{}, TensorSpec{{2, 4}, tw::float32}).factories.init(); };
static_assert(variables_of(init<tw::layers::Linear<3>>) == "bias (3,) float32, weight (4, 3) float32");
static_assert(variables_of(init<tw::layers::Linear<3, {.bias = false}>>) == "weight (4, 3) float32");
static_assert(variables_of([](Ir& ir) {
                tw::create_graph(ir, tw::layers::Linear<3>{}, TensorSpec{{5, 2, 4}, tw::float16}).factories.init("head");
              }) == "head.bias (3,) float16, head.weight (4, 3) float16",
              "variables have x's dtype");
static_assert(graphs_of([](Ir& ir) { tw::create_graph(ir, tw::layers::Linear<3>{}, TensorSpec{{5, 2, 4}, tw::float32}); })
                  .view()
                  .ends_with("Graph : Linear_subgraph(0)\n  (%1, %2, %3) -> (%5) {\n"
                             "    MatMul.100 (%1 [(5, 2, 4) float32], %2 [(4, 3) float32]) -> (%4 [(5, 2, 3) float32])\n"
                             "    Add.101 (%4 [(5, 2, 3) float32], %3 [(3,) float32]) -> (%5 [(5, 2, 3) float32])\n  }\n"),
              "over the last axis");

// ---- train_step

constexpr TensorSpec images{{8, 28, 28}, tw::float32};

/// Gradient descent by hand.
constexpr void step_by_hand(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("image", images));
  const Tensor labels = ops::host_load(ir.h2d_stream("label", {8}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Net{}, x);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  const auto [loss, gradient] = ops::cross_entropy_with_grad(call.output(0), labels);
  ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(gradient, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  for (const auto& variable : variables.tensors()) ops::scaled_add_(variable, gradients[variable], {.b = -0.05});
}
constexpr void step_of_library(Ir& ir) { tw::train::train_step(ir, Net{}, optim::SgdParameters{.lr = 0.05}, images); }
static_assert(graphs_of(step_of_library) == graphs_of(step_by_hand), "the graph that one would write by hand");

struct Small : tw::Module<Small> {
  BOOST_HANA_DEFINE_STRUCT(Small, (Linear<6, {.bias = false}>, fc1), (Linear<6, {.bias = false}>, fc2), (Linear<3>, fc3));
  constexpr Tensor build(Tensor x) { return fc3(fc2(fc1(x))); }
};
/// A step of Small, for images of 6 numbers.
constexpr auto step(auto optimiser, tw::train::StepOptions options = {}, int replicas = 1) {
  return [=](Ir& ir) {
    if (replicas > 1) ir.set_replication_factor(replicas);
    tw::train::train_step(ir, Small{}, optimiser, {{4, 6}}, options);
  };
}
constexpr std::string_view of_model =
    "fc1.weight (6, 6) float32, fc2.weight (6, 6) float32, fc3.bias (3,) float32, fc3.weight (6, 3) float32";

static_assert(variables_of(step(optim::SgdParameters{.lr = 0.1})) == of_model, "the model's variables alone");
static_assert(variables_of(step(optim::SgdParameters{.lr = 0.1, .momentum = 0.9})) ==
              tw::text(of_model,
                       ", optimiser.fc1.weight.velocity (6, 6) float32, optimiser.fc2.weight.velocity (6, 6) float32, "
                       "optimiser.fc3.bias.velocity (3,) float32, optimiser.fc3.weight.velocity (6, 3) float32"));
constexpr std::string_view state_of_fc1 =
    "fc1.weight.first_order (6, 6) float32, adam.fc1.weight.second_order (6, 6) float32, adam.fc1.weight.step () float32";
static_assert(count(variables_of(step(optim::AdamParameters{}, {.optimiser_prefix = "adam"})).view(), state_of_fc1) == 1);
static_assert(count(variables_of(step(optim::AdamParameters{}, {.optimiser_prefix = ""})).view(),
                    ", fc2.weight.first_order (6, 6)") == 1);
static_assert(count(variables_of(step(optim::AdamWParameters{})).view(), "_order") == 2 * 4);
static_assert(count(variables_of(step(optim::LambParameters{})).view(), "_order") == 2 * 4);
static_assert(count(graphs_of(step(optim::AdamParameters{})).view(), "Graph : Adam_subgraph") == 3,
              "fc1 and fc2, of one shape, share a graph");

// ---- optimisers: the state of each, float32 for half precision too

/// The variables of an optimiser of a weight (6,), without the weight.
constexpr Text state_of(const auto& parameters, tw::DType dtype = tw::float32) {
  return variables_of([&](Ir& ir) {
    typename std::remove_cvref_t<decltype(parameters)>::Optimiser optimiser;
    tw::create_graph(ir, optimiser, TensorSpec{{6}, dtype}, TensorSpec{{6}, dtype}, parameters).factories.init();
  });
}
constexpr std::string_view averages = "first_order (6,) float32, second_order (6,) float32, velocity (6,) float32";
static_assert(state_of(optim::RmsPropParameters{}) == "second_order (6,) float32");
static_assert(state_of(optim::RmsPropParameters{.momentum = 0.9, .centered = true}) == averages);
static_assert(state_of(optim::RmsPropParameters{.momentum = 0.9, .centered = true}, tw::float16) == averages);
static_assert(state_of(optim::RmsPropParameters{}, tw::float64) == "second_order (6,) float64");
static_assert(state_of(optim::AdagradParameters{}) == "sum (6,) float32");
static_assert(state_of(optim::AdagradParameters{.lr_decay = 0.1}, tw::bfloat16) == "step () float32, sum (6,) float32");
static_assert(state_of(optim::LionParameters{}) == "first_order (6,) float32");
static_assert(state_of(optim::LionParameters{}, tw::float16) == "first_order (6,) float32");
static_assert(state_of(optim::LionParameters{.first_order_dtype = tw::bfloat16}) == "first_order (6,) bfloat16");
static_assert(state_of(optim::AdamWParameters{}) == "first_order (6,) float32, second_order (6,) float32, step () float32");
static_assert(state_of(optim::AdamWParameters{.amsgrad = true}, tw::float16) ==
              "first_order (6,) float32, max_second_order (6,) float32, second_order (6,) float32, step () float32");
static_assert(state_of(optim::AdamParameters{.bias_correction = false, .amsgrad = true}) ==
              "first_order (6,) float32, max_second_order (6,) float32, second_order (6,) float32");
static_assert(count(variables_of(step(optim::RmsPropParameters{})).view(), ".second_order (") == 4, "train_step takes them");
static_assert(count(graphs_of(step(optim::LionParameters{}, {.micro_batches = 5}, 2)).view(), "Graph : Lion_subgraph") == 3);

/// A function that updates variables in its own way: biases stay.
constexpr auto weights_only = [](std::string_view name, Tensor variable, Tensor gradient) {
  if (name.ends_with("weight")) ops::scaled_add_(variable, gradient, {.b = -1});
};
static_assert(count(graphs_of(step(weights_only)).view(), "ScaledAdd") == 3);
static_assert(variables_of(step(weights_only)) == of_model);
static_assert(count(graphs_of([](Ir& ir) {
                      const auto [factories, forward] = tw::create_graph(ir, Small{}, TensorSpec{{4, 6}, tw::float32});
                      for (const auto& [name, variable] : factories.init().named_tensors())
                        weights_only(name, variable, variable);
                    }).view(),
                    "ScaledAdd") == 3,
              "and takes the names in a list of variables");

// ---- micro-batches and replicas

constexpr auto in_parts = step(optim::SgdParameters{.lr = 0.1}, {.micro_batches = 5});
static_assert(variables_of(in_parts) ==
                  tw::text(of_model,
                           ", gradients.accum.fc1.weight (6, 6) float32, gradients.accum.fc2.weight (6, 6) float32, "
                           "gradients.accum.fc3.bias (3,) float32, gradients.accum.fc3.weight (6, 3) float32, "
                           "gradients.mean_accum_counter () float32"),
              "the model's variables have the names and the order that they have without micro-batches");
constexpr Plan plan_of(auto program) {
  Ir ir;
  program(ir);
  return tw::lower(tw::prepare(std::move(ir), tw::cpu));
}
static_assert(plan_of(in_parts).streams[0].transfers == 5, "the host's array has an axis of micro-batches");
static_assert(count(graphs_of(in_parts).view(), "Loop.") == 1);
static_assert(count(graphs_of(in_parts).view(), "ScaledAddLhsInplace") == 4, "one update for all micro-batches");

static_assert(count(graphs_of(step(optim::SgdParameters{}, {}, 2)).view(), "ReplicatedAllReduce") == 4);
static_assert(count(graphs_of(step(optim::LambParameters{}, {.micro_batches = 5}, 2)).view(), "ReplicatedAllReduce") == 4,
              "replicas exchange gradients once, after all micro-batches");
static_assert(plan_of(step(optim::SgdParameters{}, {}, 2)).collectives.bytes > 0);
static_assert(count(graphs_of(step(optim::SgdParameters{})).view(), "ReplicatedAllReduce") == 0);

// ---- test_step

static_assert(variables_of([](Ir& ir) { tw::train::test_step(ir, Small{}, {{4, 6}}); }) == of_model,
              "the variables of a step of descent: a session can load them");

}  // namespace
