#pragma once
#include <cstdint>
#include <optional>

#include "tilewright/core/square_root.hpp"
#include "tilewright/kernel/attention.hpp"
#include "tilewright/ops/cast.hpp"
#include "tilewright/ops/op.hpp"

namespace tilewright {

/// Options of attention.
struct AttentionOptions {
  bool is_causal = false;        ///< whether query i sees keys 0 to i only; there are then as many keys as queries
  std::optional<double> scale{};  ///< the factor of q k^T. Not given: 1 / sqrt(D)
};

namespace detail {
struct AttentionAttributes {
  std::int64_t is_causal = 0;
  std::int64_t has_mask = 0;
  double scale = 1;
};
/// The matrix of one sample and head.
template <class V>
inline auto head_rows(V view, std::int64_t sample, std::int64_t head) {
  return MatrixRows<typename V::element>{view.data + sample * V::spec.stride(0) + head * V::spec.stride(1), V::spec.stride(2),
                                         V::spec.stride(3)};
}
template <class V>
inline MatrixRows<const typename V::element> head_input(V view, std::int64_t sample, std::int64_t head) {
  const auto rows = head_rows(view, sample, head);
  return {rows.data, rows.row, rows.element};
}
/// The mask of a sample, if there is one.
template <class... V>
inline KeyMask key_mask([[maybe_unused]] std::int64_t sample, V... masks) {
  KeyMask result;
  ((result = {masks.data + sample * V::spec.stride(0), V::spec.stride(1)}), ...);
  return result;
}
template <class Q, class K>
constexpr AttentionShape attention_shape(const PackedAttributes& packed) {
  const auto attributes = unpack<AttentionAttributes>(packed);
  return {Q::shape[2], K::shape[2], Q::shape[3], attributes.is_causal != 0, attributes.has_mask != 0};
}
/// Samples are cut, and heads if each has keys of its own; operands begin with q and k. A mask has no heads.
constexpr Work attention_work(std::span<const TensorSpec> operands) {
  Work work;
  for (int axis = 0; axis < (operands[0].shape[1] == operands[1].shape[1] ? 2 : 1); ++axis) {
    work.add_axis({.extent = operands[0].shape[axis], .kind = WorkAxisKind::parallel});
    for (std::size_t o = 0; o < operands.size(); ++o)
      if (axis == 0 || operands[o].shape.rank > 2) work.follow(static_cast<int>(o), axis, axis);
  }
  return work;
}
}  // namespace detail

/// The gradients of attention: inputs (q, k, v, y, logsumexp, dy) and a mask if there is one, results (dq, dk, dv), of which the
/// last two are float32, since blocks of queries add to them. With p = exp(scale q k^T - logsumexp)
/// and ds = p (dy v^T - sum(dy y)): dv = p^T dy, dk = scale ds^T q, dq = scale ds k, of which p and ds exist by blocks only.
struct ScaledDotProductAttentionGrad : Op<ScaledDotProductAttentionGrad> {
  static constexpr std::string_view name = "ScaledDotProductAttentionGrad";
  static constexpr WorkKind work_kind = WorkKind::line;
  static constexpr CodeKind code_kind = CodeKind::softmax;
  static constexpr VertexCost vertex_cost = line_cost(10, {40, 2}, {40, 4});
  static constexpr bool any_layout = true;
  using Attributes = detail::AttentionAttributes;

  static constexpr void infer(Inference& op) {
    op.output(op.input(0));
    for (int i = 1; i < 3; ++i) op.output({op.input(i).shape, float32});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return detail::attention_work(operands);
  }
  template <PackedAttributes A, class Q, class K, class V, class Y, class L, class DY, class DQ, class DK, class DV>
  static void compute(Q q, K k, V v, Y y, L logsumexp, DY dy, DQ dq, DK dk, DV dv) {
    add_heads<A>(q, k, v, y, logsumexp, dy, dq, dk, dv);
  }
  template <PackedAttributes A, class Q, class K, class V, class Y, class L, class DY, class Mask, class DQ, class DK, class DV>
  static void compute(Q q, K k, V v, Y y, L logsumexp, DY dy, Mask mask, DQ dq, DK dk, DV dv) {
    add_heads<A>(q, k, v, y, logsumexp, dy, dq, dk, dv, mask);
  }

