#pragma once
#include <cstdint>
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

/// Forms of sums that ops of a program on a host may have.
struct HostForms {
  std::int64_t tiles = 1;  ///< of the host
  bool winograd = true;  ///< of convolutions
};

/// Rules of an op and its kernel that the planner of a host reads, beside those in OpInfo. An op states them by a conversion, as
/// it states groups:
///
///   constexpr operator HostRules() const { return HostRules{.any_result_layout = true}; }
struct HostRules {
  bool any_result_layout = false;  ///< whether its kernel writes results of any strides; kernels of formulas always do
  /// Whether `compute` and `compute_with` have a last argument, `const kernel::Pieces&`: the pieces of a vertex that they
  /// compute. The threads of a vertex share the pieces of large vertices. Results do not depend on the grouping of pieces.
  bool takes_pieces = false;
  /// Of an op on images (N, C, H, W): returns those of the operands `asked`, as bits, that its kernel also supports with channels
  /// as the last axis of memory, if all others are dense; null: none. Channels are whole vectors. Formulas support such operands.
  std::uint32_t (*channels_last)(std::span<const TensorSpec> operands, const PackedAttributes&, std::uint32_t asked) = nullptr;
  /// Whether an op with these attributes runs epilogues; null: with any attributes. Not read if `has_epilogue` is false.
  bool (*takes_epilogue)(const PackedAttributes&) = nullptr;
  /// Whether vectors of its epilogue go across the ends of rows: operands then have planes of the last two axes without gaps. The
  /// kernel finishes the rows of each plane in order, and all planes of an image before it begins them in the next image.
  bool epilogue_of_planes = false;
  /// Whether `compute_rows<A, X, Y>(x, y, first, count)` computes a plane of the result in parts, when `count` rows of the plane
  /// of its only input are there from `first` on: in an epilogue of planes. Null: never.
  bool (*reads_rows)(const PackedAttributes&, const TensorSpec& input) = nullptr;
  /// Of a convolution: returns the attributes with the faster form of sums for a host; null: it has one.
  PackedAttributes (*with_host_form)(const PackedAttributes&, std::span<const TensorSpec> operands, const HostForms&) = nullptr;

  /// Returns whether the kernel of an op with `has_epilogue` runs epilogues.
  constexpr bool runs_epilogues(const PackedAttributes& attributes) const {
    return !takes_epilogue || takes_epilogue(attributes);
  }
};

}  // namespace tilewright
