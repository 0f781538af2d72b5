#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/checkpoint/mapped_npy.hpp"

/// Files of NumPy, written by its format's description and not by the library (numpy.lib.format).
namespace support {

/// Returns the bytes of a .npy file. The header's texts are NumPy's, such as "<f4" and "(2, 3)".
template <class T>
std::string npy(std::string_view descr, std::string_view shape, const std::vector<T>& elements,
                std::string_view fortran_order = "False", char version = 1) {
  std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran_order) +
                     ", 'shape': " + std::string(shape) + ", }";
  const std::size_t begin = version == 1 ? 10 : 12;
  dict.resize(128 - begin - 1, ' ');
  dict += '\n';
  std::string result = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(dict.size()) + '\0';
  if (version > 1) result += std::string(2, '\0');
  const auto bytes = std::as_bytes(std::span(elements));
  return result + dict + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Returns an element of a mapped file.
template <class T>
T element(const std::filesystem::path& path, std::size_t i) {
  const auto array = tilewright::map_npy(path);
  return array.elements<T>()[i];
}

}  // namespace support
