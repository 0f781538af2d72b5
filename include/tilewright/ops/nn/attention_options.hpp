#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "tilewright/op/op.hpp"

namespace tilewright {

/// Alignment of a causal mask if the numbers of keys and queries differ; names are those of torch.nn.attention.bias.
enum class CausalAlignment : std::uint8_t {
  none,  ///< the numbers of keys and queries must be equal
  upper_left,  ///< query i sees keys 0 to i: both begin at one position of the text
  lower_right  ///< the last query sees all keys: both end at one position, as for new queries after cached keys
};

/// Options of attention.
struct AttentionOptions {
  bool is_causal = false;  ///< whether a query sees no later key: query i sees keys 0 to i
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
  std::int64_t partials = 0;  ///< 1 + the dtype of partial sums; 0: the target's

  constexpr bool drops() const { return dropout_p != 0; }
  constexpr bool is_aligned_right() const { return alignment == static_cast<std::int64_t>(CausalAlignment::lower_right); }
  constexpr DType partials_type() const { return partials == 0 ? float32 : static_cast<DType>(partials - 1); }
};
/// How the dtype of attention's sums is chosen, for the op and its gradient.
struct AttentionCutRules {
  static constexpr DType partials_dtype(const PackedAttributes& packed, DType) {
    return unpack<AttentionAttributes>(packed).partials_type();
  }
  static constexpr PackedAttributes with_partials_type(const PackedAttributes& packed, DType partials_type) {
    auto attributes = unpack<AttentionAttributes>(packed);
    if (attributes.partials == 0) attributes.partials = 1 + static_cast<std::int64_t>(partials_type);
    return pack(attributes);
  }
  static constexpr CutRules rules{.partials_dtype = partials_dtype, .with_partials_type = with_partials_type};
};
}  // namespace detail

}  // namespace tilewright
