// Any bytes are a PNG image or an error, with right checksums of chunks: few inputs would get past wrong ones. An image that is
// written is the same when it is read again.
#include "tilewright/images/png.hpp"

#include <zlib.h>

#include <cstdlib>
#include <vector>

namespace {
namespace images = tilewright::images;
namespace data = tilewright::data;

std::uint32_t number_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}
void correct_checksums(std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t size = number_at(bytes, at);
    if (size > bytes.size() - at - 12) return;
    const auto sum = static_cast<std::uint32_t>(crc32(0, bytes.data() + at + 4, static_cast<unsigned>(size + 4)));
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 8 + size + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    at += size + 12;
  }
}
images::detail::DecodedPng decode(const std::vector<std::uint8_t>& bytes) {
  static const data::FileReader file("fuzz", "/dev/null");
  return images::detail::decode_png(file, bytes);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  std::vector<std::uint8_t> bytes(input, input + size);
  correct_checksums(bytes);
  try {
    auto image = decode(bytes);
    if (image.bytes.size() > 1 << 22) return 0;
    std::vector<std::uint8_t*> rows(image.height);
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = image.bytes.data() + row * (image.bytes.size() / rows.size());
    images::detail::PngOutput output;
    if (!output.write(image.height, image.width, static_cast<int>(image.channels), static_cast<int>(image.bits), rows.data()))
      std::abort();
    const auto again = decode(output.bytes());
    if (again.bytes != image.bytes || again.width != image.width || again.channels != image.channels) std::abort();
    for (const std::size_t channels : {1, 2, 3, 4}) {
      std::vector<float> elements(image.height * image.width * channels);
      images::detail::copy_pixels(image, {.channels = channels}, channels, elements.data());
    }
  } catch (const data::DataError&) {
  }
  return 0;
}
