#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

/// Inputs (t, indices): t[.., indices[p], ..] along an axis for each position p of the indices, which have t's axes. 0 for an
/// index out of range, and where the result has more positions than the indices. It is the gradient of Scatter's and
/// ScatterReduce's elements.
struct GatherElements : Op<GatherElements> {
  static constexpr std::string_view name = "GatherElements";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::gather); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::indexed}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  struct Attributes {
    std::int64_t axis = 0;
    detail::AxisList shape{};
  };
  static constexpr void infer(Inference& op) { op.output({op.attributes<Attributes>().shape.shape(), op.input(0).dtype}); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto axis = static_cast<int>(unpack<Attributes>(packed).axis);
    const Shape &t = operands[0].shape, &indices = operands[1].shape, &result = operands[2].shape;
    Work work;
    for (int a = 0; a < result.rank; ++a) {
      const bool fits = indices[a] == result[a] && (a == axis || t[a] == result[a]);
      const int to = work.add_axis(
          {.extent = result[a], .kind = fits ? WorkAxisKind::parallel : WorkAxisKind::whole, .vectorised = a == result.rank - 1});
      work.follow(2, a, to);
      if (fits) work.follow(1, a, to);
      if (fits && a != axis) work.follow(0, a, to);
    }
    return work;
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies ScatterReduce
  template <PackedAttributes A, class T, class J, class Y>
  static void compute(T t, J indices, Y y);
};

/// x where a equals b, otherwise 0: inputs (a, b, x). It is the gradient of selections between elements.
struct SelectEqual : Elementwise<SelectEqual> {
  static constexpr std::string_view name = "SelectEqual";
  constexpr operator VertexCost() const { return binary_map_cost({7, 2}, {7, 4}); }
  template <class X>
  static X forward(X a, X b, X x) {
    return math::select(a == b, x, math::number<X>(0));
  }
  static constexpr void gradient(GradientContext& op) { detail::gradient_of_linear<SelectEqual, 2>(op); }
};

namespace detail {
/// Combines an element with one that arrives: a function of numbers and batches. NaN wins.
template <ScatterReduction reduction>
struct Meet {
  template <class X>
  X operator()(const X& old, const X& next) const {
    if constexpr (reduction == ScatterReduction::sum) return static_cast<X>(old + next);
    else if constexpr (std::is_integral_v<X>) return (reduction == ScatterReduction::max ? next > old : next < old) ? next : old;
    else
      return math::select(old == old, reduction == ScatterReduction::max ? (math::max)(old, next) : (math::min)(old, next),
                          old);  // NaN != NaN: xsimd says no
  }
};
}  // namespace detail

