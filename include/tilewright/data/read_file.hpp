#pragma once
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "tilewright/data/data_error.hpp"

namespace tilewright::data {

/// All bytes of a file; gzip data (told by content, not by name) is inflated. `reader` begins the texts of errors.
/// Throws DataError when the file is missing or unreadable, or when its gzip data is corrupt or cut off.
inline std::vector<std::uint8_t> read_file(std::string_view reader, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) throw DataError(reader, path, "no such file", "a readable file");
  if (std::filesystem::is_directory(path)) throw DataError(reader, path, "a folder", "a readable file");
  constexpr auto close = [](gzFile file) { gzclose_r(file); };
  const std::unique_ptr<gzFile_s, decltype(close)> file(gzopen(path.string().c_str(), "rb"));
  if (!file) throw DataError(reader, path, "a file that does not open", "a readable file");

  constexpr unsigned chunk = 1u << 20;
  std::vector<std::uint8_t> bytes;
  for (int count = chunk; count == static_cast<int>(chunk);) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + chunk);
    count = gzread(file.get(), bytes.data() + begin, chunk);
    bytes.resize(begin + static_cast<std::size_t>(count > 0 ? count : 0));
  }
  int code = Z_OK;  // a short read is the end of the file or an error: this tells which
  gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END)
    throw DataError(reader, path, "gzip data that is corrupt or cut off", "a whole gzip stream");
  return bytes;
}

}  // namespace tilewright::data
