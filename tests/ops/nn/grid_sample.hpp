#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct GridSample : OpTest {
  static constexpr std::string_view op = "GridSample";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  /// The weight of an element at a place: of the hat functions of all elements, or 1 for the nearest.
  static double weight(double place, std::int64_t element, std::int64_t extent, const tw::GridSampleAttributes& attributes) {
    const auto last = static_cast<double>(extent - 1), at = static_cast<double>(element);
    const bool corners = attributes.align_corners != 0;
    if (std::isnan(place)) place = -1;
    double x = corners ? (place + 1) / 2 * last : (place + 1) / 2 * static_cast<double>(extent) - 0.5;
    const double low = corners ? 0 : -0.5, high = corners ? last : last + 0.5;
    if (attributes.padding_mode == tw::GridPaddingMode::reflection)
      while (high > low && (x < low || x > high)) x = x < low ? 2 * low - x : 2 * high - x;
    if (attributes.padding_mode != tw::GridPaddingMode::zeros) x = std::clamp(high > low ? x : 0, 0.0, last);
    if (attributes.mode == tw::GridSampleMode::nearest) return std::nearbyint(x) == at ? 1 : 0;
    return std::max(0.0, 1 - std::abs(x - at));
  }
  static void meanings(auto& m) {
    m.by_index(op, [](const tw::Node& node, auto inputs, const auto& index, auto element_of) {
      const auto attributes = tw::unpack<tw::GridSampleAttributes>(node.attributes);
      const auto &x = inputs[0], &grid = inputs[1];
      const double across = element_of(grid, {index[0], index[2], index[3], 0});
      const double down = element_of(grid, {index[0], index[2], index[3], 1});
      double sum = 0;
      for (std::int64_t row = 0; row < x.extent(2); ++row)
        for (std::int64_t column = 0; column < x.extent(3); ++column)
          sum += element_of(x, {index[0], index[1], row, column}) * weight(down, row, x.extent(2), attributes) *
                 weight(across, column, x.extent(3), attributes);
      return sum;
    });
  }
  static constexpr void cases(const auto& c) {
    const auto add = [&](std::string_view name, const tw::GridSampleOptions& options, const tw::Shape& image = {2, 3, 5, 4}) {
      const auto images = c.real(image), points = c.real({image[0], 3, 7, 2});
      c.add(name, [=](Tensor x, Tensor grid) { return ops::grid_sample(x, grid, options); }, images, points);
      c.add(
          tw::text(name, "_by_grid").view(), [=](Tensor grid, Tensor x) { return ops::grid_sample(x, grid, options); }, points,
          images);
    };
    using enum tw::GridSampleMode;
    using enum tw::GridPaddingMode;
    add("grid_sample", {});
    add("grid_sample_corners", {.align_corners = true});
    add("grid_sample_border", {.padding_mode = border});
    add("grid_sample_border_corners", {.padding_mode = border, .align_corners = true});
    add("grid_sample_reflection", {.padding_mode = reflection});
    add("grid_sample_reflection_corners", {.padding_mode = reflection, .align_corners = true});
    add("grid_sample_nearest", {.mode = nearest});
    add("grid_sample_nearest_border", {.mode = nearest, .padding_mode = border, .align_corners = true});
    add("grid_sample_nearest_reflection", {.mode = nearest, .padding_mode = reflection});
    add("grid_sample_of_line", {.padding_mode = reflection, .align_corners = true}, {1, 2, 1, 5});
    c.add(
        "grid_sample_view",
        [](Tensor x, Tensor grid) { return ops::grid_sample(x.transpose({0, 1, 3, 2}), grid.transpose({0, 2, 1, 3})); },
        c.real({2, 3, 5, 4}), c.real({2, 3, 7, 2}));
    if (tw::is_half(c.dtype)) return;  // of which roots are rounded
    c.add_forward(
        "grid_sample_of_nan", [](Tensor x, Tensor grid) { return ops::grid_sample(x, ops::sqrt(grid)); }, c.real({2, 3, 5, 4}),
        c.real({2, 3, 7, 2}));
  }
  static constexpr void shapes(const auto& s) {
    const auto sample = [](Tensor x, Tensor grid) { return ops::grid_sample(x, grid); };
    s.result(f32(2, 3, 7, 6), sample, f32(2, 3, 5, 4), f32(2, 7, 6, 2));
    s.error("GridSample: (2, 3) float32: (N, C, height, width) of at least one row and column expected, in graph", sample,
            f32(2, 3), f32(2, 7, 6, 2));
    s.error("GridSample: grid (1, 7, 6, 2) float32 for (2, 3, 5, 4) float32: (2, height, width, 2) expected, in graph", sample,
            f32(2, 3, 5, 4), f32(1, 7, 6, 2));
    s.error("GridSample: (2, 3, 5, 4) int32: float16, float32, float64 or bfloat16 expected, in graph", sample, i32(2, 3, 5, 4),
            f32(2, 7, 6, 2));
  }
  /// Points of a grid; or points between four elements, so that the grid has a slope everywhere.
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool) {
    const Tensor t = x.tensor;
    if (!x.is_real() || x.rank() != 4 || t.shape(2) < 2 || t.shape(3) < 2 || t.nelms() % 2 != 0) return std::nullopt;
    const Elements with_0{random_programs::smaller(x.elements.low, 0), random_programs::larger(x.elements.high, 0)};
    if (random.one_in(3) && t.nelms() / t.shape(0) % 2 == 0) {
      const Tensor four = ops::slice(t, {0, 0}, {2, 2}, {1, 1}, {2, 3});
      const Tensor grid = ops::tanh(t).reshape({t.shape(0), 1, t.nelms() / t.shape(0) / 2, 2}) * 0.875;
      return Step{ops::grid_sample(four, grid, {.align_corners = true}), with_0};
    }
    tw::List<double> places;
    for (int i = 0; i < 12 * t.shape(0); ++i) places.push_back(0.37 * random.below(8) - 1.3);
    const Tensor grid = t.ir().constant(places, {t.shape(0), 2, 3, 2}, t.dtype());
    const auto padding = static_cast<tw::GridPaddingMode>(random.below(3));
    return Step{ops::grid_sample(t, grid, {.padding_mode = padding, .align_corners = random.one_in(2)}), with_0};
  }
  static constexpr void handles(auto& list) {
    list.add("grid_sample", [] { (void)ops::grid_sample(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
