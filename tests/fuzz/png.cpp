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
template <class Element>
xt::xtensor<Element, 3> decode(const std::vector<std::uint8_t>& bytes, std::size_t channels = 0) {
  static const data::FileReader file("fuzz", "/dev/null");
  return images::detail::decode_png<Element>(
      file, bytes, {.channels = channels, .channel_axis = data::ChannelAxis::last, .max_pixels = 1 << 20});
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  std::vector<std::uint8_t> bytes(input, input + size);
  correct_checksums(bytes);
  try {
    const auto image = decode<std::uint16_t>(bytes);
    std::vector<std::uint8_t> written = images::detail::file_rows(data::detail::pixels(image, data::ChannelAxis::last), "fuzz");
    std::vector<std::uint8_t*> rows(image.shape(0));
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = written.data() + row * (written.size() / rows.size());
    images::detail::PngOutput output;
    if (!output.write(rows.size(), image.shape(1), static_cast<int>(image.shape(2)), 16, rows.data())) std::abort();
    if (decode<std::uint16_t>(output.bytes()) != image) std::abort();
    for (const std::size_t channels : {1, 2, 3, 4}) decode<float>(bytes, channels);
  } catch (const data::DataError&) {
  }
  return 0;
}
