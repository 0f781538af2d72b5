// labels: alone standard-library
// How many cores a process may use, from files that are made up here, and from the affinity mask of the test itself.
#include "tilewright/core/platform/cores.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include <fstream>
#include <string>

#include "../../catch.hpp"
#include "../../support/environment.hpp"

namespace {

using tilewright::internal::CgroupLimit;

/// A made-up /proc/self, and folders of groups below `groups`.
class System {
 public:
  System(const std::string& group, const std::string& mount) {
    write("process/cgroup", group);
    write("process/mountinfo", mount_line("/proc", "/", "proc", "rw") + mount);
  }
  /// A line of mountinfo for what is mounted at a place below the temporary folder.
  std::string mount_line(const std::string& place, const std::string& shown, const std::string& kind,
                         const std::string& options) {
    return "31 23 0:26 " + shown + " " + (folder_ / "groups").string() + place + " rw,nosuid,relatime shared:9 - " + kind +
           " none " + options + "\n";
  }
  System& write(const std::string& name, const std::string& content) {
    const auto file = folder_.path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
    return *this;
  }
  void add_mount(const std::string& line) { std::ofstream(folder_.path / "process/mountinfo", std::ios::app) << line; }
  int cores() const { return CgroupLimit::of_process((folder_ / "process").string()); }

 private:
  TemporaryFolder folder_;
};

/// Version 2, in the group /a/b.
struct Version2 : System {
  explicit Version2(const std::string& group = "0::/a/b\n", const std::string& shown = "/") : System(group, "") {
    add_mount(mount_line("", shown, "cgroup2", "rw,nsdelegate"));
  }
};
/// Version 1, in the group /a/b, with the controllers cpu and cpuacct at one place and memory at another.
struct Version1 : System {
  explicit Version1(const std::string& shown = "/") : System("9:memory:/m\n4:cpu,cpuacct:/a/b\n0::/\n", "") {
    add_mount(mount_line("/cpu,cpuacct", shown, "cgroup", "rw,cpu,cpuacct"));
    add_mount(mount_line("/memory", "/", "cgroup", "rw,memory"));
  }
};

}  // namespace

TEST_CASE("usable cores: a limit of version 2, rounded up") {
  const auto limit = [](const std::string& content) { return Version2().write("groups/a/b/cpu.max", content).cores(); };
  CHECK(limit("150000 100000\n") == 2);
  CHECK(limit("100000 100000\n") == 1);
  CHECK(limit("100001 100000\n") == 2);
  CHECK(limit("1000 100000\n") == 1);  // at least one
  CHECK(limit("1600000 100000\n") == 16);
  CHECK(limit("30000 10000") == 3);  // without a newline
  CHECK(limit("max 100000\n") == 0);
}
TEST_CASE("usable cores: what says something else sets no limit") {
  const auto limit = [](const std::string& content) { return Version2().write("groups/a/b/cpu.max", content).cores(); };
  for (const char* content : {"", "\n", "150000", "150000 \n", "150000 0\n", "-1 100000\n", "0 100000\n", "150000 100000 7\n",
                              "2 cores\n", "150000x 100000\n", "99999999999999999999999 x\n"})
    CHECK(limit(content) == 0);
  CHECK(limit("99999999999999999999999 1\n") == 1'000'000);  // more than a long long: as good as none
  CHECK(Version2().cores() == 0);  // no such file
  CHECK(CgroupLimit::of_process("/does/not/exist") == 0);
  for (const char* group : {"", "\n", "0\n", "0:\n", "::\n", "0:/a/b\n"})
    CHECK(Version2(group).write("groups/a/b/cpu.max", "100000 100000\n").cores() == 0);
  const System broken("0::/a/b\n", "31 23 0:26\nnonsense\n- - - - - - - - - -\n31 23 0:26 / /x rw shared:9 - cgroup2\n");
  CHECK(broken.cores() == 0);
}
TEST_CASE("usable cores: the least limit of a group and its ancestors counts") {
  Version2 system;
  system.write("groups/cpu.max", "800000 100000\n");
  CHECK(system.cores() == 8);
  system.write("groups/a/b/cpu.max", "max 100000\n");
  CHECK(system.cores() == 8);
  system.write("groups/a/cpu.max", "250000 100000\n");
  CHECK(system.cores() == 3);
  system.write("groups/a/b/cpu.max", "700000 100000\n");
  CHECK(system.cores() == 3);
  system.write("groups/a/b/c/cpu.max", "100000 100000\n");  // below
  system.write("groups/other/cpu.max", "100000 100000\n");
  system.write("cpu.max", "100000 100000\n");  // above what is mounted
  CHECK(system.cores() == 3);
}
TEST_CASE("usable cores: version 1") {
  Version1 system;
  const auto group = [&](const std::string& name, const char* quota, const char* period) {
    system.write(name + "cpu.cfs_quota_us", quota).write(name + "cpu.cfs_period_us", period);
    return system.cores();
  };
  CHECK(group("groups/cpu,cpuacct/a/b/", "-1\n", "100000\n") == 0);
  CHECK(group("groups/memory/m/", "100000\n", "100000\n") == 0);  // of another controller
  CHECK(group("groups/cpu,cpuacct/", "500000\n", "100000\n") == 5);
  CHECK(group("groups/cpu,cpuacct/a/b/", "150000\n", "100000\n") == 2);
  CHECK(group("groups/cpu,cpuacct/a/", "50000\n", "100000\n") == 1);
  CHECK(group("groups/cpu,cpuacct/a/", "x\n", "100000\n") == 2);
  CHECK(group("groups/cpu,cpuacct/a/", "50000\n", "\n") == 2);
}
TEST_CASE("usable cores: in a container the group's folder is the top of what is mounted") {
  // with a namespace of its own, and without one, where the names are the host's
  CHECK(Version2("0::/\n").write("groups/cpu.max", "400000 100000\n").cores() == 4);
  CHECK(Version2("0::/a/b\n", "/a/b").write("groups/cpu.max", "400000 100000\n").cores() == 4);
  CHECK(Version2("0::/a/b\n", "/a").write("groups/b/cpu.max", "400000 100000\n").cores() == 4);
  CHECK(Version2("0::/ab\n", "/a").write("groups/cpu.max", "400000 100000\n").cores() == 4);  // elsewhere: the top is known
  CHECK(Version2("0::/../c\n").write("groups/cpu.max", "400000 100000\n").write("c/cpu.max", "100000 100000\n").cores() == 4);
  CHECK(Version1("/a/b")
            .write("groups/cpu,cpuacct/cpu.cfs_quota_us", "150000\n")
            .write("groups/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
            .cores() == 2);
}
TEST_CASE("usable cores: at most those of the affinity mask") {
  const int all = tilewright::internal::usable_cores();
  REQUIRE(all >= 1);
#if defined(__linux__) && !defined(TILEWRIGHT_PORTABLE)  // the standard library knows no mask
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(all <= CPU_COUNT(&before));
  CHECK(tilewright::internal::cores_of_affinity() == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(tilewright::internal::usable_cores() == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(tilewright::internal::usable_cores() == all);
#endif
}
