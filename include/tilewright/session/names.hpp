#pragma once
#include <algorithm>
#include <array>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright {

namespace detail {
/// Stands for what has an unknown name: it takes everything, so that one error is all.
struct Unknown {
  Unknown operator[](const auto&) const { return {}; }
  Unknown operator()(const auto&...) const { return {}; }
  template <class T>
  operator T() const;
};
}  // namespace detail

/// Looks up names of a frozen plan while the program compiles; every failure is a compile error that says what there is.
template <const auto& plan>
struct PlanNames {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  /// False if the program is wrong: then there is nothing to say of names.
  static constexpr bool exist = !plan.bodies.empty();

  template <NameText name>
  static detail::Unknown unknown_output() {
    if constexpr (exist)
      report<[] {
        return text("outputs: no stream '", name.view(), "' to the host: ", stream_names(StreamDirection::device_to_host),
                    " expected");
      }>();
    return {};
  }
  template <NameText name>
  static detail::Unknown unknown_variable() {
    if constexpr (exist)
      report<[] { return text("variables: no variable '", name.view(), "': one of ", variable_names(), " expected"); }>();
    return {};
  }
  /// Every input given once, and nothing else.
  template <class... Given>
  static void check_inputs() {
    constexpr bool right = input_problem<Given...>().empty();
    if constexpr (!right) report<input_problem<Given...>>();
  }

  static constexpr std::size_t find_stream(std::string_view name, StreamDirection direction) {
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].direction == direction && plan.streams[i].used && plan.stream_name(i) == name) return i;
    return none;
  }
  static constexpr std::size_t find_variable(std::string_view name) {
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
  static constexpr Text variable_names() {
    std::vector<Text> names;
    for (std::size_t i = 0; i < plan.variables.size(); ++i) names.push_back(plan.variable_name(i));
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
  static constexpr Text input_problem() {
    if (!exist) return {};
    const std::array<std::string_view, sizeof...(Given)> given{Given::view()...};
    const Text expected = stream_names(StreamDirection::host_to_device);
    for (const auto name : given)
      if (find_stream(name, StreamDirection::host_to_device) == none)
        return text("run: no stream '", name, "' that the program loads from: ", expected, " expected");
    for (std::size_t i = 0; i < plan.streams.size(); ++i) {
      if (plan.streams[i].direction != StreamDirection::host_to_device || !plan.streams[i].used) continue;
      const auto count = std::ranges::count(given, plan.stream_name(i));
      if (count == 0) return text("run: no '", plan.stream_name(i), "': each of ", expected, " expected");
      if (count > 1) return text("run: '", plan.stream_name(i), "' ", count, " times: each of ", expected, " once expected");
    }
    return {};
  }
};

/// The variables below a dotted path, looked up while the program compiles.
template <const auto& plan, NameText path>
class VariableTree {
 public:
  explicit VariableTree(const VariableMemory& memory) : memory_(memory) {}

  /// A variable as an xtensor of static shape, a view of the session's memory; or the variables below it.
  template <NameText key>
  auto operator[](Name<key>) const {
    using names = PlanNames<plan>;
    constexpr auto full = joined<key>();
    if constexpr (names::is_subtree(full.view())) {
      return VariableTree<plan, full>(memory_);
    } else {
      constexpr std::size_t v = names::find_variable(full.view());
      if constexpr (v == names::none) return names::template unknown_variable<full>();
      else return static_view<plan.variables[v].spec.dtype, plan.variables[v].spec.shape>(memory_.of(plan.variables[v]));
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
  VariableMemory memory_;
};

}  // namespace tilewright
