#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// Extents of one head's attention.
struct AttentionShape {
  std::int64_t queries = 1, keys = 1, width = 1;  ///< width: elements of a query, a key or a value
  bool is_causal = false;                         ///< whether query i sees no key after i + offset
  bool has_mask = false;                          ///< whether a mask tells which keys are seen
  bool drops = false;                             ///< whether weights are dropped
  std::int64_t offset = 0;                        ///< with is_causal
  std::int64_t window = 0;  ///< with is_causal: keys that a query sees at most, the last ones; 0: all
  bool float16_sums = false;  ///< whether products have sums of float16 (rounded_products.hpp)
  constexpr bool operator==(const AttentionShape&) const = default;

  /// Returns whether there may be a query that sees no key.
  constexpr bool may_hide_all() const { return has_mask || offset < 0 || (window > 0 && queries + offset - window >= keys); }
};

/// Largest number of queries and of keys in a block, and of floats in its rows: four blocks fit into a first-level cache of 64
/// KB, all blocks of a gradient into a second-level cache.
inline constexpr std::int64_t attention_block_rows = 64, attention_block_floats = 8192;

/// Returns whether a block has all queries and keys on any machine, and each query sees one.
constexpr bool is_one_block(const AttentionShape& s) {
  return s.queries <= attention_block_rows && s.keys <= attention_block_rows &&
         s.width <= attention_block_floats / attention_block_rows && !s.may_hide_all();
}

}  // namespace tilewright::kernel
