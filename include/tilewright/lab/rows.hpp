#pragma once
#include "tilewright/core/requirements.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tilewright/lab/design.hpp"
#include "tilewright/profile/json_text.hpp"

namespace tilewright::lab {

/// A value of a row; monostate: there is none.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A column of the rows of designs. `what` may be empty.
struct Column {
  std::string name, unit, what;
  std::function<Cell(const Design&)> cell;
};

namespace detail {

/// Adds columns. Designs for which `has_value` is false have no value there.
class ColumnList {
 public:
  ColumnList(std::vector<Column>& columns, bool (*has_value)(const Design&)) : columns_(columns), has_value_(has_value) {}

  void add(std::string name, std::string unit, std::string what, std::function<Cell(const Design&)> cell) {
    columns_.push_back({std::move(name), std::move(unit), std::move(what),
                        [cell = std::move(cell), has_value = has_value_](const Design& design) {
                          return has_value(design) ? cell(design) : Cell();
                        }});
  }
  void add(std::string name, std::string what, std::int64_t (*bytes)(const TileMemory&)) {
    add(std::move(name), "bytes", std::move(what), [bytes](const Design& design) -> Cell { return bytes(design.tile); });
  }
  void add(std::string name, std::string what, std::int64_t CycleUse::* member) {
    add(std::move(name), "cycles", std::move(what), [member](const Design& design) -> Cell { return design.cycles.*member; });
  }
  void add(std::string name, std::string unit, std::string what, std::int64_t Traffic::* member) {
    add(std::move(name), std::move(unit), std::move(what),
        [member](const Design& design) -> Cell { return design.traffic.*member; });
  }

