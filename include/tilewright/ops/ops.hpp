#pragma once
// All ops.
#include "tilewright/ops/activation.hpp"
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/cast.hpp"
#include "tilewright/ops/host.hpp"
#include "tilewright/ops/matmul.hpp"
#include "tilewright/ops/mean.hpp"
#include "tilewright/ops/nll_loss.hpp"
#include "tilewright/ops/scaled_add.hpp"
#include "tilewright/ops/shape.hpp"
#include "tilewright/ops/softmax.hpp"
#include "tilewright/ops/sum.hpp"
#include "tilewright/ops/unary.hpp"
