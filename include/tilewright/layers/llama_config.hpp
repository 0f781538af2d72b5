#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/flag.hpp"

namespace tilewright::layers {

/// Sizes and options of Llama. Names and defaults are those of Hugging Face's LlamaConfig; `sliding_window` is that of
/// MistralConfig, 4096 by default there; `dtype` and `cache_length` have no counterpart.
struct LlamaConfig {
  int vocab_size = 32000;  ///< number of tokens
  int hidden_size = 4096;  ///< width of the model
  int intermediate_size = 11008;  ///< width within the feed-forward layers
  int num_hidden_layers = 32;  ///< number of blocks, from 1 to 1,000
  int num_attention_heads = 32;  ///< number of heads of queries; it divides hidden_size
  int num_key_value_heads = 0;  ///< number of heads of keys and values; 0: as many as queries have
  double rms_norm_eps = 1e-6;  ///< added to the mean of squares in all norms
  double rope_theta = 10000;  ///< base of the angles of positions, see rotary_embedding
  Flag tie_word_embeddings = false;  ///< whether the head has the weights of the embedding
  Flag attention_bias = false;  ///< whether the projections of attention have a bias
  double initializer_range = 0.02;  ///< standard deviation of the initial weights
  int sliding_window = 0;  ///< `sliding_window` of KvCacheOptions
  int cache_length = 0;  ///< `length` of KvCacheOptions; 0: no cache
  DType dtype = float32;  ///< dtype of the variables and of the computation: float16, bfloat16 or float32

  constexpr int key_value_heads() const { return num_key_value_heads == 0 ? num_attention_heads : num_key_value_heads; }
};

}  // namespace tilewright::layers
