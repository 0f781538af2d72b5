#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

#include "tilewright/core/random/square_root.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/kv_cache.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/elementwise/logical.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/ops/nn/softmax.hpp"
#include "tilewright/ops/shape/shape.hpp"
#include "tilewright/ops/shape/subscript.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

namespace detail {
/// Returns whether the number of heads, called `name` in errors, divides the width. Fails if it does not.
constexpr bool check_heads(Ir& ir, std::string_view layer, std::string_view name, std::int64_t heads, std::int64_t width) {
  if (heads > 0 && width % heads == 0) return true;
  ir.fail(text(layer, ": ", name, " ", heads, " for ", width, ": a divisor of ", width, " expected"));
  return false;
}
}  // namespace detail

/// Splits (batch, length, heads d) into (batch, heads, length, d).
[[nodiscard]] constexpr Tensor split_heads(Tensor x, std::int64_t heads) {
  if (x.rank() != 3) return x.ir().fail(text("split_heads: ", to_text(x.spec()), ": axes (batch, length, width) expected"));
  if (!detail::check_heads(x.ir(), "split_heads", "heads", heads, x.shape(2))) return Tensor::invalid(x.ir());
  return x.reshape({x.shape(0), x.shape(1), heads, x.shape(2) / heads}).transpose({0, 2, 1, 3});
}
/// Merges (batch, heads, length, d) into (batch, length, heads d).
[[nodiscard]] constexpr Tensor merge_heads(Tensor x) {
  return x.transpose({0, 2, 1, 3}).reshape({x.shape(0), x.shape(2), x.shape(1) * x.shape(3)});
}
/// Returns whether attention is composed of matrix products and a softmax. A simulated IPU uses this form, because its tiles
/// share the work of products, while one vertex of the attention op processes all queries of a head. The form requires that each
/// query sees all keys and that keys have as many heads as queries.
[[nodiscard]] constexpr bool composes(Tensor q, Tensor k, const AttentionOptions& options, Tensor key_padding_mask) {
  return q.valid() && k.valid() && !q.ir().tables.rewrites.replaces_composed_forms && !options.is_causal && options.window == 0 &&
         options.dropout_p == 0 && !key_padding_mask.valid() && q.shape(1) == k.shape(1);
}
/// Appends ops::scaled_dot_product_attention. key_padding_mask: none, or (batch, keys) bool, where true hides a key, as in
/// torch.nn.
[[nodiscard]] constexpr Tensor attend(Tensor q, Tensor k, Tensor v, const AttentionOptions& options,
                                      Tensor key_padding_mask = {}) {
  if (composes(q, k, options, key_padding_mask)) {
    const double scale = options.scale ? *options.scale : 1 / tilewright::detail::square_root(static_cast<double>(q.shape(3)));
    const MatMulOptions product{.partials_type = options.partials_type};
    return ops::matmul(ops::softmax(ops::matmul(q, k.transpose({0, 1, 3, 2}), product) * scale), v, product);
  }
  if (!key_padding_mask.valid()) return ops::scaled_dot_product_attention(q, k, v, options);
  return ops::scaled_dot_product_attention(q, k, v, ops::logical_not(key_padding_mask), options);
}

/// Options of MultiheadAttention. Names and defaults are those of torch.nn.MultiheadAttention, except `is_causal`, which PyTorch
/// takes in each call, and `std`, `sliding_window` and `cache_length`, which PyTorch does not have.
struct MultiheadAttentionOptions {
  Flag is_causal = false;  ///< whether query i sees only keys 0 to i
  Flag bias = true;  ///< whether all projections have a bias: in_proj_bias and out_proj.bias
  double dropout = 0;  ///< probability with which a weight is dropped in training; if it is above 0, `build` takes a seed
  OptionalNumber std{};  ///< standard deviation of normal initial weights; none: uniform weights, as in PyTorch
  int sliding_window = 0;  ///< with is_causal: `sliding_window` of KvCacheOptions
  int cache_length = 0;  ///< `length` of KvCacheOptions; 0: no cache
};

namespace detail {
/// Returns whether an argument of an attention layer is a seed. Otherwise it is a mask.
constexpr bool is_seed(Tensor argument) { return argument.dtype() == uint32; }
}  // namespace detail

/// Multi-head attention: projects queries, keys and values, attends in each head, and projects the concatenated results. It is
/// torch.nn.MultiheadAttention with batch_first=True, and has its defaults. Self-attention: build(x) and build(x,
/// key_padding_mask). Cross-attention: build(query, key, value) and build(query, key, value, key_padding_mask). query: (batch,
/// queries, embed_dim); key, value: (batch, keys, embed_dim), float16, bfloat16 or float32; key_padding_mask: (batch, keys) bool,
/// where true hides a key. The result has the shape and dtype of query. num_heads divides embed_dim.
///
/// With dropout, the trace needs a mode scope, `training(ir)` or `evaluation(ir)`. The last argument may then be a seed, (2,)
/// uint32; training requires it.
///
/// With a `cache_length`, the layer keeps keys and values as KvCache does. It then takes build(x, position), where position is
/// that of the last token of each text, (1,) or (batch,) signed integers, and build(x) for a prompt without padding. It needs
/// is_causal and, with dropout, the mode of evaluation.
///
/// Variables: `in_proj_weight` (embed_dim, 3 embed_dim) for queries, keys and values, `in_proj_bias` (3 embed_dim,), and
/// `out_proj.weight` (embed_dim, embed_dim), `out_proj.bias` (embed_dim,). Initial values are PyTorch's: in_proj_weight uniform
/// within sqrt(1.5 / embed_dim), out_proj.weight within 1 / sqrt(embed_dim), biases zero. PyTorch stores the weights transposed.
/// With a cache: `cache.keys` and `cache.values`, (batch, num_heads, slots, embed_dim / num_heads), see KvCache.
///
/// Errors: a number of heads that does not divide embed_dim; with dropout, no mode, or no seed in training; a window or a cache
/// without is_causal; a cache in training with dropout; other arguments.
template <int embed_dim, int num_heads, MultiheadAttentionOptions options = {}>
struct MultiheadAttention : Module<MultiheadAttention<embed_dim, num_heads, options>> {
  using Projection = Linear<embed_dim, {.bias = options.bias, .std = options.std, .zero_bias = true}>;
  static constexpr KvCacheOptions cache_options{.length = options.cache_length, .sliding_window = options.sliding_window};
  using Cache = detail::CacheMember<cache_options>;
  BOOST_HANA_DEFINE_STRUCT(MultiheadAttention, (Projection, out_proj), (Cache, cache));
  static constexpr bool takes_seed = options.dropout > 0, has_cache = options.cache_length > 0;
  static constexpr std::size_t most_given = has_cache ? 1 : takes_seed ? 4 : 3;

