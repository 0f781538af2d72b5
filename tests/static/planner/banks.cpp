// labels: none
// Banks of a tile's memory: where operands lie, and the cycles of the steps that follow from it.
#include "../../support/programs.hpp"
#include "tilewright/target/ipu_cycles.hpp"
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
static_assert(apart.cycles.compute == 97 + 6 * (24 + 1599) && apart.cycles.sync == 126 && apart.cycles.exchange == 0);
static_assert(terabytes_per_second(apart) >= 44 && terabytes_per_second(apart) < 46);
static_assert(in_place.banks == OperandBanks::interleaved && terabytes_per_second(in_place) >= 44);

// ---- small tensors: free memory of the tiles lies between them

constexpr auto update = [](Ir& ir) { ops::scaled_add_(spread(ir, "w", 1000), load(ir, "dw", {1000 * tw::gc200.tiles})); };
constexpr auto momentum = [](Ir& ir) { ops::scaled_add_(spread(ir, "w", 1000), spread(ir, "momentum", 1000), {.b = -0.1}); };
constexpr auto in_frame = [](Ir& ir) {
  const Tensor x = load(ir, "x", {1000 * tw::gc200.tiles}), y = load(ir, "y", {1000 * tw::gc200.tiles});
  store("sum", ops::scaled_add(x, y, {.b = 3}));
};
constexpr std::int64_t one_cycle = 97 + 6 * (24 + 83), two_cycles = 97 + 6 * (24 + 2 * 83), three_cycles = 97 + 6 * (24 + 3 * 83);
static_assert(step_of(update).banks == OperandBanks::interleaved && step_of(update).cycles.compute == one_cycle);
static_assert(step_of(momentum).banks == OperandBanks::interleaved && step_of(momentum).cycles.compute == one_cycle);
static_assert(step_of(in_frame).banks == OperandBanks::interleaved && step_of(in_frame).cycles.compute == one_cycle);
static_assert(step_of([](Ir& ir) {
                const Tensor x = spread(ir, "x", 1000);
                ops::scaled_add_(x, x);
              }).cycles.compute == three_cycles,
              "both operands are one tensor");

/// A tile with as much memory as the program needs, or with some more.
constexpr tw::Target tight(auto build, std::int64_t more = 0) {
  return tw::gc200.with_bytes_per_tile(support::plan_of(build, tw::gc200).tile.total() + more);
}
static_assert(step_of(update, tight(update)).banks == OperandBanks::same, "no memory is free");
static_assert(step_of(update, tight(update)).cycles.compute == three_cycles);
static_assert(step_of(update, tight(update, bank_distance(tw::gc200_model))).banks == OperandBanks::interleaved);

/// A GC200 with less interleaved memory: the variable lies before it.
constexpr tw::IpuModel little_interleaved = [] {
  tw::IpuModel model = tw::gc200_model;
  model.interleaved_bytes = 32 * 1024;
  return model;
}();
constexpr Step before_region = step_of(update, tw::gc200.with_ipu(&little_interleaved));
static_assert(before_region.banks == OperandBanks::different && before_region.cycles.compute == two_cycles);

// ---- sums, differences and products load both operands in one cycle, and store in another

constexpr auto add = [](Ir& ir) {
  store("sum", load(ir, "x", {1000 * tw::gc200.tiles}) + load(ir, "y", {1000 * tw::gc200.tiles}));
};
constexpr auto add_halves = [](Ir& ir) {
  const tw::Shape shape{1200 * tw::gc200.tiles};
  store("sum", load(ir, "x", shape, tw::float16) + load(ir, "y", shape, tw::float16));
};
static_assert(step_of(add).banks == OperandBanks::different && step_of(add).cycles.compute == 11 + 6 * (29 + 2 * 84));
static_assert(step_of(add_halves).cycles.compute == 11 + 6 * (26 + 2 * 50));
static_assert(step_of([](Ir& ir) {
                store("sum", load(ir, "x", {1000, 8 * tw::gc200.tiles}) + load(ir, "y", {8 * tw::gc200.tiles}));
              }).count == 0,
              "a broadcast operand has a loop of its own");

// ---- as Poplar allocates: operands of sums may share a bank, those of products are in different ones

constexpr tw::Target allocated = tw::gc200.with_banks(tw::BankPolicy::as_allocated);
static_assert(step_of(update, allocated).count == 0);
static_assert(support::plan_of(update, allocated).cycles.compute - support::plan_of(update, tw::gc200).cycles.compute ==
              three_cycles - one_cycle);
constexpr auto product = [](Ir& ir) {
  store("y", load(ir, "x", {512, 1024}, tw::float16).matmul(support::variable(ir, "w", {1024, 1024}, tw::float16)));
};
static_assert(step_of(product, allocated).count == 1);
static_assert(step_of(product, allocated).banks == step_of(product).banks);
static_assert(step_of(product, allocated).cycles == step_of(product).cycles);

}  // namespace
