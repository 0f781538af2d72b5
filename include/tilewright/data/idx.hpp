#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "tilewright/core/shape.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/file_reader.hpp"

namespace tilewright::data {

/// Reads an IDX file of unsigned bytes with `rank` axes, plain or gzip-compressed. The format: two zero bytes, the type code, the
/// rank, each extent as 32 bits with the most significant byte first, then the elements, row-major. Throws DataError if the file
/// is missing, unreadable or corrupt, has another type or rank, or if its length does not match its extents. A file with an
/// extent of 0 gives an array without elements. Reads and inflates at most one byte more than the header promises.
///
///     const xt::xtensor<std::uint8_t, 3> images = tw::data::read_idx<3>("train-images-idx3-ubyte.gz");
template <std::size_t rank>
  requires(rank >= 1 && rank <= max_rank)
[[nodiscard]] xt::xtensor<std::uint8_t, rank> read_idx(const std::filesystem::path& path) {
  FileReader file("read_idx", path);
  const auto ensure = [&](bool fact, const std::string& found, const std::string& expected) {
    if (!fact) file.fail(found, expected);
  };
  constexpr std::size_t header_bytes = 4 + 4 * rank;
  const auto header = file.read(header_bytes);
  const auto count_text = std::to_string(header.size()) + " bytes";
  const auto header_text = "an IDX header of " + std::to_string(header_bytes);
  ensure(header.size() >= 4, count_text, header_text);
  ensure(header[0] == 0 && header[1] == 0, "a magic number of " + std::to_string(header[0]) + ", " + std::to_string(header[1]),
         "an IDX file, which begins with 0, 0,");
  ensure(header[2] == 8, "type code " + std::to_string(header[2]), "8, unsigned bytes,");
  ensure(header[3] == rank, "rank " + std::to_string(header[3]), "rank " + std::to_string(rank));
  ensure(header.size() == header_bytes, count_text, header_text);

  constexpr std::uint64_t most = (std::numeric_limits<std::int64_t>::max)();
  std::array<std::size_t, rank> extents{};
  Shape shape;
  std::uint64_t count = 1, steps = 1;  // of elements; the steps along axes, which are those of extent 1 where there are none
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (std::size_t byte = 0; byte < 4; ++byte) extents[axis] = extents[axis] << 8 | header[4 + 4 * axis + byte];
    shape.push_back(static_cast<std::int64_t>(extents[axis]));
    count = extents[axis] != 0 && count > most / extents[axis] ? most : count * extents[axis];
    const std::uint64_t extent = std::max<std::uint64_t>(extents[axis], 1);
    steps = steps > most / extent ? most : steps * extent;
  }
  ensure(count != 0 || steps < most, "extents " + to_text(shape).string(), "extents whose product is below 2^63");
  const auto elements = file.read(count);
  const bool has_more = !file.read(1).empty();  // at the end of gzip data its checksum is compared
  ensure(elements.size() == count && !has_more,
         (has_more ? "more than " : "") + std::to_string(elements.size()) + " bytes of elements",
         "one byte for each element of " + to_text(shape).string());

  return detail::with_memory(
      "read_idx", [&] { return path.string() + ": elements"; }, count,
      [&] {
        auto result = xt::xtensor<std::uint8_t, rank>::from_shape(extents);
        std::copy(elements.begin(), elements.end(), result.data());
        return result;
      });
}

}  // namespace tilewright::data
