#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

namespace detail {
/// Returns a + b or a * b of numbers of at least 0; the largest number if the result is larger.
constexpr std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t largest = (std::numeric_limits<std::int64_t>::max)();
  return a > largest - b ? largest : a + b;
}
constexpr std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t largest = (std::numeric_limits<std::int64_t>::max)();
  return a != 0 && b > largest / a ? largest : a * b;
}
}  // namespace detail

/// A number of one module, such as its FLOPs or its parameters.
struct ModuleFigure {
  Text module{};           ///< path of the module
  std::int64_t value = 0;  ///< without modules inside it
};

/// Numbers by module, in the order in which the modules were added. Sums beyond 64 bits stay at the largest number.
class ModuleFigures {
 public:
  /// Adds to the number of a module.
  constexpr void add(std::string_view module, std::int64_t value) {
    for (ModuleFigure& figure : figures_)
      if (figure.module == module) {
        figure.value = detail::bounded_sum(figure.value, value);
        return;
      }
    ModuleFigure figure;
    figure.module = module;
    figure.value = value;
    figures_.push_back(std::move(figure));
  }
  /// Returns the sum over all modules.
  constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (const ModuleFigure& figure : figures_) sum = detail::bounded_sum(sum, figure.value);
    return sum;
  }
  /// Returns the number of a module and of all modules inside it; 0 for an unknown path: `figures.of("blocks.0")`.
  constexpr std::int64_t of(std::string_view module) const {
    std::int64_t sum = 0;
    for (const ModuleFigure& figure : figures_)
      if (is_inside(figure.module.view(), module)) sum = detail::bounded_sum(sum, figure.value);
    return sum;
  }
  constexpr std::size_t size() const { return figures_.size(); }
  constexpr auto begin() const { return figures_.begin(); }
  constexpr auto end() const { return figures_.end(); }

 private:
  static constexpr bool is_inside(std::string_view path, std::string_view module) {
    if (!path.starts_with(module)) return false;
    return path.size() == module.size() || path[module.size()] == '.' || path[module.size()] == '/';
  }

  List<ModuleFigure> figures_;
};

}  // namespace tilewright
