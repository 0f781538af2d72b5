#pragma once
// What a generator of programs knows about its tensors: bounds of their elements, and which are computed without rounding.
#include <cstdint>

#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/tilewright.hpp"

namespace random_programs {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec;

/// A program is the same wherever it is traced only if its random numbers are drawn in one order: at most one of a function's
/// arguments may draw any.
///
/// The generator SplitMix64, in constant expressions (G. Steele and others, "Fast splittable pseudorandom number generators",
/// 2014).
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  constexpr int below(std::int64_t end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
  constexpr bool one_in(int count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

constexpr double power_of_two(int exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= 2;
  for (; exponent < 0; ++exponent) result /= 2;
  return result;
}
constexpr double larger(double a, double b) { return a > b ? a : b; }
constexpr double smaller(double a, double b) { return a < b ? a : b; }

/// What is known about the elements of a tensor.
struct Elements {
  static constexpr int inexact = -1;
  double low = -2, high = 2;  ///< all elements are from low to high
  int grain = inexact;        ///< all elements are multiples of 2^-grain, and nothing was rounded; or inexact
  double slope = 0;  ///< of exact ones: an element changes by at most so much if no variable's element changes by more than 1

  constexpr double bound() const { return larger(-low, high); }
  constexpr bool exact() const { return grain >= 0; }
  constexpr bool positive() const { return low >= 0.0625; }
  /// Whether what is known of `other` is known of these, too.
  constexpr bool includes(const Elements& other) const {
    return other.low >= low && other.high <= high &&
           (!exact() || (other.exact() && other.grain <= grain && other.slope <= slope));
  }
  constexpr Elements rounded() const { return {low, high}; }

  static constexpr int common(int a, int b) { return a < 0 || b < 0 ? inexact : a > b ? a : b; }
};
constexpr Elements operator+(const Elements& a, const Elements& b) {
  return {a.low + b.low, a.high + b.high, Elements::common(a.grain, b.grain), a.slope + b.slope};
}
constexpr Elements operator-(const Elements& x) { return {-x.high, -x.low, x.grain, x.slope}; }
constexpr Elements operator-(const Elements& a, const Elements& b) { return a + -b; }
constexpr Elements operator*(const Elements& a, const Elements& b) {
  const double products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  Elements result{products[0], products[0], a.exact() && b.exact() ? a.grain + b.grain : Elements::inexact,
                  a.slope * b.bound() + b.slope * a.bound()};
  for (const double product : products) result.low = smaller(result.low, product), result.high = larger(result.high, product);
  return result;
}
/// The sum of so many.
constexpr Elements times(const Elements& x, std::int64_t count) {
  const auto n = static_cast<double>(count);
  return {x.low * n, x.high * n, x.grain, x.slope * n};
}
/// Those of either.
constexpr Elements hull(const Elements& a, const Elements& b) {
  return {smaller(a.low, b.low), larger(a.high, b.high), Elements::common(a.grain, b.grain), larger(a.slope, b.slope)};
}
/// A number, which is a multiple of 1/8.
constexpr Elements number_elements(double number) { return {number, number, 3, 0}; }

/// A tensor of a program.
struct Known {
  Tensor tensor{};
  Elements elements{};
  int memory = 0;           ///< aliases have the same number
  bool changeable = false;  ///< an op may change it in place
  bool dense = true;        ///< its elements stand one after the other in what it is an alias of

  constexpr bool is_real() const { return tw::is_floating_point(tensor.dtype()); }
  constexpr bool is_int() const { return tw::is_int(tensor.dtype()); }
  constexpr bool is_bool() const { return tensor.dtype() == tw::boolean; }
  constexpr bool exact() const { return elements.exact(); }
  constexpr double bound() const { return elements.bound(); }
  constexpr int rank() const { return tensor.rank(); }
};

/// What an op of tests/ops takes in a random program.
enum class Input : std::uint8_t {
  none,
  real,
  numbers,  ///< integers, too
  positive,
  kinked,  ///< numbers that are not where it bends or jumps
  distinct,  ///< numbers of which no two are equal
  two,
  two_apart,  ///< that are not where it bends or jumps
  compared,  ///< two that are not equal by rounding
  special  ///< infinities and NaN
};

/// What a program may have.
struct Features {
  bool gradients = false;  ///< only what has a derivative everywhere, as finite differences need it
  bool repeats = false;    ///< its gradient computes it again, so nothing may have side effects
  bool only_loss = false;  ///< the program with gradients, without the gradients
  DType half = tw::float16;  ///< the dtype of 16 bits
};

/// By how much finite differences move an element of a variable, at most.
inline constexpr double most_moved = 4e-5;

}  // namespace random_programs
