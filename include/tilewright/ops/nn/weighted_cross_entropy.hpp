#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/nn/cross_entropy.hpp"

namespace tilewright {

struct CrossEntropyOptions {
  std::optional<std::int64_t> ignore_index{};  ///< labels of this value are ignored
  Reduction reduction = Reduction::mean;  ///< mean divides by the sum of the weights of the labels that are not ignored
  double label_smoothing = 0;  ///< from 0 to 1: part of a label's probability that all classes share
  Tensor weight{};  ///< (classes,), the weight of each class; none: 1 each
};

namespace detail {
struct WeightedCrossEntropyAttributes {
  Reduction reduction = Reduction::mean;
  std::int64_t ignores = 0;
  std::int64_t ignore_index = 0;
  std::int64_t has_weight = 0;
  double label_smoothing = 0;
};

/// Terms of a row's loss and gradient. With s = log(sum(exp(x))), y the label, w the classes' weights, C their number and e the
/// label smoothing, the loss is of(label) (s - x[y]) + sum over c of of_class w[c] (s - x[c]), of(label) = (1 - e) w[y] and
/// of_class = e / C.
template <std::int64_t classes, WeightedCrossEntropyAttributes attributes>
struct WeightedRows {
  static constexpr double of_class = attributes.label_smoothing / static_cast<double>(classes);
  static constexpr bool smooths = attributes.label_smoothing != 0;
  static constexpr bool has_weight = attributes.has_weight != 0;

  template <class W>
  static double weight_of(W weight, std::int64_t label) {
    if constexpr (has_weight) return static_cast<double>(weight.data[label]);
    else return 1;
  }
  template <class W>
  static double of_label(W weight, std::int64_t label) {
    return (1 - attributes.label_smoothing) * weight_of(weight, label);
  }
  /// Returns the sum of all classes' weights.
  template <class W>
  static double all_weights(W weight) {
    if constexpr (has_weight)
      return static_cast<double>(kernel::line_sum<classes>([](const auto& w) { return w; }, line_of(weight)));
    else return static_cast<double>(classes);
  }
  template <class W>
  static auto line_of(W weight) {
    return kernel::Line<typename W::element, 1>{weight.data};
  }

  template <class X, class W>
  static double loss(X logits, W weight, std::int64_t label) {
    using T = typename X::Compute;
    const double of_this = of_label(weight, label);
    if (!smooths && of_this == 0) return 0;  // whatever the logits are
    const auto exponentials = kernel::exponential_sum<classes>(logits);
    double result = of_this == 0 ? 0 : of_this * cross_entropy_of(exponentials, static_cast<T>(logits.data[label]));
    if constexpr (smooths) {
      // in 2^-40ths, of which no sum leaves the range where the loss does not
      constexpr T unit = 0x1p-40;
      const T largest = exponentials.largest * unit, rest = std::log(exponentials.sum) * unit;
      const auto of_one = [=]<class Batch>(const Batch& x) { return math::fma(Batch(-unit), x, Batch(largest)) + Batch(rest); };
      double sum = 0;
      if constexpr (has_weight) {
        const auto weighted = [=]<class Batch>(const Batch& x, const Batch& w) {
          return math::select(w == Batch(T(0)), Batch(T(0)), w * of_one(x));
        };
        sum = static_cast<double>(kernel::line_sum<classes>(weighted, logits, line_of(weight)));
      } else {
        sum = static_cast<double>(kernel::line_sum<classes>(of_one, logits));
      }
      result += of_class * sum * 0x1p40;
    }
    return result;
  }

