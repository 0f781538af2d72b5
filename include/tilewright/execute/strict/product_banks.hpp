#pragma once
#include <string>

#include "tilewright/execute/strict/machine.hpp"

namespace tilewright::internal {

/// Returns what is wrong with the banks of a product's operands, for which the plan counts the cycles of the step; "": nothing.
/// Any element of the input may be read in a cycle in which any of the sums is, so rooms are compared.
[[gnu::cold]] inline std::string fault_of_product_banks(const StrictPlan& plan, StrictMachine& machine, std::size_t b,
                                                        std::size_t g) {
  const StrictBody& body = plan.bodies[b];
  const StrictGroup& group = body.groups[g];
  const BankStep& step = group.bank_step;
  const auto room_of = [&](int operand) -> LiveRoom& {
    if (operand == scratch_operand)
      for (std::size_t r = 0; r < body.rooms.size(); ++r)
        if (body.rooms[r].kind == RoomKind::scratch && body.rooms[r].first == static_cast<int>(g))
          return machine.room(b, static_cast<int>(r));
    const StrictOperand& each = group.operands.at(static_cast<std::size_t>(operand));
    if (each.access != TileAccess::local) return machine.room(b, each.room);
    return machine.room_of(b, body.storages[static_cast<std::size_t>(each.storage)]);
  };
  const LiveRoom &x = room_of(step.x.operand), &other = room_of(step.partner().operand);
  const std::int64_t pair = plan.bank_rules.pair_bytes;
  if (step.banks >= OperandBanks::different && x.begin + x.bytes + pair > other.begin &&
      other.begin + other.bytes + pair > x.begin)
    return strict_text({machine.name_of_room(x), " at bytes ", x.begin, " to ", x.begin + x.bytes, " and ",
                        machine.name_of_room(other), " at bytes ", other.begin, " to ", other.begin + other.bytes,
                        " can share a bank, and the plan counts cycles for different ones: at least ", pair,
                        " bytes between them expected"});
  if (step.banks != OperandBanks::interleaved && step.banks != OperandBanks::same_pair) return "";
  const TileSetUse& set = plan.program.tile_sets[static_cast<std::size_t>(group.grid.places.set)];
  const std::int64_t least = set.data_bytes() - plan.bank_rules.interleaved_bytes;
  if (other.begin >= least) return "";
  return strict_text({machine.name_of_room(other), " at byte ", other.begin,
                      " is not in interleaved memory, for which the plan counts cycles: byte ", least, " or more expected"});
}

}  // namespace tilewright::internal
