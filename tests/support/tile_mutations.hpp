#pragma once
// Changes of a plan for a simulated IPU on its tiles, by seed: of its table of tiles, of its sizes, and of what it counts for
// exchanges and banks.
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tile_data.hpp"

namespace tile_mutations {

namespace tw = tilewright;
using tile_faults::TileBody, tile_faults::TileData;
using tw::Plan;
using tw::internal::Base, tw::internal::BodyId, tw::OperandBanks, tw::internal::Room, tw::internal::RoomKind,
    tw::internal::StepRecord, tw::internal::StepUse, tw::internal::StorageKind, tw::internal::StorageRecord,
    tw::internal::TileAccess, tw::internal::TileOperand;

/// Draws changes. A change returns what it did; nothing if the plan has no place for it.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::optional<std::string> change(Plan& plan) {
    static constexpr Change (Mutator::* kinds[])() = {
        &Mutator::life,  &Mutator::address, &Mutator::room_size,  &Mutator::exchange,  &Mutator::vertices, &Mutator::home,
        &Mutator::block, &Mutator::frame,   &Mutator::moves,      &Mutator::host,      &Mutator::bank,     &Mutator::size,
        &Mutator::owner, &Mutator::slices,  &Mutator::tile_bytes, &Mutator::layout_of, &Mutator::dropped};
    plan_ = &plan;
    data_ = TileData(plan.tile_table);
    const Change what = std::invoke(kinds[random_() % std::size(kinds)], this);
    if (what) plan.tile_table = data_.table();
    return what;
  }

 private:
  using Change = std::optional<std::string>;

  template <class Row>
  Row* drawn(const std::vector<Row*>& rows) {
    return rows.empty() ? nullptr : rows[random_() % rows.size()];
  }
  template <class Condition>
  Room* room(const Condition& holds) {
    std::vector<Room*> rooms;
    for (TileBody& body : data_.bodies)
      for (Room& each : body.rooms)
        if (each.bytes > 0 && holds(each)) rooms.push_back(&each);
    return drawn(rooms);
  }
  template <class Condition>
  TileOperand* operand(const Condition& holds) {
    std::vector<TileOperand*> operands;
    for (TileBody& body : data_.bodies)
      for (StepRecord& step : body.steps)
        for (TileOperand& each : step.tile_operands)
          if (holds(each)) operands.push_back(&each);
    return drawn(operands);
  }
  /// A tensor. `is_copied`: also one that calls copy to and from the tiles of their bodies.
  StorageRecord* storage(bool is_copied) {
    std::vector<StorageRecord*> storages;
    for (TileBody& body : data_.bodies) {
      std::vector<bool> is_argument(body.storages.size());
      for (const StepRecord& step : body.steps)
        for (const auto& value : step.call_values) is_argument[static_cast<std::size_t>(value.storage)] = true;
      for (std::size_t s = 0; s < body.storages.size(); ++s)
        if (StorageRecord& each = body.storages[s]; each.kind != StorageKind::part && each.layout.is_decided() &&
                                                    each.layout.axes.size() > 0 && (is_copied || !is_argument[s]))
          storages.push_back(&each);
    }
    return drawn(storages);
  }

  Change life() {
    Room* const found = room([](const Room& each) { return each.kind == RoomKind::storage && each.last > each.first; });
    if (!found) return {};
    if (random_() % 2 == 0) ++found->first;
    else --found->last;
    return "memory is freed a step early, or made a step late";
  }
  Change address() {
    Room* const a = room([](const Room&) { return true; });
    if (!a) return {};
    Room* const b = room(
        [&](const Room& each) { return each.set == a->set && each.first <= a->last && a->first <= each.last && &each != a; });
    if (!b || a->address == b->address) return {};
    a->address = b->address;
    return "two tensors at one place";
  }
  Change room_size() {
    Room* const found = room([](const Room& each) { return each.kind != RoomKind::scratch; });
    if (!found) return {};
    if (random_() % 2 == 0) return found->bytes = -found->bytes, "a negative room";
    found->bytes -= 8;
    return "a room that is too small";
  }
  Change exchange() {
    TileOperand* const found = operand([](const TileOperand& each) { return each.access != TileAccess::local; });
    if (!found) return {};
    found->access = TileAccess::local;
    return "an exchange that is dropped";
  }
  Change dropped() {
    Room* const found = room([](const Room& each) { return each.kind == RoomKind::received || each.kind == RoomKind::sent; });
    if (!found) return {};
    found->bytes = 0;
    return "no memory for what an exchange brings";
  }
  Change vertices() {
    std::vector<StepRecord*> steps;
    for (TileBody& body : data_.bodies)
      for (StepRecord& step : body.steps)
        for (const TileOperand& each : step.tile_operands)
          if (step.use == StepUse::computes && each.access == TileAccess::local && step.grid.places.count > 1 &&
              (steps.empty() || steps.back() != &step))
            steps.push_back(&step);
    StepRecord* const step = drawn(steps);
    if (!step) return {};
    step->grid.places.first_tile += 1;
    return "vertices on the next tiles";
  }
  Change home() {
    auto& homes = random_() % 2 == 0 || data_.constants.empty() ? data_.variables : data_.constants;
    if (homes.size() < 2) return {};
    auto &a = homes[random_() % homes.size()], &b = homes[random_() % homes.size()];
    if (a.address == b.address) return {};
    a.address = b.address;
    return "two variables or constants at one place";
  }
  Change block() {
    StorageRecord* const found = storage(false);
    if (!found) return {};
    auto& axis = found->layout.axes[0];
    if (axis.block == axis.extent) axis.block = (axis.extent + 1) / 2;
    else axis.block += 1;
    return "other blocks of a tensor";
  }
  Change layout_of() {
    StorageRecord* const found = storage(true);
    if (!found) return {};
    if (random_() % 2 == 0) found->layout.places.count -= 1;
    else found->layout.places.set += 1;
    return "other places of a tensor";
  }
  Change frame() {
    for (TileBody& body : data_.bodies)
      for (auto& each : body.frames)
        if (each.bytes > 0) return each.bytes -= 8, "a frame that is too small";
    return {};
  }
  Change moves() {
    std::vector<tw::internal::TileExchange*> exchanges;
    for (auto& each : plan_->moves)
      if (each.set >= 0)
        for (auto* const exchange : {&each.before, &each.after})
          if (!exchange->is_empty()) exchanges.push_back(exchange);
    auto* const found = drawn(exchanges);
    if (!found) return {};
    switch (random_() % 3) {
      case 0: *found = {}; break;
      case 1: found->total_bytes *= 2; break;
      default: found->bytes_in = -found->bytes_in;
    }
    return "bytes of an exchange";
  }
  Change host() {
    std::vector<std::int64_t*> bytes;
    for (auto& each : plan_->moves)
      for (std::int64_t* const one : {&each.host_in, &each.host_out})
        if (*one > 0) bytes.push_back(one);
    std::int64_t* const found = drawn(bytes);
    if (!found) return {};
    *found += random_() % 2 == 0 ? *found : -*found;
    return "bytes of a stream";
  }
  Change bank() {
    for (auto& each : data_.bank_steps) {
      auto& moves = plan_->moves[static_cast<std::size_t>(plan_->bodies[each.body].first_step + each.group)];
      if (each.banks == OperandBanks::same || each.banks == OperandBanks::same_pair) {
        moves.banks = each.banks = each.use == tw::BankUse::sums ? OperandBanks::interleaved : OperandBanks::different;
        return "banks that operands are not in";
      }
    }
    if (data_.bank_steps.empty()) return {};
    data_.bank_rules.distance /= 2;
    return "banks that are nearer";
  }
  Change size() {
    std::vector<std::int64_t*> sizes{&plan_->memory.frame, &plan_->memory.variables, &plan_->memory.code, &plan_->memory.remote};
    for (auto& set : plan_->tile_sets)
      for (std::int64_t* const one : {&set.tile.frame, &set.tile.variables, &set.tile.stack, &set.tile.code.exchange})
        sizes.push_back(one);
    std::int64_t* const found = drawn(sizes);
    if (*found == 0) *found = 8;
    *found = -*found;
    return "a negative size";
  }
  Change owner() {
    std::vector<std::pair<StepRecord*, std::size_t>> uses;
    for (TileBody& body : data_.bodies)
      for (StepRecord& step : body.steps)
        for (std::size_t i = 0; i + 1 < step.location_storages.size(); ++i)
          if (step.location_storages[i] >= 0 && step.location_storages[i + 1] >= 0 &&
              step.location_storages[i] != step.location_storages[i + 1])
            uses.emplace_back(&step, i);
    if (uses.empty()) return {};
    const auto& [step, i] = uses[random_() % uses.size()];
    step->location_storages[i] = step->location_storages[i + 1];
    return "the memory of another operand";
  }
  Change slices() {
    TileOperand* const found = operand([](const TileOperand& each) { return each.slice_elements > 0; });
    if (!found) return {};
    found->slice_elements += random_() % 2 == 0 ? 1 : -1;
    return "elements of slices";
  }
  Change tile_bytes() {
    for (auto& set : plan_->tile_sets)
      if (set.tile.variables + set.tile.constants > 0) return set.frame_address = 0, "a frame over the variables";
    return {};
  }

  std::mt19937_64 random_;
  Plan* plan_ = nullptr;
  TileData data_{};
};

}  // namespace tile_mutations
