#pragma once
// Steps, the loop that runs them, and its progress bar.
#include "tilewright/core/requirements.hpp"

#include "tilewright/train/evaluate.hpp"
#include "tilewright/train/loop.hpp"
#include "tilewright/train/progress_bar.hpp"
#include "tilewright/train/step.hpp"
