#pragma once
#include <limits>
#include <string_view>

#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright::detail {

/// Checks that a parameter is a finite number of at least `least`, and below `below`. Fails if not; the error names its owner
/// `what`.
constexpr bool check_parameter(Ir& ir, std::string_view what, std::string_view name, double value, double least = 0,
                               double below = std::numeric_limits<double>::infinity()) {
  if (value >= least && value < below) return true;  // not so for NaN
  Text end;  // no conditional operator: GCC 12 destroys its temporaries twice in constant expressions
  if (below < std::numeric_limits<double>::infinity()) end = text(", and below ", number_text(below), ",");
  ir.fail(
      text(what, ": ", name, " ", number_text(value), ": a finite number of at least ", number_text(least), end, " expected"));
  return false;
}
/// Checks that a parameter is a finite number above 0; fails if not.
constexpr bool check_above_0(Ir& ir, std::string_view what, std::string_view name, double value) {
  if (value > 0 && value - value == 0) return true;
  ir.fail(text(what, ": ", name, " ", number_text(value), ": a finite number above 0 expected"));
  return false;
}
/// Checks a parameter that may be a tensor. The numbers of a tensor are known in a run only, so they are not checked.
constexpr bool check_parameter(Ir& ir, std::string_view what, std::string_view name, const NumberOrTensor& value,
                               double least = 0, double below = std::numeric_limits<double>::infinity()) {
  return value.tensor || value.spec || check_parameter(ir, what, name, value.number, least, below);
}

}  // namespace tilewright::detail
