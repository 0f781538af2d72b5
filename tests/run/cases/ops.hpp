#pragma once
// The cases of tests/reference/ops.txt.
#include <array>
#include <vector>

#include "of_ops.hpp"

namespace op_cases {

constexpr std::array<Tensor, 2> both(const tw::LossAndGradient& results) { return {results.loss, results.gradient}; }

constexpr auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
constexpr auto nll_loss = [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); };

constexpr void matrices_and_arithmetic(Ir& ir) {
  differentiable(ir, "matmul", matmul, f32({2, 3}), f32({3, 4}));
  differentiable(ir, "matmul_vectors", matmul, f32({5}), f32({5}));
  differentiable(ir, "matmul_row", matmul, f32({3}), f32({3, 4}));
  differentiable(ir, "matmul_column", matmul, f32({2, 3}), f32({3}));
  differentiable(ir, "matmul_batched", matmul, f32({2, 3, 4}), f32({2, 4, 5}));
  differentiable(ir, "matmul_broadcast", matmul, f32({2, 1, 2, 3}), f32({3, 3, 2}));
  differentiable(ir, "matmul_large", matmul, f32({9, 70}), f32({70, 21}));
  differentiable(ir, "matmul_transposed", [](Tensor a, Tensor b) { return a.T().matmul(b.T()); }, f32({70, 9}), f32({21, 70}));

  differentiable(ir, "numbers", [](Tensor x) { return (2 * x + 1) / 4 - 3 / x; }, f32({2, 3}));
  differentiable(
      ir, "scaled_add", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.a = 0.5, .b = -2}); }, f32({3, 19}),
      f32({3, 19}));
  differentiable(
      ir, "scaled_add_tensors", [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, f32({2, 3}),
      f32({2, 3}), f32({}), f32({1}));
  forward(
      ir, "scaled_add_inplace", [](Tensor x, Tensor y) { return ops::scaled_add_(x, y, {.a = 2, .b = -1}); }, f32({3, 19}),
      f32({3, 19}));
}

constexpr void functions_and_reductions(Ir& ir) {
  add_cases<Program::float32>({ir, tw::float32, {3, 19}});

  differentiable(ir, "reshape", [](Tensor x) { return x.reshape({3, -1}); }, f32({2, 6}));
  differentiable(ir, "transpose", [](Tensor x) { return x.transpose({2, 0, 1}); }, f32({2, 3, 4}));
  differentiable(ir, "transpose_reversed", [](Tensor x) { return x.T(); }, f32({2, 3, 4}));
  differentiable(ir, "expand", [](Tensor x) { return ops::expand(x, {2, 3, 4}); }, f32({3, 1}));
}

constexpr void softmax_and_losses(Ir& ir) {
  differentiable(ir, "softmax", [](Tensor x) { return ops::softmax(x); }, f32({4, 5}));
  differentiable(ir, "softmax_first", [](Tensor x) { return ops::softmax(x, 0); }, f32({4, 5}));
  differentiable(ir, "softmax_middle", [](Tensor x) { return ops::softmax(x, -2); }, f32({2, 3, 4}));

  const auto loss = [](const NllOptions& options) {
    return [options](Tensor p, Tensor labels) { return ops::nll_loss(p, labels, options); };
  };
  differentiable(ir, "nll_loss", loss({}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_sum", loss({.reduction = Reduction::sum}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_none", loss({.reduction = Reduction::none}), f32({2, 2, 3}), i32({2, 2}));
  differentiable(ir, "nll_loss_ignore", loss({.ignore_index = 2}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_log_prob", loss({.log_prob = true}), f32({4, 3}), i32({4}));
  differentiable(
      ir, "cross_entropy", [](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, {.ignore_index = 0}); },
      f32({4, 3}), i32({4}));

  const auto loss_and_gradient = [](double scale, const NllOptions& options) {
    return [=](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale, options)); };
  };
  forward(ir, "loss_grad", loss_and_gradient(1, {}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_scaled", loss_and_gradient(8, {.reduction = Reduction::sum}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_none", loss_and_gradient(1, {.reduction = Reduction::none}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_ignore", loss_and_gradient(1, {.ignore_index = 2}), f32({4, 3}), i32({4}));
  forward(
      ir, "loss_grad_tensor",
      [](Tensor p, Tensor labels, Tensor scale) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale)); }, f32({4, 3}),
      i32({4}), f32({}));
  forward(
      ir, "cross_entropy_with_grad", [](Tensor x, Tensor labels) { return both(ops::cross_entropy_with_grad(x, labels, 4)); },
      f32({4, 3}), i32({4}));
}

