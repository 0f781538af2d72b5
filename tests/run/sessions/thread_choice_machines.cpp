// labels: optimised
// How well the number of threads is chosen on hundreds of made-up machines, on those that were measured, and with recorded times.
#include <numeric>
#include <span>
#include <string>

#include "../../catch.hpp"
#include "../../support/made_up_machine.hpp"
#include "../../support/recorded_runs.hpp"

namespace {

using tilewright::internal::ThreadChoice;

/// Numbers by chance. What the standard library makes of a generator's numbers differs between libraries.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : generator_(seed) {}
  double from(double least, double most) { return least + (most - least) * static_cast<double>(generator_() >> 11) * 0x1p-53; }
  double from_logarithms(double least, double most) { return least * std::pow(most / least, from(0, 1)); }
  template <std::size_t count>
  int one_of(const std::array<int, count>& numbers) {
    return numbers[generator_() % count];
  }
  bool coin() { return generator_() % 2 == 0; }

 private:
  std::mt19937_64 generator_;
};

constexpr std::array core_counts{2, 4, 8, 12, 16, 16, 16, 64};

int peak_of(Chance& chance, int cores) {
  for (;;)
    if (const int peak = chance.one_of(std::array{1, 2, 3, 6, 8, 12, 16}); peak <= cores) return peak;
}
Disturbances disturbances(Chance& chance) {
  Disturbances result{.noise = chance.from(0.005, 0.08)};
  if (chance.coin()) {
    result.stalls_a_second = chance.from(0.1, 5);
    result.stall = chance.from(0.5e-3, 8e-3);
  }
  return result;
}

/// How many of the numbers are below a limit.
std::ptrdiff_t below(double limit, const std::vector<double>& numbers) {
  return std::count_if(numbers.begin(), numbers.end(), [&](double number) { return number < limit; });
}

/// Iterations a second of W1, W2, W4, W5, W7, W8 and W9 of benchmarks/suite.py with 1, 4, 8, 12 and 16 threads, on 16 cores of an
/// Intel Xeon.
constexpr std::array<std::array<double, 5>, 7> measured_speeds{{{2555, 5000, 10900, 7495, 7820},
                                                                {676, 1778, 4192, 3574, 3172},
                                                                {44, 102, 184, 186, 236},
                                                                {142, 375, 743, 806, 940},
                                                                {27, 62, 111, 103, 94},
                                                                {1.5, 3.9, 7.5, 8.1, 9.9},
                                                                {89, 192, 274, 267, 277}}};
double best_of(const std::array<double, 5>& speeds) { return 1 / *std::max_element(speeds.begin(), speeds.end()); }

struct Long {
  double chosen = 0, next_hundred = 0;  // shares of the best speed
};
/// 30 runs, then the number that most of the next runs have, and the mean of the next 100.
Long long_runs(MadeUpProgram program) {
  for (int i = 0; i < 30; ++i) program.run();
  std::vector<int> used;
  double best = 0, spent = 0;
  for (int i = 0; i < 100; ++i) {
    best += program.run();
    spent += program.spent();
    if (i < 11) used.push_back(program.threads());
  }
  std::nth_element(used.begin(), used.begin() + 5, used.end());
  return {program.machine().best_mean() / program.machine().mean(used[5]), best / spent};
}

MadeUpProgram program_of_pair(Chance& chance, int cores, int peak, std::uint64_t seed) {
  const Curve curve = peaked_curve(cores, peak, chance.from_logarithms(50e-6, 20e-3), chance.from(0.3, 0.95));
  return MadeUpProgram(MadeUpMachine(curve, disturbances(chance), seed));
}
/// Runs two programs on the same cores until a time: each waits for the cores that the other one has. Takes note of each run:
/// which program's it is.
template <class Note>
void run_beside(std::array<MadeUpProgram, 2>& programs, double until, const Note& note) {
  for (;;) {
    const std::size_t next = programs[0].machine().now() <= programs[1].machine().now() ? 0 : 1;
    MadeUpMachine& machine = programs[next].machine();
    if (machine.now() > until) return;
    machine.set_neighbour(programs[1 - next].choice().threads());
    note(next);
    programs[next].run();
  }
}
void run_beside(std::array<MadeUpProgram, 2>& programs, double until) {
  run_beside(programs, until, [](std::size_t) {});
}
/// What two programs do in ten seconds, from the third second on that both run, as a share of what one of them does alone in ten
/// seconds with its best number. The second program begins later, by the given number of seconds.
double together(std::uint64_t seed, int cores, double later) {
  Chance chance(seed);
  const auto made_up = [&](std::uint64_t number) {
    return program_of_pair(chance, cores, chance.coin() ? cores : cores / 2, 2 * seed + number);
  };
  std::array programs{made_up(0), made_up(1)};
  const std::array best{programs[0].machine().best_mean(), programs[1].machine().best_mean()};
  while (programs[0].machine().now() < later) programs[0].run();
  programs[1].machine().pass(later);
  double share = 0;
  run_beside(programs, later + 12, [&](std::size_t program) {
    if (programs[program].machine().now() > later + 2) share += best[program] / 10;
  });
  UNSCOPED_INFO("seed " << seed << ", " << cores << " cores, begins " << later << " s later: " << share);
  return share;
}

}  // namespace

