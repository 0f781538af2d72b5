#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tilewright/kernel/conv/rows.hpp"
#include "tilewright/kernel/conv/winograd_lines.hpp"

namespace tilewright::kernel {

/// Tiles of the results of a convolution with a kernel of 3 x 3 and a stride of 1, for Winograd's form.
struct WinogradTiles {
  std::int64_t rows, columns;
  constexpr explicit WinogradTiles(const ConvShape& s)
      : rows(ceil_div(s.h.out, winograd_results)), columns(ceil_div(s.v.out, winograd_results)) {}
  /// Returns whether the form exists for the shape: planes and kernels without gaps.
  static constexpr bool fit(const ConvShape& s) {
    const auto fits = [](const Window& w) { return w.kernel == winograd_taps && w.stride == 1 && w.dilation == 1; };
    const bool reads = s.x_v == 1 || (s.x_channels_are_last() && s.channels % lanes == 0);
    const bool writes = s.y_v == 1 || (s.y_channels_are_last() && s.results % lanes == 0);
    return fits(s.h) && fits(s.v) && s.h_spacing == 1 && s.v_spacing == 1 && reads && writes && s.y_row() == s.v.out * s.y_v &&
           (s.w_v == 1 || s.w_v == -1) && s.w_h == winograd_taps * s.w_v;
  }
};

/// A block of planes with the channels as the last axis, padded to whole vectors: `rows` x `columns` elements, of which the first
/// is the element (first_row, first_column) of the planes. Elements outside the planes are 0.
struct ChannelBlock {
  std::int64_t rows, columns, channels;
  constexpr std::int64_t vectors() const { return ceil_div(channels, lanes); }
  constexpr std::int64_t pitch() const { return vectors() * lanes; }
  constexpr std::int64_t size() const { return rows * columns * pitch(); }
};
/// Copies planes of in_rows x in_columns, `plane` elements apart, to the block.
template <ChannelBlock block, std::int64_t in_rows, std::int64_t in_columns, std::int64_t plane, class X>
inline void copy_to_channels(const X* x, std::int64_t first_row, std::int64_t first_column, float* to) {
  const std::int64_t row = std::max<std::int64_t>(first_row, 0), row_end = (std::min)(first_row + block.rows, in_rows);
  const std::int64_t column = std::max<std::int64_t>(first_column, 0);
  const std::int64_t column_end = (std::min)(first_column + block.columns, in_columns);
  const auto clear = [to](std::int64_t begin, std::int64_t end) {  // elements outside the planes
    std::fill_n(to + begin * block.pitch(), (end - begin) * block.pitch(), 0.f);
  };
  if (row >= row_end || column >= column_end) return clear(0, block.rows * block.columns);
  clear(0, (row - first_row) * block.columns);
  for (std::int64_t i = row - first_row; i < row_end - first_row; ++i) {
    clear(i * block.columns, i * block.columns + column - first_column);
    clear(i * block.columns + column_end - first_column, (i + 1) * block.columns);
  }
  clear((row_end - first_row) * block.columns, block.rows * block.columns);
  in_blocks<block.channels, lanes>([&](std::int64_t c, auto channels) {
    const X* from = x + c * plane;
    float* first = to + ((row - first_row) * block.columns + column - first_column) * block.pitch() + c;
    if (column_end - column == in_columns)  // whole rows have no gap between them
      return transpose_panel<channels>(from + row * in_columns, plane, (row_end - row) * in_columns, [&](std::int64_t i) {
        return first + (i / in_columns * block.columns + i % in_columns) * block.pitch();
      });
    for (std::int64_t i = row; i < row_end; ++i, first += block.columns * block.pitch())
      transpose_panel<channels>(from + i * in_columns + column, plane, column_end - column,
                                [&](std::int64_t j) { return first + j * block.pitch(); });
  });
}

/// Points of the tiles of a block, as (point, tile, channel): T is ElementLine or ResultLineBack, whose tiles are T::from
/// elements wide. Each point has room for `tiles` tiles.
template <class T, ChannelBlock block, std::int64_t tile_rows, std::int64_t tile_columns,
          std::int64_t tiles = tile_rows * tile_columns>
[[gnu::noinline]] inline void points_of_tiles(const float* from, float* points) {
  constexpr std::int64_t point = tiles * block.pitch(), step = winograd_results;
  for (std::int64_t i = 0; i < tile_rows; ++i)
    for (std::int64_t j = 0; j < tile_columns; ++j)
      for (std::int64_t c = 0; c < block.pitch(); c += lanes) {
        const float* tile = from + (i * step * block.columns + j * step) * block.pitch() + c;
        float* to = points + (i * tile_columns + j) * block.pitch() + c;
        transform_tile<T>(
            [&](std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
              return Lanes::load_aligned(tile + (row * block.columns + column) * block.pitch());
            },
            [&](std::int64_t row, std::int64_t column, const Lanes& x)
                __attribute__((always_inline)) { x.store_aligned(to + (row * winograd_size + column) * point); });
      }
}

/// Elements of an image with the channels, whole vectors, as the last axis: `rows` x `columns` pixels, `pitch` elements apart.
struct PixelBlock {
  std::int64_t rows, columns, pitch, channels;
};
/// Points of the tiles of an image, of which the first begins at some row and at first_column: see points_of_tiles. Elements
/// outside the image are 0.
template <class T, PixelBlock block, std::int64_t first_column, std::int64_t tile_rows, std::int64_t tile_columns,
          std::int64_t tiles = tile_rows * tile_columns>
struct PixelPoints {
  static constexpr std::int64_t step = winograd_results, width = T::from, row_pitch = block.columns * block.pitch;
  /// Return the columns [begin, end) of tile j that are inside the image.
  static constexpr std::int64_t begin(std::int64_t j) { return std::clamp<std::int64_t>(-first_column - j * step, 0, width); }
  static constexpr std::int64_t end(std::int64_t j) {
    return std::clamp<std::int64_t>(block.columns - first_column - j * step, 0, width);
  }
  /// All columns of the tiles [inner_begin, inner_end) are inside the image.
  static constexpr std::int64_t inner_begin = [] {
    std::int64_t j = 0;
    while (j < tile_columns && begin(j) > 0) ++j;
    return j;
  }();
  static constexpr std::int64_t inner_end = [] {
    std::int64_t j = tile_columns;
    while (j > inner_begin && end(j - 1) < width) --j;
    return j;
  }();
  /// Addresses of the first column of the image in each row of a tile; null: the row is outside.
  struct Rows {
    const float* at[width];
    [[gnu::always_inline]] const float*& operator[](std::int64_t k) { return at[k]; }
    [[gnu::always_inline]] const float* operator[](std::int64_t k) const { return at[k]; }
  };

