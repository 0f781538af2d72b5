#pragma once
// The cases of tests/reference/ops_losses.txt: losses by PyTorch's names.
#include "op_case.hpp"
#include "tilewright/ops/nn/losses.hpp"

namespace op_cases {

/// The cases of one dtype, whose names begin with it.
class LossCases {
 public:
  constexpr LossCases(Ir& ir, std::string_view prefix, tw::DType dtype) : ir_(ir), prefix_(prefix), dtype_(dtype) {}

  constexpr TensorSpec spec(std::initializer_list<std::int64_t> shape) const { return {shape, dtype_}; }
  template <class Op, class... Specs>
  constexpr void add(std::string_view name, Op op, const Specs&... inputs) const {
    differentiable(ir_, tw::text("loss_", prefix_, "_", name).view(), op, inputs...);
  }

 private:
  Ir& ir_;
  std::string_view prefix_;
  tw::DType dtype_;
};

/// The binary cross entropy with the weights that are inputs.
enum class Weights : std::uint8_t { none, weight, pos_weight, both };
template <Weights weights>
constexpr auto binary_cross_entropy(Reduction reduction = Reduction::mean) {
  return [reduction](Tensor x, Tensor t, auto... w) {
    tw::BinaryCrossEntropyOptions options{.reduction = reduction};
    const tw::List<Tensor> given{w...};
    if (weights == Weights::weight || weights == Weights::both) options.weight = given[0];
    if (weights == Weights::pos_weight || weights == Weights::both) options.pos_weight = given[given.size() - 1];
    return ops::binary_cross_entropy_with_logits(x, t, options);
  };
}
/// Cross entropy; `classes` above 0: with the weights of make_losses.py, of so many classes, as constants.
constexpr auto cross_entropy_of(int classes, const tw::CrossEntropyOptions& given) {
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
constexpr auto cosine(const tw::CosineEmbeddingOptions& options = {}) {
  return [options](Tensor a, Tensor b, Tensor target) { return ops::cosine_embedding_loss(a, b, target, options); };
}
constexpr auto mse(Reduction reduction) {
  return [reduction](Tensor x, Tensor t) { return ops::mse_loss(x, t, {.reduction = reduction}); };
}
constexpr auto l1(Reduction reduction) {
  return [reduction](Tensor x, Tensor t) { return ops::l1_loss(x, t, {.reduction = reduction}); };
}
constexpr auto smooth_l1(const tw::SmoothL1Options& options) {
  return [options](Tensor x, Tensor t) { return ops::smooth_l1_loss(x, t, options); };
}
constexpr auto huber(const tw::HuberOptions& options) {
  return [options](Tensor x, Tensor t) { return ops::huber_loss(x, t, options); };
}
constexpr auto kl(const tw::KlDivOptions& options) {
  return [options](Tensor x, Tensor t) { return ops::kl_div(x, t, options); };
}

constexpr void smooth_losses(const LossCases& c) {
  using enum Reduction;
  const auto x = c.spec({3, 4}), y = c.spec({2, 3, 5}), line = c.spec({7});
  c.add("mse_mean", mse(mean), x, x);
  c.add("mse_sum", mse(sum), y, y);
  c.add("mse_none", mse(none), line, line);
  c.add("bce_mean", binary_cross_entropy<Weights::none>(), x, x);
  c.add("bce_sum_pos_weight", binary_cross_entropy<Weights::pos_weight>(sum), y, y, c.spec({5}));
  c.add("bce_none_weight", binary_cross_entropy<Weights::weight>(none), x, x, c.spec({3, 1}));
  c.add("bce_mean_both", binary_cross_entropy<Weights::both>(), c.spec({3, 7}), c.spec({3, 7}), c.spec({3, 7}), line);
  c.add("kl_mean", kl({}), x, x);
  c.add("kl_sum", kl({.reduction = sum}), y, y);
  c.add("kl_none", kl({.reduction = none}), line, line);
  c.add("kl_mean_log", kl({.log_target = true}), c.spec({3, 5}), c.spec({3, 5}));
  c.add("kl_none_log", kl({.log_target = true, .reduction = none}), c.spec({6}), c.spec({6}));
  c.add("cosine_mean", cosine(), c.spec({6, 5}), c.spec({6, 5}), i32({6}));
  c.add("cosine_sum_margin", cosine({.margin = 0.25, .reduction = sum}), c.spec({9, 3}), c.spec({9, 3}), i32({9}));
  c.add("cosine_none", cosine({.margin = -0.5, .reduction = none}), c.spec({2, 3, 4}), c.spec({2, 3, 4}), i32({2, 3}));
  c.add("cosine_line", cosine(), c.spec({9}), c.spec({9}), i32({}));
  c.add("ce_mean_smoothed", cross_entropy_of(0, {.label_smoothing = 0.1}), c.spec({6, 3}), i32({6}));
  c.add("ce_none_smoothed", cross_entropy_of(0, {.reduction = none, .label_smoothing = 0.5}), c.spec({2, 3, 40}), i32({2, 3}));
  c.add("ce_mean_weight", cross_entropy_of(3, {}), c.spec({6, 3}), i32({6}));
  c.add("ce_sum_weight", cross_entropy_of(40, {.reduction = sum}), c.spec({4, 40}), i32({4}));
  c.add("ce_none_weight", cross_entropy_of(5, {.reduction = none}), c.spec({5, 5}), i32({5}));
  c.add("ce_mean_both", cross_entropy_of(5, {.label_smoothing = 0.25}), c.spec({5, 5}), i32({5}));
  c.add("ce_sum_both", cross_entropy_of(40, {.reduction = sum, .label_smoothing = 0.1}), c.spec({4, 40}), i32({4}));
  c.add("ce_mean_ignored", cross_entropy_of(3, {.ignore_index = 1, .label_smoothing = 0.2}), c.spec({2, 4, 3}), i32({2, 4}));
  c.add("ce_mean_smoothed_ignored", cross_entropy_of(0, {.ignore_index = -100, .label_smoothing = 0.2}), c.spec({4, 3}),
        i32({4}));
  c.add("ce_smoothed_away", cross_entropy_of(5, {.label_smoothing = 1}), c.spec({4, 5}), i32({4}));
}
/// With differences at the kinks, and of 0.
constexpr void losses_with_kinks(const LossCases& c) {
  using enum Reduction;
  const auto x = c.spec({3, 4}), y = c.spec({2, 3, 5}), line = c.spec({11});
  c.add("l1_mean", l1(mean), x, x);
  c.add("l1_sum", l1(sum), y, y);
  c.add("l1_none", l1(none), line, line);
  c.add("smooth_l1_mean", smooth_l1({}), x, x);
  c.add("smooth_l1_sum", smooth_l1({.beta = 0.3, .reduction = sum}), y, y);
  c.add("smooth_l1_none", smooth_l1({.beta = 0.5, .reduction = none}), line, line);
  c.add("smooth_l1_none_2", smooth_l1({.beta = 2, .reduction = none}), line, line);
  c.add("smooth_l1_none_0", smooth_l1({.beta = 0, .reduction = none}), line, line);
  c.add("smooth_l1_none_small", smooth_l1({.beta = 1e-7, .reduction = none}), line, line);
  c.add("huber_mean", huber({}), x, x);
  c.add("huber_sum", huber({.delta = 0.3, .reduction = sum}), y, y);
  c.add("huber_none", huber({.delta = 0.5, .reduction = none}), line, line);
  c.add("huber_none_2", huber({.delta = 2, .reduction = none}), line, line);
  c.add("huber_none_small", huber({.delta = 1e-7, .reduction = none}), line, line);
}
/// Large logits, equal elements, zeros, and weights of 0.
constexpr void losses_at_their_edges(const LossCases& c) {
  using enum Reduction;
  const auto x = c.spec({9}), four = c.spec({4});
  for (const std::string_view name : {"bce_0", "bce_1", "bce_half"}) c.add(name, binary_cross_entropy<Weights::none>(none), x, x);
  c.add("bce_no_weight", binary_cross_entropy<Weights::both>(none), x, x, x, x);
  const auto kl_of_zeros = [](Tensor t) {
    return ops::kl_div(t, t.ir().constant({0, 0, 0, 0.5, 1}, {5}, t.dtype()), {.reduction = none});
  };
  c.add("kl_zeros", kl_of_zeros, c.spec({5}));
  c.add("mse_far", mse(mean), four, four);
  c.add("huber_far", huber({}), four, four);
  c.add("cosine_zeros", cosine(), c.spec({3, 2}), c.spec({3, 2}), i32({3}));
  c.add("ce_weight", cross_entropy_of(3, {.reduction = none}), c.spec({4, 3}), i32({4}));
  c.add("ce_smoothed", cross_entropy_of(0, {.reduction = none, .label_smoothing = 0.1}), c.spec({4, 3}), i32({4}));
  c.add("ce_both", cross_entropy_of(3, {.reduction = none, .label_smoothing = 0.1}), c.spec({4, 3}), i32({4}));
  c.add("ce_no_weight", cross_entropy_of(5, {}), c.spec({4, 5}), i32({4}));
}

constexpr void losses_in_float32(Ir& ir) {
  const LossCases cases(ir, "f32", tw::float32);
  smooth_losses(cases);
  losses_with_kinks(cases);
}
constexpr void losses_in_float16(Ir& ir) {
  const LossCases cases(ir, "f16", tw::float16);
  smooth_losses(cases);
  losses_with_kinks(cases);
}
constexpr void smooth_losses_in_bfloat16(Ir& ir) { smooth_losses(LossCases(ir, "bf16", tw::bfloat16)); }
constexpr void smooth_losses_in_float64(Ir& ir) { smooth_losses(LossCases(ir, "f64", tw::float64)); }
constexpr void losses_with_kinks_in_float64(Ir& ir) { losses_with_kinks(LossCases(ir, "f64", tw::float64)); }
constexpr void edges_of_losses_in_float32(Ir& ir) { losses_at_their_edges(LossCases(ir, "f32_edge", tw::float32)); }
constexpr void edges_of_losses_in_float16(Ir& ir) { losses_at_their_edges(LossCases(ir, "f16_edge", tw::float16)); }
/// Of many rows, which are cut into parts.
constexpr void losses_of_many_rows(Ir& ir) {
  const LossCases c(ir, "parts", tw::float32);
  const auto x = c.spec({130, 5});
  c.add("ce_mean", cross_entropy_of(5, {.ignore_index = 2, .label_smoothing = 0.25}), x, i32({130}));
  c.add("ce_none", cross_entropy_of(5, {.reduction = Reduction::none}), c.spec({5, 26, 5}), i32({5, 26}));
  c.add("bce", binary_cross_entropy<Weights::none>(), x, x);
  c.add("huber", huber({}), x, x);
}

}  // namespace op_cases