/// Base of scatters: inputs (data, indices[, initial]). The result is initial, or zeros, with data at the indices along an axis.
template <class D>
struct ScatterOp : IndexedOp<D> {
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scatter); }
  using Attributes = IndexAttributes;

  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const TensorSpec &data = op.input(0), &indices = op.input(1);
    if (!D::require_indices(op, 1) || !detail::require_proportion(op, attributes.available_memory_proportion)) return;
    const int rank = data.shape.rank, axis = op.require_axis(attributes.axis, rank);
    if (axis < 0) return;
    if (attributes.reduction != ScatterReduction::none && data.dtype == boolean)
      return op.fail(to_text(data), ": numbers, or a reduction that is none, expected");
    if (attributes.extent < 1) return op.fail("axis_size ", attributes.extent, ": a number above 0 expected");
    Shape result = data.shape;
    if (op.input_count() == 3) {
      if (!op.require_equal_dtypes(0, 2)) return;
      result = op.input(2).shape;
    } else {
      result[axis] = attributes.extent;
    }
    const bool by_element = attributes.form == kernel::IndexForm::elements;
    bool fits = result.rank == rank && result[axis] == attributes.extent && (!by_element || indices.shape.rank == rank);
    for (int a = 0; fits && a < rank; ++a) {
      const std::int64_t used = by_element ? indices.shape[a] : data.shape[a];
      fits = used <= data.shape[a] && (a == axis || (by_element ? used <= result[a] : used == result[a]));
    }
    if (!fits)
      return op.fail("data ", to_text(data), " at indices ", to_text(indices), " along axis ", axis, " of ", to_text(result),
                     ": ", D::fitting, " expected");
    op.output({result, data.dtype});
  }
  constexpr operator OpTexts() const { return OpTexts{.options = D::options, .fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    return D::index_fault(operands, 1, attributes.extent, attributes.faults != 0);
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return D::table_work(operands, unpack<Attributes>(packed),
                         {operands[static_cast<std::size_t>(input_count)].shape, 0, 1, input_count - 1});
  }
  template <PackedAttributes A, class X, class J, class P, class Y>
  static void compute(X data, J indices, P positions, Y y);
  template <PackedAttributes A, class X, class J, class Initial, class P, class Y>
  static void compute(X data, J indices, Initial initial, P positions, Y y);
  template <PackedAttributes A, class X, class J, class... Rest>
  static void compute_checked(Faults faults, X data, J indices, Rest... rest);

 protected:
  template <PackedAttributes A, bool has_initial, class X, class J, class P, class Y>
  static void scatter(X data, J indices, P positions, Y y);
  /// Returns x at the indices, in the shape of the data.
  static constexpr Tensor gathered(GradientContext& op, Tensor x) {
    auto attributes = op.attributes<Attributes>();
    const Shape data = op.input_spec(0).shape;
    attributes.axis = attributes.axis_of(data.rank);
    attributes.faults = 0;
    if (attributes.form != kernel::IndexForm::elements) return apply<Gather>({x, op.input(1)}, attributes);
    return apply<GatherElements>({x, op.input(1)}, {attributes.axis, detail::axis_list(data)});
  }
  static constexpr void gradient_of(GradientContext& op, ScatterReduction reduction) {
    const bool is_extreme = reduction == ScatterReduction::max || reduction == ScatterReduction::min;
    const Tensor dy = op.output_gradient(0);
    if (is_extreme) return gradient_of_extreme(op);
    if (op.needs(0)) op.input_gradient(0, gathered(op, dy));
    if (op.input_count() < 3 || !op.needs(2)) return;
    if (reduction == ScatterReduction::sum) return op.input_gradient(2, dy);
    auto attributes = op.attributes<Attributes>();
    attributes.faults = 0;
    const TensorSpec data = op.input_spec(0);
    const Tensor zeros = ops::expand(op.ir().constant(List<double>{0}, {}, data.dtype), data.shape);
    op.input_gradient(2, apply<D>({zeros, op.input(1), dy}, attributes));
  }

 private:
  /// Divides dy equally among the elements that equal the result.
  static constexpr void gradient_of_extreme(GradientContext& op) {
    const Tensor data = op.input(0), indices = op.input(1), y = op.output(0), y_of_data = gathered(op, y);
    const DType dtype = op.input_spec(0).dtype, computed = computed_dtype(dtype);  // half precision does not count far
    const Tensor one = op.ir().constant(List<double>{1}, {}, dtype);
    auto attributes = op.attributes<Attributes>();
    attributes.faults = 0;
    attributes.reduction = ScatterReduction::sum;
    const Tensor is_result = apply<SelectEqual>({data, y_of_data, one}).cast(computed);
    const Tensor count = op.input_count() < 3
                             ? apply<D>({is_result, indices}, attributes)
                             : apply<D>({is_result, indices, apply<SelectEqual>({op.input(2), y, one}).cast(computed)},
                                        attributes);
    const Tensor part = ops::div(op.output_gradient(0).cast(computed), count).cast(dtype);
    if (op.needs(0)) op.input_gradient(0, apply<SelectEqual>({data, y_of_data, gathered(op, part)}));
    if (op.input_count() == 3 && op.needs(2)) op.input_gradient(2, apply<SelectEqual>({op.input(2), y, part}));
  }
};

/// Inputs (values, indices, t): t with values written at the indices.
struct Scatter : ScatterOp<Scatter> {
  static constexpr std::string_view name = "Scatter";
  static constexpr std::string_view fitting =
      "tensors of one rank, and indices that are no longer than the data and, along other axes, than the result";
  static constexpr void gradient(GradientContext& op) { gradient_of(op, ScatterReduction::none); }
};
/// Inputs (data, indices[, initial]): data reduced at the indices, and with initial.
struct ScatterReduce : ScatterOp<ScatterReduce> {
  static constexpr std::string_view name = "ScatterReduce";
  static constexpr std::string_view fitting = "indices of the data's shape, or one for each place along the axis,";
  static constexpr void gradient(GradientContext& op) { gradient_of(op, op.attributes<Attributes>().reduction); }
};

