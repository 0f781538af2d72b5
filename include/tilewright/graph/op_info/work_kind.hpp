#pragma once
#include <cstddef>
#include <cstdint>

namespace tilewright {

/// What kind of work an op does. The default of OpKind::code_kind and OpInfo::takes_float8 follow from it.
enum class WorkKind : std::uint8_t {
  other,        ///< none of these, or not stated
  map,          ///< each element by a formula of the operands' elements at the same place
  reduction,    ///< sums, or extremes, over axes or windows
  line,         ///< each line along an axis by itself: softmax, normalisation, cumulative sums, top-k, resizing
  product,      ///< products of matrices
  convolution,  ///< sums of products over windows, and their gradients
  view,         ///< nothing is computed: a layout of memory that is there, or memory that is not written yet
  indexed,      ///< elements at places that only a run knows: gather, scatter, slices whose starts are tensors
  composite,    ///< several ops, which `expand` gives
  transfer,     ///< a load or store between the tiles and the host or streaming memory
  collective    ///< between replicas
};

/// The kind of code of an op's kernel, by which the planner estimates the code on a tile: CodeSizes has the bytes of each kind.
/// `copy`: also gathers, scatters and transfers; `product`: also convolutions; `softmax` and `norm`: the ops and their gradients;
/// `other`: none of the rest.
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
