#pragma once

namespace tilewright {

/// A number, or none, in options that are template arguments, where std::optional cannot be: `.std = 0.02`.
struct OptionalNumber {
  double value = 0;    ///< 0 if there is none
  bool given = false;  ///< whether there is one

  constexpr OptionalNumber() = default;
  constexpr OptionalNumber(double number) : value(number), given(true) {}
};

}  // namespace tilewright
