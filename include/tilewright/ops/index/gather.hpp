#pragma once
#include "tilewright/op/indexed.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// The gradient of a gather: inputs (dy, indices). Adds dy at its indices to zeros, in float32 for half precision. An index out
/// of range adds nothing.
struct GatherGrad : IndexedOp<GatherGrad> {
  static constexpr std::string_view name = "GatherGrad";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scatter, Confidence::published); }
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const Shape& dy = op.input(0).shape;
    const int axis = static_cast<int>(attributes.axis);
    const int index_axes = op.input(1).shape.rank - (attributes.form == kernel::IndexForm::groups ? 1 : 0);
    Shape result;
    for (int a = 0; a < axis; ++a) result.push_back(dy[a]);
    result.push_back(attributes.extent);
    for (int a = axis + index_axes; a < dy.rank; ++a) result.push_back(dy[a]);
    op.output({result, computed_dtype(op.input(0).dtype)});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return table_work(operands, unpack<Attributes>(packed),
                      {operands[static_cast<std::size_t>(input_count)].shape, 0, 1, input_count - 1});
  }
  static constexpr void gradient(GradientContext& op);  // a gather
  template <PackedAttributes A, class DY, class J, class P, class DX>
  static void compute(DY dy, J indices, P positions, DX dx);
};

/// Base of gathers: inputs (t, indices). The result has the slices of t that the indices select along an axis.
template <class D>
struct GatherOp : IndexedOp<D> {
  constexpr operator VertexCost() const { return formula_cost(CostFormula::gather, Confidence::published); }
  constexpr operator KernelOperands() const {
    return KernelOperands{.any_layout = true, .takes_positions = true, .takes_float8 = true};
  }
  using Attributes = IndexAttributes;

  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const Shape &t = op.input(0).shape, &indices = op.input(1).shape;
    const std::int64_t group_size = attributes.group_size;
    if (!D::require_indices(op, 1) || !detail::require_proportion(op, attributes.available_memory_proportion)) return;
    const int axis = op.require_axis(attributes.axis, t.rank), groups = group_size == 1 ? 0 : 1;
    if (axis < 0) return;
    if (group_size < 1) return op.fail("group_size ", group_size, ": a number above 0 expected");
    if (groups == 1) {
      if (axis == 0)
        return op.fail("axis 0 with group_size ", group_size, ": an axis other than 0, the axis of the groups, expected");
      if (indices.rank == 0 || t[0] != group_size || indices[0] != group_size)
        return op.fail(to_text(op.input(0)), " and indices ", to_text(op.input(1)), " with group_size ", group_size, ": ",
                       group_size, " elements along axis 0 of both tensors expected");
    }
    if (t.rank - 1 + indices.rank - groups > max_rank)
      return op.fail(to_text(op.input(0)), " at indices ", to_text(op.input(1)), ", a result of ",
                     t.rank - 1 + indices.rank - groups, " axes: at most ", max_rank, " axes expected");
    op.output({D::gathered_shape(t, indices, axis, groups), op.input(0).dtype});
  }
  static constexpr Shape gathered_shape(const Shape& t, const Shape& indices, int axis, int groups) {
    Shape result;
    for (int a = 0; a < axis; ++a) result.push_back(t[a]);
    for (int a = groups; a < indices.rank; ++a) result.push_back(indices[a]);
    for (int a = axis + 1; a < t.rank; ++a) result.push_back(t[a]);
    return result;
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    auto attributes = op.template attributes<Attributes>();
    const Shape t = op.input_spec(0).shape;
    attributes.axis = attributes.axis_of(t.rank);
    attributes.extent = t[static_cast<int>(attributes.axis)];
    attributes.faults = 0;
    op.input_gradient(0, apply<GatherGrad>({op.output_gradient(0), op.input(1)}, attributes).cast(op.input_spec(0).dtype));
  }
  constexpr operator OpTexts() const { return OpTexts{.options = D::options, .fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& t = operands[0].shape;
    return D::index_fault(operands, 1, t[attributes.axis_of(t.rank)], attributes.faults != 0);
  }
  /// Divides rows of the result among vertices; each vertex may read all of t along the indexed axis.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape &t = operands[0].shape, &indices = operands[1].shape,
                &result = operands[static_cast<std::size_t>(input_count)].shape;
    const int axis = attributes.axis_of(t.rank), groups = attributes.form == kernel::IndexForm::groups ? 1 : 0;
    const int index_axes = indices.rank - groups;
    Work work;
    for (int a = 0; a < result.rank; ++a) {
      const int to = work.add_axis({.extent = result[a], .vectorised = a == result.rank - 1});
      work.follow(input_count - 1, a, to);
      work.follow(input_count, a, to);
      if (a < axis) work.follow(0, a, to);
      else if (a >= axis + index_axes) work.follow(0, a - index_axes + 1, to);
      else work.follow(1, a - axis + groups, to);
    }
    if (groups == 1) work.follow(1, 0, 0);
    return work;
  }
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute(T t, J indices, P, Y y);
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute_checked(Faults faults, T t, J indices, P positions, Y y);
};
struct Gather : GatherOp<Gather> {
  static constexpr std::string_view name = "Gather";
};
constexpr void GatherGrad::gradient(GradientContext& op) {
  if (!op.needs(0)) return;
  const Tensor gathered = apply<Gather>({op.output_gradient(0), op.input(1)}, op.attributes<Attributes>());
  op.input_gradient(0, gathered.cast(op.input_spec(0).dtype));
}
/// A gather whose table is also an operand of a product.
struct TiedGather : GatherOp<TiedGather> {
  static constexpr std::string_view name = "PopartTiedGather";
};

