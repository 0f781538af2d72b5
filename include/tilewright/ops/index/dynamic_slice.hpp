#pragma once
#include "tilewright/op/indexed.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

struct DynamicSliceAttributes {
  std::int64_t count = 0;  ///< number of the sliced axes
  std::array<std::int64_t, max_rank> axes{}, sizes{};
  std::array<std::int64_t, max_rank> extents{};  ///< of the tensor along these axes
  std::int64_t no_overlap = 0;
  std::int64_t faults = 1;  ///< whether a start out of range is a fault

  /// Returns the entry that slices an axis of a tensor of this rank, or -1.
  constexpr int entry_of(int axis, int rank) const {
    for (int i = 0; i < count; ++i)
      if (const std::int64_t sliced = axes[static_cast<std::size_t>(i)]; sliced == axis || sliced + rank == axis) return i;
    return -1;
  }
  /// Returns the shape with other extents along the sliced axes.
  constexpr Shape with(Shape shape, const std::array<std::int64_t, max_rank>& others) const {
    for (int axis = 0; axis < shape.rank; ++axis)
      if (const int entry = entry_of(axis, shape.rank); entry >= 0) shape[axis] = others[static_cast<std::size_t>(entry)];
    return shape;
  }
};

/// Base of ops on a slice whose starts are a tensor, one for each sliced axis.
template <class D>
struct DynamicSliceOp : Op<D> {
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::indexed}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::slice, Confidence::published); }
  constexpr operator KernelOperands() const {
    return KernelOperands{.any_layout = true, .takes_positions = true, .takes_float8 = true};
  }
  using Attributes = DynamicSliceAttributes;

  /// Returns the shape of the slice. Fails for axes, sizes or starts that do not fit t.
  static constexpr Shape infer_slice(Inference& op, const TensorSpec& t, const TensorSpec& starts) {
    const auto attributes = op.attributes<Attributes>();
    Shape slice = t.shape;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(attributes.count); ++i) {
      const int axis = op.require_axis(attributes.axes[i], t.shape.rank);
      if (axis < 0) return slice;
      if ((seen >> axis & 1) != 0) return op.fail("axis ", attributes.axes[i], " twice: distinct axes expected"), slice;
      seen |= std::uint64_t{1} << axis;
      if (attributes.sizes[i] < 1 || attributes.sizes[i] > t.shape[axis])
        return op.fail("size ", attributes.sizes[i], " along axis ", axis, " of ", to_text(t), ": a size from 1 to ",
                       t.shape[axis], " expected"),
               slice;
      slice[axis] = attributes.sizes[i];
    }
    if (!is_int(starts.dtype) || starts.shape.rank > 1 || starts.nelms() != attributes.count)
      op.fail("index ", to_text(starts), " for ", attributes.count, " axes: integers of shape (", attributes.count,
              ",) expected");
    return slice;
  }
  static constexpr FaultText slice_fault(const Shape& t, const Shape& slice, const Attributes& attributes) {
    return {attributes.faults != 0 && t != slice, "start",
            text("a start of a slice ", to_text(slice), " inside of ", to_text(t))};
  }

 protected:
  /// Returns, by axis, the start of the slice in a tensor of shape `whole`. If the slice is not inside the tensor, reports to
  /// `faults` and returns nothing.
  template <PackedAttributes A, class Starts>
  static std::optional<std::array<std::int64_t, max_rank>> starts_of(Starts starts, const Shape& whole, const Shape& slice,
                                                                     const Faults* faults) {
    constexpr auto attributes = unpack<Attributes>(A);
    std::array<std::int64_t, max_rank> result{};
    bool fits = true;
    for (int axis = 0; axis < whole.rank; ++axis) {
      const int entry = attributes.entry_of(axis, whole.rank);
      if (entry < 0) continue;
      const std::int64_t step = Starts::shape.rank == 0 ? 0 : Starts::spec.stride(0);
      const auto start = starts.data[entry * step];
      if (kernel::index_number(start) > static_cast<std::uint64_t>(whole[axis] - slice[axis])) {
        if (faults) faults->report(static_cast<std::int64_t>(start));
        fits = false;
      }
      result[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(start);
    }
    if (!fits) return std::nullopt;
    return result;
  }
  /// Returns the axis from which on boxes are contiguous in both: later axes are not sliced, so a box contains all of them.
  template <PackedAttributes A>
  static constexpr int run_axis(const ViewSpec& a, const ViewSpec& b) {
    int axis = a.shape.rank - 1;
    while (axis > 0 && unpack<Attributes>(A).entry_of(axis, a.shape.rank) < 0 &&
           a.stride(axis - 1) == a.stride(axis) * a.shape[axis] && b.stride(axis - 1) == b.stride(axis) * b.shape[axis])
      --axis;
    return axis;
  }
  /// Copies a box of the given extents.
  template <PackedAttributes A, class To, class From, int axis = 0>
  static void copy_box(typename To::element* to, const typename From::element* from,
                       const std::array<std::int64_t, max_rank>& extents) {
    constexpr int rank = To::shape.rank;
    if constexpr (rank == 0) {
      *to = *from;
    } else if constexpr (constexpr bool is_dense = To::spec.stride(-1) == 1 && From::spec.stride(-1) == 1;
                         is_dense && axis == run_axis<A>(To::spec, From::spec)) {
      std::memcpy(to, from, static_cast<std::size_t>(extents[axis] * To::spec.stride(axis)) * sizeof(*to));
    } else {
      for (std::int64_t i = 0; i < extents[axis]; ++i, to += To::spec.stride(axis), from += From::spec.stride(axis)) {
        if constexpr (axis == rank - 1) *to = *from;
        else copy_box<A, To, From, axis + 1>(to, from, extents);
      }
    }
  }
};