constexpr void GatherElements::gradient(GradientContext& op) {
  if (!op.needs(0)) return;
  const TensorSpec t = op.input_spec(0);
  const auto axis = op.attributes<Attributes>().axis;
  const DType computed = computed_dtype(t.dtype);  // an element may get many
  const Tensor zeros = ops::expand(op.ir().constant(List<double>{0}, {}, computed), t.shape);
  const Tensor added = apply<ScatterReduce>(
      {op.output_gradient(0).cast(computed), op.input(1), zeros},
      {.axis = axis, .extent = t.shape[static_cast<int>(axis)], .form = kernel::IndexForm::elements, .faults = 0});
  op.input_gradient(0, added.cast(t.dtype));
}

/// Inputs (t, x, indices[, f]): t[.., indices[i], ..] += f x[.., i, ..], in place.
struct SparseAccumulate : IndexedOp<SparseAccumulate> {
  static constexpr std::string_view name = "SparseAccumulate";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scatter, Confidence::published); }
  constexpr operator Effects() const { return Effects{.modifies = 0}; }

  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const TensorSpec &t = op.input(0), &x = op.input(1), &indices = op.input(2);
    for (const int i : {0, 1})
      if (!op.require_floating_point(i)) return;
    if (!require_indices(op, 2)) return;
    const int axis = op.require_axis(attributes.axis, t.shape.rank);
    if (axis < 0) return;
    if (t.shape.rank - 1 + indices.shape.rank > max_rank || x.shape != Gather::gathered_shape(t.shape, indices.shape, axis, 0))
      return op.fail(to_text(x), " to ", to_text(t), " at indices ", to_text(indices), ": the shape of a gather from ",
                     to_text(t), " expected");
    if (op.input_count() == 4 && (op.input(3).nelms() != 1 || !is_floating_point(op.input(3).dtype)))
      return op.fail("factor ", to_text(op.input(3)), ": one floating point element expected");
    if (!op.require_number("f", attributes.factor, t.dtype)) return;
    op.output(t);
  }
  constexpr operator OpTexts() const { return OpTexts{.options = options, .fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    return index_fault(operands, 2, unpack<Attributes>(packed).extent, true);
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return table_work(operands, unpack<Attributes>(packed), {operands[0].shape, 1, 2, input_count - 1});
  }
  template <PackedAttributes A, class T, class X, class J, class... Rest>
  static void compute(T, X x, J indices, Rest... rest);
  template <PackedAttributes A, class T, class X, class J, class... Rest>
  static void compute_checked(Faults faults, T t, X x, J indices, Rest... rest);
};

struct ScatterOptions {
  detail::NoEffect<std::optional<double>> available_memory_proportion{};  ///< deprecated: from 0 to 1; it has no effect
};

struct ScatterReduceOptions {
  std::optional<Tensor> initial_values{};  ///< start values of the reduction; the result has their shape
  int axis = 0;  ///< axis of the indices
  std::optional<std::int64_t> axis_size{};  ///< extent of the axis in the result, without initial_values
  /// Whether indices may be one for each position along the axis. Otherwise their shape follows the rules of scatter.
  Flag enable_index_broadcast = true;
  detail::NoEffect<std::optional<double>> available_memory_proportion{};  ///< deprecated: from 0 to 1; it has no effect
};

