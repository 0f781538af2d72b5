// labels: none
// Plans for simulated IPUs with faults on tiles, as planners had them or could have them, are refused: memory, layouts, slices,
// exchanges, counts, banks, calls, several IPUs, code, cycles. Who wrote the faults, but those of code and cycles, had not read
// the rules of the proof.
#include <map>
#include <set>
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../catch.hpp"
#include "../../support/tile_effects.hpp"
#include "../../support/tile_fault_programs.hpp"
#include "../../support/tile_faults_of_code.hpp"
#include "../../support/tile_faults_of_counts.hpp"
#include "../../support/tile_faults_of_cycles.hpp"
#include "../../support/tile_faults_of_steps.hpp"

namespace tw = tilewright;

namespace {

using tile_faults::Kind, tile_faults::Mutant, tile_faults::TileData;

struct Counts {
  int plans = 0, refused = 0, harmless = 0;
};

TEST_CASE("verified: plans with faults on tiles are refused") {
  std::map<std::string, int> refused, refused_alone;  // by rule
  std::map<std::string_view, Counts> kinds;
  std::set<std::string_view> history;
  int programs = 0, count = 0, harmless = 0;
  // apart, so that new faults of code or cycles leave the others as they are
  std::uint64_t seed = 0, seed_of_code = 0, seed_of_cycles = 0;
  const auto lists = {&tile_faults::faults_of_memory(), &tile_faults::faults_of_steps(), &tile_faults::faults_of_counts(),
                      &tile_faults::faults_of_code(), &tile_faults::faults_of_cycles()};
  std::string holes;  // faults that the proof does not see
  for (const auto& [name, program, target] : tile_faults::programs()) {
    INFO(std::string(name));
    const tw::Prepared prepared = tw::prepare(*tw::trace(program, target), target);
    const tw::Plan good = tw::lower(prepared);
    REQUIRE(tw::fault_of_plan(prepared, good).string() == "");
    const TileData data(good.tile_table);
    REQUIRE(data.table().view() == good.tile_table.view());
    const tw::internal::TileSets sets(target);
    ++programs;
    for (const auto* list : lists)
      for (const Kind& kind : *list) {
        INFO(std::string(kind.name));
        Mutant mutant(good, data, target,
                      list == &tile_faults::faults_of_code()     ? ++seed_of_code
                      : list == &tile_faults::faults_of_cycles() ? ++seed_of_cycles
                                                                 : ++seed);
        if (!kind.plant(mutant)) continue;
        mutant.plan.tile_table = mutant.tiles.table();
        ++count;
        Counts& its = kinds[kind.name];
        ++its.plans;
        const std::string fault = tw::fault_of_plan(prepared, mutant.plan).string(), rule = fault.substr(0, fault.find(':'));
        if (!fault.empty()) {
          if (!kind.history.empty()) history.insert(kind.name);
          ++its.refused, ++refused[rule];
          if (tw::fault_of_plan(prepared, mutant.plan, rule).empty()) ++refused_alone[rule];
          continue;
        }
        ++its.harmless, ++harmless;
        const bool same = tile_faults::TileEffects(mutant.plan, mutant.tiles, sets).numbers() ==
                          tile_faults::TileEffects(good, data, sets).numbers();
        if (!same || !tile_faults::has_equal_or_free_rooms(data, mutant.tiles) ||
            !tile_faults::has_equal_or_implied_barriers(good, mutant.plan))
          holes += std::string(kind.name) + ", in " + std::string(name) + "\n";
      }
  }
  std::string text = std::to_string(count) + " plans of " + std::to_string(programs) + " programs, " +
                     std::to_string(kinds.size()) + " kinds of faults, " + std::to_string(history.size()) + " of history, " +
                     std::to_string(harmless) + " harmless\n";
  for (const auto& [rule, times] : refused)
    text += rule + ": " + std::to_string(times) + ", alone " + std::to_string(refused_alone[rule]) + "\n";
  INFO(text);
  CHECK(holes == "");
  for (const auto* list : lists)
    for (const Kind& kind : *list) {
      INFO(std::string(kind.name));
      CHECK(kinds[kind.name].refused > 0);
    }
  CHECK(programs >= 8);
  CHECK(count >= 600);
  CHECK(kinds.size() >= 25);
  CHECK(history.size() >= 20);
  CHECK(harmless * 100 <= count * 3);
  for (const char* const rule : {"tiles", "exchanges", "traffic", "banks", "cycles"}) {
    INFO(rule);
    CHECK(refused_alone[rule] > 0);
  }
}

}  // namespace
