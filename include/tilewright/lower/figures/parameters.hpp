#pragma once
#include <string_view>

#include "tilewright/core/figures/module_figures.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/module/named_tensors.hpp"

namespace tilewright {

namespace detail {
/// Adds a variable to its module: the part of its name before the last point or slash; `the main graph` without one.
constexpr void add_parameter(ModuleFigures& figures, std::string_view name, Tensor variable) {
  const std::size_t end = name.find_last_of("./");
  const Shape whole = variable.meta_shape() ? *variable.meta_shape() : variable.shape();
  figures.add(end == name.npos ? "the main graph" : name.substr(0, end), whole.nelms());
}
}  // namespace detail

/// Counts the elements of variables by module, for example those that `factories.init()` returns. A sharded variable counts with
/// all its elements. Each variable counts once, not once for each replica.
///
///     const auto parameters = tw::count_parameters(factories.init());
///     std::cout << tw::print_figures(parameters, "parameters");
constexpr ModuleFigures count_parameters(const NamedTensors& variables) {
  ModuleFigures result;
  for (const auto& [name, variable] : variables.named_tensors()) detail::add_parameter(result, name.view(), variable);
  return result;
}
/// Counts the elements of all variables of a program by module, from their names. The state of an optimiser counts as well.
constexpr ModuleFigures count_parameters(Ir& ir) {
  ModuleFigures result;
  for (const Tensor variable : ir.main_graph().variables()) detail::add_parameter(result, variable.name(), variable);
  return result;
}

}  // namespace tilewright
