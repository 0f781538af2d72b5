#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "tilewright/core/text/table_text.hpp"
#include "tilewright/profile/profile.hpp"

namespace tilewright {

namespace detail {
/// Returns a number with separators: 1,234,567.
inline std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}
/// Returns a number with `digits` digits after the point.
inline std::string fixed(double number, int digits) {
  char text[400];
  const int size = std::snprintf(text, sizeof(text), "%.*f", digits, number);
  return std::string(text, static_cast<std::size_t>(size));
}
inline std::string percent(double part, double whole) { return whole > 0 ? fixed(100 * part / whole, 1) + " %" : "-"; }

/// Returns a text of at most `most` bytes in one line. Marks an omission, and cuts no UTF-8 sequence.
inline std::string shortened(std::string text, std::size_t most) {
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// Returns a table. Columns from `first_number` to `end_numbers` - 1 hold numbers, aligned right.
inline std::string number_table(std::vector<std::vector<std::string>> rows, std::size_t first_number, std::size_t end_numbers,
                                bool header = true) {
  for (std::size_t column = first_number; column < end_numbers; ++column) {
    std::size_t width = 0;
    for (const auto& row : rows) width = (std::max)(width, row[column].size());
    for (auto& row : rows) row[column].insert(0, width - row[column].size(), ' ');
  }
  return table_to_string(rows, "  ", header);
}

inline std::string print_totals(const Profile& profile) {
  const Profile::Totals totals = profile.totals();
  const auto cycles = static_cast<double>(totals.cycles);
  std::vector<std::vector<std::string>> parts{{"compute", grouped(totals.compute), percent(double(totals.compute), cycles)},
                                              {"exchange", grouped(totals.exchange), percent(double(totals.exchange), cycles)},
                                              {"sync", grouped(totals.sync), percent(double(totals.sync), cycles)}};
  if (totals.host > 0) parts.push_back({"host", grouped(totals.host), percent(double(totals.host), cycles)});
  if (totals.remote > 0) parts.push_back({"streaming memory", grouped(totals.remote), percent(double(totals.remote), cycles)});
  if (totals.collective > 0)
    parts.push_back({"collectives", grouped(totals.collective), percent(double(totals.collective), cycles)});
  if (totals.links > 0) parts.push_back({"links", grouped(totals.links), percent(double(totals.links), cycles)});
  if (totals.waiting > 0) parts.push_back({"waiting", grouped(totals.waiting), percent(double(totals.waiting), cycles)});
  parts.push_back({"all", grouped(totals.cycles), percent(cycles, cycles)});
  std::string result = profile.program + " on " + profile.target + ": " + grouped(std::int64_t(profile.tiles.size())) + " tiles";
  if (!profile.banks.empty()) result += ", banks " + profile.banks;
  if (profile.replicas > 1) result += ", figures of one of " + grouped(profile.replicas) + " replicas";
  const std::int64_t fullest = profile.fullest().total();
  if (fullest > profile.bytes_per_tile) {
    result += "\n\nIt does not fit: " + percent(double(fullest), double(profile.bytes_per_tile)) +
              " of a tile's memory needed, so these are cycles of a plan that cannot run.\n";
  } else {
    result += "\n\nA run: " + fixed(totals.seconds * 1e6, 2) + " us";
    if (profile.range.least < profile.range.most)
      result += " (" + fixed(totals.seconds * 1e6 * profile.range.least, 2) + " to " +
                fixed(totals.seconds * 1e6 * profile.range.most, 2) + ")";
    result += ", " + fixed(totals.runs_per_second, 1) + " runs/s, " + fixed(totals.flops_per_second / 1e12, 3) + " TFLOP/s (" +
              percent(totals.utilisation, 1) + " of peak), balance " + fixed(totals.balance, 2) + "\n";
  }
  result += percent(totals.assumed, 1) + " of the cycles rest on assumed or recalled numbers.\n\n";
  return result + "Cycles\n" + number_table(parts, 1, 3, false);
}

inline std::string print_dearest_steps(const Profile& profile, std::size_t most) {
  std::vector<std::size_t> order(profile.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto dearer = [&](std::size_t a, std::size_t b) {
    const std::int64_t first = profile.steps[a].cycles_in_run(), second = profile.steps[b].cycles_in_run();
    return first != second ? first > second : a < b;
  };
  std::sort(order.begin(), order.end(), dearer);
  order.resize((std::min)(order.size(), most));
  const std::int64_t all = profile.totals().cycles;
  const bool has_banks = std::any_of(order.begin(), order.end(), [&](std::size_t s) { return !profile.steps[s].banks.empty(); });
  std::vector<std::vector<std::string>> rows{
      {"step", "cycles", "share", "times", "compute", "exchange", "tiles", "balance", "ops", "module"}};
  if (has_banks) rows[0].push_back("banks");
  for (const std::size_t index : order) {
    const Profile::Step& step = profile.steps[index];
    rows.push_back({std::to_string(index), grouped(step.cycles_in_run()), percent(double(step.cycles_in_run()), double(all)),
                    grouped(step.times), grouped(step.times * step.compute), grouped(step.times * step.exchange),
                    grouped(step.tiles_used), fixed(step.balance, 2), shortened(step.label, 40), step.module});
    if (has_banks) rows.back().push_back(step.banks);
  }
  if (order.empty()) return "No steps\n";
  const std::string title = order.size() < profile.steps.size() ? "The " + std::to_string(order.size()) + " dearest of " +
                                                                      grouped(std::int64_t(profile.steps.size()))
                                                                : "The " + std::to_string(order.size());
  return title + (order.size() == 1 ? " step\n" : " steps\n") + number_table(rows, 0, 8);
}

/// Returns the sets of tiles as text if there are several: IPUs, and their IO tiles.
inline std::string print_tile_sets(const Profile& profile) {
  if (profile.tile_sets.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"tiles of", "tiles", "bytes of the fullest", "busy", "waiting", "share"}};
  for (const Profile::TileSet& set : profile.tile_sets)
    rows.push_back({set.name, grouped(set.tiles), grouped(set.fullest_tile_bytes), grouped(set.busy()), grouped(set.waiting),
                    percent(double(set.waiting), double(set.busy() + set.waiting))});
  return "\nCycles of each IPU\n" + number_table(rows, 1, 6);
}

inline std::string print_fullest_tile(const Profile& profile, std::size_t most) {
  if (profile.fullest_tile < 0) return "No tiles\n";
  const Profile::TileMemory tile = profile.fullest();
  const auto limit = static_cast<double>(profile.bytes_per_tile);
  std::string result = "The fullest tile, " + std::to_string(profile.fullest_tile) + ": " + grouped(tile.total()) + " of " +
                       grouped(profile.bytes_per_tile) + " bytes, " + percent(double(tile.total()), limit) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < memory_category_count; ++c)
    if (tile.bytes[c] != 0)
      rows.push_back({std::string(memory_category_names[c]), grouped(tile.bytes[c]), percent(double(tile.bytes[c]), limit)});
  if (!rows.empty()) result += number_table(rows, 1, 3, false);
  if (profile.tensors.empty()) return result;
  rows = {{"bytes", "of all tiles", "steps", "tensor", "module"}};
  for (std::size_t i = 0; i < (std::min)(most, profile.tensors.size()); ++i) {
    const Profile::Tensor& tensor = profile.tensors[i];
    rows.push_back({grouped(tensor.bytes), grouped(tensor.whole_bytes),
                    tensor.always_live ? "all" : std::to_string(tensor.first_step) + "-" + std::to_string(tensor.last_step),
                    shortened(tensor.name, 40), tensor.module});
  }
  return result + "\nIts largest tensors\n" + number_table(rows, 0, 3);
}
}  // namespace detail

/// Returns a profile as a page of text: totals, the ten most expensive steps, the fullest tile by category and its five largest
/// tensors.
[[nodiscard]] inline std::string profile_to_string(const Profile& profile) {
  std::string page = detail::print_totals(profile) + detail::print_tile_sets(profile) + "\n" +
                     detail::print_dearest_steps(profile, 10) + "\n" + detail::print_fullest_tile(profile, 5);
  std::string result;  // without the spaces at the ends of lines
  for (const char c : page) {
    if (c == '\n') result.erase(result.find_last_not_of(' ') + 1);
    result += c;
  }
  return result;
}

inline std::ostream& operator<<(std::ostream& stream, const Profile& profile) { return stream << profile_to_string(profile); }

}  // namespace tilewright
