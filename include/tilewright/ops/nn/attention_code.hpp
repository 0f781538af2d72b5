#pragma once
#include <tuple>

#include "tilewright/kernel/attention/attention.hpp"
#include "tilewright/kernel/attention/gradient.hpp"
#include "tilewright/kernel/attention/of_one.hpp"
#include "tilewright/ops/nn/attention.hpp"

namespace tilewright {

namespace detail {
/// Returns the matrix of one sample and head.
template <class V>
inline auto head_rows(V view, std::int64_t sample, std::int64_t head) {
  return kernel::MatrixRows<typename V::element>{view.data + sample * V::spec.stride(0) + head * V::spec.stride(1),
                                                 V::spec.stride(2), V::spec.stride(3)};
}

template <class V>
inline kernel::MatrixRows<const typename V::element> head_input(V view, std::int64_t sample, std::int64_t head) {
  const auto rows = head_rows(view, sample, head);
  return {rows.data, rows.row, rows.element};
}

/// Returns the matrices of the next head, of this sample or the next one. Another vertex may own it, or it may not exist.
template <kernel::AttentionShape shape, class K, class V, class Q, class... OfQuery>
inline auto next_head(std::int64_t sample, std::int64_t head, K k, V v, Q q, OfQuery... of_query) {
  constexpr std::int64_t group = Q::shape[1] / K::shape[1];
  const bool is_last = head + 1 == Q::shape[1];
  const std::int64_t n = is_last ? sample + 1 : sample, h = is_last ? 0 : head + 1;
  return kernel::NextHead<shape, std::remove_const_t<typename Q::element>, 1 + sizeof...(OfQuery)>{
      {head_input(k, n, h / group), head_input(v, n, h / group)}, {head_input(q, n, h), head_input(of_query, n, h)...}};
}

template <class V>
inline void clear_head(V view, std::int64_t sample, std::int64_t head) {
  auto* const data = head_rows(view, sample, head).data;
  for (std::int64_t i = 0; i < V::shape[2]; ++i)
    for (std::int64_t j = 0; j < V::shape[3]; ++j) data[i * V::spec.stride(2) + j * V::spec.stride(3)] = 0;
}

/// Masks of attention: views of a key mask and of a seed, if the attributes have them, and of the positions of queries. Axis
/// `heads_axis` of the positions is that of heads.
template <PackedAttributes A, int heads_axis, class Q, class K, class... V>
class AttentionMasks {
 public:
  constexpr explicit AttentionMasks(const V&... views) : views_(views...) {}

  /// Returns the mask of a sample.
  kernel::KeyMask keys([[maybe_unused]] std::int64_t sample) const {
    if constexpr (attributes.has_mask == 0) return {};
    else return of_sample(std::get<0>(views_), sample);
  }
  /// Returns the dropout of a sample and head: a WeightDropout, if weights are dropped.
  auto dropout([[maybe_unused]] std::int64_t sample, [[maybe_unused]] std::int64_t head) const {
    constexpr std::size_t seed = attributes.has_mask;
    if constexpr (!attributes.drops()) return 0;
    else return of_head(std::get<seed>(views_), std::get<seed + 1>(views_), sample, head);
  }

