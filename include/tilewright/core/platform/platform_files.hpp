#pragma once
// Files for writers of checkpoints. Other processes see that a new file is in use, and the disk has the file when the writer asks
// for it. Where only the standard library is used (platform.hpp), there are no locks, and nothing waits for the disk.
#include "tilewright/core/platform/platform.hpp"

#if TILEWRIGHT_HAS_POSIX
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#else
#include <fstream>
#endif

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>

namespace tilewright::internal {

#if TILEWRIGHT_HAS_POSIX

inline std::error_code last_error() { return {errno, std::generic_category()}; }

/// An open file or folder, or none.
class Descriptor {
 public:
  Descriptor() = default;
  /// Opens a file or folder. If it does not open, `errno` says why.
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Waits until the disk has the data. Returns whether that succeeded; `errno` says why not.
  bool sync() const {
    while (::fsync(number_) != 0)
      if (errno != EINTR) return false;
    return true;
  }
  /// Takes a lock that ends with the descriptor and thus with the process. Returns whether that succeeded; `errno` says why not.
  bool lock(int more = 0) const {
    while (::flock(number_, LOCK_EX | more) != 0)
      if (errno != EINTR) return false;
    return true;
  }
  /// Returns whether `path` is a name of this file.
  bool is_at(const std::filesystem::path& path) const {
    struct stat here{}, there{};
    return ::fstat(number_, &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
  }

 private:
  int number_ = -1;
};

/// Appends zeros to a file, and takes their room on the disk, so that writes to a mapping of them do not fail later.
inline std::error_code append_zeros(const Descriptor& file, std::uint64_t count) {
  const off_t end = ::lseek(file.number(), 0, SEEK_END);
  if (end < 0) return last_error();
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
  int error = count == 0 ? 0 : EINTR;
  while (error == EINTR) error = ::posix_fallocate(file.number(), end, static_cast<off_t>(count));
  if (error != EOPNOTSUPP && error != EINVAL) return {error, std::generic_category()};  // what file systems without it give
#endif
  static constexpr char zeros[1 << 16]{};
  while (count > 0) {
    const auto written = ::write(file.number(), zeros, static_cast<std::size_t>(std::min<std::uint64_t>(count, sizeof zeros)));
    if (written < 0 && errno != EINTR) return last_error();
    if (written > 0) count -= static_cast<std::uint64_t>(written);
  }
  return {};
}

/// A new file that is being written. While the process holds it, remove_if_abandoned does not remove it.
class NewFile {
 public:
  /// Creates the file, with permissions before the process's umask. The error is std::errc::file_exists if the name is taken, or
  /// if another process removed the file as abandoned before it was locked.
  std::error_code create(const std::filesystem::path& path, std::filesystem::perms permissions) {
    file_ = Descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, static_cast<mode_t>(permissions));
    if (!file_) return last_error();
    if (!file_.lock() || file_.is_at(path)) return {};  // a file system without locks gives remove_if_abandoned none either
    return std::make_error_code(std::errc::file_exists);
  }
  std::error_code write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(file_.number(), bytes.data(), bytes.size());  // may write less than it was asked to
      if (count < 0 && errno != EINTR) return last_error();
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }
  std::error_code append_zeros(std::uint64_t count) { return internal::append_zeros(file_, count); }
  std::error_code set_permissions(const std::filesystem::path&, std::filesystem::perms permissions) {
    const auto mode = static_cast<mode_t>(permissions);
    struct stat status{};
    if (::fstat(file_.number(), &status) == 0 && (status.st_mode & 0777) == mode) return {};  // some file systems have one mode
    return ::fchmod(file_.number(), mode) == 0 ? std::error_code() : last_error();
  }
  /// Waits until the disk has all data.
  std::error_code finish() { return file_.sync() ? std::error_code() : last_error(); }
  /// Closes and removes the file, which still has the name `path`.
  void remove(const std::filesystem::path& path) { ::unlink(path.c_str()); }

 private:
  Descriptor file_;
};

/// Removes a regular file that no process is writing as a NewFile.
inline void remove_if_abandoned(const std::filesystem::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const Descriptor file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);  // a lock over NFS wants a file that is open to write
  if (file && file.lock(LOCK_NB) && file.is_at(path)) ::unlink(path.c_str());
}

/// Waits until the disk has the names in a folder.
inline std::error_code sync_folder(const std::filesystem::path& folder) {
  const Descriptor file(folder, O_RDONLY | O_DIRECTORY);
  return file && file.sync() ? std::error_code() : last_error();
}

#else

class NewFile {
 public:
  std::error_code create(const std::filesystem::path& path, std::filesystem::perms permissions) {
    std::error_code error;
    if (exists(symlink_status(path, error))) return std::make_error_code(std::errc::file_exists);
    file_.open(path, std::ios::binary | std::ios::trunc);
    if (!file_) return std::make_error_code(std::errc::io_error);
    constexpr auto owner = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    if (permissions == owner) std::filesystem::permissions(path, owner, error);
    return {};
  }
  std::error_code write(std::span<const std::byte> bytes) {
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file_.flush() ? std::error_code() : std::make_error_code(std::errc::io_error);
  }
  std::error_code append_zeros(std::uint64_t) { return std::make_error_code(std::errc::not_supported); }
  std::error_code set_permissions(const std::filesystem::path& path, std::filesystem::perms permissions) {
    std::error_code error;
    std::filesystem::permissions(path, permissions, error);
    return error;
  }
  /// Closes the file, because some systems rename closed files only.
  std::error_code finish() {
    file_.close();
    return file_ ? std::error_code() : std::make_error_code(std::errc::io_error);
  }
  void remove(const std::filesystem::path& path) {
    file_.close();
    std::error_code error;  // some systems do not remove what is read-only
    std::filesystem::permissions(path, std::filesystem::perms::owner_write, std::filesystem::perm_options::add, error);
    std::filesystem::remove(path, error);
  }

 private:
  std::ofstream file_;
};

/// Does nothing, because it is unknown whether a process is still writing the file.
inline void remove_if_abandoned(const std::filesystem::path&) {}

inline std::error_code sync_folder(const std::filesystem::path&) { return {}; }

#endif

/// Whether files are locked while they are written, so that the remains of killed processes can be removed.
inline constexpr bool removes_abandoned_files = TILEWRIGHT_HAS_POSIX == 1;

}  // namespace tilewright::internal