/// Inputs (t, index).
struct DynamicSlice : DynamicSliceOp<DynamicSlice> {
  static constexpr std::string_view name = "DynamicSlice";
  static constexpr void infer(Inference& op) {
    const Shape slice = infer_slice(op, op.input(0), op.input(1));
    if (!op.failed()) op.output({slice, op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op);
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return slice_fault(operands[0].shape, operands[static_cast<std::size_t>(input_count)].shape, unpack<Attributes>(packed));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& slice = operands[static_cast<std::size_t>(input_count)].shape;
    Work work;
    for (int axis = 0; axis < slice.rank; ++axis) {
      work.add_axis({.extent = slice[axis], .vectorised = axis == slice.rank - 1});
      work.follow(input_count - 1, axis, axis);
      work.follow(input_count, axis, axis);
      if (attributes.entry_of(axis, slice.rank) < 0) work.follow(0, axis, axis);
    }
    return work;
  }
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute(T t, J starts, P positions, Y y);
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute_checked(Faults faults, T t, J starts, P positions, Y y);

 private:
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void slice(const Faults* faults, T t, J starts, P positions, Y y);
};

/// Base of updates of a slice: inputs (t, index, update).
template <class D>
struct DynamicUpdateOp : DynamicSliceOp<D> {
  using Attributes = DynamicSliceAttributes;

  static constexpr void infer(Inference& op) {
    const TensorSpec &t = op.input(0), &update = op.input(2);
    const Shape slice = D::infer_slice(op, t, op.input(1));
    if (op.failed() || !op.require_equal_dtypes(0, 2)) return;
    if (update.shape != slice)
      return op.fail("t_update ", to_text(update), " for a slice of ", to_text(t), ": ", to_text(slice), " expected");
    op.output(t);
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    return D::slice_fault(operands[0].shape, operands[2].shape, unpack<Attributes>(packed));
  }
  /// Divides t into blocks by vertices; each block has the whole slice along the sliced axes.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& t = operands[0].shape;
    Work work;
    for (int axis = 0; axis < t.rank; ++axis) {
      work.add_axis({.extent = t[axis], .vectorised = axis == t.rank - 1});
      for (const int o : {0, input_count - 1, input_count}) work.follow(o, axis, axis);
      if (attributes.entry_of(axis, t.rank) < 0) work.follow(2, axis, axis);
    }
    return work;
  }
  template <PackedAttributes A, class T, class J, class U, class P, class Y>
  static void compute(T t, J starts, U update, P positions, Y y);
  template <PackedAttributes A, class T, class J, class U, class P, class Y>
  static void compute_checked(Faults faults, T t, J starts, U update, P positions, Y y);

 private:
  template <PackedAttributes A, class T, class J, class U, class P, class Y>
  static void write(const Faults* faults, T t, J starts, U update, P positions, Y y);
};

