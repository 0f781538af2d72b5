#pragma once
#include <cstddef>
#include <cstdint>

namespace tilewright {

/// Kind of an op's work. The defaults of OpKind::code_kind and OpInfo::takes_float8 follow from it.
enum class WorkKind : std::uint8_t {
  other,  ///< none of the other kinds, or not stated
  map,  ///< each element is a formula of the operands' elements at the same position
  reduction,    ///< sums, or extremes, over axes or windows
  line,  ///< each line along an axis separately: softmax, normalisation, cumulative sums, top-k, resizing
  product,      ///< products of matrices
  convolution,  ///< sums of products over windows, and their gradients
  view,  ///< nothing is computed: a layout of existing memory, or memory that is not written yet
  indexed,  ///< elements at positions that are computed in a run: gather, scatter, slices whose starts are tensors
  composite,  ///< several ops, which `expand` returns
  transfer,     ///< a load or store between the tiles and the host or streaming memory
  collective    ///< between replicas
};

/// Kind of a kernel's code, by which the planner estimates the code on a tile: CodeSizes has the bytes of each kind. `copy`: also
/// gathers, scatters and transfers; `product`: also convolutions; `softmax` and `norm`: the ops and their gradients; `other`: all
/// remaining ops.
enum class CodeKind : std::uint8_t { other, map, copy, reduction, product, softmax, norm };
inline constexpr std::size_t code_kinds = 7;

/// Returns the code kind for ops that state none, which is never softmax or norm.
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
