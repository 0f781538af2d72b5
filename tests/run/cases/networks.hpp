#pragma once
// The cases of tests/reference/ops_networks.txt.
#include <array>
#include <vector>

#include "op_case.hpp"

namespace op_cases {

using tw::CoordinateMode, tw::NearestMode, tw::PadType, tw::ResizeMode;

constexpr auto conv_transpose(const tw::ConvTransposeOptions& options = {}) {
  return [options](Tensor x, Tensor weight) { return ops::conv_transpose(x, weight, options); };
}
constexpr void transposed_convolutions(Ir& ir) {
  differentiable(ir, "conv_transpose", conv_transpose(), f32({2, 3, 4, 3}), f32({3, 2, 3, 3}));
  differentiable(ir, "conv_transpose_stride", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f32({1, 2, 3, 4}),
                 f32({2, 3, 4, 4}));
  differentiable(ir, "conv_transpose_uneven", conv_transpose({.stride = {2, 3}, .padding = {1, 0, 0, 1}}), f32({1, 5, 2, 3}),
                 f32({5, 2, 3, 4}));
  differentiable(ir, "conv_transpose_output_padding",
                 conv_transpose({.stride = {2, 3}, .padding = {1, 1, 1, 1}, .output_padding = {1, 2}}), f32({1, 2, 4, 3}),
                 f32({2, 3, 3, 3}));
  differentiable(ir, "conv_transpose_groups", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}),
                 f32({1, 4, 3, 2}), f32({4, 3, 4, 4}));
  differentiable(ir, "conv_transpose_blocks", conv_transpose({.stride = {2, 2}, .groups = 3}), f32({1, 6, 4, 3}),
                 f32({6, 2, 2, 2}));
  differentiable(ir, "conv_transpose_depthwise", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 5}),
                 f32({1, 5, 4, 3}), f32({5, 1, 3, 3}));
  differentiable(ir, "conv_transpose_dilation", conv_transpose({.stride = {1, 2}, .padding = {1, 2, 1, 0}, .dilation = {2, 3}}),
                 f32({1, 9, 4, 3}), f32({9, 2, 3, 2}));
  differentiable(ir, "conv_transpose_common", conv_transpose({.stride = {2, 4}, .dilation = {2, 2}}), f32({1, 2, 3, 2}),
                 f32({2, 5, 3, 3}));
  differentiable(ir, "conv_transpose_gaps", conv_transpose({.stride = {3, 3}}), f32({1, 2, 3, 4}), f32({2, 3, 2, 2}));
  differentiable(ir, "conv_transpose_phases", conv_transpose({.stride = {4, 3}, .padding = {2, 1, 1, 0}}), f32({1, 2, 3, 2}),
                 f32({2, 3, 5, 4}));
  differentiable(ir, "conv_transpose_crop", conv_transpose({.stride = {2, 2}, .padding = {3, 4, 2, 0}}), f32({1, 3, 5, 4}),
                 f32({3, 2, 3, 2}));
  const TensorSpec x = f32({1, 2, 3, 4}), w = f32({2, 3, 3, 4});
  differentiable(ir, "conv_transpose_output_shape", conv_transpose({.stride = {2, 2}, .output_shape = {6, 8}}), x, w);
  differentiable(
      ir, "conv_transpose_output_shape_upper",
      conv_transpose({.stride = {2, 2}, .padding = {9, 9, 9, 9}, .pad_type = PadType::same_upper, .output_shape = {1, 3, 6, 8}}),
      x, w);
  differentiable(ir, "conv_transpose_output_shape_more", conv_transpose({.stride = {2, 2}, .output_shape = {9, 7}}),
                 f32({1, 2, 3, 2}), f32({2, 3, 3, 2}));
  differentiable(ir, "conv_transpose_same_upper", conv_transpose({.stride = {2, 2}, .pad_type = PadType::same_upper}), x, w);
  differentiable(ir, "conv_transpose_same_lower", conv_transpose({.stride = {2, 2}, .pad_type = PadType::same_lower}), x, w);
  differentiable(ir, "conv_transpose_1d", conv_transpose({.stride = {3}, .padding = {2, 1}}), f32({1, 3, 7}), f32({3, 5, 5}));
  differentiable(ir, "conv_transpose_3d", conv_transpose({.stride = {1, 2, 1}, .padding = {1, 0, 1, 0, 1, 1}}),
                 f32({2, 2, 3, 2, 3}), f32({2, 3, 2, 3, 3}));
}

