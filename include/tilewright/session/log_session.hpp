#pragma once
#include <atomic>
#include <string_view>

#include "tilewright/core/logger.hpp"

namespace tilewright::internal {

/// Whether the compiler optimises the file that includes this header, by -O1 or more.
#ifdef __OPTIMIZE__
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

/// Logs a warning if the program is compiled without optimisation: for the first session of the process whose logger shows
/// warnings.
inline void warn_without_optimisation(const Logger& logger, bool optimised) {
  static std::atomic<bool> is_warned = false;
  if (!optimised && logger.shows(LogLevel::warn) && !is_warned.exchange(true))
    logger.write(LogLevel::warn,
                 "session: compiled without optimisation, so kernels run about a hundred times slower: -O3 expected");
}

/// Logs the machine, the size and the threads of a new session. `threads`: the number that the user gave, or 0.
template <const auto& plan>
void log_session(const Logger& logger, std::string_view device, int threads, int most_threads) {
  warn_without_optimisation(logger, is_optimised);
  logger.write(LogLevel::info, "session on ", device, ": ", plan.steps.size(), " steps; bytes: ", plan.memory.variables,
               " of variables, ", plan.memory.constants, " of constants, ", plan.memory.frame, " of others, ", plan.memory.remote,
               " remote; threads: ", threads > 0 ? "" : "up to ", most_threads);
}

}  // namespace tilewright::internal