  /// Adds tile j, whose columns [from, to) are inside the image.
  template <std::int64_t from, std::int64_t to>
  [[gnu::noinline]] static void add_tile(const Rows& rows, std::int64_t j, const float* zeros, float* points) {
    Rows first;
    for (std::int64_t k = 0; k < width; ++k) first[k] = rows[k] ? rows[k] + (first_column + j * step) * block.pitch : zeros;
    points += j * block.channels;
    for (std::int64_t c = 0; c < block.channels; c += lanes)
      transform_tile<T>(
          [&](std::int64_t k, std::int64_t l) __attribute__((always_inline)) {
            return l < from || l >= to ? Lanes(0.f) : Lanes::load_unaligned(first[k] + c + l * block.pitch);
          },
          [&](std::int64_t k, std::int64_t l, const Lanes& x)
              __attribute__((always_inline)) { x.store_aligned(points + c + (k * winograd_size + l) * tiles * block.channels); });
  }
  template <std::int64_t first, std::size_t... j>
  static void add_edges([[maybe_unused]] const Rows& rows, [[maybe_unused]] const float* zeros, [[maybe_unused]] float* points,
                        std::index_sequence<j...>) {
    (add_tile<begin(first + std::int64_t{j}), end(first + std::int64_t{j})>(rows, first + std::int64_t{j}, zeros, points), ...);
  }
  /// Rows of tiles outside the image are read from `zeros`, which has winograd_size pixels.
  static void run(const float* from, std::int64_t first_row, const float* zeros, float* points) {
    for (std::int64_t i = 0; i < tile_rows; ++i, points += tile_columns * block.channels) {
      Rows rows;
      for (std::int64_t k = 0; k < width; ++k) {
        const std::int64_t row = first_row + i * step + k;
        rows[k] = row >= 0 && row < block.rows ? from + row * row_pitch : nullptr;
      }
      add_edges<0>(rows, zeros, points, std::make_index_sequence<std::size_t(inner_begin)>());
      for (std::int64_t j = inner_begin; j < inner_end; ++j) add_tile<0, width>(rows, j, zeros, points);
      add_edges<inner_end>(rows, zeros, points, std::make_index_sequence<std::size_t(tile_columns - inner_end)>());
    }
  }
};

/// Returns the distance between two points of `count` weights, in floats: a line more than their number where points would fall
/// on the same few lines of a first-level cache.
constexpr std::int64_t winograd_weights_step(std::int64_t count) {
  constexpr std::int64_t same_lines = 512, line = 16;
  return count % same_lines == 0 ? count + line : count;
}

/// The weights' points for the sums of each point: as (point, block of `width` columns, term, column). `terms` are the channels
/// that are summed, and `columns` those of the results; in w they are w_term and w_column elements apart.
template <std::int64_t terms, std::int64_t columns, std::int64_t width, std::int64_t w_term, std::int64_t w_column, bool turned,
          class W>
[[gnu::noinline]] inline void points_of_weights(const W* w, float* points) {
  constexpr std::int64_t taps = winograd_taps * winograd_taps, point = winograd_weights_step(round_up(columns, width) * terms);
  constexpr std::int64_t first_tap = turned ? 1 - taps : 0;  // memory holds turned taps from the last to the first
  in_blocks<columns, lanes>([&](std::int64_t column, auto count) {
    for (std::int64_t term = 0; term < terms; ++term) {
      Square square;
      const W* from = w + column * w_column + term * w_term + first_tap;
      if constexpr (lanes >= taps)
#pragma GCC unroll 64
        for (std::int64_t i = 0; i < lanes; ++i)
          square[i] = i < count ? Line<const W, 1>{from + i * w_column}.template load<taps>(0) : Lanes(0.f);
      alignas(64) float narrow[taps * lanes];
      if constexpr (lanes >= taps) transpose_square(square);
      else
        for (std::int64_t tap = 0; tap < taps; ++tap)
          for (std::int64_t i = 0; i < lanes; ++i)
            narrow[tap * lanes + i] = i < count ? static_cast<float>(from[i * w_column + tap]) : 0.f;
      float* to = points + (column / width * terms + term) * width + column % width;
      transform_tile<TapLine>(
          [&](std::int64_t row, std::int64_t tap) __attribute__((always_inline)) {
            const std::int64_t in_order = row * winograd_taps + tap, i = turned ? taps - 1 - in_order : in_order;
            if constexpr (lanes >= taps) return square[i];
            else return Lanes::load_aligned(narrow + i * lanes);
          },
          [&](std::int64_t row, std::int64_t tap, const Lanes& x)
              __attribute__((always_inline)) { x.store_aligned(to + (row * winograd_size + tap) * point); });
    }
  });
}

/// For each point, the products of (tile, term) with the weights' points: (point, tile, column).
template <std::int64_t tiles, std::int64_t terms, std::int64_t pitch, std::int64_t columns, std::int64_t width>
struct WinogradProducts {
  static constexpr std::int64_t vectors = width / lanes;
  static constexpr std::int64_t block = even_block(tiles, most_accumulators / vectors);

