#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "tilewright/op/op.hpp"
#include "tilewright/op/planner_options.hpp"

namespace tilewright {

/// Alignment of a causal mask if the numbers of keys and queries differ; names are those of torch.nn.attention.bias.
enum class CausalAlignment : std::uint8_t {
  none,  ///< the numbers of keys and queries must be equal
  upper_left,  ///< query i sees keys 0 to i: both begin at one position of the text
  lower_right  ///< the last query sees all keys: both end at one position, as for new queries after cached keys
};

/// Options of attention.
struct AttentionOptions {
  Flag is_causal = false;  ///< whether a query sees no later key: query i sees keys 0 to i
  std::optional<double> scale{};  ///< factor of q k^T; nothing: 1 / sqrt(D)
  CausalAlignment alignment = CausalAlignment::none;  ///< with is_causal, if the numbers of keys and queries differ
  std::int64_t window = 0;  ///< with is_causal: number of last keys that a query sees, itself included; 0: all
  double dropout_p = 0;  ///< probability with which a weight is dropped: at least 0, and below 1
  Tensor seed{};  ///< (2,) uint32, for dropout_p above 0
  std::optional<DType> partials_type{};  ///< float16 or float32: dtype of partial sums; nothing: Target::partials_type, float32
};

namespace detail {
struct AttentionAttributes {
  std::int64_t is_causal = 0;
  std::int64_t has_mask = 0;
  double scale = 1;
  std::int64_t alignment = 0;
  std::int64_t window = 0;
  double dropout_p = 0;
  /// Score of keys that the mask hides. A finite number gives the softmax of a composed form, in which a query that sees no key
  /// gets the mean of the values.
  double hidden_score = -std::numeric_limits<double>::infinity();
  OptionalDType partials_type{};  ///< dtype of partial sums; none: the target's
  std::uint8_t reserved[7] = {};

  constexpr bool drops() const { return dropout_p != 0; }
  constexpr bool is_aligned_right() const { return alignment == static_cast<std::int64_t>(CausalAlignment::lower_right); }
};
/// How the dtype of attention's sums is chosen, for the op and its gradient.
inline constexpr CutRules attention_cut_rules{.partials_dtype = partials_dtype<AttentionAttributes>,
                                              .with_partials_type = with_partials_type<AttentionAttributes>};
}  // namespace detail

}  // namespace tilewright
