#pragma once
#include <optional>

#include "tilewright/op/elementwise.hpp"

namespace tilewright {

namespace ops {
[[nodiscard]] constexpr Tensor ipu_copy(Tensor t, int destination, std::optional<int> source = {});
[[nodiscard]] constexpr Tensor io_tile_copy(Tensor t);
}  // namespace ops

/// Base of copies between tiles. Each is a separate step.
template <class D>
struct TileCopy : Elementwise<D> {
  static constexpr bool copies = true;
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  constexpr operator Fusion() const { return Fusion{.has_formula = true, .bools_are_masks = true}; }
  static constexpr bool check_dtypes(Inference&) { return true; }
};

/// A copy on another IPU.
struct IpuCopy : TileCopy<IpuCopy> {
  static constexpr std::string_view name = "IpuCopy";
  struct Attributes {
    std::int64_t source = 0;
    std::int64_t destination = 0;
  };
  constexpr operator Movement() const { return Movement{.result_placement = result_placement}; }
  static constexpr Placement result_placement(const PackedAttributes& attributes, const Placement& input) {
    return {static_cast<int>(unpack<Attributes>(attributes).destination), input.tile_set};
  }
  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) {
    const auto [source, destination] = unpack<Attributes>(packed);
    return text("from IPU ", source, ", to IPU ", destination);
  }
  static constexpr void gradient(GradientContext& op) {
    const auto [source, destination] = op.attributes<Attributes>();
    if (op.needs(0))
      op.input_gradient(0, ops::ipu_copy(op.output_gradient(0), static_cast<int>(source), static_cast<int>(destination)));
  }
  template <class X> static X forward(X x, Attributes) { return x; }
};

/// A copy on the other set of tiles of the same IPU.
struct IoTileCopy : TileCopy<IoTileCopy> {
  static constexpr std::string_view name = "IoTileCopy";
  constexpr operator Movement() const { return Movement{.result_placement = result_placement}; }
  static constexpr Placement result_placement(const PackedAttributes&, const Placement& input) {
    return {input.ipu, input.tile_set == TileSet::io ? TileSet::compute : TileSet::io};
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, ops::io_tile_copy(op.output_gradient(0)));
  }
  template <class X> static X forward(X x) { return x; }
};

namespace ops {

/// Copies t to IPU `destination` of the replica. t: any shape and dtype. `source`, t's IPU, is required for a variable, a
/// constant or a graph's input that no op has used yet; the call places the tensor there. Differentiable. Errors: a negative
/// number; no source if t's IPU is unknown; a source other than t's IPU.
[[nodiscard]] constexpr Tensor ipu_copy(Tensor t, int destination, std::optional<int> source) {
  if (!t.is_usable()) return t;
  Ir& ir = t.ir();
  const std::optional<int> known = t.ipu();
  const auto fail = [&](const auto&... problem) { return ir.fail(text("ipu_copy: ", to_text(t), problem...)); };
  if (destination < 0) return fail(" to IPU ", destination, ": a number of at least 0 expected");
  if (source && *source < 0) return fail(" from IPU ", *source, ": a number of at least 0 expected");
  if (!known && !source) return fail(" is on no IPU yet, as no op has used it: ipu_copy(t, destination, source) expected");
  if (known && source && *known != *source)
    return fail(" is on IPU ", *known, ": source ", *known, ", not ", *source, ", expected");
  if (!known) ir.tables.record(t).placement = {*source};
  return apply<IpuCopy>({t}, {known ? *known : *source, destination});
}

/// Copies t between the two sets of tiles of its IPU: to the compute tiles if t is on IO tiles, otherwise to the IO tiles. A
/// tensor that no op has used yet is on the tiles of the scope. t: any shape and dtype. Differentiable.
[[nodiscard]] constexpr Tensor io_tile_copy(Tensor t) {
  if (!t.is_usable()) return t;
  Ir& ir = t.ir();
  if (!t.ipu())
    ir.tables.record(t).placement = {(std::max)(ir.tables.current_placement.ipu, 0), ir.tables.current_placement.tile_set};
  return apply<IoTileCopy>({t});
}

}  // namespace ops

constexpr Tensor Tensor::copy_to_ipu(int destination, std::optional<int> source) const {
  return ops::ipu_copy(*this, destination, source);
}

}  // namespace tilewright
