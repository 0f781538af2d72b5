#pragma once
#include <atomic>
#include <string_view>

#include "tilewright/core/log/logger.hpp"
#include "tilewright/execute/program_view.hpp"

namespace tilewright::internal {

/// Logs a warning if the program is compiled without optimisation: for the first session of the process whose logger shows
/// warnings.
[[gnu::cold]] inline void warn_without_optimisation(const Logger& logger, bool optimised) {
  static std::atomic<bool> is_warned = false;
  if (!optimised && logger.shows(LogLevel::warn) && !is_warned.exchange(true))
    logger.write(LogLevel::warn,
                 "session: compiled without optimisation, so kernels run about a hundred times slower: -O3 expected");
}

/// Logs the machine, the size and the threads of a new session. `threads`: the number that the user gave, or 0. `optimised`:
/// whether the program's kernels are.
[[gnu::cold]] inline void log_session(const Logger& logger, const ProgramView& program, std::string_view device, int threads,
                                      int most_threads, bool optimised) {
  warn_without_optimisation(logger, optimised);
  logger.write(LogLevel::info, "session on ", device, ": ", program.steps.size(), " steps; bytes: ", program.memory.variables,
               " of variables, ", program.memory.constants, " of constants, ", program.memory.frame, " of others, ",
               program.memory.remote, " remote; threads: ", threads > 0 ? "" : "up to ", most_threads);
}

}  // namespace tilewright::internal
