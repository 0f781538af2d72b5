#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

#include "tilewright/core/optional_number.hpp"
#include "tilewright/core/random/square_root.hpp"
#include "tilewright/graph/initialiser.hpp"

namespace tilewright::layers::detail {

/// Returns the uniform initialiser within 1 / sqrt(count). PyTorch's linear layers and convolutions use it, where count is the
/// number of inputs of one result (torch.nn.init.kaiming_uniform_ with a = sqrt(5)). Its recurrent layers use it with the number
/// of units.
constexpr Initialiser within_root(std::int64_t count) {
  const double bound = 1 / tilewright::detail::square_root(static_cast<double>(count > 0 ? count : 1));
  return uniform(-bound, bound);
}
/// Returns the uniform initialiser within sqrt(6 / (inputs + outputs)): torch.nn.init.xavier_uniform_ ("Understanding the
/// difficulty of training deep feedforward neural networks", 2010).
constexpr Initialiser xavier_uniform(std::int64_t inputs, std::int64_t outputs) {
  const double bound = tilewright::detail::square_root(6 / static_cast<double>(inputs + outputs));
  return uniform(-bound, bound);
}

}  // namespace tilewright::layers::detail
