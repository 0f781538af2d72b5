#pragma once
// A program that generates tokens with GPT-2's network of 124 million weights, one at a time, beside a sum of as many bytes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../../examples/gpt/steps.hpp"
#include "../protocol.hpp"
#include "read_sum.hpp"

namespace generation {

namespace tw = tilewright;
using namespace tw::literals;

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Bytes of the weights that a token reads: all but the embeddings of other positions.
template <gpt::Size size>
constexpr std::int64_t weight_bytes() {
  const std::int64_t d = size.width, block = 12 * d * d + 13 * d;
  return (size.vocabulary * d + size.layers * block + 3 * d) * tw::size_of(size.dtype);
}

/// Feeds tokens from position 0 on, from the beginning again where the context ends.
template <gpt::Size size>
class Generator {
 public:
  explicit Generator(int threads) : session_({.seed = 1, .threads = threads}) {}

  /// The most likely token after the one before.
  void next() {
    const float* logits = run();
    token_(0) = static_cast<std::int32_t>(std::max_element(logits, logits + size.vocabulary) - logits);
  }
  /// Reads a token of a prompt. The session takes these one by one, too.
  void read(std::int32_t token) {
    token_(0) = token;
    run();
  }

 private:
  /// The logits, which are in the session's memory.
  const float* run() {
    const float* logits = session_.run("token"_s = token_, "position"_s = position_)["logits"_s].data();
    position_(0) = (position_(0) + 1) % size.context;
    return logits;
  }

  tw::Session<gpt::generate_step<size>> session_;
  xt::xtensor<std::int32_t, 1> token_ = xt::zeros<std::int32_t>({1}), position_ = xt::zeros<std::int32_t>({1});
};

/// `NAME THREADS [ROUNDS [SECONDS]]`: a line of a Markdown table.
template <gpt::Size size>
int run(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s THREADS [ROUNDS [SECONDS]]\n", argv[0]), 2;
  const int threads = std::atoi(argv[1]), rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1;
  Generator<size> generator(threads);
  ReadSum sum(weight_bytes<size>(), threads);
  volatile float sink = sum();
  std::vector<double> tokens, prompts, passes, shares;
  const auto generate = [&](double time) { return iterations_per_second(time, [&](std::size_t) { generator.next(); }); };
  generate(seconds / 4);
  for (int round = 0; round < rounds; ++round) {
    passes.push_back(iterations_per_second(seconds / 2, [&](std::size_t) { sink = sum(); }));
    tokens.push_back(generate(seconds));
    shares.push_back(tokens.back() / passes.back());
    prompts.push_back(iterations_per_second(seconds / 4, [&](std::size_t i) {
      generator.read(static_cast<std::int32_t>(i * 7919 % static_cast<std::size_t>(size.vocabulary)));
    }));
  }
  const double gigabytes = 1e-9 * static_cast<double>(weight_bytes<size>());
  std::printf("| %s | %d | %.1f | %.1f | %.0f MB | %.1f GB/s | %.1f GB/s | %.3f |\n",
              std::string(tw::to_text(size.dtype)).c_str(), threads, median(tokens), median(prompts), 1000 * gigabytes,
              gigabytes * median(tokens), gigabytes * median(passes), median(shares));
  return 0;
}

/// GPT-2 of 124 million weights with a cache of 512 tokens.
constexpr gpt::Size size_124m(tw::DType dtype) {
  return {.vocabulary = 50257, .context = 512, .layers = 12, .heads = 12, .width = 768, .dtype = dtype};
}

}  // namespace generation
