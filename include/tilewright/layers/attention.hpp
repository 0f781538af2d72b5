#pragma once
#include <cstdint>

#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/attention.hpp"
#include "tilewright/ops/shape.hpp"
#include "tilewright/ops/softmax.hpp"
#include "tilewright/ops/subscript.hpp"

namespace tilewright::layers {

namespace detail {
using tilewright::detail::square_root;
}  // namespace detail

/// (batch, length, heads d) as (batch, heads, length, d).
constexpr Tensor split_heads(Tensor x, std::int64_t heads) {
  return x.reshape({x.shape(0), x.shape(1), heads, x.shape(2) / heads}).transpose({0, 2, 1, 3});
}
/// (batch, heads, length, d) as (batch, length, heads d).
constexpr Tensor merge_heads(Tensor x) {
  return x.transpose({0, 2, 1, 3}).reshape({x.shape(0), x.shape(2), x.shape(1) * x.shape(3)});
}
/// softmax(q k^T / sqrt(d)) v ("Attention Is All You Need", arXiv 1706.03762). q: (batch, heads, queries, d); k, v: (batch,
/// heads, keys, d); result: as q. If it is causal, there are as many keys as queries, and query i sees keys 0 to i. Scores are
/// tensors for other dtypes than float32 only.
constexpr Tensor attend(Tensor q, Tensor k, Tensor v, bool is_causal) {
  if (q.dtype() == float32) return ops::scaled_dot_product_attention(q, k, v, {.is_causal = is_causal});
  Tensor scores = q.matmul(k.transpose({0, 1, 3, 2})) * (1 / detail::square_root(static_cast<double>(q.shape(3))));
  if (is_causal) scores = scores + q.ir().constant(causal_mask(), {q.shape(2), k.shape(2)}, q.dtype(), "causal_mask");
  return ops::softmax(scores).matmul(v);
}

struct MultiheadAttentionOptions {
  bool is_causal = false;  ///< whether query i sees keys 0 to i only
  bool bias = true;
};

/// Attention of several heads: projections of queries, keys and values, `attend` for each head, a projection of the heads'
/// results. build(x): attention of x to itself; build(query, key, value): to others. query: (batch, queries, embed_dim); key,
/// value: (batch, keys, embed_dim); result: as query. num_heads divides embed_dim.
///
/// Variables: `in_proj_weight` (embed_dim, 3 embed_dim) for queries, keys and values, `in_proj_bias` (3 embed_dim,), and
/// `out_proj.weight` (embed_dim, embed_dim), `out_proj.bias` (embed_dim,). PyTorch's weights are the transposed ones.
template <int embed_dim, int num_heads, MultiheadAttentionOptions options = {}>
struct MultiheadAttention : Module<MultiheadAttention<embed_dim, num_heads, options>> {
  using Projection = Linear<embed_dim, {.bias = options.bias}>;
  BOOST_HANA_DEFINE_STRUCT(MultiheadAttention, (Projection, out_proj));
  static_assert(embed_dim % num_heads == 0, "MultiheadAttention: a number of heads that divides embed_dim expected");

  constexpr Tensor build(Tensor x) {
    add_projection(x);
    const Tensor all = project(x, 0, 3);
    return mix(part(all, 0), part(all, 1), part(all, 2));
  }
  constexpr Tensor build(Tensor query, Tensor key, Tensor value) {
    add_projection(query);
    return mix(project(query, 0, 1), project(key, 1, 2), project(value, 2, 3));
  }

 private:
  constexpr void add_projection(Tensor x) {
    weight_ = this->add_variable_input("in_proj_weight", normal(0, 0.02), {embed_dim, 3 * embed_dim}, x.dtype());
    if constexpr (options.bias) bias_ = this->add_variable_input("in_proj_bias", zeros(), {3 * embed_dim}, x.dtype());
  }
  /// Of queries, keys and values, those from `first` to before `end`, side by side.
  constexpr Tensor project(Tensor x, int first, int end) const {
    const TensorIndex columns = slice(first * embed_dim, end * embed_dim);
    const Tensor y = x.matmul(weight_[{all, columns}]);
    if constexpr (!options.bias) return y;
    else return y + bias_[columns];
  }
  static constexpr Tensor part(Tensor x, int number) {
    return x[{ellipsis, slice(number * embed_dim, (number + 1) * embed_dim)}];
  }
  constexpr Tensor mix(Tensor q, Tensor k, Tensor v) {
    const auto head = [](Tensor x) { return split_heads(x, num_heads); };
    return out_proj(merge_heads(attend(head(q), head(k), head(v), options.is_causal)));
  }

  Tensor weight_, bias_;
};

}  // namespace tilewright::layers