  constexpr Tensor build(Tensor query, std::same_as<Tensor> auto... given)
    requires(sizeof...(given) <= most_given)
  {
    if (!validate(query)) return Tensor::invalid(query.ir());
    if constexpr (has_cache) return mix_with_cache(query, given...);
    else return mix_given(query, given...);
  }

 private:
  constexpr Tensor mix_given(Tensor query, std::same_as<Tensor> auto... given) {
    const Tensor arguments[5] = {query, given...};
    std::size_t count = 1 + sizeof...(given);
    Tensor mask, seed;
    if (takes_seed && count > 1 && detail::is_seed(arguments[count - 1])) seed = arguments[--count];
    if (count % 2 == 0) mask = arguments[--count];
    if (count == 5)
      return this->ir().fail(text("MultiheadAttention: five arguments, the last ", to_text(arguments[4].spec()),
                                  ": query, key, value, key_padding_mask and a seed, (2,) uint32, expected"));
    add_projection(query);
    if (count == 3) {
      const Tensor q = project(query, 0, 1), k = project(arguments[1], 1, 2), v = project(arguments[2], 2, 3);
      return mix(q, k, v, mask, seed);
    }
    const Tensor all = project(query, 0, 3), q = part(all, 0), k = part(all, 1), v = part(all, 2);
    return mix(q, k, v, mask, seed);
  }
  constexpr Tensor mix_with_cache(Tensor x, std::same_as<Tensor> auto... position) {
    if constexpr (takes_seed)
      if (require_mode(this->ir(), "MultiheadAttention") == Mode::training)
        return this->ir().fail(text("MultiheadAttention: cache_length ", options.cache_length, " and dropout ",
                                    number_text(options.dropout), " in training: evaluation(ir) expected"));
    add_projection(x);
    const Tensor all = project(x, 0, 3);
    const auto head = [&](int number) { return split_heads(part(all, number), num_heads); };
    const Tensor q = head(0), k = head(1), v = head(2);
    return out_proj(merge_heads(cache(q, k, v, position...)));
  }
  static constexpr bool validate(Tensor x) {
    return tilewright::detail::check_parameter(x.ir(), "MultiheadAttention", "embed_dim", embed_dim, 1) &&
           detail::check_heads(x.ir(), "MultiheadAttention", "num_heads", num_heads, embed_dim) &&
           tilewright::detail::check_parameter(x.ir(), "MultiheadAttention", "dropout", options.dropout, 0, 1) &&
           detail::check_cache(x.ir(), "MultiheadAttention", cache_options, options.is_causal);
  }
  static constexpr std::int64_t all_columns = std::int64_t{3} * embed_dim;
  constexpr void add_projection(Tensor x) {
    weight_ = this->add_variable_input("in_proj_weight", first_weights(), {embed_dim, all_columns}, x.dtype());
    if constexpr (options.bias) bias_ = this->add_variable_input("in_proj_bias", zeros(), {all_columns}, x.dtype());
  }
  static constexpr Initialiser first_weights() {
    if constexpr (options.std.given) return normal(0, options.std.value);
    else return detail::xavier_uniform(embed_dim, all_columns);
  }
  /// Projects x with the parts `first` to `end` - 1 of the weight, where 0 is for queries, 1 for keys and 2 for values. The
  /// results stand side by side.
  constexpr Tensor project(Tensor x, int first, int end) const {
    const TensorIndex columns = slice(std::int64_t{first} * embed_dim, std::int64_t{end} * embed_dim);
    const Tensor y = x.matmul(weight_[{all, columns}]);
    if constexpr (!options.bias) return y;
    else return y + bias_[columns];
  }
  static constexpr Tensor part(Tensor x, int number) {
    return x[{ellipsis, slice(std::int64_t{number} * embed_dim, (std::int64_t{number} + 1) * embed_dim)}];
  }
  constexpr Tensor mix(Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
    AttentionOptions given{.is_causal = options.is_causal, .window = options.sliding_window};
    if constexpr (takes_seed) {
      if (require_mode(this->ir(), "MultiheadAttention") == Mode::training) {
        if (!seed.valid())
          return this->ir().fail(text("MultiheadAttention: ", to_text(q.spec()),
                                      " in training without a seed: a seed, (2,) uint32, as the last argument expected"));
        given.dropout_p = options.dropout;
        given.seed = seed;
      }
    }
    for (Tensor* const each : {&q, &k, &v}) *each = split_heads(*each, num_heads);
    return out_proj(merge_heads(attend(q, k, v, given, mask)));
  }

  Tensor weight_, bias_;
};

}  // namespace tilewright::layers
