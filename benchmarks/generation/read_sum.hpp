#pragma once
#include <cstddef>
#include <cstdint>
#include <thread>
#include <tilewright/execute/aligned_memory.hpp>
#include <tilewright/kernel/math.hpp>
#include <vector>

/// Reads a buffer again and again and adds up its floats, on some threads: what memory allows a program that reads so many bytes.
/// The buffer is in pages like those of a session's variables.
class ReadSum {
 public:
  ReadSum(std::int64_t bytes, int threads) : memory_(bytes, "numbers"), bytes_(bytes), threads_(threads) {}

  std::int64_t bytes() const { return bytes_; }
  /// One pass. Thread t reads the t-th of equal parts.
  float operator()() {
    std::vector<std::thread> others;
    std::vector<float> sums(static_cast<std::size_t>(threads_));
    for (int t = 1; t < threads_; ++t) others.emplace_back([&, t] { sums[static_cast<std::size_t>(t)] = sum_of_part(t); });
    sums[0] = sum_of_part(0);
    for (std::thread& other : others) other.join();
    float result = 0;
    for (const float sum : sums) result += sum;
    return result;
  }

 private:
  using Batch = tilewright::simd::batch<float>;
  static constexpr std::int64_t sums_at_once = 8;  // independent of each other: no addition waits for the one before

  float sum_of_part(int thread) const {
    constexpr auto width = static_cast<std::int64_t>(Batch::size), step = sums_at_once * width;
    const std::int64_t floats = bytes_ / static_cast<std::int64_t>(sizeof(float)) / threads_ / step * step;
    const float* data = reinterpret_cast<const float*>(memory_.data()) + thread * floats;
    Batch sums[sums_at_once];
    for (Batch& sum : sums) sum = Batch(0.f);
    for (std::int64_t i = 0; i < floats; i += step)
#pragma GCC unroll 8
      for (std::int64_t s = 0; s < sums_at_once; ++s) sums[s] += Batch::load_aligned(data + i + s * width);
    for (std::int64_t s = 1; s < sums_at_once; ++s) sums[0] += sums[s];
    return tilewright::math::sum(sums[0]);
  }

  tilewright::internal::AlignedMemory memory_;
  std::int64_t bytes_;
  int threads_;
};
