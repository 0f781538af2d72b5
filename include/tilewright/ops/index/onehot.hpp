#pragma once
#include "tilewright/op/indexed.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

struct OneHotAttributes {
  std::int64_t axis = 0;  ///< of the result, counted from the first
  std::int64_t classes = 0;
};

/// The gradient of OneHot's values: inputs (dy, indices). The sums of dy where the result is off and where it is on.
struct OneHotGrad : Op<OneHotGrad> {
  static constexpr std::string_view name = "OneHotGrad";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::gather); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::indexed}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  using Attributes = OneHotAttributes;
  static constexpr void infer(Inference& op) { op.output({{2}, op.input(0).dtype}); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto axis = static_cast<int>(unpack<Attributes>(packed).axis);
    const Shape& dy = operands[0].shape;
    Work work;
    for (int a = 0; a < dy.rank; ++a) {
      const int to = work.add_axis({.extent = dy[a], .kind = a == axis ? WorkAxisKind::whole : WorkAxisKind::reduction});
      work.follow(0, a, to);
      if (a != axis) work.follow(1, a < axis ? a : a - 1, to);
    }
    return work;
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies OneHot
  template <PackedAttributes A, class DY, class J, class DV>
  static void compute(DY dy, J indices, DV values);
  /// Calls f(index, line of the other operand along the axis) for each index.
  template <int axis, class J, class V, class F>
  static void for_each_element(J indices, V lines, F&& f) {
    constexpr auto strides = [] {
      std::array<std::array<std::int64_t, max_rank>, 2> result{};
      for (int a = 0; a < J::shape.rank; ++a) {
        result[0][static_cast<std::size_t>(a)] = J::spec.stride(a);
        result[1][static_cast<std::size_t>(a)] = V::spec.stride(a < axis ? a : a + 1);
      }
      return result;
    }();
    for_each_offset<2>(J::shape, strides, [&](const auto& at) { f(indices.data[at[0]], lines.data + at[1]); });
  }
};

/// Inputs (indices, values).
struct OneHot : IndexedOp<OneHot> {
  static constexpr std::string_view name = "OneHot";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::fill); }
  using Attributes = OneHotAttributes;
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    if (!require_indices(op, 0)) return;
    const TensorSpec &indices = op.input(0), &values = op.input(1);
    if (values.nelms() != 2 || values.shape.rank != 1)
      return op.fail("values ", to_text(values), ": two elements, off and on, expected");
    if (indices.shape.rank == max_rank)
      return op.fail("indices ", to_text(indices), ": at most ", max_rank - 1, " axes expected");
    const int axis = op.require_axis(attributes.axis, indices.shape.rank + 1);
    if (axis < 0) return;
    Shape result;
    for (int a = 0; a <= indices.shape.rank; ++a)
      result.push_back(a == axis ? attributes.classes : indices.shape[a < axis ? a : a - 1]);
    op.output({result, values.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(1)) op.input_gradient(1, apply<OneHotGrad>({op.output_gradient(0), op.input(0)}, op.attributes<Attributes>()));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const auto axis = static_cast<int>(unpack<Attributes>(packed).axis);
    const Shape& result = operands[static_cast<std::size_t>(input_count)].shape;
    Work work;
    for (int a = 0; a < result.rank; ++a) {
      work.add_axis({.extent = result[a], .vectorised = a == result.rank - 1});
      for (const int o : {input_count - 1, input_count}) work.follow(o, a, a);
      if (a != axis) work.follow(0, a < axis ? a : a - 1, a);
    }
    return work;
  }
  template <PackedAttributes A, class J, class V, class P, class Y>
  static void compute(J indices, V values, P positions, Y y);
};

constexpr void OneHotGrad::gradient(GradientContext& op) {
  if (op.needs(0)) op.input_gradient(0, apply<OneHot>({op.input(1), op.output_gradient(0)}, op.attributes<Attributes>()));
}

namespace ops {
/// Encodes indices along a new axis of `num_classes` positions: values[1] at the index, and values[0] elsewhere. An index outside
/// of [0, num_classes) gives values[0] only. t: the indices, integers of any shape; num_classes: a number, or a constant of one
/// element; values: [off, on], shape (2,), any dtype; axis: position of the new axis in the result, -1 is after the last. The
/// result has t's shape with the new axis, and values' dtype. The gradient of values is the sums of dy where the result is off
/// and on.
///
/// Errors: indices that are not integers; a tensor as num_classes that is not a constant; num_classes that is not a whole number
/// above 0; values of another shape; an axis out of range.
[[nodiscard]] constexpr Tensor onehot(Tensor t, const NumberOrTensor& num_classes, Tensor values, int axis = -1) {
  if (!t.is_usable()) return t;
  Ir& ir = t.ir();
  double classes = num_classes.number;
  if (num_classes.tensor) {
    const Tensor& given = *num_classes.tensor;
    if (!given.valid()) return given;
    const ConstantRecord* constant = given.is_of(ir) && given.nelms() == 1 ? detail::find_constant(given) : nullptr;
    if (!constant)
      return ir.fail(text("OneHot: num_classes ", to_text(given.spec()), ": a number, or a constant of one, expected"));
    classes = constant->values[0];
  }
  if (!(classes >= 1 && find_unfit({&classes, 1}, int64) < 0))
    return ir.fail(text("OneHot: num_classes ", number_text(classes), ": a whole number above 0 expected"));
  const int rank = t.rank() + 1;
  return apply<OneHot>({t, values}, {axis < 0 && axis >= -rank ? axis + rank : axis, static_cast<std::int64_t>(classes)});
}
}  // namespace ops

}  // namespace tilewright
