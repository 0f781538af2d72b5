#pragma once
// PNG files made without libpng, whole and damaged (www.w3.org/TR/png: signature, chunks, filter 0 before each row).
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

inline void append_number(Bytes& to, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::uint8_t>(number >> shift));
}
inline void append_chunk(Bytes& to, std::string_view type, const Bytes& content) {
  append_number(to, static_cast<std::uint32_t>(content.size()));
  const std::size_t begin = to.size();
  to.insert(to.end(), type.begin(), type.end());
  to.insert(to.end(), content.begin(), content.end());
  append_number(to, static_cast<std::uint32_t>(crc32(0, to.data() + begin, static_cast<unsigned>(to.size() - begin))));
}

/// What a file says of its pixels.
struct PngFacts {
  std::uint32_t width, height;
  std::uint8_t bits, colour_type;  // 0: grey, 2: RGB, 3: palette, 4: grey and alpha, 6: RGB and alpha
  std::uint8_t interlaced = 0;
  Bytes palette{}, transparency{};
};
/// Makes a file of `lines`: for each row a filter's number, and the row's bytes.
inline Bytes png_bytes(const PngFacts& facts, const Bytes& lines) {
  Bytes result{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, header;
  append_number(header, facts.width);
  append_number(header, facts.height);
  header.insert(header.end(), {facts.bits, facts.colour_type, 0, 0, facts.interlaced});
  append_chunk(result, "IHDR", header);
  if (!facts.palette.empty()) append_chunk(result, "PLTE", facts.palette);
  if (!facts.transparency.empty()) append_chunk(result, "tRNS", facts.transparency);
  uLongf size = compressBound(static_cast<uLong>(lines.size()));
  Bytes compressed(size);
  compress(compressed.data(), &size, lines.data(), static_cast<uLong>(lines.size()));
  compressed.resize(size);
  append_chunk(result, "IDAT", compressed);
  append_chunk(result, "IEND", {});
  return result;
}
