#pragma once

namespace tilewright::detail {

/// The square root of x, at least 0, to the last bit or the one before: std::sqrt is no constant expression.
constexpr double square_root(double x) {
  if (x == 0) return 0;
  double root = x < 1 ? 1 : x;
  while (true) {  // Newton's method falls until rounding stops it
    const double next = (root + x / root) / 2;
    if (next >= root) return root;
    root = next;
  }
}

}  // namespace tilewright::detail
