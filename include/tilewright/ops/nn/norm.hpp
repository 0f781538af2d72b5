#pragma once

#include "tilewright/core/pair.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/operand/norm_block.hpp"
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/mean.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright {

struct NormAttributes {
  std::int64_t num_groups = 1;
  double eps = 1e-5;
};

/// Base of normalisations and their gradients. D defines `leading_axes`, the number of axes that hold independent dense blocks;
/// `row_size`, the elements of a block; and `block`, its name.
template <class D>
struct NormOp : Op<D> {
  // Loops, not arrays: a pass over a block gives several sums.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::norm}; }
  using Attributes = NormAttributes;

 protected:
  /// Returns the work. Its axes are the leading axes, which the tensors with a bit in `followers` follow.
  static constexpr Work rows(std::span<const TensorSpec> operands, int count, unsigned followers, WorkAxisKind kind) {
    Work work;
    for (int axis = 0; axis < count; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis], .kind = kind});
      for (std::size_t o = 0; o < operands.size(); ++o)
        if (followers >> o & 1) work.follow(static_cast<int>(o), axis, axis);
    }
    return work;
  }
  /// Calls f(offsets in the tensors) for every index of the leading axes.
  template <int count, class... V, class F>
  static void for_each_row(F&& f) {
    constexpr auto loops = [] {
      Pair<Shape, std::array<std::array<std::int64_t, max_rank>, sizeof...(V)>> result{};
      const std::array<ViewSpec, sizeof...(V)> views{V::spec...};
      for (int axis = 0; axis < count; ++axis) {
        for (std::size_t o = 0; o < views.size(); ++o) result.second[o][static_cast<std::size_t>(axis)] = views[o].stride(axis);
        result.first.push_back(views[0].shape[axis]);
      }
      return result;
    }();
    for_each_offset<static_cast<int>(sizeof...(V))>(loops.first, loops.second, f);
  }
};

namespace detail {
/// Gradient rule of NormGrad: from the gradients (ux, uw, ub) of its results to those of x, the weight and dy. That of x includes
/// the paths through mean and deviation, which are computed from x again, so that they have no gradients of their own. With z =
/// (x - mean) inverse, P(t) = t - mean(t) - z mean(t z), g = dy weight, h = dy uw, and means over groups: the gradient of dy is
/// weight inverse P(ux) + uw z + ub, that of the weight is the sum of dy inverse P(ux), and that of x is
///     inverse P(h) - inverse^2 (z (mean(g ux) - mean(g) mean(ux) - mean(g z) mean(ux z)) + mean(ux z) P(g) + mean(g z) P(ux)).
constexpr void differentiate_norm_gradient(GradientContext& op, const kernel::NormBlock& block, double eps) {
  const TensorSpec spec = op.input_spec(0);
  const DType computed = computed_dtype(spec.dtype);
  const Shape by_channel{1, block.groups, block.channels, 1};
  const auto in_groups = [&](Tensor t) {
    return ops::reshape(t.cast(computed), {-1, block.groups, block.channels, block.spatial});
  };
  const auto of_channels = [&](Tensor t) { return ops::reshape(t.cast(computed), by_channel); };
  const auto mean = [](Tensor t) { return ops::mean(t, {2, 3}, true); };
  const Tensor x = in_groups(op.input(0)), weight = of_channels(op.input(1)), dy = in_groups(op.input(4));
  const Tensor centred = x - mean(x), inverse = 1 / apply<Sqrt>({mean(centred * centred) + eps}), z = centred * inverse;
  const auto projected = [&](Tensor t) { return t - mean(t) - z * mean(t * z); };
  const auto give = [&](int i, Tensor gradient) {
    const TensorSpec to = op.input_spec(i);
    if (i == 1) gradient = ops::sum_to(gradient, by_channel);
    op.input_gradient(i, ops::reshape(gradient, to.shape).cast(to.dtype));
  };
  if (op.has_output_gradient(0)) {
    const Tensor ux = in_groups(op.output_gradient(0)), projection = inverse * projected(ux), g = dy * weight;
    if (op.needs(1)) give(1, dy * projection);
    if (op.needs(4)) give(4, weight * projection);
    if (op.needs(0)) {
      const Tensor of_g = mean(g * z), of_ux = mean(ux * z);
      const Tensor rest = z * (mean(g * ux) - mean(g) * mean(ux) - of_g * of_ux);
      give(0, -(inverse * inverse * (rest + of_ux * projected(g)) + inverse * of_g * projection));
    }
  }
  if (op.has_output_gradient(1)) {
    const Tensor uw = of_channels(op.output_gradient(1));
    if (op.needs(4)) give(4, uw * z);
    if (op.needs(0)) give(0, inverse * projected(dy * uw));
  }
  if (op.has_output_gradient(2) && op.needs(4)) give(4, ops::expand(of_channels(op.output_gradient(2)), x.shape()));
}
}  // namespace detail