/// A copy of t in which the update replaces the slice.
struct DynamicUpdate : DynamicUpdateOp<DynamicUpdate> {
  static constexpr std::string_view name = "DynamicUpdate";
  static constexpr void gradient(GradientContext& op) {
    auto attributes = op.attributes<Attributes>();
    attributes.faults = 0;
    const Tensor dy = op.output_gradient(0);
    if (op.needs(0)) {
      const TensorSpec update = op.input_spec(2);
      op.input_gradient(0,
                        attributes.no_overlap != 0 ? dy : apply<DynamicUpdate>({dy, op.input(1), zeros(op, update)}, attributes));
    }
    if (op.needs(2)) op.input_gradient(2, apply<DynamicSlice>({dy, op.input(1)}, attributes));
  }
  static constexpr Tensor zeros(GradientContext& op, const TensorSpec& spec) {
    return ops::expand(op.ir().constant(List<double>{0}, {}, spec.dtype), spec.shape);
  }
};
/// Writes the update into the slice of t itself, and returns an alias of t.
struct DynamicUpdateInplace : DynamicUpdateOp<DynamicUpdateInplace> {
  static constexpr std::string_view name = "DynamicUpdateInplace";
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
};

constexpr void DynamicSlice::gradient(GradientContext& op) {
  if (!op.needs(0)) return;
  auto attributes = op.attributes<Attributes>();
  attributes.faults = 0;
  op.input_gradient(
      0, apply<DynamicUpdate>({DynamicUpdate::zeros(op, op.input_spec(0)), op.input(1), op.output_gradient(0)}, attributes));
}

namespace detail {
template <class D>
constexpr Tensor dynamic_slice(std::initializer_list<Tensor> operands, const Shape& axes, const Shape& sizes, bool no_overlap) {
  const Tensor& t = *operands.begin();
  if (!t.is_usable()) return t;
  if (axes.rank != sizes.rank)
    return t.ir().fail(
        text(D::name, ": axes ", to_text(axes), " and sizes ", to_text(sizes), ": as many sizes as axes expected"));
  DynamicSliceAttributes attributes{.count = axes.rank, .no_overlap = no_overlap};
  for (int i = 0; i < axes.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    attributes.axes[at] = axes[i];
    attributes.sizes[at] = sizes[i];
    const std::int64_t axis = axes[i] < 0 ? axes[i] + t.rank() : axes[i];
    attributes.extents[at] = axis >= 0 && axis < t.rank() ? t.shape(static_cast<int>(axis)) : 1;
  }
  return apply<D>(operands, attributes);
}
}  // namespace detail

namespace ops {
/// Copies the slice of t that starts at index[i] along axes[i] and has size sizes[i]; the other axes are whole. t: any dtype;
/// index: integers (count of axes,), computed in the run. `no_overlap` promises that no two slices whose gradients are added have
/// an element in common. The gradient of t is dy at the position of the slice, and zeros elsewhere; gradients of several slices
/// add up.
///
/// A slice that is not inside of t is a fault, for example one with a negative start: the result is zeros, and the session's run
/// throws FaultError when it ends. Errors: lists of different lengths; an axis out of range or given twice; a size that is larger
/// than the axis; an index of another shape or dtype.
///
///     y = ops::dynamic_slice(x, start, {0}, {8});  // x[start : start + 8]
[[nodiscard]] constexpr Tensor dynamic_slice(Tensor t, Tensor index, const Shape& axes, const Shape& sizes,
                                             bool no_overlap = false) {
  return detail::dynamic_slice<DynamicSlice>({t, index}, axes, sizes, no_overlap);
}
/// Copies t and replaces a slice of it by t_update, which has the slice's shape and t's dtype. The slice is that of
/// dynamic_slice. Gradients: for t, dy with zeros in the slice; for t_update, the slice of dy. With `no_overlap`, a promise
/// that nothing reads these elements of t, the gradient of t is dy itself. Faults are those of dynamic_slice; after a fault,
/// the result is t unchanged. Errors are those of dynamic_slice, and a t_update of another shape.
[[nodiscard]] constexpr Tensor dynamic_update(Tensor t, Tensor index, Tensor t_update, const Shape& axes, const Shape& sizes,
                                              bool no_overlap = false) {
  return detail::dynamic_slice<DynamicUpdate>({t, index, t_update}, axes, sizes, no_overlap);
}
/// Replaces a slice of t by t_update in place; returns an alias of t. Operands, faults and errors are those of dynamic_update. No
/// gradient.
constexpr Tensor dynamic_update_(Tensor t, Tensor index, Tensor t_update, const Shape& axes, const Shape& sizes,
                                 bool no_overlap = false) {
  return detail::dynamic_slice<DynamicUpdateInplace>({t, index, t_update}, axes, sizes, no_overlap);
}
}  // namespace ops

}  // namespace tilewright
