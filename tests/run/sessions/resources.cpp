// labels: none
// What a session needs of the system, and what it says where that is not there.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "../../support/child_process.hpp"
#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void largest(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {64, 5000}, tw::float32, "x");
  store("values", ops::topk(x, 500, 1).values);
}
constexpr void large(Ir& ir) {
  const Tensor x = ir.variable(tw::zeros(), {1 << 15, 1 << 15}, tw::float32, "x");
  store("x", x[{0}]);
}
constexpr void large_inputs(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {1 << 14, 1 << 14}));
  store("y", x[{0}]);
}

/// The text of the MemoryError of a process that may have 1 GB; or another text.
template <class Session>
std::string memory_error() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit addresses{std::size_t{1} << 30, std::size_t{1} << 30};
    setrlimit(RLIMIT_AS, &addresses);
    const auto tell = [&](const char* text) { return write(ends[1], text, std::char_traits<char>::length(text)); };
    try {
      const Session session({.threads = 1});
      [[maybe_unused]] const auto told = tell("none");
    } catch (const tw::MemoryError& error) {
      [[maybe_unused]] const auto told = tell(static_cast<const std::bad_alloc&>(error).what());
    }
    _exit(0);
  }
  close(ends[1]);
  std::string result;
  char character = 0;
  while (read(ends[0], &character, 1) == 1) result += character;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

}  // namespace

static_assert(tw::stack_bytes<largest> > 32 * 1024 && tw::stack_bytes<largest> < 64 * 1024);
static_assert(tw::stack_bytes<large> < 16 * 1024);

// The sanitizers reserve more addresses and stack than the limits here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a session without memory says how many bytes it wanted for what") {
  CHECK(memory_error<tw::Session<large>>() == "session: 4294967296 bytes for variables: as much free memory expected");
  CHECK(memory_error<tw::Session<large_inputs>>() ==
        "session: 1073741824 bytes for copies of inputs: as much free memory expected");
}

TEST_CASE("a session for more threads or events than there is memory for says how many") {
  const auto error_of = [](const tw::SessionOptions& options, const std::string& begin, const std::string& end) {
    return in_child(
        [&](Report& report) {
          try {
            const tw::Session<largest> session(options);
            report.add("no error");
          } catch (const std::exception& error) {
            const std::string text = error.what();
            const bool is_documented = dynamic_cast<const std::runtime_error*>(&error) ||
                                       dynamic_cast<const tw::MemoryError*>(&error);
            if (!is_documented || !text.starts_with(begin) || !text.ends_with(end)) report.add(text);
          }
        },
        rlim_t{1} << 30);
  };
  for (const std::int64_t events : {0, 1 << 24})
    for (const int threads : {100'000, std::numeric_limits<int>::max()})
      CHECK(error_of({.threads = threads, .recorded_events = events}, "threads: " + std::to_string(threads) + " asked for, ",
                     "): a smaller number expected") == "");
  CHECK(error_of({.threads = 2, .recorded_events = 1 << 24},
                 "session: 1342177280 bytes for recorded events: as much free memory expected", "") == "");
}

#if defined(__GLIBC__)
TEST_CASE("threads of a session have the stack that a run needs, where threads have less") {
  pthread_attr_t small, usual;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_attr_init(&small) == 0);
  REQUIRE(pthread_attr_setstacksize(&small, 32 * 1024) == 0);
  REQUIRE(pthread_setattr_default_np(&small) == 0);
  {
    tw::Session<largest> one({.threads = 1}), three({.threads = 3});
    CHECK(elements(three.run()["values"_s]) == elements(one.run()["values"_s]));
  }
  pthread_setattr_default_np(&usual);
}
#endif
#endif
