#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/lab/design.hpp"
#include "tilewright/lab/exchange_rows.hpp"
#include "tilewright/lab/npz.hpp"
#include "tilewright/lab/rows.hpp"
#include "tilewright/profile/make_profile.hpp"
#include "tilewright/profile/text_file.hpp"
#include "tilewright/profile/write_report.hpp"

namespace tilewright::lab {

namespace detail {

inline constexpr std::string_view help =
    R"(Plans programs for many simulated IPUs. Nothing runs on them: all figures are the planner's.

  --program NAME,...   programs (all)
  --base NAME,...      presets of tw::devices (gc200)
  --KNOB VALUES        numbers instead of the preset's, such as --tiles 368,736 --bytes_per_tile 256Ki..1Mi*2
                       or --exchange_bytes_per_cycle 4..16:4; all combinations are planned
  --grid FILE          the same as JSON: an object, or a list of objects whose designs follow each other
  --energy FILE        picojoules by term as JSON
  --csv FILE           a row for each design
  --json FILE          the same as a list of objects
  --report PATH        profiles of all designs: PATH.html, PATH.json and PATH.trace.json
  --exchange_rows FILE bytes from tile to tile in a step of one design, as .csv or .npz
  --step NUMBER        that step, as the report numbers them (the one that exchanges most)
  --knobs              prints the knobs, with their units and the values of gc200
  --columns            prints the columns of rows, with their units, and what they hold

FILE may be -, for standard input and output.
)";

inline std::string read_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("lab: " + path + ": a file that can be read expected");
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_file(const std::string& path, const std::string& text) {
  if (path == "-") std::cout << text;
  else tilewright::detail::write_text("lab", path, text);
}
inline json read_json(const std::string& path) {
  try {
    return json::parse(read_file(path));
  } catch (const json::exception& error) {
    throw std::invalid_argument("lab: " + path + ": JSON expected: " + error.what());
  }
}

/// The options of a command line.
struct Request {
  json grid = json::object();
  json energy = json::object();
  std::string csv, json_file, report, exchange;
  int step = -1;
  bool shows_knobs = false, shows_columns = false, shows_help = false;
};
inline Request parse(const std::vector<std::string>& arguments) {
  Request request;
  bool has_grid = false, has_keys = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    if (option == "--help" || option == "-h") request.shows_help = true;
    if (option == "--knobs") request.shows_knobs = true;
    if (option == "--columns") request.shows_columns = true;
    if (request.shows_help || option == "--knobs" || option == "--columns") continue;
    if (!option.starts_with("--") || option.size() == 2)
      throw std::invalid_argument("lab: '" + option + "': an option expected, see --help");
    if (i + 1 == arguments.size()) throw std::invalid_argument("lab: " + option + ": a value expected");
    const std::string& value = arguments[++i];
    const std::string key = option.substr(2);
    if (key == "grid") request.grid = read_json(value), has_grid = true;
    else if (key == "energy") request.energy = read_json(value);
    else if (key == "csv") request.csv = value;
    else if (key == "json") request.json_file = value;
    else if (key == "report") request.report = value;
    else if (key == "exchange_rows") request.exchange = value;
    else if (key == "step") request.step = static_cast<int>(parse_number(key, value, value));
    else {
      has_keys = true;
      if (!has_grid) request.grid[key] = key == "program" || key == "base" ? json::array() : json(value);
      if (has_grid || (key != "program" && key != "base")) continue;
      for (std::string_view rest = value;;) {
        const std::size_t comma = rest.find(',');
        request.grid[key].push_back(std::string(rest.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
      }
    }
  }
  if (has_grid && has_keys) throw std::invalid_argument("lab: --grid and other keys: one of both expected");
  return request;
}

inline std::string exchange_text(const std::string& path, const StepExchange& exchange) {
  std::vector<std::int64_t> from, to, bytes, after;
  std::string text = "from,to,bytes,after\n";
  for (const ExchangeRow& row : exchange.rows) {
    from.push_back(row.from), to.push_back(row.to), bytes.push_back(row.bytes), after.push_back(row.after);
    text += std::to_string(row.from) + ',' + std::to_string(row.to) + ',' + std::to_string(row.bytes) + ',' +
            std::to_string(row.after) + '\n';
  }
  if (!path.ends_with(".npz")) return text;
  const std::vector<std::int64_t> step{exchange.step};
  return to_npz({{"from", from}, {"to", to}, {"bytes", bytes}, {"after", after}, {"step", step}});
}
/// Returns the profile of a design, whose machine has its name.
inline Profile profile_of(const Laboratory& laboratory, const Design& design) {
  return profile(laboratory.program(design.program).build, design.machine.target(), design.program);
}

/// Prints a line for each design.
inline void print(const std::vector<Design>& designs) {
  for (const Design& design : designs) {
    std::printf("%s on %s: ", design.program.c_str(), design.machine.name().c_str());
    const Limit limit = limit_of(design);
    const double share = 100 * static_cast<double>(design.tile.total()) /
                         static_cast<double>(design.machine.model().bytes_per_tile.value);
    if (!design.problem.empty()) {
      std::printf("%s\n", design.problem.c_str());
      continue;
    }
    if (!design.fits) {
      std::printf("does not fit: %.0f %% of a tile's memory needed; %s, %.0f %%\n", share, limit.what.c_str(), 100 * limit.share);
      continue;
    }
    std::printf("%.6g ms (%.3g to %.3g), %.0f %% of a tile's memory; %s, %.0f %%; ", 1e3 * design.seconds(),
                1e3 * design.seconds() * design.range.least, 1e3 * design.seconds() * design.range.most, share,
                limit.what.c_str(), 100 * limit.share);
    std::printf("%.4g J and %.4g W an IPU of known terms", design.energy.total_joules, design.energy.watts);
    if (design.published_watts.value && design.energy.total_joules > 0)
      std::printf(", %.2f of the published %.4g W", design.energy.watts / *design.published_watts.value,
                  *design.published_watts.value);
    std::string missing;
    for (const std::string& name : design.energy.not_known) missing += (missing.empty() ? "; not known: " : ", ") + name;
    std::printf("%s\n", missing.c_str());
  }
}

inline int serve(const std::vector<std::string>& arguments, std::vector<NamedProgram> programs) {
  const Request request = parse(arguments);
  if (request.shows_help) {
    std::cout << help;
    return 0;
  }
  if (request.shows_knobs) {
    const Machine gc200_machine(MachineSettings{});
    for (const Knob& knob : knobs())
      std::cout << knob.name << " = " << gc200_machine.number(knob.name) << ' ' << knob.unit << '\n';
    return 0;
  }
  if (request.shows_columns) {
    for (const Column& column : columns_of({}))
      std::cout << column.name << ": " << column.unit << (column.what.empty() ? "" : ", ") << column.what << '\n';
    return 0;
  }
  Laboratory laboratory(std::move(programs));
  std::vector<Design> designs;
  for (const Setting& setting : expand_grid(request.grid, laboratory.names()))
    designs.push_back(laboratory.plan(setting, request.energy));
  if (!request.csv.empty()) write_file(request.csv, to_csv(designs));
  if (!request.json_file.empty()) write_file(request.json_file, to_json(designs));
  if (!request.report.empty()) {
    std::vector<Profile> profiles;
    for (const Design& design : designs) profiles.push_back(profile_of(laboratory, design));
    write_report(request.report, profiles);
  }
  if (!request.exchange.empty()) {
    if (designs.size() != 1)
      throw std::invalid_argument("lab: --exchange_rows of " + std::to_string(designs.size()) + " designs: one expected");
    const Design& design = designs.front();
    const StepExchange exchange = exchange_of_step(laboratory.program(design.program).build, design.machine.target(),
                                                   profile_of(laboratory, design), request.step);
    write_file(request.exchange, exchange_text(request.exchange, exchange));
    if (request.exchange != "-") std::cout << "step " << exchange.step << ": " << exchange.label << '\n';
  }
  if (request.csv.empty() && request.json_file.empty() && request.exchange.empty()) print(designs);
  return 0;
}

}  // namespace detail

/// The main function of a laboratory: plans programs for the machines that the command line names, and writes what the plans
/// take. Returns 0, or 2 after an error, which it prints. `--help` shows the options.
///
///     int main(int argc, char** argv) { return tw::lab::run(argc, argv, {{"train_step", train_step}}); }
[[nodiscard]] inline int run(int argc, char** argv, std::vector<NamedProgram> programs) {
  try {
    return detail::serve({argv + 1, argv + argc}, std::move(programs));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}

}  // namespace tilewright::lab
