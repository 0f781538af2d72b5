#pragma once
#include <cstdint>
#include <limits>

#include "tilewright/target/ipu_cycles.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that a step whose cycles count on operands in different banks has them there, on each tile and for each vertex.
template <class AnyPlan>
class BankProof {
 public:
  constexpr BankProof(const AnyPlan& plan, const Target& target, const DataOnTiles& data, FirstFault& fault)
      : plan_(plan), target_(target), sets_{plan, target}, data_(data), fault_(fault) {}

  constexpr void run() {
    const BankRules& rules = data_.rules;
    fault_.expect(rules.distance == bank_distance(*target_.ipu) && rules.pair_bytes == 2 * target_.ipu->memory_element_bytes &&
                      rules.interleaved_bytes == target_.ipu->interleaved_bytes,
                  "banks", BodyId::none, -1, "banks ", rules.distance, " bytes apart: ", bank_distance(*target_.ipu),
                  " expected");
    find_frames();
    List<bool> is_known(plan_.steps.size(), false);
    for (const BankStep& step : data_.bank_steps) {
      const BodyOnTiles* const body = find(step.body);
      if (!fault_.expect(body != nullptr && step.group >= 0 && static_cast<std::size_t>(step.group) < body->steps.size() &&
                             body->steps[static_cast<std::size_t>(step.group)].use == StepUse::computes,
                         "banks", step.body, step.group, "banks of a step that does not compute: one that does expected"))
        return;
      const int first = plan_.bodies.data()[static_cast<std::size_t>(step.body)].first_step;
      is_known[static_cast<std::size_t>(first + step.group)] = true;
      validate(*body, step, first);
    }
    if constexpr (requires { plan_.moves; })
      for (std::size_t s = 0; s < is_known.size() && s < plan_.moves.size(); ++s)
        fault_.expect(is_known[s] || plan_.moves[s].banks == OperandBanks::any, "banks", BodyId::none, -1, "cycles of step ", s,
                      " of the plan count on banks `", name_of(plan_.moves[s].banks), "`, but its operands are not known");
  }

