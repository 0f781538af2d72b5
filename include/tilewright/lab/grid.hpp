#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/lab/machine.hpp"

namespace tilewright::lab {

/// A program on a machine, of a grid.
struct Setting {
  std::string program;
  MachineSettings machine{};
};

namespace detail {

using nlohmann::json;

inline constexpr std::size_t most_designs = 1'000'000;

[[noreturn]] inline void fail_value(const std::string& key, const std::string& value) {
  throw std::invalid_argument("lab: " + key + " '" + value +
                              "': whole numbers divided by commas, or a range such as 64..256:64 or 64..1Ki*2, expected");
}

/// Returns a whole number with a unit prefix, if it has one: 624Ki, 8Gi, 10k, 16M, 2G.
inline std::int64_t parse_number(const std::string& key, std::string_view text, const std::string& whole) {
  struct Prefix {
    std::string_view name;
    std::int64_t factor;
  };
  constexpr Prefix prefixes[] = {{"Ki", 1 << 10}, {"Mi", 1 << 20},  {"Gi", 1 << 30},
                                 {"k", 1000},     {"M", 1'000'000}, {"G", 1'000'000'000}};
  std::int64_t factor = 1;
  for (const Prefix& prefix : prefixes)
    if (text.size() > prefix.name.size() && text.ends_with(prefix.name)) {
      factor = prefix.factor;
      text.remove_suffix(prefix.name.size());
      break;
    }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number > INT64_MAX / factor ||
      number < INT64_MIN / factor)
    fail_value(key, whole);
  return number * factor;
}

/// Adds the numbers from `from` to `to`, each greater than the last by `step`, or `factor` times it.
inline void add_range(const std::string& key, const std::string& whole, std::int64_t from, std::int64_t to, std::int64_t step,
                      std::int64_t factor, std::vector<std::int64_t>& values) {
  if (from > to || (factor > 0 ? factor < 2 || from < 1 : step < 1)) fail_value(key, whole);
  for (std::int64_t value = from; value <= to; value = factor > 0 ? value * factor : value + step) {
    values.push_back(value);
    if (values.size() > most_designs) fail_value(key, whole);
    if (value > INT64_MAX / 2 / (factor > 0 ? factor : 1)) return;
  }
}
/// Returns the numbers of a text: "368,736" or "64..256:64,1Ki".
inline std::vector<std::int64_t> parse_numbers(const std::string& key, const std::string& whole) {
  std::vector<std::int64_t> values;
  for (std::string_view rest = whole;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (const std::size_t dots = item.find(".."); dots == std::string_view::npos) {
      values.push_back(parse_number(key, item, whole));
    } else {
      const std::string_view range = item.substr(dots + 2);
      const std::size_t sign = range.find_first_of(":*");
      if (sign == std::string_view::npos) fail_value(key, whole);
      const std::int64_t by = parse_number(key, range.substr(sign + 1), whole);
      const bool multiplies = range[sign] == '*';
      add_range(key, whole, parse_number(key, item.substr(0, dots), whole), parse_number(key, range.substr(0, sign), whole),
                multiplies ? 0 : by, multiplies ? by : 0, values);
    }
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}
/// Returns the numbers of a value of a grid: a number, a text, {"from", "to", "step" or "factor"}, or a list of these.
inline std::vector<std::int64_t> numbers_of(const std::string& key, const json& value) {
  if (value.is_string()) return parse_numbers(key, value.get<std::string>());
  if (value.is_number_integer()) return {value.get<std::int64_t>()};
  std::vector<std::int64_t> values;
  if (value.is_array() && !value.empty()) {
    for (const json& each : value)
      for (const std::int64_t number : numbers_of(key, each)) values.push_back(number);
    return values;
  }
  if (!value.is_object() || value.size() != 3 || !value.contains("from") || !value.contains("to") ||
      value.contains("step") == value.contains("factor"))
    fail_value(key, value.dump());
  for (const json& each : value)
    if (!each.is_number_integer()) fail_value(key, value.dump());
  add_range(key, value.dump(), value.at("from"), value.at("to"), value.value("step", std::int64_t{0}),
            value.value("factor", std::int64_t{0}), values);
  return values;
}
inline std::vector<std::string> names_of(const std::string& key, const json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> names;
  if (value.is_array())
    for (const json& each : value)
      if (each.is_string()) names.push_back(each.get<std::string>());
  if (names.empty() || names.size() != value.size())
    throw std::invalid_argument("lab: " + key + " " + value.dump() + ": a name or a list of names expected");
  return names;
}

/// Adds all combinations of an object's values. Programs change slowest, then bases, then knobs in the order of knobs().
inline void add_grid(const json& grid, const std::vector<std::string>& programs, std::vector<Setting>& settings) {
  if (!grid.is_object())
    throw std::invalid_argument("lab: a grid " + grid.dump() + ": an object, or a list of objects, expected");
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> axes;
  std::vector<std::string> known{"program", "base"};
  for (const Knob& knob : knobs()) {
    known.push_back(knob.name);
    if (grid.contains(knob.name)) axes.push_back({knob.name, numbers_of(knob.name, grid.at(knob.name))});
  }
  for (const auto& [key, value] : grid.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw std::invalid_argument("lab: unknown key '" + key + "'" + expected_names(key, known));
  const std::vector<std::string> chosen = grid.contains("program") ? names_of("program", grid.at("program")) : programs;
  const std::vector<std::string> bases = grid.contains("base") ? names_of("base", grid.at("base"))
                                                               : std::vector<std::string>{"gc200"};
  std::size_t combinations = 1;
  for (const auto& [name, values] : axes) {
    combinations *= values.size();
    if (combinations > most_designs)
      throw std::invalid_argument("lab: a grid of more than " + std::to_string(most_designs) + " designs: fewer expected");
  }
  for (const std::string& program : chosen) {
    if (std::find(programs.begin(), programs.end(), program) == programs.end())
      throw std::invalid_argument("lab: program '" + program + "'" + expected_names(program, programs));
    for (const std::string& base : bases)
      for (std::size_t number = 0; number < combinations; ++number) {
        Setting& setting = settings.emplace_back(Setting{program, {base}});
        std::size_t rest = combinations, at = number;
        for (const auto& [name, values] : axes) {
          rest /= values.size();
          setting.machine.numbers.push_back({name, values[at / rest]});
          at %= rest;
        }
      }
  }
}

}  // namespace detail

/// Returns the programs on machines of a grid: an object whose keys are `program`, `base` and names of knobs, or a list of such
/// objects. Throws std::invalid_argument for unknown keys, programs and values.
[[nodiscard]] inline std::vector<Setting> expand_grid(const nlohmann::json& grid, const std::vector<std::string>& programs) {
  std::vector<Setting> settings;
  if (grid.is_array())
    for (const nlohmann::json& each : grid) detail::add_grid(each, programs, settings);
  else detail::add_grid(grid, programs, settings);
  if (settings.empty()) throw std::invalid_argument("lab: an empty list of grids: an object expected");
  return settings;
}

}  // namespace tilewright::lab
