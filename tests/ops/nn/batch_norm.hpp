#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct BatchNorm : OpTest {
  static constexpr std::string_view op = "BatchNormalization";
  /// The running statistics are integers, which have no gradient.
  static constexpr auto batch_norm(const tw::BatchNormOptions& options = {}, DType statistics = tw::float32) {
    return [=](Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var) {
      return ops::batch_norm(x, scale, bias, mean.cast(statistics), var.cast(statistics), options);
    };
  }
  /// The result, and the statistics, which are variables, after it.
  static constexpr auto running = [](Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var) {
    const Tensor y = ops::batch_norm(x, scale, bias, mean, var, {.momentum = 0.25});
    return std::array{y, mean, var};
  };
  static constexpr auto batch_norm_inference = [](Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var) {
    return ops::batch_norm_inference(x, scale, bias, mean, var);
  };
  static void meanings(auto& m) {
    m.elementwise(op, [](const Line& x) { return (x[0] - x[3]) * x[4] * x[1] + x[2]; });
    m["RunningStatistic"] = elementwise_with<tw::RunningStatistic::Attributes>(
        [](const auto& attributes, const Line& x) { return (1 - attributes.momentum) * x[0] + attributes.momentum * x[1]; });
  }
  static constexpr void compared(In<normalisation_of_batches>, const auto& c) {
    c.add("batch_norm", batch_norm(), f32(3, 4, 3, 3), f32(4), f32(4), i32(4), i32(4));
    c.add("batch_norm_rows", batch_norm({.eps = 0.125}), f32(7, 5), f32(5), f32(5), i32(5), i32(5));
    c.add("batch_norm_one", batch_norm({.eps = 0.5}), f32(1, 3, 19), f32(3), f32(3), i32(3), i32(3));
    c.add_in_main("batch_norm_running", running, f32(3, 4, 5), f32(4), f32(4), f32(4), f32(4));
    c.add("batch_norm_inference", batch_norm_inference, f32(3, 4, 3, 3), f32(4), f32(4), f32(4), f32(4));
    c.add("batch_norm_inference_rows", batch_norm_inference, f32(7, 5), f32(5), f32(5), f32(5), f32(5));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("batch_norm_double", batch_norm({}, tw::float64), f64(3, 2, 2, 3, 2), f64(2), f64(2), i32(2), i32(2));
    c.add("batch_norm_inference_double", batch_norm_inference, f64(2, 3, 2, 3, 2), f64(3), f64(3), f64(3), f64(3));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("batch_norm_half", batch_norm({.eps = 0.125}), f16(4, 3, 7), f16(3), f16(3), i32(3), i32(3));
    c.add_in_main("batch_norm_running_half", running, f16(3, 4, 5), f16(4), f16(4), f32(4), f16(4));
    c.add("batch_norm_inference_half", batch_norm_inference, f16(2, 3, 19), f16(3), f16(3), f32(3), f16(3));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add(
        "view_batch_norm",
        [](Tensor t, Tensor w, Tensor b, Tensor mean, Tensor var) {
          return ops::batch_norm(t.transpose({0, 2, 1}), w[every_second], b[back], mean.cast(tw::float32), var.cast(tw::float32),
                                 {.eps = 0.125});
        },
        f32(3, 5, 4), f32(8), f32(4), i32(4), i32(4));
    c.add(
        "view_batch_norm_inference",
        [](Tensor t, Tensor w, Tensor b, Tensor mean, Tensor var) {
          return ops::batch_norm_inference(t.transpose({0, 2, 1}), w[every_second], b[back], mean[back], var[every_second]);
        },
        f32(3, 5, 4), f32(8), f32(4), f32(4), f32(8));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_batch_norm", batch_norm({.eps = 0.125}), f32(3, 1, 1), f32(1), f32(1), i32(1), i32(1));
  }
  static constexpr void compared(In<second_of_norms>, const auto& c) {
    c.add(
        "batch_norm", [](Tensor x, Tensor w, Tensor b) { return ops::batch_norm(x, w, b, b * 0, b * 0, {.eps = 0.125}); },
        f64(3, 2, 2), f64(2), f64(2));
    c.add(
        "batch_norm_inference",
        [](Tensor x, Tensor w, Tensor b) {
          const auto fixed = [&](const tw::List<double>& values) { return x.ir().constant(values, {2}, tw::float64); };
          const Tensor y = ops::batch_norm_inference(x, w, b, fixed({0.25, -0.5}), fixed({0.5, 2}), 0.125);
          return y * y;
        },
        f64(3, 2, 2), f64(2), f64(2));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add(
        "exact_batch_norm",
        [](Tensor x, Tensor w, Tensor b, Tensor mean, Tensor var) {
          return ops::batch_norm(x, w, b, mean.cast(tw::float64), var.cast(tw::float64), {.eps = 0.125});
        },
        f64(3, 2, 5), f64(2), f64(2), i32(2), i32(2));
  }
  static constexpr void edges(const auto& c) {
    c.add(
        "batch_norm",
        [](Tensor t, Tensor a, Tensor b, Tensor mean, Tensor var) {
          return ops::batch_norm(t, a, b, mean.cast(tw::float32), var.cast(tw::float32));
        },
        c.real({3, 2, 2}), c.real({2}), c.real({2}), c.ints({2}), c.ints({2}));
    c.add(
        "batch_norm_inference",
        [](Tensor t, Tensor a, Tensor b, Tensor mean, Tensor var) { return ops::batch_norm_inference(t, a, b, mean, var); },
        c.real({3, 2, 2}), c.real({2}), c.real({2}), c.real({2}), c.real({2}));
  }
  static void numbers(auto& list) {
    list.real("batch_norm_inference.eps", list.not_negative, [](auto& s, auto n) {
      return ops::batch_norm_inference(s.x, s.tensor({4}), s.tensor({4}), s.tensor({4}), s.tensor({4}), n);
    });
    list.real("batch_norm_inference.momentum", list.everything, [](auto& s, auto n) {
      return ops::batch_norm_inference(s.x, s.tensor({4}), s.tensor({4}), s.tensor({4}), s.tensor({4}), 1e-5, n);
    });
    list.real("BatchNormOptions.momentum", list.not_negative, [](auto& s, auto n) {
      return ops::batch_norm(s.x, s.tensor({4}), s.tensor({4}), s.tensor({4}), s.tensor({4}), {.momentum = n});
    });
    list.real("BatchNormOptions.eps", list.not_negative, [](auto& s, auto n) {
      return ops::batch_norm(s.x, s.tensor({4}), s.tensor({4}), s.tensor({4}), s.tensor({4}), {.eps = n});
    });
  }
  static constexpr void handles(auto& list) {
    list.add("batch_norm_inference", [] { (void)ops::batch_norm_inference(Tensor(), Tensor(), Tensor(), Tensor(), Tensor()); });
    list.add("batch_norm", [] { (void)ops::batch_norm(Tensor(), Tensor(), Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
