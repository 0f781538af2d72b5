#pragma once
#include <cstdint>

#include "tilewright/core/random/square_root.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/operand/attention_shape.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/nn/attention_gradient_rule.hpp"
#include "tilewright/ops/nn/attention_options.hpp"
#include "tilewright/ops/random/random.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

namespace detail {
/// `q`, `k`: specs of tensors or views.
template <class Spec>
constexpr kernel::AttentionShape attention_shape(const Spec& q, const Spec& k, const PackedAttributes& packed) {
  const auto attributes = unpack<AttentionAttributes>(packed);
  const std::int64_t queries = q.shape[2], keys = k.shape[2];
  return {.queries = queries,
          .keys = keys,
          .width = q.shape[3],
          .is_causal = attributes.is_causal != 0,
          .has_mask = attributes.has_mask != 0,
          .drops = attributes.drops(),
          .offset = attributes.is_aligned_right() ? keys - queries : 0,
          .window = attributes.window,
          .float16_sums = attributes.partials_type == float16 && q.dtype == float16};
}
/// Returns whether gradients of keys and values are sums over blocks of queries, or heads.
template <class Spec>
constexpr bool sums_key_gradients(const Spec& q, const Spec& k, const PackedAttributes& packed) {
  return q.shape[1] != k.shape[1] || !kernel::is_one_block(attention_shape(q, k, packed));
}
/// Returns the work of attention. Samples are divided; heads are divided too, if each head has its own keys. The first operands
/// are q and k. A mask does not follow the axis of heads, and a seed does not follow the axis of samples. In operand
/// `after_queries` and the next one, the axis of heads comes after that of queries; -1: in no operand.
constexpr Work attention_work(std::span<const TensorSpec> operands, int after_queries = -1) {
  Work work;
  for (int axis = 0; axis < (operands[0].shape[1] == operands[1].shape[1] ? 2 : 1); ++axis) {
    work.add_axis({.extent = operands[0].shape[axis], .kind = WorkAxisKind::parallel});
    for (int o = 0; o < static_cast<int>(operands.size()); ++o)
      if (operands[static_cast<std::size_t>(o)].shape.rank > axis + 1)
        work.follow(o, axis == 1 && after_queries >= 0 && (o == after_queries || o == after_queries + 1) ? 2 : axis, axis);
  }
  return work;
}
/// Converts (batch, queries, heads, width) to (batch, heads, queries, width), and back.
constexpr Tensor swap_heads(Tensor x) { return ops::transpose(x, {0, 2, 1, 3}); }
}  // namespace detail

