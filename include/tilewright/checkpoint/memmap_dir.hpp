#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/checkpoint/mapped_npy.hpp"
#include "tilewright/core/name_pattern.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/session/given_array.hpp"

namespace tilewright {

/// Options of memmap_dir.
struct MemmapOptions {
  std::vector<std::string_view> only{};  ///< patterns of variables, such as "encoder.*"; empty: all
  bool read_only_if_exists = false;  ///< whether files that exist are mapped read-only; otherwise shared
};

/// Returns a file `folder/NAME.npy` for each variable of a program, as the variable's host copy in a session: what
/// weights_to_host copies goes to the file, and the next session begins with it. A file that does not exist is created, in a
/// folder that is created too, and the session writes the variable's initial values to it. Throws std::invalid_argument for a
/// pattern that matches no variable, and LoadError as map_npy and create_npy do; also for a variable of given() without a file.
///
///     tw::Session<train_step> session({.arrays = tw::memmap_dir<train_step>("weights")});
template <auto build, Target machine = cpu>
std::vector<GivenArray> memmap_dir(const std::filesystem::path& folder, const MemmapOptions& options = {}) {
  const internal::ProgramView program = internal::Program<build, machine>::view();
  const auto matches = [&](std::string_view pattern) {
    return [&program, pattern](const internal::FrozenVariable& variable) {
      return detail::matches_pattern(pattern, program.text(variable.name));
    };
  };
  for (const std::string_view pattern : options.only)
    if (std::ranges::none_of(program.variables, matches(pattern)))
      throw std::invalid_argument("memmap_dir: '" + std::string(pattern) + "': a pattern of variables' names expected");

  std::filesystem::create_directories(folder);
  std::vector<GivenArray> arrays;
  for (std::size_t v = 0; v < program.variables.size(); ++v) {
    const internal::FrozenVariable& variable = program.variables[v];
    const bool is_chosen = std::ranges::any_of(options.only, [&](auto pattern) { return matches(pattern)(variable); });
    if (!options.only.empty() && !is_chosen) continue;
    const std::string_view name = program.text(variable.name);
    const std::filesystem::path path = folder / (std::string(name) + ".npy");
    if (variable.is_given || exists(path))
      arrays.emplace_back(name, map_npy(path, options.read_only_if_exists ? MapMode::read_only : MapMode::shared));
    else arrays.emplace_back(name, create_npy(path, host_spec(program, v)), true);
  }
  return arrays;
}

}  // namespace tilewright
