#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/session/one_object/unchanged_variables.hpp"

namespace tilewright::detail {

/// Places of the variables of several programs in one memory: variables with the same name are one variable. `Tables`: the
/// StaticProgram of each. Variables in remote memory are not shared.
template <UnchangedVariables unchanged, class... Tables>
struct SharedVariables {
  static constexpr std::size_t count = sizeof...(Tables), most = (std::max)({std::size_t{1}, Tables::variables.size()...});

  struct Places {
    std::array<std::array<bool, most>, count> is_read_only{};  ///< by program and variable, whether it is in read-only memory
    std::array<std::array<std::int64_t, most>, count> variables{};  ///< in bytes; of read-only variables their number
    std::array<std::array<bool, most>, count> is_first{};  ///< whether no earlier program has the variable
    std::array<std::int64_t, count> first_kept{};  ///< where a program's kept tensors begin
    std::array<std::int64_t, count> kept{};  ///< distance that they move
    std::int64_t bytes = 0;
    std::int64_t read_only_count = 0, read_only_bytes = 0;
  };

 private:
  /// Finds a variable of a program that comes before program p.
  static constexpr bool find(std::size_t p, std::string_view name, const TensorSpec& spec, const Places& result,
                             std::int64_t& offset) {
    std::size_t q = 0;
    bool found = false;
    const auto look = [&]<class T>() {
      for (std::size_t v = 0; q < p && !found && v < T::variables.size(); ++v) {
        if (T::variables[v].base != internal::Base::variable || T::plan.variable_name(v) != name) continue;
        if (T::variables[v].spec != spec)
          TW_THROW TraceError(text("programs: variable '", name, "' is ", to_text(T::variables[v].spec), " and ", to_text(spec),
                                   ": one spec in all programs expected")
                                  .string());
        offset = result.variables[q][v];
        found = true;
      }
      ++q;
    };
    (look.template operator()<Tables>(), ...);
    return found;
  }
  /// Returns whether variables with this name are in read-only memory: no program writes them.
  static constexpr bool is_read_only(std::string_view name) {
    bool result = unchanged == UnchangedVariables::read_only;
    const auto look = [&]<class T>() {
      if constexpr (unchanged == UnchangedVariables::read_only) {
        constexpr auto is_unchanged = UnchangedFinder<T::plan>().find();
        for (std::size_t v = 0; v < is_unchanged.size(); ++v)
          result = result && (is_unchanged[v] || T::plan.variable_name(v) != name);
      }
    };
    (look.template operator()<Tables>(), ...);
    return result;
  }
  template <class T>
  static constexpr void place(Places& result, std::size_t p) {
    std::int64_t end = 0;  // of the variables in the plan; kept tensors follow
    for (std::size_t v = 0; v < T::variables.size(); ++v) {
      const auto& variable = T::variables[v];
      result.is_first[p][v] = true;
      if (variable.base != internal::Base::variable) continue;
      end = (std::max)(end, internal::align(variable.offset + variable.spec.bytes()));
      const bool is_fixed = result.is_read_only[p][v] = is_read_only(T::plan.variable_name(v));
      if (find(p, T::plan.variable_name(v), variable.spec, result, result.variables[p][v])) {
        result.is_first[p][v] = false;
      } else if (is_fixed) {
        result.variables[p][v] = result.read_only_count++;
        result.read_only_bytes += variable.spec.bytes();
      } else {
        result.variables[p][v] = result.bytes;
        result.bytes += internal::align(variable.spec.bytes());
      }
    }
    result.first_kept[p] = result.bytes;
    result.kept[p] = result.bytes - end;
    result.bytes += internal::align(T::plan.memory.variables) - end;
  }

 public:
  static constexpr Places places = [] {
    Places result;
    std::size_t p = 0;
    (place<Tables>(result, p++), ...);
    return result;
  }();
  static constexpr std::int64_t bytes = places.bytes;
  static constexpr std::size_t stream_count = (std::max)({Tables::plan.streams.size()...});

  /// Returns the locations of a program's operands in this memory. Read-only variables are at pointers behind those of streams.
  template <std::size_t p>
  static constexpr auto locations() {
    using T = std::tuple_element_t<p, std::tuple<Tables...>>;
    auto result = T::plan.locations;
    for (internal::Location& location : result) {
      if (location.base != internal::Base::variable) continue;
      std::int64_t moved = location.offset + places.kept[p];
      bool is_kept = true;
      for (std::size_t v = 0; v < T::variables.size(); ++v) {
        const auto& variable = T::variables[v];
        const std::int64_t from_variable = location.offset - variable.offset;
        if (variable.base != internal::Base::variable || from_variable < 0 ||
            from_variable >= (std::max)(std::int64_t{1}, variable.spec.bytes()))
          continue;
        is_kept = false;
        if (places.is_read_only[p][v]) {
          location = {internal::Base::stream, static_cast<int>(stream_count) + static_cast<int>(places.variables[p][v]), 0};
          moved = from_variable;
          break;
        }
        moved = places.variables[p][v] + from_variable;
      }
      if (is_kept && moved < places.first_kept[p])
        TW_THROW std::logic_error("programs: a kept tensor between variables: all behind them expected");
      location.offset = moved;
    }
    return result;
  }
};

}  // namespace tilewright::detail
