#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "tilewright/module/module.hpp"

namespace tilewright {

/// Base of modules that hold other modules in a tuple, which gives them names: the first module's variables are `0.weight` and so
/// on, as in torch.nn.Sequential. An element may also be an object without state, such as a lambda without captures.
template <class D, class... Elements>
class ModuleListOf : public Module<D> {
  template <class Element>
  static constexpr bool is_element = std::derived_from<Element, ModuleBase> || std::is_empty_v<Element>;
  static_assert((is_element<Elements> && ...), "a list of modules: modules, or lambdas without captures, expected");

 public:
  using ModuleTuple = std::tuple<Elements...>;

  ModuleTuple modules{};  ///< the elements in their order

  constexpr ModuleListOf() = default;
  constexpr explicit ModuleListOf(const Elements&... elements)
    requires(sizeof...(Elements) > 0)
      : modules(elements...) {}

  /// Returns element `i`, counted from 0.
  template <std::size_t i>
  constexpr auto& get() {
    static_assert(i < sizeof...(Elements), "get: a number below that of the modules expected");
    return std::get<i>(modules);
  }
  template <std::size_t i>
  constexpr const auto& get() const {
    static_assert(i < sizeof...(Elements), "get: a number below that of the modules expected");
    return std::get<i>(modules);
  }
  /// Calls f with each element, from the first to the last.
  template <class F>
  constexpr void for_each(F&& f) {
    std::apply([&f](Elements&... elements) { (static_cast<void>(f(elements)), ...); }, modules);
  }
  /// Returns the number of elements.
  static constexpr std::size_t size() { return sizeof...(Elements); }
};

/// A list of different modules: popxl.addons' Module.from_list, torch.nn.ModuleList. Member of a module, it needs a name in
/// BOOST_HANA_DEFINE_STRUCT; the variables of a list `layers` are `layers.0.weight` and so on. The list has no `build`: call its
/// elements. A std::tuple as a member has the same names.
///
///     tw::ModuleList<Linear<64>, LayerNorm<>, Linear<10>>  // in build: x = layers.get<0>(x), or
///     layers.for_each([&](auto& layer) { x = layer(x); });
template <class... Modules>
struct ModuleList : ModuleListOf<ModuleList<Modules...>, Modules...> {
  using ModuleListOf<ModuleList<Modules...>, Modules...>::ModuleListOf;
};
template <class... Modules>
ModuleList(const Modules&...) -> ModuleList<Modules...>;

/// Returns a list of modules: popxl.addons' Module.from_list.
template <class... Modules>
[[nodiscard]] constexpr ModuleList<Modules...> from_list(const Modules&... modules) {
  return ModuleList<Modules...>(modules...);
}

}  // namespace tilewright
