#pragma once
// takes: a whole plan and CodeUse by set of tiles
// gives: RemoteTraffic: data that a run moves to and from streaming memory; Plan::step_cycles, its cycles
// keeps: all else of the plan
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/program/code_memory.hpp"
#include "tilewright/lower/program/fold_bodies.hpp"

namespace tilewright::internal {

namespace detail {

/// Counts the data that the steps of a run move between the tiles and streaming memory.
class RemoteTrafficCounter {
 public:
  constexpr RemoteTrafficCounter(Plan& plan, const List<CodeUse>& code, const Target& target)
      : plan_(plan), code_(code), target_(target) {
    if (target.ipu != nullptr) memory_ = &target.ipu->streaming_memory;  // the host's remote buffers are memory like other
  }

  constexpr RemoteTraffic run() {
    const auto add_call = [](RemoteTraffic& all, std::int64_t times, const RemoteTraffic& one, const RemoteTraffic& other) {
      add_larger(all.loaded_bytes, times, one.loaded_bytes, other.loaded_bytes);
      add_larger(all.stored_bytes, times, one.stored_bytes, other.stored_bytes);
      add_larger(all.code_bytes, times, one.code_bytes, other.code_bytes);
      add_larger(all.cycles, times, one.cycles, other.cycles);
      add_larger(all.exchanges, times, one.exchanges, other.exchanges);
    };
    return fold_bodies(plan_, RemoteTraffic{}, [this](RemoteTraffic& all, int s) { add_step(all, s); }, add_call);
  }

 private:
  constexpr void add_step(RemoteTraffic& all, int s) {
    const Step& step = plan_.steps[s];
    if (step.is_call()) return;
    if (step.kind == StepKind::load_code) add_code(all, step.body);
    else if (!plan_.remote_buffers.empty()) add_row(all, step);
    if (together_.empty() || !ends_exchange(s)) return;
    if (memory_ != nullptr) {
      CycleUse& use = plan_.step_cycles[s];
      use.remote = memory_->cycles(together_, target_.clock_hz());
      all.cycles += use.remote;
    }
    ++all.exchanges;
    together_.clear();
  }
  constexpr void add_code(RemoteTraffic& all, BodyId body) {
    if (memory_ == nullptr || memory_->bytes_per_second == 0) return;
    const TileSets sets(target_);
    std::int64_t bytes = 0;
    for (std::size_t set = 0; set < code_.size(); ++set)
      bytes += sets.count(static_cast<int>(set)) * code_[set].by_body[body].total();
    together_.push_back(bytes);
    all.code_bytes += bytes;
  }
  /// Adds a row: a step with a table of rows (rows, elements) among its operands moves one of them.
  constexpr void add_row(RemoteTraffic& all, const Step& step) {
    const Stage& stage = plan_.stages[plan_.compute_sets[step.compute_set].first_stage];
    for (int o = 0; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan_.operands[stage.first_operand + o];
      if (operand.source != Source::memory || plan_.locations[step.first_location + operand.index].base != Base::remote) continue;
      together_.push_back(operand.view.shape[-1] * size_of(operand.view.dtype));
      (o < stage.input_count ? all.loaded_bytes : all.stored_bytes) += together_.back();
    }
  }
  constexpr bool ends_exchange(int s) {
    const List<PlannedExchange>& exchanges = plan_.exchanges;
    while (exchange_ < exchanges.size() && exchanges[exchange_].last_step() < s) ++exchange_;
    return exchange_ == exchanges.size() || s < exchanges[exchange_].first_step || s == exchanges[exchange_].last_step();
  }

  Plan& plan_;
  const List<CodeUse>& code_;
  const Target& target_;
  const OffChipPath* memory_ = nullptr;  // null: no cycles are counted
  List<std::int64_t> together_{};  // bytes of each transfer of the exchange that is being counted
  std::size_t exchange_ = 0;       // the first one that is not over
};

}  // namespace detail

/// Returns the traffic of a run between the tiles and streaming memory. Rows move in sequence: each load and each store waits
/// for the memory separately, except those of one exchange. The code of a graph is assumed to be as large on all tiles as on
/// the fullest. For a conditional, each figure is that of the branch where the figure is larger.
constexpr RemoteTraffic count_remote_traffic(Plan& plan, const List<CodeUse>& code, const Target& target) {
  return detail::RemoteTrafficCounter(plan, code, target).run();
}

}  // namespace tilewright::internal
