#pragma once
// The programs of benchmarks/workloads whose balance is looked at, planned at run time: some are dear for compilers.
#include <string_view>

#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "../workloads/cnn.hpp"
#include "../workloads/encoder.hpp"
#include "../workloads/gpt_124m.hpp"
#include "../workloads/gpt_llmc.hpp"
#include "../workloads/gpt_nano.hpp"

namespace balance {

/// Traces and plans a program for the host, or for as many tiles.
template <class Build>
tw::Plan plan(const Build& build, const tw::Target& target) {
  return tw::lower(tw::prepare(*tw::trace(build, target), target));
}
/// Plans a workload of suite.py by its name. An empty plan for others.
inline tw::Plan plan_of(std::string_view workload, const tw::Target& target) {
  if (workload == "W1") return plan(train_step<Net, 8, 28, 28>, target);
  if (workload == "W2") return plan(test_step<Net, 80, 28, 28>, target);
  if (workload == "W4") return plan(forward_and_backward<EncoderBlock>, target);
  if (workload == "W5") return plan(train_step<ConvolutionalNet, 32, 1, 28, 28>, target);
  if (workload == "W7") return plan(gpt_step<nano, nano_batch, nano_parameters>, target);
  if (workload == "W8") return plan(gpt_step<gpt2, 1, parameters>, target);
  if (workload == "W9") return plan(llmc_step, target);
  return {};
}

}  // namespace balance
