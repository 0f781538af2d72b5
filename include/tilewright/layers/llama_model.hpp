#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <type_traits>

#include "tilewright/layers/embedding.hpp"
#include "tilewright/layers/kv_cache.hpp"
#include "tilewright/layers/llama.hpp"
#include "tilewright/layers/llama_config.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

namespace detail {
/// Member `lm_head` of a model whose head has the weights of the embedding.
struct TiedHead {};
}  // namespace detail

/// Language model Llama ("LLaMA", arXiv 2302.13971): an embedding, blocks, a norm, and a head that gives the logits of the next
/// token. Hugging Face's LlamaForCausalLM. tokens: (batch, length) integers. Result: logits, float32.
///
/// - build(tokens): logits after each token, (batch, length, vocab_size).
/// - build(tokens, position), with a `cache_length`: logits after the last token of each text, (batch, 1, vocab_size). position:
///   (1,) or (batch,) signed integers, the position of this token. A call has one token at this position, or a prompt from
///   position 0 on, see KvCache.
///
/// Variables, of the config's dtype: `embed_tokens.weight` (vocab_size, hidden_size); those of LlamaBlock under `layers.0`,
/// `layers.1` and so on; `norm.weight` (hidden_size,); `lm_head.weight` (hidden_size, vocab_size), unless the config ties it to
/// the embedding. Names are those of Hugging Face's files without "model."; `tw::hugging_face_llama` loads such files. Initial
/// values: weights are normal with mean 0 and the standard deviation `initializer_range`; norms are ones; biases are zero.
template <LlamaConfig config>
struct Llama : Module<Llama<config>> {
  using Tokens = Embedding<config.vocab_size, config.hidden_size, {.std = config.initializer_range, .dtype = config.dtype}>;
  using Block = LlamaBlock<config.hidden_size, config.intermediate_size, config.num_attention_heads, config.key_value_heads(),
                           {.rms_norm_eps = config.rms_norm_eps,
                            .attention = {.bias = config.attention_bias,
                                          .rope_theta = config.rope_theta,
                                          .std = config.initializer_range,
                                          .sliding_window = config.sliding_window,
                                          .cache_length = config.cache_length},
                            .mlp = {.std = config.initializer_range}}>;
  using Norm = RMSNorm<{.eps = config.rms_norm_eps}>;
  using Head = std::conditional_t<config.tie_word_embeddings, detail::TiedHead,
                                  Linear<config.vocab_size, {.bias = false, .std = config.initializer_range}>>;
  BOOST_HANA_DEFINE_STRUCT(Llama, (Tokens, embed_tokens), (Norm, norm), (Head, lm_head));

  constexpr Tensor build(Tensor tokens) { return logits(hidden(tokens)); }
  constexpr Tensor build(Tensor tokens, Tensor position)
    requires(config.cache_length > 0)
  {
    return logits(last_token(hidden(tokens, position), position));
  }

 private:
  /// Returns the last block's result.
  constexpr Tensor hidden(Tensor tokens, std::same_as<Tensor> auto... position) {
    if (!tilewright::detail::check_parameter(tokens.ir(), "Llama", "num_hidden_layers", config.num_hidden_layers, 1, 1001))
      return Tensor::invalid(tokens.ir());
    Tensor x = embed_tokens(tokens);
    const auto [factories, block] = create_graph(Block{}, x, position...);  // one graph for all blocks
    for (int i = 0; i < config.num_hidden_layers; ++i)
      x = block.bind(this->add_variable_inputs(text("layers.", i).view(), factories)).call(x, position...);
    return x;
  }
  constexpr Tensor logits(Tensor x) {
    x = norm(x);
    if constexpr (config.tie_word_embeddings) return ops::cast(embed_tokens.logits(x), float32);
    else return ops::cast(lm_head(x), float32);
  }
};

}  // namespace tilewright::layers
