#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Interpolate : OpTest {
  static constexpr std::string_view op = "Resize";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  /// ONNX's Resize along one axis.
  static Line resized(const Line& line, const tw::ResizeAttributes& attributes) {
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
  static constexpr auto interpolate(const std::vector<double>& scales, const tw::InterpolateOptions& options = {}) {
    return [=](Tensor x) { return ops::interpolate(x, scales, options); };
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto attributes = tw::unpack<tw::ResizeAttributes>(node.attributes);
      return std::vector{by_lines(inputs[0], static_cast<int>(attributes.axis), outputs[0],
                                  [&](const Line& line) { return resized(line, attributes); })};
    };
  }
  static constexpr void cases(const auto& c) {
    using enum tw::CoordinateMode;
    using enum tw::NearestMode;
    const auto add = [&](std::string_view name, const tw::InterpolateOptions& options, double rows, double columns) {
      c.add(name, interpolate({1, 1, rows, columns}, options), c.real({2, 1, 7, 9}));
    };
    add("interpolate_fewer", {}, 0.6, 0.5);
    add("interpolate_fewer_floor", {.nearest_mode = floor, .coordinate_transformation_mode = asymmetric}, 0.5, 0.3);
    add("interpolate_fewer_ceil", {.nearest_mode = ceil, .coordinate_transformation_mode = tf_half_pixel_for_nn}, 0.15, 0.4);
    add("interpolate_fewer_linear", {.mode = tw::ResizeMode::linear}, 1, 0.375);
    add("interpolate_one_linear", {.mode = tw::ResizeMode::linear, .coordinate_transformation_mode = pytorch_half_pixel}, 0.25,
        1);
    add("interpolate_fewer_corners", {.mode = tw::ResizeMode::linear, .coordinate_transformation_mode = align_corners}, 1, 0.5);
    add("interpolate_fewer_cubic", {.mode = tw::ResizeMode::cubic}, 0.625, 1);
    add("interpolate_more_and_fewer", {}, 2, 0.5);
  }
  static constexpr void shapes(const auto& s) {
    const auto by = [](double scale) { return [=](Tensor x) { return ops::interpolate(x, {1, scale}); }; };
    s.result(f32(2, 3), by(0.6), f32(2, 5));
    s.error("interpolate: scale_factor 0.1 for axis 1 of (2, 5) float32: a result of at least one element expected, in graph",
            by(0.1), f32(2, 5));
    s.error("interpolate: scale_factor 0: a number above 0 expected, in graph", by(0), f32(2, 5));
  }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.rank() == 0 || x.tensor.shape(-1) < 2) return std::nullopt;
    tw::List<double> scales(static_cast<std::size_t>(x.rank()), 1.0);
    scales.back() = 0.5;
    return Step{ops::interpolate(x.tensor, scales), x.elements};
  }
  static constexpr void edges(const auto& c) {
    c.add("interpolate", interpolate({1, 1, 3}), c.real({1, 2, 4}));
    c.add("interpolate_linear", interpolate({1, 1, 2}, {.mode = tw::ResizeMode::linear}), c.real({1, 2, 4}));
  }
  static void numbers(auto& list) {
    list.real("interpolate.scale_factor", list.any_outcome, [](auto& s, auto n) { return ops::interpolate(s.x, {1, 1, n, 1}); });
  }
  static constexpr void handles(auto& list) {
    list.add("interpolate", [] { (void)ops::interpolate(Tensor()); });
  }
  static constexpr void compared(In<images>, const auto& c) {
    using enum tw::CoordinateMode;
    using enum tw::NearestMode;
    const auto nearest = [](tw::NearestMode mode, tw::CoordinateMode coordinates) {
      return tw::InterpolateOptions{tw::ResizeMode::nearest, mode, coordinates};
    };
    const auto linear = [](tw::CoordinateMode coordinates) {
      return tw::InterpolateOptions{.mode = tw::ResizeMode::linear, .coordinate_transformation_mode = coordinates};
    };
    c.add("interpolate", interpolate({1, 1, 2, 3}), f32(1, 2, 4, 5));
    c.add("interpolate_ceil", interpolate({1, 1, 1.5, 2.5}, nearest(ceil, asymmetric)), f32(2, 2, 3, 5));
    c.add("interpolate_floor", interpolate({1, 1, 1.75}, nearest(floor, asymmetric)), f32(2, 2, 5));
    c.add("interpolate_round_ceil", interpolate({1, 1, 2, 2}, nearest(round_prefer_ceil, align_corners)), f32(1, 2, 3, 4));
    c.add("interpolate_round_floor", interpolate({1, 1, 2, 2}, nearest(round_prefer_floor, asymmetric)), f32(1, 2, 3, 4));
    c.add("interpolate_round_half", interpolate({1, 1, 2, 2}, nearest(round_prefer_ceil, asymmetric)), f32(1, 2, 3, 4));
    c.add("interpolate_tf", interpolate({1, 1, 2.5}, nearest(floor, tf_half_pixel_for_nn)), f32(1, 3, 4));
    c.add("interpolate_channels", interpolate({2, 1.5, 1}), f32(2, 3, 4));
    c.add("interpolate_linear", interpolate({1, 1, 2, 1.25}, linear(half_pixel)), f32(1, 1, 2, 37));
    c.add("interpolate_linear_1d", interpolate({1, 1, 2.5}, linear(asymmetric)), f32(2, 3, 7));
    c.add("interpolate_linear_corners", interpolate({1, 1, 3, 1.5}, linear(align_corners)), f32(2, 2, 3, 4));
    c.add("interpolate_linear_3d", interpolate({1, 1, 2, 1.5, 1.25}, linear(pytorch_half_pixel)), f32(1, 2, 2, 3, 4));
    c.add("interpolate_linear_one", interpolate({1, 1, 1.5, 2}, linear(pytorch_half_pixel)), f32(1, 2, 1, 3));
    c.add("interpolate_cubic", interpolate({1, 1, 2, 1.5}, {.mode = tw::ResizeMode::cubic}), f32(1, 2, 4, 5));
    c.add("interpolate_cubic_corners",
          interpolate({1, 1, 1.5, 3}, {.mode = tw::ResizeMode::cubic, .coordinate_transformation_mode = align_corners}),
          f32(1, 2, 3, 2));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("interpolate_double", interpolate({1, 1, 2, 1.5}, {.mode = tw::ResizeMode::cubic}), f64(1, 2, 4, 5));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("interpolate_half", interpolate({1, 1, 2, 1.5}, {.mode = tw::ResizeMode::linear}), f16(1, 2, 4, 5));
  }
  static constexpr void compared(In<views_of_resized_images>, const auto& c) {
    const auto turned = [](Tensor t) { return ops::identity(t.T()).T(); };
    c.add(
        "interpolate_linear", [=](Tensor t) { return interpolate({1, 1, 2, 1.25}, {.mode = tw::ResizeMode::linear})(turned(t)); },
        f32(1, 1, 2, 37));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_interpolate", interpolate({1, 1, 3, 2}, {.mode = tw::ResizeMode::linear}), f32(1, 1, 1, 1));
  }
  static constexpr void compared(In<interpolated_halves>, const auto& c) {
    c.add("interpolate", interpolate({1, 1, 2, 3}), f16(1, 2, 4, 5));
  }
  static constexpr void compared(In<second_of_pools>, const auto& c) {
    c.add(
        "interpolate",
        [](Tensor x) {
          return joined_squares(ops::interpolate(x, {1, 1, 2}, {.mode = tw::ResizeMode::linear}), ops::interpolate(x, {1, 1, 3}));
        },
        f64(1, 2, 3));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    const auto resized = [](tw::ResizeMode mode) {
      return [=](Tensor x) { return ops::interpolate(x, {1, 1, 2, 1.5}, {.mode = mode}); };
    };
    c.add("exact_interpolate", resized(tw::ResizeMode::linear), f64(1, 2, 3, 4));
    c.add("exact_interpolate_cubic", resized(tw::ResizeMode::cubic), f64(1, 2, 3, 4));
  }
};

}  // namespace op_tests
