#pragma once
// All optimisers and schedules.
#include "tilewright/core/requirements.hpp"

#include "tilewright/optim/adagrad.hpp"
#include "tilewright/optim/adam.hpp"
#include "tilewright/optim/clip.hpp"
#include "tilewright/optim/lamb.hpp"
#include "tilewright/optim/lion.hpp"
#include "tilewright/optim/loss_scaling.hpp"
#include "tilewright/optim/lr_scheduler.hpp"
#include "tilewright/optim/rmsprop.hpp"
#include "tilewright/optim/schedule.hpp"
#include "tilewright/optim/sgd.hpp"
