#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tilewright::detail {

[[noreturn]] inline void throw_system_error(const char* what, const std::filesystem::path& path, int error) {
  throw std::filesystem::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

/// An open file or folder, or none.
class Descriptor {
 public:
  Descriptor() = default;
  /// `errno` says why, where it did not open.
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
  /// Waits until the disk has it. Whether that succeeded, or `errno`.
  bool sync() const {
    while (::fsync(number_) != 0)
      if (errno != EINTR) return false;
    return true;
  }
  /// Takes the lock that ends with the descriptor and thus with the process. Whether that succeeded, or `errno`.
  bool lock(int more = 0) const {
    while (::flock(number_, LOCK_EX | more) != 0)
      if (errno != EINTR) return false;
    return true;
  }
  /// Whether `path` is a name of this file.
  bool is_at(const std::filesystem::path& path) const {
    struct stat here{}, there{};
    return ::fstat(number_, &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
  }

 private:
  int number_ = -1;
};

/// A file that becomes `target` once it is whole, in the same folder: `target.0123456789abcdef.partial`. The process holds a
/// lock on it, so that others can tell it from what a killed process left. All members throw
/// std::filesystem::filesystem_error, which names the target.
class PartialFile {
 public:
  static constexpr std::string_view suffix = ".partial";

  /// `mode` is that of a new file, before the process's umask.
  PartialFile(const std::filesystem::path& target, mode_t mode) : target_(target) {
    // A name is taken, or a file is removed before its lock is there, by chance only.
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      path_ = target;
      path_ += random_ending();
      file_ = Descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      if (!file_ && errno == EEXIST) continue;
      if (!file_) throw_system_error("cannot open", target_, errno);
      if (!file_.lock() || file_.is_at(path_)) return;  // a file system without locks gives remove_if_abandoned none either
    }
    throw_system_error("cannot open", target_, EEXIST);
  }
  ~PartialFile() {
    if (!path_.empty()) ::unlink(path_.c_str());  // while the lock is held: the name is still this file's
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(file_.number(), bytes.data(), bytes.size());  // may write less than it was asked to
      if (count < 0 && errno != EINTR) throw_system_error("cannot write", target_, errno);
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void set_mode(mode_t mode) {
    struct stat status{};
    if (::fstat(file_.number(), &status) == 0 && (status.st_mode & 0777) == mode) return;  // some file systems have one mode
    if (::fchmod(file_.number(), mode) != 0) throw_system_error("cannot set the mode", target_, errno);
  }
  /// Makes it the target, once the disk has all of it.
  void publish() {
    if (!file_.sync()) throw_system_error("cannot fsync", target_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) throw_system_error("cannot rename", target_, errno);
    path_.clear();
  }

  /// The name of the target, if this is the name of a partial file.
  static std::optional<std::string_view> target_of(std::string_view name) {
    constexpr std::size_t ending = 1 + digits + suffix.size();
    if (name.size() <= ending || !name.ends_with(suffix)) return std::nullopt;
    const std::string_view number = name.substr(name.size() - ending, 1 + digits);
    if (number[0] != '.' || number.find_first_not_of("0123456789abcdef", 1) != number.npos) return std::nullopt;
    return name.substr(0, name.size() - ending);
  }
  /// Removes the partial files in a folder whose process is gone, if is_ours(the name of the target).
  static void remove_abandoned(const std::filesystem::path& folder, const auto& is_ours) {
    std::error_code gone;  // other processes may remove files, too
    for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone)) {
      const std::string name = entry->path().filename().string();
      if (const auto target = target_of(name); target && is_ours(*target)) remove_if_abandoned(entry->path());
    }
  }

 private:
  static constexpr int most_attempts = 100;
  static constexpr std::size_t digits = 16;

  static std::string random_ending() {
    std::random_device random;
    std::string result(".");
    for (std::size_t i = 0; i < digits; ++i) result += "0123456789abcdef"[random() % 16];
    return result.append(suffix);
  }
  static void remove_if_abandoned(const std::filesystem::path& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    const Descriptor file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);  // a lock over NFS wants a file that is open to write
    if (file && file.lock(LOCK_NB) && file.is_at(path)) ::unlink(path.c_str());
  }

  std::filesystem::path target_, path_;
  Descriptor file_;  // last: the lock ends after the name
};

}  // namespace tilewright::detail