struct GatherOptions {
  detail::NoEffect<std::optional<double>> available_memory_proportion{};  ///< deprecated: from 0 to 1; it has no effect
  Flag zero_OOR = false;  ///< whether an index out of range gives zeros; otherwise it is a fault
};

namespace detail {
template <class D>
constexpr Tensor gather(Tensor t, Tensor indices, int axis, std::int64_t group_size, const GatherOptions& options) {
  return apply<D>({t, indices}, {.axis = axis,
                                 .group_size = group_size,
                                 .form = group_size > 1 ? kernel::IndexForm::groups : kernel::IndexForm::rows,
                                 .faults = !options.zero_OOR,
                                 .available_memory_proportion = proportion_or_none(options.available_memory_proportion.value)});
}
}  // namespace detail

namespace ops {
/// Gathers parts of t along an axis at the indices, as numpy.take: shape t.shape[:axis] + indices.shape + t.shape[axis + 1:]. t:
/// any dtype; indices: integers. The result has t's dtype. The gradient of t adds dy at the indices, in their order, in float32;
/// half precision is rounded once.
///
/// With `zero_OOR`, an index outside of [0, extent of the axis) gives zeros; otherwise the session's run throws FaultError when
/// it ends. Negative indices are outside. Errors: indices that are not integers; an axis out of range; more axes than a tensor
/// can have.
///
///     y = ops::gather(embedding, tokens);  // (words, features) at (batch, length): (batch, length, features)
[[nodiscard]] constexpr Tensor gather(Tensor t, Tensor indices, int axis = 0, const GatherOptions& options = {}) {
  return detail::gather<Gather>(t, indices, axis, 1, options);
}
/// Gathers from a table that is also the weight of a product; a planner may let the product choose the layout. Operands and
/// errors are those of gather.
[[nodiscard]] constexpr Tensor tied_gather(Tensor t, Tensor indices, int axis = 0, const GatherOptions& options = {}) {
  return detail::gather<TiedGather>(t, indices, axis, 1, options);
}
/// Gathers in each of `group_size` groups, which are the first axis of t and of the indices. result[g] is t[g] gathered at
/// indices[g], and the shape is t.shape[:axis] + indices.shape[1:] + t.shape[axis + 1:]. The axis must not be the first axis of
/// t. A group_size of 1 is a gather without groups. Errors: those of gather; another extent of the first axes; axis 0.
[[nodiscard]] constexpr Tensor groupedgather(Tensor t, Tensor indices, int axis, std::int64_t group_size,
                                             const GatherOptions& options = {}) {
  return detail::gather<Gather>(t, indices, axis, group_size, options);
}
}  // namespace ops

}  // namespace tilewright
