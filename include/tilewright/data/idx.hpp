#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tilewright/core/shape.hpp"
#include "tilewright/data/gzip_file.hpp"
#include "tilewright/kernel/xtensor.hpp"

namespace tilewright {

/// The most bytes of data read_idx accepts unless told otherwise: 1 GiB.
inline constexpr std::size_t idx_size_limit = std::size_t{1} << 30;

namespace detail {

/// The steps of read_idx.
template <std::size_t N>
struct IdxReader {
  static constexpr std::size_t header_size = 4 + 4 * N;

  std::filesystem::path path;
  std::size_t size_limit;
  GzipFile file{"read_idx", path};

  /// The header: two zero bytes, the type code, the rank, then each size as 32 bits, most significant byte first.
  std::array<std::size_t, N> read_shape() {
    std::array<std::uint8_t, header_size> header{};
    // The magic is judged before the sizes are missed: a file of another kind is often shorter.
    const std::size_t count = file.read(header);
    if (count < 4) fail(std::to_string(count) + " bytes", "an IDX header of " + std::to_string(header_size));
    if (header[0] != 0 || header[1] != 0)
      fail("first bytes " + hex(header[0]) + " " + hex(header[1]), "an IDX file's 0x00 0x00");
    if (header[2] != 0x08) fail("type code " + hex(header[2]), "0x08, unsigned bytes");
    if (header[3] != N) fail("rank " + std::to_string(header[3]), "rank " + std::to_string(N));
    if (count < header_size)
      fail(std::to_string(count) + " bytes", "an IDX header of " + std::to_string(header_size));

    std::array<std::size_t, N> shape{};
    for (std::size_t axis = 0; axis < N; ++axis)
      for (std::size_t byte = 0; byte < 4; ++byte) shape[axis] = shape[axis] << 8 | header[4 + 4 * axis + byte];
    return shape;
  }

  /// The product of the sizes. A size of zero counts as one against the limit, so that it cannot hide sizes
  /// whose strides overflow.
  std::size_t checked_size(const std::array<std::size_t, N>& shape) const {
    std::size_t size = 1;
    for (const std::size_t axis_size : shape) {
      if (axis_size > 1 && size > size_limit / axis_size)
        fail("shape " + shape_text(shape), "at most " + std::to_string(size_limit) + " bytes of data");
      size *= std::max<std::size_t>(axis_size, 1);
    }
    return std::ranges::count(shape, std::size_t{0}) > 0 ? 0 : size;
  }

  /// Exactly `size` bytes up to the end of the file. Memory grows with what the file really holds, so a header
  /// that promises too much costs nothing.
  std::vector<std::uint8_t> read_data(std::size_t size, const std::array<std::size_t, N>& shape) {
    constexpr std::size_t first_chunk = std::size_t{1} << 20;
    const std::string expected = std::to_string(size) + " for shape " + shape_text(shape);
    std::vector<std::uint8_t> data;
    while (data.size() < size) {
      const std::size_t begin = data.size();
      data.resize(std::min(size, std::max(first_chunk, 2 * begin)));
      const std::size_t count = file.read(std::span(data).subspan(begin));
      if (begin + count < data.size()) fail(std::to_string(begin + count) + " bytes of data", expected);
    }
    std::array<std::uint8_t, 1> next{};
    if (file.read(next) > 0) fail("more than " + std::to_string(size) + " bytes of data", expected);
    return data;
  }

  static std::string shape_text(const std::array<std::size_t, N>& sizes) {
    Shape shape;
    for (const std::size_t size : sizes) shape.push_back(static_cast<std::int64_t>(size));
    return to_text(shape).string();
  }

  static std::string hex(std::uint8_t byte) {
    constexpr char digits[] = "0123456789abcdef";
    return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
  }

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw DataError("read_idx", path, found, expected);
  }
};

}  // namespace detail

/// Reads an IDX file of unsigned bytes with N axes, plain or gzip-compressed (told apart by content, not by name).
/// Returns the bytes in the file's shape; what follows the end of a gzip stream is ignored, as gunzip does.
/// Throws DataError when the file is missing, unreadable, corrupt, cut off or too long, when it is not an IDX file of
/// unsigned bytes and rank N, and when its sizes multiply to more than `size_limit` bytes.
///
///     const xt::xtensor<std::uint8_t, 3> images = tw::read_idx<3>("train-images-idx3-ubyte.gz");
template <std::size_t N>
  requires(N >= 1 && N <= max_rank)
xt::xtensor<std::uint8_t, N> read_idx(const std::filesystem::path& path, std::size_t size_limit = idx_size_limit) {
  detail::IdxReader<N> reader{path, size_limit};
  const std::array<std::size_t, N> shape = reader.read_shape();
  const std::size_t size = reader.checked_size(shape);
  const std::vector<std::uint8_t> data = reader.read_data(size, shape);
  auto result = xt::xtensor<std::uint8_t, N>::from_shape(shape);
  std::ranges::copy(data, result.data());
  return result;
}

}  // namespace tilewright