/// The gradients of a normalisation N in one op: inputs (x, weight, mean, inverse deviation, dy), results (dx, dweight, dbias).
template <class N>
struct NormGrad : NormOp<NormGrad<N>> {
  static constexpr std::string_view name = GradientName<N>::value;
  constexpr operator VertexCost() const { return line_cost(5, {11, 2}, {11, 4}, Confidence::derived); }
  static constexpr void infer(Inference& op) {
    op.output(op.input(0));
    op.output(op.input(1));
    op.output(op.input(1));
  }
  static constexpr void gradient(GradientContext& op) {
    const auto attributes = op.attributes<NormAttributes>();
    detail::differentiate_norm_gradient(op, N::block(op.input_spec(0).shape, attributes), attributes.eps);
  }
  /// Returns the work: rows are divided among vertices, and each vertex has its part of the sums dweight and dbias.
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return NormGrad::rows(operands, N::leading_axes(operands[0].shape), 0b00111101, WorkAxisKind::summed);
  }
  /// With many rows, each accumulator first adds its own rows, and the results are then added in float64.
  template <class X>
  static constexpr bool in_parts = X::shape.nelms() / std::max<std::int64_t>(N::row_size(X::shape), 1) >
                                   kernel::terms_of_accumulator;
  template <PackedAttributes A, class X, class W, class Mean, class Inverse, class DY, class DX, class DW, class DB>
  static constexpr std::int64_t stack_bytes();
  template <PackedAttributes A, class X, class W, class Mean, class Inverse, class DY, class DX, class DW, class DB>
  static void compute(X x, W weight, Mean mean, Inverse inverse, DY dy, DX dx, DW dweight, DB dbias);
};

/// Base of normalisations: inputs (x, weight, bias), results (y, mean, inverse deviation). The last two have an element for each
/// group, in float32 for half precision.
template <class D>
struct Normalisation : NormOp<D> {
  static constexpr std::string_view name = "GroupNormalization";
  constexpr operator VertexCost() const { return line_cost(6, {14, 2}, {14, 4}, Confidence::derived); }

  static constexpr void gradient(GradientContext& op) {
    if (!op.has_output_gradient(0)) return;
    const Tensor inputs[] = {op.input(0), op.input(1), op.output(1), op.output(2), op.output_gradient(0)};
    const auto gradients = apply_all<NormGrad<D>>(op.ir(), inputs, op.attributes<NormAttributes>());
    for (int i = 0; i < 3; ++i) op.input_gradient(i, at_or_invalid(op.ir(), gradients, static_cast<std::size_t>(i)));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return D::rows(operands, D::leading_axes(operands[0].shape), 0b111001, WorkAxisKind::parallel);
  }
  template <PackedAttributes A, class X, class W, class B, class Y, class Mean, class Inverse>
  static void compute(X x, W weight, B bias, Y y, Mean mean, Inverse inverse);

