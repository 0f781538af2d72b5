#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "tilewright/op/composed_form.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/logical.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/ops/nn/softmax.hpp"

namespace tilewright::detail {

/// Recognises attention that is composed of matmul, softmax and matmul, and replaces the last product.
///
/// The form is dropout(softmax(mask(scale q k^T))) v, with queries (batch, heads, T, D) and keys and values (batch, heads, S, D)
/// of float16, bfloat16 or float32, where
///  - k^T is any tensor (batch, heads, D, S);
///  - the scale, which is optional, is a product with a constant or a quotient by one, of q or of the scores;
///  - masks are a constant of `causal_mask` that is added, and `where` with a constant for hidden scores. The condition of
///    `where` compares positions, which are constants of `range` along queries and along keys, or is a `logical_and` of such
///    comparisons that forms a causal mask or a window; or it is equal for all heads and queries: a mask of keys;
///  - dropout is optional. A form is not replaced in these cases: an inner tensor has another reader or a name; there are fewer
///    queries or keys than `min_queries` and `min_keys`; a product has options; a mask is of another kind; by a mask of
///    positions, a query sees no key.
///
/// The op does not read keys that positions hide. Their score must therefore be so low that its exponential is 0 beside that
/// of any visible key: `hidden_position` or less. A mask of keys keeps its score, `hidden_key` or less. With both masks, the
/// mask of keys can hide all keys that a query sees by its position. So that the softmax is right in that case, the keys that
/// positions hide must have a lower score than these: at most twice the score of the mask of keys if `where` sets it, and at
/// most that score if the mask of positions is added. A mask of keys without a causal mask must hide by -infinity.
class ComposedAttention {
 public:
  /// The op's vectors run along queries. With fewer queries it computes more than the composed form.
  static constexpr std::int64_t min_queries = 16;
  /// With fewer keys, the weights of a head stay in a core's cache, and the op, which recomputes scores for the gradient, is not
  /// faster. For 16 heads of 64, forward and backward on one thread, the op takes 1.16 of the time of the composed form at 128
  /// keys, and 1.0 at 256; with a causal mask, 0.91 at 64 keys and 0.7 at 128.
  static constexpr std::int64_t min_keys = 256, min_keys_of_causal = 64;
  static constexpr double hidden_key = -1e4;  ///< highest score of a mask of keys
  /// Highest score of a mask of positions: far below the scores of a model, unlike -1e4. In float16 it is the lowest number: the
  /// next one, 32 above, has exp(32) times the weight. If it is added, the scores of a query may differ by 6e4.
  static constexpr double hidden_position(DType dtype) { return dtype == float16 ? -65504 : -1e9; }

  /// Returns whether a node may be the last of the form, as a quick first test.
  static constexpr bool may_end(const GraphRecord& graph, const Node& node) {
    if (node.op != &op_info<MatMul>) return false;
    const NodeId producer = graph.tensors[node.inputs[0]].producer;
    if (producer == NodeId::none) return false;
    const OpInfo* const op = graph.nodes[producer].op;
    return op == &op_info<Softmax> || op == &op_info<Dropout>;
  }
  /// Fills the members and returns true if the node is the last of the form.
  constexpr bool find(const FormReader& graph, const Node& last) {
    if (last.attributes != pack(MatMul::Attributes{})) return false;
    const Node* node = graph.inner(last.inputs[0]);
    if (node && node->op == &op_info<Dropout>) {
      attributes_.dropout_p = unpack<Dropout::Attributes>(node->attributes).p;
      seed_ = node->inputs[1];
      node = graph.inner(node->inputs[0]);
    }
    if (!node || node->op != &op_info<Softmax> || unpack<AxisAttributes>(node->attributes).axis != 3) return false;
    v_ = last.inputs[1];
    shape_ = graph.spec(node->inputs[0]).shape;
    TensorId scores = node->inputs[0];
    while ((node = graph.inner(scores)) && node->op != &op_info<MatMul>)
      if (!(is_scaled(graph, *node, scores) || (scale_ == 1 && is_masked(graph, *node, scores)))) return false;
    if (!node || node->attributes != pack(MatMul::Attributes{})) return false;
    k_transposed_ = node->inputs[1];
    q_ = node->inputs[0];
    TensorId first = scores;
    if (const Node* scaled = graph.inner(q_); scaled)
      if (const TensorId product = q_; is_scaled(graph, *scaled, q_)) first = product;
    return fits(graph) && finish_masks() && graph.keeps_all(first, last);
  }
  /// Appends the op and its operands to the current graph, and returns the result.
  constexpr Tensor apply(Ir& ir) const {
    const auto tensor = [&](TensorId id) { return Tensor(ir, ir.tables.current_graph, id); };
    List<Tensor> inputs{tensor(q_), ops::transpose(tensor(k_transposed_), {0, 1, 3, 2}), tensor(v_)};
    AttentionAttributes attributes = attributes_;
    attributes.scale = scale_;
    if (key_mask_ != TensorId::none) {
      const Shape whole{shape_[0], shape_[3]}, given = tensor(key_mask_).shape();
      Tensor mask = tensor(key_mask_).reshape({given.rank == 4 ? given[0] : 1, given[-1]});
      if (mask.shape() != whole) mask = ops::expand(mask, whole);
      inputs.push_back(mask_hides_ ? ops::logical_not(mask) : mask);
      attributes.has_mask = 1;
    }
    if (attributes.drops()) inputs.push_back(tensor(seed_));
    return apply_attention(ir, inputs, attributes);
  }

