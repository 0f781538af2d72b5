#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/augment.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/file_reader.hpp"
#include "tilewright/images/png_stream.hpp"

/// Images in files.
namespace tilewright::images {

using data::ChannelAxis;

/// Whether images have elements of this type: std::uint8_t from 0 to 255, std::uint16_t from 0 to 65535, float from 0 to 1.
template <class T>
concept PixelElement = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> || std::same_as<T, float>;

/// Options of read_png.
struct PngOptions {
  /// Channels of the result: 1 for grey, 2 for grey and alpha, 3 for RGB, 4 for RGB and alpha; 0: those of the file. Grey is
  /// 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601). A file without alpha is opaque.
  std::size_t channels = 0;
  ChannelAxis channel_axis = ChannelAxis::first;  ///< (channels, height, width) or (height, width, channels)
  std::size_t max_pixels = 89'478'485;  ///< more are an error: a small file can have many; the default is Pillow's
};

namespace detail {

/// Pixels of a row, with 8 or 16 bits for each channel.
struct PngRow {
  std::size_t channels = 0, bits = 0;
  std::vector<std::uint8_t> bytes{};  // of 16 bits, the most significant byte comes first

  std::uint32_t value(std::size_t i) const { return bits == 8 ? bytes[i] : std::uint32_t{bytes[2 * i]} << 8 | bytes[2 * i + 1]; }
};

/// Value of one channel of a pixel with other channels than the file.
inline std::uint32_t converted(const PngRow& png, std::size_t pixel, std::size_t channel, std::size_t channels) {
  const std::size_t first = pixel * png.channels;
  const bool is_alpha = channels % 2 == 0 && channel == channels - 1, has_alpha = png.channels % 2 == 0;
  if (is_alpha) return has_alpha ? png.value(first + png.channels - 1) : png.bits == 8 ? 0xff : 0xffff;
  if (png.channels <= 2) return png.value(first);
  if (channels > 2) return png.value(first + channel);
  const std::uint64_t sum = std::uint64_t{19595} * png.value(first) + std::uint64_t{38470} * png.value(first + 1) +
                            std::uint64_t{7471} * png.value(first + 2);
  return static_cast<std::uint32_t>((sum + 0x8000) >> 16);  // the factors times 2^16, whose sum is 2^16
}
template <PixelElement Element>
Element pixel_element(std::uint32_t value, std::size_t bits) {
  if constexpr (std::same_as<Element, float>) return static_cast<float>(value) / (bits == 8 ? 255.0F : 65535.0F);
  else if constexpr (std::same_as<Element, std::uint8_t>) return static_cast<Element>(bits == 8 ? value : (value + 128) / 257);
  else return static_cast<Element>(bits == 8 ? value * 257 : value);
}

/// Reads a file row by row, so that little more memory than that of the result is taken.
template <PixelElement Element>
xt::xtensor<Element, 3> decode_png(const data::FileReader& file, std::span<const std::uint8_t> bytes, const PngOptions& options) {
  PngInput input(bytes);
  const auto ensure = [&](bool fact) {
    if (!fact) file.fail(std::string("damaged PNG data (") + input.error() + ")", "a whole PNG file");
  };
  if (!input.has_signature()) file.fail("no PNG signature", "a PNG file");
  ensure(input.read_header());
  const std::size_t height = input.height(), width = input.width(), pixels = height * width;
  const std::size_t channels = options.channels == 0 ? input.channels() : options.channels;
  const std::string size = std::to_string(height) + " x " + std::to_string(width) + " pixels";
  // zlib's deflate makes at most 1,032 bytes of one.
  if (input.stored_row_bytes() > 1032 * (std::uint64_t{bytes.size()} + 64) / height)
    file.fail(size + " in " + std::to_string(bytes.size()) + " bytes", "a whole PNG file");
  const std::uint64_t needed = tilewright::detail::saturated_product({pixels, channels, sizeof(Element)});
  if (pixels > options.max_pixels)
    file.fail(size + ", " + std::to_string(needed) + " bytes of elements",
              "at most max_pixels, " + std::to_string(options.max_pixels) + ",");
  const bool is_first = options.channel_axis == ChannelAxis::first;
  return data::detail::with_memory(
      "read_png", [&] { return file.path().string() + ": " + size; }, needed,
      [&] {
        using Shape = std::array<std::size_t, 3>;
        auto result = xt::xtensor<Element, 3>::from_shape(is_first ? Shape{channels, height, width}
                                                                   : Shape{height, width, channels});
        PngRow row{input.channels(), input.bits(), std::vector<std::uint8_t>(width * input.channels() * input.bits() / 8)};
        for (unsigned number = 0; number < input.passes(); ++number) {
          const PngPass pass = input.pass(number);
          if (pass.first_column >= width) continue;  // it has no rows
          const std::size_t columns = (width - pass.first_column - 1) / pass.column_step + 1;
          for (std::size_t y = pass.first_row; y < height; y += pass.row_step) {
            ensure(input.read_row(row.bytes.data(), columns));
            for (std::size_t i = 0; i < columns; ++i) {
              const std::size_t pixel = y * width + pass.first_column + i * pass.column_step;
              for (std::size_t channel = 0; channel < channels; ++channel)
                result.data()[is_first ? channel * pixels + pixel : pixel * channels + channel] = pixel_element<Element>(
                    converted(row, i, channel, channels), row.bits);
            }
          }
        }
        ensure(input.read_end());
        return result;
      });
}
inline void require_channels(const std::string& function, std::size_t channels) {
  if (channels > 4) throw data::DataError(function, std::to_string(channels) + " channels", "0 to 4");
}

}  // namespace detail

/// Reads a PNG file: (channels, height, width), or (height, width, channels) with ChannelAxis::last. Takes files of 1 to 16 bits,
/// with a palette or not, interlaced or not. Elements keep the share of the largest value when the bits of the file differ: 255
/// of 8 bits is 1.0F, and 65535 of std::uint16_t. Values are those of the file: gamma and colour profiles are ignored. Throws
/// DataError, which names the file, for one that is missing, unreadable or damaged, for more pixels than max_pixels or than fit
/// in memory, and for more than 4 channels.
///
///     const auto image = tw::images::read_png("cat.png", {.channels = 3});                  // xt::xtensor<float, 3>
///     const auto pixels = tw::images::read_png<std::uint8_t>("cat.png", {.channel_axis = tw::data::ChannelAxis::last});
template <PixelElement Element = float>
[[nodiscard]] xt::xtensor<Element, 3> read_png(const std::filesystem::path& path, const PngOptions& options = {}) {
  detail::require_channels("read_png", options.channels);
  data::FileReader file("read_png", path);
  const auto bytes = file.read((std::numeric_limits<std::uint64_t>::max)());
  return detail::decode_png<Element>(file, bytes, options);
}

namespace detail {

/// Returns an element as 8 bits, or 16 bits for std::uint16_t.
template <PixelElement Element>
std::uint32_t file_value(Element element) {
  if constexpr (std::same_as<Element, float>)
    return static_cast<std::uint32_t>(std::lround(std::clamp(element, 0.0F, 1.0F) * 255));
  else return element;
}
/// Returns the rows of a file, one after the other.
template <class Element>
std::vector<std::uint8_t> file_rows(const data::detail::Pixels<const Element>& pixels, const std::filesystem::path& path) {
  std::vector<std::uint8_t> bytes;
  const auto [height, width, channels] = pixels.extents;
  for (std::ptrdiff_t row = 0; row < height; ++row)
    for (std::ptrdiff_t column = 0; column < width; ++column)
      for (std::ptrdiff_t channel = 0; channel < channels; ++channel) {
        const Element element = pixels(row, column, channel);
        if (element != element)
          throw data::DataError("write_png", path, "NaN in row " + std::to_string(row) + ", column " + std::to_string(column),
                                "numbers from 0 to 1");
        const std::uint32_t value = file_value(element);
        if constexpr (std::same_as<Element, std::uint16_t>) bytes.push_back(static_cast<std::uint8_t>(value >> 8));
        bytes.push_back(static_cast<std::uint8_t>(value));
      }
  return bytes;
}
inline void write_file(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw data::DataError("write_png", path, "a file that cannot be written", "a writable file");
}

}  // namespace detail

/// Writes an image to a PNG file: (height, width) in grey, or (channels, height, width), or (height, width, channels) with
/// ChannelAxis::last. 1 channel is grey, 2 are grey and alpha, 3 are RGB, 4 are RGB and alpha. Elements std::uint8_t and
/// std::uint16_t are written as they are, with 8 and 16 bits; float from 0 to 1 is rounded to 8 bits, and what is below 0 or
/// above 1 becomes 0 or 1. Throws DataError for another number of channels, for images without pixels or above 1,000,000 pixels
/// wide or high, for NaN, and for a file that cannot be written.
///
///     tw::images::write_png("digit.png", xt::view(images, 0));     // (28, 28)
///     tw::images::write_png("generated.png", image);               // (3, 32, 32)
template <data::Image T>
  requires PixelElement<typename std::remove_cvref_t<T>::value_type>
void write_png(const std::filesystem::path& path, const T& image, ChannelAxis channel_axis = ChannelAxis::first) {
  using Element = typename std::remove_cvref_t<T>::value_type;
  const data::detail::Pixels<const Element> pixels = data::detail::pixels(image, channel_axis);
  const auto [height, width, channels] = pixels.extents;
  constexpr std::ptrdiff_t most = 1'000'000;  // libpng's own limit for readers
  if (height < 1 || width < 1 || height > most || width > most || channels < 1 || channels > 4)
    throw data::DataError(
        "write_png", path,
        std::to_string(height) + " x " + std::to_string(width) + " pixels of " + std::to_string(channels) + " channels",
        "1 to 1,000,000 each of 1 to 4");
  data::detail::with_memory(
      "write_png", [&] { return path.string() + ": " + std::to_string(height) + " x " + std::to_string(width) + " pixels"; },
      static_cast<std::uint64_t>(height * width * channels),
      [&] {
        std::vector<std::uint8_t> bytes = detail::file_rows(pixels, path);
        std::vector<std::uint8_t*> rows(static_cast<std::size_t>(height));
        for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = bytes.data() + row * (bytes.size() / rows.size());
        detail::PngOutput output;
        if (!output.write(rows.size(), static_cast<std::size_t>(width), static_cast<int>(channels),
                          std::same_as<Element, std::uint16_t> ? 16 : 8, rows.data()))
          throw data::DataError("write_png", path, output.error(), "an image that libpng writes");
        detail::write_file(path, output.bytes());
      });
}

}  // namespace tilewright::images
