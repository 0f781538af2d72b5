#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tilewright/checkpoint/partial_file.hpp"

namespace tilewright {

namespace detail {
inline std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}
/// Waits until the disk has the name of a file or folder.
inline void sync_folder_of(const std::filesystem::path& path) {
  throw_if_failed("cannot fsync", folder_of(path), internal::sync_folder(folder_of(path)));
}
}  // namespace detail

/// Creates a folder and its parents; they are on the disk when the function returns. Throws std::filesystem::filesystem_error.
inline void create_folder_durably(const std::filesystem::path& path) {
  if (path.empty() || std::filesystem::is_directory(path)) return;
  if (path.has_relative_path()) create_folder_durably(path.parent_path());  // a drive that is not there is its own parent
  std::filesystem::create_directory(path);
  detail::sync_folder_of(path);
}

/// Writes a file atomically: at every moment, even after a kill or a power loss, `path` has either its old contents or all of
/// the parts. The parts go to a file of another name in the same folder (PartialFile), which is synced and then renamed.
/// Finally the folder is synced, so the file is on the disk when the function returns. A replaced file passes on its
/// permissions. Several processes may write at the same time; the last one's file stays. Throws
/// std::filesystem::filesystem_error, also if `path` is not a regular file, such as a folder, a device or a symbolic link. If
/// it throws, `path` is unchanged. If core/platform/platform_files.hpp has the standard library alone, nothing is synced: the
/// file is complete after a kill of the process, but perhaps not after a power loss.
inline void write_durably(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  using std::filesystem::perms;
  std::error_code unknown;  // then there is nothing to replace, or the file does not open
  const auto before = std::filesystem::symlink_status(path, unknown);
  const bool replaces = std::filesystem::exists(before);
  if (replaces && !std::filesystem::is_regular_file(before))
    detail::throw_if_failed(
        "cannot replace what is no regular file", path,
        std::make_error_code(std::filesystem::is_directory(before) ? std::errc::is_a_directory : std::errc::invalid_argument));
  {
    detail::PartialFile file(path, replaces ? perms::owner_read | perms::owner_write : detail::PartialFile::usual);
    for (const auto& part : parts) file.write(part);
    if (replaces) file.set_permissions(before.permissions() & perms::all);
    file.publish();
  }
  detail::sync_folder_of(path);
  const std::string name = path.filename().string();
  detail::PartialFile::remove_abandoned(detail::folder_of(path), [&](std::string_view target) { return target == name; });
}

}  // namespace tilewright