/// The running statistics are integers, which have no gradient.
constexpr auto batch_norm(const tw::BatchNormOptions& options = {}, tw::DType statistics = tw::float32) {
  return [=](Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var) {
    return ops::batch_norm(x, scale, bias, mean.cast(statistics), var.cast(statistics), options);
  };
}
/// The result, and the statistics, which are variables, after it.
constexpr void running(Ir& ir, std::string_view name, const std::array<TensorSpec, 5>& specs) {
  const Case test(ir, name);
  Tensor x[5];
  for (std::size_t i = 0; i < 5; ++i) x[i] = test.variable("x", i, specs[i]);
  const Tensor y = ops::batch_norm(x[0], x[1], x[2], x[3], x[4], {.momentum = 0.25});
  test.store("y", 0, y);
  test.store("y", 1, x[3]);
  test.store("y", 2, x[4]);
}
constexpr auto batch_norm_inference = [](Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var) {
  return ops::batch_norm_inference(x, scale, bias, mean, var);
};
constexpr auto interpolate(const std::vector<double>& scales, const tw::InterpolateOptions& options = {}) {
  return [=](Tensor x) { return ops::interpolate(x, scales, options); };
}
constexpr auto roi_align(const tw::RoiAlignOptions& options) {
  return [options](Tensor x, Tensor rois, Tensor index) { return ops::roi_align(x, rois.cast(x.dtype()), index, options); };
}
constexpr void normalisation_of_batches(Ir& ir) {
  const auto channels = [](std::int64_t n) { return f32({n}); };
  differentiable(ir, "batch_norm", batch_norm(), f32({3, 4, 3, 3}), channels(4), channels(4), i32({4}), i32({4}));
  differentiable(ir, "batch_norm_rows", batch_norm({.eps = 0.125}), f32({7, 5}), channels(5), channels(5), i32({5}), i32({5}));
  differentiable(ir, "batch_norm_one", batch_norm({.eps = 0.5}), f32({1, 3, 19}), channels(3), channels(3), i32({3}), i32({3}));
  running(ir, "batch_norm_running", {f32({3, 4, 5}), channels(4), channels(4), channels(4), channels(4)});
  differentiable(ir, "batch_norm_inference", batch_norm_inference, f32({3, 4, 3, 3}), channels(4), channels(4), channels(4),
                 channels(4));
  differentiable(ir, "batch_norm_inference_rows", batch_norm_inference, f32({7, 5}), channels(5), channels(5), channels(5),
                 channels(5));
}
constexpr void images(Ir& ir) {
  using enum CoordinateMode;
  using enum NearestMode;
  const auto nearest = [](NearestMode mode, CoordinateMode coordinates) {
    return tw::InterpolateOptions{ResizeMode::nearest, mode, coordinates};
  };
  const auto linear = [](CoordinateMode coordinates) {
    return tw::InterpolateOptions{.mode = ResizeMode::linear, .coordinate_transformation_mode = coordinates};
  };
  differentiable(ir, "interpolate", interpolate({1, 1, 2, 3}), f32({1, 2, 4, 5}));
  differentiable(ir, "interpolate_ceil", interpolate({1, 1, 1.5, 2.5}, nearest(ceil, asymmetric)), f32({2, 2, 3, 5}));
  differentiable(ir, "interpolate_floor", interpolate({1, 1, 1.75}, nearest(floor, asymmetric)), f32({2, 2, 5}));
  differentiable(ir, "interpolate_round_ceil", interpolate({1, 1, 2, 2}, nearest(round_prefer_ceil, align_corners)),
                 f32({1, 2, 3, 4}));
  differentiable(ir, "interpolate_round_floor", interpolate({1, 1, 2, 2}, nearest(round_prefer_floor, asymmetric)),
                 f32({1, 2, 3, 4}));
  differentiable(ir, "interpolate_round_half", interpolate({1, 1, 2, 2}, nearest(round_prefer_ceil, asymmetric)),
                 f32({1, 2, 3, 4}));
  differentiable(ir, "interpolate_tf", interpolate({1, 1, 2.5}, nearest(floor, tf_half_pixel_for_nn)), f32({1, 3, 4}));
  differentiable(ir, "interpolate_channels", interpolate({2, 1.5, 1}), f32({2, 3, 4}));
  differentiable(ir, "interpolate_linear", interpolate({1, 1, 2, 1.25}, linear(half_pixel)), f32({1, 1, 2, 37}));
  differentiable(ir, "interpolate_linear_1d", interpolate({1, 1, 2.5}, linear(asymmetric)), f32({2, 3, 7}));
  differentiable(ir, "interpolate_linear_corners", interpolate({1, 1, 3, 1.5}, linear(align_corners)), f32({2, 2, 3, 4}));
  differentiable(ir, "interpolate_linear_3d", interpolate({1, 1, 2, 1.5, 1.25}, linear(pytorch_half_pixel)),
                 f32({1, 2, 2, 3, 4}));
  differentiable(ir, "interpolate_linear_one", interpolate({1, 1, 1.5, 2}, linear(pytorch_half_pixel)), f32({1, 2, 1, 3}));
  differentiable(ir, "interpolate_cubic", interpolate({1, 1, 2, 1.5}, {.mode = ResizeMode::cubic}), f32({1, 2, 4, 5}));
  differentiable(ir, "interpolate_cubic_corners",
                 interpolate({1, 1, 1.5, 3}, {.mode = ResizeMode::cubic, .coordinate_transformation_mode = align_corners}),
                 f32({1, 2, 3, 2}));
  differentiable(ir, "roi_align", roi_align({.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2}),
                 f32({2, 3, 6, 7}), i32({4, 4}), i32({4}));
  differentiable(ir, "roi_align_adaptive", roi_align({.output_size = {2, 2}, .spatial_scale = 0.5}), f32({2, 2, 6, 7}),
                 i32({4, 4}), i32({4}));
}

