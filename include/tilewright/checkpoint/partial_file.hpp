#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tilewright/core/platform/platform.hpp"
#include "tilewright/core/platform/platform_files.hpp"

namespace tilewright::detail {

inline void throw_if_failed(const char* what, const std::filesystem::path& path, const std::error_code& error) {
  if (error) throw std::filesystem::filesystem_error(what, path, error);
}

/// A file in the target's folder that becomes `target` when it is complete: `target.0123456789abcdef.partial`. The process locks
/// it, if the system has locks, so that others can distinguish it from the remains of a killed process. All members throw
/// std::filesystem::filesystem_error, which names the target.
class PartialFile {
 public:
  static constexpr std::string_view suffix = ".partial";
  /// Permissions of most files: all may read and write, as far as the umask allows.
  static constexpr std::filesystem::perms usual{0666};

  /// `permissions`: those of a new file, before the process's umask.
  PartialFile(const std::filesystem::path& target, std::filesystem::perms permissions) : target_(target) {
    // A name is taken, or a file is removed before its lock is there, by chance only.
    std::error_code error = std::make_error_code(std::errc::file_exists);
    for (int attempt = 0; attempt < most_attempts && error == std::errc::file_exists; ++attempt) {
      path_ = target;
      path_ += random_ending();
      error = file_.create(path_, permissions);
    }
    throw_if_failed("cannot open", target_, error);
  }
  ~PartialFile() {
    if (!path_.empty() && internal::fork_count() == forks_) file_.remove(path_);  // a forked child leaves it to its parent
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void write(std::span<const std::byte> bytes) { throw_if_failed("cannot write", target_, file_.write(bytes)); }
  /// Appends zeros, and takes their room on the disk.
  void append_zeros(std::uint64_t count) {
    std::error_code unknown;
    const auto space = std::filesystem::space(path_, unknown);  // asked, so that a try does not fill the disk for others
    const bool is_full = !unknown && space.capacity > 0 && space.available < count;
    throw_if_failed("cannot write", target_,
                    is_full ? std::make_error_code(std::errc::no_space_on_device) : file_.append_zeros(count));
  }
  void set_permissions(std::filesystem::perms permissions) {
    throw_if_failed("cannot set the permissions", target_, file_.set_permissions(path_, permissions));
  }
  /// Renames it to the target after the disk has all data.
  void publish() {
    throw_if_failed("cannot finish", target_, file_.finish());
    std::error_code error;
    std::filesystem::rename(path_, target_, error);
    throw_if_failed("cannot rename", target_, error);
    path_.clear();
  }

  /// Gives it the target's name, like publish(), if no file has that name; the other name goes with this object.
  void publish_new() {
    throw_if_failed("cannot finish", target_, file_.finish());
    std::error_code error;
    std::filesystem::create_hard_link(path_, target_, error);  // unlike rename(), it replaces nothing
    if (error && !exists(symlink_status(target_))) std::filesystem::rename(path_, target_, error);  // a file system without links
    throw_if_failed("cannot create", target_, error);
  }
  const std::filesystem::path& path() const { return path_; }

  /// Returns the name of the target if `name` is that of a partial file.
  static std::optional<std::string_view> target_of(std::string_view name) {
    constexpr std::size_t ending = 1 + digits + suffix.size();
    if (name.size() <= ending || !name.ends_with(suffix)) return std::nullopt;
    const std::string_view number = name.substr(name.size() - ending, 1 + digits);
    if (number[0] != '.' || number.find_first_not_of("0123456789abcdef", 1) != number.npos) return std::nullopt;
    return name.substr(0, name.size() - ending);
  }
  /// Removes partial files of ended processes from a folder, if is_ours(the name of the target). Removes none if the system has
  /// no locks.
  static void remove_abandoned(const std::filesystem::path& folder, const auto& is_ours) {
    std::error_code gone;  // other processes may remove files, too
    for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone)) {
      const std::string name = entry->path().filename().string();
      if (const auto target = target_of(name); target && is_ours(*target)) internal::remove_if_abandoned(entry->path());
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

  std::filesystem::path target_, path_;
  internal::NewFile file_;
  unsigned forks_ = internal::fork_count();  // when it was made
};

}  // namespace tilewright::detail
