#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/lab/machine.hpp"
#include "tilewright/lab/traffic.hpp"

namespace tilewright::lab {

/// A term of the energy of a run: what one unit of it takes, and how many a run has.
struct EnergyTerm {
  std::string_view name, unit;
  std::int64_t Traffic::* count;
};
inline constexpr EnergyTerm energy_terms[] = {{"float16_operation", "pJ", &Traffic::float16_operations},
                                              {"float16_float32_operation", "pJ", &Traffic::float16_float32_operations},
                                              {"float32_operation", "pJ", &Traffic::float32_operations},
                                              {"read_byte", "pJ", &Traffic::read},
                                              {"written_byte", "pJ", &Traffic::written},
                                              {"exchanged_byte", "pJ", &Traffic::exchanged},
                                              {"link_byte", "pJ", &Traffic::links},
                                              {"replica_byte", "pJ", &Traffic::replicas},
                                              {"streamed_byte", "pJ", &Traffic::streamed},
                                              {"host_byte", "pJ", &Traffic::host}};
inline constexpr std::size_t energy_term_count = std::size(energy_terms);

/// A number with its source; not known without a value.
struct SourcedNumber {
  std::optional<double> value{};
  std::string source{};
};

/// Picojoules of each term, and the power of a chip.
struct EnergyTable {
  SourcedNumber picojoules[energy_term_count]{};  ///< in the order of energy_terms
  SourcedNumber idle_watts{};  ///< of each IPU, whatever it does
  SourcedNumber published_watts{};  ///< of a whole chip, to compare with
};

/// Energy of a run. Terms that are not known are in no sum.
struct Energy {
  std::optional<double> joules[energy_term_count]{};  ///< by term; none: picojoules are not known, or nothing is counted
  std::optional<double> idle_joules{};
  double total_joules = 0;  ///< of all terms that are known
  double watts = 0;  ///< total_joules by the time of the run and the number of IPUs
  std::vector<std::string> not_known{};  ///< terms of which a run has some, and whose picojoules are not known
};

/// Returns what is published of a preset. Terms without a published number are not known.
[[nodiscard]] inline EnergyTable energy_of_preset(std::string_view base) {
  EnergyTable table;
  // The talk's table is of the second generation, at the clock of gc200. Its heading names memory and data path: bytes that the
  // unit for products reads and writes may be in these numbers, and the other terms stay not known.
  constexpr const char* talk = "Graphcore, Hot Chips 33, August 2021, doi 10.1109/HCS52781.2021.9567075: table of pJ/flop";
  if (base == "gc200") {
    table.picojoules[0] = {1.3, talk};
    table.picojoules[1] = {1.75, talk};
    table.picojoules[2] = {3.3, talk};
    table.published_watts = {300, "eeNews Europe, August 2021: Graphcore details power figures for Mk2 chip"};
  }
  if (base == "c600") table.published_watts = {185, "Graphcore, C600 datasheet, overview: TDP running typical workloads"};
  return table;
}

/// Replaces numbers of a table by those of a JSON object: `idle_watts`, `published_watts` and names of energy_terms, with numbers
/// from 0 on. Throws std::invalid_argument for other keys and values.
inline void set_energy(const nlohmann::json& given, EnergyTable& table) {
  if (!given.is_object()) throw std::invalid_argument("lab: energy " + given.dump() + ": an object expected");
  std::vector<std::string> known{"idle_watts", "published_watts"};
  for (const EnergyTerm& term : energy_terms) known.emplace_back(term.name);
  for (const auto& [key, value] : given.items()) {
    SourcedNumber* number = key == "idle_watts" ? &table.idle_watts : key == "published_watts" ? &table.published_watts : nullptr;
    for (std::size_t t = 0; t < energy_term_count; ++t)
      if (key == energy_terms[t].name) number = &table.picojoules[t];
    if (number == nullptr)
      throw std::invalid_argument("lab: energy: unknown key '" + key + "'" + detail::expected_names(key, known));
    if (!value.is_number() || value.get<double>() < 0)
      throw std::invalid_argument("lab: energy: " + key + " " + value.dump() + ": a number from 0 on expected");
    *number = {value.get<double>(), "given"};
  }
}

/// Returns the energy of a run: the sum of count x picojoules, and idle power x time.
[[nodiscard]] inline Energy energy_of(const Traffic& traffic, const EnergyTable& table, double seconds, int ipus) {
  Energy result;
  for (std::size_t t = 0; t < energy_term_count; ++t) {
    const std::int64_t count = traffic.*energy_terms[t].count;
    if (table.picojoules[t].value) {
      result.joules[t] = static_cast<double>(count) * *table.picojoules[t].value * 1e-12;
      result.total_joules += *result.joules[t];
    } else if (count > 0) {
      result.not_known.emplace_back(energy_terms[t].name);
    }
  }
  if (table.idle_watts.value) {
    result.idle_joules = *table.idle_watts.value * seconds * ipus;
    result.total_joules += *result.idle_joules;
  } else {
    result.not_known.emplace_back("idle_watts");
  }
  if (seconds > 0) result.watts = result.total_joules / seconds / ipus;
  return result;
}

}  // namespace tilewright::lab
