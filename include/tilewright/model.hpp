#pragma once
// What models and graphs are written with, without sessions and planners: a file that includes this alone is traced in half the
// time that tilewright.hpp takes. tilewright/check.hpp checks such a file.
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/memory/print_tensor.hpp"
#include "tilewright/silent_model.hpp"
