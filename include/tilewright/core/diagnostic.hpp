#pragma once
#include "tilewright/core/requirements.hpp"

#include <stdexcept>

namespace tilewright {

/// An error in a model, found during its trace. The text has op, given, expected and the module path. Traces at run time throw
/// it; in a trace at compile time the text becomes a compile error.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tilewright