 private:
  template <PackedAttributes A, class Q, class K, class V, class Y, class L, class DY, class DQ, class DK, class DV,
            class... Mask>
  static void add_heads(Q q, K k, V v, Y y, L logsumexp, DY dy, DQ dq, DK dk, DV dv, Mask... mask) {
    using detail::head_input, detail::head_rows;
    constexpr std::int64_t group = Q::shape[1] / K::shape[1];
    for (std::int64_t n = 0; n < Q::shape[0]; ++n)
      for (std::int64_t h = 0; h < Q::shape[1]; ++h) {
        const auto dk_rows = head_rows(dk, n, h / group), dv_rows = head_rows(dv, n, h / group);
        if (h % group == 0)
          for (const auto& rows : {dk_rows, dv_rows})
            for (std::int64_t i = 0; i < K::shape[2]; ++i)
              for (std::int64_t j = 0; j < K::shape[3]; ++j) rows.data[i * rows.row + j * rows.element] = 0;
        attention_gradient<detail::attention_shape<Q, K>(A)>(
            head_input(q, n, h), head_input(k, n, h / group), head_input(v, n, h / group), detail::key_mask(n, mask...),
            head_input(y, n, h), logsumexp.data + n * L::spec.stride(0) + h * L::spec.stride(1), L::spec.stride(2),
            head_input(dy, n, h), head_rows(dq, n, h), dk_rows, dv_rows, unpack<Attributes>(A).scale);
      }
  }
};

/// y = softmax(scale q k^T) v for each head, and the logarithm of each row's sum of exponentials. Blocks of scores are computed,
/// used and forgotten, with the largest score and the sum so far of each row (FlashAttention, arXiv 2205.14135, 2307.08691);
/// blocks that a causal mask hides are left out.
struct ScaledDotProductAttention : Op<ScaledDotProductAttention> {
  static constexpr std::string_view name = "ScaledDotProductAttention";
  static constexpr WorkKind work_kind = WorkKind::line;
  static constexpr CodeKind code_kind = CodeKind::softmax;
  static constexpr VertexCost vertex_cost = line_cost(6, {20, 2}, {20, 4});
  static constexpr bool any_layout = true;
  using Attributes = detail::AttentionAttributes;

  static constexpr Text options(const PackedAttributes& packed) {
    if (unpack<Attributes>(packed).is_causal != 0) return text("is_causal");
    return {};
  }
  static constexpr void infer(Inference& op) {
    const TensorSpec &q = op.input(0), &k = op.input(1), &v = op.input(2);
    for (int i = 0; i < 3; ++i)
      if (op.input(i).dtype != float32 && op.input(i).dtype != float16)
        return op.fail(to_text(op.input(i)), ": float16 or float32 expected");
    if (q.dtype != k.dtype) return op.fail("queries ", to_text(q), " and keys ", to_text(k), ": equal dtypes expected");
    for (int i = 0; i < 3; ++i)
      if (op.input(i).shape.rank != 4 || op.input(i).shape.nelms() == 0)
        return op.fail(to_text(op.input(i)), ": axes (batch, heads, length, width) with elements expected");
    if (k != v) return op.fail("keys ", to_text(k), " and values ", to_text(v), ": equal shapes expected");
    if (q.shape[0] != k.shape[0] || q.shape[3] != k.shape[3])
      return op.fail("queries ", to_text(q), " and keys ", to_text(k), ": the same batch and width expected");
    if (q.shape[1] % k.shape[1] != 0)
      return op.fail(k.shape[1], " heads of keys for ", q.shape[1], " of queries: a number that divides them expected");
    const auto attributes = op.attributes<Attributes>();
    if (attributes.is_causal != 0 && q.shape[2] != k.shape[2])
      return op.fail("is_causal with ", q.shape[2], " queries and ", k.shape[2], " keys: as many keys as queries expected");
    if (attributes.has_mask != 0) {
      const TensorSpec& mask = op.input(3);
      if (mask.dtype != boolean || mask.shape.rank != 2 || mask.shape[0] != k.shape[0] || mask.shape[1] != k.shape[2])
        return op.fail("mask ", to_text(mask), " for keys ", to_text(k), ": axes (batch, keys) of bool expected");
    }
    if (!op.require_number(attributes.scale, float32)) return;
    op.output(q);
    op.output({{q.shape[0], q.shape[1], q.shape[2]}, float32});
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.has_output_gradient(0)) return;
    List<Tensor> inputs{op.input(0), op.input(1), op.input(2), op.output(0), op.output(1), op.output_gradient(0)};
    if (op.input_count() > 3) inputs.push_back(op.input(3));
    const auto gradients = apply_all<ScaledDotProductAttentionGrad>(op.ir(), {inputs.begin(), inputs.end()},
                                                                    op.attributes<Attributes>());
    for (int i = 0; i < 3; ++i) {
      const Tensor gradient = at_or_invalid(op.ir(), gradients, static_cast<std::size_t>(i));
      op.input_gradient(i, gradient.valid() ? ops::cast(gradient, op.input_spec(i).dtype) : gradient);
    }
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return detail::attention_work(operands);
  }
  template <PackedAttributes A, class Q, class K, class V, class Y, class L>
  static void compute(Q q, K k, V v, Y y, L logsumexp) {
    mix_heads<A>(q, k, v, y, logsumexp);
  }
  template <PackedAttributes A, class Q, class K, class V, class Mask, class Y, class L>
  static void compute(Q q, K k, V v, Mask mask, Y y, L logsumexp) {
    mix_heads<A>(q, k, v, y, logsumexp, mask);
  }