  /// Computes dx = factor (softmax(x) (of(label) + of_class sum(w)) - of(label) onehot(label) - of_class w), rounded once.
  template <class X, class W, class DX>
  static void gradient(X logits, W weight, std::int64_t label, double factor, DX dx) {
    using T = typename X::Compute;
    const double of_this = of_label(weight, label), total = of_this + (smooths ? of_class * all_weights(weight) : 0);
    if (total == 0 && !smooths) return std::fill_n(dx.data, classes, typename DX::Element(0)), void();
    const T logit = static_cast<T>(logits.data[label]);  // dx may lie where the logits do
    const auto scale = static_cast<T>(total * factor), share = static_cast<T>(of_class * factor);
    const auto less_share = [=](const auto& x, const auto& w) { return x - share * w; };
    kernel::ExponentialSum<T> exponentials{};
    if constexpr (!smooths) {
      exponentials = kernel::softmax_line<classes>(logits, dx, scale);
    } else if constexpr (std::is_same_v<typename DX::Element, T>) {
      exponentials = kernel::softmax_line<classes>(logits, dx, scale);
      if constexpr (has_weight) kernel::line_assign<classes>(less_share, dx, dx, line_of(weight));
      else kernel::line_assign<classes>([=](const auto& x) { return x - share; }, dx, dx);
    } else {
      exponentials = kernel::exponential_sum<classes>(logits);
      const auto part = [=, largest = exponentials.largest, by = scale / exponentials.sum](const auto& x) {
        return math::exp(x - largest) * by;
      };
      if constexpr (has_weight)
        kernel::line_assign<classes>([=](const auto& x, const auto& w) { return less_share(part(x), w); }, dx, logits,
                                     line_of(weight));
      else kernel::line_assign<classes>([=](const auto& x) { return part(x) - share; }, dx, logits);
    }
    const auto p = static_cast<double>(std::exp(logit - exponentials.largest) / exponentials.sum);
    const double smoothed = smooths ? of_class * (p * all_weights(weight) - weight_of(weight, label)) : 0;
    dx.data[label] = static_cast<typename DX::Element>(static_cast<T>(factor * ((p - 1) * of_this + smoothed)));
  }
};
}  // namespace detail

/// Base of WeightedCrossEntropy and its gradient.
template <class D>
struct WeightedCrossEntropyOp : ClassLossOp<D, detail::WeightedCrossEntropyAttributes> {
  using Base = ClassLossOp<D, detail::WeightedCrossEntropyAttributes>;
  using typename Base::Attributes;
  static constexpr std::string_view rows_are = "logits";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }

  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return Base::rows_work(operands, input_count, packed, unpack<Attributes>(packed).has_weight != 0 ? D::weight_input : -1);
  }
  /// Returns the divisor of the sum of the losses: the sum of the weights of all labels that are not ignored, or 1 if that sum is
  /// 0.
  template <class Labels, class W>
  static double divisor(Labels all_labels, W weight, std::int64_t classes, const Attributes& attributes) {
    if (attributes.reduction != Reduction::mean) return 1;
    double total = 0;
    for (std::int64_t row = 0; row < Labels::shape.nelms(); ++row) {
      // Not by class_of: GCC 14 then counts wrongly with AVX-512.
      const auto label = static_cast<std::int64_t>(all_labels.data[row]);
      if (label < 0 || label >= classes || (attributes.ignores != 0 && label == attributes.ignore_index)) continue;
      if (attributes.has_weight != 0) total += static_cast<double>(weight.data[label]);
      else total += 1;
    }
    return total == 0 ? 1 : total;
  }
};

/// The gradient of WeightedCrossEntropy: inputs (logits, labels, dloss[, weight]).
struct WeightedCrossEntropyGrad : WeightedCrossEntropyOp<WeightedCrossEntropyGrad> {
  static constexpr std::string_view name = "WeightedCrossEntropyGrad";
  static constexpr int weight_input = 3;
  /// The loops of Softmax, and one over the result.
  constexpr operator VertexCost() const { return line_cost(7, {22, 2}, {20, 4}); }
  template <PackedAttributes, class X, class... V>
  static constexpr std::int64_t stack_bytes() {
    return kernel::softmax_stack_bytes<X::shape[-1], typename X::element>;
  }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <PackedAttributes A, class X, class L, class DLoss, class... Rest>
  static void compute(X x, L labels, DLoss dloss, Rest... rest) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr std::int64_t classes = X::shape[-1];
    constexpr std::size_t weights = attributes.has_weight != 0 ? 1 : 0, last = sizeof...(Rest) - 1;
    const std::tuple<L, Rest...> operands(labels, rest...);
    const auto weight = std::get<weights>(operands);
    const auto all_labels = std::get<(last > weights ? 1 + weights : 0)>(operands);
    const auto dx = std::get<1 + last>(operands);
    const double scale = 1 / divisor(all_labels, weight, classes, attributes);
    for_each_row<X, L, DLoss, std::remove_cvref_t<decltype(dx)>>([&](const auto& at) {
      using T = typename std::remove_cvref_t<decltype(dx)>::element;
      const kernel::Line<T, 1> dx_row{dx.data + at[3]};
      const auto label = class_of(labels.data[at[1]], classes, attributes);
      if (label < 0) std::fill_n(dx_row.data, classes, T(0));
      else
        detail::WeightedRows<classes, attributes>::gradient(kernel::Line<typename X::element, 1>{x.data + at[0]}, weight, label,
                                                            static_cast<double>(dloss.data[at[2]]) * scale, dx_row);
    });
  }
};

