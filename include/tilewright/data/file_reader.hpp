#pragma once
#include "tilewright/core/requirements.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tilewright/data/data_error.hpp"

namespace tilewright::data {

/// Reads a file from its start to its end. Inflates gzip data, which it recognises by content, not by name; it inflates little
/// more than the requested amount.
class FileReader {
 public:
  /// Opens a file. `reader` begins the texts of errors. Throws DataError if the file is missing, is a folder or does not open.
  FileReader(std::string_view reader, const std::filesystem::path& path) : reader_(reader), path_(path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) fail("no such file", "a readable file");
    if (status.type() == std::filesystem::file_type::directory) fail("a folder", "a readable file");
    if (error) fail("a file that cannot be reached (" + error.message() + ")", "a readable file");
    file_.open(path, std::ios::binary);
    if (!file_) fail("a file that does not open", "a readable file");
    refill();
    if (available_ < 2 || input_[0] != 0x1f || input_[1] != 0x8b) return;  // plain
    inflate_ = std::make_unique<Inflate>();
    if (inflateInit2(&inflate_->stream, gzip_window_bits) != Z_OK) fail("no memory to inflate gzip data", "some");
    inflate_->is_open = true;
  }

  /// Returns the next `count` bytes, or all remaining bytes if there are fewer. Throws DataError if the file is unreadable, if
  /// its gzip data is corrupt or cut off, or if memory runs out. gzip data ends with its checksum, which is compared when the
  /// caller requests more bytes than there are.
  std::vector<std::uint8_t> read(std::uint64_t count) {
    constexpr std::uint64_t most_at_once = 1u << 20;  // `count` may be a lie: memory grows with what is there
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < count) {
      const std::size_t begin = bytes.size();
      const auto wanted = static_cast<std::size_t>((std::min)(most_at_once, count - begin));
      grow(bytes, begin + wanted);
      const std::size_t given = inflate_ ? read_inflated(bytes.data() + begin, wanted) : read_plain(bytes.data() + begin, wanted);
      bytes.resize(begin + given);
      if (given != wanted) break;
    }
    return bytes;
  }
  const std::filesystem::path& path() const { return path_; }
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw DataError(reader_, path_, found, expected);
  }

 private:
  static constexpr int gzip_window_bits = 15 + 16;  // zlib: the largest window, and gzip's header and checksum

  struct Inflate {
    z_stream stream{};
    bool is_open = false, is_at_end = false;

    Inflate() = default;
    Inflate(const Inflate&) = delete;
    Inflate& operator=(const Inflate&) = delete;
    ~Inflate() {
      if (is_open) inflateEnd(&stream);
    }
  };

  void grow(std::vector<std::uint8_t>& bytes, std::size_t size) const try { bytes.resize(size); } catch (const std::bad_alloc&) {
    fail("more than " + std::to_string(bytes.size()) + " bytes", "as many as fit in memory");
  } catch (const std::length_error&) {
    fail("more than " + std::to_string(bytes.size()) + " bytes", "as many as fit in memory");
  }
  /// Reads the next piece of the file. Returns false at its end.
  bool refill() {
    if (input_.empty()) input_.resize(std::size_t{1} << 17);
    file_.read(reinterpret_cast<char*>(input_.data()), static_cast<std::streamsize>(input_.size()));
    if (file_.bad()) fail("a file that cannot be read", "a readable file");
    next_ = 0;
    available_ = static_cast<std::size_t>(file_.gcount());
    return available_ > 0;
  }
  std::size_t read_plain(std::uint8_t* to, std::size_t wanted) {
    std::size_t given = 0;
    while (given < wanted && (available_ > 0 || refill())) {
      const std::size_t count = (std::min)(wanted - given, available_);
      std::copy_n(input_.data() + next_, count, to + given);
      given += count, next_ += count, available_ -= count;
    }
    return given;
  }
  std::size_t read_inflated(std::uint8_t* to, std::size_t wanted) {
    z_stream& stream = inflate_->stream;
    stream.next_out = to;
    stream.avail_out = static_cast<unsigned>(wanted);
    while (stream.avail_out > 0 && !inflate_->is_at_end) {
      if (available_ == 0 && !refill()) fail_corrupt();
      stream.next_in = input_.data() + next_;
      stream.avail_in = static_cast<unsigned>(available_);
      const int code = inflate(&stream, Z_NO_FLUSH);
      next_ += available_ - stream.avail_in;
      available_ = stream.avail_in;
      if (code == Z_STREAM_END) begin_member();
      else if (code != Z_OK) fail_corrupt();
    }
    return wanted - stream.avail_out;
  }
  /// Starts the next member: gzip data may consist of several members, and zeros.
  void begin_member() {
    do
      while (available_ > 0 && input_[next_] == 0) ++next_, --available_;
    while (available_ == 0 && refill());
    inflate_->is_at_end = available_ == 0;
    if (!inflate_->is_at_end && (input_[next_] != 0x1f || inflateReset(&inflate_->stream) != Z_OK)) fail_corrupt();
  }
  [[noreturn]] void fail_corrupt() const { fail("gzip data that is corrupt or cut off", "a whole gzip stream"); }

  std::string_view reader_;
  std::filesystem::path path_;
  std::ifstream file_;
  std::vector<std::uint8_t> input_;  // a piece of the file
  std::size_t next_ = 0, available_ = 0;  // bytes of it that are not yet taken
  std::unique_ptr<Inflate> inflate_;  // for gzip data
};

}  // namespace tilewright::data
