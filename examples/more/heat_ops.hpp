#pragma once
// Ops on the blocks of a body: the first half of an operand's axes counts blocks, the second half has the elements of a block.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tilewright/tilewright.hpp>
#include <utility>

namespace heat {

namespace tw = tilewright;
namespace authoring = tw::authoring;

/// An op whose vertices take one block each, with what belongs to it of all operands.
template <class D>
struct BlockOp : authoring::Op<D> {
  constexpr operator authoring::KernelOperands() const { return authoring::KernelOperands{.any_layout = true}; }
  static constexpr authoring::Work work(std::span<const tw::TensorSpec> operands, int, const authoring::PackedAttributes&) {
    using enum authoring::WorkAxisKind;
    authoring::Work work;
    const tw::Shape& shape = operands[0].shape;
    for (int axis = 0; axis < shape.rank; ++axis) {
      const int all = work.add_axis({.extent = shape[axis], .kind = axis < shape.rank / 2 ? parallel : whole});
      for (std::size_t o = 0; o < operands.size(); ++o)
        if (operands[o].shape[axis] == shape[axis]) work.follow(static_cast<int>(o), axis, all);
    }
    return work;
  }
};

/// The elements of a view by position.
struct Elements {
  float* data;
  tw::Shape strides;

  template <class V>
  explicit Elements(V view) : data(view.data), strides(V::shape) {
    for (int axis = 0; axis < strides.rank; ++axis) strides[axis] = V::spec.stride(axis);
  }
  float& operator[](const tw::Shape& at) const {
    std::int64_t offset = 0;
    for (int axis = 0; axis < at.rank; ++axis) offset += at[axis] * strides[axis];
    return data[offset];
  }
};
/// Calls f with each position in a shape.
template <class F>
void for_each_position(const tw::Shape& shape, const F& f) {
  tw::Shape at = shape;
  for (int axis = 0; axis < at.rank; ++axis) at[axis] = 0;
  for (std::int64_t left = shape.nelms(); left > 0; --left) {
    f(std::as_const(at));
    for (int axis = at.rank; axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
}

/// The first or the last elements of each block along an axis of the body.
struct Edge : BlockOp<Edge> {
  static constexpr std::string_view name = "Edge";
  constexpr operator authoring::VertexCost() const { return {.formula = authoring::CostFormula::copy}; }
  struct Attributes {
    std::int64_t axis = 0, is_last = 0;
  };
  static constexpr void infer(authoring::Inference& op) {
    tw::TensorSpec edge = op.input(0);
    edge.shape[edge.shape.rank / 2 + static_cast<int>(op.attributes<Attributes>().axis)] = 1;
    op.output(edge);
  }
  template <authoring::PackedAttributes A, class U, class Y>
  static void compute(U u, Y y) {
    constexpr auto attributes = authoring::unpack<Attributes>(A);
    constexpr int along = U::shape.rank / 2 + static_cast<int>(attributes.axis);
    const Elements from(u), to(y);
    for_each_position(Y::shape, [&](tw::Shape at) {
      float& result = to[at];
      at[along] = attributes.is_last * (U::shape[along] - 1);
      result = from[at];
    });
  }
};

/// Writes the next values of a body: target = u + part * the sum of (neighbour - u) over all neighbours. Inputs: target, u, and
/// for each axis the halos before and behind each block.
template <int dimensions>
struct Diffuse : BlockOp<Diffuse<dimensions>> {
  static constexpr std::string_view name = "Diffuse";
  /// A loop in C++ computes two neighbours along the last axis at once. It loads their vector and those beside it along the other
  /// axes, and an element on each side; it stores both. It adds two elements, then vectors, and multiplies twice.
  constexpr operator authoring::VertexCost() const {
    return authoring::compiled_cost(2 * dimensions + 1 + 2, 2 + 2 * (dimensions - 1) + 3, 2);
  }
  /// `has_side_effect` keeps other ops out of its step. With edges that wait for another IPU, the whole step would wait.
  constexpr operator authoring::Effects() const { return authoring::Effects{.modifies = 0, .has_side_effect = true}; }
  struct Attributes {
    double part = 0;
  };
  static constexpr void infer(authoring::Inference& op) { op.output(op.input(0)); }
  template <authoring::PackedAttributes A, class Target, class U, class... Others>
  static void compute(Target target, U u, Others... others) {
    constexpr auto part = static_cast<float>(authoring::unpack<Attributes>(A).part);
    const Elements next(target), now(u), halos[] = {Elements(others)...};  // the last one is the result, which is the target
    for_each_position(U::shape, [&](const tw::Shape& at) {
      float sum = 0;
      for (int side = 0; side < 2 * dimensions; ++side) {
        const int along = dimensions + side / 2;
        tw::Shape neighbour = at;
        neighbour[along] += side % 2 == 0 ? -1 : 1;
        const bool is_inside = neighbour[along] >= 0 && neighbour[along] < U::shape[along];
        if (!is_inside) neighbour[along] = 0;
        sum += (is_inside ? now : halos[side])[neighbour];
      }
      next[at] = (1 - 2 * dimensions * part) * now[at] + part * sum;
    });
  }
};

}  // namespace heat