/// The gradients of attention: inputs (q, k, v, y, logsumexp, dy), and a mask and a seed if there are any; results (dq, dk, dv).
/// The last two are float32 if blocks of queries, or heads, add to them. With p = exp(scale q k^T - logsumexp), dp = dy v^T and
/// ds = p (dp - sum(dy y)): dv = p^T dy, dk = scale ds^T q, dq = scale ds k. p and ds exist in blocks only. In half precision y
/// is not an input: sum(p dp) replaces sum(dy y).
struct ScaledDotProductAttentionGrad : Op<ScaledDotProductAttentionGrad> {
  static constexpr std::string_view name = "ScaledDotProductAttentionGrad";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  /// Cycles of a pair: the difference and the exponential of the softmax (target/ipu_reduction_cycles.hpp), and a difference and
  /// a product.
  constexpr operator VertexCost() const { return pair_cost(5, {15, 2}, {13, 4}); }
  constexpr operator CutRules() const { return detail::attention_cut_rules; }
  /// Positions are those of queries, which number the dropped weights.
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }
  using Attributes = detail::AttentionAttributes;

  static constexpr void infer(Inference& op) {
    const TensorSpec &q = op.input(0), &k = op.input(1);
    const bool sums = detail::sums_key_gradients(q, k, pack(op.attributes<Attributes>()));
    op.output(q);
    for (int i = 1; i < 3; ++i) op.output({k.shape, sums ? float32 : k.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    detail::differentiate_attention_gradient<ScaledDotProductAttentionGrad>(op);
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return detail::attention_work(operands);
  }
  template <PackedAttributes A, class Q, class K, class V, class... Rest>
  static void compute(Q q, K k, V v, Rest... rest);
  template <PackedAttributes A, class Q, class K, class... Rest>
  static constexpr std::int64_t stack_bytes();

 private:
  /// `y`: any view, if it is not read.
  template <PackedAttributes A, class Q, class K, class V, class Y, class L, class DY, class... Rest>
  static void of_heads(Q q, K k, V v, Y y, L logsumexp, DY dy, Rest... rest);
};

/// y = softmax(scale q k^T) v for each head, and the logarithm of each row's sum of exponentials. Blocks of scores are computed,
/// used and discarded, together with the largest score and the sum so far of each row (FlashAttention, arXiv 2205.14135,
/// 2307.08691); blocks that a causal mask hides are skipped. Inputs: (q, k, v), and a mask and a seed if there are any. The axes
/// of y are (batch, queries, heads, width), so that a layer's next product reads the heads of a query without a copy.
struct ScaledDotProductAttention : Op<ScaledDotProductAttention> {
  // Loops, not arrays: scores are computed in blocks that are never a tensor.
  static constexpr std::string_view name = "ScaledDotProductAttention";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  /// The loops of Softmax.
  constexpr operator VertexCost() const { return pair_cost(2, {14, 2}, {12, 4}); }
  constexpr operator CutRules() const { return detail::attention_cut_rules; }
  /// Positions are those of queries, which number the dropped weights.
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }
  using Attributes = detail::AttentionAttributes;

  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    List<Text> given;
    if (attributes.is_causal != 0) given.push_back(attributes.is_aligned_right() ? "is_causal=lower_right" : "is_causal");
    if (attributes.window != 0) given.push_back(text("window=", attributes.window));
    if (attributes.drops()) given.push_back(text("dropout_p=", number_text(attributes.dropout_p)));
    detail::add_dtype_option(given, "partials_type", attributes.partials_type);
    return join(given, ", ");
  }
  static constexpr void infer(Inference& op) {
    const TensorSpec &q = op.input(0), &k = op.input(1), &v = op.input(2);
    for (int i = 0; i < 3; ++i)
      if (!computes_in_float(op.input(i).dtype)) return op.fail(to_text(op.input(i)), ": float16, float32 or bfloat16 expected");
    if (q.dtype != k.dtype) return op.fail("queries ", to_text(q), " and keys ", to_text(k), ": equal dtypes expected");
    for (int i = 0; i < 3; ++i)
      if (op.input(i).shape.rank != 4 || op.input(i).shape.nelms() == 0)
        return op.fail(to_text(op.input(i)), ": axes (batch, heads, length, width) with elements expected");
    if (k != v) return op.fail("keys ", to_text(k), " and values ", to_text(v), ": equal shapes expected");
    if (q.shape[0] != k.shape[0] || q.shape[3] != k.shape[3])
      return op.fail("queries ", to_text(q), " and keys ", to_text(k), ": the same batch and width expected");
    if (q.shape[1] % k.shape[1] != 0)
      return op.fail(k.shape[1], " heads of keys for ", q.shape[1], " of queries: a divisor of ", q.shape[1], " expected");
    const auto attributes = op.attributes<Attributes>();
    if (attributes.is_causal != 0 && attributes.alignment == 0 && q.shape[2] != k.shape[2])
      return op.fail("is_causal with ", q.shape[2], " queries and ", k.shape[2],
                     " keys: as many keys as queries, or alignment = upper_left or lower_right, expected");
    if (attributes.is_causal == 0 && (attributes.alignment != 0 || attributes.window != 0))
      return op.fail(attributes.window != 0 ? "window" : "alignment", " without is_causal: is_causal = true expected");
    if (attributes.window < 0) return op.fail("window ", attributes.window, ": at least 1, or 0 for all keys, expected");
    if (!detail::require_probability(op, "dropout_p", attributes.dropout_p)) return;
    if (attributes.has_mask != 0) {
      const TensorSpec& mask = op.input(3);
      if (mask.dtype != boolean || mask.shape.rank != 2 || mask.shape[0] != k.shape[0] || mask.shape[1] != k.shape[2])
        return op.fail("mask ", to_text(mask), " for keys ", to_text(k), ": axes (batch, keys) of bool expected");
    }
    if (attributes.drops() && !Dropout::require_seed(op, 3 + static_cast<int>(attributes.has_mask))) return;
    if (!op.require_number("scale", attributes.scale, float32)) return;
    if (!detail::require_partials_type(op, attributes.partials_type)) return;
    op.output({{q.shape[0], q.shape[2], q.shape[1], q.shape[3]}, q.dtype});
    op.output({{q.shape[0], q.shape[1], q.shape[2]}, float32});
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.has_output_gradient(0)) return;
    const bool reads_y = !is_half(op.input_spec(0).dtype);
    const Tensor y = reads_y ? detail::swap_heads(op.output(0)) : Tensor{}, dy = detail::swap_heads(op.output_gradient(0));
    List<Tensor> inputs{op.input(0), op.input(1), op.input(2)};
    if (reads_y) inputs.push_back(y);
    for (const Tensor& x : {op.output(1), dy}) inputs.push_back(x);
    for (int i = 3; i < op.input_count(); ++i) inputs.push_back(op.input(i));
    const auto gradients = apply_all<ScaledDotProductAttentionGrad>(op.ir(), inputs, op.attributes<Attributes>());
    for (int i = 0; i < 3; ++i) {
      const Tensor gradient = at_or_invalid(op.ir(), gradients, static_cast<std::size_t>(i));
      op.input_gradient(i, gradient.valid() ? ops::cast(gradient, op.input_spec(i).dtype) : gradient);
    }
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return detail::attention_work(operands, input_count - 1);  // positions and y
  }
  template <PackedAttributes A, class Q, class K, class V, class... Rest>
  static void compute(Q q, K k, V v, Rest... rest);
  template <PackedAttributes A, class Q, class K, class V, class... Rest>
  static constexpr std::int64_t stack_bytes();
};

