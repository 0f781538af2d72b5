#pragma once
#include "tilewright/graph/call_site.hpp"
#include "tilewright/op/op.hpp"

namespace tilewright {

namespace detail {
/// A permutation or shape as an op's attributes.
struct AxisList {
  std::int64_t count = 0;
  std::array<std::int64_t, max_rank> axes{};
  constexpr Shape shape() const {
    Shape result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(axes[static_cast<std::size_t>(i)]);
    return result;
  }
};
constexpr AxisList axis_list(const Shape& shape) {
  AxisList result{.count = shape.rank};
  for (int i = 0; i < shape.rank; ++i) result.axes[static_cast<std::size_t>(i)] = shape[i];
  return result;
}
constexpr Shape reversed_axes(Tensor x) {
  Shape reversed;
  for (int axis = x.rank(); axis-- > 0;) reversed.push_back(axis);
  return reversed;
}
}  // namespace detail

/// Base of Reshape and ReshapeInplace: a view of a dense tensor.
template <class D>
struct ReshapeOp : Op<D> {
  using Attributes = detail::AxisList;

  static constexpr void infer(Inference& op) {
    const Shape wanted = op.attributes<Attributes>().shape();
    const TensorSpec& in = op.input(0);
    Shape result = wanted;
    int hole = -1;
    std::int64_t known = 1;
    for (int axis = 0; axis < wanted.rank; ++axis) {
      if (wanted[axis] == -1 && hole < 0) hole = axis;
      else if (wanted[axis] == -1) return op.fail(to_text(in), " to ", to_text(wanted), ": at most one -1 expected");
      else if (wanted[axis] < 1) return op.fail(to_text(in), " to ", to_text(wanted), ": extents above 0, or one -1, expected");
      else if (known > in.nelms() / wanted[axis]) known = in.nelms() + 1;  // too many, without an overflow
      else known *= wanted[axis];
    }
    if (hole >= 0) result[hole] = in.nelms() / known;
    if (known > in.nelms() || result.nelms() != in.nelms()) {
      const bool may_be_quotient = hole < 0 && known < in.nelms() && 2 * known > in.nelms();
      return op.fail(to_text(in), " to ", to_text(wanted), ": a shape of ", in.nelms(), " elements expected",
                     may_be_quotient ? "; a quotient of extents is rounded down" : "");
    }
    op.output({result, in.dtype});
  }
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape& output, const PackedAttributes&) {
    return {layout.offset, dense_strides(output)};
  }
};
/// A view of x's elements in another shape.
struct Reshape : ReshapeOp<Reshape> {
  static constexpr std::string_view name = "Reshape";
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient(0, apply<Reshape>({op.output_gradient(0)}, detail::axis_list(op.input_spec(0).shape)));
  }
};
/// An alias of x in another shape: in-place ops change x.
struct ReshapeInplace : ReshapeOp<ReshapeInplace> {
  static constexpr std::string_view name = "ReshapeInplace";
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  static constexpr void gradient(GradientContext& op) { Reshape::gradient(op); }
};

/// Base of Transpose and TransposeInplace: a view.
template <class D>
struct TransposeOp : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  using Attributes = detail::AxisList;

  static constexpr void infer(Inference& op) {
    const Shape order = op.attributes<Attributes>().shape();
    const TensorSpec& in = op.input(0);
    std::array<bool, max_rank> seen{};
    bool valid = order.rank == in.shape.rank;
    for (int axis = 0; valid && axis < order.rank; ++axis) {
      valid = order[axis] >= 0 && order[axis] < order.rank && !seen[static_cast<std::size_t>(order[axis])];
      if (valid) seen[static_cast<std::size_t>(order[axis])] = true;
    }
    if (!valid)
      return op.fail(to_text(in), " by ", to_text(order), ": a permutation of the axes 0 to ", in.shape.rank - 1, " expected");
    Shape result = in.shape;
    for (int axis = 0; axis < order.rank; ++axis) result[axis] = in.shape[static_cast<int>(order[axis])];
    op.output({result, in.dtype});
  }
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape& output, const PackedAttributes& packed) {
    const Attributes order = unpack<Attributes>(packed);
    Layout result{layout.offset, {}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(output.rank); ++axis)
      result.strides[axis] = layout.strides[static_cast<std::size_t>(order.axes[axis])];
    return result;
  }
};

