#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/checkpoint/mapped_npy.hpp"
#include "tilewright/checkpoint/partial_file.hpp"
#include "tilewright/core/flag.hpp"
#include "tilewright/core/text/name_pattern.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/given_array.hpp"

namespace tilewright {

/// Options of memmap_dir.
struct MemmapOptions {
  std::vector<std::string_view> only{};  ///< patterns of variables, such as "encoder.*"; empty: all
  Flag read_only_if_exists = false;  ///< whether files that exist are mapped read-only; otherwise shared
};

/// Returns a file `folder/NAME.npy` for each variable of a session, as the variable's host copy: what weights_to_host copies goes
/// to the file, and the next session begins with it. A file that does not exist is created, in a folder that is created too, and
/// the session writes the variable's initial values to it: the file gets its name when it has them all. Throws
/// std::invalid_argument for a pattern that matches no variable, and LoadError as map_npy and create_npy do; also for a variable
/// of given() without a file. The session's constructor throws LoadError if another process has created a file meanwhile.
///
///     using Train = tw::Session<train_step>;
///     Train session({.arrays = tw::memmap_dir<Train>("weights")});
template <class Session>
std::vector<GivenArray> memmap_dir(const std::filesystem::path& folder, const MemmapOptions& options = {}) {
  constexpr const auto& plan = Session::plan;
  const auto is_match = [](std::string_view pattern, std::size_t v) {
    return detail::matches_pattern(pattern, plan.variable_name(v));
  };
  const auto variables = std::views::iota(std::size_t{0}, plan.variables.size());
  for (const std::string_view pattern : options.only)
    if (std::ranges::none_of(variables, [&](std::size_t v) { return is_match(pattern, v); }))
      throw std::invalid_argument("memmap_dir: '" + std::string(pattern) + "': a pattern of variables' names expected");

  std::filesystem::create_directories(folder);
  const auto file_of = [](std::size_t v) { return std::string(plan.variable_name(v)) + ".npy"; };
  detail::PartialFile::remove_abandoned(folder, [&](std::string_view target) {
    return std::ranges::any_of(variables, [&](std::size_t v) { return target == file_of(v); });
  });
  std::vector<GivenArray> arrays;
  for (const std::size_t v : variables) {
    const bool is_chosen = std::ranges::any_of(options.only, [&](std::string_view pattern) { return is_match(pattern, v); });
    if (!options.only.empty() && !is_chosen) continue;
    const std::string_view name = plan.variable_name(v);
    const std::filesystem::path path = folder / file_of(v);
    if (plan.variables[v].is_given || exists(path))
      arrays.emplace_back(name, map_npy(path, options.read_only_if_exists ? MapMode::read_only : MapMode::shared));
    else {
      const auto file = std::make_shared<detail::UnnamedNpy>("memmap_dir", path, host_spec(plan, v));
      arrays.emplace_back(name, file->array(), std::make_shared<GivenArray::Publish>([file] { file->publish(); }));
    }
  }
  return arrays;
}

}  // namespace tilewright
