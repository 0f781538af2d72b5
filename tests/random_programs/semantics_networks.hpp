#pragma once
// Meanings of products, convolutions, and the other ops of networks.
#include "semantics_reductions.hpp"
#include "tilewright/ops/nn/losses.hpp"

namespace random_programs::meaning {

inline std::vector<Array> matmul(const tw::Node&, Inputs inputs, Specs outputs) {
  const Array &a = inputs[0], &b = inputs[1];
  Array result(outputs[0]);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Index index = index_of(i, result.spec.shape);
    for (std::int64_t k = 0; k < a.extent(-1); ++k) {
      Index left = index, right = index;
      left.back() = k;
      right[right.size() - 2] = k;
      result[i] += broadcast_at(a, left) * broadcast_at(b, right);
    }
  }
  return {result};
}

/// How windows move along the spatial axes.
struct Steps {
  Index stride{}, dilation{}, begin{};

  /// Of `in` elements along each axis, with a kernel of the given extents.
  Steps(const tw::WindowAttributes& given, const Index& in, const Index& kernel)
      : stride(in.size(), 1), dilation(in.size(), 1), begin(in.size(), 0) {
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      if (given.stride_count > 0) stride[axis] = given.stride[axis];
      if (given.dilation_count > 0) dilation[axis] = given.dilation[axis];
      if (given.pad_type == tw::PadType::not_set && given.padding_count > 0) begin[axis] = given.padding[axis];
      if (given.pad_type != tw::PadType::same_upper && given.pad_type != tw::PadType::same_lower) continue;
      const std::int64_t results = (in[axis] - 1) / stride[axis] + 1;
      const std::int64_t all = (results - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1 - in[axis];
      if (all > 0) begin[axis] = given.pad_type == tw::PadType::same_upper ? all / 2 : (all + 1) / 2;
    }
  }
  std::int64_t place(std::size_t axis, std::int64_t result, std::int64_t of_kernel) const {
    return result * stride[axis] + of_kernel * dilation[axis] - begin[axis];
  }
};
inline Index spatial(const tw::Shape& shape) {
  Index result;
  for (int axis = 2; axis < shape.rank; ++axis) result.push_back(shape[axis]);
  return result;
}

inline std::vector<Array> convolution(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::WindowAttributes>(node.attributes);
  const Array &x = inputs[0], &w = inputs[1];
  const Steps steps(attributes, spatial(x.spec.shape), spatial(w.spec.shape));
  Array result(outputs[0]);
  const std::int64_t results_of_group = w.extent(0) / attributes.groups;
  for_each_index(result.spec.shape, [&](const Index& index) {
    double total = 0;
    tw::Shape kernel = w.spec.shape;
    kernel[0] = 1;
    for_each_index(kernel, [&](Index of_kernel) {
      of_kernel[0] = index[1];
      Index from{index[0], index[1] / results_of_group * w.extent(1) + of_kernel[1]};
      bool inside = true;
      for (std::size_t axis = 2; axis < index.size(); ++axis) {
        from.push_back(steps.place(axis - 2, index[axis], of_kernel[axis]));
        inside = inside && from[axis] >= 0 && from[axis] < x.extent(static_cast<int>(axis));
      }
      if (inside) total += element(x, from) * element(w, of_kernel);
    });
    element(result, index) = total;
  });
  return {result};
}
inline std::vector<Array> transposed_convolution(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::ConvTransposeAttributes>(node.attributes);
  const tw::WindowAttributes& given = attributes;
  const Array &x = inputs[0], &w = inputs[1];
  Array result(outputs[0]);
  const Index in = spatial(x.spec.shape), out = spatial(result.spec.shape), kernel = spatial(w.spec.shape);
  Steps steps(given, in, kernel);
  const bool is_same = given.pad_type == tw::PadType::same_upper || given.pad_type == tw::PadType::same_lower;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    if (!is_same && attributes.output_shape_count == 0) continue;
    std::int64_t all = (in[axis] - 1) * steps.stride[axis] + (kernel[axis] - 1) * steps.dilation[axis] + 1 - out[axis];
    if (attributes.output_padding_count > 0) all += attributes.output_padding[axis];
    all = std::max<std::int64_t>(all, 0);
    steps.begin[axis] = given.pad_type == tw::PadType::same_upper ? all / 2 : all - all / 2;
  }
  const std::int64_t channels_of_group = x.extent(1) / given.groups;
  for_each_index(x.spec.shape, [&](const Index& index) {
    tw::Shape of_one = w.spec.shape;
    of_one[0] = 1;
    for_each_index(of_one, [&](Index of_kernel) {
      of_kernel[0] = index[1];
      Index to{index[0], index[1] / channels_of_group * w.extent(1) + of_kernel[1]};
      bool inside = true;
      for (std::size_t axis = 2; axis < index.size(); ++axis) {
        to.push_back(steps.place(axis - 2, index[axis], of_kernel[axis]));
        inside = inside && to[axis] >= 0 && to[axis] < result.extent(static_cast<int>(axis));
      }
      if (inside) element(result, to) += element(x, index) * element(w, of_kernel);
    });
  });
  return {result};
}

