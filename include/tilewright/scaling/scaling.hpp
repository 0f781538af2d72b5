#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/scaling/clusters.hpp"
#include "tilewright/scaling/planned.hpp"
#include "tilewright/scaling/step_time.hpp"