 protected:
  /// Checks weight and bias for `channels` channels, and sets the outputs.
  static constexpr void infer_outputs(Inference& op, std::int64_t channels, const Shape& groups) {
    const TensorSpec& x = op.input(0);
    const TensorSpec expected{{channels}, x.dtype};
    for (int i = 1; i < 3; ++i)
      if (op.input(i) != expected)
        return op.fail(i == 1 ? "weight " : "bias ", to_text(op.input(i)), " for ", to_text(x), ": ", to_text(expected),
                       " expected");
    op.output(x);
    const DType computed = computed_dtype(x.dtype);  // for the gradient: rounded to half precision, they would be of no use to it
    op.output({groups, computed});
    op.output({groups, computed});
  }
};

/// Normalisation of each line along the last axis.
struct LayerNorm : Normalisation<LayerNorm> {
  static constexpr int leading_axes(const Shape& x) { return x.rank - 1; }
  static constexpr std::int64_t row_size(const Shape& x) { return x[-1]; }
  static constexpr kernel::NormBlock block(const Shape& x, const NormAttributes&) { return {.channels = x[-1]}; }
  static constexpr void infer(Inference& op) {
    if (!op.require_floating_point(0)) return;
    Shape lines = op.input(0).shape;
    if (lines.rank == 0) return op.fail(to_text(op.input(0)), ": at least one axis expected");
    lines.extents[--lines.rank] = 0;
    infer_outputs(op, op.input(0).shape[-1], lines);
  }
};

/// Normalisation of groups of neighbouring channels in each sample, over all of their elements.
struct GroupNorm : Normalisation<GroupNorm> {
  static constexpr int leading_axes(const Shape&) { return 1; }
  static constexpr std::int64_t row_size(const Shape& x) { return x.nelms() / x[0]; }
  static constexpr kernel::NormBlock block(const Shape& x, const NormAttributes& attributes) {
    return {attributes.num_groups, x[1] / attributes.num_groups, x.nelms() / x[0] / x[1]};
  }
  static constexpr void infer(Inference& op) {
    if (!op.require_floating_point(0)) return;
    const Shape& shape = op.input(0).shape;
    if (shape.rank < 2) return op.fail(to_text(op.input(0)), ": at least 2 axes, for samples and channels, expected");
    const auto groups = op.attributes<NormAttributes>().num_groups;
    if (groups < 1 || shape[1] % groups != 0)
      return op.fail(groups, " groups of the ", shape[1], " channels of ", to_text(op.input(0)), ": a divisor of ", shape[1],
                     " expected");
    infer_outputs(op, shape[1], {shape[0], groups});
  }
};

namespace ops {
/// Normalises each line along the last axis: (x - mean) / sqrt(variance + eps) * weight + bias. x: (..., n), float16, bfloat16,
/// float32 or float64; weight, bias: (n,), the same dtype. The result has x's shape and dtype. The variance is that of the line,
/// divided by n; half precision is computed in float32.
[[nodiscard]] constexpr Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, double eps = 1e-5) {
  if (x.valid() && !detail::check_parameter(x.ir(), "layer_norm", "eps", eps)) return Tensor::invalid(x.ir());
  return apply<LayerNorm>({x, weight, bias}, {.eps = eps});
}
/// Normalises groups of channels in each sample: (x - mean) / sqrt(variance + eps) * weight + bias. x: (samples, channels, ...),
/// float16, bfloat16, float32 or float64; weight, bias: (channels,), the same dtype. Each of `num_groups` groups of neighbouring
/// channels is normalised over all its elements. The result has x's shape and dtype.
[[nodiscard]] constexpr Tensor group_norm(Tensor x, Tensor weight, Tensor bias, std::int64_t num_groups, double eps = 1e-5) {
  if (x.valid() && !detail::check_parameter(x.ir(), "group_norm", "eps", eps)) return Tensor::invalid(x.ir());
  return apply<GroupNorm>({x, weight, bias}, {num_groups, eps});
}
}  // namespace ops

}  // namespace tilewright
