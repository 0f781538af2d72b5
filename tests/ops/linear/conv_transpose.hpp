#pragma once
#include "../op_test.hpp"
#include "windows.hpp"

namespace op_tests {

struct ConvTranspose : OpTest {
  static constexpr std::string_view op = "ConvTranspose";
  static constexpr auto conv_transpose(const tw::ConvTransposeOptions& options = {}) {
    return [options](Tensor x, Tensor weight) { return ops::conv_transpose(x, weight, options); };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
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
  static Tensor with(const auto& s, const tw::ConvTransposeOptions& options) {
    return ops::conv_transpose(s.x, s.tensor({4, 4, 3, 3}), options);
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<transposed_convolutions>, const auto& c) {
    c.add("conv_transpose", conv_transpose(), f32(2, 3, 4, 3), f32(3, 2, 3, 3));
    c.add("conv_transpose_stride", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f32(1, 2, 3, 4), f32(2, 3, 4, 4));
    c.add("conv_transpose_uneven", conv_transpose({.stride = {2, 3}, .padding = {1, 0, 0, 1}}), f32(1, 5, 2, 3), f32(5, 2, 3, 4));
    c.add("conv_transpose_output_padding", conv_transpose({.stride = {2, 3}, .padding = {1, 1, 1, 1}, .output_padding = {1, 2}}),
          f32(1, 2, 4, 3), f32(2, 3, 3, 3));
    c.add("conv_transpose_groups", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}), f32(1, 4, 3, 2),
          f32(4, 3, 4, 4));
    c.add("conv_transpose_blocks", conv_transpose({.stride = {2, 2}, .groups = 3}), f32(1, 6, 4, 3), f32(6, 2, 2, 2));
    c.add("conv_transpose_depthwise", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 5}), f32(1, 5, 4, 3),
          f32(5, 1, 3, 3));
    c.add("conv_transpose_dilation", conv_transpose({.stride = {1, 2}, .padding = {1, 2, 1, 0}, .dilation = {2, 3}}),
          f32(1, 9, 4, 3), f32(9, 2, 3, 2));
    c.add("conv_transpose_common", conv_transpose({.stride = {2, 4}, .dilation = {2, 2}}), f32(1, 2, 3, 2), f32(2, 5, 3, 3));
    c.add("conv_transpose_gaps", conv_transpose({.stride = {3, 3}}), f32(1, 2, 3, 4), f32(2, 3, 2, 2));
    c.add("conv_transpose_phases", conv_transpose({.stride = {4, 3}, .padding = {2, 1, 1, 0}}), f32(1, 2, 3, 2), f32(2, 3, 5, 4));
    c.add("conv_transpose_crop", conv_transpose({.stride = {2, 2}, .padding = {3, 4, 2, 0}}), f32(1, 3, 5, 4), f32(3, 2, 3, 2));
    c.add("conv_transpose_output_shape", conv_transpose({.stride = {2, 2}, .output_shape = {6, 8}}), f32(1, 2, 3, 4),
          f32(2, 3, 3, 4));
    c.add("conv_transpose_output_shape_upper",
          conv_transpose(
              {.stride = {2, 2}, .padding = {9, 9, 9, 9}, .pad_type = tw::PadType::same_upper, .output_shape = {1, 3, 6, 8}}),
          f32(1, 2, 3, 4), f32(2, 3, 3, 4));
    c.add("conv_transpose_output_shape_more", conv_transpose({.stride = {2, 2}, .output_shape = {9, 7}}), f32(1, 2, 3, 2),
          f32(2, 3, 3, 2));
    c.add("conv_transpose_same_upper", conv_transpose({.stride = {2, 2}, .pad_type = tw::PadType::same_upper}), f32(1, 2, 3, 4),
          f32(2, 3, 3, 4));
    c.add("conv_transpose_same_lower", conv_transpose({.stride = {2, 2}, .pad_type = tw::PadType::same_lower}), f32(1, 2, 3, 4),
          f32(2, 3, 3, 4));
    c.add("conv_transpose_1d", conv_transpose({.stride = {3}, .padding = {2, 1}}), f32(1, 3, 7), f32(3, 5, 5));
    c.add("conv_transpose_3d", conv_transpose({.stride = {1, 2, 1}, .padding = {1, 0, 1, 0, 1, 1}}), f32(2, 2, 3, 2, 3),
          f32(2, 3, 2, 3, 3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("conv_transpose_double", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64(2, 3, 3, 4), f64(3, 2, 4, 3));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("conv_transpose_half", conv_transpose({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f16(2, 3, 3, 4), f16(3, 2, 4, 3));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add(
        "view_conv_transpose",
        [](Tensor t, Tensor w) { return ops::conv_transpose(channels_first(t), channels_first(w), {.stride = {2, 2}}); },
        f32(1, 3, 4, 3), f32(3, 3, 2, 4));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_conv_transpose", conv_transpose(), f32(1, 1, 1, 1), f32(1, 1, 1, 1));
  }
  static constexpr void compared(In<second_of_products>, const auto& c) {
    c.add("conv_transpose", conv_transpose({.stride = {2, 1}, .padding = {1, 0, 1, 0}, .output_padding = {1, 0}}),
          f64(1, 2, 3, 3), f64(2, 2, 3, 2));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add("exact_conv_transpose", conv_transpose({.stride = {2, 2}}), f64(1, 3, 2, 3), f64(3, 2, 2, 3));
  }
  static constexpr void edges(const auto& c) {
    c.add("conv_transpose", conv_transpose({.stride = {2, 2}}), c.real({1, 2, 2, 3}), c.real({2, 2, 2, 2}));
  }
  static void numbers(auto& list) {
    list.whole("ConvTransposeOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {n, 1}}); });
    list.whole("ConvTransposeOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {1, n}}); });
    list.whole("ConvTransposeOptions.padding", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.padding = {n, 0, 0, 0}}); });
    list.whole("ConvTransposeOptions.padding", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.padding = {0, n, 0, 0}}); });
    list.whole("ConvTransposeOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {n, 1}}); });
    list.whole("ConvTransposeOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {1, n}}); });
    list.whole("ConvTransposeOptions.groups", {1, 1}, [](auto& s, auto n) { return with(s, {.groups = n}); });
    list.whole("ConvTransposeOptions.output_padding", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.stride = {2, 2}, .output_padding = {n, 0}}); });
    list.whole("ConvTransposeOptions.output_padding", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.stride = {2, 2}, .output_padding = {0, n}}); });
    list.whole("ConvTransposeOptions.output_shape", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.output_shape = {n, 6}}); });
    list.whole("ConvTransposeOptions.output_shape", list.any_outcome,
               [](auto& s, auto n) { return with(s, {.output_shape = {6, n}}); });
    list.real("ConvTransposeOptions.available_memory_proportions", list.part,
              [](auto& s, auto n) { return with(s, {.available_memory_proportions = {n}}); });
  }
  static constexpr void handles(auto& list) {
    list.add("conv_transpose", [] { (void)ops::conv_transpose(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
