#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::lab {

namespace detail {

/// Returns the checksum of a ZIP entry: CRC-32 of ISO 3309.
inline std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> result{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0u);
      result[i] = value;
    }
    return result;
  }();
  std::uint32_t sum = 0xffffffffu;
  for (const char byte : bytes) sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 255];
  return ~sum;
}

inline void append(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
}

}  // namespace detail

/// An array of an .npz file.
struct NamedArray {
  std::string name;
  std::span<const std::int64_t> values;
};

/// Returns one-dimensional arrays of int64 as a file that numpy.load reads: a ZIP archive of .npy entries, not compressed. All
/// entries together may have up to 4 GiB.
[[nodiscard]] inline std::string to_npz(const std::vector<NamedArray>& arrays) {
  std::string file, directory;
  for (const NamedArray& array : arrays) {
    std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (" + std::to_string(array.values.size()) + ",), }";
    while ((header.size() + 11) % 64 != 0) header += ' ';
    header += '\n';
    std::string entry = "\x93NUMPY";
    entry += '\x01';
    entry += '\x00';
    detail::append(entry, header.size(), 2);
    entry += header;
    for (const std::int64_t value : array.values) detail::append(entry, static_cast<std::uint64_t>(value), 8);
    const std::string name = array.name + ".npy";
    std::string fields;  // that an entry and its line of the directory have in common
    detail::append(fields, 20, 2);  // version of the format
    detail::append(fields, 0, 2 + 2);  // flags, stored
    detail::append(fields, 0x00210000, 4);  // 1 January 1980, so that equal arrays give equal files
    detail::append(fields, detail::crc32(entry), 4);
    detail::append(fields, entry.size(), 4);
    detail::append(fields, entry.size(), 4);
    detail::append(fields, name.size(), 2);
    detail::append(fields, 0, 2);  // no extra field
    directory += "PK\x01\x02";
    detail::append(directory, 20, 2);
    directory += fields;
    detail::append(directory, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
    detail::append(directory, file.size(), 4);
    directory += name;
    file += "PK\x03\x04" + fields + name + entry;
  }
  std::string end = "PK\x05\x06";
  detail::append(end, 0, 4);
  detail::append(end, arrays.size(), 2);
  detail::append(end, arrays.size(), 2);
  detail::append(end, directory.size(), 4);
  detail::append(end, file.size(), 4);
  detail::append(end, 0, 2);
  return file + directory + end;
}

}  // namespace tilewright::lab
