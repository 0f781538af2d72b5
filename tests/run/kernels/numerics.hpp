#pragma once
// The bounds of docs/reference/numerics.md, and the largest errors that the tests of this header's users found: on AMD EPYC (Zen
// 4, AVX-512) with GCC 12.2. tests/rules/numerics.py compares the page with these lists.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "../../catch.hpp"
#include "tilewright/kernel/copy/transpose.hpp"

namespace numerics {

struct Bound {
  std::string_view what;
  double bound, measured;
};

/// The largest error of each row, by its name.
using Errors = std::map<std::string, double, std::less<>>;

inline void note(Errors& errors, std::string_view what, double error) {
  double& largest = errors[std::string(what)];
  if (!(error <= largest)) largest = error;  // NaN counts
}

/// Each row has an error, which is within its bound, and each error has a row. A bound is no more than 8 times as large as what
/// was measured. `widest`: the bound of all rows on machines whose vectors have less than 16 floats.
template <class Rows>
void check(const Rows& rows, const Errors& errors, double widest = 0) {
  CHECK(errors.size() == rows.size());
  for (const auto& [what, bound, measured] : rows) {
    const auto found = errors.find(what);
    REQUIRE(found != errors.end());
    INFO(what << ": " << found->second << ", bound " << bound << ", measured before " << measured);
    CHECK(found->second <= (tilewright::kernel::float_width < 16 ? std::max(bound, widest) : bound));
    CHECK(measured <= bound);
    CHECK(8 * measured >= bound);
  }
}

}  // namespace numerics