constexpr auto max_pool_of(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options) {
  return [=](Tensor x) { return ops::max_pool(x, kernel, options); };
}
constexpr auto average_pool_of(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options) {
  return [=](Tensor x) { return ops::average_pool(x, kernel, options); };
}
constexpr void pools_with_gaps(Ir& ir) {
  differentiable(ir, "max_pool_out_pads", max_pool_of({2, 2}, {.stride = {2, 2}, .out_pads = {1, 0, 2, 1}}), f32({2, 3, 6, 5}));
  differentiable(ir, "max_pool_in_dilations",
                 max_pool_of({3, 4}, {.stride = {2, 1}, .padding = {1, 0, 1, 0}, .in_dilations = {2, 3}}), f32({2, 2, 4, 3}));
  differentiable(ir, "max_pool_gaps_1d", max_pool_of({3}, {.padding = {1, 1}, .out_pads = {0, 2}, .in_dilations = {2}}),
                 f32({2, 2, 7}));
  differentiable(
      ir, "max_pool_gaps_3d",
      max_pool_of({2, 2, 2}, {.padding = {0, 0, 0, 0, 1, 0}, .out_pads = {1, 0, 0, 0, 0, 1}, .in_dilations = {1, 2, 1}}),
      f32({1, 2, 3, 2, 4}));
  differentiable(ir, "average_pool_dilation", average_pool_of({2, 3}, {.padding = {1, 2, 1, 1}, .dilation = {3, 2}}),
                 f32({1, 2, 7, 6}));
  differentiable(ir, "average_pool_dilation_stride", average_pool_of({3}, {.stride = {2}, .padding = {2, 1}, .dilation = {2}}),
                 f32({1, 3, 13}));
  differentiable(ir, "average_pool_gaps",
                 average_pool_of({2, 3}, {.padding = {0, 1, 0, 1}, .out_pads = {0, 1, 2, 0}, .in_dilations = {2, 2}}),
                 f32({2, 2, 4, 3}));
}

