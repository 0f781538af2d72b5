#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tilewright/graph/dot.hpp"

namespace tilewright {

namespace detail {
/// Returns whether `checks`, a list of names separated by colons or ALL, has the name. Null enables every name.
constexpr bool is_enabled_check(const char* checks, std::string_view name) {
  if (checks == nullptr) return true;
  for (std::string_view rest = checks;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view check = rest.substr(0, colon);
    if (check == name || check == "ALL") return true;
    if (colon == rest.npos) return false;
    rest.remove_prefix(colon + 1);
  }
}
inline void write_dot(const Ir& ir, std::string_view name, std::string_view folder) {
  if (!is_enabled_check(std::getenv("TILEWRIGHT_DOT_CHECKS"), name)) return;
  const auto path = std::filesystem::path(folder) / (std::string(name) + ".dot");
  std::error_code ignored;  // opening the file fails, too
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path);
  file << to_dot(ir) << std::flush;
  if (!file) throw std::runtime_error("dot_checkpoint: cannot write '" + path.string() + "'");
}
}  // namespace detail

/// Writes all graphs in their current state to `<folder>/<name>.dot` if the environment variable TILEWRIGHT_DOT_CHECKS has the
/// name. The variable is a list such as BEFORE:AFTER, or ALL. Without the variable every checkpoint is written; if it is empty,
/// none is. Only a trace at run time (`tw::trace`) writes. In a trace at compile time, the call only checks the name, which must
/// be a file name without `:` and `/`. Creates the folder if it is missing. Throws std::runtime_error for a file that cannot be
/// written.
constexpr void dot_checkpoint(Ir& ir, std::string_view name, std::string_view folder = ".") {
  if (name.empty() || name.find_first_of(":/") != name.npos) {
    ir.fail(text("dot_checkpoint: '", name, "': a name without ':' and '/' expected"));
    return;
  }
  if (!std::is_constant_evaluated()) detail::write_dot(ir, name, folder);
}

}  // namespace tilewright
