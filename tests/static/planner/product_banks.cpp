// labels: none
// Banks of the operands of products and convolutions: where these lie, and the cycles that follow from it.
#include "../../support/programs.hpp"
#include "tilewright/target/ipu_product_banks.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using tw::Ir, tw::Tensor, tw::OperandBanks;
namespace ops = tw::ops;
using support::load, support::store, support::variable;

/// The step of a program whose cycles depend on banks; the program has one of them.
struct Step {
  OperandBanks banks = OperandBanks::any;
  tw::CycleUse cycles{};
  int count = 0;
};
constexpr Step step_of(auto build, const tw::Target& target) {
  const tw::Plan plan = support::plan_of(build, target);
  Step result;
  for (std::size_t s = 0; s < plan.moves.size(); ++s)
    if (plan.moves[s].banks != OperandBanks::any) result = {plan.moves[s].banks, plan.step_cycles[s], result.count + 1};
  return result;
}

// ---- the formulas: instructions of a worker for the accesses to input and sums

constexpr tw::AmpModel mixed = tw::gc200_model.products.float16_float32, single = tw::gc200_model.products.float32;
constexpr std::int64_t rows_of_block = 6 * 8 * 4;  // 48 rows by a block of weights: 8 of each worker, 4 instructions each
static_assert(amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::interleaved) == 0);
static_assert(amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::different) == 4 * 3 * rows_of_block,
              "8 columns at a time, 16 terms at a time; the first terms load no sums");
static_assert(amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::same_pair) == 4 * 4 * rows_of_block);
static_assert(amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::same) == 4 * (1 + 3 * 2) * rows_of_block);
static_assert(amp_bank_cycles(single, 48, 8, 16, 3, OperandBanks::different) == 3 * 6 * 8 * 8, "sums of float32 are loaded");
static_assert(convolution_bank_cycles(mixed,
                                      {.rows = 6, .line = 5, .inner = 16, .columns = 8, .kernel_rows = 3, .kernel_line = 3}, 1,
                                      OperandBanks::different) == 9 * 6 * 5 * 4);
static_assert(slic_bank_cycles({.rows = 6, .line = 5, .inner = 4, .columns = 4, .kernel_rows = 3, .kernel_line = 4},
                               OperandBanks::same) == 6 * 5 * 4 * 4 * 4 / 32 * (1 + 2 * 2));
static_assert(dot_product_bank_cycles(4, 12, 10, 3, 1, OperandBanks::same) == 6 * 2 * 3 * 5);
static_assert(dot_product_bank_cycles(4, 12, 10, 3, 1, OperandBanks::different) == 0);

// ---- a product on one tile: input, weights and sums are in its memory

constexpr tw::Target one_tile = tw::gc200.with_tiles(1);
constexpr auto product = [](Ir& ir) {
  store("y", load(ir, "x", {48, 64}, tw::float16).matmul(variable(ir, "w", {64, 32}, tw::float16)));
};
constexpr Step apart = step_of(product, one_tile);
static_assert(apart.count == 1 && apart.banks == OperandBanks::interleaved);
static_assert(apart.cycles.compute == amp_cycles(mixed, 48, 64, 32), "poplibs' estimate");

/// A GC200 whose tiles have little memory for data behind their code: no operand can be moved away from another.
template <std::int64_t interleaved>
constexpr tw::IpuModel without_room = [] {
  tw::IpuModel model = tw::gc200_model;
  model.bytes_per_tile = 32 * 1024;
  model.interleaved_bytes = interleaved;
  return model;
}();
template <std::int64_t interleaved>
constexpr tw::Target little = tw::gc200.with_ipu(&without_room<interleaved>).with_tiles(1).with_bytes_per_tile(0);
constexpr Step pair = step_of(product, little<32 * 1024>), one_bank = step_of(product, little<0>);
static_assert(pair.banks == OperandBanks::same_pair && one_bank.banks == OperandBanks::same);
static_assert(pair.cycles.compute == apart.cycles.compute + amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::same_pair));
static_assert(one_bank.cycles.compute == apart.cycles.compute + amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::same));
static_assert(pair.cycles.assumed - apart.cycles.assumed == pair.cycles.compute - apart.cycles.compute,
              "no codelet of poplibs has such operands");

/// A GC200 without interleaved memory: sums are loaded and stored in turn.
constexpr tw::IpuModel no_interleaved = [] {
  tw::IpuModel model = tw::gc200_model;
  model.interleaved_bytes = 0;
  return model;
}();
constexpr tw::Target not_interleaved = tw::gc200.with_ipu(&no_interleaved).with_tiles(1);
constexpr Step in_turn = step_of(product, not_interleaved);
static_assert(in_turn.banks == OperandBanks::different);
static_assert(in_turn.cycles.compute == apart.cycles.compute + amp_bank_cycles(mixed, 48, 64, 32, 1, OperandBanks::different));

// ---- dot products need both operands in different banks, and sums anywhere

constexpr auto dots = [](Ir& ir) { store("y", load(ir, "x", {48, 64}).matmul(load(ir, "w", {64, 1}))); };
constexpr Step terms = step_of(dots, one_tile), shared_terms = step_of(dots, little<0>);
static_assert(terms.banks == OperandBanks::different && shared_terms.banks == OperandBanks::same);
static_assert(terms.cycles.compute == tw::dot_product_cycles(4, 48, 64, 1));
static_assert(shared_terms.cycles.compute == terms.cycles.compute + dot_product_bank_cycles(4, 48, 64, 1, 1, OperandBanks::same));
static_assert(step_of(dots, not_interleaved).cycles.compute == terms.cycles.compute);

// ---- convolutions, and sums in the memory of an epilogue

constexpr auto convolution = [](Ir& ir) {
  store("y", ops::conv(load(ir, "x", {1, 32, 12, 12}, tw::float16), variable(ir, "w", {16, 32, 3, 3}, tw::float16)));
};
constexpr Step conv = step_of(convolution, one_tile), conv_pair = step_of(convolution, little<1024 * 1024>);
static_assert(conv.banks == OperandBanks::interleaved && conv_pair.banks == OperandBanks::same_pair);
static_assert(conv_pair.cycles.compute > conv.cycles.compute);
constexpr auto biased = [](Ir& ir) {
  const Tensor x = load(ir, "x", {48, 64}, tw::float16), w = variable(ir, "w", {64, 32}, tw::float16);
  store("y", ops::gelu(x.matmul(w) + variable(ir, "b", {32}, tw::float16)));
};
static_assert(step_of(biased, one_tile).count == 1 && step_of(biased, one_tile).banks == OperandBanks::interleaved);

// ---- a graph that is called from two places has its operands apart in both

constexpr auto calls = [](Ir& ir) {
  const auto square = ir.create_graph([](Tensor x, Tensor w) { return x.matmul(w); }, tw::TensorSpec{{48, 64}, tw::float16},
                                      tw::TensorSpec{{64, 64}, tw::float16});
  const Tensor w = variable(ir, "w", {64, 64}, tw::float16);
  const Tensor once = tw::call(square, {load(ir, "x", {48, 64}, tw::float16), w});
  store("y", tw::call(square, {once, w}));
};
static_assert(step_of(calls, one_tile).banks == OperandBanks::interleaved);

}  // namespace
