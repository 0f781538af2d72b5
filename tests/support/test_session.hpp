#pragma once
#include "tilewright/tilewright.hpp"

namespace support {

/// Strict mode if the environment has TILEWRIGHT_STRICT=1, as CTest gives it to strict/NAME.
tilewright::StrictMode asked_strict_mode();

template <tilewright::Target machine>
tilewright::SessionOptions with_asked_mode(tilewright::SessionOptions options) {
  if constexpr (machine.ipu != nullptr) options.strict = asked_strict_mode();
  return options;
}

}  // namespace support

/// A session that runs in strict mode if the environment asks for it and the machine is a simulated IPU.
template <auto build, tilewright::Target machine>
struct TestSession : tilewright::Session<build, machine> {
  explicit TestSession(const tilewright::SessionOptions& options = {})
      : tilewright::Session<build, machine>(support::with_asked_mode<machine>(options)) {}
};
