#pragma once
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/simd.hpp"
#include "tilewright/operand/sum_lengths.hpp"

namespace tilewright::kernel {

/// The type of a plain loop that adds the products of `terms` terms: float64, if float32 would lose too much.
template <class Sum, std::int64_t terms>
using product_sum_t = std::conditional_t<std::is_same_v<Sum, float> && is_long_product(terms), double, Sum>;

/// Adds parts of sums, and keeps the rounding error: two numbers hold a sum of about 48 bits (the exact error of one addition:
/// Knuth, The Art of Computer Programming, volume 2, section 4.2.2).
struct LongSums {
  using Batch = simd::batch<float>;
  Batch sum = Batch(0.f), rest = Batch(0.f);

  [[gnu::always_inline]] void add(const Batch& part) {
    const Batch total = sum + part, added = total - sum;
    rest += (sum - (total - added)) + (part - added);
    sum = total;
  }
  /// Returns the sum with its rounding error added. The error of an infinity or NaN is not added.
  [[gnu::always_inline]] Batch value() const { return math::select(rest == rest, sum + rest, sum); }

  /// Loads sums from memory. Their rounding errors are `distance` floats after them.
  [[gnu::always_inline]] static LongSums load(const float* sums, std::int64_t distance) {
    return {Batch::load_aligned(sums), Batch::load_aligned(sums + distance)};
  }
  [[gnu::always_inline]] void store(float* sums, std::int64_t distance) const {
    sum.store_aligned(sums);
    rest.store_aligned(sums + distance);
  }
  [[gnu::always_inline]] static void add(const Batch& part, float* sums, std::int64_t distance) {
    LongSums all = load(sums, distance);
    all.add(part);
    all.store(sums, distance);
  }
  /// Completes `count` sums, a multiple of a vector: adds the rounding errors to them.
  static void finish(float* sums, std::int64_t count, std::int64_t distance) {
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(Batch::size))
      load(sums + i, distance).value().store_aligned(sums + i);
  }
};

}  // namespace tilewright::kernel
