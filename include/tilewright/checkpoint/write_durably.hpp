#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace tilewright {

/// What write_durably() appends to a file's name while it writes.
inline constexpr std::string_view partial_suffix = ".partial";

namespace detail {
/// An open file or folder.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail("cannot open");
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(number_, bytes.data(), bytes.size());  // may write less than it was asked to
      if (count < 0 && errno != EINTR) fail("cannot write");
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  /// Waits until the disk has it.
  void sync() {
    while (::fsync(number_) != 0)
      if (errno != EINTR) fail("cannot fsync");
  }
  void close() {
    if (::close(std::exchange(number_, -1)) != 0) fail("cannot close");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::filesystem::filesystem_error(what, path_, std::error_code(errno, std::generic_category()));
  }
  std::filesystem::path path_;
  int number_;
};

/// Waits until the disk has a file's or folder's name.
inline void sync_folder_of(const std::filesystem::path& path) {
  Descriptor(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), O_RDONLY | O_DIRECTORY).sync();
}
}  // namespace detail

/// Makes a folder, and those above it, so that they are there to stay when the function returns. Throws
/// std::filesystem::filesystem_error.
inline void create_folder_durably(const std::filesystem::path& path) {
  if (path.empty() || std::filesystem::is_directory(path)) return;
  create_folder_durably(path.parent_path());
  std::filesystem::create_directory(path);
  detail::sync_folder_of(path);
}

/// Writes a file so that at every moment, a kill or a loss of power included, `path` is either what it was before or has all
/// of the parts: they go to a file beside it, which is synced and then renamed; at last the folder is synced, so that
/// the file is there to stay when the function returns. Throws std::filesystem::filesystem_error; then `path` is what it was.
inline void write_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  namespace fs = std::filesystem;
  fs::path partial = path;
  partial += partial_suffix;
  try {
    detail::Descriptor file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    for (const auto& part : parts) file.write(part);
    file.sync();
    file.close();
    fs::rename(partial, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    throw;
  }
  detail::sync_folder_of(path);
}

}  // namespace tilewright
