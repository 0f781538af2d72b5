#pragma once
#include "tilewright/core/text.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal::proof::detail {

/// A fault of a plan, and the step in which it shows.
struct Fault {
  Text what{};  ///< `rule: what was given: what was expected`; empty: nothing is wrong
  BodyId body = BodyId::none;  ///< with the step; none: the fault is in no step
  int step = -1;  ///< number of the step in its body; the number of its steps: the fault shows after the run
};

}  // namespace tilewright::internal::proof::detail
