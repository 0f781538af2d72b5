#pragma once
#include "../linear/windows.hpp"
#include "../op_test.hpp"
#include "../reduce/sums.hpp"

namespace op_tests {

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

struct MaxPool : OpTest {
  static constexpr std::string_view op = "MaxPool";
  static constexpr auto max_pool(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options = {}) {
    return [=](Tensor x) { return ops::max_pool(x, kernel, options); };
  }
  static Tensor with(const auto& s, const tw::PoolOptions& options) { return ops::max_pool(s.x, {2, 2}, options); }
  static void meanings(auto& m) {
    m[op] = pooling([](const Line& all) { return *std::ranges::max_element(all); });
  }
  static constexpr void compared(In<convolutions>, const auto& c) {
    c.add("max_pool", max_pool({2, 2}, {.stride = {2, 2}}), f32(2, 2, 4, 34));
    c.add("max_pool_odd", max_pool({2, 2}, {.stride = {2, 2}}), f32(2, 3, 7, 5));
    c.add("max_pool_gaps", max_pool({2, 1}, {.stride = {3, 2}}), f32(2, 3, 7, 5));
    c.add("max_pool_overlap", max_pool({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f32(2, 3, 7, 6));
    c.add("max_pool_dilation", max_pool({2, 3}, {.dilation = {3, 2}}), f32(2, 3, 7, 6));
    c.add("max_pool_ceil", max_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32(2, 3, 7, 6));
    c.add("max_pool_same", max_pool({2, 3}, {.stride = {2, 1}, .auto_pad = tw::PadType::same_upper}), f32(2, 3, 5, 6));
    c.add("max_pool_1d", max_pool({3}, {.stride = {3}}), f32(2, 3, 10));
    c.add("max_pool_3d", max_pool({2, 2, 2}, {.stride = {2, 2, 1}}), f32(2, 2, 4, 5, 3));
  }
  static constexpr void compared(In<half_convolutions>, const auto& c) {
    c.add("half_max_pool", max_pool({2, 2}, {.stride = {2, 2}}), f16(2, 3, 4, 5));
    // of equal elements the first gets the gradient, and the others nothing
    c.add("max_pool_ties", max_pool({2, 2}, {.stride = {2, 2}}), f32(1, 1, 2, 6));
    c.add("max_pool_ties_overlap", max_pool({2, 2}, {}), f32(1, 1, 3, 3));
  }
  static constexpr void compared(In<pools_with_gaps>, const auto& c) {
    c.add("max_pool_out_pads", max_pool({2, 2}, {.stride = {2, 2}, .out_pads = {1, 0, 2, 1}}), f32(2, 3, 6, 5));
    c.add("max_pool_in_dilations", max_pool({3, 4}, {.stride = {2, 1}, .padding = {1, 0, 1, 0}, .in_dilations = {2, 3}}),
          f32(2, 2, 4, 3));
    c.add("max_pool_gaps_1d", max_pool({3}, {.padding = {1, 1}, .out_pads = {0, 2}, .in_dilations = {2}}), f32(2, 2, 7));
    c.add("max_pool_gaps_3d",
          max_pool({2, 2, 2}, {.padding = {0, 0, 0, 0, 1, 0}, .out_pads = {1, 0, 0, 0, 0, 1}, .in_dilations = {1, 2, 1}}),
          f32(1, 2, 3, 2, 4));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("max_pool_gaps_double", max_pool({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}), f64(2, 2, 4, 3));
    c.add("double_max_pool", max_pool({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64(1, 2, 7, 6));
    c.add("double_max_pool_tiles", max_pool({2, 2}, {.stride = {2, 2}}), f64(1, 2, 4, 19));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("max_pool_gaps_half", max_pool({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}), f16(2, 2, 4, 3));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add(
        "view_max_pool", [](Tensor t) { return ops::max_pool(channels_first(t), {2, 2}, {.stride = {2, 2}}); }, f32(2, 5, 6, 3));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_max_pool", max_pool({1, 1}, {}), f32(1, 1, 1, 1));
  }
  static constexpr void compared(In<second_of_pools>, const auto& c) {
    const auto squared = [](auto op) {
      return [op](Tensor x) {
        const Tensor y = op(x);
        return y * y;
      };
    };
    c.add("max_pool", squared(max_pool({2, 3}, {.stride = {1, 2}, .padding = {0, 1, 0, 1}, .ceil_mode = true})), f64(1, 2, 3, 4));
    c.add("max_pool_line", squared(max_pool({2}, {.stride = {2}})), f64(1, 2, 5));
  }
  static constexpr void edges(const auto& c) { c.add("max_pool", max_pool({2, 2}), c.real({1, 2, 3, 4})); }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3, 6, 4), max_pool({2, 3}), f32(2, 3, 7, 6));
    s.result(f16(2, 3, 3, 2), max_pool({2, 2}, {.stride = {2, 3}}), f16(2, 3, 7, 6));
    s.result(f32(2, 3, 4, 2), max_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32(2, 3, 7, 6));
    s.result(f32(2, 3, 4), max_pool({3}, {.stride = {2}, .padding = {1, 1}}), f32(2, 3, 7));
    s.result(f32(2, 3, 4, 3), max_pool({2, 2}, {.stride = {2, 2}, .auto_pad = tw::PadType::same_lower}), f32(2, 3, 7, 6));
    s.error("MaxPool: (2, 3, 7, 6) int32: float16, float32, float64 or bfloat16 expected, in graph", max_pool({2, 2}),
            i32(2, 3, 7, 6));
    s.error("MaxPool: kernel_size of 1 numbers for (2, 3, 7, 6): 2 expected, in graph", max_pool({2}), f32(2, 3, 7, 6));
    s.error("MaxPool: kernel_size (2, 0): numbers from 1 to 1048576 expected, in graph", max_pool({2, 0}), f32(2, 3, 7, 6));
    s.error("MaxPool: (2, 3, 7, 6) with a kernel of (2, 7): axis 3 has 6 elements, at least 7 with padding expected, in graph",
            max_pool({2, 7}), f32(2, 3, 7, 6));
    s.error("MaxPool: kernel_size (2, 2) on (2, 3, 7, 6): padding that leaves each window an element expected, in graph",
            max_pool({2, 2}, {.padding = {0, 2, 0, 0}}), f32(2, 3, 7, 6));
  }
  static void numbers(auto& list) {
    list.whole("PoolOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {n, 1}}); });
    list.whole("PoolOptions.stride", list.any_outcome, [](auto& s, auto n) { return with(s, {.stride = {1, n}}); });
    list.whole("PoolOptions.padding", list.any_outcome, [](auto& s, auto n) { return with(s, {.padding = {n, 0, 0, 0}}); });
    list.whole("PoolOptions.padding", list.any_outcome, [](auto& s, auto n) { return with(s, {.padding = {0, n, 0, 0}}); });
    list.whole("PoolOptions.out_pads", list.any_outcome, [](auto& s, auto n) { return with(s, {.out_pads = {n, 0, 0, 0}}); });
    list.whole("PoolOptions.out_pads", list.any_outcome, [](auto& s, auto n) { return with(s, {.out_pads = {0, n, 0, 0}}); });
    list.whole("PoolOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {n, 1}}); });
    list.whole("PoolOptions.dilation", list.any_outcome, [](auto& s, auto n) { return with(s, {.dilation = {1, n}}); });
    list.whole("PoolOptions.in_dilations", list.any_outcome, [](auto& s, auto n) { return with(s, {.in_dilations = {n, 1}}); });
    list.whole("PoolOptions.in_dilations", list.any_outcome, [](auto& s, auto n) { return with(s, {.in_dilations = {1, n}}); });
    list.whole("max_pool.kernel_size", list.any_outcome, [](auto& s, auto n) { return ops::max_pool(s.x, {n, 2}); });
    list.whole("max_pool.kernel_size", list.any_outcome, [](auto& s, auto n) { return ops::max_pool(s.x, {2, n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("max_pool", [] { (void)ops::max_pool(Tensor(), {2}); });
  }
};
struct AveragePool : OpTest {
  static constexpr std::string_view op = "AveragePool";
  static constexpr auto average_pool(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options = {}) {
    return [=](Tensor x) { return ops::average_pool(x, kernel, options); };
  }
  static void meanings(auto& m) {
    m[op] = pooling([](const Line& all) { return Sum::value(all) / real(all.size()); });
  }
  static constexpr void compared(In<convolutions>, const auto& c) {
    c.add("average_pool", average_pool({2, 2}, {.stride = {2, 2}}), f32(2, 3, 6, 8));
    c.add("average_pool_padding", average_pool({3, 2}, {.stride = {2, 1}, .padding = {1, 1, 1, 1}}), f32(2, 3, 6, 5));
    c.add("average_pool_ceil", average_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32(2, 3, 7, 6));
    c.add("average_pool_1d", average_pool({4}, {}), f32(2, 3, 20));
    c.add("average_pool_3d", average_pool({2, 2, 2}, {.stride = {1, 2, 1}}), f32(2, 2, 3, 4, 3));
  }
  static constexpr void compared(In<half_convolutions>, const auto& c) {
    c.add("half_average_pool", average_pool({2, 2}, {.padding = {1, 1, 1, 1}}), f16(2, 3, 4, 5));
  }
  static constexpr void compared(In<pools_with_gaps>, const auto& c) {
    c.add("average_pool_dilation", average_pool({2, 3}, {.padding = {1, 2, 1, 1}, .dilation = {3, 2}}), f32(1, 2, 7, 6));
    c.add("average_pool_dilation_stride", average_pool({3}, {.stride = {2}, .padding = {2, 1}, .dilation = {2}}), f32(1, 3, 13));
    c.add("average_pool_gaps", average_pool({2, 3}, {.padding = {0, 1, 0, 1}, .out_pads = {0, 1, 2, 0}, .in_dilations = {2, 2}}),
          f32(2, 2, 4, 3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("average_pool_gaps_double", average_pool({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}), f64(2, 2, 4, 3));
    c.add("double_average_pool", average_pool({3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}), f64(1, 2, 7, 6));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("average_pool_gaps_half", average_pool({2, 2}, {.out_pads = {1, 0, 0, 1}, .in_dilations = {2, 1}}), f16(2, 2, 4, 3));
  }
  static constexpr void compared(In<views_of_images>, const auto& c) {
    c.add("view_average_pool", [](Tensor t) { return ops::average_pool(channels_first(t), {2, 2}); }, f32(2, 5, 6, 3));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_average_pool", average_pool({1, 1}, {}), f32(1, 1, 1, 1));
  }
  static constexpr void compared(In<second_of_pools>, const auto& c) {
    const auto squared = [](auto op) {
      return [op](Tensor x) {
        const Tensor y = op(x);
        return y * y;
      };
    };
    c.add("average_pool", squared(average_pool({2, 3}, {.stride = {1, 2}, .padding = {0, 1, 0, 1}})), f64(1, 2, 3, 4));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add("exact_average_pool", average_pool({3, 1}), f64(1, 2, 5, 3));
  }
  static constexpr void edges(const auto& c) { c.add("average_pool", average_pool({2, 2}), c.real({1, 2, 3, 4})); }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3, 3, 4, 5), average_pool({2, 2, 2}), f32(2, 3, 4, 5, 6));
    s.error("AveragePool: stride (0, 1): numbers from 1 to 1048576 expected, in graph", average_pool({2, 2}, {.stride = {0, 1}}),
            f32(2, 3, 7, 6));
  }
  static void numbers(auto& list) {
    list.whole("average_pool.kernel_size", list.any_outcome, [](auto& s, auto n) { return ops::average_pool(s.x, {n, 2}); });
    list.whole("average_pool.kernel_size", list.any_outcome, [](auto& s, auto n) { return ops::average_pool(s.x, {2, n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("average_pool", [] { (void)ops::average_pool(Tensor(), {2}); });
  }
};

}  // namespace op_tests
