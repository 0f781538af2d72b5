#pragma once
#include <cstdint>
#include <optional>

#include "tilewright/core/dtype.hpp"

namespace tilewright {

/// An optional dtype as an attribute of an op: one byte, so that attributes have no padding, which std::optional would add.
struct OptionalDType {
  std::uint8_t code = 0;  ///< 1 + the dtype; 0: none

  constexpr OptionalDType() = default;
  constexpr OptionalDType(DType dtype) : code(static_cast<std::uint8_t>(1 + static_cast<int>(dtype))) {}
  constexpr OptionalDType(std::optional<DType> dtype) : OptionalDType(dtype ? OptionalDType(*dtype) : OptionalDType()) {}

  constexpr bool given() const { return code != 0; }
  constexpr DType value_or(DType other) const { return given() ? static_cast<DType>(code - 1) : other; }
  friend constexpr bool operator==(OptionalDType, OptionalDType) = default;
};

}  // namespace tilewright