 private:
  template <PackedAttributes A, class Q, class K, class V, class Y, class L, class... Mask>
  static void mix_heads(Q q, K k, V v, Y y, L logsumexp, Mask... mask) {
    using detail::head_input, detail::head_rows;
    constexpr std::int64_t group = Q::shape[1] / K::shape[1];
    for (std::int64_t n = 0; n < Q::shape[0]; ++n)
      for (std::int64_t h = 0; h < Q::shape[1]; ++h)
        attention_forward<detail::attention_shape<Q, K>(A)>(
            head_input(q, n, h), head_input(k, n, h / group), head_input(v, n, h / group), detail::key_mask(n, mask...),
            head_rows(y, n, h), logsumexp.data + n * L::spec.stride(0) + h * L::spec.stride(1), L::spec.stride(2),
            unpack<Attributes>(A).scale);
  }
};

namespace detail {
constexpr Tensor attention(std::span<const Tensor> inputs, const AttentionOptions& options) {
  const Tensor q = inputs[0];
  if (!q.valid()) return q;
  double scale = 1;
  if (options.scale) scale = *options.scale;
  else if (q.rank() > 0 && q.shape(-1) > 0) scale = 1 / square_root(static_cast<double>(q.shape(-1)));
  const AttentionAttributes attributes{options.is_causal ? 1 : 0, inputs.size() > 3 ? 1 : 0, scale};
  return at_or_invalid(q.ir(), apply_all<ScaledDotProductAttention>(q.ir(), inputs, attributes), 0);
}
}  // namespace detail

namespace ops {
/// softmax(scale q k^T) v for each head ("Attention Is All You Need", arXiv 1706.03762), without a tensor of scores: memory grows
/// with the number of queries and keys, not with their product. q: (batch, heads, queries, D); k, v: (batch, kv_heads, keys, D),
/// float16 or float32. Result: q's shape and dtype, computed in float32. kv_heads divides heads, and head h reads keys and values
/// of head h / (heads / kv_heads). Inputs may be views, such as parts of one projection. Scores of up to 1e4 and beyond give no
/// overflow. Gradient: scores are computed again. Errors: another dtype, other axes, no elements, batches, widths or heads that
/// do not fit, and with `is_causal` other numbers of keys than of queries.
///
///     y = ops::scaled_dot_product_attention(q, k, v, {.is_causal = true});
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options = {}) {
  const Tensor inputs[] = {q, k, v};
  return detail::attention(inputs, options);
}
/// The same of those keys that a mask shows, for example those that are no padding. key_mask: (batch, keys) bool, true for keys
/// that are seen. A query that sees no key has the result 0, and gives the gradient 0.
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor key_mask,
                                              const AttentionOptions& options = {}) {
  const Tensor inputs[] = {q, k, v, key_mask};
  return detail::attention(inputs, options);
}
}  // namespace ops

}  // namespace tilewright
