#pragma once
#include <tilewright/tilewright.hpp>

#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"

/// A step of gradient descent of the tutorial's network, for 8 images.
inline constexpr auto tutorial = train_step<Net, 8, 28, 28>;
