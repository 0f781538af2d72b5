#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/lab/energy.hpp"
#include "tilewright/lab/grid.hpp"
#include "tilewright/lab/machine.hpp"
#include "tilewright/lab/traffic.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/profile/error_range.hpp"
#include "tilewright/transform/trace_for.hpp"

namespace tilewright::lab {

/// A program with its name for users.
struct NamedProgram {
  std::string name;
  std::function<void(Ir&)> build;
};

/// A program on a machine, and what its plan takes.
struct Design {
  std::string program;
  Machine machine;
  std::string problem{};  ///< why there is no plan; empty: there is one
  bool fits = false;  ///< whether it fits the memory of a tile; if not, figures of time and traffic mean nothing
  TileMemory tile{};  ///< of the fullest tile
  CycleUse cycles{};  ///< of a run
  TimeRange range{};  ///< of a run's time
  Traffic traffic{};  ///< of a run
  Energy energy{};  ///< of a run
  SourcedNumber published_watts{};

  double seconds() const { return machine.target().seconds(cycles.total()); }
};

/// The limit of a design: the largest part of what does not fit, or of the cycles.
struct Limit {
  std::string what;  ///< "memory: frame" or "time: exchange"
  double share = 0;  ///< of all bytes of the fullest tile, or of all cycles
};
[[nodiscard]] inline Limit limit_of(const Design& design) {
  using Part = std::pair<std::string_view, std::int64_t>;
  const TileMemory& tile = design.tile;
  const CycleUse& use = design.cycles;
  const std::vector<Part> memory{{"variables", tile.variables + tile.constants},
                                 {"frame", tile.frame + tile.padding},
                                 {"code", tile.code.total()},
                                 {"stack and reserve", tile.stack + tile.reserve}};
  const std::vector<Part> time{{"compute", use.compute}, {"exchange", use.exchange},       {"barriers", use.sync},
                               {"host", use.host},       {"streaming memory", use.remote}, {"replicas", use.collectives},
                               {"links", use.links},     {"waiting", use.waiting}};
  const std::vector<Part>& parts = design.fits ? time : memory;
  const Part* largest = parts.data();
  std::int64_t all = 0;
  for (const Part& part : parts) {
    all += part.second;
    if (part.second > largest->second) largest = &part;
  }
  return {std::string(design.fits ? "time: " : "memory: ") + std::string(largest->first),
          all > 0 ? static_cast<double>(largest->second) / static_cast<double>(all) : 0};
}

/// Programs, traced once, and plans of them for many machines.
class Laboratory {
 public:
  explicit Laboratory(std::vector<NamedProgram> programs) : programs_(std::move(programs)), traces_(programs_.size()) {}

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const NamedProgram& program : programs_) result.push_back(program.name);
    return result;
  }
  /// Returns a program. Throws std::invalid_argument if there is none of that name.
  const NamedProgram& program(std::string_view name) const { return programs_[find(name)]; }

  /// Plans a program for a machine, whether or not it fits. `energy`: replaces numbers of the preset's table.
  Design plan(const Setting& setting, const nlohmann::json& energy = nlohmann::json::object()) {
    Design design{setting.program, Machine(setting.machine)};
    const Target& target = design.machine.target();
    internal::TileHomes homes;
    TrafficCounter traffic(target, homes);
    KindCounter kinds;
    const auto count = [&](const auto&... seen) { traffic(seen...), kinds(seen...); };
    const Plan plan = lower(prepare(trace_of(find(setting.program)), target), count, &homes);
    design.tile = plan.tile;
    design.fits = plan.failure.empty();
    if (!design.fits && !plan.failure.view().starts_with(internal::memory_error)) {
      design.problem = plan.failure.string();
      return design;
    }
    EnergyTable table = energy_of_preset(setting.machine.base);
    set_energy(energy, table);
    design.published_watts = table.published_watts;
    design.cycles = plan.cycles;
    design.range = time_range(kinds.of_run(plan));
    design.traffic = traffic.of_run(plan);
    design.energy = energy_of(design.traffic, table, design.seconds(), target.ipus);
    return design;
  }

 private:
  std::size_t find(std::string_view name) const {
    for (std::size_t p = 0; p < programs_.size(); ++p)
      if (programs_[p].name == name) return p;
    throw std::invalid_argument("lab: program '" + std::string(name) + "'" + detail::expected_names(name, names()));
  }
  const Ir& trace_of(std::size_t p) {
    if (!traces_[p]) {
      traces_[p] = std::make_unique<Ir>(OnError::record);
      trace_for(gc200, programs_[p].build, *traces_[p]);  // the trace depends on the kind of machine only
    }
    return *traces_[p];
  }

  std::vector<NamedProgram> programs_;
  std::vector<std::unique_ptr<Ir>> traces_;
};

}  // namespace tilewright::lab
