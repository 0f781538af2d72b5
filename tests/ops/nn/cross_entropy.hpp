#pragma once
#include "../op_test.hpp"
#include "nll_loss.hpp"

namespace op_tests {

/// Also of smoothed labels and weights of classes.
struct CrossEntropy : OpTest {
  static constexpr std::string_view op = "CrossEntropy";
  static constexpr auto cross_entropy(const tw::NllOptions& options = {}) {
    return [options](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, options); };
  }
  static constexpr auto cross_entropy_by(tw::Reduction reduction) { return cross_entropy({.reduction = reduction}); }
  static constexpr auto cross_entropy_with_grad(const tw::NllOptions& options) {
    return [options](Tensor x, Tensor labels, Tensor scaling) {
      return NllLoss::both(ops::cross_entropy_with_grad(x, labels, scaling, options));
    };
  }
  static constexpr auto both(const tw::LossAndGradient& results) { return NllLoss::both(results); }
  /// Cross entropy. With `classes` above 0, each class has a weight: the constants of make_losses.py.
  static constexpr auto cross_entropy_of(int classes, const tw::CrossEntropyOptions& given) {
    return [classes, given](Tensor x, Tensor labels) {
      tw::CrossEntropyOptions options = given;
      tw::List<double> weights;
      if (classes == 3) weights = {0.5, 2, 1.25};
      else if (classes == 5) weights = {1.5, 0, 0.25, 3, 1};
      else
        for (int i = 0; i < classes; ++i) weights.push_back((7 * i % 16) / 8.0);
      if (classes > 0) options.weight = x.ir().constant(weights, {classes}, x.dtype());
      return ops::cross_entropy(x, labels, options);
    };
  }
  /// The loss of logits and labels and, if the op has it, the gradient of the logits.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    std::vector<Array> with_probabilities(inputs.begin(), inputs.end());
    Array& rows = with_probabilities[0];
    const std::size_t classes = at(rows.extent(-1));
    for (std::size_t first = 0; first < rows.size(); first += classes) {
      double total = 0;
      for (std::size_t c = 0; c < classes; ++c) total += rows[first + c] = std::exp(rows[first + c]);
      for (std::size_t c = 0; c < classes; ++c) rows[first + c] /= total;
    }
    return NllLoss::value(node, with_probabilities, outputs);
  }
  /// The loss of logits, smoothed labels and weights of classes.
  static std::vector<Array> weighted(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::WeightedCrossEntropy::Attributes>(node.attributes);
    const Array &logits = inputs[0], &labels = inputs[1];
    const std::size_t classes = at(logits.extent(-1));
    const auto weight = [&](std::size_t c) { return inputs.size() > 2 ? inputs[2][c] : 1; };
    Array result(outputs[0]);
    double weights = 0, total = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      if (attributes.ignores != 0 && labels[row] == real(attributes.ignore_index)) continue;
      const std::size_t label = at(static_cast<std::int64_t>(labels[row]));
      double exponentials = 0, loss = 0;
      for (std::size_t c = 0; c < classes; ++c) exponentials += std::exp(logits[row * classes + c]);
      for (std::size_t c = 0; c < classes; ++c) {
        const double share = attributes.label_smoothing / real(classes) + (c == label ? 1 - attributes.label_smoothing : 0);
        loss += weight(c) * share * (std::log(exponentials) - logits[row * classes + c]);
      }
      weights += weight(label);
      total += loss;
      if (attributes.reduction == tw::Reduction::none) result[row] = loss;
    }
    const bool divides = attributes.reduction == tw::Reduction::mean && weights != 0;
    if (attributes.reduction != tw::Reduction::none) result[0] = divides ? total / weights : total;
    return {result};
  }
  static constexpr auto smoothed = [](Tensor x, Tensor labels, Tensor weight) {
    return ops::cross_entropy(x, labels, {.reduction = tw::Reduction::none, .label_smoothing = 0.1, .weight = weight});
  };
  static void meanings(auto& m) {
    m[op] = m["CrossEntropyWithGrad"] = value;
    m["WeightedCrossEntropy"] = weighted;
  }
  static constexpr void compared(In<softmax_and_losses>, const auto& c) {
    c.add("cross_entropy", cross_entropy({.ignore_index = 0}), f32(4, 3), i32(4));
    c.add_forward(
        "cross_entropy_with_grad", [](Tensor x, Tensor labels) { return both(ops::cross_entropy_with_grad(x, labels, 4)); },
        f32(4, 3), i32(4));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("double_cross_entropy", cross_entropy({.ignore_index = 0}), f64(4, 3), i32(4));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("half_cross_entropy", cross_entropy({.reduction = tw::Reduction::sum}), f16(4, 3), i32(4));
    c.add_forward("half_cross_entropy_with_grad", cross_entropy_with_grad({.reduction = tw::Reduction::sum}), f16(4, 3), i32(4),
                  f32());
  }
  static constexpr void compared(In<other_networks>, const auto& c) {
    c.add("cross_entropy_sum", cross_entropy({.reduction = tw::Reduction::sum}), f32(4, 3), i32(4));
    c.add_forward("cross_entropy_with_grad_uint32", cross_entropy_with_grad({.reduction = tw::Reduction::sum}), f32(4, 3), u32(4),
                  f32());
    c.add_forward("cross_entropy_with_grad_tensor", cross_entropy_with_grad({}), f32(4, 3), i32(4), f32());
    c.add_forward("double_cross_entropy_with_grad", cross_entropy_with_grad({.reduction = tw::Reduction::none}), f64(4, 3),
                  i32(4), f64());
  }
  static constexpr void compared(In<smooth_losses>, const auto& c) {
    using enum tw::Reduction;
    c.add("ce_mean_smoothed", cross_entropy_of(0, {.label_smoothing = 0.1}), c.real({6, 3}), i32(6));
    c.add("ce_none_smoothed", cross_entropy_of(0, {.reduction = none, .label_smoothing = 0.5}), c.real({2, 3, 40}), i32(2, 3));
    c.add("ce_mean_weight", cross_entropy_of(3, {}), c.real({6, 3}), i32(6));
    c.add("ce_sum_weight", cross_entropy_of(40, {.reduction = sum}), c.real({4, 40}), i32(4));
    c.add("ce_none_weight", cross_entropy_of(5, {.reduction = none}), c.real({5, 5}), i32(5));
    c.add("ce_mean_both", cross_entropy_of(5, {.label_smoothing = 0.25}), c.real({5, 5}), i32(5));
    c.add("ce_sum_both", cross_entropy_of(40, {.reduction = sum, .label_smoothing = 0.1}), c.real({4, 40}), i32(4));
    c.add("ce_mean_ignored", cross_entropy_of(3, {.ignore_index = 1, .label_smoothing = 0.2}), c.real({2, 4, 3}), i32(2, 4));
    c.add("ce_mean_smoothed_ignored", cross_entropy_of(0, {.ignore_index = -100, .label_smoothing = 0.2}), c.real({4, 3}),
          i32(4));
    c.add("ce_smoothed_away", cross_entropy_of(5, {.label_smoothing = 1}), c.real({4, 5}), i32(4));
  }
  static constexpr void compared(In<losses_at_their_edges>, const auto& c) {
    using enum tw::Reduction;
    c.add("ce_weight", cross_entropy_of(3, {.reduction = none}), c.real({4, 3}), i32(4));
    c.add("ce_smoothed", cross_entropy_of(0, {.reduction = none, .label_smoothing = 0.1}), c.real({4, 3}), i32(4));
    c.add("ce_both", cross_entropy_of(3, {.reduction = none, .label_smoothing = 0.1}), c.real({4, 3}), i32(4));
    c.add("ce_no_weight", cross_entropy_of(5, {}), c.real({4, 5}), i32(4));
  }
  static constexpr void compared(In<losses_of_many_rows>, const auto& c) {
    c.add("ce_mean", cross_entropy_of(5, {.ignore_index = 2, .label_smoothing = 0.25}), c.real({130, 5}), i32(130));
    c.add("ce_none", cross_entropy_of(5, {.reduction = tw::Reduction::none}), c.real({5, 26, 5}), i32(5, 26));
  }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add(
        "view_cross_entropy", [](Tensor t, Tensor labels) { return ops::cross_entropy(t.T(), labels[every_second]); }, f32(5, 9),
        i32(18));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_cross_entropy", cross_entropy({}), f32(1, 1), i32(1));
    c.add("line_cross_entropy", cross_entropy({}), f32(5), i32());
  }
  static constexpr void compared(In<second_of_losses>, const auto& c) {
    const auto of_labels = [](auto loss) {
      return [loss](Tensor x) { return loss(x, x.ir().constant({2, 0, 1, 2}, {4}, tw::int32)); };
    };
    c.add("cross_entropy", of_labels(cross_entropy({.ignore_index = 1})), f64(4, 3));
    c.add("cross_entropy_none", of_labels(cross_entropy({.reduction = tw::Reduction::none})), f64(4, 3));
    c.add("cross_entropy_weight", of_labels(cross_entropy_of(3, {.ignore_index = 0, .label_smoothing = 0.25})), f64(4, 3));
  }
  static constexpr void compared(In<losses_at_edges>, const auto& c) {
    const auto with_grad = [](Tensor x, Tensor labels) {
      const auto both = ops::cross_entropy_with_grad(x, labels);
      return std::array{both.loss, both.gradient};
    };
    c.add("cross_entropy_none", cross_entropy_by(tw::Reduction::none), c.real({4, 3}), i32(4));
    c.add("cross_entropy_sum", cross_entropy_by(tw::Reduction::sum), c.real({4, 3}), i32(4));
    c.add_forward("cross_entropy_with_grad", with_grad, c.real({4, 3}), i32(4));
  }
  static constexpr void compared(In<float16_at_edges>, const auto& c) {
    c.add("cross_entropy_scaled", cross_entropy_by(tw::Reduction::none), c.real({4, 3}), i32(4));
  }
  static constexpr void compared(In<exact_functions_and_losses>, const auto& c) {
    c.add("exact_cross_entropy", cross_entropy(), f64(4, 3), i32(4));
  }
  static constexpr void edges(const auto& c) {
    c.add("cross_entropy_none", cross_entropy({.reduction = tw::Reduction::none}), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_sum", cross_entropy({.reduction = tw::Reduction::sum}), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_mean", cross_entropy({}), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_ignored", cross_entropy({.ignore_index = 2}), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_one_of_many", cross_entropy({.reduction = tw::Reduction::sum}), c.real({2, 40}), c.ints({2}));
    using enum tw::Reduction;
    const auto weighted = [](double label_smoothing, bool has_weight) {
      return [=](Tensor t, Tensor of) {
        tw::CrossEntropyOptions options{.reduction = none, .label_smoothing = label_smoothing};
        if (has_weight) options.weight = t.ir().constant({0.5, 2, 1.25}, {3}, t.dtype());
        return ops::cross_entropy(t, of, options);
      };
    };
    c.add("cross_entropy_weighted", weighted(0, true), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_smoothed", weighted(0.25, false), c.real({4, 3}), c.ints({4}));
    c.add("cross_entropy_weighted_and_smoothed", weighted(0.25, true), c.real({4, 3}), c.ints({4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 8), smoothed, f16(2, 8, 10), i32(2, 8), f32(10));
    s.error("WeightedCrossEntropy: weight (10,) float16 for logits (2, 8, 10) float32: (10,) float32 expected, in graph",
            smoothed, f32(2, 8, 10), i32(2, 8), f16(10));
  }
  static void numbers(auto& list) {
    list.real("cross_entropy_with_grad.loss_scaling", list.finite_only, [](auto& s, auto n) {
      return ops::cross_entropy_with_grad(s.x.reshape({8, 36}), s.tensor({8}, tw::int32), n).gradient;
    });
    list.whole("NllOptions.ignore_index", list.everything, [](auto& s, auto n) {
      return ops::cross_entropy(s.x.reshape({8, 36}), s.tensor({8}, tw::int32), {.ignore_index = n});
    });
    list.whole("CrossEntropyOptions.ignore_index", list.everything, [](auto& s, auto n) {
      return ops::cross_entropy(s.x.reshape({8, 36}), s.tensor({8}, tw::int32), {.ignore_index = n, .label_smoothing = 0.5});
    });
    list.real("CrossEntropyOptions.label_smoothing", list.part, [](auto& s, auto n) {
      return ops::cross_entropy(s.x.reshape({8, 36}), s.tensor({8}, tw::int32), {.label_smoothing = n});
    });
  }
  static constexpr void handles(auto& list) {
    list.add("cross_entropy", [] { (void)ops::cross_entropy(Tensor(), Tensor()); });
    list.add("cross_entropy_with_grad", [] { (void)ops::cross_entropy_with_grad(Tensor(), Tensor()); });
    list.add("cross_entropy_with_grad", [] { (void)ops::cross_entropy_with_grad(Tensor(), Tensor(), Tensor()); });
    list.add("cross_entropy", [] { (void)ops::cross_entropy(Tensor(), Tensor(), {.label_smoothing = 0.1}); });
  }
};

}  // namespace op_tests
