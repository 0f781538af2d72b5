#pragma once
// Programs that train and test a language model.
#include <tilewright/train/step.hpp>

#include "model.hpp"

namespace gpt {

inline constexpr tw::train::StepOptions streams(int batch, int context) {
  return {.input = "tokens", .target = "targets", .target_shape = {batch, context}, .max_norm = 1};
}

/// AdamW, whose rate is the stream "rate"; vectors do not decay. A run takes "tokens" and "targets", both (batch, length) int32,
/// and gives the "loss"; with several micro-batches all three have a first axis of them. With dropout it takes a "seed", (2,)
/// uint32, for each. A network that computes in float16 keeps its weights in float32, and scales its loss.
template <Size size, int batch, int length = size.context, int micro_batches = 1>
constexpr void train_step(tw::Ir& ir) {
  const tw::Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  const auto with_decay = [&](double decay) {
    return tw::optim::AdamWParameters{.lr = rate, .beta2 = 0.99, .weight_decay = decay};
  };
  tw::train::Updater matrices(with_decay(0.1), "optimiser"), vectors(with_decay(0), "optimiser");
  const auto update = [&](std::string_view name, tw::Tensor variable, tw::Tensor gradient) {
    if (variable.rank() >= 2) matrices(name, variable, gradient);
    else vectors(name, variable, gradient);
  };
  tw::train::StepOptions options = streams(batch, length);
  options.micro_batches = micro_batches;
  if (size.dtype == tw::float16) {
    options.variable_dtype = tw::float32;
    options.loss_scaling = tw::optim::LossScaling{};
  }
  tw::train::train_step(ir, Gpt<size>{}, update, {{batch, length}, tw::int32}, options);
}
/// The mean loss of a batch.
template <Size size, int batch>
constexpr void loss_step(tw::Ir& ir) {
  tw::train::loss_step(ir, Gpt<size>{}, {{batch, size.context}, tw::int32}, streams(batch, size.context));
}

/// The next token's "logits", (vocabulary,), after a "token" at a "position", both (1,) int32. Tokens come one after the other,
/// from position 0 on.
template <Size size>
constexpr void generate_step(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor token = ops::host_load(ir.h2d_stream("token", {1}, tw::int32)).reshape({1, 1});
  const tw::Tensor position = ops::host_load(ir.h2d_stream("position", {1}, tw::int32));
  const auto [factories, graph] = tw::create_graph(ir, Gpt<size, Reads::tokens>{}, token, position);
  const tw::Tensor logits = ops::cast(graph.bind(factories.init()).call(token, position), tw::float32);
  ops::host_store(ir.d2h_stream("logits", {size.vocabulary}, tw::float32), logits.reshape({-1}));
}
/// As generate_step, with prompts in one pass: if "is_prompt", a bool, is true, "tokens", (prompt_length,) int32, begin at
/// position 0, and those after "position" are padding. Otherwise the first of them is the token at "position".
template <Size size, int prompt_length>
constexpr void write_step(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor tokens = ops::host_load(ir.h2d_stream("tokens", {prompt_length}, tw::int32)).reshape({1, prompt_length});
  const tw::Tensor position = ops::host_load(ir.h2d_stream("position", {1}, tw::int32));
  const tw::Tensor is_prompt = ops::host_load(ir.h2d_stream("is_prompt", {}, tw::boolean));
  const tw::Tensor token = tokens[{tw::all, tw::slice(0, 1)}];
  const auto [factories, step] = tw::create_graph(ir, Gpt<size, Reads::tokens>{}, token, position);
  const auto prompt = tw::create_graph(ir, Gpt<size, Reads::tokens>{}, tokens, position).graph;
  const tw::NamedTensors variables = factories.init();
  const tw::Tensor logits = tw::conditional(is_prompt, prompt.bind(variables).branch({tokens, position}),
                                            step.bind(variables).branch({token, position}))[0];
  ops::host_store(ir.d2h_stream("logits", {size.vocabulary}, tw::float32), logits.reshape({-1}));
}

}  // namespace gpt