constexpr void half_precision(Ir& ir) {
  add_cases<Program::half>({ir, tw::float16, {3, 19}, "half_"});
  differentiable(ir, "half_matmul", matmul, f16({4, 70}), f16({70, 3}));
  differentiable(ir, "half_softmax", [](Tensor x) { return ops::softmax(x); }, f16({4, 5}));
  differentiable(ir, "half_nll_loss", nll_loss, f16({4, 3}), i32({4}));
  differentiable(ir, "half_nll_loss_small", nll_loss, f16({4, 3}), i32({4}));
  forward(
      ir, "half_loss_grad", [](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, 16)); },
      f16({4, 3}), i32({4}));
  differentiable(
      ir, "half_scaled_add", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.b = 0.5}); }, f16({2, 3}), f32({2, 3}));
}

/// What has no rounding.
constexpr void integers_and_casts(Ir& ir) {
  differentiable(ir, "cast_to_half", [](Tensor x) { return x.cast(tw::float16); }, f32({2, 3}));
  differentiable(ir, "cast_from_half", [](Tensor x) { return x.cast(tw::float32); }, f16({2, 3}));
  add_cases<Program::numbers_of_int32>({ir, tw::int32, {2, 3}, "int_"});
  forward(ir, "int_matmul", matmul, i32({2, 70}), i32({70, 3}));
  forward(ir, "cast_to_int", [](Tensor x) { return x.cast(tw::int32); }, f32({3, 19}));
  forward(ir, "cast_from_int", [](Tensor x) { return x.cast(tw::float32); }, i32({2, 3}));
  forward(ir, "cast_to_bool", [](Tensor x) { return x.cast(tw::boolean); }, f32({4}));
}
constexpr void normalisation(Ir& ir) {
  differentiable(ir, "softmax_long", [](Tensor x) { return ops::softmax(x); }, f32({3, 37}));
  differentiable(ir, "softmax_long_first", [](Tensor x) { return ops::softmax(x, 0); }, f32({37, 3}));
  const auto layer_norm = [](double eps) {
    return [eps](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, eps); };
  };
  differentiable(ir, "layer_norm", layer_norm(1e-5), f32({4, 5}), f32({5}), f32({5}));
  differentiable(ir, "layer_norm_long", layer_norm(0.125), f32({2, 3, 37}), f32({37}), f32({37}));
  differentiable(ir, "layer_norm_line", layer_norm(1e-5), f32({16}), f32({16}), f32({16}));
  differentiable(
      ir, "layer_norm_transposed", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x.T(), w, b); }, f32({4, 5}),
      f32({4}), f32({4}));
  const auto group_norm = [](std::int64_t num_groups, double eps) {
    return [=](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, num_groups, eps); };
  };
  differentiable(ir, "group_norm", group_norm(2, 1e-5), f32({3, 6}), f32({6}), f32({6}));
  differentiable(ir, "group_norm_images", group_norm(2, 0.125), f32({2, 4, 3, 7}), f32({4}), f32({4}));
}
constexpr void variable_updates(Ir& ir) {
  const TensorSpec t = f32({3, 19}), small = f32({2, 3}), scalar = f32({});
  forward(ir, "accumulate", [](Tensor a, Tensor x) { return ops::accumulate_(a, x); }, t, t);
  forward(ir, "accumulate_tensor", [](Tensor a, Tensor x, Tensor f) { return ops::accumulate_(a, x, f); }, t, t, f32({1}));
  forward(ir, "accumulate_square", [](Tensor a, Tensor x) { return ops::accumulate_square_(a, x, 0.5); }, t, t);
  forward(ir, "accumulate_mean", [](Tensor a, Tensor x) { return ops::accumulate_mean_(a, x, 3); }, t, t);
  forward(
      ir, "accumulate_mean_tensor", [](Tensor a, Tensor x, Tensor step) { return ops::accumulate_mean_(a, x, step); }, small,
      small, scalar);
  forward(ir, "accumulate_average", [](Tensor a, Tensor x) { return ops::accumulate_moving_average_(a, x, 0.75); }, t, t);
  forward(
      ir, "accumulate_average_square",
      [](Tensor a, Tensor x, Tensor f) { return ops::accumulate_moving_average_square_(a, x, f); }, small, small, scalar);
  forward(ir, "accumulator_scale", [](Tensor a) { return ops::accumulator_scale_(a, 0.5); }, t);
  forward(ir, "accumulator_scale_tensor", [](Tensor a, Tensor f) { return ops::accumulator_scale_(a, f); }, small, scalar);
  forward(ir, "accumulator_zero", ops::accumulator_zero_, t);
  forward(ir, "copy_var_update", ops::copy_var_update_, small, small);
}
constexpr void optimisers(Ir& ir) {
  const TensorSpec t = f32({3, 19}), small = f32({2, 3}), scalar = f32({});
  const auto corrected = [](Tensor m, Tensor v, Tensor step) {
    return ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.875});
  };
  forward(ir, "adam", [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, t, t);
  forward(ir, "adam_corrected", corrected, t, t, scalar);
  forward(
      ir, "adam_decay",
      [](Tensor m, Tensor v, Tensor w, Tensor step) {
        return ops::adam_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125, .beta1 = 0.9, .beta2 = 0.875});
      },
      t, t, t, scalar);
  forward(
      ir, "adam_tensors",
      [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2) {
        return ops::lamb_updater(m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2});
      },
      small, small, small, scalar, scalar, scalar, f32({1}));
  forward(
      ir, "adamax",
      [](Tensor m, Tensor v, Tensor w, Tensor step) {
        return ops::adamax_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125});
      },
      t, t, t, scalar);
  forward(
      ir, "adam_var_update",
      [](Tensor w, Tensor x, Tensor r1, Tensor r2, Tensor learning_rate, Tensor limit) {
        return ops::adam_var_update(w, x, r1, r2, learning_rate, limit);
      },
      small, small, scalar, scalar, scalar, scalar);
  forward(
      ir, "adam_var_update_zero",
      [](Tensor w, Tensor x, Tensor r1, Tensor r2) { return ops::adam_var_update(w, x, r1, r2, 0.5); }, small, small, scalar,
      scalar);
  forward(
      ir, "adam_var_update_numbers",
      [](Tensor w, Tensor x, Tensor r1, Tensor r2) { return ops::adam_var_update(w, x, r1, r2, 0.5, 0.75); }, small, small,
      scalar, scalar);
  forward(ir, "lamb_square", ops::lamb_square, t);
  forward(ir, "lamb_square_large", ops::lamb_square, f32({40, 67}));
  forward(ir, "lamb_square_transposed", [](Tensor x) { return ops::lamb_square(x.transpose({2, 0, 1})); }, f32({5, 3, 4}));
  forward(ir, "lamb_square_scalar", ops::lamb_square, scalar);
}

