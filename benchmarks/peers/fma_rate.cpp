// The bound of a core's arithmetic: independent fused multiply-adds on registers. One iteration is 1 GFLOP, a multiply-add being
// two operations. `fma_rate THREADS`, measured as protocol.hpp says.
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../protocol.hpp"

namespace {

#if defined(__AVX512F__)
constexpr int bytes = 64, accumulators = 24;
#elif defined(__AVX__)
constexpr int bytes = 32, accumulators = 12;
#else
constexpr int bytes = 16, accumulators = 12;
#endif
using Vector [[gnu::vector_size(bytes)]] = float;

/// As many multiply-adds as make 1 GFLOP. A core needs 8 or more at the same time; the compiler can leave none out, as it does
/// not know the factors.
float multiply_add(float factor, float term) {
  const Vector factors = Vector{} + factor, terms = Vector{} + term;
  Vector sums[accumulators];
#pragma GCC unroll 24
  for (int i = 0; i < accumulators; ++i) sums[i] = terms * static_cast<float>(i);
  constexpr std::int64_t rounds = 1'000'000'000 / (2 * accumulators * (bytes / 4));
  for (std::int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 24
    for (int i = 0; i < accumulators; ++i) sums[i] = sums[i] * factors + terms;
  Vector sum{};
#pragma GCC unroll 24
  for (int i = 0; i < accumulators; ++i) sum += sums[i];
  return sum[0];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s THREADS\n", argv[0]), 2;
  const int threads = std::atoi(argv[1]);
  volatile float factor = 0.5f, sink = 0;
  const auto run = [&](std::size_t) { sink = multiply_add(factor, 1); };
  return serve([&] { run(0); },
               [&](double seconds) {
                 std::vector<double> rates(static_cast<std::size_t>(threads));
                 std::vector<std::thread> others;
                 for (double& rate : rates) others.emplace_back([&] { rate = iterations_per_second(seconds, run); });
                 double sum = 0;
                 for (std::thread& other : others) other.join();
                 for (const double rate : rates) sum += rate;
                 return sum;
               },
               [&] { return threads; });
}
