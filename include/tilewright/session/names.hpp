#pragma once
#include <algorithm>
#include <array>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"

namespace tilewright {

namespace detail {
/// Placeholder for an object with an unknown name. It accepts everything, so that there is only one error.
struct Unknown {
  Unknown operator[](const auto&) const { return {}; }
  Unknown operator()(const auto&...) const { return {}; }
  template <class T>
  operator T() const;
  // What a view of a tensor has, for code such as a loop over its elements.
  const float* data() const { return nullptr; }
  const float* begin() const { return nullptr; }
  const float* end() const { return nullptr; }
  std::size_t size() const { return 0; }
  std::size_t dimension() const { return 0; }
  std::size_t shape(const auto&...) const { return 0; }
};
/// Fails for a text in place of a Name, because the compiler must know the names.
auto require_name(const auto& text) {
  static_assert(sizeof(text) == 0, "a name with _s, such as \"loss\"_s, after `using namespace tilewright::literals`, expected");
  return Unknown();
}
}  // namespace detail

/// Looks up names of a frozen plan while the program compiles. Every failure is a compile error that lists the known names.
template <const auto& plan>
struct PlanNames {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  /// False if the program is wrong, so that errors about names would be misleading.
  static constexpr bool exist = !plan.bodies.empty();

  template <NameText name>
  static auto unknown_output() {
    if constexpr (exist) {
      constexpr auto message = [] {
        return text("outputs: no stream '", name.view(), "' to the host: ", one_of_streams(false, true), " expected");
      };
      Report<message>();
    }
    return detail::Unknown();
  }
  template <NameText what, NameText name>
  static auto no_stream() {
    if constexpr (exist) {
      constexpr auto message = [] {
        return text(what.view(), ": no stream '", name.view(), "' that the program uses: ", one_of_streams(true, true),
                    " expected");
      };
      Report<message>();
    }
    return detail::Unknown();
  }
  template <NameText what, NameText name>
  static auto no_variable() {
    constexpr auto message = [] { return tensor_problem(what.view(), name.view(), false); };
    if constexpr (exist) Report<message>();
    return detail::Unknown();
  }
  template <NameText what, NameText name>
  static auto no_variable_or_constant() {
    constexpr auto message = [] { return tensor_problem(what.view(), name.view(), true); };
    if constexpr (exist) Report<message>();
    return detail::Unknown();
  }
  /// Checks that the arguments of `run` are the streams from the host, each given exactly once.
  template <class... Given>
  static void check_inputs() {
    constexpr auto problem = [] { return stream_problem("run", {Given::view()...}, true, false); };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }
  /// Checks that the arguments of `run_with_outputs` are all streams, each given exactly once. If `all_outputs` is true, one
  /// object holds all streams to the host, and only the streams from the host are checked.
  template <bool all_outputs, class... Given>
  static void check_inputs_and_outputs() {
    constexpr auto problem = [] { return stream_problem("run_with_outputs", {Given::view()...}, true, !all_outputs); };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }

  /// Checks that `load_from_session` finds every variable in the plan of another session.
  template <const auto& source, NameText prefix>
  static void check_source() {
    constexpr auto problem = [] { return source_problem<source>("load_from_session", prefix.view()); };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }

