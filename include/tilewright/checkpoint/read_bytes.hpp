#pragma once
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "tilewright/session/host_tensor.hpp"

namespace tilewright::detail {

/// All bytes of a file, as they are. Throws LoadError where there is no such file or it cannot be read.
inline std::vector<std::byte> read_bytes(std::string_view function, const std::filesystem::path& path) {
  const auto fail = [&](std::string_view found) { throw LoadError(function, path.string(), "", found, "a readable file"); };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail("no such file");
  if (std::filesystem::is_directory(status)) fail("a folder");
  if (!std::filesystem::is_regular_file(status)) fail("no regular file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);  // its size is asked of the open file: the path may get another
  const std::streamoff size = file.tellg();
  if (size < 0 || !file.seekg(0)) fail("a file that does not open");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) fail("a file that cannot be read to its end");
  return bytes;
}

}  // namespace tilewright::detail
