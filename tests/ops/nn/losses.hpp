#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct BinaryCrossEntropy : OpTest {
  static constexpr std::string_view op = "BinaryCrossEntropy";
  /// The binary cross entropy with the weights that are inputs.
  enum class Weights : std::uint8_t { none, weight, pos_weight, both };
  template <Weights weights>
  static constexpr auto binary_cross_entropy(tw::Reduction reduction = tw::Reduction::mean) {
    return [reduction](Tensor x, Tensor t, auto... w) {
      tw::BinaryCrossEntropyOptions options{.reduction = reduction};
      const tw::List<Tensor> given{w...};
      if (weights == Weights::weight || weights == Weights::both) options.weight = given[0];
      if (weights == Weights::pos_weight || weights == Weights::both) options.pos_weight = given[given.size() - 1];
      return ops::binary_cross_entropy_with_logits(x, t, options);
    };
  }
  static void meanings(auto& m) {
    m.elementwise(op, [](const Line& x) {
      const double positive = x[1] * (x.size() > 2 ? x[2] : 1);
      return positive * std::log1p(std::exp(-x[0])) + (1 - x[1]) * std::log1p(std::exp(x[0]));
    });
  }
  static constexpr void compared(In<smooth_losses>, const auto& c) {
    using enum tw::Reduction;
    c.add("bce_mean", binary_cross_entropy<Weights::none>(), c.real({3, 4}), c.real({3, 4}));
    c.add("bce_sum_pos_weight", binary_cross_entropy<Weights::pos_weight>(sum), c.real({2, 3, 5}), c.real({2, 3, 5}),
          c.real({5}));
    c.add("bce_none_weight", binary_cross_entropy<Weights::weight>(none), c.real({3, 4}), c.real({3, 4}), c.real({3, 1}));
    c.add("bce_mean_both", binary_cross_entropy<Weights::both>(), c.real({3, 7}), c.real({3, 7}), c.real({3, 7}), c.real({7}));
  }
  static constexpr void compared(In<losses_at_their_edges>, const auto& c) {
    using enum tw::Reduction;
    for (const std::string_view name : {"bce_0", "bce_1", "bce_half"})
      c.add(name, binary_cross_entropy<Weights::none>(none), c.real({9}), c.real({9}));
    c.add("bce_no_weight", binary_cross_entropy<Weights::both>(none), c.real({9}), c.real({9}), c.real({9}), c.real({9}));
  }
  static constexpr void compared(In<losses_of_many_rows>, const auto& c) {
    c.add("bce", binary_cross_entropy<Weights::none>(), c.real({130, 5}), c.real({130, 5}));
  }
  static constexpr void compared(In<second_of_losses>, const auto& c) {
    c.add("bce", binary_cross_entropy<Weights::pos_weight>(), f64(2, 3), f64(2, 3), f64(3));
  }
  static constexpr void edges(const auto& c) {
    using enum tw::Reduction;
    c.add(
        "binary_cross_entropy",
        [](Tensor t, Tensor of) { return ops::binary_cross_entropy_with_logits(t, of, {.reduction = none}); }, c.real({8}),
        c.real({8}));
    c.add(
        "binary_cross_entropy_of_positives",
        [](Tensor t, Tensor of, Tensor w) {
          return ops::binary_cross_entropy_with_logits(t, of, {.pos_weight = w, .reduction = none});
        },
        c.real({8}), c.real({8}), c.real({8}));
  }
  static constexpr void handles(auto& list) {
    list.add("binary_cross_entropy_with_logits", [] { (void)ops::binary_cross_entropy_with_logits(Tensor(), Tensor()); });
  }
};
/// Of losses by PyTorch's names that are made of other ops, too.
struct Losses : OpTest {
  static constexpr std::string_view op = "Huber";
  static constexpr auto cosine(const tw::CosineEmbeddingOptions& options = {}) {
    return [options](Tensor a, Tensor b, Tensor target) { return ops::cosine_embedding_loss(a, b, target, options); };
  }
  static constexpr auto mse(tw::Reduction reduction) {
    return [reduction](Tensor x, Tensor t) { return ops::mse_loss(x, t, {.reduction = reduction}); };
  }
  static constexpr auto l1(tw::Reduction reduction) {
    return [reduction](Tensor x, Tensor t) { return ops::l1_loss(x, t, {.reduction = reduction}); };
  }
  static constexpr auto smooth_l1(const tw::SmoothL1Options& options) {
    return [options](Tensor x, Tensor t) { return ops::smooth_l1_loss(x, t, options); };
  }
  static constexpr auto huber(const tw::HuberOptions& options) {
    return [options](Tensor x, Tensor t) { return ops::huber_loss(x, t, options); };
  }
  static constexpr auto kl(const tw::KlDivOptions& options) {
    return [options](Tensor x, Tensor t) { return ops::kl_div(x, t, options); };
  }
  static void meanings(auto& m) {
    m[op] = elementwise_with<tw::Huber::Attributes>([](const auto& attributes, const Line& x) {
      const double size = std::abs(x[0]), delta = attributes.delta;
      return (size <= delta ? size * size / 2 : delta * (size - delta / 2)) / (attributes.is_relative != 0 ? delta : 1);
    });
  }
  static constexpr void compared(In<smooth_losses>, const auto& c) {
    using enum tw::Reduction;
    c.add("mse_mean", mse(mean), c.real({3, 4}), c.real({3, 4}));
    c.add("mse_sum", mse(sum), c.real({2, 3, 5}), c.real({2, 3, 5}));
    c.add("mse_none", mse(none), c.real({7}), c.real({7}));
    c.add("kl_mean", kl({}), c.real({3, 4}), c.real({3, 4}));
    c.add("kl_sum", kl({.reduction = sum}), c.real({2, 3, 5}), c.real({2, 3, 5}));
    c.add("kl_none", kl({.reduction = none}), c.real({7}), c.real({7}));
    c.add("kl_mean_log", kl({.log_target = true}), c.real({3, 5}), c.real({3, 5}));
    c.add("kl_none_log", kl({.log_target = true, .reduction = none}), c.real({6}), c.real({6}));
    c.add("cosine_mean", cosine(), c.real({6, 5}), c.real({6, 5}), i32(6));
    c.add("cosine_sum_margin", cosine({.margin = 0.25, .reduction = sum}), c.real({9, 3}), c.real({9, 3}), i32(9));
    c.add("cosine_none", cosine({.margin = -0.5, .reduction = none}), c.real({2, 3, 4}), c.real({2, 3, 4}), i32(2, 3));
    c.add("cosine_line", cosine(), c.real({9}), c.real({9}), i32());
  }
  static constexpr void compared(In<losses_with_kinks>, const auto& c) {
    using enum tw::Reduction;
    c.add("l1_mean", l1(mean), c.real({3, 4}), c.real({3, 4}));
    c.add("l1_sum", l1(sum), c.real({2, 3, 5}), c.real({2, 3, 5}));
    c.add("l1_none", l1(none), c.real({11}), c.real({11}));
    c.add("smooth_l1_mean", smooth_l1({}), c.real({3, 4}), c.real({3, 4}));
    c.add("smooth_l1_sum", smooth_l1({.beta = 0.3, .reduction = sum}), c.real({2, 3, 5}), c.real({2, 3, 5}));
    c.add("smooth_l1_none", smooth_l1({.beta = 0.5, .reduction = none}), c.real({11}), c.real({11}));
    c.add("smooth_l1_none_2", smooth_l1({.beta = 2, .reduction = none}), c.real({11}), c.real({11}));
    c.add("smooth_l1_none_0", smooth_l1({.beta = 0, .reduction = none}), c.real({11}), c.real({11}));
    c.add("smooth_l1_none_small", smooth_l1({.beta = 1e-7, .reduction = none}), c.real({11}), c.real({11}));
    c.add("huber_mean", huber({}), c.real({3, 4}), c.real({3, 4}));
    c.add("huber_sum", huber({.delta = 0.3, .reduction = sum}), c.real({2, 3, 5}), c.real({2, 3, 5}));
    c.add("huber_none", huber({.delta = 0.5, .reduction = none}), c.real({11}), c.real({11}));
    c.add("huber_none_2", huber({.delta = 2, .reduction = none}), c.real({11}), c.real({11}));
    c.add("huber_none_small", huber({.delta = 1e-7, .reduction = none}), c.real({11}), c.real({11}));
  }
  static constexpr void compared(In<losses_at_their_edges>, const auto& c) {
    using enum tw::Reduction;
    const auto kl_of_zeros = [](Tensor t) {
      return ops::kl_div(t, t.ir().constant({0, 0, 0, 0.5, 1}, {5}, t.dtype()), {.reduction = none});
    };
    c.add("kl_zeros", kl_of_zeros, c.real({5}));
    c.add("mse_far", mse(mean), c.real({4}), c.real({4}));
    c.add("huber_far", huber({}), c.real({4}), c.real({4}));
    c.add("cosine_zeros", cosine(), c.real({3, 2}), c.real({3, 2}), i32(3));
  }
  static constexpr void compared(In<losses_of_many_rows>, const auto& c) {
    c.add("huber", huber({}), c.real({130, 5}), c.real({130, 5}));
  }
  static constexpr void compared(In<second_of_losses>, const auto& c) {
    c.add(
        "losses",
        [](Tensor a, Tensor t) {
          return joined(ops::mse_loss(a, t), ops::pow(ops::l1_loss(a, t), 2), ops::smooth_l1_loss(a, t, {.beta = 0.3}),
                        ops::huber_loss(a, t, {.delta = 0.55}));
        },
        f64(2, 3), f64(2, 3));
    c.add("kl", kl({}), f64(2, 3), f64(2, 3));
    c.add(
        "cosine",
        [](Tensor a, Tensor b) {
          return ops::cosine_embedding_loss(a, b, a.ir().constant({1, -1}, {2}, tw::int32), {.margin = -0.75});
        },
        f64(2, 3), f64(2, 3));
  }
  static constexpr void edges(const auto& c) {
    using enum tw::Reduction;
    c.add(
        "huber", [](Tensor t, Tensor of) { return ops::huber_loss(t, of, {.delta = 0.75, .reduction = none}); }, c.real({8}),
        c.real({8}));
    c.add(
        "smooth_l1", [](Tensor t, Tensor of) { return ops::smooth_l1_loss(t, of, {.beta = 0.75, .reduction = none}); },
        c.real({8}), c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(), [](Tensor x, Tensor t) { return ops::mse_loss(x, t); }, f16(8, 10), f16(8, 10));
    s.result(
        f16(8, 10), [](Tensor x, Tensor t) { return ops::kl_div(x, t, {.reduction = tw::Reduction::none}); }, f16(8, 10),
        f16(8, 10));
    s.result(
        f32(4, 8),
        [](Tensor a, Tensor b, Tensor t) { return ops::cosine_embedding_loss(a, b, t, {.reduction = tw::Reduction::none}); },
        f32(4, 8, 10), f32(4, 8, 10), i32(4, 8));
  }
  static void numbers(auto& list) {
    list.real("SmoothL1Options.beta", {0, 0x1.fffffep127},
              [](auto& s, auto n) { return ops::smooth_l1_loss(s.x, s.x, {.beta = n}); });
    list.real("HuberOptions.delta", {0, 0x1.fffffep127, false, true},
              [](auto& s, auto n) { return ops::huber_loss(s.x, s.x, {.delta = n}); });
    list.real("CosineEmbeddingOptions.margin", {-1, 1},
              [](auto& s, auto n) { return ops::cosine_embedding_loss(s.x, s.x, s.tensor({2, 4, 6}), {.margin = n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("mse_loss", [] { (void)ops::mse_loss(Tensor(), Tensor()); });
    list.add("l1_loss", [] { (void)ops::l1_loss(Tensor(), Tensor()); });
    list.add("smooth_l1_loss", [] { (void)ops::smooth_l1_loss(Tensor(), Tensor()); });
    list.add("huber_loss", [] { (void)ops::huber_loss(Tensor(), Tensor()); });
    list.add("kl_div", [] { (void)ops::kl_div(Tensor(), Tensor()); });
    list.add("cosine_embedding_loss", [] { (void)ops::cosine_embedding_loss(Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
