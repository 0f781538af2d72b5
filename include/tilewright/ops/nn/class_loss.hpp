#pragma once
#include <optional>

#include "tilewright/core/span.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"

namespace tilewright {

/// How losses of single examples are combined to the result.
enum class Reduction : std::int64_t { mean, sum, none };

struct NllOptions {
  std::optional<std::int64_t> ignore_index{};  ///< labels of this value are ignored
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of labels that are not ignored
  Flag log_prob = false;  ///< whether the probabilities are logarithms
};

struct NllAttributes {
  Reduction reduction = Reduction::mean;
  std::int64_t ignores = 0;
  std::int64_t ignore_index = 0;
  std::int64_t log_prob = 0;
  double loss_grad = 1;
};
[[nodiscard]] constexpr NllAttributes nll_attributes(const NllOptions& options, double loss_grad = 1) {
  return {options.reduction, options.ignore_index.has_value(), options.ignore_index.value_or(0), options.log_prob, loss_grad};
}

/// Base of losses of classes. D defines `rows_are`, probabilities or logits (..., classes). They and the labels (...) are
/// processed as rows of classes. If the planner divides the rows of a mean or sum, operands with rows have the rows of one block,
/// and the last input has all labels. The attributes A have the reduction and the ignored label.
template <class D, class A = NllAttributes>
struct ClassLossOp : Op<D> {
  // Loops, not arrays: a label chooses an element of each row.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line}; }
  using Attributes = A;

  /// Checks rows and labels.
  static constexpr bool validate(Inference& op) {
    const TensorSpec &probs = op.input(0), &labels = op.input(1);
    if (!op.require_floating_point(0)) return false;
    Shape expected = probs.shape;
    if (probs.shape.rank == 0) return op.fail(D::rows_are, " ", to_text(probs), ": at least one axis expected"), false;
    --expected.rank;
    expected.extents[expected.rank] = 0;
    if (labels.shape != expected || (labels.dtype != int32 && labels.dtype != uint32))
      return op.fail("labels ", to_text(labels), " for ", D::rows_are, " ", to_text(probs), ": ", to_text(expected),
                     " int32 or uint32 expected"),
             false;
    return true;
  }
  static constexpr TensorSpec loss_spec(Inference& op) {
    const bool none = op.attributes<Attributes>().reduction == Reduction::none;
    return {none ? op.input(1).shape : Shape{}, op.input(0).dtype};
  }
  /// Returns the fault of losses: a label that is neither a class nor ignored.
  static constexpr FaultText label_fault(std::span<const TensorSpec> operands) {
    return {true, "label", text("a label from 0 to ", operands[0].shape[-1] - 1, ", or the ignored one,")};
  }
  constexpr operator CutRules() const { return CutRules{.partials = partials}; }
  /// Returns the partials. Mean and sum need all labels; without them, there is one vertex.
  static constexpr Partials partials(const PackedAttributes& packed) {
    return {.whole_input = unpack<Attributes>(packed).reduction == Reduction::none ? -1 : 1};
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return rows_work(operands, input_count, packed, -1);
  }
  /// Returns the work on rows. The operand `whole` has no rows, whatever its shape; -1: there is no such operand.
  static constexpr Work rows_work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed,
                                  int whole) {
    const bool none = unpack<Attributes>(packed).reduction == Reduction::none;
    const int all_labels = input_count > 2 && is_int(operands[static_cast<std::size_t>(input_count) - 1].dtype) ? input_count - 1
                                                                                                                : -1;
    Work work;
    if (!none && all_labels < 0) return work;
    const Shape &probs = operands[0].shape, &labels = operands[1].shape;
    for (int axis = 0; axis < labels.rank; ++axis) {
      work.add_axis({.extent = probs[axis], .kind = none ? WorkAxisKind::parallel : WorkAxisKind::reduction});
      for (int o = 0; o < static_cast<int>(operands.size()); ++o)
        if (const Shape& shape = operands[static_cast<std::size_t>(o)].shape;
            o != all_labels && o != whole && (shape == probs || shape == labels))
          work.follow(o, axis, axis);
    }
    return work;
  }

  /// Returns the class of a row's label, or -1 if it is ignored or not a class.
  template <class J>
  static std::int64_t class_of(J label, std::int64_t classes, const Attributes& attributes) {
    const auto value = static_cast<std::int64_t>(label);
    return value >= classes || (attributes.ignores != 0 && value == attributes.ignore_index) ? -1 : value;
  }
  /// Calls f(offsets) for each row, with the row's offset in each operand; 0 for an operand without rows.
  template <class P, class... V, class F>
  static void for_each_row(F&& f) {
    static constexpr auto strides = [] {
      std::array<std::array<std::int64_t, max_rank>, 1 + sizeof...(V)> result{};
      std::size_t operand = 0;
      const auto add = [&](const ViewSpec& view) {
        if (view.shape.rank + 1 >= P::shape.rank)
          for (int axis = 0; axis + 1 < P::shape.rank; ++axis)
            result[operand][static_cast<std::size_t>(axis)] = view.stride(axis);
        ++operand;
      };
      add(P::spec);
      (add(V::spec), ...);
      return result;
    }();
    static constexpr Shape rows = [] {
      Shape result;
      for (int axis = 0; axis + 1 < P::shape.rank; ++axis) result.push_back(P::shape[axis]);
      return result;
    }();
    for_each_offset<1 + sizeof...(V)>(rows, strides, f);
  }
  template <PackedAttributes packed, class P, class Labels>
  static void check_labels(Faults faults, P, Labels labels) {
    constexpr auto attributes = unpack<Attributes>(packed);
    for_each_row<P, Labels>([&](const auto& at) {
      const auto value = static_cast<std::int64_t>(labels.data[at[1]]);
      if ((value < 0 || value >= P::shape[-1]) && !(attributes.ignores != 0 && value == attributes.ignore_index))
        faults.report(value);
    });
  }
  /// Returns the divisor of the sum of the losses.
  template <class Labels>
  static double divisor(Labels all_labels, std::int64_t classes, const Attributes& attributes) {
    if (attributes.reduction != Reduction::mean) return 1;
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < Labels::shape.nelms(); ++row) {
      // Not by class_of: GCC 14 then counts wrongly with AVX-512.
      const auto label = static_cast<std::int64_t>(all_labels.data[row]);
      count += label >= 0 && label < classes && !(attributes.ignores != 0 && label == attributes.ignore_index);
    }
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  }
};