 private:
  /// Bytes of a tile's vertices, one slice after the other. `bytes`: all that they may use.
  struct Range {
    std::int64_t begin = 0, slice = 0, bytes = 0;
  };
  /// The smallest address of a body's frame in the frame of a root, where the body may be called at several.
  constexpr std::int64_t& frame_of(BodyId body, int set) {
    return frames_[static_cast<std::size_t>(body) * plan_.tile_sets.size() + static_cast<std::size_t>(set)];
  }
  constexpr std::int64_t frame_of(BodyId body, int set) const {
    return frames_[static_cast<std::size_t>(body) * plan_.tile_sets.size() + static_cast<std::size_t>(set)];
  }
  /// Follows calls from the roots until no address changes. Calls do not form a circle, as another check finds.
  constexpr void find_frames() {
    constexpr std::int64_t unknown = (std::numeric_limits<std::int64_t>::max)();
    frames_ = List<std::int64_t>(plan_.bodies.size() * plan_.tile_sets.size(), unknown);
    for (const BodyOnTiles& body : data_.bodies)
      for (int set = 0; set < static_cast<int>(plan_.tile_sets.size()); ++set)
        if (plan_.is_root(body.body)) frame_of(body.body, set) = 0;
    bool changes = true;
    for (std::size_t times = 0; changes && times <= data_.bodies.size(); ++times) {
      changes = false;
      for (const BodyOnTiles& body : data_.bodies)
        for (const Room& room : body.rooms) {
          if (room.kind != RoomKind::called || frame_of(body.body, room.set) == unknown) continue;
          const int first = plan_.bodies.data()[static_cast<std::size_t>(body.body)].first_step;
          const Step& step = plan_.steps[static_cast<std::size_t>(first + room.first)];
          for (const BodyId callee : {step.body, step.else_body}) {
            if (callee == BodyId::none) continue;
            std::int64_t& frame = frame_of(callee, room.set);
            const std::int64_t address = frame_of(body.body, room.set) + room.address;
            if (address < frame) frame = address, changes = true;
          }
        }
    }
    for (std::int64_t& frame : frames_)
      if (frame == unknown) frame = 0;
  }
  constexpr const BodyOnTiles* find(BodyId number) const {
    for (const BodyOnTiles& body : data_.bodies)
      if (body.body == number) return &body;
    return nullptr;
  }
  constexpr void validate(const BodyOnTiles& body, const BankStep& step, int first) {
    const auto at = static_cast<std::size_t>(step.group);
    const StepRecord& record = body.steps[at];
    if constexpr (requires { plan_.moves; })
      fault_.expect(static_cast<std::size_t>(first) + at < plan_.moves.size() &&
                        plan_.moves[static_cast<std::size_t>(first) + at].banks == step.banks,
                    "banks", body.body, step.group, "cycles count on other banks than `", name_of(step.banks),
                    "`, which the plan has: the same expected");
    if (step.use != BankUse::elements) return check_product(body, step, static_cast<std::size_t>(first) + at);
    if (step.banks != OperandBanks::different && step.banks != OperandBanks::interleaved) return;
    const std::size_t number = static_cast<std::size_t>(first) + at;
    fault_.expect(is_used(record, number, step.x.operand, false) && is_used(record, number, step.y.operand, false) &&
                      is_used(record, number, step.result.operand, true),
                  "banks", body.body, step.group,
                  "a sum of operands that the step does not read, or does not write: others expected");
    Range x, y, result;
    if (!find(body, step, step.x.operand, x) || !find(body, step, step.y.operand, y) ||
        !find(body, step, step.result.operand, result))
      return void(fault_.expect(false, "banks", body.body, step.group, "an operand that is on no tile: an operand expected"));
    const std::int64_t vertices = sets_.on_a_tile(record.grid.places);
    fault_.expect(are_apart(x, y, vertices), "banks", body.body, step.group, "operands at bytes ", x.begin, " and ", y.begin,
                  " of a tile: ", data_.rules.distance,
                  " bytes between them expected, because its cycles count on different banks");
    if (step.banks != OperandBanks::interleaved) return;
    const TileSetUse& use = plan_.tile_sets[static_cast<std::size_t>(record.grid.places.set)];
    const bool is_right = step.result.operand == step.x.operand
                              ? use.data_bytes() - x.begin <= data_.rules.interleaved_bytes
                              : are_apart(x, result, vertices) && are_apart(y, result, vertices);
    fault_.expect(is_right, "banks", body.body, step.group, "a result at byte ", result.begin,
                  " of a tile: a third bank, or interleaved memory, expected");
  }
  /// Returns whether a step reads, or writes, one of its operands on tiles.
  constexpr bool is_used(const StepRecord& record, std::size_t step, int operand, bool writes) const {
    if (operand < 0 || static_cast<std::size_t>(operand) >= record.tile_operands.size()) return false;
    const TileOperand& each = record.tile_operands[static_cast<std::size_t>(operand)];
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(plan_.steps[step].compute_set)];
    const auto operand_of = [&](int m, int o) -> const StageOperand& {
      return plan_
          .operands[static_cast<std::size_t>(plan_.stages[static_cast<std::size_t>(set.first_stage + m)].first_operand + o)];
    };
    const StageOperand& taken = operand_of(each.member, each.operand);
    for (int m = 0; m < set.stage_count; ++m) {
      const Stage& stage = plan_.stages[static_cast<std::size_t>(set.first_stage + m)];
      for (int o = writes ? stage.input_count : 0; o < (writes ? stage.operand_count : stage.input_count); ++o)
        if (const StageOperand& other = operand_of(m, o); other.source == Source::memory && other.index == taken.index)
          return true;
    }
    return false;
  }
  /// Checks a product: any element of the input may be read in a cycle in which any of the sums is.
  constexpr void check_product(const BodyOnTiles& body, const BankStep& step, std::size_t number) {
    if (step.banks == OperandBanks::any || step.banks == OperandBanks::same) return;
    const bool has_sums = step.use == BankUse::sums;
    const StepRecord& record = body.steps[static_cast<std::size_t>(step.group)];
    const int second = has_sums ? step.result.operand : step.y.operand;
    const auto is_right = [&](int operand, bool writes) {
      return operand == scratch_operand || is_used(record, number, operand, writes);
    };
    fault_.expect(is_right(step.x.operand, false) && is_right(second, has_sums), "banks", body.body, step.group,
                  "a product of operands that the step does not read, or does not write: others expected");
    Range x, other;
    if (!find(body, step, step.x.operand, x) || !find(body, step, second, other))
      return void(fault_.expect(false, "banks", body.body, step.group, "an operand that is on no tile: an operand expected"));
    if (step.banks != OperandBanks::same_pair)
      fault_.expect(x.begin + x.bytes + data_.rules.pair_bytes <= other.begin ||
                        other.begin + other.bytes + data_.rules.pair_bytes <= x.begin,
                    "banks", body.body, step.group, x.bytes, " bytes of the input at ", x.begin, " and ", other.bytes,
                    has_sums ? " of sums at " : " of the other operand at ", other.begin, " of a tile: ", data_.rules.pair_bytes,
                    " bytes between them expected, because its cycles count on different banks");
    if (step.banks == OperandBanks::different) return;
    const TileSetUse& use = plan_.tile_sets[static_cast<std::size_t>(record.grid.places.set)];
    fault_.expect(has_sums && use.data_bytes() - other.begin <= data_.rules.interleaved_bytes, "banks", body.body, step.group,
                  "sums at byte ", other.begin, " of a tile: interleaved memory expected");
  }
  constexpr bool are_apart(const Range& a, const Range& b, std::int64_t vertices) const {
    for (std::int64_t v = 0; v < vertices; ++v) {
      const std::int64_t apart = a.begin + v * a.slice - b.begin - v * b.slice;
      if (apart < data_.rules.distance && -apart < data_.rules.distance) return false;
    }
    return true;
  }
  /// Finds where an operand is on tiles, from the first variable on.
  constexpr bool find(const BodyOnTiles& body, const BankStep& step, int operand, Range& range) const {
    const StepRecord& record = body.steps[static_cast<std::size_t>(step.group)];
    if (operand == scratch_operand)
      for (const Room& room : body.rooms)
        if (room.kind == RoomKind::scratch && room.first == step.group) return place(body, room, range), true;
    if (operand < 0 || static_cast<std::size_t>(operand) >= record.tile_operands.size()) return false;
    const TileOperand& each = record.tile_operands[static_cast<std::size_t>(operand)];
    if (static_cast<std::size_t>(each.storage) >= body.storages.size()) return false;
    const StorageRecord& storage = body.storages[static_cast<std::size_t>(each.storage)];
    range.slice = align(each.slice_elements * size_of(storage.dtype), tile_alignment);
    const Base base = storage.location.base;
    if (each.access == TileAccess::local && (base == Base::variable || base == Base::constant)) {
      for (const Home& home : base == Base::variable ? data_.variables : data_.constants)
        if (home.offset == storage.location.offset) {
          range.begin = home.address, range.bytes = sets_.bytes_of(storage.layout, storage.dtype);
          return true;
        }
      return false;
    }
    int earlier = 0;  // operands with slices of the same storage, which have rooms of their own
    for (int k = 0; k < operand; ++k) {
      const TileOperand& other = record.tile_operands[static_cast<std::size_t>(k)];
      earlier += other.storage == each.storage && other.access != TileAccess::local;
    }
    for (const Room& room : body.rooms) {
      const bool is_used = room.storage == each.storage && room.first <= step.group && step.group <= room.last;
      const bool is_slice = room.kind == RoomKind::received || room.kind == RoomKind::sent;
      if (!is_used || (each.access == TileAccess::local ? room.kind != RoomKind::storage : !is_slice)) continue;
      if (each.access != TileAccess::local && earlier-- > 0) continue;
      return place(body, room, range), true;
    }
    return false;
  }
  constexpr void place(const BodyOnTiles& body, const Room& room, Range& range) const {
    range.begin = plan_.tile_sets[static_cast<std::size_t>(room.set)].frame_address + frame_of(body.body, room.set) +
                  room.address;
    range.bytes = room.bytes;
  }

  List<std::int64_t> frames_{};  // by body and set of tiles
  const AnyPlan& plan_;
  const Target& target_;
  SetsOfTiles<AnyPlan> sets_;
  const DataOnTiles& data_;
  FirstFault& fault_;
};

}  // namespace tilewright::internal::proof::detail
