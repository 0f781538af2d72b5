// labels: standard-library tsan
// How many threads are chosen, given how long runs take. No time passes here: durations are made up. And threads that cannot be
// made.
#include "tilewright/execute/thread_choice.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/environment.hpp"
#include "tilewright/execute/threads/workers.hpp"

namespace {

using std::chrono::microseconds, std::chrono::milliseconds;
using tilewright::internal::ThreadChoice;
using Clock = ThreadChoice::Clock;
using Duration = Clock::duration;
using Machine = std::function<Duration(int threads)>;  ///< how long a run takes

struct Used {
  Duration time{};
  int timed = 0;
};

/// Runs the program so many times on the machine.
Used run(ThreadChoice& choice, int runs, const Machine& machine) {
  static Clock::time_point now;
  Used used;
  for (int i = 0; i < runs; ++i) {
    const Duration time = machine(choice.threads());
    used.time += time;
    used.timed += choice.measuring();
    if (choice.measuring()) choice.measured(now, now + time);
    else choice.counted();
    now += time;
  }
  return used;
}

/// Runs the program `runs` times. Gives the number of threads that most of these runs have: the others are trials.
int usual(ThreadChoice& choice, int runs, const Machine& machine) {
  std::map<int, int> used;
  run(choice, runs, [&](int threads) {
    ++used[threads];
    return machine(threads);
  });
  return std::max_element(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

/// The time of one thread, then of two and so on.
Machine machine(std::vector<int> times_in_microseconds) {
  return [=](int threads) { return microseconds(times_in_microseconds.at(static_cast<std::size_t>(threads) - 1)); };
}
/// Two cores, one of them shared: one thread has the other core, of two one waits for its share again and again.
Machine busy_machine() {
  return [run = 0](int threads) mutable { return microseconds(threads == 1 ? 200 : ++run % 20 == 0 ? 6000 : 110); };
}

}  // namespace

TEST_CASE("ThreadChoice: a given number stays, and nothing is timed") {
  ThreadChoice choice(3, 8);
  CHECK(run(choice, 20'000, machine({1, 1, 1000})).timed == 0);
  CHECK((choice.threads() == 3 && choice.limit() == 3));
}
TEST_CASE("ThreadChoice: more threads than cores are taken, with a warning") {
  const TemporaryFolder folder;
  const auto logged = [&](int threads, int cores) {
    const std::string file = (folder / "log").string();
    const ThreadChoice choice(threads, cores, {tilewright::LogLevel::warn, file.c_str()});
    CHECK(choice.threads() == threads);
    const std::string line = file_content(file);
    std::filesystem::remove(file);
    return line;
  };
  CHECK(logged(64, 2) ==
        "tilewright WARN: threads: 64 on 2 cores: at most 2 expected, as every step waits for threads that wait for a core\n");
  CHECK(logged(3, 2) != "");
  CHECK(logged(2, 2) == "");
  CHECK(logged(5, 0) == "");  // nobody knows the number of cores
}
TEST_CASE("ThreadChoice: a negative number is refused") {
  CHECK_THROWS_MATCHES(ThreadChoice(-3, 2), std::invalid_argument,
                       Catch::Matchers::Message("threads: -3: a number of threads, or 0 for the fastest number, expected"));
}
TEST_CASE("ThreadChoice: on one core there is nothing to choose") {
  ThreadChoice choice(0, 1), unknown(0, 0);
  CHECK(run(choice, 20'000, machine({100})).timed == 0);
  CHECK((choice.threads() == 1 && choice.limit() == 1));
  CHECK((unknown.threads() == 1 && unknown.limit() == 1));
}
TEST_CASE("ThreadChoice: takes the fastest number, and more threads only if they help") {
  const auto chosen = [](std::vector<int> times) {
    const int cores = static_cast<int>(times.size());
    ThreadChoice choice(0, cores);
    CHECK(choice.limit() == cores);
    CHECK(choice.threads() == cores);  // it begins with
    const Machine made_up = machine(std::move(times));
    run(choice, 2000, made_up);
    return usual(choice, 2000, made_up);
  };
  CHECK(chosen({200, 110}) == 2);
  CHECK(chosen({200, 190}) == 2);
  CHECK(chosen({200, 500}) == 1);
  CHECK(chosen({200, 120, 100}) == 3);
  CHECK(chosen({200, 120, 150, 90, 100, 110, 120, 150}) == 4);
  CHECK(chosen({200, 120, 110, 100, 95, 80, 110, 110}) == 6);  // between powers of two
  CHECK(chosen({200, 120, 110, 100, 90, 80, 70, 110}) == 7);
  CHECK(chosen({200, 210, 220, 60}) == 4);
}
TEST_CASE("ThreadChoice: finds a number beyond others that are slower") {
  ThreadChoice choice(0, 8);
  const Machine two_valleys = machine({60, 210, 220, 200, 200, 200, 200, 100});
  run(choice, 50'000, two_valleys);
  CHECK(usual(choice, 1000, two_valleys) == 1);
}
TEST_CASE("ThreadChoice: a rare slow run decides nothing") {
  ThreadChoice choice(0, 2);
  const auto with_stalls = [run = 0](int threads) mutable {
    return ++run % 500 == 0 ? Duration(milliseconds(50)) : machine({200, 110})(threads);
  };
  run(choice, 1000, machine({200, 110}));
  const Machine stalling = with_stalls;
  for (int i = 0; i < 20; ++i) CHECK(usual(choice, 5000, stalling) == 2);
}
TEST_CASE("ThreadChoice: long runs are tried a few times only") {
  for (const int one : {60'000, 400'000, 3'000'000}) {
    ThreadChoice choice(0, 2);
    int single = 0;
    for (int i = 0; i < 12; ++i) {
      single += choice.threads() == 1;
      run(choice, 1, machine({one, one * 11 / 20}));
    }
    CHECK(single <= 3);
    CHECK(choice.threads() == 2);
  }
}
TEST_CASE("ThreadChoice: short runs are not all timed") {
  ThreadChoice choice(0, 2);
  run(choice, 400'000, machine({5, 3}));
  CHECK(choice.threads() == 2);
  CHECK(run(choice, 400'000, machine({5, 3})).timed <= 400'000 * 35 / 100);
  run(choice, 10'000, machine({5000, 3000}));  // they have become long
  CHECK(run(choice, 20'000, machine({5000, 3000})).timed == 20'000);
}
TEST_CASE("ThreadChoice: a core that wakes late costs little") {
  for (const int asleep : {20, 150, 400}) {  // milliseconds
    ThreadChoice choice(0, 2);
    Duration now{}, best{};
    while (now < std::chrono::seconds(2)) {
      const bool is_awake = now >= milliseconds(asleep);
      now += run(choice, 1, machine({213, is_awake ? 113 : 400})).time;
      best += microseconds(best < milliseconds(asleep) ? 213 : 113);
    }
    CHECK(best > now * 92 / 100);  // the time that a right choice at any moment would have needed for these runs
    CHECK(choice.threads() == 2);
  }
}
TEST_CASE("ThreadChoice: a wrong choice among long runs does not last") {
  ThreadChoice choice(0, 2);
  run(choice, 600, machine({16'000, 9'000}));
  run(choice, 50, machine({16'000, 40'000}));
  REQUIRE(usual(choice, 50, machine({16'000, 40'000})) == 1);
  run(choice, 600, machine({16'000, 9'000}));
  CHECK(usual(choice, 100, machine({16'000, 9'000})) == 2);
}
TEST_CASE("ThreadChoice: when runs get longer with any number of threads, the number stays") {
  ThreadChoice choice(0, 2);
  run(choice, 10'000, machine({200, 150}));
  double used = 0, best = 0;
  for (int percent = 100; percent < 300; percent += 10) {  // as a program does whose numbers become denormal
    used += std::chrono::duration<double>(run(choice, 100, machine({2 * percent, percent * 3 / 2})).time).count();
    best += 100 * 1.5e-6 * percent;
  }
  CHECK(used < 1.03 * best);
  CHECK(usual(choice, 1000, machine({600, 450})) == 2);
}
TEST_CASE("ThreadChoice: measuring costs less than 1 in 100 on two cores, less than 3 in 100 on many") {
  const auto cost = [](const std::vector<int>& times) {
    ThreadChoice choice(0, static_cast<int>(times.size()));
    run(choice, 20'000, machine(times));
    const double best = 1e-6 * *std::min_element(times.begin(), times.end()) * 100'000;
    return std::chrono::duration<double>(run(choice, 100'000, machine(times)).time).count() / best - 1;
  };
  for (const auto& times : {std::vector{200, 110}, {200, 190}, {200, 210}, {200, 300}}) CHECK(cost(times) < 0.01);
  std::vector<int> falling, rising;
  for (int threads = 1; threads <= 16; ++threads) {
    falling.push_back(1600 / threads);
    rising.push_back(100 + 50 * threads);
  }
  CHECK(cost(falling) < 0.03);
  CHECK(cost(rising) < 0.03);
}
TEST_CASE("ThreadChoice: follows a machine that gets busy, at once, and idle again, later") {
  ThreadChoice choice(0, 2);
  run(choice, 20'000, machine({200, 110}));
  REQUIRE(usual(choice, 1000, machine({200, 110})) == 2);
  run(choice, 400, busy_machine());  // a tenth of a second
  CHECK(usual(choice, 1000, busy_machine()) == 1);
  run(choice, 20'000, machine({200, 110}));
  CHECK(usual(choice, 1000, machine({200, 110})) == 2);
  run(choice, 60, machine({200, 3000}));
  CHECK(usual(choice, 1000, machine({200, 3000})) == 1);
}
TEST_CASE("ThreadChoice: on a busy machine several threads are seldom tried") {
  ThreadChoice choice(0, 2);
  const Machine busy = busy_machine();
  run(choice, 10'000, busy);
  const double seconds = std::chrono::duration<double>(run(choice, 100'000, busy).time).count();
  CHECK(seconds < 1.02 * 100'000 * 200e-6);
  run(choice, 20'000, machine({200, 110}));
  CHECK(usual(choice, 1000, machine({200, 110})) == 2);
}
TEST_CASE("ThreadChoice: many threads that fail are given up for as many as do well") {
  ThreadChoice choice(0, 8);
  const auto chosen = [&](std::vector<int> times) {
    const Machine made_up = machine(std::move(times));
    run(choice, 5000, made_up);
    return usual(choice, 2000, made_up);
  };
  CHECK(chosen({800, 420, 310, 220, 190, 160, 145, 130}) == 8);
  CHECK(chosen({800, 420, 310, 220, 190, 160, 140, 2000}) == 7);
  CHECK(chosen({800, 420, 310, 220, 2000, 2000, 2000, 2000}) == 4);
}
TEST_CASE("ThreadChoice: times of nothing, and of hours, are taken") {
  ThreadChoice choice(0, 8);
  for (const auto time : {Duration(0), Duration(std::chrono::hours(5)), Duration(1)}) {
    run(choice, 1000, [&](int) { return time; });
    CHECK((choice.threads() >= 1 && choice.threads() <= 8));
  }
}
TEST_CASE("ThreadChoice: of any number of cores, all numbers that are tried are allowed") {
  for (int cores = 1; cores <= 70; ++cores) {
    ThreadChoice choice(0, cores);
    choice.begin_with(cores / 3);
    int least = cores, most = 1;
    run(choice, 3000, [&](int threads) {
      least = std::min(least, threads);
      most = std::max(most, threads);
      return microseconds(100 + 1000 / threads);
    });
    CHECK((least >= 1 && most == cores));
  }
  ThreadChoice choice(0, 1'000'000);  // no machine has as many
  run(choice, 100, [](int) { return microseconds(100); });
  CHECK(choice.threads() <= 1'000'000);
}

// The sanitizers reserve more addresses than the limit here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("Workers: threads that cannot be made are an error that says how many could, and those end") {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    const rlimit addresses{std::size_t{1} << 30, std::size_t{1} << 30};  // room for some stacks
    setrlimit(RLIMIT_AS, &addresses);
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);  // else threads that allocate take 64 MB of addresses each, for good
#endif
    try {
      const tilewright::internal::Workers workers(1000);
    } catch (const std::runtime_error& error) {
      const std::string text = error.what(), begin = "threads: 1000 asked for, ", end = "): a smaller number expected";
      const int made = std::atoi(text.c_str() + begin.size());
      const bool says_so = text.starts_with(begin) && text.ends_with(end) && text.find(" could be made (") != text.npos;
      const tilewright::internal::Workers fewer(made / 2);  // the memory of those that ended is free again
      _exit(says_so && made > 2 && made < 1000 ? 0 : 1);
    }
    _exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
#endif
