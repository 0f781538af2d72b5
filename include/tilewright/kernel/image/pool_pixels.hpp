#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "tilewright/kernel/image/pool_pairs.hpp"
#include "tilewright/kernel/vector/lanes.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Whether PoolPixels takes images of this view; otherwise they are planes.
template <class X>
inline constexpr bool takes_pixels = is_channels_last(X::spec);

/// Largest elements of windows of 2 x 2 (is_in_pairs) in vectors of channels. X is the view of float32 elements (N, C, H, W),
/// whose channels are the last axis of memory; Y that of the results or of their gradient, with channels last or in planes.
/// Planes are transposed, some rows at a time.
template <Windows windows, class X, class Y>
struct PoolPixels {
  using Pairs = PoolPairs<windows, float>;
  static constexpr Window rows = windows[1], columns = windows[2];
  static constexpr std::int64_t channels = X::shape[1], pitch = round_up(channels, lanes);
  static constexpr bool transposes = !is_channels_last(Y::spec);
  /// Largest number of floats of the rows of results that are transposed at a time.
  static constexpr std::int64_t most_floats = 8'192;
  static constexpr std::int64_t block_rows = transposes
                                                 ? std::clamp<std::int64_t>(most_floats / (columns.out * pitch), 1, rows.out)
                                                 : rows.out;
  /// Results of some rows with channels as the last axis, on the stack.
  struct Arrays {
    alignas(64) float results[transposes ? block_rows * columns.out * pitch : 1];
  };

  static void maximum(X x, Y y) {
    Arrays arrays;
    for (std::int64_t n = 0; n < X::shape[0]; ++n)
      in_blocks<rows.out, block_rows>([&](std::int64_t first, auto count) {
        float* const planes = y.data + n * Y::spec.stride(0) + first * Y::spec.stride(2);
        float* const to = transposes ? arrays.results : planes;
        constexpr std::int64_t step = transposes ? pitch : Y::spec.stride(3);
        for (std::int64_t row = 0; row < count; ++row)
          for (std::int64_t column = 0; column < columns.out; ++column) {
            const float* from = window(x, n, first + row, column);
            for_each_batch<channels, lanes>([&](std::int64_t c, auto width) {
              const Four four = load<width()>(from + c);
              fetch_next(from + c);
              Lanes result = largest<false>(four);
              if (four.has_nan()) [[unlikely]]
                result = largest_or_nan(four);
              Line<float, 1>{to}.template store<width()>((row * columns.out + column) * step + c, result);
            });
          }
        if constexpr (transposes)
          in_blocks<channels, lanes>([&](std::int64_t c, auto width) {
            transpose_back<width>(to + c, pitch, count * columns.out, planes + c * Y::spec.stride(1), Y::spec.stride(1));
          });
      });
  }
  /// Calls rows_of(n, row)(column, channel, batch of the gradient or PartOfBatch) for all elements of the data. DY: Y.
  template <class F>
  static void maximum_gradient(X x, Y dy, const F& rows_of) {
    Arrays arrays;
    for (std::int64_t n = 0; n < X::shape[0]; ++n) {
      in_blocks<rows.out, block_rows>([&](std::int64_t first, auto count) {
        const float* const planes = dy.data + n * Y::spec.stride(0) + first * Y::spec.stride(2);
        const float* const from = transposes ? arrays.results : planes;
        constexpr std::int64_t step = transposes ? pitch : Y::spec.stride(3);
        if constexpr (transposes)
          in_blocks<channels, lanes>([&](std::int64_t c, auto width) {
            transpose_panel<width>(planes + c * Y::spec.stride(1), Y::spec.stride(1), count * columns.out,
                                   [&](std::int64_t i) { return arrays.results + i * pitch + c; });
          });
        for (std::int64_t row = 0; row < count; ++row) {
          const auto upper = rows_of(n, 2 * (first + row)), lower = rows_of(n, 2 * (first + row) + 1);
          const auto next = rows_of(n, 2 * (first + row) + 2);
          for (std::int64_t column = 0; column < columns.out; ++column)
            for_each_batch<channels, lanes>([&](std::int64_t c, auto width) {
              const float* const at = window(x, n, first + row, column) + c;
              const Four four = load<width()>(at);
              fetch_next(at);
              if constexpr (requires { next.prefetch(column, c); })
                next.prefetch(2 * column, c), next.prefetch(2 * column + 1, c);
              const Lanes of = Line<const float, 1>{from}.template load<width()>((row * columns.out + column) * step + c);
              Four gradient = to_largest<false>(four, of);
              if (four.has_nan()) [[unlikely]]
                gradient = to_largest_or_nan(four, of);
              upper(2 * column, c, part<width()>(gradient.upper[0]));
              upper(2 * column + 1, c, part<width()>(gradient.upper[1]));
              lower(2 * column, c, part<width()>(gradient.lower[0]));
              lower(2 * column + 1, c, part<width()>(gradient.lower[1]));
            });
          if constexpr (columns.in % 2 != 0) clear(upper, columns.in - 1, 1), clear(lower, columns.in - 1, 1);
        }
      });
      if constexpr (rows.in % 2 != 0) clear(rows_of(n, rows.in - 1), 0, columns.in);
    }
  }

