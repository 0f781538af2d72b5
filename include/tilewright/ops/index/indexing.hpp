#pragma once
// Ops with indices that are known in the run.
#include "tilewright/ops/index/dynamic_slice.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/index/onehot.hpp"
#include "tilewright/ops/index/scatter.hpp"
