// labels: more strict
// Attention layers against PyTorch's: values and gradients.
#include "language_checks.hpp"
#include "tilewright/layers/layers.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// A layer's result for the variables x0, x1, ..., and the gradients of these and of its own variables for dy.
template <class Layer, tw::Shape query, tw::Shape... others>
constexpr void layer_with_gradients(Ir& ir) {
  std::vector<Tensor> inputs{ir.variable(tw::zeros(), query, tw::float32, "x0")};
  int number = 1;
  (inputs.push_back(ir.variable(tw::zeros(), others, tw::float32, tw::text("x", number++).view())), ...);
  const auto [factories, forward] = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return tw::create_graph(ir, Layer{}, inputs[i]...);
  }(std::make_index_sequence<1 + sizeof...(others)>());
  const auto backward = tw::autodiff(forward);
  const tw::NamedTensors variables = factories.init();
  const auto call = forward.bind(variables).call_with_inputs(inputs, {});
  store("y", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(
      call, backward.call_with_info(ir.variable(tw::zeros(), query, tw::float32, "dy"), info.inputs_dict(call)));
  for (const Tensor& input : inputs) store(tw::text("gradient_of_", input.name()).view(), gradients[input]);
  for (const auto& [name, variable] : variables.named_tensors())
    store(tw::text("gradient_of_", name).view(), gradients[variable]);
}

}  // namespace

TEST_CASE("attention layers: to itself, causal, and to others") {
  using tw::Shape, tw::layers::MultiheadAttention;
  check_results<layer_with_gradients<MultiheadAttention<8, 2>, Shape{2, 5, 8}>>("self", 2e-6);
  check_results<layer_with_gradients<MultiheadAttention<8, 2>, Shape{2, 5, 8}>, tw::ipu_model>("self", 2e-6);
  check_results<layer_with_gradients<MultiheadAttention<8, 2>, Shape{2, 3, 8}, Shape{2, 5, 8}, Shape{2, 5, 8}>>("cross", 2e-6);
  check_results<layer_with_gradients<MultiheadAttention<8, 2, {.is_causal = true}>, Shape{2, 5, 8}>, tw::ipu_model>("causal",
                                                                                                                    2e-6);
}
