#pragma once
#include <cstddef>
#include <cstdint>

namespace tilewright {

/// What kind of work an op does, for passes that price or rewrite ops without knowing them.
enum class WorkKind : std::uint8_t {
  other,        ///< none of these, or not stated
  map,          ///< a formula of the elements at one place
  reduction,    ///< sums, or extremes, over axes or windows
  line,         ///< each line of an axis by itself, with sums over it: softmax, normalisation
  product,      ///< of matrices
  convolution,  ///< sums of products over windows, and their gradients
  view,         ///< nothing is computed
  indexed,      ///< elements at places that are known in a run: gather, scatter, slices with starts that are tensors
  composite,    ///< several ops, which `expand` gives
  transfer,     ///< between the tiles and what is outside of them
  collective    ///< between replicas
};

/// Which code a vertex of an op has, for the account of the tiles' memory. What each takes is a number of the target. `softmax`
/// and `norm`: the ops and their gradients; `other`: none of the rest.
enum class CodeKind : std::uint8_t { other, map, copy, reduction, product, softmax, norm };
inline constexpr std::size_t code_kinds = 7;

/// The code of ops of a kind, for those that state none: never softmax or norm.
constexpr CodeKind code_kind_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::map: return CodeKind::map;
    case WorkKind::reduction: return CodeKind::reduction;
    case WorkKind::product:
    case WorkKind::convolution: return CodeKind::product;
    case WorkKind::indexed:
    case WorkKind::transfer: return CodeKind::copy;
    default: return CodeKind::other;
  }
}

}  // namespace tilewright
