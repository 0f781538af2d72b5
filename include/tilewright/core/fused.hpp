#pragma once
#include <bit>
#include <cstdint>

namespace tilewright {

/// Whether the machine has an instruction for a product and a sum of numbers T that are rounded once. Small cores have it for
/// floats only.
#if defined(__FMA__)
template <class T>
inline constexpr bool fuses = true;
#elif defined(__ARM_FEATURE_FMA)
template <class T>
inline constexpr bool fuses = sizeof(T) == 4 || (__ARM_FP & 8) != 0;
#else
template <class T>
inline constexpr bool fuses = false;
#endif

}  // namespace tilewright

namespace tilewright::detail {

/// The exact sum, or the exact product, of two doubles: the nearest double, and the rest.
struct ExactPair {
  double nearest, rest;
};
inline ExactPair exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
/// For products that neither overflow nor have a rest below 2^-1022, of factors below 2^996.
inline ExactPair exact_product(double a, double b) {
  const double product = a * b;
  if constexpr (fuses<double>) return {product, __builtin_fma(a, b, -product)};
  const auto first_half = [](double x) {  // its 26 first bits
    const double shifted = x * 0x1.0000002p27;
    return shifted - (shifted - x);
  };
  const double high_a = first_half(a), low_a = a - high_a, high_b = first_half(b), low_b = b - high_b;
  return {product, low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)};
}

/// Returns a b + c, rounded once if the numbers have the sizes that exact_product takes and their sum is not denormal. Without an
/// instruction, the last two terms are rounded to odd before the last sum rounds to the nearest. (S. Boldo and G. Melquiond,
/// "Emulation of a FMA and correctly rounded sums", IEEE Transactions on Computers 57 (2008).)
inline double fused(double a, double b, double c) {
  if constexpr (fuses<double>) return __builtin_fma(a, b, c);
  const ExactPair product = exact_product(a, b);
  if (product.rest != product.rest) return product.nearest + c;  // too large for the parts of factors
  const ExactPair low = exact_sum(c, product.rest), high = exact_sum(product.nearest, low.nearest);
  const ExactPair tail = exact_sum(low.rest, high.rest);
  auto bits = std::bit_cast<std::uint64_t>(tail.nearest);
  if (tail.rest != 0 && (bits & 1) == 0) bits += (tail.rest > 0) == (tail.nearest > 0) ? 1 : ~std::uint64_t{0};
  return high.nearest + std::bit_cast<double>(bits);
}

}  // namespace tilewright::detail
