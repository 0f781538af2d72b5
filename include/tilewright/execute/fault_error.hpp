#pragma once
#include <stdexcept>

namespace tilewright {

/// Thrown when a run has met values with which an op cannot compute. The text names the op, one of the values, their number, what
/// the op expects, and the op's place in the model. The run continued to its end with another value in their place.
class FaultError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

}  // namespace tilewright