TEST_CASE("ThreadChoice: on quiet machines within 0.95 of the best number, and never below 0.85 in a second") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(core_counts), peak = peak_of(chance, cores);
    const double best = chance.from_logarithms(5e-6, 20e-3), slope = chance.from(0, 0.95);
    MadeUpProgram program({peaked_curve(cores, peak, best, slope), disturbances(chance), seed});
    const Shares got = shares(program, 22);
    CAPTURE(seed, cores, peak, best, slope, got.seconds);
    CHECK(got.mean(2, 22) >= 0.95);
    CHECK(got.least(2, 22) >= 0.85);
    CHECK(program.clock_time() < 0.01 * program.machine().now());
  }
}
TEST_CASE("ThreadChoice: cores that wake late cost little, and are found") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(core_counts), peak = peak_of(chance, cores);
    const double best = chance.from_logarithms(20e-6, 5e-3), slope = chance.from(0.2, 0.95);
    Disturbances with = disturbances(chance);
    with.asleep_until = chance.from(0.02, 0.5);
    with.asleep_factor = chance.from(1.2, 8);
    MadeUpProgram program({peaked_curve(cores, peak, best, slope), with, seed});
    const Shares got = shares(program, 22);
    CAPTURE(seed, cores, peak, best, slope, with.asleep_until, with.asleep_factor, got.seconds);
    CHECK(got.seconds[1] >= 0.75);
    CHECK(got.mean(2, 22) >= 0.95);
    CHECK(got.least(2, 22) >= 0.85);
  }
}
TEST_CASE("ThreadChoice: on 16 cores that were measured within 0.95 of the best number") {
  for (const auto& speeds : measured_speeds) {
    if (best_of(speeds) > 20e-3) continue;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      MadeUpProgram program({measured_curve(speeds), {.stalls_a_second = 1, .stall = 4e-3}, seed});
      const Shares got = shares(program, 22);
      CAPTURE(speeds, seed, got.seconds);
      CHECK(got.mean(2, 22) >= 0.95);
      CHECK(got.least(2, 22) >= 0.85);
    }
  }
}
TEST_CASE("ThreadChoice: long runs begin with a guess, and are near the best number after 30") {
  std::vector<double> chosen, next_hundred;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(core_counts), peak = peak_of(chance, cores);
    const double best = chance.from_logarithms(20e-3, 2), slope = chance.from(0, 0.95);
    Disturbances with = disturbances(chance);
    with.noise = chance.from(0.005, 0.04);
    const int guess = std::clamp(static_cast<int>(std::lround(peak * std::exp2(chance.from(-1, 1)))), 1, cores);
    const Long got = long_runs(MadeUpProgram({peaked_curve(cores, peak, best, slope), with, seed}, guess));
    chosen.push_back(got.chosen);
    next_hundred.push_back(got.next_hundred);
  }
  CHECK(below(0.9, chosen) == 0);
  CHECK(below(0.95, next_hundred) == 0);
}
TEST_CASE("ThreadChoice: long runs without a guess begin with all cores") {
  std::vector<double> chosen, next_hundred;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(std::array{2, 4, 8, 12, 16}), peak = peak_of(chance, cores);
    const double best = chance.from_logarithms(20e-3, 2), slope = chance.from(0.2, 0.95);
    MadeUpProgram program({peaked_curve(cores, peak, best, slope), {.noise = 0.02}, seed});
    REQUIRE(program.choice().threads() == cores);
    const Long got = long_runs(std::move(program));
    chosen.push_back(got.chosen);
    next_hundred.push_back(got.next_hundred);
  }
  CHECK(below(0.9, chosen) == 0);
  CHECK(below(0.95, next_hundred) == 0);
}
TEST_CASE("ThreadChoice: long runs on 16 cores that were measured") {
  for (const auto& speeds : measured_speeds)
    for (const double longer : {1., 10.}) {
      if (longer * best_of(speeds) < 20e-3) continue;
      for (const int guess : {4, 8, 12, 16}) {
        Curve curve = measured_curve(speeds);
        for (double& time : curve) time *= longer;
        const Long got = long_runs(MadeUpProgram({curve, {.noise = 0.02}, 1}, guess));
        CAPTURE(speeds, longer, guess, got.chosen, got.next_hundred);
        CHECK(got.chosen >= 0.9);
        CHECK(got.next_hundred >= 0.95);
      }
    }
}
TEST_CASE("ThreadChoice: a guess is the first number, and at most the limit") {
  const auto begun = [](int threads, int guess) {
    ThreadChoice choice(threads, 16);
    choice.begin_with(guess);
    CHECK(choice.limit() == (threads > 0 ? threads : 16));
    return choice.threads();
  };
  CHECK(begun(0, 5) == 5);
  CHECK(begun(0, 1) == 1);
  CHECK(begun(0, 13) == 12);  // of the numbers that are tried
  CHECK(begun(0, 50) == 16);
  CHECK(begun(3, 5) == 3);  // a number that is given stays
  CHECK(ThreadChoice(0, 16).threads() == 16);
}
TEST_CASE("ThreadChoice: long runs try neighbours of the guess alone") {
  for (const int guess : {4, 6, 16}) {
    MadeUpProgram program({peaked_curve(16, guess, 0.1, 0.9), {.noise = 0.01}, 1}, guess);
    std::vector<int> used(17);
    for (int i = 0; i < 130; ++i, ++used[static_cast<std::size_t>(program.threads())]) program.run();
    CAPTURE(guess, used);
    for (int threads = 1; threads <= 16; ++threads)
      if (threads * 2 < guess || threads > guess * 2) CHECK(used[static_cast<std::size_t>(threads)] == 0);
  }
}
TEST_CASE("ThreadChoice: gives way to a neighbour that takes cores, and comes back") {
  std::vector<double> beside, after;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(core_counts), peak = peak_of(chance, cores);
    const double best = chance.from_logarithms(5e-6, 2e-3), slope = chance.from(0.1, 0.95);
    Disturbances with = disturbances(chance);
    with.neighbour_from = 3;
    with.neighbour_to = 11;
    with.neighbour_cores = 1 + static_cast<int>(chance.from(0, cores - 1));
    MadeUpProgram program({peaked_curve(cores, peak, best, slope), with, seed});
    const Shares got = shares(program, 18);
    CAPTURE(seed, cores, peak, best, slope, with.neighbour_cores, got.seconds);
    CHECK(got.mean(3, 11) >= 0.7);  // of the best number for these seconds, which changes at the first and last
    CHECK(got.mean(13, 18) >= 0.95);
    beside.push_back(got.mean(3, 11));
    after.push_back(got.mean(11, 13));
  }
  CHECK(below(0.9, beside) <= 15);
  CHECK(below(0.8, after) <= 4);
}
TEST_CASE("ThreadChoice: two programs on the same cores make together what they make one after the other") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) CHECK(together(seed, 2, 0) >= 0.9);
  std::vector<double> at_once, later;
  for (std::uint64_t seed = 101; seed <= 300; ++seed) {
    Chance chance(seed);
    const int cores = chance.one_of(std::array{4, 6, 8, 12, 16});
    at_once.push_back(together(seed, cores, 0));
    later.push_back(together(seed, cores, chance.from(0.01, 3)));
  }
  // Of a thousand pairs, one or two take long to find a moment at which both try half of the cores.
  CHECK(below(0.9, at_once) <= 1);
  CHECK(below(0.9, later) <= 1);
  CHECK(below(0.75, at_once) + below(0.75, later) == 0);
}
TEST_CASE("ThreadChoice: when one of two programs ends, the other one has all cores again") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Chance chance(seed);
    std::array programs{program_of_pair(chance, 16, 16, 2 * seed), program_of_pair(chance, 16, 16, 2 * seed + 1)};
    run_beside(programs, 8);
    programs[0].machine().set_neighbour(0);
    while (programs[0].machine().now() < 11) programs[0].run();
    double best = 0;
    while (programs[0].machine().now() < 14) best += programs[0].run();
    CAPTURE(seed, best);
    CHECK(best >= 0.95 * 3);
  }
}
TEST_CASE("ThreadChoice: with recorded times of a busy machine within 0.95 of the best number") {
  const auto mean = [](std::span<const int> times) {
    return 1e-6 * std::accumulate(times.begin(), times.end(), 0) / static_cast<double>(times.size());
  };
  const double one = mean(recorded_one_thread), two = mean(recorded_two_threads);
  REQUIRE(one < two);
  ThreadChoice choice(0, 2);
  std::array<std::size_t, 2> at{};
  double now = 0, runs = 0;
  for (double begin = 0; now < 22; begin = now) {
    const std::size_t more = choice.threads() == 2 ? 1 : 0;
    const int time = more == 1 ? recorded_two_threads[at[1]++ % recorded_two_threads.size()]
                               : recorded_one_thread[at[0]++ % recorded_one_thread.size()];
    const ThreadChoice::Clock::time_point begun{std::chrono::microseconds(std::llround(1e6 * now))};
    now += 1e-6 * time;
    if (choice.measuring()) choice.measured(begun, begun + std::chrono::microseconds(time));
    else choice.counted();
    if (begin >= 2) runs += 1;
  }
  CHECK(one * runs >= 0.95 * (now - 2));
}
