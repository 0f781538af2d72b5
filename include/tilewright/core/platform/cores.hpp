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
#include <vector>

namespace tilewright::internal {

/// The limits of Linux on a group's processor time, in cores, rounded up; 0 stands for no limit. Files that are missing or that
/// say something else set none. Sources: https://docs.kernel.org/admin-guide/cgroup-v2.html for cpu.max,
/// https://docs.kernel.org/scheduler/sched-bwc.html for cpu.cfs_quota_us, and proc(5) for cgroup and mountinfo.
class CgroupLimit {
 public:
  /// `process`: a folder with the files `cgroup` and `mountinfo`, as /proc/self is.
  [[gnu::noinline]] static int of_process(const std::string& process = "/proc/self") {
    const std::string groups = content(process + "/cgroup"), mounts = content(process + "/mountinfo");
    int least = 0;
    for (const std::string_view line : split(groups, '\n')) {  // such as "4:cpu,cpuacct:/user", of version 2 "0::/user"
      const std::size_t first = line.find(':'), second = line.find(':', first + 1);
      if (first == line.npos || second == line.npos) continue;
      const std::string_view controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
      if (!controllers.empty() && !has(split(controllers, ','), "cpu")) continue;
      for (const std::string_view mount : split(mounts, '\n')) least = lesser(least, of_group(mount, controllers.empty(), group));
    }
    return least;
  }
  /// The limit of one group, without its ancestors.
  static int of_folder(const std::string& folder, bool is_version_2) {
    if (!is_version_2) return cores(content(folder + "/cpu.cfs_quota_us"), content(folder + "/cpu.cfs_period_us"));
    const std::string line = content(folder + "/cpu.max");  // "150000 100000", or "max 100000"
    const auto parts = split(std::string_view(line).substr(0, line.find('\n')), ' ');
    return parts.size() == 2 ? cores(std::string(parts[0]), std::string(parts[1])) : 0;
  }

 private:
  static int lesser(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }
  static bool has(const std::vector<std::string_view>& parts, std::string_view part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  static std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t end; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
      end = std::min(text.find(at), text.size());
      parts.push_back(text.substr(0, end));
    }
    return parts;
  }
  static std::string content(const std::string& name) {
    std::string text;
    std::FILE* const file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return text;
    char part[4096];
    for (std::size_t size; (size = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, size);
    std::fclose(file);
    return text;
  }
  /// The number that a text begins with, if nothing but spaces follows; else 0.
  static long long number(const std::string& text) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    return end != text.c_str() && std::string_view(end).find_first_not_of(" \n") == std::string_view::npos ? value : 0;
  }
  /// From times in microseconds.
  static int cores(const std::string& quota, const std::string& period) {
    const long long time = number(quota), of = number(period);
    if (time <= 0 || of <= 0) return 0;  // -1: no limit
    return static_cast<int>(std::min((time - 1) / of + 1, 1'000'000LL));
  }
  /// The least limit of a group and of its ancestors, as far as a line of mountinfo shows them. Such a line is
  /// "31 23 0:26 /shown/part /where/it/is rw,relatime shared:9 - cgroup name rw,cpu".
  static int of_group(std::string_view mount, bool is_version_2, std::string_view group) {
    const auto parts = split(mount, ' ');
    const auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 10 || parts.end() - dash < 4) return 0;
    if (dash[1] != (is_version_2 ? "cgroup2" : "cgroup")) return 0;
    if (!is_version_2 && !has(split(dash[3], ','), "cpu")) return 0;
    const std::string_view shown = parts[3] == "/" ? "" : parts[3];
    const bool is_below = group.starts_with(shown) && (group.size() == shown.size() || group[shown.size()] == '/');
    std::string folder(parts[4]);
    const std::size_t top = folder.size();
    const bool is_outside = group.find("/..") != group.npos;  // of what the process sees: then only the top is known
    if (is_below && group != "/" && !is_outside) folder += group.substr(shown.size());
    for (int least = 0;; folder.resize(folder.rfind('/'))) {
      least = lesser(least, of_folder(folder, is_version_2));
      if (folder.size() <= top) return least;
    }
  }
};

/// The cores in the calling thread's affinity mask, which `taskset` sets and new threads inherit. On other systems than Linux all
/// cores; 0 where nobody knows.
inline int cores_of_affinity() {
#if TILEWRIGHT_HAS_POSIX && defined(__linux__)
  for (std::size_t words = 1024 / 64; words <= 65'536 / 64; words *= 4) {  // the system refuses masks for fewer cores than it has
    std::vector<unsigned long> mask(words);
    if (::sched_getaffinity(0, words * sizeof(long), reinterpret_cast<cpu_set_t*>(mask.data())) != 0) continue;
    int cores = 0;
    for (const unsigned long word : mask) cores += __builtin_popcountl(word);
    if (cores > 0) return cores;
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// How many cores the process may use; 0 where nobody knows.
inline int usable_cores() {
  const int cores = cores_of_affinity(), limit = CgroupLimit::of_process();
  return limit > 0 && (cores == 0 || limit < cores) ? limit : cores;
}

}  // namespace tilewright::internal
