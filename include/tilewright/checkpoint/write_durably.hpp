#pragma once
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tilewright/checkpoint/partial_file.hpp"

namespace tilewright {

namespace detail {
inline std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}
/// Waits until the disk has a file's or folder's name.
inline void sync_folder_of(const std::filesystem::path& path) {
  const Descriptor folder(folder_of(path), O_RDONLY | O_DIRECTORY);
  if (!folder) throw_system_error("cannot open", folder_of(path), errno);
  if (!folder.sync()) throw_system_error("cannot fsync", folder_of(path), errno);
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
/// of the parts. They go to a file of another name in the same folder (PartialFile), which is synced and then renamed; at last
/// the folder is synced, so that the file is there to stay when the function returns. A file that is replaced passes on its
/// permissions. Several processes may write at the same time: the last one's file stays. Throws
/// std::filesystem::filesystem_error, also where `path` is something else than a regular file, such as a folder, a device or a
/// symbolic link; then `path` is what it was.
inline void write_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  struct stat before{};
  const bool replaces = ::lstat(path.c_str(), &before) == 0;
  if (replaces && !S_ISREG(before.st_mode))
    detail::throw_system_error("cannot replace what is no regular file", path, S_ISDIR(before.st_mode) ? EISDIR : EINVAL);
  constexpr mode_t owner_only = 0600, usual = 0666, permissions = 0777;
  {
    detail::PartialFile file(path, replaces ? owner_only : usual);
    for (const auto& part : parts) file.write(part);
    if (replaces) file.set_mode(before.st_mode & permissions);
    file.publish();
  }
  detail::sync_folder_of(path);
  const std::string name = path.filename().string();
  detail::PartialFile::remove_abandoned(detail::folder_of(path), [&](std::string_view target) { return target == name; });
}

}  // namespace tilewright