 private:
  /// Recognises products with a number and quotients by one; `x` becomes the scaled tensor.
  constexpr bool is_scaled(const FormReader& graph, const Node& node, TensorId& x) {
    const bool divides = node.op == &op_info<Div>;
    if (!divides && node.op != &op_info<Mul>) return false;
    for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
      if (divides && i == 0) break;
      const auto number = graph.number(node.inputs[i]);
      if (!number || graph.spec(node.inputs[i]).shape.nelms() != 1 || (divides && *number == 0)) continue;
      scale_ = divides ? scale_ / *number : scale_ * *number;
      x = node.inputs[1 - i];
      return true;
    }
    return false;
  }
  /// Recognises a mask; `x` becomes the masked tensor.
  constexpr bool is_masked(const FormReader& graph, const Node& node, TensorId& x) {
    if (node.op == &op_info<Add>) {
      for (const std::size_t i : {std::size_t{1}, std::size_t{0}})
        if (is_causal_constant(graph, node.inputs[i])) {
          position_score_ = (std::max)(position_score_, graph.constant(node.inputs[i])->generator.a);
          return x = node.inputs[1 - i], see_until(0);
        }
      return false;
    }
    if (node.op != &op_info<Where>) return false;
    const auto first = graph.number(node.inputs[1]), second = graph.number(node.inputs[2]);
    const bool hides = first && *first <= hidden_key;  // where the condition is true
    if (!hides && !(second && *second <= hidden_key)) return false;
    x = node.inputs[hides ? 2 : 1];
    const TensorId condition = node.inputs[0];
    if (graph.spec(x).shape != shape_) return false;
    const double score = hides ? *first : *second;
    if (is_of_keys(graph.spec(condition).shape, condition, hides, score)) return true;
    if (score > hidden_position(graph.spec(x).dtype) || !is_of_positions(graph, condition, hides)) return false;
    position_score_ = (std::max)(position_score_, score / 2);
    return true;
  }
  constexpr bool is_causal_constant(const FormReader& graph, TensorId tensor) const {
    const ConstantRecord* const constant = graph.constant(tensor);
    const Shape& shape = graph.spec(tensor).shape;
    return constant && constant->generator.write == write_causal_mask && constant->generator.scale == 1 &&
           constant->generator.a <= hidden_position(graph.spec(tensor).dtype) && constant->generator.b == 0 &&
           shape.nelms() == shape_[2] * shape_[3] && shape[-1] == shape_[3] && shape[-2] == shape_[2];
  }
  /// Positions along an axis: `first`, `first + 1` and so on.
  struct Positions {
    int axis = 0;  ///< -1: keys, -2: queries
    std::int64_t first = 0;
  };
  constexpr std::optional<Positions> positions(const FormReader& graph, TensorId tensor) const {
    Positions result{.axis = graph.spec(tensor).shape.rank > 0 && graph.spec(tensor).shape[-1] != 1 ? -1 : -2};
    const Shape& shape = graph.spec(tensor).shape;
    const std::int64_t extent = shape_[result.axis];
    if (shape.rank < -result.axis || shape[result.axis] != extent || shape.nelms() != extent) return std::nullopt;
    const Node* node = graph.producer(tensor);
    for (; node && node->op == &op_info<Reshape>; node = graph.producer(tensor)) tensor = node->inputs[0];
    const ConstantRecord* const constant = graph.constant(tensor);
    if (!constant || constant->generator.write != write_range || constant->generator.b != 1 || constant->generator.scale != 1)
      return std::nullopt;
    result.first = static_cast<std::int64_t>(constant->generator.a);
    if (static_cast<double>(result.first) != constant->generator.a) return std::nullopt;
    return result;
  }
  /// Recognises conditions on the positions of queries i and keys j. `hides`: true for conditions that hide keys, false for those
  /// that show them.
  constexpr bool is_of_positions(const FormReader& graph, TensorId condition, bool hides) {
    const Node* const node = graph.producer(condition);
    if (!node || node->inputs.size() != 2) return false;
    if (node->op == &op_info<And>)
      return !hides && is_of_positions(graph, node->inputs[0], false) && is_of_positions(graph, node->inputs[1], false);
    const bool less = node->op == &op_info<Less>, at_most = node->op == &op_info<LessEqual>;
    const bool greater = node->op == &op_info<Greater>, at_least = node->op == &op_info<GreaterEqual>;
    if (!less && !at_most && !greater && !at_least) return false;
    const auto a = positions(graph, node->inputs[0]), b = positions(graph, node->inputs[1]);
    if (!a || !b || a->axis == b->axis) return false;
    // as a statement of keys: j + keys (<, <=, >, >=) i + queries
    const bool keys_first = a->axis == -1;
    const std::int64_t difference = keys_first ? b->first - a->first : a->first - b->first;  // j (..) i + difference
    bool below = keys_first ? less || at_most : greater || at_least;
    bool equal = at_most || at_least;
    if (hides) below = !below, equal = !equal;
    return below ? see_until(equal ? difference : difference - 1) : see_from(equal ? difference : difference + 1);
  }
  /// Recognises conditions on keys alone, (keys,) or (batch, 1, 1, keys) for all heads and queries. `hides`: true for conditions
  /// that hide keys, false for those that show them.
  constexpr bool is_of_keys(const Shape& shape, TensorId condition, bool hides, double score) {
    const bool is_row = shape.rank > 0 && shape[-1] == shape_[3] && shape.nelms() == shape[-1];
    const bool is_row_of_samples = shape.rank == 4 && shape[0] == shape_[0] && shape[1] == 1 && shape[2] == 1 &&
                                   shape[3] == shape_[3];
    if (key_mask_ != TensorId::none || (!is_row && !is_row_of_samples)) return false;
    attributes_.hidden_score = score;
    key_mask_ = condition;
    mask_hides_ = hides;
    return true;
  }
  /// Records that query i sees keys up to i + last, or from i + first on. A mask of positions must be applied after a mask of
  /// keys with a finite score.
  constexpr bool see_until(std::int64_t last) { return !is_closed() && !until_ && (until_ = last, true); }
  constexpr bool see_from(std::int64_t first) { return !is_closed() && !from_ && (from_ = first, true); }
  constexpr bool is_closed() const {
    return key_mask_ != TensorId::none && attributes_.hidden_score > -std::numeric_limits<double>::infinity();
  }
  /// Sets the attributes of the masks of positions. Returns whether the op supports them and every query sees a key.
  constexpr bool finish_masks() {
    if (!until_) return !from_;
    const std::int64_t queries = shape_[2], keys = shape_[3];
    if (*until_ != 0 && *until_ != keys - queries) return false;
    attributes_.is_causal = 1;
    if (queries != keys)
      attributes_.alignment = static_cast<std::int64_t>(*until_ == 0 ? CausalAlignment::upper_left
                                                                     : CausalAlignment::lower_right);
    if (from_ && (attributes_.window = *until_ - *from_ + 1) <= 0) return false;
    const kernel::AttentionShape shape{
        .queries = queries, .keys = keys, .is_causal = true, .offset = *until_, .window = attributes_.window};
    return !shape.may_hide_all() && (key_mask_ == TensorId::none || position_score_ <= attributes_.hidden_score);
  }
  /// Returns whether the op supports the operands.
  constexpr bool fits(const FormReader& graph) const {
    const TensorSpec &q = graph.spec(q_), &k = graph.spec(k_transposed_), &v = graph.spec(v_);
    if (q.shape.rank != 4 || k.shape.rank != 4 || v.shape.rank != 4 || !computes_in_float(q.dtype)) return false;
    const Shape &a = q.shape, &b = k.shape, &c = v.shape;
    return q.dtype == k.dtype && q.dtype == v.dtype && a[0] == b[0] && a[1] == b[1] && a[3] == b[2] && b[0] == c[0] &&
           b[1] == c[1] && b[2] == c[3] && b[3] == c[2] && a[2] == shape_[2] && b[3] == shape_[3] && a[2] >= min_queries &&
           b[3] >= (until_ ? min_keys_of_causal : min_keys) && scale_ >= -(std::numeric_limits<float>::max)() &&
           scale_ <= (std::numeric_limits<float>::max)();
  }

  TensorId q_{}, k_transposed_{}, v_{}, seed_{}, key_mask_ = TensorId::none;
  Shape shape_{};  // of scores
  AttentionAttributes attributes_{};
  double scale_ = 1;
  bool mask_hides_ = false;  // the mask of keys is true for those that are hidden
  double position_score_ = -std::numeric_limits<double>::infinity();  // what hides positions: by `where` half of it
  std::optional<std::int64_t> until_{}, from_{};
};

}  // namespace tilewright::detail
