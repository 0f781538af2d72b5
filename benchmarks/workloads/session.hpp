#pragma once
// What the measured programs of tilewright share.
#include <cstdlib>
#include <cstring>
#include <random>
#include <tilewright/profile/write_recording.hpp>
#include <tilewright/tilewright.hpp>

#include "../protocol.hpp"

namespace tw = tilewright;
using namespace tw::literals;

/// A few batches of host data in memory, which a program takes in turn. A batch is made when it is first asked for: the first
/// result of a program shall not wait for all of them.
template <class T, std::size_t rank, std::size_t count, class Value>
class Batches {
 public:
  Batches(const std::array<std::size_t, rank>& shape, Value value) : shape_(shape), value_(value) {}

  const xt::xtensor<T, rank>& operator[](std::size_t index) {
    auto& batch = batches_[index % batches_.size()];
    if (batch.size() <= 1) {
      batch.resize(shape_);
      for (T& element : batch) element = value_(random_);
    }
    return batch;
  }

 private:
  std::array<std::size_t, rank> shape_;
  Value value_;
  std::minstd_rand random_{1};
  std::array<xt::xtensor<T, rank>, count> batches_;
};

/// 16 batches of numbers from -1 to 1.
template <class... Extents>
auto random_numbers(Extents... shape) {
  const auto value = [](auto& random) { return std::uniform_real_distribution<float>(-1, 1)(random); };
  return Batches<float, sizeof...(shape), 16, decltype(value)>({static_cast<std::size_t>(shape)...}, value);
}
/// 16 batches of tokens from 0 to before `vocabulary`.
template <int vocabulary, class... Extents>
auto random_tokens(Extents... shape) {
  const auto value = [](auto& random) { return std::uniform_int_distribution<std::int32_t>(0, vocabulary - 1)(random); };
  return Batches<std::int32_t, sizeof...(shape), 16, decltype(value)>({static_cast<std::size_t>(shape)...}, value);
}
/// 13 batches of classes from 0 to 9. The same images come with other labels each time, so that networks cannot learn them by
/// heart: then gradients would become denormal numbers, with which processors are slow.
template <class... Extents>
auto random_labels(Extents... shape) {
  const auto value = [](auto& random) { return std::uniform_int_distribution<std::int32_t>(0, 9)(random); };
  return Batches<std::int32_t, sizeof...(shape), 13, decltype(value)>({static_cast<std::size_t>(shape)...}, value);
}

/// The events of a worker that a measured program keeps.
inline constexpr std::int64_t recorded_events = 20'000;

/// Runs for `seconds` to warm up. Then it records runs for as long again, or until the record is full, and writes them to the
/// files of tw::write_recording.
int record(auto& session, const auto& run, const char* path, double seconds) {
  iterations_per_second(seconds, run);
  session.clear_recording();
  run(0);
  const std::size_t events_of_run = session.recording().events.size() / static_cast<std::size_t>(session.threads()) + 1;
  const Stopwatch watch;
  for (std::size_t i = 1; (i + 1) * events_of_run <= recorded_events && (i < 3 || watch.seconds() < seconds); ++i) run(i);
  tw::write_recording(path, session.recording(std::filesystem::path(path).filename().string()));
  return 0;
}

/// The main function of a program that the suite measures: `NAME THREADS`, where THREADS may be `auto`. `step(session, i)` runs
/// the session on batch i and fetches what it gives. `NAME THREADS record PATH SECONDS` records runs instead.
template <class Session, class Step>
int serve_session(int argc, char** argv, Step&& step) {
  const bool records = argc == 5 && std::strcmp(argv[2], "record") == 0;
  if (argc != 2 && !records) return std::fprintf(stderr, "usage: %s THREADS|auto [record PATH SECONDS]\n", argv[0]), 2;
  Session session({.seed = 1,
                   .threads = std::strcmp(argv[1], "auto") == 0 ? 0 : std::atoi(argv[1]),
                   .recorded_events = records ? recorded_events : 0});
  [[maybe_unused]] volatile float sink = 0;  // the host looks at what it fetches
  const auto run = [&](std::size_t i) { sink = step(session, i); };
  if (records) return record(session, run, argv[3], std::atof(argv[4]));
  return serve([&] { run(0); }, [&](double seconds) { return iterations_per_second(seconds, run); },
               [&] { return session.threads(); });
}
