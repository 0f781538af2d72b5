#pragma once
// Tables of what a plan costs, as Markdown.
#include <algorithm>
#include <tuple>

#include "planned.hpp"

namespace planned {

/// Published bytes of a tile, averages over all tiles; 0: there is none.
struct Published {
  std::int64_t vertex = 0, state = 0, exchange = 0, control = 0, variables = 0, fullest_tile = 0;
};

/// 1,234,567
inline std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(static_cast<std::size_t>(i), ",");
  return text;
}
inline double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Runs in a second, one after the other, with the streams of each.
inline double runs_per_second(const Program& program) { return 1 / program.target.seconds(program.plan.cycles.total()); }
inline double flops_per_second(const Program& program) {
  return static_cast<double>(program.plan.cycles.flops) * runs_per_second(program);
}

inline void print_title(const Program& program) {
  const tw::Plan& plan = program.plan;
  std::int64_t steps = 0;
  for (const Step& step : program.steps) steps += step.times;
  std::printf("\n### %s: %s cycles, %.1f sequences/s, %.1f TFLOP/s\n\n", program.name.c_str(),
              grouped(plan.cycles.total()).c_str(), runs_per_second(program), flops_per_second(program) / 1e12);
  std::printf("%s steps in a run, %zu planned, in %zu bodies.\n\n", grouped(steps).c_str(), program.steps.size(),
              plan.bodies.size());
}

/// Bytes of the fullest tile beside an even spread, which is the average of all tiles, and beside published ones.
inline void print_memory(const Program& program, const Published* published) {
  const tw::TileMemory& tile = program.plan.tile;
  const std::int64_t tiles = program.target.tiles, even = program.plan.memory.variables / tiles;
  std::printf("| bytes of the fullest tile | | evenly spread |%s\n| --- | ---: | ---: |%s\n",
              published ? " published, average |" : "", published ? " ---: |" : "");
  const auto line = [&](const char* name, std::int64_t bytes, std::int64_t spread, std::int64_t of_published) {
    std::printf("| %s | %s | %s |", name, grouped(bytes).c_str(), spread > 0 ? grouped(spread).c_str() : "");
    if (published) std::printf(" %s |", of_published > 0 ? grouped(of_published).c_str() : "");
    std::printf("\n");
  };
  const Published none;
  const Published& other = published ? *published : none;
  line("variables", tile.variables, even, 0);
  line("constants", tile.constants, program.plan.memory.constants / tiles, 0);
  line("frame, what is in use", tile.frame, program.plan.memory.frame / tiles, 0);
  line("frame, padding", tile.padding, 0, 0);
  line("tensors: all of these", tile.variables + tile.constants + tile.frame + tile.padding, 0, other.variables);
  line("vertex code", tile.code.vertex, 0, other.vertex);
  line("vertex state", tile.code.state, 0, other.state);
  line("exchange code", tile.code.exchange, 0, other.exchange);
  line("control code", tile.code.control, 0, other.control);
  line("stack and reserve", tile.stack + tile.reserve, 0, 0);
  line("all", tile.total(), 0, other.fullest_tile);
  std::printf("\n%.0f %% of a tile's %s bytes%s\n\n", percent(tile.total(), program.target.bytes_per_tile),
              grouped(program.target.bytes_per_tile).c_str(),
              tile.total() > program.target.bytes_per_tile ? ": **it does not fit**" : "");
}

inline void print_cycles(const Program& program) {
  const tw::CycleUse& cycles = program.plan.cycles;
  std::printf("| cycles | | share |\n| --- | ---: | ---: |\n");
  const auto line = [&](const char* name, std::int64_t count) {
    std::printf("| %s | %s | %.1f %% |\n", name, grouped(count).c_str(), percent(count, cycles.total()));
  };
  line("compute", cycles.compute);
  line("exchange", cycles.exchange);
  line("sync", cycles.sync);
  line("host", cycles.host);
  line("resting on assumed or recalled numbers", cycles.assumed);
  std::printf("\n");
}

inline void print_dearest_steps(const Program& program, std::size_t count) {
  struct Dear {
    std::int64_t cycles;
    std::size_t step;
  };
  std::vector<Dear> all;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    all.push_back({program.plan.step_cycles[s].total() * program.steps[s].times, s});
  std::ranges::sort(all, [](const Dear& a, const Dear& b) { return std::tie(b.cycles, a.step) < std::tie(a.cycles, b.step); });
  all.resize(std::min(count, all.size()));
  std::printf(
      "| step | module | vertices | cycles of all runs | share | compute | exchange | sync | host | times |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const auto& [cycles, s] : all) {
    const Step& step = program.steps[s];
    const tw::CycleUse& each = program.plan.step_cycles[s];
    std::printf("| %s | %s | %s | %s | %.1f %% | %s | %s | %s | %s | %s |\n", step.ops.c_str(), step.module.c_str(),
                grouped(step.vertices).c_str(), grouped(cycles).c_str(), percent(cycles, program.plan.cycles.total()),
                grouped(each.compute).c_str(), grouped(each.exchange).c_str(), grouped(each.sync).c_str(),
                grouped(each.host).c_str(), grouped(step.times).c_str());
  }
}

}  // namespace planned