  template <std::int64_t rows>
  [[gnu::noinline]] static void product(const float* elements, const float* weights, float* results) {
    Lanes sum[std::size_t(rows)][std::size_t(vectors)];
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = Lanes(0.f);
    for (std::int64_t k = 0; k < terms; ++k, weights += width) {
      keep_apart(elements);
      Lanes weight[std::size_t(vectors)];
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) weight[v] = Lanes::load_aligned(weights + v * lanes);
#pragma GCC unroll 64
      for (std::int64_t i = 0; i < rows; ++i) {
        const Lanes element(elements[i * pitch + k]);
#pragma GCC unroll 64
        for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = math::fma(element, weight[v], sum[i][v]);
      }
    }
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v].store_aligned(results + i * columns + v * lanes);
  }
  static void run(const float* elements, const float* weights, float* results) {
    for (std::int64_t point = 0; point < winograd_points; ++point)
      for (std::int64_t column = 0; column < columns; column += width)
        in_blocks<tiles, block>([&](std::int64_t i, auto rows) {
          product<rows>(elements + (point * tiles + i) * pitch,
                        weights + point * winograd_weights_step(columns * terms) + column * terms,
                        results + (point * tiles + i) * columns + column);
        });
  }
};

/// Returns the vectors of a block of columns of products: few, so that tiles of one image fill the registers.
constexpr std::int64_t winograd_width(std::int64_t columns) { return lanes * (ceil_div(columns, lanes) % 2 == 0 ? 2 : 1); }

}  // namespace tilewright::kernel