namespace detail {
/// Indices in the form of the kernels: one for each position along the axis as (positions,), or (groups, positions); otherwise
/// unchanged.
struct ScatterIndices {
  Tensor indices;
  kernel::IndexForm form = kernel::IndexForm::elements;
};
constexpr ScatterIndices scatter_indices(Tensor data, Tensor indices, int axis, std::int64_t group_size) {
  if (!data.valid() || !indices.valid()) return {indices};
  const int rank = data.rank();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return {indices};
  const std::int64_t places = data.shape(axis);
  const Shape rows = group_size > 1 ? Shape{group_size, places} : Shape{places};
  const kernel::IndexForm form = group_size > 1 ? kernel::IndexForm::groups : kernel::IndexForm::rows;
  if (indices.shape() == rows && (group_size == 1 || axis > 0)) return {indices, form};
  bool is_broadcast = indices.rank() == rank && (group_size == 1 || axis > 0);
  for (int a = 0; is_broadcast && a < rank; ++a)
    is_broadcast = indices.shape(a) == (a == axis ? places : group_size > 1 && a == 0 ? group_size : 1);
  return is_broadcast ? ScatterIndices{indices.reshape(rows), form} : ScatterIndices{indices};
}
constexpr Tensor scatter_reduce(Tensor data, Tensor indices, ScatterReduction reduction, std::int64_t group_size,
                                const ScatterReduceOptions& options) {
  if (!data.is_usable()) return data;
  const auto fail = [&](const auto&... message) { return data.ir().fail(text(ScatterReduce::name, ": ", message...)); };
  if (!options.initial_values && !options.axis_size) return fail("neither initial_values nor axis_size: one of them expected");
  if (group_size < 1) return fail("group_size ", group_size, ": a number above 0 expected");
  const int rank = data.rank(), axis = options.axis < 0 ? options.axis + rank : options.axis;
  if (group_size > 1 && (axis == 0 || rank == 0 || data.shape(0) != group_size))
    return fail(to_text(data.spec()), " along axis ", axis, " with group_size ", group_size, ": ", group_size,
                " elements along axis 0, and another axis than 0, expected");
  std::int64_t extent = options.axis_size.value_or(1);
  if (options.initial_values && options.initial_values->valid() && axis >= 0 && axis < options.initial_values->rank()) {
    extent = options.initial_values->shape(axis);
    if (options.axis_size && *options.axis_size != extent)
      return fail("axis_size ", *options.axis_size, " with initial_values ", to_text(options.initial_values->spec()), ": ",
                  extent, " expected");
  }
  ScatterIndices at{indices};
  if (options.enable_index_broadcast) {
    at = scatter_indices(data, indices, options.axis, group_size);
    if (at.form == kernel::IndexForm::elements && indices.valid() && axis >= 0 && axis < rank && indices.shape() != data.shape())
      return fail("indices ", to_text(indices.spec()), " for data ", to_text(data.spec()), " along axis ", axis,
                  ": the data's shape, or one index for each place along the axis, expected");
  }
  const IndexAttributes attributes{.axis = options.axis,
                                   .group_size = group_size,
                                   .extent = extent,
                                   .form = at.form,
                                   .reduction = reduction,
                                   .available_memory_proportion = proportion_or_none(options.available_memory_proportion.value)};
  // Sums of unknown many are in float32, if they are of half precision.
  const DType dtype = data.dtype();
  const auto& initial = options.initial_values;
  const bool widens = reduction == ScatterReduction::sum && (!initial || !initial->valid() || initial->dtype() == dtype);
  const DType computed = widens ? computed_dtype(dtype) : dtype;
  if (!initial) return apply<ScatterReduce>({data.cast(computed), at.indices}, attributes).cast(dtype);
  return apply<ScatterReduce>({data.cast(computed), at.indices, widens ? initial->cast(computed) : *initial}, attributes)
      .cast(dtype);
}
}  // namespace detail

