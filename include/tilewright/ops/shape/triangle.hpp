#pragma once
#include <algorithm>

#include "tilewright/core/pair.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/operand/indices.hpp"

namespace tilewright {

/// The elements of matrices on one side of a diagonal; the others are 0.
struct Triangle : Op<Triangle> {
  static constexpr std::string_view name = "Triangle";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }
  struct Attributes {
    std::int64_t diagonal = 0;  ///< the column of the first row that belongs to the diagonal
    std::int64_t upper = 0;
  };
  static constexpr void infer(Inference& op) {
    if (op.input(0).shape.rank < 2) return op.fail(to_text(op.input(0)), ": matrices, of at least 2 axes, expected");
    op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient(0, apply<Triangle>({op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    const Shape& shape = operands[0].shape;
    Work work;
    for (int axis = 0; axis < shape.rank; ++axis) {
      work.add_axis({.extent = shape[axis], .vectorised = axis == shape.rank - 1});
      for (const int operand : {0, 1, 2}) work.follow(operand, axis, axis);
    }
    return work;
  }
  template <PackedAttributes A, class X, class P, class Y>
  static void compute(X x, P positions, Y y) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr int rank = Y::shape.rank;
    constexpr std::int64_t columns = Y::shape[-1];
    constexpr auto rows = [] {
      Pair<Shape, std::array<std::array<std::int64_t, max_rank>, 3>> result{};  // of x, of y, and numbers of rows
      for (int axis = 0; axis + 1 < rank; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        result.first.push_back(Y::shape[axis]);
        result.second[0][a] = X::spec.stride(axis), result.second[1][a] = Y::spec.stride(axis);
        result.second[2][a] = axis == rank - 2 ? 1 : 0;
      }
      return result;
    }();
    const std::int64_t first = kernel::block_begin(positions, rank - 2) - kernel::block_begin(positions, rank - 1) +
                               attributes.diagonal + (attributes.upper != 0 ? 0 : 1);
    for_each_offset<3>(rows.first, rows.second, [&](const auto& at) {
      const auto* from = x.data + at[0];
      auto* to = y.data + at[1];
      const std::int64_t split = std::clamp<std::int64_t>(first + at[2], 0, columns);
      const auto copy = [&](std::int64_t j) { to[j * Y::spec.stride(rank - 1)] = from[j * X::spec.stride(rank - 1)]; };
      const auto clear = [&](std::int64_t j) { to[j * Y::spec.stride(rank - 1)] = {}; };
      for (std::int64_t j = 0; j < split; ++j) attributes.upper != 0 ? clear(j) : copy(j);
      for (std::int64_t j = split; j < columns; ++j) attributes.upper != 0 ? copy(j) : clear(j);
    });
  }
};

namespace ops {
/// Returns the lower triangle of matrices: x where column - row <= diagonal, 0 elsewhere. x: at least 2 axes, of which the last
/// two are those of the matrices, any dtype. The result has x's shape and dtype. Gradient: the lower triangle of dy. An x of
/// fewer axes is an error.
[[nodiscard]] constexpr Tensor tril(Tensor x, int diagonal = 0) { return apply<Triangle>({x}, {diagonal, 0}); }
/// Returns the upper triangle of matrices: x where column - row >= diagonal, 0 elsewhere. Otherwise as tril.
[[nodiscard]] constexpr Tensor triu(Tensor x, int diagonal = 0) { return apply<Triangle>({x}, {diagonal, 1}); }
}  // namespace ops

}  // namespace tilewright
