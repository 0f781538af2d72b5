#pragma once
// FLOPs and parameters by module, and what session.log_figures() calls.
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/core/log/logger.hpp"
#include "tilewright/lower/figures/flops.hpp"
#include "tilewright/lower/figures/parameters.hpp"
#include "tilewright/profile/print_profile.hpp"

namespace tilewright {

/// Returns the figures as a table: module, number and share of the total, with the total in the last row. `what`: the heading of
/// the numbers, for example "FLOPs".
[[nodiscard]] inline std::string print_figures(const ModuleFigures& figures, std::string_view what) {
  const auto total = static_cast<double>(figures.total());
  std::vector<std::vector<std::string>> rows{{"module", std::string(what), "share"}};
  const auto add = [&](std::string module, std::int64_t value) {
    rows.push_back({std::move(module), detail::grouped(value), detail::percent(static_cast<double>(value), total)});
  };
  for (const auto& [module, value] : figures) add(module.string(), value);
  add("total", figures.total());
  return detail::number_table(std::move(rows), 1, 3);
}

namespace detail {
inline void log_module_figures(const Logger& logger, const ModuleFigures& figures, std::string_view what) {
  for (const auto& [module, value] : figures) logger.write(LogLevel::info, module.view(), ": ", value, " ", what);
  logger.write(LogLevel::info, "total: ", figures.total(), " ", what);
}
}  // namespace detail

/// Logs the FLOPs of one run on one replica, and the parameters, by module: a line for each module and one for the total. The
/// lines have the level INFO and the log's module `figures`. Traces the program again, unless the level hides the lines. A
/// program's session calls it: `session.log_figures()`.
template <class Build>
void log_figures(const Build& build, const Target& target, const Logger& logger) {
  const Logger figures = logger.of(LogModule::figures);
  if (!figures.shows(LogLevel::info)) return;
  Ir ir;
  trace_for(target, build, ir);
  detail::log_module_figures(figures, evaluate_flops(ir.main_graph()).modules(), "FLOPs");
  detail::log_module_figures(figures, count_parameters(ir), "parameters");
}

}  // namespace tilewright
