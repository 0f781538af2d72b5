// labels: tsan
// What is logged at which level, and where.
#include "tilewright/core/log/logger.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../support/elements.hpp"
#include "../../support/environment.hpp"
#include "tilewright/execute/thread_choice.hpp"
#include "tilewright/profile/figures.hpp"
#include "tilewright/session/log_session.hpp"

namespace {

constexpr void square(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {2}), "x");
  store("y", x * x);
}

/// What a session of a program and three runs of it log to a file.
std::string logged(const std::optional<std::string>& level, int threads = 1) {
  const TemporaryFolder folder;
  const EnvironmentVariable level_variable("TILEWRIGHT_LOG_LEVEL", level);
  const EnvironmentVariable destination("TILEWRIGHT_LOG_DEST", (folder / "log").string());
  tw::Session<square> session({.threads = threads});
  const EnvironmentVariable later("TILEWRIGHT_LOG_LEVEL", "OFF");  // too late for this session
  const xt::xtensor<float, 1> x{1, 2};
  for (int run = 0; run < 3; ++run) session.run("x"_s = x);
  return file_content(folder / "log");
}
std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What is written to a standard stream while it lives.
class Captured {
 public:
  Captured(std::FILE* stream, const std::filesystem::path& file) : stream_(stream), saved_(dup(fileno(stream))) {
    std::fflush(stream);
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(opened, fileno(stream));
    close(opened);
  }
  ~Captured() {
    std::fflush(stream_);
    dup2(saved_, fileno(stream_));
    close(saved_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

 private:
  std::FILE* stream_;
  int saved_;
};

}  // namespace

TEST_CASE("log: a program without optimisation has one warning") {  // the first case, before sessions of a build without -O
  const TemporaryFolder folder;
  const EnvironmentVariable destination("TILEWRIGHT_LOG_DEST", (folder / "log").string());
  const auto warn = [](const char* level, bool is_optimised) {
    const EnvironmentVariable level_variable("TILEWRIGHT_LOG_LEVEL", level);
    tw::internal::warn_without_optimisation(tw::Logger::from_environment(), is_optimised);
  };
  warn("WARN", true);
  warn("ERROR", false);
  CHECK(file_content(folder / "log").empty());
  for (int session = 0; session < 2; ++session) warn("WARN", false);
  CHECK(file_content(folder / "log") ==
        "tilewright WARN: session: compiled without optimisation, so kernels run about a hundred times slower: -O3 expected\n");
}
TEST_CASE("log: a session says at INFO what was planned, and each run is a line at TRACE") {
  const std::string trace = logged("TRACE"), info = logged("INFO");
  CHECK(info.rfind("tilewright INFO: session on cpu: ", 0) == 0);
  CHECK(info.find(" steps; bytes: 0 of variables, 0 of constants, ") != info.npos);
  CHECK(info.find("; threads: 1\n") == info.size() - 13);
  CHECK(count(info, "\n") == 1);
  CHECK(trace.rfind(info, 0) == 0);
  CHECK(count(trace, "\ntilewright TRACE: run of ") == 3);
  CHECK(count(trace, " ns, threads: 1\n") == 3);
  CHECK(count(trace, "\n") == 4);
  CHECK(logged("DEBUG") == info);  // a given number of threads leaves nothing to decide
}
#ifdef __linux__
TEST_CASE("log: a session has no more threads than the process may use, if it chooses them") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const std::string chosen = logged("INFO", 0), given = logged("WARN", 2);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(chosen.find("; threads: up to 1\n") != chosen.npos);
  CHECK(given.find("tilewright WARN: threads: 2 on 1 cores: ") == 0);  // a given number stays
}
#endif
TEST_CASE("log: by default there is nothing to say") {
  CHECK(logged(std::nullopt).empty());
  CHECK(logged("").empty());
  for (const char* level : {"WARN", "ERROR", "OFF"}) CHECK(logged(level).empty());
}
TEST_CASE("log: a level has lines of its own and of those above it") {
  const TemporaryFolder folder;
  for (const auto least : {tw::LogLevel::trace, tw::LogLevel::debug, tw::LogLevel::info, tw::LogLevel::warn, tw::LogLevel::error,
                           tw::LogLevel::off}) {
    const std::string name = (folder / "log").string();
    std::filesystem::remove(name);
    const tw::Logger log(least, name.c_str());
    log.write(tw::LogLevel::trace, 1);
    log.write(tw::LogLevel::debug, 2);
    log.write(tw::LogLevel::info, 3, " is ", "three");
    log.write(tw::LogLevel::warn, -4);
    log.write(tw::LogLevel::error, std::string(600, 'x'));
    std::string expected;
    const std::vector<std::string> lines{"TRACE: 1\n", "DEBUG: 2\n", "INFO: 3 is three\n", "WARN: -4\n",
                                         "ERROR: " + std::string(493, 'x') + "\n"};  // 511 characters with "tilewright "
    for (auto level = static_cast<std::size_t>(least); level < lines.size(); ++level) expected += "tilewright " + lines[level];
    CHECK(file_content(name) == expected);
    CHECK(std::filesystem::exists(name) == (least != tw::LogLevel::off));
  }
}
TEST_CASE("log: a level that does not exist is an error") {
  for (const char* level : {"LOUD", "info", "INFO "}) {
    const EnvironmentVariable variable("TILEWRIGHT_LOG_LEVEL", level);
    CHECK_THROWS_AS(tw::Session<square>(), std::invalid_argument);
    CHECK_THROWS_WITH(tw::Session<square>(),
                      "TILEWRIGHT_LOG_LEVEL: '" + std::string(level) + "': one of TRACE, DEBUG, INFO, WARN, ERROR, OFF expected");
  }
}
TEST_CASE("log: a file that cannot be opened is an error, unless nothing is to be written") {
  const EnvironmentVariable destination("TILEWRIGHT_LOG_DEST", "/does/not/exist");
  CHECK_THROWS_WITH(tw::Logger::from_environment(), "TILEWRIGHT_LOG_DEST: cannot write '/does/not/exist'");
  const EnvironmentVariable level("TILEWRIGHT_LOG_LEVEL", "OFF");
  CHECK_NOTHROW(tw::Logger::from_environment());
}
TEST_CASE("log: goes to stderr, or to stdout") {
  const TemporaryFolder folder;
  const EnvironmentVariable level("TILEWRIGHT_LOG_LEVEL", "INFO");
  for (const auto& destination :
       {std::optional<std::string>(), std::optional<std::string>("stderr"), std::optional<std::string>("stdout")}) {
    const EnvironmentVariable variable("TILEWRIGHT_LOG_DEST", destination);
    {
      const Captured out(stdout, folder / "out"), error(stderr, folder / "error");
      tw::Logger::from_environment().write(tw::LogLevel::info, "here");
    }
    const bool to_stdout = destination == "stdout";
    CHECK(file_content(folder / "out") == (to_stdout ? "tilewright INFO: here\n" : ""));
    CHECK(file_content(folder / "error") == (to_stdout ? "" : "tilewright INFO: here\n"));
  }
}
TEST_CASE("log: lines of several threads and sessions are whole") {
  const TemporaryFolder folder;
  const std::string name = (folder / "log").string(), message(200, 'x');
  {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        const tw::Logger log(tw::LogLevel::info, name.c_str());
        for (int line = 0; line < 250; ++line) log.write(tw::LogLevel::info, message);
      });
    for (auto& thread : threads) thread.join();
  }
  std::string expected;
  for (int line = 0; line < 1000; ++line) expected += "tilewright INFO: " + message + "\n";
  CHECK(file_content(name) == expected);
}
TEST_CASE("log: decisions about threads are lines at DEBUG") {
  const TemporaryFolder folder;
  const std::string name = (folder / "log").string();
  tw::internal::ThreadChoice choice(0, 2, tw::Logger(tw::LogLevel::debug, name.c_str()));
  std::chrono::steady_clock::time_point now{};
  const auto run = [&](int runs, int one_thread, int two_threads) {  // times in microseconds
    for (int i = 0; i < runs; ++i) {
      const auto begin = now;
      now += std::chrono::microseconds(choice.threads() == 1 ? one_thread : two_threads);
      if (choice.measuring()) choice.measured(begin, now);
      else choice.counted();
    }
  };
  run(500, 200, 110);
  CHECK(file_content(name) == "tilewright DEBUG: threads: 2, with 110000 ns a run\n");
  run(100, 200, 3000);
  const std::string log = file_content(name);
  CHECK(count(log, "\ntilewright DEBUG: threads: in doubt about 2, with 3000000 ns a run\n") == 1);
  CHECK(log.find("\ntilewright DEBUG: threads: 1, with 200000 ns a run\n") != log.npos);
  CHECK(count(log, "\n") == 3);  // trials that change nothing are not logged
}
TEST_CASE("log: a module can have a level of its own") {
  const TemporaryFolder folder;
  const std::string file = (folder / "levels").string();
  std::ofstream(file) << "# lines of modules, runs=OFF\n\n runs = TRACE \r\nsession=OFF";
  for (const std::string& config :
       {std::string("runs=TRACE,session=OFF"), std::string("session=INFO\nsession=OFF\nruns=TRACE"), file}) {
    const EnvironmentVariable variable("TILEWRIGHT_LOG_CONFIG", config);
    for (const auto& level :
         {std::optional<std::string>("INFO"), std::optional<std::string>("OFF"), std::optional<std::string>()}) {
      CAPTURE(config, level.value_or("unset"));
      const std::string log = logged(level);
      CHECK(count(log, "tilewright TRACE: run of ") == 3);
      CHECK(count(log, "\n") == 3);
    }
  }
  const EnvironmentVariable variable("TILEWRIGHT_LOG_CONFIG", "runs=OFF,threads=OFF");
  CHECK(count(logged("TRACE"), "\n") == 1);  // that of the session
  CHECK(logged(std::nullopt).empty());
}
TEST_CASE("log: a wrong line about modules is an error") {
  const TemporaryFolder folder;
  const std::string file = (folder / "levels").string();
  std::ofstream(file) << "runs\n";
  const std::string expected =
      "': module=LEVEL expected, with one of the modules session threads runs recording distributed figures prints and one "
      "of the levels TRACE DEBUG INFO WARN ERROR OFF";
  const auto check = [&](const std::string& config, const std::string& line) {
    const EnvironmentVariable variable("TILEWRIGHT_LOG_CONFIG", config);
    CHECK_THROWS_AS(tw::Session<square>(), std::invalid_argument);
    CHECK_THROWS_WITH(tw::Session<square>(), "TILEWRIGHT_LOG_CONFIG: '" + line + expected);
  };
  for (const std::string line : {"run=TRACE", "runs=LOUD", "runs=trace", "=INFO", "runs=", "runs=INFO=INFO"}) {
    check(line, line);
    check("session=WARN, " + line + " ,threads=WARN", line);
  }
  check(file, "runs");
  const EnvironmentVariable variable("TILEWRIGHT_LOG_CONFIG", "/does/not/exist");
  CHECK_THROWS_WITH(tw::Session<square>(),
                    "TILEWRIGHT_LOG_CONFIG: '/does/not/exist': module=LEVEL lines or a file that can be read expected");
}
TEST_CASE("log: FLOPs and parameters by module, on request") {
  const TemporaryFolder folder;
  const EnvironmentVariable destination("TILEWRIGHT_LOG_DEST", (folder / "log").string());
  const EnvironmentVariable level("TILEWRIGHT_LOG_LEVEL", "WARN");
  tw::Session<square>().log_figures();
  CHECK(file_content(folder / "log").empty());
  const EnvironmentVariable config("TILEWRIGHT_LOG_CONFIG", "figures=INFO");
  tw::Session<square>().log_figures();  // no products, no variables
  CHECK(file_content(folder / "log") == "tilewright INFO: total: 0 FLOPs\ntilewright INFO: total: 0 parameters\n");
  const auto two_products = [](tw::Ir& ir) {
    tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {2, 4}), "x");
    for (const char* module : {"first", "second"}) {
      const auto scope = tw::name_scope(ir, module);
      x = x.matmul(ir.variable(tw::ones(), {4, 4}, tw::float32, "weight"));
    }
    store("y", x);
  };
  tw::log_figures(two_products, tw::cpu, tw::Logger::from_environment(1));
  std::string expected;
  for (const char* figure : {"first: 64 FLOPs", "second: 64 FLOPs", "total: 128 FLOPs", "first: 16 parameters",
                             "second: 16 parameters", "total: 32 parameters"})
    expected += std::string("tilewright INFO: rank 1: ") + figure + "\n";
  const std::string log = file_content(folder / "log");
  CHECK(log.substr(log.size() - std::min(log.size(), expected.size())) == expected);
  const auto ir = tw::trace(two_products);
  CHECK(tw::print_figures(tw::evaluate_flops(ir->main_graph()).modules(), "FLOPs") ==
        "module  FLOPs    share\n"
        "-----------------------\n"
        "first      64   50.0 %\n"
        "second     64   50.0 %\n"
        "total     128  100.0 %\n");
}
