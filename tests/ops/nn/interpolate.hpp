#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Scales below 1, beside those of tests/run/cases/networks.hpp: semantics_networks.hpp has the meaning.
struct Interpolate : OpTest {
  static constexpr std::string_view op = "Resize";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  static void meanings(auto&) {}
  static constexpr void cases(const auto& c) {
    using enum tw::CoordinateMode;
    using enum tw::NearestMode;
    const auto add = [&](std::string_view name, const tw::InterpolateOptions& options, double rows, double columns) {
      c.add(name, [=](Tensor x) { return ops::interpolate(x, {1, 1, rows, columns}, options); }, c.real({2, 1, 7, 9}));
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
  static constexpr void handles(auto&) {}
};

}  // namespace op_tests