/// combine(the elements of x in a window) for each window; zeros around them.
template <class F>
Meaning pooling(F combine) {
  return [combine](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::PoolAttributes>(node.attributes);
    const Array& x = inputs[0];
    const std::size_t axes = at(x.rank() - 2);
    Index apart(axes, 1), kernel, spread = spatial(x.spec.shape);
    tw::Shape window;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (attributes.dilations_count > 0) apart[axis] = attributes.in_dilations[axis];
      spread[axis] = (spread[axis] - 1) * apart[axis] + 1;
      kernel.push_back(attributes.windows.kernel[axis]);
      window.push_back(kernel.back());
    }
    const Steps steps(attributes.windows, spread, kernel);
    Array result(outputs[0]);
    for_each_index(result.spec.shape, [&](const Index& index) {
      Index of_window(index.begin() + 2, index.end());
      for (std::size_t axis = 0; attributes.pads_count > 0 && axis < axes; ++axis) {
        of_window[axis] -= attributes.out_pads[axis];
        const auto behind = result.extent(static_cast<int>(axis) + 2) - attributes.out_pads[axis] -
                            attributes.out_pads[axis + axes];
        if (of_window[axis] < 0 || of_window[axis] >= behind) return;
      }
      Line elements;
      for_each_index(window, [&](const Index& of_kernel) {
        Index from{index[0], index[1]};
        for (std::size_t axis = 0; axis < axes; ++axis) {
          const std::int64_t place = steps.place(axis, of_window[axis], of_kernel[axis]);
          if (place < 0 || place >= spread[axis] || place % apart[axis] != 0) return;
          from.push_back(place / apart[axis]);
        }
        elements.push_back(element(x, from));
      });
      element(result, index) = combine(elements);
    });
    return std::vector{result};
  };
}

/// Normalisation of lines, or of groups of channels.
inline std::vector<Array> normalise(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto [groups, eps] = tw::unpack<tw::NormAttributes>(node.attributes);
  const Array& x = inputs[0];
  const bool by_line = is_op<tw::LayerNorm>(node);
  std::vector<Array> results{x.copy(), Array(outputs[1]), Array(outputs[2])};
  const std::size_t blocks = results[1].size(), size = x.size() / blocks, channels = inputs[1].size();
  for (std::size_t block = 0; block < blocks; ++block) {
    double mean = 0, variance = 0;
    for (std::size_t i = block * size; i < (block + 1) * size; ++i) mean += x[i] / real(size);
    for (std::size_t i = block * size; i < (block + 1) * size; ++i) variance += std::pow(x[i] - mean, 2) / real(size);
    results[1][block] = mean;
    results[2][block] = 1 / std::sqrt(variance + eps);
    for (std::size_t i = block * size; i < (block + 1) * size; ++i) {
      const std::size_t channel = by_line ? i % channels : at(index_of(i, x.spec.shape)[1]);
      results[0][i] = (x[i] - mean) * results[2][block] * inputs[1][channel] + inputs[2][channel];
    }
  }
  return results;
}

/// ONNX's Resize along one axis.
inline Line resized(const Line& line, const tw::ResizeAttributes& attributes) {
  using enum tw::CoordinateMode;
  const auto& [axis, in, out, scale, options] = attributes;
  const auto mode = options.coordinate_transformation_mode;
  const auto clamped = [&line, last = real(line.size() - 1)](double place) {
    return line[at(static_cast<std::int64_t>(std::clamp(place, 0.0, last)))];
  };
  Line result;
  for (std::int64_t i = 0; i < out; ++i) {
    double x = (real(i) + 0.5) / scale - 0.5;
    if (mode == pytorch_half_pixel && out == 1) x = 0;
    if (mode == asymmetric) x = real(i) / scale;
    if (mode == tf_half_pixel_for_nn) x = (real(i) + 0.5) / scale;
    if (mode == align_corners) x = out == 1 ? 0 : real(i) * real(in - 1) / real(out - 1);
    const double first = std::floor(x), t = x - first;
    if (options.mode == tw::ResizeMode::linear) {
      const double inside = std::clamp(x, 0.0, real(in - 1)), before = std::floor(inside);
      result.push_back(clamped(before) + (inside - before) * (clamped(before + 1) - clamped(before)));
    } else if (options.mode == tw::ResizeMode::cubic) {
      double total = 0;
      for (int k = -1; k <= 2; ++k) {
        const double d = std::abs(t - k), a = -0.75;
        const double weight = d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * (d * d * d - 5 * d * d + 8 * d - 4);
        total += weight * clamped(first + k);
      }
      result.push_back(total);
    } else {
      double nearest = std::ceil(x - 0.5);
      if (options.nearest_mode == tw::NearestMode::floor) nearest = first;
      if (options.nearest_mode == tw::NearestMode::ceil) nearest = std::ceil(x);
      if (options.nearest_mode == tw::NearestMode::round_prefer_ceil) nearest = std::floor(x + 0.5);
      result.push_back(clamped(nearest));
    }
  }
  return result;
}

