#pragma once
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "tilewright/data/data_error.hpp"

namespace tilewright::detail {

/// A file open for reading; gzip data is inflated on the way, anything else is read as it is.
class GzipFile {
 public:
  /// `reader` begins the text of errors and must be a literal. Throws DataError when the file does not open.
  GzipFile(const char* reader, const std::filesystem::path& path) : reader_(reader), path_(path) {
    std::error_code error;
    const auto kind = std::filesystem::status(path, error).type();
    if (kind == std::filesystem::file_type::not_found) fail("no such file");
    if (kind == std::filesystem::file_type::directory) fail("a folder");
    errno = 0;
    file_.reset(gzopen(path.string().c_str(), "rb"));
    if (!file_) fail(errno == 0 ? "too little memory to open it" : std::generic_category().message(errno));
    gzbuffer(file_.get(), 1u << 17);
  }

  /// Fills `bytes` as far as the file goes and returns how many were read.
  /// Throws DataError when the file cannot be read or its gzip data is corrupt or cut off.
  std::size_t read(std::span<std::uint8_t> bytes) {
    constexpr std::size_t most_per_call = 1u << 30;  // gzread counts in int
    std::size_t count = 0;
    while (count < bytes.size()) {
      const auto wanted = static_cast<unsigned>(std::min(bytes.size() - count, most_per_call));
      const int got = gzread(file_.get(), bytes.data() + count, wanted);
      if (got > 0) count += static_cast<std::size_t>(got);
      if (got < 0 || static_cast<unsigned>(got) < wanted) {
        check(count);
        break;
      }
    }
    position_ += count;
    return count;
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose_r(file); }
  };

  /// A short read is the end of the file or an error: zlib's state tells which. (What zlib had read of corrupt data
  /// depends on its buffers, so only the other case says how far it came.)
  void check(std::size_t count_of_short_read) const {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (code == Z_OK) return;
    if (code == Z_ERRNO) fail(std::generic_category().message(errno));
    if (code != Z_BUF_ERROR) fail("corrupt gzip data", "a whole gzip stream");
    fail("gzip data cut off after " + std::to_string(position_ + count_of_short_read) + " bytes", "a whole gzip stream");
  }

  [[noreturn]] void fail(const std::string& found, const std::string& expected = "a readable file") const {
    throw DataError(reader_, path_, found, expected);
  }

  const char* reader_;
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::size_t position_ = 0;
};

}  // namespace tilewright::detail
