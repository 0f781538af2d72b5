#pragma once
#include "tilewright/core/requirements.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/data/data_error.hpp"

namespace tilewright::data {

/// Reads a file from its start to its end; gzip data (told by content, not by name) is inflated, about as much as was asked for.
class FileReader {
 public:
  /// `reader` begins the texts of errors. Throws DataError when the file is missing or does not open.
  FileReader(std::string_view reader, const std::filesystem::path& path) : reader_(reader), path_(path) {
    if (!std::filesystem::exists(path)) fail("no such file", "a readable file");
    if (std::filesystem::is_directory(path)) fail("a folder", "a readable file");
    file_.reset(open(path));
    if (!file_) fail("a file that does not open", "a readable file");
    gzbuffer(file_.get(), 1u << 17);
  }

  /// The next `count` bytes, or as many as are left. Throws DataError when the file is unreadable, its gzip data is corrupt or
  /// cut off, or memory ends before the bytes do.
  std::vector<std::uint8_t> read(std::uint64_t count) {
    constexpr std::uint64_t most_at_once = 1u << 20;  // `count` may be a lie: memory grows with what is there
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < count) {
      const std::size_t begin = bytes.size();
      const auto wanted = static_cast<unsigned>(std::min(most_at_once, count - begin));
      grow(bytes, begin + wanted);
      const int given = gzread(file_.get(), bytes.data() + begin, wanted);
      bytes.resize(begin + static_cast<std::size_t>(std::max(given, 0)));
      check();  // each time: zlib 1.3.2 forgets at the next read that the stream was cut off
      if (given != static_cast<int>(wanted)) break;
    }
    return bytes;
  }
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw DataError(reader_, path_, found, expected);
  }

 private:
  /// A template, as zlib has gzopen_w only where paths are wide: on Windows, whose narrow names are not those of path.string().
  template <class Path>
  static gzFile open(const Path& path) {
    if constexpr (std::is_same_v<typename Path::value_type, wchar_t>) return gzopen_w(path.c_str(), "rb");
    else return gzopen(path.c_str(), "rb");
  }
  void grow(std::vector<std::uint8_t>& bytes, std::size_t size) const try { bytes.resize(size); } catch (const std::bad_alloc&) {
    fail("more than " + std::to_string(bytes.size()) + " bytes", "as many as fit in memory");
  } catch (const std::length_error&) {
    fail("more than " + std::to_string(bytes.size()) + " bytes", "as many as fit in memory");
  }
  /// Throws if the last read met an error; the end of the file is none.
  void check() const {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) fail("gzip data that is corrupt or cut off", "a whole gzip stream");
  }

  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };
  std::string_view reader_;
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace tilewright::data