inline std::vector<Array> roi_align(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::RoiAlignAttributes>(node.attributes);
  const Array &x = inputs[0], &rois = inputs[1];
  Array result(outputs[0]);
  for_each_index(result.spec.shape, [&](const Index& index) {
    double begin[2], bin[2];  // of rows and columns
    std::int64_t points[2];
    for (int d = 0; d < 2; ++d) {
      const std::size_t column = at(4 * index[0] + 1 - d);  // x1, y1, x2, y2
      begin[d] = rois[column] * attributes.spatial_scale;
      const double size = std::max(1.0, rois[column + 2] * attributes.spatial_scale - begin[d]);
      bin[d] = size / real(result.extent(2 + d));
      points[d] = attributes.sampling_ratio > 0 ? attributes.sampling_ratio : static_cast<std::int64_t>(std::ceil(bin[d]));
    }
    double total = 0;
    for_each_index({points[0], points[1]}, [&](const Index& point) {
      std::int64_t low[2], high[2];
      double part[2];
      for (int d = 0; d < 2; ++d) {
        const std::int64_t extent = x.extent(2 + d);
        double place = begin[d] + bin[d] * (real(index[at(2 + d)]) + (real(point[at(d)]) + 0.5) / real(points[d]));
        if (place < -1 || place > real(extent)) return;
        place = std::clamp(place, 0.0, real(extent - 1));
        low[d] = static_cast<std::int64_t>(place);
        high[d] = std::min(low[d] + 1, extent - 1);
        part[d] = place - real(low[d]);
      }
      const auto value = [&](std::int64_t row, std::int64_t column) {
        return element(x, {static_cast<std::int64_t>(inputs[2][at(index[0])]), index[1], row, column});
      };
      total += (1 - part[0]) * ((1 - part[1]) * value(low[0], low[1]) + part[1] * value(low[0], high[1])) +
               part[0] * ((1 - part[1]) * value(high[0], low[1]) + part[1] * value(high[0], high[1]));
    });
    element(result, index) = total / real(points[0] * points[1]);
  });
  return {result};
}

/// The loss of probabilities and labels and, if the op has it, the gradient of what the probabilities are the softmax of.
inline std::vector<Array> negative_log_likelihood(const tw::Node& node, Inputs inputs, Specs outputs) {
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
/// The loss of logits and labels and, if the op has it, the gradient of the logits.
inline std::vector<Array> cross_entropy(const tw::Node& node, Inputs inputs, Specs outputs) {
  std::vector<Array> with_probabilities(inputs.begin(), inputs.end());
  Array& rows = with_probabilities[0];
  const std::size_t classes = at(rows.extent(-1));
  for (std::size_t first = 0; first < rows.size(); first += classes) {
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += rows[first + c] = std::exp(rows[first + c]);
    for (std::size_t c = 0; c < classes; ++c) rows[first + c] /= total;
  }
  return negative_log_likelihood(node, with_probabilities, outputs);
}
/// The loss of logits, smoothed labels and weights of classes.
inline std::vector<Array> weighted_cross_entropy(const tw::Node& node, Inputs inputs, Specs outputs) {
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

inline Meanings network_meanings() {
  return {
      {"MatMul", matmul},
      {"Conv", convolution},
      {"ConvTranspose", transposed_convolution},
      {"MaxPool", pooling([](const Line& all) { return *std::ranges::max_element(all); })},
      {"AveragePool", pooling([](const Line& all) { return op_tests::Sum::value(all) / real(all.size()); })},
      {"GroupNormalization", normalise},
      {"BatchNormalization", elementwise([](const Line& x) { return (x[0] - x[3]) * x[4] * x[1] + x[2]; })},
      {"RunningStatistic", elementwise_with<tw::RunningStatistic::Attributes>([](const auto& attributes, const Line& x) {
         return (1 - attributes.momentum) * x[0] + attributes.momentum * x[1];
       })},
      {"Resize",
       [](const tw::Node& node, Inputs inputs, Specs outputs) {
         const auto attributes = tw::unpack<tw::ResizeAttributes>(node.attributes);
         return std::vector{by_lines(inputs[0], static_cast<int>(attributes.axis), outputs[0],
                                     [&](const Line& line) { return resized(line, attributes); })};
       }},
      {"RoiAlign", roi_align},
      {"CrossEntropy", cross_entropy},
      {"CrossEntropyWithGrad", cross_entropy},
      {"WeightedCrossEntropy", weighted_cross_entropy},
      {"BinaryCrossEntropy", elementwise([](const Line& x) {
         const double positive = x[1] * (x.size() > 2 ? x[2] : 1);
         return positive * std::log1p(std::exp(-x[0])) + (1 - x[1]) * std::log1p(std::exp(x[0]));
       })},
      {"Huber", elementwise_with<tw::Huber::Attributes>([](const auto& attributes, const Line& x) {
         const double size = std::abs(x[0]), delta = attributes.delta;
         return (size <= delta ? size * size / 2 : delta * (size - delta / 2)) / (attributes.is_relative != 0 ? delta : 1);
       })},
      {"Nll", negative_log_likelihood},
      {"NlllWithSoftmaxGradDirect", negative_log_likelihood},
  };
}

}  // namespace random_programs::meaning
