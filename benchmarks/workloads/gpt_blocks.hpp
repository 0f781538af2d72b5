#pragma once
// Training steps of the blocks of a GPT with a norm and a linear layer after them, without embeddings.
#include <tilewright/train/step.hpp>

#include "../../examples/gpt/model.hpp"
#include "flops.hpp"
#include "session.hpp"

template <gpt::Size size>
struct GptBlocks : tw::Module<GptBlocks<size>> {
  using Head = tw::layers::Linear<size.vocabulary, {.std = gpt::first_std}>;
  BOOST_HANA_DEFINE_STRUCT(GptBlocks, (gpt::Norm<size>, ln_f), (Head, head));

  /// x: float32; blocks and variables: of the size's dtype; result: float32.
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::cast(x, size.dtype);
    const auto [factories, block] = tw::create_graph(gpt::Block<size, gpt::Reads::texts>{}, x);
    for (int i = 0; i < size.layers; ++i) x = block.bind(this->add_variable_inputs(tw::text("h.", i).view(), factories)).call(x);
    return tw::ops::cast(head(ln_f(x)), tw::float32);
  }
};

/// `parameters` is a function that returns the optimiser's; gradients are clipped to max_norm, if it is not 0.
template <gpt::Size size, int batch, auto parameters, int max_norm = 0>
constexpr void gpt_step(tw::Ir& ir) {
  tw::train::train_step(ir, GptBlocks<size>{}, parameters(), {{batch, size.context, size.width}},
                        {.target_shape = {batch, size.context}, .max_norm = max_norm});
}
template <gpt::Size size, int batch, auto parameters, int max_norm = 0>
inline constexpr std::int64_t gpt_frame = tw::Program<gpt_step<size, batch, parameters, max_norm>>::plan.memory.frame;

/// The main function of a step with the streams "image" and "label": as serve_session, but `NAME flops` prints what the step's
/// products count.
template <auto step>
int serve_step(int argc, char** argv, auto inputs, auto labels) {
  if (argc == 2 && std::strcmp(argv[1], "flops") == 0) {
    static constexpr std::int64_t count = flops::of_plan(tw::Program<step>::plan);
    return std::printf("%lld\n", static_cast<long long>(count)), 0;
  }
  return serve_session<tw::Session<step>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = inputs[i], "label"_s = labels[i])["loss"_s]();
  });
}
template <gpt::Size size, int batch, auto parameters, int max_norm = 0>
int serve_gpt(int argc, char** argv) {
  return serve_step<gpt_step<size, batch, parameters, max_norm>>(argc, argv, random_numbers(batch, size.context, size.width),
                                                                 random_labels(batch, size.context));
}
