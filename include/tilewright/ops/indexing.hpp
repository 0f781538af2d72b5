#pragma once
// Ops with indices that are known in the run.
#include "tilewright/ops/dynamic_slice.hpp"
#include "tilewright/ops/gather.hpp"
#include "tilewright/ops/onehot.hpp"
#include "tilewright/ops/scatter.hpp"
