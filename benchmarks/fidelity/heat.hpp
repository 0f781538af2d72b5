#pragma once
// The heat equation of examples/more, in blocks for the tiles of a chip.
#include <cstdint>
#include <limits>

#include "../../examples/more/heat_equation.hpp"

namespace fidelity {

namespace tw = tilewright;

/// Returns the cycles of a step that differ from one cut to another: loads and stores of a block's elements, and its halos, which
/// move twice.
inline std::int64_t cost_of_block(const tw::Shape& block) {
  std::int64_t halo = 0;
  for (int axis = 0; axis < block.rank; ++axis) halo += 2 * block.nelms() / block[axis];
  return (2 * block.rank + 2) * block.nelms() + 2 * halo;
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

}  // namespace fidelity
