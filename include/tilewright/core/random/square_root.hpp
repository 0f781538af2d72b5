#pragma once
#include <limits>

namespace tilewright::detail {

/// The square root of x, at least 0, to the last bit or the one before: std::sqrt is no constant expression. Infinity and NaN are
/// their own.
constexpr double square_root(double x) {
  if (x == 0 || !(x <= std::numeric_limits<double>::max())) return x;
  double root = x < 1 ? 1 : x;
  while (true) {  // Newton's method falls until rounding stops it
    const double next = (root + x / root) / 2;
    if (next >= root) return root;
    root = next;
  }
}

}  // namespace tilewright::detail