 private:
  /// The elements of a window.
  struct Four {
    std::array<Lanes, 2> upper, lower;
    /// Returns whether one is NaN, or some are infinities of both signs.
    bool has_nan() const { return simd::any(Pairs::is_nan((upper[0] + lower[0]) + (upper[1] + lower[1]))); }
  };
  static const float* window(X x, std::int64_t n, std::int64_t row, std::int64_t column) {
    return x.data + n * X::spec.stride(0) + 2 * row * X::spec.stride(2) + 2 * column * X::spec.stride(3);
  }
  /// Fetches the window below one: rows of images come from the third level of caches, where a core does not look far ahead.
  [[gnu::always_inline]] static void fetch_next(const float* window) {
    for (const std::int64_t row : {2, 3})
      for (const std::int64_t column : {0, 1}) __builtin_prefetch(window + row * X::spec.stride(2) + column * X::spec.stride(3));
  }
  template <std::int64_t count>
  [[gnu::always_inline]] static Four load(const float* from) {
    const auto at = [from](std::int64_t offset) { return Line<const float, 1>{from + offset}.template load<count>(0); };
    constexpr std::int64_t row = X::spec.stride(2), column = X::spec.stride(3);
    return {{at(0), at(column)}, {at(row), at(row + column)}};
  }
  template <std::int64_t count>
  [[gnu::always_inline]] static auto part(const Lanes& x) {
    if constexpr (count == lanes) return x;
    else return PartOfBatch<count, Lanes>{x};
  }
  /// Gives zeros as the gradient of `count` elements of a row from `column` on, which are in no window.
  static void clear(const auto& row, std::int64_t column, std::int64_t count) {
    for (; count > 0; ++column, --count)
      for_each_batch<channels, lanes>([&](std::int64_t c, auto width) { row(column, c, part<width()>(Lanes(0.f))); });
  }
  template <bool nan>
  [[gnu::always_inline]] static Lanes largest(const Four& x) {
    return Pairs::template larger<nan>(Pairs::template larger<nan>(x.upper[0], x.lower[0]),
                                       Pairs::template larger<nan>(x.upper[1], x.lower[1]));
  }
  [[gnu::noinline]] static Lanes largest_or_nan(const Four& x) { return largest<true>(x); }
  /// Returns the gradient of the first of the largest elements; with `nan`, of the last NaN if there is one.
  template <bool nan>
  [[gnu::always_inline]] static Four to_largest(const Four& x, const Lanes& dy) {
    const auto second_of_upper = Pairs::template beats<nan>(x.upper[1], x.upper[0]);
    const auto second_of_lower = Pairs::template beats<nan>(x.lower[1], x.lower[0]);
    const auto is_lower = Pairs::template beats<nan>(Pairs::template larger<nan>(x.lower[0], x.lower[1]),
                                                     Pairs::template larger<nan>(x.upper[0], x.upper[1]));
    const Lanes zero(0.f), of_upper = math::select(is_lower, zero, dy), of_lower = math::select(is_lower, dy, zero);
    return {{math::select(second_of_upper, zero, of_upper), math::select(second_of_upper, of_upper, zero)},
            {math::select(second_of_lower, zero, of_lower), math::select(second_of_lower, of_lower, zero)}};
  }
  [[gnu::noinline]] static Four to_largest_or_nan(const Four& x, const Lanes& dy) { return to_largest<true>(x, dy); }
};

}  // namespace tilewright::kernel
