#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tilewright/session/host_tensor.hpp"

namespace tilewright::detail {

/// Allocates memory for the contents of a file. Calls fail(found, expected), which must not return, if memory runs out.
inline std::vector<std::byte> bytes_for(std::uint64_t count, const auto& fail) {
  try {
    return std::vector<std::byte>(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail(std::to_string(count) + " bytes", "as many as fit in memory");
  return {};
}

/// Throws LoadError, by fail(found), if a path is not that of a regular file.
inline void require_regular_file(const std::filesystem::path& path, const auto& fail) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("no such file");
  if (status.type() == std::filesystem::file_type::none) fail("a file that cannot be reached (" + error.message() + ")");
  if (std::filesystem::is_directory(status)) fail("a folder");
  if (!std::filesystem::is_regular_file(status)) fail("no regular file");
}

/// Reads all bytes of a file. Throws LoadError if the file does not exist or cannot be read.
inline std::vector<std::byte> read_bytes(std::string_view function, const std::filesystem::path& path) {
  const auto fail = [&](std::string_view found, std::string_view expected = "a readable file") {
    throw LoadError(function, path.string(), "", found, expected);
  };
  require_regular_file(path, fail);
  std::ifstream file(path, std::ios::binary | std::ios::ate);  // its size is asked of the open file: the path may get another
  const std::streamoff size = file.tellg();
  if (size < 0 || !file.seekg(0)) fail("a file that does not open");
  std::vector<std::byte> bytes = bytes_for(static_cast<std::uint64_t>(size), fail);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) fail("a file that cannot be read to its end");
  return bytes;
}

}  // namespace tilewright::detail