namespace detail {
/// Appends the op. Result: (batch, heads, queries, width), a view.
constexpr Tensor apply_attention(Ir& ir, const List<Tensor>& inputs, const AttentionAttributes& attributes) {
  const Tensor y = at_or_invalid(ir, apply_all<ScaledDotProductAttention>(ir, {inputs.begin(), inputs.size()}, attributes), 0);
  return y.valid() ? swap_heads(y) : y;
}
constexpr Tensor attention(std::initializer_list<Tensor> given, const AttentionOptions& options) {
  const Tensor q = *given.begin();
  if (!q.is_usable()) return q;
  double scale = 1;
  if (options.scale) scale = *options.scale;
  else if (q.rank() > 0 && q.shape(-1) > 0) scale = 1 / square_root(static_cast<double>(q.shape(-1)));
  const AttentionAttributes attributes{.is_causal = options.is_causal,
                                       .has_mask = given.size() > 3,
                                       .scale = scale,
                                       .alignment = static_cast<std::int64_t>(options.alignment),
                                       .window = options.window,
                                       .dropout_p = options.dropout_p,
                                       .partials_type = options.partials_type};
  List<Tensor> inputs(given);
  if (attributes.drops()) inputs.push_back(options.seed);
  if (attributes.drops() && !options.seed.valid() && !q.ir().failed())
    return q.ir().fail(text(ScaledDotProductAttention::name, ": dropout_p ", number_text(options.dropout_p),
                            " without a seed: .seed = (2,) uint32 expected"));
  return apply_attention(q.ir(), inputs, attributes);
}
}  // namespace detail

namespace ops {
/// Computes attention, softmax(scale q k^T) v for each head ("Attention Is All You Need", arXiv 1706.03762), without a tensor of
/// scores: memory grows with the numbers of queries and keys, not with their product. q: (batch, heads, queries, D); k, v:
/// (batch, kv_heads, keys, D), float16, bfloat16 or float32. The result has q's shape and dtype, and is computed in float32.
/// kv_heads divides heads, and head h reads keys and values of head h / (heads / kv_heads). Inputs may be views, such as parts of
/// one projection. Scores of 1e4 and more do not overflow. A score is a scaled sum of D products in float32. To first order,
/// rounding of scores changes a weight by at most the relative error (D + 2) 2^-23 times the largest sum of |scale q k|. The
/// gradient recomputes scores.
///
/// With `is_causal` and `window`, scores that no query sees are not computed. A query that sees no key has the result 0 and the
/// gradient 0. With `dropout_p`, weights are dropped as in `dropout(softmax(...), seed, dropout_p)`, with the same random numbers
/// and without storing a mask. Errors: another dtype, other axes, no elements, batches, widths or heads that do not fit; with
/// `is_causal` different numbers of keys and queries without an `alignment`; `alignment` or `window` without `is_causal`; dropout
/// without a seed; a `partials_type` other than float16 and float32.
///
/// `partials_type` float16 rounds sums of products of float16 as `matmul` does, here and in the gradient. Weights of values, and
/// the gradients of scores, are rounded to float16 before they are multiplied. Each block of at most 64 keys or queries has sums
/// of its own, which are added in float32.
///
///     y = ops::scaled_dot_product_attention(q, k, v, {.is_causal = true});
///     y = ops::scaled_dot_product_attention(q, k, v, {.is_causal = true, .window = 64, .dropout_p = 0.1, .seed = seed});
[[nodiscard]] constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options = {}) {
  return detail::attention({q, k, v}, options);
}
/// Computes attention over the keys that a mask shows, for example those that are not padding. key_mask: (batch, keys) bool, true
/// for visible keys. q, k, v and the result are those of attention without a mask. A query that sees no key has the result 0 and
/// the gradient 0.
[[nodiscard]] constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor key_mask,
                                                            const AttentionOptions& options = {}) {
  return detail::attention({q, k, v, key_mask}, options);
}
}  // namespace ops

}  // namespace tilewright