 private:
  std::vector<Column>& columns_;
  bool (*has_value_)(const Design&);
};
inline bool is_any(const Design&) { return true; }
inline bool has_plan(const Design& design) { return design.problem.empty(); }
inline bool has_run(const Design& design) { return design.fits; }

inline void add_plan(std::vector<Column>& columns) {
  ColumnList plans(columns, has_plan);
  plans.add("limit", "text", "the largest part of the run's cycles, or of memory if it does not fit",
            [](const Design& design) -> Cell { return limit_of(design).what; });
  plans.add("limit_share", "of 1", "of that part", [](const Design& design) -> Cell { return limit_of(design).share; });
  plans.add("tile_bytes", "of the fullest tile, as `tw::peak_bytes`", [](const TileMemory& tile) { return tile.total(); });
  plans.add("tile_variables", "these and the next six are its parts", [](const TileMemory& tile) { return tile.variables; });
  plans.add("tile_constants", "", [](const TileMemory& tile) { return tile.constants; });
  plans.add("tile_frame", "", [](const TileMemory& tile) { return tile.frame; });
  plans.add("tile_padding", "", [](const TileMemory& tile) { return tile.padding; });
  plans.add("tile_code", "", [](const TileMemory& tile) { return tile.code.total(); });
  plans.add("tile_stack", "", [](const TileMemory& tile) { return tile.stack; });
  plans.add("tile_reserve", "", [](const TileMemory& tile) { return tile.reserve; });
}
inline void add_runs(std::vector<Column>& columns) {
  ColumnList runs(columns, has_run);
  runs.add("cycles", "cycles", "of a run, as `tw::cycles`", [](const Design& design) -> Cell { return design.cycles.total(); });
  runs.add("seconds", "s", "", [](const Design& design) -> Cell { return design.seconds(); });
  runs.add("seconds_least", "s", "`seconds` as the program's kinds of steps were compared with others' figures, at the best",
           [](const Design& design) -> Cell { return design.seconds() * design.range.least; });
  runs.add("seconds_most", "s", "at the worst",
           [](const Design& design) -> Cell { return design.seconds() * design.range.most; });
  runs.add("cycles_compute", "these and the next seven are its parts", &CycleUse::compute);
  runs.add("cycles_exchange", "", &CycleUse::exchange);
  runs.add("cycles_sync", "", &CycleUse::sync);
  runs.add("cycles_host", "", &CycleUse::host);
  runs.add("cycles_remote", "", &CycleUse::remote);
  runs.add("cycles_collectives", "", &CycleUse::collectives);
  runs.add("cycles_links", "", &CycleUse::links);
  runs.add("cycles_waiting", "", &CycleUse::waiting);
  runs.add("cycles_assumed", "of all, what rests on assumed or recalled numbers", &CycleUse::assumed);
  const std::string operations = "operations", bytes = "bytes";
  runs.add("operations_float16", operations, "of products: operands and sums of float16", &Traffic::float16_operations);
  runs.add("operations_float16_float32", operations, "operands of float16, sums of float32",
           &Traffic::float16_float32_operations);
  runs.add("operations_float32", operations, "operands of float32", &Traffic::float32_operations);
  runs.add("bytes_read", bytes, "by vertices, and by copies on a tile for calls; an operand counts once for each vertex",
           &Traffic::read);
  runs.add("bytes_written", bytes, "by vertices, and by copies on a tile for calls", &Traffic::written);
  runs.add("bytes_exchanged", bytes, "between tiles of an IPU", &Traffic::exchanged);
  runs.add("bytes_links", bytes, "between IPUs of the replica", &Traffic::links);
  runs.add("bytes_replicas", bytes, "sent to other replicas", &Traffic::replicas);
  runs.add("bytes_streamed", bytes, "to and from streaming memory", &Traffic::streamed);
  runs.add("bytes_host", bytes, "to and from the host", &Traffic::host);
}
inline void add_energy(std::vector<Column>& columns) {
  ColumnList runs(columns, has_run);
  const auto optional = [](const std::optional<double>& value) -> Cell { return value ? Cell(*value) : Cell(); };
  for (std::size_t t = 0; t < energy_term_count; ++t)
    runs.add("joules_" + std::string(energy_terms[t].name), "J", t == 0 ? "of each term below, if its picojoules are known" : "",
             [t, optional](const Design& design) { return optional(design.energy.joules[t]); });
  runs.add("joules_idle", "J", "", [optional](const Design& design) { return optional(design.energy.idle_joules); });
  runs.add("joules", "J", "sum of what is known", [](const Design& design) -> Cell { return design.energy.total_joules; });
  runs.add("joules_not_known", "text", "terms that a run has, without picojoules", [](const Design& design) -> Cell {
    std::string names;
    for (const std::string& name : design.energy.not_known) names += (names.empty() ? "" : " ") + name;
    return names;
  });
  runs.add("watts", "W", "`joules` by `seconds` and `ipus`", [](const Design& design) -> Cell { return design.energy.watts; });
  runs.add("published_watts", "W", "of a chip",
           [optional](const Design& design) { return optional(design.published_watts.value); });
  runs.add("watts_by_published", "ratio", "empty if no term is known", [](const Design& design) -> Cell {
    if (!design.published_watts.value || *design.published_watts.value == 0 || design.energy.total_joules == 0) return {};
    return design.energy.watts / *design.published_watts.value;
  });
}

}  // namespace detail

/// Returns the columns of the rows of designs. Knobs have one if a design differs from its preset there; some always have one.
[[nodiscard]] inline std::vector<Column> columns_of(const std::vector<Design>& designs) {
  std::set<std::string, std::less<>> shown{"tiles", "bytes_per_tile", "clock_hz", "ipus"};
  for (const Design& design : designs)
    for (const ChangedNumber& change : design.machine.changed())
      shown.insert(change.name == "partials_type" ? "partials_bits"
                   : change.name == "banks"       ? "banks_as_allocated"
                                                  : change.name);
  std::vector<Column> columns;
  detail::ColumnList all(columns, detail::is_any);
  all.add("program", "text", "", [](const Design& design) -> Cell { return design.program; });
  all.add("machine", "text", "its preset, and what differs", [](const Design& design) -> Cell { return design.machine.name(); });
  all.add("base", "text", "its preset", [](const Design& design) -> Cell { return design.machine.base(); });
  for (const Knob& knob : knobs())
    if (shown.contains(knob.name))
      all.add(knob.name, std::string(knob.unit), "",
              [name = knob.name](const Design& design) -> Cell { return design.machine.number(name); });
  all.add("fits", "true or false", "whether the program fits the memory of a tile",
          [](const Design& design) -> Cell { return design.fits; });
  all.add("problem", "text", "why there is no plan; usually empty", [](const Design& design) -> Cell { return design.problem; });
  detail::add_plan(columns);
  detail::add_runs(columns);
  detail::add_energy(columns);
  return columns;
}

/// Returns a value as text; "" if there is none.
[[nodiscard]] inline std::string to_text(const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, *number).ptr};
  }
  return {};
}

/// Returns designs as CSV (RFC 4180): a line of names, then a row each. A cell without a value is empty.
[[nodiscard]] inline std::string to_csv(const std::vector<Design>& designs) {
  const std::vector<Column> columns = columns_of(designs);
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    for (const Column& column : columns) {
      const std::string cell = cell_of(column);
      if (&column != columns.data()) text += ',';
      if (cell.find_first_of(",\"\n") == std::string::npos) {
        text += cell;
        continue;
      }
      text += '"';
      for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += '\n';
  };
  add_line([](const Column& column) { return column.name; });
  for (const Design& design : designs) add_line([&](const Column& column) { return to_text(column.cell(design)); });
  return text;
}

/// Returns designs as JSON: a list of objects, whose members are the columns. A value that there is not is null.
[[nodiscard]] inline std::string to_json(const std::vector<Design>& designs) {
  const std::vector<Column> columns = columns_of(designs);
  tilewright::detail::JsonText json;
  json.begin_array().line();
  for (const Design& design : designs) {
    json.begin_object();
    for (const Column& column : columns) {
      json.key(column.name);
      const Cell cell = column.cell(design);
      if (const auto* truth = std::get_if<bool>(&cell)) json.value(*truth);
      else if (const auto* whole = std::get_if<std::int64_t>(&cell)) json.value(*whole);
      else if (const auto* number = std::get_if<double>(&cell)) json.value(*number);
      else if (const auto* text = std::get_if<std::string>(&cell)) json.value(*text);
      else json.null();
    }
    json.end_object().line();
  }
  return json.end_array().text() + '\n';
}

}  // namespace tilewright::lab