/// Base of losses: inputs (rows, labels). D defines row_loss<classes, attributes>(row, label), a double.
template <class D>
struct ClassLoss : ClassLossOp<D> {
  static constexpr void infer(Inference& op) {
    if (D::validate(op)) op.output(D::loss_spec(op));
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return D::label_fault(operands);
  }
  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute_checked(Faults faults, X x, L labels, Rest... rest);
  template <PackedAttributes A, class X, class L, class Loss>
  static void compute(X x, L labels, Loss loss);
  template <PackedAttributes A, class X, class L, class All, class Loss>
  static void compute(X x, L labels, All all_labels, Loss loss);
};

/// Base of gradients of losses: inputs (rows, labels, dloss). D defines row_gradient<classes, attributes>(row, label, factor,
/// to).
template <class D>
struct ClassLossGrad : ClassLossOp<D> {
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <PackedAttributes A, class X, class L, class DLoss, class DX>
  static void compute(X x, L labels, DLoss dloss, DX dx);
  template <PackedAttributes A, class X, class L, class DLoss, class All, class DX>
  static void compute(X x, L labels, DLoss dloss, All all_labels, DX dx);
};

namespace detail {
/// Gradient rule of D, the gradient op of a loss, for its input dloss, in which D is linear.
template <class D>
constexpr void differentiate_dloss(GradientContext& op) {
  if (!op.needs(2)) return;
  const TensorSpec dloss = op.input_spec(2);
  const DType computed = computed_dtype(dloss.dtype);
  List<Tensor> inputs;
  for (int i = 0; i < op.input_count(); ++i) inputs.push_back(op.input(i));
  inputs[2] = op.ir().constant(List<double>{1}, dloss.shape, dloss.dtype);
  const auto attributes = op.attributes<typename D::Attributes>();
  const Tensor dx = at_or_invalid(op.ir(), apply_all<D>(op.ir(), inputs, attributes), 0);
  const Tensor product = dx.cast(computed) * op.output_gradient(0).cast(computed);
  Axes axes;  // no conditional operator: GCC 12 destroys its temporaries twice in constant expressions
  if (attributes.reduction == Reduction::none) axes = Axes(-1);
  op.input_gradient(2, ops::sum(product, axes).cast(dloss.dtype));
}
/// Returns 1 for each label, and 0 for ignored ones.
template <class Attributes>
constexpr Tensor counted_labels(Tensor labels, const Attributes& attributes, DType dtype) {
  if (attributes.ignores == 0) return labels.ir().constant(List<double>{1}, labels.shape(), dtype);
  return ops::not_equal(labels.cast(int64), attributes.ignore_index).cast(dtype);
}
/// Returns the gradients of the losses of rows: dloss. For a mean, it is divided by the sum of weights, or by 1 if that is 0.
constexpr Tensor gradient_of_rows(Tensor dloss, Tensor weights, Reduction reduction) {
  const Tensor wide = dloss.cast(weights.dtype());
  if (reduction != Reduction::mean) return wide;
  const Tensor total = ops::sum(weights);
  return wide / ops::where(ops::equal(total, 0), 1, total);
}
}  // namespace detail

/// Base of ops with a loss and the gradient of logits: inputs (rows, labels[, loss_grad]), results (loss, dx). dx is multiplied
/// by loss_grad and divided like the loss; the loss is not multiplied. D defines row_loss_and_gradient<classes, attributes>(row,
/// label, factor, to), which returns the loss.
template <class D>
struct ClassLossWithGrad : ClassLossOp<D> {
  static constexpr void infer(Inference& op) {
    if (!D::validate(op)) return;
    if (op.input_count() == 3 && (op.input(2).nelms() != 1 || !is_floating_point(op.input(2).dtype)))
      return op.fail("loss_grad ", to_text(op.input(2)), ": one element of floating point expected");
    if (!op.require_number(D::factor_name, op.template attributes<NllAttributes>().loss_grad, float64)) return;
    op.output(D::loss_spec(op));
    op.output(op.input(0));
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return D::label_fault(operands);
  }
  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute_checked(Faults faults, X x, L labels, Rest... rest);
  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute(X x, L labels, Rest... rest);
};

/// A loss, and the gradient of the loss's input.
struct LossAndGradient {
  Tensor loss, gradient;
};

namespace detail {
/// Applies a ClassLossWithGrad.
template <class D>
constexpr LossAndGradient loss_and_gradient(Span<const Tensor> inputs, const NllAttributes& attributes) {
  const auto results = apply_all<D>(inputs[0].ir(), inputs, attributes);
  return {at_or_invalid(inputs[0].ir(), results, 0), at_or_invalid(inputs[0].ir(), results, 1)};
}
}  // namespace detail

}  // namespace tilewright
