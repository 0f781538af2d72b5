#pragma once
#include "../op_test.hpp"
#include "windows.hpp"

namespace op_tests {

struct Conv : OpTest {
  static constexpr std::string_view op = "Conv";
  static constexpr auto conv(const tw::ConvOptions& options = {}) {
    return [options](Tensor x, Tensor weight) { return ops::conv(x, weight, options); };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
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
  static Tensor with(const auto& s, const tw::ConvOptions& options) { return ops::conv(s.x, s.tensor({4, 4, 3, 3}), options); }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<convolutions>, const auto& c) {
    using tw::PadType;
    c.add("conv", conv(), f32(2, 3, 7, 6), f32(4, 3, 3, 3));
    c.add("conv_channels", conv({.padding = {1, 1, 1, 1}}), f32(2, 18, 5, 6), f32(34, 18, 3, 2));
    c.add("conv_one_channel", conv({.padding = {1, 0, 0, 1}}), f32(3, 1, 9, 11), f32(18, 1, 3, 3));
    c.add("conv_stride", conv({.stride = {2, 3}, .padding = {0, 2, 1, 1}}), f32(2, 17, 6, 8), f32(5, 17, 3, 4));
    c.add("conv_dilation", conv({.stride = {1, 2}, .padding = {2, 1, 2, 3}, .dilation = {2, 3}}), f32(2, 9, 10, 12),
          f32(17, 9, 3, 2));
    c.add("conv_groups", conv({.padding = {1, 1, 1, 1}, .groups = 2}), f32(3, 4, 5, 6), f32(6, 2, 3, 3));
    c.add("conv_grouped_blocks", conv({.groups = 3}), f32(2, 6, 6, 7), f32(6, 2, 3, 3));
    c.add("conv_depthwise", conv({.padding = {1, 1, 1, 1}, .groups = 5}), f32(2, 5, 6, 7), f32(5, 1, 3, 3));
    c.add("conv_same_upper", conv({.stride = {2, 1}, .pad_type = tw::PadType::same_upper}), f32(2, 3, 6, 5), f32(4, 3, 3, 2));
    c.add("conv_same_lower", conv({.stride = {2, 1}, .pad_type = tw::PadType::same_lower}), f32(2, 3, 6, 5), f32(4, 3, 3, 2));
    c.add("conv_valid", conv({.stride = {2, 2}, .pad_type = tw::PadType::valid}), f32(2, 3, 7, 6), f32(4, 3, 2, 2));
    c.add("conv_points", conv(), f32(2, 21, 5, 5), f32(19, 21, 1, 1));
    c.add("conv_large_kernel", conv({.padding = {3, 2, 3, 2}}), f32(1, 5, 6, 7), f32(9, 5, 7, 5));
    c.add("conv_cropped", conv({.padding = {3, 2, 0, 3}}), f32(2, 3, 4, 4), f32(10, 3, 2, 2));
    c.add("conv_1d", conv({.stride = {2}, .padding = {2, 1}}), f32(1, 9, 40), f32(17, 9, 5));
    c.add("conv_3d", conv({.stride = {1, 2, 1}, .padding = {1, 0, 1, 0, 1, 1}}), f32(2, 2, 3, 4, 5), f32(3, 2, 2, 3, 2));
  }
  static constexpr void compared(In<half_convolutions>, const auto& c) {
    c.add("half_conv", conv({.padding = {1, 1, 1, 1}}), f16(2, 3, 5, 5), f16(2, 3, 3, 3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("double_conv", conv({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64(1, 3, 5, 6), f64(2, 3, 3, 3));
    c.add("double_conv_groups", conv({.dilation = {2}, .groups = 2}), f64(2, 4, 9), f64(6, 2, 3));
  }
  static constexpr void compared(In<in_bfloat16>, const auto& c) {
    c.add("conv", conv({.padding = {1, 1, 1, 1}}), c.real({2, 5, 6, 7}), c.real({17, 5, 3, 3}));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add(
        "view_conv",
        [](Tensor t, Tensor w) { return ops::conv(channels_first(t), channels_first(w), {.padding = {1, 1, 1, 1}}); },
        f32(2, 5, 6, 3), f32(4, 3, 3, 3));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_conv", conv(), f32(1, 1, 1, 1), f32(1, 1, 1, 1));
  }
  static constexpr void compared(In<second_of_products>, const auto& c) {
    c.add("conv", conv({.stride = {2, 1}, .padding = {1, 0, 1, 0}, .dilation = {1, 2}, .groups = 2}), f64(2, 4, 4, 5),
          f64(2, 2, 3, 2));
    c.add("conv_line", conv(), f64(1, 2, 5), f64(3, 2, 2));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add("exact_conv", conv({.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64(1, 3, 5, 6), f64(2, 3, 3, 3));
  }
  static constexpr void edges(const auto& c) {
    c.add("conv", conv({.padding = {1, 1, 1, 1}}), c.real({1, 2, 3, 4}), c.real({2, 2, 3, 3}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(8, 16, 26, 23), conv(), f32(8, 3, 28, 27), f32(16, 3, 3, 5));
    s.result(f32(8, 16, 14, 9), conv({.stride = {2, 3}, .padding = {0, 1, 2, 3}}), f32(8, 3, 28, 27), f32(16, 3, 3, 5));
    s.result(f16(8, 16, 22, 19), conv({.dilation = {3, 2}}), f16(8, 3, 28, 27), f16(16, 3, 3, 5));
    s.result(f32(8, 16, 7, 7), conv({.groups = 4}), f32(8, 12, 9, 9), f32(16, 3, 3, 3));
    s.result(f32(1, 1, 4), conv({.stride = {2}}), f32(1, 1, 10), f32(1, 1, 3));
    s.result(f32(1, 3, 4, 4, 2), conv({.stride = {1, 1, 2}}), f32(1, 2, 4, 5, 6), f32(3, 2, 1, 2, 3));
    s.result(f32(1, 1, 4, 3), conv({.stride = {2, 3}, .pad_type = tw::PadType::same_upper}), f32(1, 1, 7, 7), f32(1, 1, 3, 3));
    s.result(f32(1, 1, 4, 3), conv({.stride = {2, 3}, .pad_type = tw::PadType::same_lower}), f32(1, 1, 8, 9), f32(1, 1, 5, 2));
    s.result(f32(1, 1, 3, 4), conv({.stride = {2, 2}, .padding = {9, 9, 9, 9}, .pad_type = tw::PadType::valid}), f32(1, 1, 8, 9),
             f32(1, 1, 3, 3));
    s.error("Conv: (8, 9) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in graph", conv(), f32(8, 9), f32(9, 8));
    s.error("Conv: (1, 1, 9) int32: float16, float32, float64 or bfloat16 expected, in graph", conv(), i32(1, 1, 9),
            i32(1, 1, 3));
    s.error("Conv: (1, 1, 9) float32 and (1, 1, 3) float16: equal dtypes expected, in graph", conv(), f32(1, 1, 9), f16(1, 1, 3));
    s.error("Conv: weight (4, 3, 3) for (8, 3, 9, 9): rank 4 expected, in graph", conv(), f32(8, 3, 9, 9), f32(4, 3, 3));
    s.error("Conv: weight (4, 2, 3, 3) for (8, 3, 9, 9) in 1 group: 3 channels expected, in graph", conv(), f32(8, 3, 9, 9),
            f32(4, 2, 3, 3));
    s.error("Conv: weight (4, 4, 3, 3) for (8, 4, 9, 9) in 2 groups: 2 channels expected, in graph", conv({.groups = 2}),
            f32(8, 4, 9, 9), f32(4, 4, 3, 3));
    s.error("Conv: 3 groups for 3 input channels and 4 output channels: a divisor of 3 and 4 expected, in graph",
            conv({.groups = 3}), f32(8, 3, 9, 9), f32(4, 1, 3, 3));
    s.error("Conv: 0 groups for 3 input channels and 4 output channels: a divisor of 3 and 4 expected, in graph",
            conv({.groups = 0}), f32(8, 3, 9, 9), f32(4, 1, 3, 3));
    s.error("Conv: stride of 1 numbers for (8, 3, 9, 9): 2 expected, in graph", conv({.stride = {1}}), f32(8, 3, 9, 9),
            f32(4, 3, 3, 3));
    s.error("Conv: padding of 2 numbers for (8, 3, 9, 9): 4 expected, in graph", conv({.padding = {1, 1}}), f32(8, 3, 9, 9),
            f32(4, 3, 3, 3));
    s.error("Conv: dilation (1, 0): numbers from 1 to 1048576 expected, in graph", conv({.dilation = {1, 0}}), f32(8, 3, 9, 9),
            f32(4, 3, 3, 3));
    s.error("Conv: padding (0, 0, 0, -1): numbers from 0 to 1048576 expected, in graph", conv({.padding = {0, 0, 0, -1}}),
            f32(8, 3, 9, 9), f32(4, 3, 3, 3));
    s.error("Conv: (8, 3, 9, 7) with a kernel of (3, 3): axis 3 has 7 elements, at least 9 with padding expected, in graph",
            conv({.padding = {0, 1, 0, 0}, .dilation = {1, 4}}), f32(8, 3, 9, 7), f32(4, 3, 3, 3));
  }
  static void numbers(auto& list) {
    list.whole("ConvOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {n, 1}}); });
    list.whole("ConvOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {1, n}}); });
    list.whole("ConvOptions.padding", list.any_outcome, [](auto& s, auto n) { return with(s, {.padding = {n, 0, 0, 0}}); });
    list.whole("ConvOptions.padding", list.any_outcome, [](auto& s, auto n) { return with(s, {.padding = {0, n, 0, 0}}); });
    list.whole("ConvOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {n, 1}}); });
    list.whole("ConvOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {1, n}}); });
    list.whole("ConvOptions.groups", {1, 1}, [](auto& s, auto n) { return with(s, {.groups = n}); });
    list.real("ConvOptions.available_memory_proportions", list.part,
              [](auto& s, auto n) { return with(s, {.available_memory_proportions = {n}}); });
  }
  static constexpr void handles(auto& list) {
    list.add("conv", [] { (void)ops::conv(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
