#pragma once
// Plans random programs when the test runs, verifies what each pass of the planner gives, and proves the plans.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "fused_calls.hpp"
#include "program.hpp"
#include "tilewright/verified/lower_verified.hpp"

namespace random_programs {

/// Prints a line for each plan of a program of the seeds [first, first + count) that breaks the contract of a pass, is not
/// proven, or has an error; and for each program of calls that is wrong.
inline void verify_plans(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    for (const bool gradients : {false, true})
      for (const bool on_ipu : {false, true}) {
        try {
          const tw::Target target = on_ipu ? tw::ipu_model : tw::cpu;
          const auto program = [&](Ir& ir) { add_program(ir, seed, "s.", {.gradients = gradients}); };
          tw::lower_verified(tw::prepare(*tw::trace(program, target), target));
        } catch (const tw::TraceError& error) {
          std::printf("seed %llu%s, %s: %s\n", static_cast<unsigned long long>(seed), gradients ? ", gradients" : "",
                      on_ipu ? "ipu_model" : "cpu", error.what());
        }
      }
  const ProgramsWithMovedOps moved = check_fused_calls(first, count);
  if (count >= 1000 && std::min(moved.behind, 3 * moved.before) < static_cast<int>(count) / 10)
    std::printf("hardly any ops move into called graphs: in %d programs from behind calls, in %d from before them\n",
                moved.behind, moved.before);
}

}  // namespace random_programs
