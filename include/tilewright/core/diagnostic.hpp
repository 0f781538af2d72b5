#pragma once
#include "tilewright/core/requirements.hpp"

#include <stdexcept>

namespace tilewright {

/// An error in a model, found while it is traced: the text says op, given, expected and the module path.
/// Thrown by traces at run time; in a trace at compile time the text becomes a compile error.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tilewright