/// Of the above: one of each kind of work, for machines on which it is cut.
constexpr void networks_in_tiles(Ir& ir) {
  differentiable(ir, "conv_transpose_stride", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f32({1, 2, 3, 4}),
                 f32({2, 3, 4, 4}));
  differentiable(ir, "conv_transpose_groups", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}),
                 f32({1, 4, 3, 2}), f32({4, 3, 4, 4}));
  differentiable(ir, "batch_norm", batch_norm(), f32({3, 4, 3, 3}), f32({4}), f32({4}), i32({4}), i32({4}));
  differentiable(ir, "batch_norm_inference", batch_norm_inference, f32({3, 4, 3, 3}), f32({4}), f32({4}), f32({4}), f32({4}));
  differentiable(ir, "interpolate_linear", interpolate({1, 1, 2, 1.25}, {.mode = ResizeMode::linear}), f32({1, 1, 2, 37}));
  differentiable(ir, "roi_align", roi_align({.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2}),
                 f32({2, 3, 6, 7}), i32({4, 4}), i32({4}));
  differentiable(ir, "max_pool_out_pads", max_pool_of({2, 2}, {.stride = {2, 2}, .out_pads = {1, 0, 2, 1}}), f32({2, 3, 6, 5}));
  differentiable(ir, "average_pool_gaps",
                 average_pool_of({2, 3}, {.padding = {0, 1, 0, 1}, .out_pads = {0, 1, 2, 0}, .in_dilations = {2, 2}}),
                 f32({2, 2, 4, 3}));
}

constexpr auto product_to(tw::DType dtype) {
  return [dtype](Tensor a, Tensor b) { return ops::matmul(a, b, {.output_type = dtype}); };
}
constexpr auto product = [](Tensor a, Tensor b) { return a.matmul(b); };
constexpr auto cross_entropy(const NllOptions& options) {
  return [options](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, options); };
}
constexpr auto cross_entropy_with_grad(const NllOptions& options) {
  return [options](Tensor x, Tensor labels, Tensor scaling) {
    const auto both = ops::cross_entropy_with_grad(x, labels, scaling, options);
    return std::array{both.loss, both.gradient};
  };
}
constexpr auto layer_norm_of = [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, 0.125); };
constexpr auto group_norm_of = [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 2, 0.125); };

