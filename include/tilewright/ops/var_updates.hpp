#pragma once
// The updates of optimisers' variables.
#include "tilewright/ops/accumulate.hpp"
#include "tilewright/ops/adam.hpp"
#include "tilewright/ops/lamb.hpp"
