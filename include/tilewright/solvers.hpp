#pragma once
// Solvers as graphs, with derivatives: docs/how-to/derivatives.md.
#include "tilewright/core/requirements.hpp"

#include "tilewright/derivatives/fixed_point.hpp"
#include "tilewright/derivatives/odeint.hpp"
#include "tilewright/derivatives/root.hpp"
