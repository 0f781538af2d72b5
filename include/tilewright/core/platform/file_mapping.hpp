#pragma once
// Files as memory. Where only the standard library is used (platform.hpp), there are none.
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "tilewright/core/map_mode.hpp"
#include "tilewright/core/platform/platform_files.hpp"

namespace tilewright::internal {

/// Whether files can be mapped on this system.
inline constexpr bool maps_files = TILEWRIGHT_HAS_POSIX == 1;

/// The bytes of a file as memory. The system reads pages of the file when something touches them.
class FileMapping {
 public:
  FileMapping() = default;
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

#if TILEWRIGHT_HAS_POSIX

  ~FileMapping() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }
  /// Maps a whole file. A mapping has one file.
  std::error_code open(const std::filesystem::path& path, MapMode mode) {
    const Descriptor file(path, mode == MapMode::shared ? O_RDWR : O_RDONLY);
    struct stat status{};
    if (!file || ::fstat(file.number(), &status) != 0) return last_error();
    return map(file, static_cast<std::size_t>(status.st_size), mode);
  }
  /// Waits until the disk has what was written to a shared mapping.
  std::error_code flush() const {
    return bytes_.empty() || ::msync(bytes_.data(), bytes_.size(), MS_SYNC) == 0 ? std::error_code() : last_error();
  }

 private:
  std::error_code map(const Descriptor& file, std::size_t size, MapMode mode) {
    if (size == 0) return {};  // no memory of 0 bytes can be mapped
    int flags = mode == MapMode::copy_on_write ? MAP_PRIVATE : MAP_SHARED;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;  // pages that are never written need no memory
#endif
    const int access = mode == MapMode::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void* const data = ::mmap(nullptr, size, access, flags, file.number(), 0);
    if (data == MAP_FAILED) return last_error();
    bytes_ = {static_cast<std::byte*>(data), size};
    return {};
  }

#else

  std::error_code open(const std::filesystem::path&, MapMode) { return std::make_error_code(std::errc::not_supported); }
  std::error_code flush() const { return {}; }

 private:
#endif
  std::span<std::byte> bytes_{};

 public:
  std::span<std::byte> bytes() const { return bytes_; }
};

}  // namespace tilewright::internal