 private:
  static constexpr auto attributes = unpack<AttentionAttributes>(A);
  template <class Mask>
  static kernel::KeyMask of_sample(Mask mask, std::int64_t sample) {
    return {mask.data + sample * Mask::spec.stride(0), Mask::spec.stride(1), static_cast<float>(attributes.hidden_score)};
  }
  template <class Seed, class Positions>
  static kernel::WeightDropout of_head(Seed seed, Positions positions, std::int64_t sample, std::int64_t head) {
    constexpr std::int64_t of_sample = Positions::spec.stride(0), of_head = Positions::spec.stride(heads_axis);
    constexpr std::int64_t matrix = Q::shape[2] * Q::shape[3], heads = of_sample / matrix;
    const std::int64_t position = position_of(positions) + sample * of_sample + head * of_head;
    const std::int64_t number = position / of_sample * heads + position % of_sample / of_head;  // of the head
    const kernel::PhiloxVectors<kernel::WideVector> philox({seed.data[0], seed.data[Seed::spec.stride(0)]});
    return {{philox, dropout_threshold(attributes.dropout_p), static_cast<float>(1 / (1 - attributes.dropout_p))},
            number * Q::shape[2] * K::shape[2]};
  }
  std::tuple<V...> views_;
};

/// Whether the gradient reads the op's result.
template <class Q>
inline constexpr bool reads_result = !kernel::sums_weights<std::remove_const_t<typename Q::element>>;
/// Whether the kernel for one query computes the op.
template <PackedAttributes A, class Q, class K, class V, class Y>
inline constexpr bool takes_one_query = kernel::is_one_query(attention_shape(Q::spec, K::spec, A)) && Q::spec.stride(3) == 1 &&
                                        K::spec.stride(3) == 1 && V::spec.stride(3) == 1 && Y::spec.stride(3) == 1;

/// Calls f(masks, results...). The last operands of a kernel are first those of AttentionMasks, then the results.
template <PackedAttributes A, int heads_axis, class Q, class K, class F, class... V>
inline void with_attention_masks(const F& f, const V&... views) {
  constexpr auto attributes = unpack<AttentionAttributes>(A);
  constexpr std::size_t masks = 1 + attributes.has_mask + attributes.drops();
  const std::tuple<V...> all(views...);
  [&]<std::size_t... m, std::size_t... r>(std::index_sequence<m...>, std::index_sequence<r...>) {
    f(AttentionMasks<A, heads_axis, Q, K, std::tuple_element_t<m, std::tuple<V...>>...>(std::get<m>(all)...),
      std::get<masks + r>(all)...);
  }(std::make_index_sequence<masks>(), std::make_index_sequence<sizeof...(V) - masks>());
}
}  // namespace detail

template <PackedAttributes A, class Q, class K, class V, class... Rest>
inline void ScaledDotProductAttentionGrad::compute(Q q, K k, V v, Rest... rest) {
  if constexpr (detail::reads_result<Q>) of_heads<A>(q, k, v, rest...);
  else [&](auto logsumexp, auto dy, auto... others) { of_heads<A>(q, k, v, dy, logsumexp, dy, others...); }(rest...);
}

template <PackedAttributes A, class Q, class K, class... Rest>
constexpr std::int64_t ScaledDotProductAttentionGrad::stack_bytes() {
  return kernel::attention_gradient_stack_bytes<detail::attention_shape(Q::spec, K::spec, A),
                                                std::remove_const_t<typename Q::element>>;
}

template <PackedAttributes A, class Q, class K, class V, class Y, class L, class DY, class... Rest>
inline void ScaledDotProductAttentionGrad::of_heads(Q q, K k, V v, Y y, L logsumexp, DY dy, Rest... rest) {
  using detail::head_input, detail::head_rows;
  constexpr std::int64_t group = Q::shape[1] / K::shape[1];
  constexpr kernel::AttentionShape shape = detail::attention_shape(Q::spec, K::spec, A);
  constexpr bool adds = detail::sums_key_gradients(Q::spec, K::spec, A);
  const auto next_head = [&](std::int64_t n, std::int64_t h) {
    if constexpr (detail::reads_result<Q>) return detail::next_head<shape>(n, h, k, v, q, y, dy);
    else return detail::next_head<shape>(n, h, k, v, q, dy);
  };
  detail::with_attention_masks<A, 1, Q, K>(
      [&](const auto& masks, auto dq, auto dk, auto dv) {
        for (std::int64_t n = 0; n < Q::shape[0]; ++n)
          for (std::int64_t h = 0; h < Q::shape[1]; ++h) {
            const auto dk_rows = head_rows(dk, n, h / group), dv_rows = head_rows(dv, n, h / group);
            if constexpr (adds)
              if (h % group == 0) detail::clear_head(dk, n, h / group), detail::clear_head(dv, n, h / group);
            kernel::attention_gradient<shape, adds>(
                head_input(q, n, h), head_input(k, n, h / group), head_input(v, n, h / group), masks.keys(n), head_input(y, n, h),
                logsumexp.data + n * L::spec.stride(0) + h * L::spec.stride(1), L::spec.stride(2), head_input(dy, n, h),
                head_rows(dq, n, h), dk_rows, dv_rows, unpack<Attributes>(A).scale, masks.dropout(n, h), next_head(n, h));
          }
      },
      rest...);
}

template <PackedAttributes A, class Q, class K, class V, class... Rest>
inline void ScaledDotProductAttention::compute(Q q, K k, V v, Rest... rest) {
  using detail::head_input, detail::head_rows;
  constexpr std::int64_t group = Q::shape[1] / K::shape[1];
  constexpr kernel::AttentionShape shape = detail::attention_shape(Q::spec, K::spec, A);
  constexpr double scale = unpack<Attributes>(A).scale;
  detail::with_attention_masks<A, 2, Q, K>(
      [&]<class Y, class L>(const auto& masks, Y y, L logsumexp) {
        for (std::int64_t n = 0; n < Q::shape[0]; ++n)
          for (std::int64_t h = 0; h < Q::shape[1]; ++h) {
            const auto q_rows = head_input(q, n, h), k_rows = head_input(k, n, h / group), v_rows = head_input(v, n, h / group);
            const kernel::MatrixRows<typename Y::element> y_rows{y.data + n * Y::spec.stride(0) + h * Y::spec.stride(2),
                                                                 Y::spec.stride(1), Y::spec.stride(3)};
            float* const log = logsumexp.data + n * L::spec.stride(0) + h * L::spec.stride(1);
            if constexpr (detail::takes_one_query<A, Q, K, V, Y>)
              kernel::attention_of_one<shape>(q_rows.data, k_rows, v_rows, masks.keys(n), y_rows.data, log, scale);
            else
              kernel::attention_forward<shape>(q_rows, k_rows, v_rows, masks.keys(n), y_rows, log, L::spec.stride(2), scale,
                                               masks.dropout(n, h), detail::next_head<shape>(n, h, k, v, q));
          }
      },
      rest...);
}

template <PackedAttributes A, class Q, class K, class V, class... Rest>
constexpr std::int64_t ScaledDotProductAttention::stack_bytes() {
  constexpr kernel::AttentionShape shape = detail::attention_shape(Q::spec, K::spec, A);
  using Y = std::tuple_element_t<sizeof...(Rest) - 2, std::tuple<Rest...>>;  // before the logarithms
  if constexpr (detail::takes_one_query<A, Q, K, V, Y>) return kernel::attention_of_one_stack_bytes<shape>;
  else return kernel::attention_stack_bytes<shape>;
}

}  // namespace tilewright
