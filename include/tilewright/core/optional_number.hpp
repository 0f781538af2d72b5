#pragma once

namespace tilewright {

/// An optional number for options that are template arguments, where std::optional is not allowed: `.std = 0.02`.
struct OptionalNumber {
  double value = 0;  ///< 0 if no number is given
  bool given = false;  ///< whether a number is given

  constexpr OptionalNumber() = default;
  constexpr OptionalNumber(double number) : value(number), given(true) {}
};

}  // namespace tilewright