namespace ops {
/// Copies t and writes values at the indices along an axis, as torch.scatter: for each position p of the indices, result[..,
/// indices[p], ..] = values[p]. All have one rank. Along every axis, the indices are at most as long as the values; along the
/// other axes, they are at most as long as t. Alternatively, the indices have one axis, with one index for each position of the
/// values along the axis. If several values have one target, the last in row-major order stays. t and values have the same dtype,
/// which can be any; indices: integers.
///
/// Gradients: for t, dy with zeros at the written positions; for values, dy at the indices, also for each of several values with
/// one target. An index outside of [0, extent of the axis) is a fault: its value is not written, and the session's run throws
/// FaultError when it ends. Errors: indices that are not integers, shapes that do not fit, different dtypes, an axis out of
/// range.
[[nodiscard]] constexpr Tensor scatter(Tensor t, Tensor indices, Tensor values, int axis = 0,
                                       const ScatterOptions& options = {}) {
  const auto at = detail::scatter_indices(values, indices, axis, 1);
  const int rank = values.valid() ? values.rank() : 0, positive = axis < 0 ? axis + rank : axis;
  const bool has_extent = t.valid() && positive >= 0 && positive < t.rank();
  return apply<Scatter>({values, at.indices, t},
                        {.axis = axis,
                         .extent = has_extent ? t.shape(positive) : 1,
                         .form = at.form,
                         .reduction = ScatterReduction::none,
                         .available_memory_proportion = detail::proportion_or_none(options.available_memory_proportion.value)});
}
/// Reduces all data that have the same index along an axis to one element: their sum, the largest or the smallest of them, or,
/// with `none`, the last of them in row-major order. The result has the shape of `initial_values`, with which the reduction
/// starts. Without them, it has the data's shape with extent `axis_size` along the axis, and 0 where no data arrives. Indices:
/// integers, one for each position along the axis as (positions,) or with extent 1 for the other axes, or one for each element,
/// in the data's shape. Without `enable_index_broadcast`, they follow the rules of scatter. data and initial_values have the same
/// dtype, which can be any, but bool only with `none`.
///
/// NaN wins. Sums add in the order of the data; half precision is added in float32 and rounded once. Gradients of sum: dy at the
/// indices for data, dy for initial_values. Gradients of max and min: dy where the element equals the result, in equal parts if
/// several do, as in PyTorch, and 0 for NaN. Gradients of none: those of scatter. An index outside of [0, extent of the axis) is
/// a fault, as in scatter. Errors: neither initial_values nor axis_size, both with different extents, shapes that do not fit,
/// indices that are not integers, different dtypes, an axis out of range.
///
///     y = ops::scatter_reduce(x, indices, ScatterReduction::sum, {.axis_size = 10});
[[nodiscard]] constexpr Tensor scatter_reduce(Tensor data, Tensor indices, ScatterReduction reduction,
                                              const ScatterReduceOptions& options) {
  return detail::scatter_reduce(data, indices, reduction, 1, options);
}
/// Reduces as scatter_reduce in each of `group_size` groups, which are the first axis of all tensors. indices: (groups,
/// positions), or one for each element. The axis must not be the first.
[[nodiscard]] constexpr Tensor grouped_scatter_reduce(Tensor data, Tensor indices, ScatterReduction reduction,
                                                      std::int64_t group_size, const ScatterReduceOptions& options) {
  return detail::scatter_reduce(data, indices, reduction, group_size, options);
}

/// Adds rows to a table in place: t[.., indices[i], ..] = t[.., indices[i], ..] + f x[.., i, ..] along an axis, in the order of
/// the indices. A gather's gradient adds to its table in this way. Returns an alias of t. t: float16, bfloat16, float32 or
/// float64; x: the shape of a gather from t, float16, float32 or float64; indices: integers; f: a number or a tensor of one
/// element. Casts x to t's dtype, computes in float32, and rounds each addition. `w`, a table whose layout t should have, has no
/// effect.
///
/// An index outside of [0, extent of the axis) is a fault: nothing is added for it, and the session's run throws FaultError when
/// it ends. Errors: another shape of x, indices that are not integers, an axis out of range, w of another shape than t.
constexpr Tensor sparse_accumulate_(Tensor t, Tensor x, Tensor indices, int axis = 0, const NumberOrTensor& f = 1,
                                    std::optional<Tensor> w = {}) {
  if (w && w->valid() && t.valid() && w->shape() != t.shape())
    return t.ir().fail(
        text(SparseAccumulate::name, ": W ", to_text(w->spec()), " for ", to_text(t.spec()), ": equal shapes expected"));
  const int positive = axis < 0 && t.valid() ? axis + t.rank() : axis;
  const bool has_extent = t.valid() && positive >= 0 && positive < t.rank();
  const IndexAttributes attributes{.axis = axis, .extent = has_extent ? t.shape(positive) : 1, .factor = f.number};
  return f.tensor ? apply<SparseAccumulate>({t, x, indices, *f.tensor}, attributes)
                  : apply<SparseAccumulate>({t, x, indices}, attributes);
}
}  // namespace ops

}  // namespace tilewright
