// labels: none
// Banks of a tile's memory: where operands lie, and the cycles of the steps that follow from it.
#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using tw::Ir, tw::Tensor, tw::OperandBanks;
namespace ops = tw::ops;
using support::load, support::store;

/// The step of a program whose cycles depend on banks; the program has one of them.
struct Step {
  OperandBanks banks = OperandBanks::any;
  tw::CycleUse cycles{};
  int count = 0;
};
constexpr Step step_of(auto build, const tw::Target& target = tw::gc200) {
  const tw::Plan plan = support::plan_of(build, target);
  Step result;
  for (std::size_t s = 0; s < plan.moves.size(); ++s)
    if (plan.moves[s].banks != OperandBanks::any) result = {plan.moves[s].banks, plan.step_cycles[s], result.count + 1};
  return result;
}

// ---- the triad of STREAM with 19,200 float32 of each operand on a tile: x + a y

constexpr std::int64_t triad_elements = 19'200;
/// A variable of which each tile of a GC200 has as many elements.
constexpr Tensor spread(Ir& ir, std::string_view name, std::int64_t of_tile, tw::DType dtype = tw::float32) {
  return support::variable(ir, name, {of_tile * tw::gc200.tiles}, dtype);
}
constexpr auto triad = [](Ir& ir) {
  const Tensor x = spread(ir, "x", triad_elements), y = spread(ir, "y", triad_elements);
  store("sum", ops::scaled_add(x, y, {.b = 3}));
};
constexpr auto triad_in_place = [](Ir& ir) {
  const Tensor x = spread(ir, "x", triad_elements), y = spread(ir, "y", triad_elements);
  ops::scaled_add_(x, y, {.b = 3});
};
/// Returns TB/s of all tiles: two loads and a store of each element in the cycles of the step with its barrier.
constexpr double terabytes_per_second(const Step& step) {
  const auto bytes = static_cast<double>(3 * 4 * triad_elements * tw::gc200.tiles);
  return bytes / tw::gc200.seconds(step.cycles.total() - step.cycles.host) / 1e12;
}
constexpr Step apart = step_of(triad), in_place = step_of(triad_in_place);
static_assert(apart.count == 1 && apart.banks == OperandBanks::interleaved, "three tensors of 76,800 bytes");
static_assert(apart.cycles.compute == 60 + 6 * (24 + 1599) && apart.cycles.sync == 126 && apart.cycles.exchange == 0);
static_assert(terabytes_per_second(apart) >= 44 && terabytes_per_second(apart) < 46);
static_assert(in_place.banks == OperandBanks::interleaved && terabytes_per_second(in_place) >= 44);

}  // namespace