/// All operands of one dtype.
constexpr void adam_in(Ir& ir, std::string_view kind, tw::DType dtype) {
  const TensorSpec t{{3, 19}, dtype}, small{{2, 3}, dtype}, scalar{{}, dtype};
  forward(
      ir, tw::text(kind, "_adam_all").view(),
      [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2, Tensor epsilon) {
        return ops::adam_updater(
            m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon});
      },
      t, t, t, scalar, scalar, scalar, TensorSpec{{1}, dtype}, scalar);
  forward(
      ir, tw::text(kind, "_adam_var_update").view(),
      [](Tensor w, Tensor x, Tensor r1, Tensor r2, Tensor learning_rate, Tensor limit) {
        return ops::adam_var_update(w, x, r1, r2, learning_rate, limit);
      },
      small, small, scalar, scalar, scalar, scalar);
}
constexpr void double_updates(Ir& ir) {
  adam_in(ir, "double", tw::float64);
  forward(ir, "double_lamb_square", ops::lamb_square, f64({7, 50}));
}
constexpr void half_precision_norms_and_updates(Ir& ir) {
  differentiable(
      ir, "half_layer_norm", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b); }, f16({4, 19}), f16({19}),
      f16({19}));
  differentiable(
      ir, "half_group_norm", [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 1); }, f16({2, 3, 5}), f16({3}),
      f16({3}));
  forward(ir, "half_accumulate", [](Tensor a, Tensor x) { return ops::accumulate_(a, x, 0.5); }, f16({2, 3}), f32({2, 3}));
  forward(ir, "half_copy_var_update", ops::copy_var_update_, f16({2, 3}), f32({2, 3}));
  forward(
      ir, "half_adam",
      [](Tensor m, Tensor v, Tensor step) { return ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.875}); },
      f16({3, 19}), f32({3, 19}), f32({}));
  forward(
      ir, "half_adam_tensors",
      [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2, Tensor epsilon) {
        return ops::adam_updater(
            m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon});
      },
      f16({3, 19}), f32({3, 19}), f32({3, 19}), f32({}), f16({}), f32({}), f32({1}), f32({}));
  forward(ir, "half_lamb_square", ops::lamb_square, f16({7, 50}));
  adam_in(ir, "half", tw::float16);
  forward(ir, "half_accumulator_scale", [](Tensor a, Tensor f) { return ops::accumulator_scale_(a, f); }, f16({3, 19}), f16({}));
  const auto accumulate = [](Tensor a, Tensor x) { return ops::accumulate_(a, x, 0.5); };
  forward(ir, "half_accumulate_half", accumulate, f16({3, 19}), f16({3, 19}));
  forward(ir, "accumulate_of_half", accumulate, f32({3, 19}), f16({3, 19}));
}
constexpr auto conv(const tw::ConvOptions& options = {}) {
  return [options](Tensor x, Tensor weight) { return ops::conv(x, weight, options); };
}
constexpr auto max_pool(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options) {
  return [=](Tensor x) { return ops::max_pool(x, kernel, options); };
}
constexpr auto average_pool(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options) {
  return [=](Tensor x) { return ops::average_pool(x, kernel, options); };
}

