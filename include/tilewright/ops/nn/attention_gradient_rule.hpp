#pragma once
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/attention_options.hpp"
#include "tilewright/ops/nn/softmax.hpp"

namespace tilewright::detail {

/// Keys that a query sees, in the axes of scores: (batch, key heads, query heads of a key head, queries, keys).
struct SeenKeys {
  Tensor by_position{}, by_mask{};  ///< bool; invalid: all

  constexpr SeenKeys(GradientContext& op, Tensor mask, const AttentionAttributes& attributes, const Shape& q, const Shape& k) {
    if (mask.valid()) by_mask = ops::reshape(mask, {k[0], 1, 1, 1, k[2]});
    if (attributes.is_causal == 0) return;
    const std::int64_t offset = attributes.is_aligned_right() ? k[2] - q[2] : 0;
    List<double> seen;
    for (std::int64_t i = 0; i < q[2]; ++i)
      for (std::int64_t j = 0; j < k[2]; ++j) {
        const std::int64_t ahead = j - i - offset;
        seen.push_back(ahead <= 0 && (attributes.window == 0 || ahead > -attributes.window) ? 1 : 0);
      }
    by_position = op.ir().constant(seen, {q[2], k[2]}, boolean);
  }
  /// Returns the scores with other numbers for keys that are not seen.
  constexpr Tensor replace(Tensor scores, double position_number, double mask_number) const {
    if (by_mask.valid()) scores = ops::where(by_mask, scores, mask_number);
    return by_position.valid() ? ops::where(by_position, scores, position_number) : scores;
  }
};

/// Gradient rule of the gradient of attention without dropout, as a composed form: from the gradients uq, uk, uv of its results
/// to those of q, k, v and dy. They include the paths through the stored result and logsumexp, which have no gradients of their
/// own. With p = softmax(scale q k^T), dp = dy v^T, ds = J(dp), where J(t) = p (t - sum(p t)), and t = scale (uq k^T + q uk^T):
/// r = J(t), e = J(t (dp - sum(p dp)) - dp sum(p t) + dy uv^T). The gradient of q is scale (e k + ds uk), of k scale (e^T q +
/// ds^T uq), of v r^T dy, and of dy r v + p uv.
template <class D>
constexpr void differentiate_attention_gradient(GradientContext& op) {
  const auto attributes = op.attributes<AttentionAttributes>();
  const TensorSpec q = op.input_spec(0), k = op.input_spec(1);
  const int dy_input = is_half(q.dtype) ? 4 : 5;
  if (attributes.drops()) {
    op.ir().fail(
        text(D::name, ": dropout_p ", number_text(attributes.dropout_p), ": no second derivative with dropout: 0 expected"));
    return;
  }
  const std::int64_t batch = k.shape[0], heads = k.shape[1], keys = k.shape[2], each = q.shape[1] / heads;
  const Shape matrices{batch, heads, each * q.shape[2], keys}, scores{batch, heads, each, q.shape[2], keys};
  const AxisAttributes last{4};
  const SeenKeys seen(op, attributes.has_mask != 0 ? op.input(dy_input + 1) : Tensor(), attributes, q.shape, k.shape);
  const auto of_queries = [&](Tensor t) { return ops::reshape(t.cast(float32), {batch, heads, each * q.shape[2], q.shape[3]}); };
  const auto turned = [](Tensor t) { return ops::transpose(t, {0, 1, 3, 2}); };
  const auto scores_of = [&](Tensor a, Tensor b) { return ops::reshape(ops::matmul(a, turned(b)), scores); };
  const auto weighted = [&](Tensor weights, Tensor t) { return ops::matmul(ops::reshape(weights, matrices), t); };
  const auto weighted_by_keys = [&](Tensor weights, Tensor t) { return ops::matmul(turned(ops::reshape(weights, matrices)), t); };
  const auto give = [&](int i, Tensor gradient) {
    op.input_gradient(i, ops::reshape(gradient, op.input_spec(i).shape).cast(op.input_spec(i).dtype));
  };

  const Tensor query = of_queries(op.input(0)), key = op.input(1).cast(float32), value = op.input(2).cast(float32);
  const Tensor dy = of_queries(op.input(dy_input)), of_dq = of_queries(op.output_gradient(0));
  const Tensor of_dk = op.output_gradient(1).cast(float32), of_dv = op.output_gradient(2).cast(float32);
  const double scale = attributes.scale, lowest = -1e30;
  const bool is_hidden = attributes.hidden_score < lowest;  // a key that is not seen has the weight 0, if no key is seen, too
  const Tensor s = seen.replace(scores_of(query, key) * scale, lowest, is_hidden ? lowest : attributes.hidden_score);
  Tensor p = apply<Softmax>({s}, last);
  if (is_hidden) p = seen.replace(p, 0, 0);
  const auto of_scores = [&](Tensor t) { return seen.replace(apply<SoftmaxGrad>({p, t}, last), 0, 0); };
  const Tensor dp = scores_of(dy, value), ds = of_scores(dp);
  const Tensor t = seen.replace((scores_of(of_dq, key) + scores_of(query, of_dk)) * scale, 0, 0);
  const Tensor r = apply<SoftmaxGrad>({p, t}, last);
  const Tensor e = of_scores(gradient_of_softmax_result(p, dp, t, last) + scores_of(dy, of_dv));
  if (op.needs(0)) give(0, (weighted(e, key) + weighted(ds, of_dk)) * scale);
  if (op.needs(1)) give(1, (weighted_by_keys(e, query) + weighted_by_keys(ds, of_dq)) * scale);
  if (op.needs(2)) give(2, weighted_by_keys(r, dy));
  if (op.needs(dy_input)) give(dy_input, weighted(r, value) + weighted(p, of_dv));
}

}  // namespace tilewright::detail
