#pragma once
// Steps of the generator: products, convolutions, and the other ops of networks.
#include "generator.hpp"

namespace random_programs {

/// A product of matrices with another tensor, or with its own transposed.
constexpr void Generator::product() {
  const auto found = find([&](const Known& k) {
    return k.rank() >= 1 && k.rank() <= 4 && !k.is_bool() && k.tensor.nelms() <= 600 && (!features_.gradients || k.is_real());
  });
  if (!found) return binary();
  const Known x = *found;
  const auto inner = x.tensor.shape(-1);
  tw::MatMulOptions options;
  if (x.is_real() && random_.one_in(4)) options.partials_type = random_.one_in(2) ? tw::float16 : tw::float32;
  if (x.is_real() && !features_.gradients && random_.one_in(4))
    options.output_type = random_.one_in(2) ? tw::float16 : tw::float32;
  const bool is_rounded = options.partials_type == tw::float16 || options.output_type;
  const auto give = [&](const Known& a, const Known& b) {
    const Elements sums = times(a.elements * b.elements, inner);
    if (sums.bound() > most_whole) return;
    push(ops::matmul(a.tensor, b.tensor, options), is_rounded ? sums.rounded() : sums);
  };
  for (int tries = 0; tries < 6; ++tries) {
    const Known y = recent();
    if (y.tensor.dtype() != x.tensor.dtype() || y.rank() > 2 || y.rank() == 0) continue;
    if (y.tensor.shape(y.rank() == 1 ? 0 : -2) != inner) continue;
    return give(x, y);
  }
  if (x.rank() != 2 || random_.one_in(2)) return give(x, tensor_of({inner, 1 + random_.below(9)}, x.tensor.dtype()));
  Known transposed = x;
  transposed.tensor = x.tensor.T();
  give(x, transposed);
}

/// A tensor of samples, channels and spatial axes.
constexpr Known Generator::image() {
  const auto found = find([](const Known& k) { return k.is_real() && k.tensor.nelms() <= 300 && k.rank() <= 5; });
  Known x = found ? *found : constant({1, 2, 6}, tw::float32);
  const Shape shape = x.tensor.shape();
  if (shape.rank < 2) x.tensor = x.tensor.reshape({1, 1, -1});
  else if (shape.rank == 2) x.tensor = x.tensor.reshape({1, shape[0], shape[1]});
  const Shape now = x.tensor.shape();
  if (now.rank == 3 && now[2] % 2 == 0 && now[2] > 2 && random_.one_in(2))
    x.tensor = x.tensor.reshape({now[0], now[1], 2, now[2] / 2});
  return x;
}

constexpr void Generator::convolution() {
  const Known x = image();
  const Shape shape = x.tensor.shape();
  const int axes = shape.rank - 2;
  const std::int64_t channels = shape[1];
  std::int64_t groups = 1;
  if (random_.one_in(3)) groups = channels % 2 == 0 ? 2 : channels <= 8 ? channels : 1;
  const std::int64_t results = groups * (1 + random_.below(3));
  const bool transposed = random_.one_in(3);
  Shape of_weight = transposed ? Shape{channels, results / groups} : Shape{results, channels / groups};
  tw::List<std::int64_t> stride, padding, dilation;
  for (int axis = 0; axis < axes; ++axis) {
    of_weight.push_back(1 + random_.below(smaller(3, static_cast<double>(shape[2 + axis]))));
    stride.push_back(1 + random_.below(2));
    dilation.push_back(1);
  }
  if (random_.one_in(4))
    for (int axis = 0; axis < axes; ++axis)
      if (2 * (of_weight[2 + axis] - 1) < shape[2 + axis]) dilation[static_cast<std::size_t>(axis)] = 2;
  for (int i = 0; i < 2 * axes; ++i) padding.push_back(transposed ? 0 : random_.below(2));
  const Known weight = tensor_of(of_weight, x.tensor.dtype());
  std::int64_t count = of_weight.nelms() / of_weight[0];
  if (transposed) count = of_weight.nelms();
  const Elements sums = times(x.elements * weight.elements, count), result = hull(sums, {0, 0, 0, 0});
  const tw::PadType types[] = {tw::PadType::not_set, tw::PadType::not_set, tw::PadType::same_upper, tw::PadType::same_lower,
                               tw::PadType::valid};
  const tw::PadType type = types[random_.below(5)];
  if (transposed) {
    tw::ConvTransposeOptions options{
        .stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .pad_type = type};
    if (type == tw::PadType::not_set && random_.one_in(2))
      for (int axis = 0; axis < axes; ++axis)
        options.output_padding.push_back(random_.below(stride[static_cast<std::size_t>(axis)]));
    if (type == tw::PadType::same_upper && random_.one_in(2))
      for (int axis = 0; axis < axes; ++axis) options.output_shape.push_back(shape[2 + axis] + random_.below(2));
    return push(ops::conv_transpose(x.tensor, weight.tensor, options), result);
  }
  push(ops::conv(x.tensor, weight.tensor,
                 {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .pad_type = type}),
       result);
}

constexpr void Generator::pool() {
  Known x = image();
  const bool largest_of = random_.one_in(2);
  if (features_.gradients && largest_of) {
    if (!x.exact() || x.elements.slope > 8 || x.tensor.nelms() > 64) return convolution();
    const auto moved = distinct(x);
    if (!moved) return convolution();
    x = *moved;
  }
  const Shape shape = x.tensor.shape();
  const int axes = shape.rank - 2;
  tw::List<std::int64_t> kernel;
  tw::PoolOptions options{.ceil_mode = random_.one_in(4)};
  const bool has_gaps = random_.one_in(4), has_zeros = random_.one_in(5);
  for (int axis = 0; axis < axes; ++axis) {
    const int size = 1 + random_.below(smaller(3, static_cast<double>(shape[2 + axis])));
    kernel.push_back(size);
    options.stride.push_back(1 + random_.below(size));
  }
  for (int i = 0; i < 2 * axes; ++i) {
    const std::size_t axis = static_cast<std::size_t>(i % axes);
    options.padding.push_back(kernel[axis] > 1 && !has_gaps ? random_.below(2) : 0);
    if (has_zeros) options.out_pads.push_back(random_.below(2));
  }
  if (has_gaps)  // windows of at least 2 elements along each axis always have one of x
    for (int axis = 0; axis < axes; ++axis)
      options.in_dilations.push_back(kernel[static_cast<std::size_t>(axis)] > 1 && !options.ceil_mode ? 2 : 1);
  if (random_.one_in(5)) options.auto_pad = random_.one_in(2) ? tw::PadType::same_upper : tw::PadType::same_lower;
  const Elements result = has_zeros ? hull(x.elements, {0, 0, 0, 0}) : x.elements;
  if (largest_of) return push(ops::max_pool(x.tensor, kernel, options), result);
  push(ops::average_pool(x.tensor, kernel, options), result.rounded());
}

constexpr void Generator::normalise() {
  const auto found = find([](const Known& k) { return k.is_real() && k.rank() >= 2 && k.tensor.nelms() <= 600; });
  if (!found) return unary();
  const Known x = *found;
  const DType dtype = x.tensor.dtype();
  const double eps = 0.125;
  const bool by_line = random_.one_in(3);
  const Shape channels{x.tensor.shape(by_line ? -1 : 1)};
  const Known weight = tensor_of(channels, dtype), bias = tensor_of(channels, dtype);
  const auto all = static_cast<double>(x.tensor.nelms());
  const double spread = smaller(2 * x.bound() / 0.35, all), bound = spread * weight.bound() + bias.bound();
  if (by_line) return push(ops::layer_norm(x.tensor, weight.tensor, bias.tensor, eps), {-bound, bound});
  if (random_.one_in(3)) {
    const std::int64_t groups = channels[0] % 2 == 0 ? 2 : 1;
    return push(ops::group_norm(x.tensor, weight.tensor, bias.tensor, groups, eps), {-bound, bound});
  }
  const DType of_statistics = tw::is_half(dtype) && random_.one_in(2) ? tw::float32 : dtype;
  if (random_.one_in(2)) {
    const Known mean = tensor_of(channels, of_statistics), deviation = tensor_of(channels, of_statistics);
    const double most = (x.bound() + mean.bound()) * 3 * weight.bound() + bias.bound();
    const Tensor variance = deviation.tensor * deviation.tensor;
    return push(ops::batch_norm_inference(x.tensor, weight.tensor, bias.tensor, mean.tensor, variance, eps), {-most, most});
  }
  if (x.tensor.nelms() / channels[0] < 2 || features_.repeats) return;
  const Tensor mean = ops::init(ir_, channels, of_statistics), variance = ops::init(ir_, channels, of_statistics);
  push(ops::batch_norm(x.tensor, weight.tensor, bias.tensor, mean, variance, {.momentum = 0.25, .eps = eps}), {-bound, bound});
  if (features_.gradients) return;
  push(mean, {-x.bound(), x.bound()});
  push(variance, {0, 4 * x.bound() * x.bound()});
}

constexpr void Generator::resize() {
  const Known x = image();
  const Tensor t = x.tensor;
  if (random_.one_in(3)) {  // regions of an image
    const Shape shape = t.shape();
    const Tensor plane = shape.rank == 4 ? t : t.reshape({shape[0], 1, shape[1], t.nelms() / shape[0] / shape[1]});
    const int count = 1 + random_.below(3);
    tw::List<double> regions;
    for (int i = 0; i < count; ++i) {
      const double left = 0.37 * random_.below(5), top = 0.41 * random_.below(5);
      for (const double place : {left, top, left + 0.9 + random_.below(4), top + 1.1 + random_.below(4)})
        regions.push_back(place);
    }
    const Tensor rois = ir_.constant(regions, {count, 4}, tw::float32), images = indices({count}, shape[0], false);
    return push(ops::roi_align(plane, rois, images,
                               {.output_size = {1 + random_.below(2), 1 + random_.below(3)},
                                .spatial_scale = random_.one_in(2) ? 1 : 0.5,
                                .sampling_ratio = random_.below(3)}),
                hull(x.elements, {0, 0, 0, 0}).rounded());
  }
  tw::InterpolateOptions options{.mode = static_cast<tw::ResizeMode>(random_.below(3)),
                                 .nearest_mode = static_cast<tw::NearestMode>(random_.below(4)),
                                 .coordinate_transformation_mode = static_cast<tw::CoordinateMode>(random_.below(5))};
  tw::List<double> scales;
  for (int axis = 0; axis < t.rank(); ++axis) {
    const double choices[] = {1.25, 1.5, 2};
    scales.push_back(axis >= t.rank() - 2 && random_.one_in(2) ? choices[random_.below(3)] : 1);
  }
  push(ops::interpolate(t, scales, options), {-2 * x.bound(), 2 * x.bound()});
}

/// Losses of probabilities and labels.
constexpr void Generator::loss() {
  const auto found = find(
      [](const Known& k) { return k.is_real() && k.rank() > 0 && k.bound() <= 3 && k.tensor.shape(-1) <= 17; });
  const Known x = found ? *found : constant({3, 4}, tw::float32);
  Shape rows = x.tensor.shape();
  const std::int64_t classes = rows[-1];
  rows.extents[--rows.rank] = 0;
  const Tensor labels = indices(rows, classes, false);
  tw::NllOptions options{.reduction = static_cast<tw::Reduction>(random_.below(3))};
  if (random_.one_in(3)) options.ignore_index = random_.below(classes);
  const Elements result{0, 9 * static_cast<double>(options.reduction == tw::Reduction::sum ? rows.nelms() : 1)};
  switch (random_.below(features_.gradients ? 2 : 3)) {
    case 0: return push(ops::cross_entropy(x.tensor, labels, options), result);
    case 1: options.log_prob = true; return push(ops::nll_loss(ops::log(ops::softmax(x.tensor)), labels, options), result);
    default: {
      const bool of_logits = random_.one_in(2);
      const auto with_grad = [&](auto loss_grad) {
        if (of_logits) return ops::cross_entropy_with_grad(x.tensor, labels, loss_grad, options);
        return ops::nll_loss_with_softmax_grad(ops::softmax(x.tensor), labels, loss_grad, options);
      };
      const auto both = random_.one_in(2) ? with_grad(constant({}, tw::float32).tensor) : with_grad(1.5);
      push(both.loss, result);
      push(both.gradient, {-2, 2});
    }
  }
}

/// Losses of ops/nn/losses.hpp that are ops of their own.
constexpr void Generator::loss_of_options() {
  const auto reduction = static_cast<tw::Reduction>(random_.below(3));
  const auto total = [&](double most, std::int64_t count) {
    return Elements{0, most * static_cast<double>(reduction == tw::Reduction::sum ? count : 1)};
  };
  switch (random_.below(3)) {
    case 0: {
      const Known x = real_up_to(16);
      const Tensor target = like(x).tensor;
      const double width = 0.5 + random_.below(3);
      const Elements result = total(width * 32 + 8, x.tensor.nelms());
      if (random_.one_in(2)) return push(ops::huber_loss(x.tensor, target, {.delta = width, .reduction = reduction}), result);
      return push(ops::smooth_l1_loss(x.tensor, target, {.beta = width, .reduction = reduction}), result);
    }
    case 1: {
      const Known x = real_up_to(16);
      tw::BinaryCrossEntropyOptions options{.reduction = reduction};
      if (x.rank() > 0 && random_.one_in(2))
        options.pos_weight = ops::exp(constant({x.tensor.shape(-1)}, x.tensor.dtype()).tensor);
      return push(ops::binary_cross_entropy_with_logits(x.tensor, ops::sigmoid(like(x).tensor), options),
                  total(8 * (x.bound() + 1), x.tensor.nelms()));
    }
    default: {
      const auto found = find(
          [](const Known& k) { return k.is_real() && k.rank() > 0 && k.bound() <= 3 && k.tensor.shape(-1) <= 17; });
      const Known x = found ? *found : constant({3, 4}, tw::float32);
      Shape rows = x.tensor.shape();
      const std::int64_t classes = rows[-1];
      rows.extents[--rows.rank] = 0;
      tw::CrossEntropyOptions options{.reduction = reduction, .label_smoothing = random_.below(3) / 4.0};
      if (random_.one_in(3)) options.ignore_index = random_.below(classes);
      if (options.label_smoothing == 0 || random_.one_in(2))
        options.weight = ops::exp(constant({classes}, x.tensor.dtype()).tensor);
      return push(ops::cross_entropy(x.tensor, indices(rows, classes, false), options), total(64, rows.nelms()));
    }
  }
}

}  // namespace random_programs
