#pragma once
// Parts of transformer blocks ("Attention Is All You Need", arXiv 1706.03762), without dropout.
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// A linear layer that begins as GPT-2's.
template <int out_features>
using Projection = tw::layers::Linear<out_features, {.std = 0.02}>;

/// Layer normalisation over the last axis, with weight and bias.
struct LayerNorm : tw::Module<LayerNorm> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = add_variable_input("weight", tw::ones(), {x.shape(-1)}, x.dtype());
    const auto bias = add_variable_input("bias", tw::zeros(), {x.shape(-1)}, x.dtype());
    return tw::ops::layer_norm(x, weight, bias);
  }
};

/// softmax(q k^T / sqrt(size of a head)) v for each head, projected. x: (batch, sequence, hidden); result: the same.
template <int hidden, int heads>
struct SelfAttention : tw::Module<SelfAttention<hidden, heads>> {
  static constexpr int head = hidden / heads;
  BOOST_HANA_DEFINE_STRUCT(SelfAttention, (Projection<hidden>, query), (Projection<hidden>, key), (Projection<hidden>, value),
                           (Projection<hidden>, projection));

  constexpr tw::Tensor build(tw::Tensor x) {
    const auto batch = x.shape(0), sequence = x.shape(1);
    const tw::Tensor rows = x.reshape({-1, hidden});
    const auto split = [&](tw::Tensor y, const tw::Shape& order) {
      return y.reshape({batch, sequence, heads, head}).transpose(order);
    };
    const tw::Tensor q = split(query(rows), {0, 2, 1, 3});
    const tw::Tensor k_transposed = split(key(rows), {0, 2, 3, 1});
    const tw::Tensor v = split(value(rows), {0, 2, 1, 3});
    const tw::Tensor probabilities = tw::ops::softmax(q.matmul(k_transposed) * (1 / square_root(head)));
    const tw::Tensor mixed = probabilities.matmul(v).transpose({0, 2, 1, 3}).reshape({-1, hidden});
    return projection(mixed).reshape({batch, sequence, hidden});
  }

 private:
  static constexpr double square_root(double x) {
    double root = x;
    for (int i = 0; i < 32; ++i) root = (root + x / root) / 2;  // Newton; std::sqrt is no constant expression
    return root;
  }
};

/// Two linear layers with gelu between them.
template <int hidden, int inner>
struct FeedForward : tw::Module<FeedForward<hidden, inner>> {
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (Projection<inner>, widen), (Projection<hidden>, narrow));

  constexpr tw::Tensor build(tw::Tensor x) {
    const auto batch = x.shape(0), sequence = x.shape(1);
    return narrow(tw::ops::gelu(widen(x.reshape({-1, hidden})))).reshape({batch, sequence, hidden});
  }
};
