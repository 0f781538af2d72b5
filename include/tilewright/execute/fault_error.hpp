#pragma once
#include <stdexcept>

namespace tilewright {

/// A run met values that an op cannot compute with. The text names the op, one of the values, how many there were, what the op
/// expects, and the op's place in the model. The run went on to its end with another value in their place.
class FaultError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

}  // namespace tilewright
