#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct RoiAlign : OpTest {
  static constexpr std::string_view op = "RoiAlign";
  static constexpr auto roi_align(const tw::RoiAlignOptions& options) {
    return [options](Tensor x, Tensor rois, Tensor index) { return ops::roi_align(x, rois.cast(x.dtype()), index, options); };
  }
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
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
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<images>, const auto& c) {
    c.add("roi_align", roi_align({.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2}), f32(2, 3, 6, 7), i32(4, 4),
          i32(4));
    c.add("roi_align_adaptive", roi_align({.output_size = {2, 2}, .spatial_scale = 0.5}), f32(2, 2, 6, 7), i32(4, 4), i32(4));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("roi_align_double", roi_align({.output_size = {1, 2}, .sampling_ratio = 1}), f64(2, 2, 5, 6), i32(4, 4), i32(4));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("roi_align_half", roi_align({.output_size = {2, 2}, .spatial_scale = 0.5, .sampling_ratio = 2}), f16(2, 2, 5, 6),
          i32(4, 4), i32(4));
  }
  static constexpr void compared(In<views_of_resized_images>, const auto& c) {
    const auto turned = [](Tensor t) { return ops::identity(t.T()).T(); };
    c.add(
        "roi_align",
        [=](Tensor t, Tensor rois, Tensor index) {
          return ops::roi_align(turned(t), turned(rois.cast(tw::float32)), index[all],
                                {.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2});
        },
        f32(2, 3, 6, 7), i32(4, 4), i32(4));
  }
  static constexpr void compared(In<images_of_one>, const auto& c) {
    c.add("one_roi_align", roi_align({.output_size = {2, 2}}), f32(1, 1, 1, 1), i32(1, 4), i32(1));
  }
  static constexpr void compared(In<other_index_dtypes>, const auto& c) {
    c.add("roi_align", roi_align({.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2}), f32(2, 3, 6, 7), i32(4, 4),
          u32(4));
  }
  static constexpr void compared(In<second_of_pools>, const auto& c) {
    const auto squared = [](auto op) {
      return [op](Tensor x) {
        const Tensor y = op(x);
        return y * y;
      };
    };
    c.add("roi_align", squared([](Tensor x) {
            const Tensor boxes = x.ir().constant({0, 0.5, 3, 2.25, 1, 1, 2.5, 3.5}, {2, 4}, tw::float64);
            return ops::roi_align(x, boxes, x.ir().constant({0, 0}, {2}, tw::int32),
                                  {.output_size = {2, 2}, .sampling_ratio = 2});
          }),
          f64(1, 1, 4, 4));
  }
  static constexpr void compared(In<exact_networks>, const auto& c) {
    c.add(
        "exact_roi_align",
        [](Tensor x, Tensor rois, Tensor index) {
          return ops::roi_align(x, rois.cast(tw::float64), index, {.output_size = {2, 2}, .sampling_ratio = 1});
        },
        f64(1, 2, 5, 6), i32(1, 4), i32(1));
  }
  static constexpr void edges(const auto& c) {
    c.add(
        "roi_align",
        [](Tensor x, Tensor boxes, Tensor index) {
          return ops::roi_align(x, boxes.cast(x.dtype()), index, {.output_size = {3, 3}, .sampling_ratio = 1});
        },
        c.real({1, 2, 4, 4}), c.ints({1, 4}), c.ints({1}));
  }
  static void numbers(auto& list) {
    list.whole("RoiAlignOptions.output_size", list.any_outcome, [](auto& s, auto n) {
      return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.output_size = {2, n}});
    });
    list.real("RoiAlignOptions.spatial_scale", list.above_0, [](auto& s, auto n) {
      return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.spatial_scale = n});
    });
    list.whole("RoiAlignOptions.sampling_ratio", list.any_outcome, [](auto& s, auto n) {
      return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.sampling_ratio = n});
    });
  }
  static constexpr void handles(auto& list) {
    list.add("roi_align", [] { (void)ops::roi_align(Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
