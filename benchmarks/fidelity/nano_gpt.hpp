#pragma once
// nanoGPT of characters with 1,024 tokens: 10.7 million weights, without dropout and biases, float32.
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/transformer_block.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace fidelity {

namespace tw = tilewright;

/// With chunks, attention is one op that stores no scores. Otherwise it is composed of products and a softmax, whose scores are
/// kept for the gradient; it has no mask here, which would need no more memory. Positions are all read, so they are added, not
/// looked up.
template <bool chunks>
struct NanoGpt : tw::Module<NanoGpt<chunks>> {
  static constexpr int vocabulary = 65, context = 1024, layers = 6, heads = 6, width = 384, batch = 2;
  using Tokens = tw::layers::Embedding<vocabulary, width>;
  using Block = tw::layers::TransformerBlock<width, heads,
                                             {.dim_feedforward = 4 * width,
                                              .activation = tw::layers::Activation::gelu,
                                              .norm_first = true,
                                              .is_causal = chunks,
                                              .bias = false,
                                              .dropout = 0}>;
  using Norm = tw::layers::LayerNorm<{.bias = false}>;
  BOOST_HANA_DEFINE_STRUCT(NanoGpt, (Tokens, wte), (Norm, ln_f));

  constexpr tw::Tensor build(tw::Tensor tokens) {
    tw::Tensor x = wte(tokens) + this->add_variable_input("wpe.weight", tw::normal(0, 0.02), {context, width});
    const auto [factories, block] = tw::create_graph(Block{}, x);
    for (int i = 0; i < layers; ++i) x = block.bind(this->add_variable_inputs(tw::text("h.", i).view(), factories)).call(x);
    return wte.logits(ln_f(x));
  }
};

/// A step of AdamW, for which the gradients of 8 micro-batches are added.
template <bool chunks>
constexpr void nano_gpt_step(tw::Ir& ir) {
  using Net = NanoGpt<chunks>;
  tw::train::train_step(ir, Net{}, tw::optim::AdamWParameters{.lr = 3e-4, .weight_decay = 0.1},
                        {{Net::batch, Net::context}, tw::int32},
                        {.micro_batches = 8, .target_shape = {Net::batch, Net::context}});
}

}  // namespace fidelity
