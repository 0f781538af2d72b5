#pragma once
// Plans a program for many chips when it runs, for benchmarks/lab.py.
#include <iostream>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <tilewright/tilewright.hpp>

#include "../fidelity/formulas.hpp"

namespace lab {

namespace tw = tilewright;
using nlohmann::json;

/// Returns a chip: that of a name in `devices`, with the numbers that are given instead of its own. The model lives in `models`.
inline tw::Target target_of(const json& chip, std::list<tw::IpuModel>& models) {
  const std::string name = chip.at("base");
  for (const tw::Device& device : tw::devices) {
    if (device.name != name || device.target.ipu == nullptr) continue;
    tw::IpuModel& model = models.emplace_back(*device.target.ipu);
    const auto set = [&](const char* key, tw::Figure& figure) {
      if (chip.contains(key)) figure = chip.at(key).get<std::int64_t>();
    };
    set("tiles", model.tiles);
    set("bytes_per_tile", model.bytes_per_tile);
    set("exchange_bytes", model.exchange_bytes_per_cycle);
    set("barrier", model.sync_cycles);
    return device.target.with_ipu(&model);
  }
  throw std::invalid_argument("base '" + name + "': a simulated IPU, such as gc200, expected");
}

/// Plans a program for a chip, whether or not it fits.
template <class Build>
json plan(const Build& build, const tw::Target& target) {
  const tw::Target unlimited = target.with_bytes_per_tile(0);
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(build, unlimited), unlimited));
  const auto& [cycles, tile] = std::tie(plan.cycles, plan.tile);
  return {{"tiles", target.tiles},
          {"bytes_per_tile", target.bytes_per_tile},
          {"exchange_bytes", target.ipu->exchange_bytes_per_cycle.value},
          {"barrier", target.ipu->sync_cycles.value},
          {"seconds", target.seconds(cycles.total())},
          {"cycles",
           {{"compute", cycles.compute},
            {"exchange", cycles.exchange},
            {"barriers", cycles.sync},
            {"streams", cycles.host},
            {"other", cycles.total() - cycles.compute - cycles.exchange - cycles.sync - cycles.host}}},
          {"memory",
           {{"variables", tile.variables + tile.constants},
            {"frame", tile.frame + tile.padding},
            {"code", tile.code.total()},
            {"stack and reserve", tile.stack + tile.reserve}}}};
}

/// The main function of a program of the lab: reads a list of chips as JSON, and writes what the plans for them take.
template <class Build>
int serve(const Build& build) {
  const auto mean = [](std::span<const fidelity::ProductPoint> points, tw::DType dtype) {
    return fidelity::errors(points, dtype).mean;
  };
  json result{{"float16_error", mean(fidelity::float16_products, tw::float16)},
              {"float32_error", mean(fidelity::float32_products, tw::float32)},
              {"chips", json::array()}};
  std::list<tw::IpuModel> models;
  for (const json& chip : json::parse(std::cin)) result["chips"].push_back(plan(build, target_of(chip, models)));
  std::cout << result.dump() << '\n';
  return 0;
}

}  // namespace lab