constexpr void networks_in_float64(Ir& ir) {
  differentiable(ir, "conv_transpose_double", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64({2, 3, 3, 4}),
                 f64({3, 2, 4, 3}));
  differentiable(ir, "batch_norm_double", batch_norm({}, tw::float64), f64({3, 2, 2, 3, 2}), f64({2}), f64({2}), i32({2}),
                 i32({2}));
  differentiable(ir, "batch_norm_inference_double", batch_norm_inference, f64({2, 3, 2, 3, 2}), f64({3}), f64({3}), f64({3}),
                 f64({3}));
  differentiable(ir, "interpolate_double", interpolate({1, 1, 2, 1.5}, {.mode = ResizeMode::cubic}), f64({1, 2, 4, 5}));
  differentiable(ir, "roi_align_double", roi_align({.output_size = {1, 2}, .sampling_ratio = 1}), f64({2, 2, 5, 6}), i32({4, 4}),
                 i32({4}));
  differentiable(ir, "max_pool_gaps_double", max_pool_of({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}),
                 f64({2, 2, 4, 3}));
  differentiable(ir, "average_pool_gaps_double", average_pool_of({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}),
                 f64({2, 2, 4, 3}));
  differentiable(
      ir, "double_conv", [](Tensor x, Tensor w) { return ops::conv(x, w, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}); },
      f64({1, 3, 5, 6}), f64({2, 3, 3, 3}));
  differentiable(
      ir, "double_conv_groups", [](Tensor x, Tensor w) { return ops::conv(x, w, {.dilation = {2}, .groups = 2}); },
      f64({2, 4, 9}), f64({6, 2, 3}));
  differentiable(ir, "double_max_pool", max_pool_of({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64({1, 2, 7, 6}));
  differentiable(ir, "double_max_pool_tiles", max_pool_of({2, 2}, {.stride = {2, 2}}), f64({1, 2, 4, 19}));
  differentiable(ir, "double_average_pool", average_pool_of({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}),
                 f64({1, 2, 7, 6}));
  differentiable(ir, "double_matmul", product, f64({2, 37}), f64({37, 3}));
  differentiable(ir, "double_softmax", [](Tensor x) { return ops::softmax(x); }, f64({3, 19}));
  differentiable(ir, "double_layer_norm", layer_norm_of, f64({4, 19}), f64({19}), f64({19}));
  differentiable(ir, "double_group_norm", group_norm_of, f64({2, 4, 3, 5}), f64({4}), f64({4}));
  differentiable(ir, "double_nll_loss", [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); }, f64({4, 3}), i32({4}));
  differentiable(ir, "double_cross_entropy", cross_entropy({.ignore_index = 0}), f64({4, 3}), i32({4}));
}
/// Results and gradients with the rounding of half precision.
constexpr void networks_in_float16(Ir& ir) {
  differentiable(ir, "conv_transpose_half", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f16({2, 3, 3, 4}),
                 f16({3, 2, 4, 3}));
  differentiable(ir, "batch_norm_half", batch_norm({.eps = 0.125}), f16({4, 3, 7}), f16({3}), f16({3}), i32({3}), i32({3}));
  running(ir, "batch_norm_running_half", {f16({3, 4, 5}), f16({4}), f16({4}), f32({4}), f16({4})});
  differentiable(ir, "batch_norm_inference_half", batch_norm_inference, f16({2, 3, 19}), f16({3}), f16({3}), f32({3}), f16({3}));
  differentiable(ir, "interpolate_half", interpolate({1, 1, 2, 1.5}, {.mode = ResizeMode::linear}), f16({1, 2, 4, 5}));
  differentiable(ir, "roi_align_half", roi_align({.output_size = {2, 2}, .spatial_scale = 0.5, .sampling_ratio = 2}),
                 f16({2, 2, 5, 6}), i32({4, 4}), i32({4}));
  differentiable(ir, "max_pool_gaps_half", max_pool_of({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}),
                 f16({2, 2, 4, 3}));
  differentiable(ir, "average_pool_gaps_half", average_pool_of({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}),
                 f16({2, 2, 4, 3}));
  differentiable(ir, "half_cross_entropy", cross_entropy({.reduction = Reduction::sum}), f16({4, 3}), i32({4}));
  forward(ir, "half_cross_entropy_with_grad", cross_entropy_with_grad({.reduction = Reduction::sum}), f16({4, 3}), i32({4}),
          f32({}));
  differentiable(ir, "matmul_to_half", product_to(tw::float16), f32({2, 30}), f32({30, 5}));
  differentiable(ir, "matmul_to_float", product_to(tw::float32), f16({2, 37}), f16({37, 3}));
}
constexpr void other_networks(Ir& ir) {
  differentiable(ir, "matmul_to_double", product_to(tw::float64), f32({2, 30}), f32({30, 5}));
  differentiable(ir, "cross_entropy_sum", cross_entropy({.reduction = Reduction::sum}), f32({4, 3}), i32({4}));
  const TensorSpec labels{{4}, tw::uint32};
  differentiable(ir, "nll_loss_uint32", [](Tensor p, Tensor l) { return ops::nll_loss(p, l); }, f32({4, 3}), labels);
  forward(ir, "cross_entropy_with_grad_uint32", cross_entropy_with_grad({.reduction = Reduction::sum}), f32({4, 3}), labels,
          f32({}));
  forward(ir, "cross_entropy_with_grad_tensor", cross_entropy_with_grad({}), f32({4, 3}), i32({4}), f32({}));
  forward(ir, "double_cross_entropy_with_grad", cross_entropy_with_grad({.reduction = Reduction::none}), f64({4, 3}), i32({4}),
          f64({}));
}
/// Integers wrap around.
constexpr void products_of_integers(Ir& ir) {
  for (const tw::DType dtype : {tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
    forward(ir, tw::text("matmul_", tw::to_text(dtype)).view(), product, TensorSpec{{2, 19}, dtype}, TensorSpec{{19, 3}, dtype});
}

}  // namespace op_cases
