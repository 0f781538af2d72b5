#pragma once
// The heat equation of examples/more, in blocks for the tiles of a chip: what its plans say of rows 9 to 11, M8 and M9.
#include <cstdint>
#include <limits>
#include <string>

#include "../../examples/more/heat_equation.hpp"
#include "formulas.hpp"
#include "plans.hpp"

namespace fidelity {

/// Returns the cycles of a step that differ from one cut to another: those of a block's elements, and of its halos, which are
/// copied and then exchanged.
inline std::int64_t cost_of_block(const tw::Shape& block) {
  std::int64_t halo = 0;
  for (int axis = 0; axis < block.rank; ++axis) halo += 2 * block.nelms() / block[axis];
  return (4 * block.rank + 9) * block.nelms() / 2 + 2 * halo;
}
/// Returns the program for a body of `shape` or a little more, cut for `tiles` tiles of each IPU as fits best.
inline heat::HeatEquation heat_equation(tw::Shape shape, int ipus, std::int64_t tiles) {
  shape[0] = tw::ceil_divide(shape[0], std::int64_t{ipus});
  heat::HeatEquation best{};
  best.ipus = ipus;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto compare = [&](tw::Shape blocks) {
    tw::Shape block = shape;
    for (int axis = 0; axis < shape.rank; ++axis) {
      block[axis] = tw::ceil_divide(shape[axis], blocks[axis]);
      blocks[axis] = tw::ceil_divide(shape[axis], block[axis]);
    }
    const std::int64_t cost = cost_of_block(block);
    if (cost >= least) return;
    least = cost;
    best.blocks = blocks;
    best.block = block;
  };
  for (std::int64_t first = 1; first <= tiles; ++first)
    for (std::int64_t second = 1; second <= tiles / first; ++second)
      compare(shape.rank == 2 ? tw::Shape{first, second} : tw::Shape{first, second, tiles / first / second});
  return best;
}

inline Modelled heat_steps(const tw::Shape& shape, int ipus = 1) {
  const heat::HeatEquation program = heat_equation(shape, ipus, tw::gc200.tiles);
  const tw::Target target = tw::gc200.with_ipus(ipus);
  const Planned steps = plan(program, target);
  std::string detail = summary(steps);
  if (ipus > 1) {
    const auto in_a_step = [&](int64_t cycles) { return grouped(static_cast<double>(cycles / program.steps)); };
    const tw::CycleUse& cycles = steps.plan.cycles;
    detail += "; links " + in_a_step(cycles.links) + " and waiting " + in_a_step(cycles.waiting) + " cycles a step";
  }
  return modelled(steps, target.seconds(steps.cycles()), detail);
}
inline Modelled row_9(const Figure&) { return heat_steps({8000, 8000}); }
inline Modelled row_10(const Figure&) { return heat_steps({360, 360, 360}); }
inline Modelled row_11(const Figure& figure) {
  const int64_t extent = figure.at == 2 ? 403 : figure.at == 4 ? 508 : figure.at == 8 ? 640 : 806;
  return heat_steps({extent, extent, extent}, static_cast<int>(figure.at));
}
/// Rows M8 and M9.
inline Modelled plates(const Figure& figure) {
  const int64_t extent = figure.at == 2 ? 10'000 : figure.at == 4 ? 14'000 : figure.at == 8 ? 19'000 : 27'000;
  return heat_steps({extent, extent}, static_cast<int>(figure.at));
}

}  // namespace fidelity
