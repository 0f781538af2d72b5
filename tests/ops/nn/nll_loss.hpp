#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct NllLoss : OpTest {
  static constexpr std::string_view op = "Nll";
  static constexpr auto both(const tw::LossAndGradient& results) { return std::array{results.loss, results.gradient}; }
  static constexpr auto nll_loss = [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); };
  /// The loss of probabilities and labels and, if the op has it, the gradient of what the probabilities are the softmax of.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::NllAttributes>(node.attributes);
    const Array &probabilities = inputs[0], &labels = inputs[1];
    const double loss_grad = inputs.size() > 2 ? inputs[2][0] : attributes.loss_grad;
    const std::size_t classes = at(probabilities.extent(-1));
    std::vector<Array> results{Array(outputs[0])};
    if (outputs.size() > 1) results.push_back(Array(outputs[1]));
    const auto counts = [&](std::size_t row) { return attributes.ignores == 0 || labels[row] != real(attributes.ignore_index); };
    double count = 0, total = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) count += counts(row);
    const double divisor = attributes.reduction == tw::Reduction::mean ? std::max(count, 1.0) : 1;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      if (!counts(row)) continue;
      const double p = probabilities[row * classes + at(static_cast<std::int64_t>(labels[row]))];
      const double loss = attributes.log_prob != 0 ? -p : -std::log(p);
      total += loss;
      if (attributes.reduction == tw::Reduction::none) results[0][row] = loss;
      for (std::size_t c = 0; outputs.size() > 1 && c < classes; ++c)
        results[1][row * classes + c] = (probabilities[row * classes + c] - (real(c) == labels[row])) * loss_grad / divisor;
    }
    if (attributes.reduction != tw::Reduction::none) results[0][0] = total / divisor;
    return results;
  }
  static constexpr auto nll(const tw::NllOptions& options = {}) {
    return [options](Tensor probs, Tensor labels) { return ops::nll_loss(probs, labels, options); };
  }
  static void meanings(auto& m) { m[op] = m["NlllWithSoftmaxGradDirect"] = value; }
  static constexpr void compared(In<softmax_and_losses>, const auto& c) {
    const auto loss_and_gradient = [](double scale, const tw::NllOptions& options) {
      return [=](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale, options)); };
    };
    c.add("nll_loss", nll({}), f32(4, 3), i32(4));
    c.add("nll_loss_sum", nll({.reduction = tw::Reduction::sum}), f32(4, 3), i32(4));
    c.add("nll_loss_none", nll({.reduction = tw::Reduction::none}), f32(2, 2, 3), i32(2, 2));
    c.add("nll_loss_ignore", nll({.ignore_index = 2}), f32(4, 3), i32(4));
    c.add("nll_loss_log_prob", nll({.log_prob = true}), f32(4, 3), i32(4));
    c.add_forward("loss_grad", loss_and_gradient(1, {}), f32(4, 3), i32(4));
    c.add_forward("loss_grad_scaled", loss_and_gradient(8, {.reduction = tw::Reduction::sum}), f32(4, 3), i32(4));
    c.add_forward("loss_grad_none", loss_and_gradient(1, {.reduction = tw::Reduction::none}), f32(4, 3), i32(4));
    c.add_forward("loss_grad_ignore", loss_and_gradient(1, {.ignore_index = 2}), f32(4, 3), i32(4));
    c.add_forward(
        "loss_grad_tensor",
        [](Tensor p, Tensor labels, Tensor scale) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale)); }, f32(4, 3),
        i32(4), f32());
  }
  static constexpr void compared(In<half_precision>, const auto& c) {
    c.add("half_nll_loss", nll_loss, f16(4, 3), i32(4));
    c.add("half_nll_loss_small", nll_loss, f16(4, 3), i32(4));
    c.add_forward(
        "half_loss_grad", [](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, 16)); }, f16(4, 3),
        i32(4));
  }
  static constexpr void compared(In<other_gradients>, const auto& c) { c.add("nll_loss_small", nll_loss, f32(4, 3), i32(4)); }
  static constexpr void compared(In<losses_in_parts>, const auto& c) {
    const auto with_gradient = [](const tw::LossAndGradient& both) { return std::array{both.loss, both.gradient}; };
    c.add("parts_nll_mean", nll({}), f32(130, 5), i32(130));
    c.add("parts_nll_sum", nll({.reduction = tw::Reduction::sum}), f32(130, 5), i32(130));
    c.add("parts_nll_ignore", nll({.ignore_index = 2}), f32(130, 5), i32(130));
    c.add("parts_nll_axes", nll({}), f32(3, 70, 4), i32(3, 70));
    c.add("parts_nll_none", nll({.reduction = tw::Reduction::none}), f32(3, 70, 4), i32(3, 70));
    c.add_forward(
        "parts_loss_grad", [=](Tensor p, Tensor t) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t)); },
        f32(3, 70, 4), i32(3, 70));
    c.add_forward(
        "parts_loss_grad_ignore",
        [=](Tensor p, Tensor t) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t, 2, {.ignore_index = 1})); },
        f32(3, 70, 4), i32(3, 70));
    c.add_forward(
        "parts_loss_grad_tensor",
        [=](Tensor p, Tensor t, Tensor scale) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t, scale)); },
        f32(3, 70, 4), i32(3, 70), f32());
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) { c.add("double_nll_loss", nll(), f64(4, 3), i32(4)); }
  static constexpr void compared(In<other_networks>, const auto& c) { c.add("nll_loss_uint32", nll(), f32(4, 3), u32(4)); }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_nll_loss", [](Tensor p, Tensor labels) { return ops::nll_loss(p.T(), labels[back]); }, f32(5, 9), i32(9));
    c.add_forward(
        "view_loss_grad",
        [](Tensor t, Tensor labels) {
          const auto both = ops::cross_entropy_with_grad(t.T(), labels[every_second]);
          return std::array{both.loss, both.gradient};
        },
        f32(5, 9), i32(18));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) { c.add("one_nll_loss", nll(), f32(1, 3), i32(1)); }
  static constexpr void compared(In<other_index_dtypes>, const auto& c) {
    c.add("nll_loss", nll(), f32(4, 3), u32(4));
    c.add_forward(
        "loss_grad",
        [](Tensor p, Tensor labels) {
          const auto both = ops::nll_loss_with_softmax_grad(p, labels, 1);
          return std::array{both.loss, both.gradient};
        },
        f32(4, 3), u32(4));
  }
  static constexpr void compared(In<second_of_losses>, const auto& c) {
    const auto of_labels = [](auto loss) {
      return [loss](Tensor x) { return loss(x, x.ir().constant({2, 0, 1, 2}, {4}, tw::int32)); };
    };
    c.add("nll", of_labels(nll({.reduction = tw::Reduction::sum})), f64(4, 3));
    c.add("nll_of_logarithms",
          of_labels([](Tensor logs, Tensor labels) { return ops::pow(ops::nll_loss(logs, labels, {.log_prob = true}), 2); }),
          f64(4, 3));
  }
  static constexpr void compared(In<exact_functions_and_losses>, const auto& c) {
    c.add("exact_nll_loss", nll(), f64(4, 3), i32(4));
    c.add_forward(
        "exact_loss_grad",
        [](Tensor t, Tensor l) {
          const auto both = ops::cross_entropy_with_grad(t, l, 3);
          return std::array{both.loss, both.gradient};
        },
        f64(4, 3), i32(4));
  }
  static constexpr void edges(const auto& c) {
    c.add("nll_loss", nll(), c.real({4, 3}), c.ints({4}));
    c.add("nll_loss_of_logarithms", nll({.reduction = tw::Reduction::none, .log_prob = true}), c.real({4, 3}), c.ints({4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(), nll(), f32(8, 10), i32(8));
    s.result(f16(), nll({.reduction = tw::Reduction::sum}), f16(8, 10), i32(8));
    s.result(f32(2, 8), nll({.reduction = tw::Reduction::none}), f32(2, 8, 10), i32(2, 8));
    s.result(f32(), nll(), f32(10), u32());
    s.error("Nll: labels (7,) int32 for probabilities (8, 10) float32: (8,) int32 or uint32 expected, in graph", nll(),
            f32(8, 10), i32(7));
    s.error("Nll: labels (8,) float32 for probabilities (8, 10) float32: (8,) int32 or uint32 expected, in graph", nll(),
            f32(8, 10), f32(8));
    s.error("Nll: (8, 10) int32: float16, float32, float64 or bfloat16 expected, in graph", nll(), i32(8, 10), i32(8));
    s.error("Nll: probabilities () float32: at least one axis expected, in graph", nll(), f32(), i32());
    s.result(f32(), [](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels); }, f32(8, 10), i32(8));
    s.error(
        "NlllWithSoftmaxGradDirect: loss_grad (2,) float32: one element of floating point expected, in graph",
        [](Tensor p, Tensor labels, Tensor scale) { return ops::nll_loss_with_softmax_grad(p, labels, scale).loss; }, f32(8, 10),
        i32(8), f32(2));
  }
  static void numbers(auto& list) {
    list.real("nll_loss_with_softmax_grad.loss_grad", list.finite_only, [](auto& s, auto n) {
      return ops::nll_loss_with_softmax_grad(s.x.reshape({8, 36}), s.tensor({8}, tw::int32), n).gradient;
    });
  }
  static constexpr void handles(auto& list) {
    list.add("nll_loss", [] { (void)ops::nll_loss(Tensor(), Tensor()); });
    list.add("nll_loss_with_softmax_grad", [] { (void)ops::nll_loss_with_softmax_grad(Tensor(), Tensor()); });
    list.add("nll_loss_with_softmax_grad", [] { (void)ops::nll_loss_with_softmax_grad(Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
