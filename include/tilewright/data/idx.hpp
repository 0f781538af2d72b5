#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "tilewright/core/shape.hpp"
#include "tilewright/data/read_file.hpp"
#include "tilewright/kernel/xtensor.hpp"

namespace tilewright::data {

/// Reads an IDX file of unsigned bytes with `rank` axes, plain or gzip-compressed. The format: two zero bytes, the type code,
/// the rank, each extent as 32 bits with the most significant byte first, then the elements, row-major.
/// Throws DataError when the file is missing, unreadable or corrupt, has another type or rank, or is not exactly as long as
/// its extents say.
///
///     const xt::xtensor<std::uint8_t, 3> images = tw::data::read_idx<3>("train-images-idx3-ubyte.gz");
template <std::size_t rank>
  requires(rank >= 1 && rank <= max_rank)
xt::xtensor<std::uint8_t, rank> read_idx(const std::filesystem::path& path) {
  const auto bytes = read_file("read_idx", path);
  const auto require = [&](bool fact, const std::string& found, const std::string& expected) {
    if (!fact) throw DataError("read_idx", path, found, expected);
  };
  constexpr std::size_t header = 4 + 4 * rank;
  const auto count_text = std::to_string(bytes.size()) + " bytes";
  const auto header_text = "an IDX header of " + std::to_string(header);
  require(bytes.size() >= 4, count_text, header_text);
  require(bytes[0] == 0 && bytes[1] == 0, "a magic number of " + std::to_string(bytes[0]) + ", " + std::to_string(bytes[1]),
          "an IDX file, which begins with 0, 0,");
  require(bytes[2] == 8, "type code " + std::to_string(bytes[2]), "8, unsigned bytes,");
  require(bytes[3] == rank, "rank " + std::to_string(bytes[3]), "rank " + std::to_string(rank));
  require(bytes.size() >= header, count_text, header_text);

  std::array<std::size_t, rank> extents{};
  Shape shape;
  const std::size_t given = bytes.size() - header;
  std::size_t wanted = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (std::size_t byte = 0; byte < 4; ++byte) extents[axis] = extents[axis] << 8 | bytes[4 + 4 * axis + byte];
    shape.push_back(static_cast<std::int64_t>(extents[axis]));
    wanted = std::min(wanted, given + 1) * extents[axis];  // bounded: extents of 2^32 must not overflow the product
  }
  require(given == wanted, std::to_string(given) + " bytes of elements", "as many as elements in " + to_text(shape).string());

  auto result = xt::xtensor<std::uint8_t, rank>::from_shape(extents);
  std::copy(bytes.begin() + header, bytes.end(), result.data());
  return result;
}

}  // namespace tilewright::data
