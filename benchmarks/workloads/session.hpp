#pragma once
// What the measured programs of tilewright share.
#include <cstdlib>
#include <cstring>
#include <random>
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

/// The main function of a program that the suite measures: `NAME THREADS`, where THREADS may be `auto`. `step(session, i)` runs
/// the session on batch i and fetches what it gives.
template <class Session, class Step>
int serve_session(int argc, char** argv, Step&& step) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s THREADS|auto\n", argv[0]), 2;
  Session session({.seed = 1, .threads = std::strcmp(argv[1], "auto") == 0 ? 0 : std::atoi(argv[1])});
  [[maybe_unused]] volatile float sink = 0;  // the host looks at what it fetches
  const auto run = [&](std::size_t i) { sink = step(session, i); };
  return serve([&] { run(0); }, [&](double seconds) { return iterations_per_second(seconds, run); },
               [&] { return session.threads(); });
}