/// The axes in another order.
struct Transpose : TransposeOp<Transpose> {
  static constexpr std::string_view name = "Transpose";
  static constexpr void gradient(GradientContext& op) {
    const Shape order = op.attributes<Attributes>().shape();
    Shape inverse = order;
    for (int axis = 0; axis < order.rank; ++axis) inverse[static_cast<int>(order[axis])] = axis;
    op.input_gradient(0, apply<Transpose>({op.output_gradient(0)}, detail::axis_list(inverse)));
  }
};
/// An alias of x with its axes in another order: in-place ops change x.
struct TransposeInplace : TransposeOp<TransposeInplace> {
  static constexpr std::string_view name = "TransposeInplace";
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  static constexpr void gradient(GradientContext& op) { Transpose::gradient(op); }
};

/// Base of Detach and DetachInplace: a view that stops gradients.
template <class D>
struct DetachOp : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr Differentiation differentiation = Differentiation::stops;
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape&, const PackedAttributes&) { return layout; }
};
struct Detach : DetachOp<Detach> {
  static constexpr std::string_view name = "Detach";
};
struct DetachInplace : DetachOp<DetachInplace> {
  static constexpr std::string_view name = "DetachInplace";
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
};

namespace ops {
/// Returns x's elements in another shape. One extent may be -1 and is computed from the others. Another number of elements is an
/// error.
///
/// Results of reshape, flatten, transpose, expand and detach are values: later changes of x do not change them, and the reverse.
/// They share x's memory if no reader can notice it. The forms with `_` return an alias of x: a change of one changes both.
[[nodiscard]] constexpr Tensor reshape(Tensor x, const Shape& shape) { return apply<Reshape>({x}, detail::axis_list(shape)); }
/// Returns an alias of x with another shape. x's elements must be contiguous, which an alias by transpose_ is not. Other rules
/// and errors are those of reshape.
constexpr Tensor reshape_(Tensor x, const Shape& shape) {
  if (!x.is_usable()) return x;
  if (!is_dense(x.shape(), detail::aliased_tensor(x.ir(), x.graph_id(), x.number()).second))
    return x.ir().fail(text("ReshapeInplace: ", to_text(x), ", whose elements stand in another order, to ", to_text(shape),
                            ": reshape, or reshape_ before transpose_, expected"));
  return apply<ReshapeInplace>({x}, detail::axis_list(shape));
}
/// Returns x's elements as a tensor of one axis, in row-major order. The result is a value: later changes of x do not change it.
[[nodiscard]] constexpr Tensor flatten(Tensor x) { return reshape(x, {-1}); }
/// Returns an alias of x with one axis. Rules and errors are those of reshape_.
constexpr Tensor flatten_(Tensor x) { return reshape_(x, {-1}); }
/// Returns x with axis permutation[i] as axis i.
[[nodiscard]] constexpr Tensor transpose(Tensor x, const Shape& permutation) {
  return apply<Transpose>({x}, detail::axis_list(permutation));
}
/// Returns an alias of x with axis permutation[i] as axis i: a change of one changes both.
constexpr Tensor transpose_(Tensor x, const Shape& permutation) {
  return apply<TransposeInplace>({x}, detail::axis_list(permutation));
}
/// Returns x with its axes in reversed order.
[[nodiscard]] constexpr Tensor transpose(Tensor x) { return transpose(x, detail::reversed_axes(x)); }
/// Returns an alias of x with its axes in reversed order: a change of one changes both.
constexpr Tensor transpose_(Tensor x) { return transpose_(x, detail::reversed_axes(x)); }
/// Returns x, and stops gradients.
constexpr Tensor detach(Tensor x) { return apply<Detach>({x}); }
/// Returns an alias of x that stops gradients: a change of one changes both.
constexpr Tensor detach_(Tensor x) { return apply<DetachInplace>({x}); }
}  // namespace ops

constexpr Tensor Tensor::reshape(const Shape& shape) const { return ops::reshape(*this, shape); }
constexpr Tensor Tensor::flatten() const { return ops::flatten(*this); }
constexpr Tensor Tensor::T() const { return ops::transpose(*this); }
constexpr Tensor Tensor::transpose(const Shape& permutation) const { return ops::transpose(*this, permutation); }
constexpr Tensor Tensor::detach() const { return ops::detach(*this); }
constexpr Tensor Tensor::reshape_(const Shape& shape) const { return ops::reshape_(*this, shape); }
constexpr Tensor Tensor::flatten_() const { return ops::flatten_(*this); }
constexpr Tensor Tensor::T_() const { return ops::transpose_(*this); }
constexpr Tensor Tensor::transpose_(const Shape& permutation) const { return ops::transpose_(*this, permutation); }
constexpr Tensor Tensor::detach_() const { return ops::detach_(*this); }

}  // namespace tilewright