constexpr void convolutions(Ir& ir) {
  using tw::PadType;
  differentiable(ir, "conv", conv(), f32({2, 3, 7, 6}), f32({4, 3, 3, 3}));
  differentiable(ir, "conv_channels", conv({.padding = {1, 1, 1, 1}}), f32({2, 18, 5, 6}), f32({34, 18, 3, 2}));
  differentiable(ir, "conv_one_channel", conv({.padding = {1, 0, 0, 1}}), f32({3, 1, 9, 11}), f32({18, 1, 3, 3}));
  differentiable(ir, "conv_stride", conv({.stride = {2, 3}, .padding = {0, 2, 1, 1}}), f32({2, 17, 6, 8}), f32({5, 17, 3, 4}));
  differentiable(ir, "conv_dilation", conv({.stride = {1, 2}, .padding = {2, 1, 2, 3}, .dilation = {2, 3}}), f32({2, 9, 10, 12}),
                 f32({17, 9, 3, 2}));
  differentiable(ir, "conv_groups", conv({.padding = {1, 1, 1, 1}, .groups = 2}), f32({3, 4, 5, 6}), f32({6, 2, 3, 3}));
  differentiable(ir, "conv_grouped_blocks", conv({.groups = 3}), f32({2, 6, 6, 7}), f32({6, 2, 3, 3}));
  differentiable(ir, "conv_depthwise", conv({.padding = {1, 1, 1, 1}, .groups = 5}), f32({2, 5, 6, 7}), f32({5, 1, 3, 3}));
  differentiable(ir, "conv_same_upper", conv({.stride = {2, 1}, .pad_type = PadType::same_upper}), f32({2, 3, 6, 5}),
                 f32({4, 3, 3, 2}));
  differentiable(ir, "conv_same_lower", conv({.stride = {2, 1}, .pad_type = PadType::same_lower}), f32({2, 3, 6, 5}),
                 f32({4, 3, 3, 2}));
  differentiable(ir, "conv_valid", conv({.stride = {2, 2}, .pad_type = PadType::valid}), f32({2, 3, 7, 6}), f32({4, 3, 2, 2}));
  differentiable(ir, "conv_points", conv(), f32({2, 21, 5, 5}), f32({19, 21, 1, 1}));
  differentiable(ir, "conv_large_kernel", conv({.padding = {3, 2, 3, 2}}), f32({1, 5, 6, 7}), f32({9, 5, 7, 5}));
  differentiable(ir, "conv_cropped", conv({.padding = {3, 2, 0, 3}}), f32({2, 3, 4, 4}), f32({10, 3, 2, 2}));
  differentiable(ir, "conv_1d", conv({.stride = {2}, .padding = {2, 1}}), f32({1, 9, 40}), f32({17, 9, 5}));
  differentiable(ir, "conv_3d", conv({.stride = {1, 2, 1}, .padding = {1, 0, 1, 0, 1, 1}}), f32({2, 2, 3, 4, 5}),
                 f32({3, 2, 2, 3, 2}));

  differentiable(ir, "max_pool", max_pool({2, 2}, {.stride = {2, 2}}), f32({2, 2, 4, 34}));
  differentiable(ir, "max_pool_odd", max_pool({2, 2}, {.stride = {2, 2}}), f32({2, 3, 7, 5}));
  differentiable(ir, "max_pool_gaps", max_pool({2, 1}, {.stride = {3, 2}}), f32({2, 3, 7, 5}));
  differentiable(ir, "max_pool_overlap", max_pool({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f32({2, 3, 7, 6}));
  differentiable(ir, "max_pool_dilation", max_pool({2, 3}, {.dilation = {3, 2}}), f32({2, 3, 7, 6}));
  differentiable(ir, "max_pool_ceil", max_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32({2, 3, 7, 6}));
  differentiable(ir, "max_pool_same", max_pool({2, 3}, {.stride = {2, 1}, .auto_pad = tw::PadType::same_upper}),
                 f32({2, 3, 5, 6}));
  differentiable(ir, "max_pool_1d", max_pool({3}, {.stride = {3}}), f32({2, 3, 10}));
  differentiable(ir, "max_pool_3d", max_pool({2, 2, 2}, {.stride = {2, 2, 1}}), f32({2, 2, 4, 5, 3}));
  differentiable(ir, "average_pool", average_pool({2, 2}, {.stride = {2, 2}}), f32({2, 3, 6, 8}));
  differentiable(ir, "average_pool_padding", average_pool({3, 2}, {.stride = {2, 1}, .padding = {1, 1, 1, 1}}),
                 f32({2, 3, 6, 5}));
  differentiable(ir, "average_pool_ceil", average_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32({2, 3, 7, 6}));
  differentiable(ir, "average_pool_1d", average_pool({4}, {}), f32({2, 3, 20}));
  differentiable(ir, "average_pool_3d", average_pool({2, 2, 2}, {.stride = {1, 2, 1}}), f32({2, 2, 3, 4, 3}));
}
constexpr void half_convolutions(Ir& ir) {
  differentiable(ir, "half_conv", conv({.padding = {1, 1, 1, 1}}), f16({2, 3, 5, 5}), f16({2, 3, 3, 3}));
  differentiable(ir, "half_max_pool", max_pool({2, 2}, {.stride = {2, 2}}), f16({2, 3, 4, 5}));
  differentiable(ir, "half_average_pool", average_pool({2, 2}, {.padding = {1, 1, 1, 1}}), f16({2, 3, 4, 5}));
  // of equal elements the first gets the gradient, and the others nothing
  differentiable(ir, "max_pool_ties", max_pool({2, 2}, {.stride = {2, 2}}), f32({1, 1, 2, 6}));
  differentiable(ir, "max_pool_ties_overlap", max_pool({2, 2}, {}), f32({1, 1, 3, 3}));
}

/// What finite differences can check, in two programs.
constexpr void float32_functions(Ir& ir) {
  matrices_and_arithmetic(ir);
  functions_and_reductions(ir);
}
constexpr void float32_layers(Ir& ir) {
  softmax_and_losses(ir);
  normalisation(ir);
  variable_updates(ir);
  optimisers(ir);
}
/// Float32 ops with gradients that, by definition, are not derivatives.
constexpr void other_gradients(Ir& ir) {
  differentiable(ir, "detach", [](Tensor x) { return x * x.detach(); }, f32({2, 3}));
  differentiable(ir, "nll_loss_small", nll_loss, f32({4, 3}), i32({4}));
}

}  // namespace op_cases
