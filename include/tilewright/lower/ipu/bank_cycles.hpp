#pragma once
// takes: a whole plan whose homes have addresses; TileHomes::bank_steps
// gives: BankStep::banks and StepMoves::banks of these steps; their cycles in Plan::step_cycles
// keeps: all else
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/ipu/tile_map.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/target/vertex_cycles.hpp"

namespace tilewright::internal {

namespace detail {

/// Counts cycles by the banks in which operands lie. A tile's data are at the end of its memory, where it is interleaved; code,
/// which cannot be there, is at the start. A body that is called from several places is counted where its frame is nearest to the
/// homes. So a distance between a home and a room is at least the one that is counted here.
class BankCounter {
 public:
  constexpr BankCounter(TileHomes& homes, const Target& target, Plan& plan)
      : homes_(homes), target_(target), model_(*target.ipu), plan_(plan) {}

  constexpr void run() {
    find_frames();
    for (BankStep& step : homes_.bank_steps) {
      const CycleCount change = step.use == BankUse::elements ? count_elements(step) : count_product(step);
      const auto at = static_cast<std::size_t>(plan_.bodies[step.body].first_step + step.group);
      plan_.moves[at].banks = step.banks;
      plan_.step_cycles[at].compute += step.vertices * change.cycles;
      plan_.step_cycles[at].assumed += step.vertices * change.assumed;
    }
  }

 private:
  /// Sets a step's banks, and returns by how much they change the cycles of a vertex.
  constexpr CycleCount count_elements(BankStep& step) const {
    step.banks = banks_of(step);
    return cycles_of(step, step.banks) + -1 * cycles_of(step, OperandBanks::same);
  }
  /// Sets a product's banks, and returns the cycles that a vertex takes longer than in the best banks, for which it is counted.
  /// How much longer is assumed. Data that do not fit a tile are in no banks: they count as in the best ones.
  constexpr CycleCount count_product(BankStep& step) const {
    if (plan_.tile_sets[static_cast<std::size_t>(step.set)].data_bytes() > memory_of_tile(target_)) {
      step.banks = OperandBanks::any;
      return {};
    }
    const OperandBanks sums = banks_of_sums(step),
                       terms = are_separate(step, step.x, step.y) ? OperandBanks::different : OperandBanks::same;
    const std::int64_t best = (std::min)(step.by_unit(OperandBanks::interleaved), step.dots(OperandBanks::different));
    step.use = step.dots(terms) < step.by_unit(sums) ? BankUse::terms : BankUse::sums;
    step.banks = step.use == BankUse::terms ? terms : sums;
    return {(step.use == BankUse::terms ? step.dots(terms) : step.by_unit(sums)) - best, Confidence::assumed};
  }
  constexpr OperandBanks banks_of_sums(const BankStep& step) const {
    const bool interleaved = is_interleaved(step, step.result);
    if (!are_separate(step, step.x, step.result)) return interleaved ? OperandBanks::same_pair : OperandBanks::same;
    return interleaved ? OperandBanks::interleaved : OperandBanks::different;
  }
  /// Returns whether no bank can have bytes of both operands.
  constexpr bool are_separate(const BankStep& step, const BankOperand& a, const BankOperand& b) const {
    const std::int64_t first = start(step, a), second = start(step, b), least = 2 * model_.memory_element_bytes;
    return first + a.bytes + least <= second || second + b.bytes + least <= first;
  }
  constexpr OperandBanks banks_of(const BankStep& step) const {
    if (step.x.operand == step.y.operand || !are_apart(step, step.x, step.y)) return OperandBanks::same;
    const bool has_third =  // for the result
        step.result.operand == step.x.operand ? is_interleaved(step, step.x)
                                              : are_apart(step, step.x, step.result) && are_apart(step, step.y, step.result);
    return has_third && step.op->vertex_cost.formula == CostFormula::scaled_add ? OperandBanks::interleaved
                                                                                : OperandBanks::different;
  }
  constexpr CycleCount cycles_of(const BankStep& step, OperandBanks banks) const {
    return vertex_cycles(*step.op, step.dtype, step.elements, 1, model_, TermOrder::rows, banks);
  }
  /// Returns the address of an operand's first slice, from the set's first variable.
  constexpr std::int64_t start(const BankStep& step, const BankOperand& operand) const {
    if (operand.has_home()) return homes_.find(operand.base, operand.offset)->address;
    return plan_.tile_sets[static_cast<std::size_t>(step.set)].frame_address +
           frames_[step.body][static_cast<std::size_t>(step.set)] + operand.address;
  }
  /// Finds the smallest address of each body's frame. Callers are planned after the bodies that they call.
  constexpr void find_frames() {
    constexpr std::int64_t unknown = -1;
    frames_.resize(plan_.bodies.size());
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b)
      frames_[BodyId(b)] = List<std::int64_t>(plan_.tile_sets.size(), plan_.is_root(BodyId(b)) ? 0 : unknown);
    for (std::size_t i = homes_.called_frames.size(); i-- > 0;) {
      const CalledFrame& each = homes_.called_frames[i];
      const auto set = static_cast<std::size_t>(each.set);
      std::int64_t& frame = frames_[each.body][set];
      const std::int64_t address = std::max<std::int64_t>(0, frames_[each.caller][set]) + each.address;
      if (frame == unknown || address < frame) frame = address;
    }
    for (List<std::int64_t>& of_body : frames_)
      for (std::int64_t& frame : of_body) frame = std::max<std::int64_t>(0, frame);
  }
  constexpr bool are_apart(const BankStep& step, const BankOperand& a, const BankOperand& b) const {
    const std::int64_t first = start(step, a) - start(step, b);
    const std::int64_t last = first + (step.vertices - 1) * (a.slice_bytes - b.slice_bytes), least = bank_distance(model_);
    return (first >= least && last >= least) || (first <= -least && last <= -least);
  }
  constexpr bool is_interleaved(const BankStep& step, const BankOperand& operand) const {
    return plan_.tile_sets[static_cast<std::size_t>(step.set)].data_bytes() - start(step, operand) <= model_.interleaved_bytes;
  }

  List<List<std::int64_t>, BodyId> frames_{};  // by body and set of tiles: from the frame of a root
  TileHomes& homes_;
  const Target& target_;
  const IpuModel& model_;
  Plan& plan_;
};

}  // namespace detail

/// Counts the cycles of steps that depend on the banks of their operands.
constexpr void count_bank_cycles(TileHomes& homes, const Target& target, Plan& plan) {
  detail::BankCounter(homes, target, plan).run();
}

}  // namespace tilewright::internal
