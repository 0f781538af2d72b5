// Checkpoints of several processes: what the first one writes and reads, and what all of them get.
#include "tilewright/distributed/checkpoints.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "../support/programs.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using Catch::Matchers::ContainsSubstring;
using tw::distributed::Processes;

/// A folder for all processes of a test, which mpirun has started; removed by the first.
struct JobFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tilewright-checkpoints-" + std::to_string(::getppid()));
  ~JobFolder() {
    if (Processes::world().is_first()) std::filesystem::remove_all(path);
  }
};

/// Each of four replicas counts in steps of its own.
constexpr void count(tw::Ir& ir) {
  ir.set_replication_factor(4);
  const tw::Tensor v = ir.variable(tw::values({0, 0, 0, 0}), {1}, tw::float32, "v",
                                   {.replica_grouping = ir.replica_grouping(1, 1)});
  const tw::Tensor by = ir.variable(tw::values({1, 2, 3, 4}), {1}, tw::float32, "by",
                                    {.replica_grouping = ir.replica_grouping(1, 1)});
  ops::accumulate_(v, by);
}
template <class Session>
std::vector<float> values(const Session& session) {
  const auto v = session.get_tensor_data("v"_s);
  return {v.begin(), v.end()};
}

TEST_CASE("checkpoints of several processes have the values of all replicas") {
  const JobFolder folder;
  tw::distributed::Session<count> session;
  {
    tw::distributed::Checkpoints checkpoints(folder.path, {.keep = 2});
    CHECK(!checkpoints.newest());
    CHECK(checkpoints.steps().empty());
    for (const std::uint64_t step : {1, 2, 3}) {
      session.run();
      tw::Metadata metadata;
      metadata.set("seen", step * 10);
      checkpoints.save(step, session.host_tensors(), metadata);
    }
    CHECK(checkpoints.steps() == std::vector<std::uint64_t>{2, 3});

    tw::distributed::Session<count> other;
    const auto last = checkpoints.newest();
    REQUIRE(last);
    CHECK(last->step == 3);
    CHECK(last->file.metadata<std::uint64_t>("seen") == 30);
    other.load_tensors(last->file);
    CHECK(values(other) == std::vector<float>{3, 6, 9, 12});
    other.run();
    CHECK(values(other) == std::vector<float>{4, 8, 12, 16});
  }
  // a program of one process goes on from it
  if (Processes::world().is_first()) {
    tw::Session<count> alone;
    alone.load_tensors(tw::Checkpoints(folder.path).newest()->file);
    CHECK(values(alone) == std::vector<float>{3, 6, 9, 12});
  }
}

TEST_CASE("checkpoints of several processes: what is not whole is skipped on all of them") {
  const JobFolder folder;
  tw::distributed::Session<count> session;
  tw::distributed::Checkpoints checkpoints(folder.path);
  checkpoints.save(1, session.host_tensors());
  if (Processes::world().is_first()) std::ofstream(folder.path / "step-000000000002.safetensors") << "no checkpoint";
  auto last = checkpoints.newest();
  REQUIRE(last);
  CHECK(last->step == 1);
  REQUIRE(last->skipped.size() == 1);
  CHECK_THAT(last->skipped[0], ContainsSubstring("step-000000000002.safetensors"));
  if (Processes::world().is_first()) std::filesystem::remove(folder.path / "step-000000000001.safetensors");
  CHECK_THROWS_WITH(checkpoints.newest(), ContainsSubstring("no checkpoint that is whole"));
}

TEST_CASE("checkpoints of several processes: another job holds the folder") {
  const JobFolder folder;
  {
    tw::distributed::Checkpoints checkpoints(folder.path);
    CHECK_THROWS_WITH(tw::distributed::Checkpoints(folder.path),
                      ContainsSubstring(folder.path.string() + " is held by process ") &&
                          ContainsSubstring(": a folder of this job's own expected"));
    checkpoints.save(1, {});
  }
  tw::distributed::Checkpoints again(folder.path);
  CHECK(again.steps() == std::vector<std::uint64_t>{1});
}

TEST_CASE("checkpoints of several processes: a disk that is full is an error of all, and no file is lost") {
  const JobFolder folder;
  tw::distributed::Session<count> session;
  tw::distributed::Checkpoints checkpoints(folder.path);
  checkpoints.save(1, session.host_tensors());
  session.run();

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then writing beyond the limit is an error
  rlimit limit = before;
  limit.rlim_cur = 16;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const auto tensors = session.host_tensors();
  std::string error;
  try {
    checkpoints.save(2, tensors);
  } catch (const std::exception& problem) {
    error = problem.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  CHECK_THAT(error, ContainsSubstring("cannot write") && ContainsSubstring("step-000000000002.safetensors"));
  CHECK(checkpoints.newest()->step == 1);
  checkpoints.save(2, tensors);
  CHECK(checkpoints.newest()->step == 2);
}

}  // namespace
