// labels: arm clang portable ubsan
// Conversions of half precision in vectors of every width against those of single elements.
#include "tilewright/kernel/vector/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../../catch.hpp"

namespace {

using tilewright::bfloat16_t, tilewright::float16_t, tilewright::kernel::load_floats, tilewright::kernel::rounded_to,
    tilewright::kernel::store_floats;

template <class Half>
std::vector<Half> all_halves() {
  std::vector<Half> result;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) result.push_back(std::bit_cast<Half>(static_cast<std::uint16_t>(bits)));
  return result;
}
/// Every half, the middle between it and the next, and the floats around both.
template <class Half>
std::vector<float> floats_to_round() {
  std::vector<float> result;
  const auto halves = all_halves<Half>();
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto value = static_cast<float>(halves[i]), next = static_cast<float>(halves[(i + 1) % halves.size()]);
    for (float x : {value, (value + next) / 2})
      for (float around : {std::nextafter(x, -INFINITY), x, std::nextafter(x, INFINITY)}) result.push_back(around);
  }
  for (float x : {65519.99f, 65520.f, 1e30f, 3.3961e38f, 3.3962e38f, 3.4e38f, 1e-30f, 0x1p-25f, 0x1.8p-25f, 0x1p-134f,
                  0x1.8p-134f, std::numeric_limits<float>::denorm_min()})
    for (float sign : {1.f, -1.f}) result.push_back(sign * x);
  while (result.size() % 16 != 0) result.push_back(0);
  return result;
}
/// The same bits, or not a number both.
template <class T>
bool same(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
}
/// To nearest, ties to even, computed in double precision.
template <class Half>
float rounded(float x) {
  constexpr bool is_float16 = std::is_same_v<Half, float16_t>;
  constexpr int least_exponent = is_float16 ? -14 : -126, digits = is_float16 ? 10 : 7;
  constexpr double largest = is_float16 ? 65504 : 0x1.fep127;
  if (!(std::abs(x) < INFINITY)) return x;
  const double unit = std::ldexp(1.0, std::max(x == 0 ? least_exponent : std::ilogb(x), least_exponent) - digits);
  const double result = std::nearbyint(x / unit) * unit;
  return std::copysign(std::abs(result) > largest ? INFINITY : static_cast<float>(result), x);
}

/// Reads and writes the first `count` elements of a batch, with others around them that must stay.
template <class Batch, std::int64_t count, class Half>
void count_differences_of_part(const std::vector<Half>& halves, int& differences) {
  constexpr auto size = static_cast<std::int64_t>(Batch::size);
  for (std::size_t i = 0; i + Batch::size <= halves.size(); i += 7) {
    float loaded[Batch::size];
    const Batch x = tilewright::kernel::load_first_floats<Batch, count>(&halves[i], -2);
    x.store_unaligned(loaded);
    Half stored[Batch::size];
    std::fill_n(stored, Batch::size, static_cast<Half>(3));
    tilewright::kernel::store_first_floats<count>(stored, x);
    for (std::int64_t e = 0; e < size; ++e) {
      const float expected = static_cast<float>(halves[i + static_cast<std::size_t>(e)]);
      differences += !same(loaded[e], e < count ? expected : -2.f) +
                     !same(static_cast<float>(stored[e]), e < count ? expected : 3.f);
    }
  }
}

template <class Batch, class Half>
int count_differences() {
  int differences = 0;
  const auto halves = all_halves<Half>();
  float loaded[Batch::size];
  for (std::size_t i = 0; i < halves.size(); i += Batch::size) {
    load_floats<Batch>(&halves[i]).store_unaligned(loaded);
    for (std::size_t e = 0; e < Batch::size; ++e) differences += !same(loaded[e], static_cast<float>(halves[i + e]));
  }
  const auto parts = [&]<std::size_t... n>(std::index_sequence<n...>) {
    (count_differences_of_part<Batch, static_cast<std::int64_t>(n + 1)>(halves, differences), ...);
  };
  parts(std::make_index_sequence<Batch::size - 1>());
  const auto floats = floats_to_round<Half>();
  Half stored[Batch::size];
  for (std::size_t i = 0; i < floats.size(); i += Batch::size) {
    const Batch x = Batch::load_unaligned(&floats[i]);
    store_floats(stored, x);
    rounded_to<Half>(x).store_unaligned(loaded);
    for (std::size_t e = 0; e < Batch::size; ++e) {
      const float single = floats[i + e], expected = rounded<Half>(single);
      differences += !same(static_cast<float>(stored[e]), expected) + !same(loaded[e], expected) +
                     !same(rounded_to<Half>(single), expected);
    }
  }
  return differences;
}

template <class Half>
void check_all_vectors() {
  CHECK(count_differences<tilewright::simd::batch<float>, Half>() == 0);
  CHECK(count_differences<tilewright::simd::make_sized_batch_t<float, 4>, Half>() == 0);
#if defined(__AVX__)
  CHECK(count_differences<tilewright::simd::make_sized_batch_t<float, 8>, Half>() == 0);
#endif
}

}  // namespace

TEST_CASE("every half is read exactly, and floats are rounded to the nearest half, ties to even") {
  check_all_vectors<float16_t>();
  check_all_vectors<bfloat16_t>();
}
