#pragma once
// Derivatives by name, as in JAX: docs/how-to/derivatives.md.
#include "tilewright/core/requirements.hpp"

#include "tilewright/derivatives/custom_rules.hpp"
#include "tilewright/derivatives/grad.hpp"
#include "tilewright/derivatives/jacobian.hpp"
#include "tilewright/derivatives/jvp.hpp"
#include "tilewright/derivatives/linearize.hpp"
#include "tilewright/derivatives/vjp.hpp"
#include "tilewright/derivatives/vmap.hpp"
