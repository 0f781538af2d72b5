#pragma once
#include "tilewright/kernel/softmax.hpp"
#include "tilewright/ops/nn/weighted_cross_entropy.hpp"

namespace tilewright {

namespace detail {
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
      const T largest = exponentials.largest * unit, rest = math::log(exponentials.sum) * unit;
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
    const auto p = static_cast<double>(math::exp(logit - exponentials.largest) / exponentials.sum);
    const double smoothed = smooths ? of_class * (p * all_weights(weight) - weight_of(weight, label)) : 0;
    dx.data[label] = static_cast<typename DX::Element>(static_cast<T>(factor * ((p - 1) * of_this + smoothed)));
  }
};
}  // namespace detail

template <PackedAttributes, class X, class... V>
constexpr std::int64_t WeightedCrossEntropyGrad::stack_bytes() {
  return kernel::softmax_stack_bytes<X::shape[-1], typename X::element>;
}

template <PackedAttributes A, class X, class L, class DLoss, class... Rest>
inline void WeightedCrossEntropyGrad::compute(X x, L labels, DLoss dloss, Rest... rest) {
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

template <PackedAttributes A, class X, class L, class... Rest>
inline void WeightedCrossEntropy::compute_checked(Faults faults, X x, L labels, Rest... rest) {
  check_labels<A>(faults, x, labels);
  compute<A>(x, labels, rest...);
}

template <PackedAttributes A, class X, class L, class... Rest>
inline void WeightedCrossEntropy::compute(X x, L labels, Rest... rest) {
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

}  // namespace tilewright
