#pragma once
// GPT-2's network ("Language Models are Unsupervised Multitask Learners", 2019), with its names for weights, of any size.
#include <tilewright/layers/attention.hpp>
#include <tilewright/layers/dropout.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/kv_cache.hpp>
#include <tilewright/layers/layer_norm.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>

namespace gpt {

namespace tw = tilewright;
namespace ops = tilewright::ops;

struct Size {
  int vocabulary, context, layers, heads, width;
  bool bias = true;    ///< of linear layers and norms
  double dropout = 0;  ///< in training
  tw::DType dtype = tw::float32;

  constexpr int head() const { return width / heads; }
};

/// What a network is given: whole texts, and with dropout a seed, (2,) uint32; or tokens and the position of the last one, (1,)
/// int32. Tokens are a prompt from position 0 on, padded behind its last token, or one token after those whose keys and values a
/// cache has. The result then has the logits after the last token only.
enum class Reads : std::uint8_t { texts, tokens };

/// Standard deviation of the first weights. The head shares those of the tokens, whose logits start small so. Weights that end a
/// branch start smaller the more branches are added up. Biases start as zeros.
inline constexpr double first_std = 0.02;
template <Size size>
inline constexpr double branch_std = first_std / tw::detail::square_root(2.0 * size.layers);
template <Size size, int factor>
using Widen = tw::layers::Linear<factor * size.width, {.bias = size.bias, .std = first_std}>;
template <Size size>
using Narrow = tw::layers::Linear<size.width, {.bias = size.bias, .std = branch_std<size>}>;
template <Size size>
using Norm = tw::layers::LayerNorm<{.bias = size.bias}>;

/// The modifier-th dropout of a graph whose seed, if it has one, is given.
template <Size size>
constexpr tw::Tensor drop(tw::Tensor x, int modifier, std::same_as<tw::Tensor> auto... seed) {
  if constexpr (sizeof...(seed) == 0 || size.dropout == 0) return x;
  else return ops::dropout(x, ops::create_random_seed(seed..., modifier), size.dropout);
}

template <Size size, Reads reads>
struct Attention : tw::Module<Attention<size, reads>> {
  using In = Widen<size, 3>;
  using Out = Narrow<size>;
  using Cache = tw::layers::KvCache<{.length = size.context}>;
  BOOST_HANA_DEFINE_STRUCT(Attention, (In, c_attn), (Out, c_proj), (Cache, cache));

  constexpr tw::Tensor build(tw::Tensor x, std::same_as<tw::Tensor> auto... given) {
    // (batch, length, heads of queries, keys and values, width / heads), so that attention reads parts of it where they are
    const tw::Tensor all = c_attn(x).reshape({x.shape(0), x.shape(1), 3 * size.heads, size.head()});
    const auto heads = [&all](int part) {
      return all[{tw::all, tw::all, tw::slice(part * size.heads, (part + 1) * size.heads)}].transpose({0, 2, 1, 3});
    };
    const tw::Tensor q = heads(0), k = heads(1), v = heads(2);
    tw::Tensor mixed;
    if constexpr (reads == Reads::tokens) mixed = cache(q, k, v, given...);
    else mixed = tw::layers::attend(q, k, v, options(given...));
    return c_proj(tw::layers::merge_heads(mixed));
  }

 private:
  static constexpr tw::AttentionOptions options(std::same_as<tw::Tensor> auto... seed) {
    tw::AttentionOptions result{.is_causal = true};
    if constexpr (sizeof...(seed) > 0 && size.dropout > 0) {
      result.dropout_p = size.dropout;
      result.seed = ops::create_random_seed(seed..., 2);
    }
    return result;
  }
};

template <Size size>
struct FeedForward : tw::Module<FeedForward<size>> {
  using In = Widen<size, 4>;
  using Out = Narrow<size>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, c_fc), (Out, c_proj));

  constexpr tw::Tensor build(tw::Tensor x) { return c_proj(ops::gelu(c_fc(x))); }
};

template <Size size, Reads reads>
struct Block : tw::Module<Block<size, reads>> {
  using Mix = Attention<size, reads>;
  BOOST_HANA_DEFINE_STRUCT(Block, (Norm<size>, ln_1), (Mix, attn), (Norm<size>, ln_2), (FeedForward<size>, mlp));

  constexpr tw::Tensor build(tw::Tensor x, std::same_as<tw::Tensor> auto... given) {
    x = x + drop<size>(attn(ln_1(x), given...), 0, given...);
    return x + drop<size>(mlp(ln_2(x)), 1, given...);
  }
};

/// Logits of the next token at each place. tokens: (batch, length), integers; result: (batch, length, vocabulary), float32.
template <Size size, Reads reads = Reads::texts>
struct Gpt : tw::Module<Gpt<size, reads>> {
  using Tokens = tw::layers::Embedding<size.vocabulary, size.width, {.std = first_std, .dtype = size.dtype}>;
  using Positions = tw::layers::Embedding<size.context, size.width, {.std = first_std, .dtype = size.dtype}>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Tokens, wte), (Positions, wpe), (Norm<size>, ln_f));
  static constexpr bool takes_seed = size.dropout > 0;

  constexpr tw::Tensor build(tw::Tensor tokens)
    requires(reads == Reads::texts)
  {
    return logits(tokens, range_of(tokens));
  }
  constexpr tw::Tensor build(tw::Tensor tokens, tw::Tensor seed)
    requires(reads == Reads::texts)
  {
    return logits(tokens, range_of(tokens), seed);
  }
  constexpr tw::Tensor build(tw::Tensor tokens, tw::Tensor position)
    requires(reads == Reads::tokens)
  {
    return logits(tokens, tokens.shape(1) == 1 ? position : range_of(tokens), position);
  }

 private:
  static constexpr tw::Tensor range_of(tw::Tensor tokens) {
    return tokens.ir().constant(tw::range(), {tokens.shape(1)}, tw::int32, "positions");
  }
  constexpr tw::Tensor logits(tw::Tensor tokens, tw::Tensor positions, std::same_as<tw::Tensor> auto... given) {
    tw::Tensor x = wte(tokens);
    x = x + wpe(positions);
    if constexpr (reads == Reads::texts) x = drop<size>(x, 0, given...);
    const auto [factories, block] = tw::create_graph(Block<size, reads>{}, x, given...);  // one graph for all blocks
    for (int i = 0; i < size.layers; ++i) {
      const auto weights = this->add_variable_inputs(tw::text("h.", i).view(), factories);
      x = block.bind(weights).call(x, for_block(given, i)...);
    }
    if constexpr (reads == Reads::tokens) x = tw::layers::last_token(x, given...);
    return wte.logits(ln_f(x)).cast(tw::float32);
  }
  /// Each block has a seed of its own.
  static constexpr tw::Tensor for_block(tw::Tensor given, int number) {
    if constexpr (reads == Reads::tokens) return given;
    else return ops::create_random_seed(given, number + 1);
  }
};

}  // namespace gpt