  /// Returns a stream that the program uses.
  static constexpr std::size_t find_stream(std::string_view name) {
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].used && plan.stream_name(i) == name) return i;
    return none;
  }
  static constexpr std::size_t find_stream(std::string_view name, StreamDirection direction) {
    const std::size_t found = find_stream(name);
    return found != none && plan.streams[found].direction == direction ? found : none;
  }
  static constexpr std::size_t find_variable(std::string_view name) {
    for (std::size_t i = 0; i < plan.variables.size(); ++i)
      if (plan.variable_name(i) == name) return i;
    return none;
  }
  /// Returns the variable `prefix.name`, or `name` without a prefix.
  static constexpr std::size_t find_variable(std::string_view prefix, std::string_view name) {
    for (std::size_t i = 0; !prefix.empty() && i < plan.variables.size(); ++i) {
      const std::string_view known = plan.variable_name(i);
      if (known.size() == prefix.size() + 1 + name.size() && known.starts_with(prefix) && known[prefix.size()] == '.' &&
          known.ends_with(name))
        return i;
    }
    return find_variable(name);
  }
  /// Returns the index of each variable in another plan.
  template <const auto& source, NameText prefix>
  static consteval auto find_variables() {
    std::array<std::size_t, plan.variables.size()> found{};
    for (std::size_t v = 0; v < found.size(); ++v)
      found[v] = PlanNames<source>::find_variable(prefix.view(), plan.variable_name(v));
    return found;
  }
  static constexpr std::size_t find_constant(std::string_view name) {
    for (std::size_t i = 0; i < plan.constants.size(); ++i)
      if (plan.constants[i].name.count > 0 && plan.constant_name(i) == name) return i;
    return none;
  }
  /// Returns whether there are variables `path.x`.
  static constexpr bool is_subtree(std::string_view path) {
    for (std::size_t i = 0; i < plan.variables.size(); ++i) {
      const auto name = plan.variable_name(i);
      if (name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.') return true;
    }
    return false;
  }

  /// Returns a Boost.Hana map from the variables' names to f(index).
  template <class F>
  static auto map_variables(F f) {
    return [&]<std::size_t... v>(std::index_sequence<v...>) {
      return boost::hana::make_map(
          boost::hana::make_pair(name_of_variable<v>().key(), f(std::integral_constant<std::size_t, v>()))...);
    }(std::make_index_sequence<plan.variables.size()>{});
  }
  /// Returns a Boost.Hana string as a NameText.
  template <class Key>
  static consteval auto name_of_key() {
    return []<char... c>(boost::hana::string<c...>) {
      constexpr char characters[] = {c..., '\0'};
      return NameText<sizeof...(c) + 1>(characters);
    }(Key{});
  }

  /// Returns the name of a variable in the form of `"fc1.weight"_s`.
  template <std::size_t v>
  static constexpr auto name_of_variable() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      constexpr char characters[] = {plan.variable_name(v)[i]..., '\0'};
      return Name<NameText<sizeof...(i) + 1>(characters)>();
    }(std::make_index_sequence<plan.variable_name(v).size()>{});
  }

 private:
  static constexpr bool is_expected(std::size_t stream, bool inputs, bool outputs) {
    return plan.streams[stream].used && (plan.streams[stream].direction == StreamDirection::host_to_device ? inputs : outputs);
  }
  static constexpr Text names_of_streams(bool inputs, bool outputs) {
    List<Text> names;
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (is_expected(i, inputs, outputs)) names.push_back(plan.stream_name(i));
    return join(names, ", ");
  }
  static constexpr Text one_of_streams(bool inputs, bool outputs) {
    Text names = names_of_streams(inputs, outputs);
    if (names.empty()) return "no streams";
    if (names.view().find(',') == std::string_view::npos) return text("'", names, "'");
    return text("one of ", names);
  }
  template <const auto& other>
  friend struct PlanNames;
  static constexpr Text tensor_problem(std::string_view what, std::string_view name, bool constants_too) {
    std::string_view is = constants_too ? "is no variable or constant" : "is no variable", advice;
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.stream_name(i) == name) is = "is a stream";
    if (find_constant(name) != none) is = "is a constant";
    List<Text> names;
    for (std::size_t i = 0; i < plan.variables.size(); ++i) names.push_back(plan.variable_name(i));
    for (std::size_t i = 0; constants_too && i < plan.constants.size(); ++i)
      if (plan.constants[i].name.count > 0) names.push_back(plan.constant_name(i));
    if (constants_too) advice = "; other tensors can be read if they are stored in a stream";
    if (names.empty()) return text(what, ": '", name, "' ", is, ": the program has none", advice);
    return text(what, ": '", name, "' ", is, ": one of ", join(names, ", "), " expected", advice);
  }
  static constexpr Text stream_problem(std::string_view what, std::initializer_list<std::string_view> given, bool inputs,
                                       bool outputs) {
    if (!exist) return {};
    const Text expected = names_of_streams(inputs, outputs);
    for (const auto name : given)
      if (const std::size_t stream = find_stream(name); stream == none || !is_expected(stream, inputs, outputs))
        return text(what, ": no stream '", name, "' that the program ", outputs ? "uses" : "loads from", ": ",
                    one_of_streams(inputs, outputs), " expected");
    for (std::size_t i = 0; i < plan.streams.size(); ++i) {
      if (!is_expected(i, inputs, outputs)) continue;
      const auto count = std::count(given.begin(), given.end(), plan.stream_name(i));
      if (count == 0) return text(what, ": no '", plan.stream_name(i), "': each of ", expected, " expected");
      if (count > 1) return text(what, ": '", plan.stream_name(i), "' ", count, " times: each of ", expected, " once expected");
    }
    return {};
  }
  template <const auto& source>
  static constexpr Text source_problem(std::string_view what, std::string_view prefix) {
    using Source = PlanNames<source>;
    if (!exist || !Source::exist) return {};
    if (!prefix.empty() && !Source::is_subtree(prefix))
      return text(what, ": no variable of the other session is called '", prefix, ".' and more: another prefix expected");
    for (std::size_t v = 0; v < plan.variables.size(); ++v) {
      const std::string_view name = plan.variable_name(v);
      const std::size_t found = Source::find_variable(prefix, name);
      if (found == none) return Source::tensor_problem(what, name, false);
      const TensorSpec given = host_spec(source, found), expected = host_spec(plan, v);
      if (given != expected) return text(what, ": '", name, "' is ", to_text(given), ": ", to_text(expected), " expected");
    }
    return {};
  }
};

}  // namespace tilewright
