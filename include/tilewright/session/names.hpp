#pragma once
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright {

namespace detail {
/// Stops the compilation with what a captureless lambda returns as text.
template <auto make>
constexpr void report_text() {
  report<make().size(), make>();
}
}  // namespace detail

/// Looks up names of a frozen plan while the program compiles; every failure is a compile error that says what there is.
template <const auto& plan>
struct PlanNames {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  template <NameText name>
  static consteval std::size_t output() {
    constexpr std::size_t found = find_stream(name.view(), StreamDirection::device_to_host);
    if constexpr (found == none)
      detail::report_text<[] {
        return text("outputs: no stream '", name.view(), "' to the host: ", stream_names(StreamDirection::device_to_host), " expected");
      }>();
    return found == none ? 0 : found;
  }
  template <class InputName>
  static consteval std::size_t input() {
    constexpr std::size_t found = find_stream(InputName::view(), StreamDirection::host_to_device);
    if constexpr (found == none)
      detail::report_text<[] {
        return text("run: no stream '", InputName::view(), "' that the program loads from: ",
                    stream_names(StreamDirection::host_to_device), " expected");
      }>();
    return found == none ? 0 : found;
  }
  template <NameText name>
  static consteval std::size_t variable() {
    constexpr std::size_t found = find_variable(name.view());
    if constexpr (found == none)
      detail::report_text<[] {
        return text("variables: no variable '", name.view(), "': one of ", variable_names(""), " expected");
      }>();
    return found == none ? 0 : found;
  }
  /// Every input given once.
  template <class... Given>
  static consteval void check_inputs() {
    constexpr std::size_t missing = missing_input<Given...>();
    if constexpr (missing != none)
      detail::report_text<[] {
        return text("run: input '", plan.stream_name(missing), "' is missing or given twice: each of ",
                    stream_names(StreamDirection::host_to_device), " once expected");
      }>();
  }
  /// The dtype, and the shape where the type fixes it.
  template <class Array, class GivenName, DType dtype, Shape shape>
  static consteval void check_array() {
    constexpr DType given = detail::host_dtype<Array>();
    if constexpr (given != dtype)
      detail::report_text<[] {
        return text("run: '", GivenName::view(), "' is ", to_text(given), ": ", to_text(dtype), " expected");
      }>();
    constexpr auto fixed = detail::static_shape<Array>();
    if constexpr (fixed.has_value() && fixed != shape)
      detail::report_text<[] {
        return text("run: '", GivenName::view(), "' has shape ", to_text(*detail::static_shape<Array>()), ": ", to_text(shape), " expected");
      }>();
  }

  static consteval std::size_t find_stream(std::string_view name, StreamDirection direction) {
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].direction == direction && plan.streams[i].used && plan.stream_name(i) == name) return i;
    return none;
  }
  static consteval std::size_t find_variable(std::string_view name) {
    for (std::size_t i = 0; i < plan.variables.size(); ++i)
      if (plan.variable_name(i) == name) return i;
    return none;
  }
  /// Whether there are variables `path.x`.
  static consteval bool is_subtree(std::string_view path) {
    for (std::size_t i = 0; i < plan.variables.size(); ++i) {
      const auto name = plan.variable_name(i);
      if (name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.') return true;
    }
    return false;
  }
  static constexpr Text stream_names(StreamDirection direction) {
    std::vector<Text> names;
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].direction == direction && plan.streams[i].used) names.push_back(plan.stream_name(i));
    return join(names, ", ");
  }
  static constexpr Text variable_names(std::string_view prefix) {
    std::vector<Text> names;
    for (std::size_t i = 0; i < plan.variables.size(); ++i)
      if (plan.variable_name(i).starts_with(prefix)) names.push_back(plan.variable_name(i));
    return join(names, ", ");
  }

  /// A Boost.Hana map from the variables' names to f(index).
  template <class F>
  static auto map_variables(F f) {
    return [&]<std::size_t... v>(std::index_sequence<v...>) {
      return boost::hana::make_map(boost::hana::make_pair(key<v>(), f(std::integral_constant<std::size_t, v>()))...);
    }(std::make_index_sequence<plan.variables.size()>{});
  }
  /// A Boost.Hana string as a NameText.
  template <class Key>
  static consteval auto name_of_key() {
    return []<char... c>(boost::hana::string<c...>) {
      constexpr char characters[] = {c..., '\0'};
      return NameText<sizeof...(c) + 1>(characters);
    }(Key{});
  }

 private:
  template <std::size_t v>
  static constexpr auto key() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return boost::hana::string<plan.variable_name(v)[i]...>{};
    }(std::make_index_sequence<plan.variable_name(v).size()>{});
  }
  template <class... Given>
  static consteval std::size_t missing_input() {
    for (std::size_t i = 0; i < plan.streams.size(); ++i) {
      if (plan.streams[i].direction != StreamDirection::host_to_device || !plan.streams[i].used) continue;
      if ((0 + ... + (Given::view() == plan.stream_name(i) ? 1 : 0)) != 1) return i;
    }
    return none;
  }
};

/// The variables below a dotted path, looked up while the program compiles.
template <const auto& plan, NameText path>
class VariableTree {
 public:
  explicit VariableTree(std::byte* variables) : variables_(variables) {}

  /// A variable as an xtensor of static shape, a view of the session's memory; or the variables below it.
  template <NameText key>
  auto operator[](Name<key>) const {
    using names = PlanNames<plan>;
    constexpr auto full = joined<key>();
    if constexpr (names::is_subtree(full.view())) {
      return VariableTree<plan, full>(variables_);
    } else {
      constexpr std::size_t v = names::template variable<full>();
      return static_view<plan.variables[v].spec.dtype, plan.variables[v].spec.shape>(variables_ + plan.variables[v].offset);
    }
  }

 private:
  template <NameText key>
  static consteval auto joined() {
    constexpr std::size_t length = path.view().size() + (path.view().empty() ? 0 : 1) + key.view().size();
    char characters[length + 1]{};
    auto* end = std::ranges::copy(path.view(), characters).out;
    if (!path.view().empty()) *end++ = '.';
    std::ranges::copy(key.view(), end);
    return NameText<length + 1>(characters);
  }
  std::byte* variables_;
};

}  // namespace tilewright
