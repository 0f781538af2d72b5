#pragma once
// What processes on one machine share through the system: its name, its cores, memory and locks.
#include "tilewright/core/platform/platform_files.hpp"

#if !TILEWRIGHT_HAS_POSIX
#error "tilewright/distributed needs a POSIX system, without TILEWRIGHT_PORTABLE"
#include "tilewright/distributed needs a POSIX system"
#endif

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tilewright::internal {

inline std::string host_name() {
  char name[256] = "?";
  ::gethostname(name, sizeof name - 1);
  return name;
}
/// Returns the number of the machine's cores, whether or not this process may use them: MPI may bind processes to some.
inline int cores_of_host() { return (std::max)(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))); }
inline long process_number() { return ::getpid(); }

/// Creates a file of `bytes` zeros and maps it into memory. Writes of the process reach the file, even if SIGKILL ends the
/// process. The memory is never unmapped. Returns null if the system does not support it.
inline std::byte* map_new_file(const std::filesystem::path& path, std::size_t bytes) {
  const Descriptor file(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (!file || append_zeros(file, bytes)) return nullptr;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

/// Creates a file. Returns false only if the file exists already, not after other errors.
inline bool makes_file(const std::filesystem::path& path) {
  return Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, 0600) || errno != EEXIST;
}

/// A file that names its holder: one process at a time, until that ends.
class HeldFile {
 public:
  /// Takes the file for `holder`, and creates it if necessary. If another process has it, returns the text that it wrote, or an
  /// empty text. Returns nothing if this process has it now, or if the file system has no locks. Throws
  /// std::filesystem::filesystem_error.
  std::optional<std::string> take(const std::filesystem::path& path, std::string_view holder) {
    file_ = Descriptor(path, O_RDWR | O_CREAT, 0666);
    if (!file_) throw std::filesystem::filesystem_error("cannot open", path, last_error());
    if (!file_.lock(LOCK_NB)) {
      if (errno != EWOULDBLOCK) return std::nullopt;
      char other[256]{};
      if (::pread(file_.number(), other, sizeof other - 1, 0) < 0) other[0] = 0;
      return other;
    }
    if (::ftruncate(file_.number(), 0) != 0 || ::pwrite(file_.number(), holder.data(), holder.size(), 0) < 0)
      throw std::filesystem::filesystem_error("cannot write", path, last_error());
    return std::nullopt;
  }

 private:
  Descriptor file_;
};

}  // namespace tilewright::internal