/// Negative log-likelihood of smoothed labels with weights of classes, from logits: inputs (logits, labels[, weight]).
struct WeightedCrossEntropy : WeightedCrossEntropyOp<WeightedCrossEntropy> {
  static constexpr std::string_view name = "WeightedCrossEntropy";
  static constexpr int weight_input = 2;
  constexpr operator VertexCost() const { return line_cost(3, {14, 2}, {13, 4}); }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return label_fault(operands);
  }
  static constexpr void infer(Inference& op) {
    if (!validate(op)) return;
    const auto attributes = op.attributes<Attributes>();
    if (!(attributes.label_smoothing >= 0 && attributes.label_smoothing <= 1))
      return op.fail("label_smoothing ", number_text(attributes.label_smoothing), ": a number from 0 to 1 expected");
    if (attributes.has_weight != 0) {
      const TensorSpec &logits = op.input(0), &weight = op.input(2);
      const Shape expected{logits.shape[-1]};
      if (weight.shape != expected || (weight.dtype != logits.dtype && !(is_half(logits.dtype) && weight.dtype == float32)))
        return op.fail("weight ", to_text(weight), " for logits ", to_text(logits), ": ", to_text(expected), " ",
                       to_text(logits.dtype), is_half(logits.dtype) ? " or float32" : "", " expected");
    }
    op.output(loss_spec(op));
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Tensor logits = op.input(0), labels = op.input(1), dloss = op.output_gradient(0);
    const auto attributes = op.attributes<Attributes>();
    op.input_gradient(0, attributes.has_weight != 0
                             ? apply<WeightedCrossEntropyGrad>({logits, labels, dloss, op.input(weight_input)}, attributes)
                             : apply<WeightedCrossEntropyGrad>({logits, labels, dloss}, attributes));
  }

  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute_checked(Faults faults, X x, L labels, Rest... rest) {
    check_labels<A>(faults, x, labels);
    compute<A>(x, labels, rest...);
  }
  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute(X x, L labels, Rest... rest) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr std::int64_t classes = X::shape[-1];
    constexpr std::size_t weights = attributes.has_weight != 0 ? 1 : 0, last = sizeof...(Rest) - 1;
    const std::tuple<L, Rest...> operands(labels, rest...);
    const auto weight = std::get<weights>(operands);
    const auto all_labels = std::get<(last > weights ? 1 + weights : 0)>(operands);
    const auto loss = std::get<1 + last>(operands);
    using Element = typename std::remove_cvref_t<decltype(loss)>::element;
    double total = 0;
    for_each_row<X, L, std::remove_cvref_t<decltype(loss)>>([&](const auto& at) {
      const auto label = class_of(labels.data[at[1]], classes, attributes);
      const double value = label < 0 ? 0
                                     : detail::WeightedRows<classes, attributes>::loss(
                                           kernel::Line<typename X::element, 1>{x.data + at[0]}, weight, label);
      if constexpr (attributes.reduction == Reduction::none) loss.data[at[2]] = static_cast<Element>(value);
      total += value;
    });
    if constexpr (attributes.reduction != Reduction::none)
      loss.data[0] = static_cast<Element>(total / divisor(all_labels, weight, classes, attributes));
  }
};

namespace ops {
/// Returns the cross entropy of smoothed labels with weights of classes, as PyTorch. logits: (..., classes), float16, bfloat16,
/// float32 or float64; labels: (...), int32 or uint32; weight: (classes,), of the logits' dtype, or float32 for half precision.
/// Result: a scalar, or (...) without a reduction, in logits' dtype. With s = log(sum(exp(x))), y the label, w the weights, C the
/// number of classes and e the label smoothing, a row's loss is (1 - e) w[y] (s - x[y]) + e / C sum over c of w[c] (s - x[c]). A
/// mean divides the sum of the rows by the sum of w[y], or by 1 if that is 0. A term with a weight of 0 is 0, even if its loss is
/// infinite. Ignored labels and labels that are not a class follow the rules of nll_loss. Gradient of the logits, rounded once:
/// dloss times (softmax(x) ((1 - e) w[y] + e / C sum(w)) - (1 - e) w[y] onehot(y) - e / C w), divided by the divisor of the mean;
/// none for the weight.
///
///     loss = ops::cross_entropy(logits, labels, {.label_smoothing = 0.1});
template <std::same_as<CrossEntropyOptions> Options = CrossEntropyOptions>
constexpr Tensor cross_entropy(Tensor logits, Tensor labels, const Options& options) {
  const bool has_weight = options.weight.valid();
  if (!has_weight && options.label_smoothing == 0)
    return cross_entropy(logits, labels, NllOptions{.ignore_index = options.ignore_index, .reduction = options.reduction});
  const detail::WeightedCrossEntropyAttributes attributes{options.reduction, options.ignore_index.has_value(),
                                                          options.ignore_index.value_or(0), has_weight, options.label_smoothing};
  if (!has_weight) return apply<WeightedCrossEntropy>({logits, labels}, attributes);
  return apply<WeightedCrossEntropy>({logits, labels, options.weight}, attributes);
}
}  // namespace ops

}  // namespace tilewright
