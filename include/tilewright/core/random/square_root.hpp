#pragma once
#include <limits>

namespace tilewright::detail {

/// Returns the square root of x, at least 0, with an error of at most one in the last bit: std::sqrt is not a constant
/// expression. Infinity and NaN are unchanged.
constexpr double square_root(double x) {
  if (x == 0 || !(x <= (std::numeric_limits<double>::max)())) return x;
  double root = x < 1 ? 1 : x;
  while (true) {  // Newton's method falls until rounding stops it
    const double next = (root + x / root) / 2;
    if (next >= root) return root;
    root = next;
  }
}

}  // namespace tilewright::detail
