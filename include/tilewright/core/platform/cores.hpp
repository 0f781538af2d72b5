#pragma once
// How many cores the process may use: the least of its affinity mask and of the limits of its cgroup and of that one's ancestors.
#include "tilewright/core/platform/platform.hpp"

#if TILEWRIGHT_HAS_POSIX && defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace tilewright::internal {

/// Reads the limits of Linux on a group's processor time, in cores, rounded up; 0: no limit. Missing files, and files with other
/// contents, set no limit. Sources: https://docs.kernel.org/admin-guide/cgroup-v2.html for cpu.max,
/// https://docs.kernel.org/scheduler/sched-bwc.html for cpu.cfs_quota_us, and proc(5) for cgroup and mountinfo.
///
/// Functions are not inlined, because every program contains them, calls them once, and should compile quickly.
class CgroupLimit {
 public:
  /// Returns the limit of a process. `process`: a folder with the files `cgroup` and `mountinfo`, such as /proc/self.
  [[gnu::cold, gnu::noinline]] static int of_process(const std::string& process = "/proc/self") {
    const std::string groups = content(process + "/cgroup"), mounts = content(process + "/mountinfo");
    int least = 0;
    for (std::string_view rest = groups; !rest.empty();) {  // lines such as "4:cpu,cpuacct:/user"; of version 2 "0::/user"
      std::string_view group = next(rest, '\n');
      next(group, ':');
      const std::string_view controllers = next(group, ':');
      const bool is_version_2 = controllers.empty();
      if (!group.starts_with('/') || (!is_version_2 && !has(controllers, "cpu"))) continue;
      for (std::string_view other = mounts; !other.empty();)
        least = lesser(least, of_group(next(other, '\n'), is_version_2, group));
    }
    return least;
  }
  /// Returns the limit of one group, without its ancestors.
  [[gnu::cold, gnu::noinline]] static int of_folder(const std::string& folder, bool is_version_2) {
    if (is_version_2) return cores(content(folder + "/cpu.max"));  // "150000 100000", or "max 100000"
    const std::string quota = content(folder + "/cpu.cfs_quota_us"), period = content(folder + "/cpu.cfs_period_us");
    return cores(quota.substr(0, quota.find('\n')) + ' ' + period);
  }

 private:
  static int lesser(int a, int b) { return a == 0 ? b : b == 0 ? a : (std::min)(a, b); }
  /// Removes the text before a character, and the character, from a text. Returns the removed text.
  [[gnu::cold, gnu::noinline]] static std::string_view next(std::string_view& text, char at) {
    const std::size_t end = (std::min)(text.find(at), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix((std::min)(end + 1, text.size()));
    return part;
  }
  [[gnu::cold, gnu::noinline]] static bool has(std::string_view names, std::string_view name) {
    while (!names.empty())
      if (next(names, ',') == name) return true;
    return false;
  }
  [[gnu::cold, gnu::noinline]] static std::string content(const std::string& name) {
    std::string text;
    std::FILE* const file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return text;
    char part[4096];
    for (std::size_t size; (size = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, size);
    std::fclose(file);
    return text;
  }
  /// Parses "quota period" in microseconds, and returns the cores.
  [[gnu::cold, gnu::noinline]] static int cores(const std::string& text) {
    char *middle = nullptr, *end = nullptr;
    const long long quota = std::strtoll(text.c_str(), &middle, 10);
    if (*middle != ' ' || quota <= 0) return 0;  // -1: no limit
    const long long period = std::strtoll(middle, &end, 10);
    if (period <= 0 || (*end != '\0' && *end != '\n')) return 0;
    return static_cast<int>((std::min)((quota - 1) / period + 1, 1'000'000LL));
  }
  /// Returns the smallest limit of a group and of those of its ancestors that a line of mountinfo shows. Such a line is "31 23
  /// 0:26 /shown/part /where/it/is rw,relatime shared:9 - cgroup name rw,cpu".
  [[gnu::cold, gnu::noinline]] static int of_group(std::string_view mount, bool is_version_2, std::string_view group) {
    const std::size_t dash = mount.find(" - ");
    if (dash == mount.npos) return 0;
    std::string_view kind = mount.substr(dash + 3);
    if (next(kind, ' ') != (is_version_2 ? "cgroup2" : "cgroup")) return 0;
    next(kind, ' ');
    if (!is_version_2 && !has(kind, "cpu")) return 0;
    for (int i = 0; i < 3; ++i) next(mount, ' ');
    std::string_view shown = next(mount, ' ');
    if (shown == "/") shown = "";
    const bool is_below = group.starts_with(shown) && (group.size() == shown.size() || group[shown.size()] == '/');
    const bool is_outside = group.find("/..") != group.npos;  // of what the process sees: then only the top is known
    std::string folder(next(mount, ' '));
    const std::size_t top = folder.size();
    if (is_below && group != "/" && !is_outside) folder += group.substr(shown.size());
    for (int least = 0;; folder.resize(folder.rfind('/'))) {
      least = lesser(least, of_folder(folder, is_version_2));
      if (folder.size() <= top) return least;
    }
  }
};

/// Returns the number of cores in the calling thread's affinity mask, which `taskset` sets and new threads inherit. On systems
/// other than Linux, returns the number of all cores; 0 if it is unknown.
inline int cores_of_affinity() {
#if TILEWRIGHT_HAS_POSIX && defined(__linux__)
  unsigned long mask[65'536 / 8 / sizeof(long)]{};  // the system refuses masks for fewer cores than it has
  int cores = 0;
  if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) == 0)
    for (const unsigned long word : mask) cores += __builtin_popcountl(word);
  if (cores > 0) return cores;
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Returns how many cores the process may use; 0 if it is unknown.
inline int usable_cores() {
  const int cores = cores_of_affinity(), limit = CgroupLimit::of_process();
  return limit > 0 ? (std::min)(limit, cores) : cores;
}

}  // namespace tilewright::internal
