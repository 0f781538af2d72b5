#pragma once
// Everything that every user needs, in one include. layers/, train/, data/, generate/ and the extras have headers of their own,
// so that a program does not compile what it does not use. docs/reference/stability.md says what is promised of each.
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/platform/xtensor_config.hpp"
#ifdef TILEWRIGHT_LACKS_REQUIREMENTS
#line __LINE__ "tilewright/tilewright.hpp"  // a file that GCC does not find, to show lines of it
#include "tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones"
#endif
#include "tilewright/execute/host_balance.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/model.hpp"
#include "tilewright/ops/authoring.hpp"
#include "tilewright/session/float8_arrays.hpp"
#include "tilewright/session/seeds.hpp"
#include "tilewright/session/session.hpp"
