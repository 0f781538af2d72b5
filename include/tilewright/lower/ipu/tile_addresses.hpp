#pragma once
// takes: a draft whose storages and groups are mapped to tiles; steps and moves of this body in the plan
// gives: TileMap::rooms: addresses and live ranges in the memory of tiles; the body's bytes on a tile; TileHomes::bank_steps:
//        steps whose cycles depend on the banks of their operands
// keeps: all else
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/bank_steps.hpp"
#include "tilewright/lower/ipu/fragments.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/ipu/tile_records.hpp"
#include "tilewright/lower/memory/memory.hpp"
#include "tilewright/lower/program/code_memory.hpp"
#include "tilewright/target/ipu_cycles.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

class TilePlacer {
 public:
  constexpr TilePlacer(const TileDraft& draft, const TileMap& map, const Target& target, const Plan& plan, TileHomes& homes,
                       BodyId body)
      : draft_(draft),
        map_(map),
        target_(target),
        plan_(plan),
        sets_(target),
        homes_(homes),
        body_(body),
        room_of_(draft.storages.size(), -1) {}

  constexpr List<Room> run() {
    for (std::size_t i = 0; i < draft_.storages.size(); ++i)  // inputs are there from the start
      if (draft_.storages[StorageId(i)].location.base == Base::argument && map_.layouts[StorageId(i)].is_decided())
        use(StorageId(i), 0);
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) add_group(static_cast<int>(g));
    keep_results();
    List<TileFrame>& frames = homes_.bodies[body_].frames;
    frames.resize(static_cast<std::size_t>(sets_.size()));
    for (int set = 0; set < sets_.size(); ++set) frames[static_cast<std::size_t>(set)] = place_rooms(set);
    give_bank_steps();
    return std::move(rooms_);
  }

 private:
  /// Keeps results for the caller live until the end of the body.
  constexpr void keep_results() {
    for (const Group& group : draft_.groups)
      for_each_operand(draft_, group, [this](const Operation& operation, int o, const Member&) {
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (operation.is_output(o) && room_of_[s] >= 0 && draft_.storage(s).location.base == Base::argument)
          rooms_[room_of_[s]].last = static_cast<int>(draft_.groups.size()) - 1;
      });
  }
  /// Assigns addresses to the rooms of a set of tiles.
  constexpr TileFrame place_rooms(int set) {
    List<LiveBlock> blocks;
    blocks.reserve(rooms_.size());
    for (const Room& room : rooms_)
      if (room.set == set) blocks.push_back({room.bytes, room.first, room.last});
    TileFrame frame{allocate(blocks, static_cast<int>(draft_.groups.size()), tile_alignment)};
    frame.bytes = place_by_banks(set, blocks, frame.bytes);
    List<std::int64_t> change(draft_.groups.size() + 1, 0);  // of the bytes in use, by group
    std::size_t next = 0;
    for (Room& room : rooms_) {
      if (room.set != set) continue;
      room.address = blocks[next++].offset;
      change[room.first] += room.bytes, change[room.last + 1] -= room.bytes;
    }
    std::int64_t bytes = 0;
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) frame.live_bytes = (std::max)(frame.live_bytes, bytes += change[g]);
    return frame;
  }

  // ---- rooms in different banks

  /// A step with the rooms of its operands.
  struct PlacedBankStep {
    BankStep step{};
    int rooms[3]{-1, -1, -1};  // of x, y and the result; -1: it has a home

    /// Returns the room of BankStep::partner.
    constexpr int partner() const { return rooms[step.use == BankUse::sums ? 2 : 1]; }
    constexpr BankOperand& operand(int i) { return i == 0 ? step.x : i == 1 ? step.y : step.result; }
    constexpr void set_room(int operand_of_group, int room) {
      for (int i = 0; i < 3; ++i)
        if (operand(i).operand == operand_of_group) rooms[i] = room;
    }
    constexpr bool has_room(int room) const { return rooms[0] == room || rooms[1] == room || rooms[2] == room; }
  };
  /// Returns the cycles that a vertex saves if its operands are in different banks.
  constexpr std::int64_t saved_cycles(const BankStep& step) const {
    switch (step.use) {
      case BankUse::elements: return step.elements * size_of(step.dtype) / target_.ipu->data_path_bytes;
      case BankUse::sums: return step.by_unit(OperandBanks::same_pair) - step.by_unit(OperandBanks::interleaved);
      default: return step.dots(OperandBanks::same) - step.dots(OperandBanks::different);
    }
  }
  constexpr bool has_pairs(int set, std::int64_t least_saved) const {
    for (const PlacedBankStep& each : bank_steps_)
      if (each.step.set == set && saved_cycles(each.step) >= least_saved && each.rooms[0] >= 0 && each.partner() >= 0 &&
          each.rooms[0] != each.partner())
        return true;
    return false;
  }
  /// Places blocks again as place_apart does. If the frame becomes too large for the tiles, only steps that save more get their
  /// wishes. Returns its bytes.
  constexpr std::int64_t place_by_banks(int set, List<LiveBlock>& blocks, std::int64_t bytes) const {
    const std::int64_t most = (std::max)(bytes, most_frame_bytes(set));
    // 16 instructions of each worker: for less, a frame does not grow
    for (std::int64_t saved = 16 * target_.ipu->workers;
         has_pairs(set, saved) || (saved == 16 * target_.ipu->workers && bytes > target_.ipu->interleaved_bytes); saved *= 4) {
      List<LiveBlock> placed = blocks;
      const std::int64_t result = place_apart(set, placed, bytes, most, saved);
      if (result > most) continue;
      blocks = std::move(placed);
      return result;
    }
    return bytes;
  }
  /// Places blocks as `allocate` does, which gives a frame of `bytes`, but apart from each other the operands of steps that save
  /// `least_saved` cycles or more by it, where a frame of `most` bytes has room for that. Operands of a product are apart if two
  /// banks lie between them, because any of their elements may be accessed in one cycle. Returns the bytes of the frame.
  constexpr std::int64_t place_apart(int set, List<LiveBlock>& blocks, std::int64_t bytes, std::int64_t most,
                                     std::int64_t least_saved) const {
    List<int> block_of(rooms_.size(), -1);
    int count = 0;
    for (std::size_t r = 0; r < rooms_.size(); ++r)
      if (rooms_[r].set == set) block_of[r] = count++;
    struct Other {
      int block;
      bool is_element;  // whether only elements with one index have to be apart
    };
    List<List<Other>> others(blocks.size());  // that a block should be apart from
    const auto add_pair = [&](int a, int b, bool is_element) {
      if (a < 0 || b < 0 || a == b) return;
      others[block_of[a]].push_back({block_of[b], is_element});
      others[block_of[b]].push_back({block_of[a], is_element});
    };
    for (const PlacedBankStep& each : bank_steps_) {
      if (each.step.set != set || saved_cycles(each.step) < least_saved) continue;
      const bool is_element = each.step.use == BankUse::elements;
      add_pair(each.rooms[0], each.partner(), is_element);
      if (!is_element || each.step.op->vertex_cost.formula != CostFormula::scaled_add) continue;
      add_pair(each.rooms[0], each.rooms[2], true);
      add_pair(each.rooms[1], each.rooms[2], true);
    }
    List<bool> wants_pairs(blocks.size(), false);  // should be in interleaved memory: sums, and frames of bodies with sums
    for (const PlacedBankStep& each : bank_steps_)
      if (each.step.set == set && each.step.use == BankUse::sums && each.rooms[2] >= 0)
        wants_pairs[block_of[each.rooms[2]]] = true;
    for (const CalledRoom& each : called_)
      if (each.set == set) wants_pairs[block_of[each.room]] = true;
    const BankRules rules = bank_rules(*target_.ipu);
    return allocate_with(
        blocks, static_cast<int>(draft_.groups.size()), tile_alignment, [&](FreeList& memory, std::size_t i, std::int64_t size) {
          List<FreeList::Excluded> excluded;
          for (const auto& [other, is_element] : others[i]) {
            const LiveBlock& block = blocks[other];
            if (other >= static_cast<int>(i) || block.last < blocks[i].first) continue;
            if (is_element) excluded.push_back({block.offset - rules.distance, block.offset + rules.distance});
            else
              excluded.push_back(
                  {block.offset - rules.pair_bytes - size, block.offset + align(block.bytes, tile_alignment) + rules.pair_bytes});
          }
          std::int64_t offset = -1;
          if (wants_pairs[i] && bytes > rules.interleaved_bytes) {
            excluded.push_back({-1, bytes - rules.interleaved_bytes});
            offset = memory.take_apart(size, excluded, most);
            excluded.pop_back();
          }
          if (offset < 0 && !excluded.empty()) offset = memory.take_apart(size, excluded, most);
          return offset >= 0 ? offset : memory.take(size);
        });
  }
  /// Returns the bytes up to which a frame may grow so that operands are in different banks: for the main graph, what homes and
  /// code leave, at least a quarter of a tile's memory for code. For called graphs half of what homes and that quarter leave,
  /// because their callers' tensors need memory, too. When these are planned, some homes are not known: they count as spread
  /// evenly.
  constexpr std::int64_t most_frame_bytes(int set) const {
    std::int64_t homes = 0;
    for (const List<Home>* list : {&homes_.variables, &homes_.constants})
      for (const Home& home : *list)
        if (!home.layout.is_decided()) homes += ceil_divide(home.spec.nelms() * size_of(home.spec.dtype), sets_.all());
        else if (home.layout.places.set == set) homes += room_bytes(home.layout, home.spec.dtype, sets_);
    const std::int64_t memory = memory_of_tile(target_), rest = memory - memory / 4 - homes;
    if (body_ != BodyId::main) return rest / 2;
    const CodeUse code = count_code(plan_, target_, set);
    const CodeSizes& sizes = target_.code();
    return (std::min)(rest, memory - homes - code.always.total() - code.loaded.total() - sizes.stack - sizes.reserve);
  }
  constexpr void give_bank_steps() {
    for (const CalledRoom& each : called_)
      homes_.called_frames.push_back({each.body, body_, each.set, rooms_[each.room].address});
    for (PlacedBankStep& each : bank_steps_) {
      for (int i = 0; i < 3; ++i)
        if (each.rooms[i] >= 0) each.operand(i).address = rooms_[each.rooms[i]].address;
      each.step.body = body_;
      homes_.bank_steps.push_back(each.step);
      const BankOperand& partner = each.step.partner();
      if (!each.step.x.has_home() || !partner.has_home()) continue;
      Home &x = *homes_.find(each.step.x.base, each.step.x.offset), &other = *homes_.find(partner.base, partner.offset);
      if (!x.is_second && each.step.x.operand != partner.operand) other.is_second = true;
    }
  }
  constexpr void add_group(int g) {
    const Group& group = draft_.groups[g];
    const Operation& first = draft_.operation(group.members[0]);
    if (first.is_call()) {
      if (!first.loads_code) add_call(first, g);
      return;
    }
    const TileGroup& tiles = map_.groups[g];
    const int set = tiles.grid.places.set;
    const std::int64_t vertices = tiles.grid.places.on_a_tile(sets_);
    PlacedBankStep banks;
    bool has_banks = target_.banks == BankPolicy::best && find_bank_step(draft_, map_, sets_, g, banks.step);
    if (!has_banks) {
      banks.step = {};
      has_banks = find_product_step(draft_, map_, target_, g, banks.step);
    }
    for (std::size_t k = 0; k < tiles.operands.size(); ++k) {
      const TileOperand& operand = tiles.operands[k];
      use(operand.storage, g);
      if (has_banks)
        banks.set_room(static_cast<int>(k), operand.access == TileAccess::local ? room_of_[draft_.owner(operand.storage)]
                                                                                : static_cast<int>(rooms_.size()));
      if (operand.access == TileAccess::local) continue;
      const std::int64_t bytes = vertices * align(operand.slice_elements * size_of(dtype_of(operand.storage)), tile_alignment);
      const bool received = operand.is_read || operand.access == TileAccess::shared;
      add({received ? RoomKind::received : RoomKind::sent, set, operand.storage, bytes, 0, g, g});
      note(operand.storage, set, bytes, g);
    }
    const std::int64_t scratch = scratch_bytes(g);
    if (has_banks) {
      banks.set_room(scratch_operand, static_cast<int>(rooms_.size()));
      for (int i = 0; i < 3; ++i)
        if (banks.operand(i).operand == scratch_operand) banks.operand(i).bytes = vertices * scratch;
      if (scratch > 0 || !banks.has_room(static_cast<int>(rooms_.size()))) bank_steps_.push_back(banks);
    }
    if (scratch > 0) add({RoomKind::scratch, set, StorageId::none, vertices * scratch, 0, g, g});
  }
  /// Returns the bytes of the internal storages of a vertex that are not in registers. The tensor that an op changes in place has
  /// its bytes already; the op's other results have bytes of their own.
  constexpr std::int64_t scratch_bytes(int g) const {
    const Group& group = draft_.groups[g];
    const Cut& cut = draft_.cuts[g];
    std::int64_t bytes = 0;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      if (cut.evaluations.in_registers[m]) continue;
      for (int o = operation.first_new_result(); o < static_cast<int>(operation.operands.size()); ++o) {
        const Value& value = operation.operands[o];
        if (draft_.storage(value.storage).internal)
          bytes += align(block_bytes(value, grid_axes_of(operation, group.members[m], o), cut.partition.blocks), tile_alignment);
      }
    }
    return bytes;
  }
  constexpr void add_call(const Operation& call, int g) {
    for (std::size_t o = 0; o + 1 < call.operands.size(); ++o) use(call.operands[o].storage, g);
    for (int set = 0; set < sets_.size(); ++set) {
      const auto frame_of = [&](BodyId body) {
        return body == BodyId::none ? 0 : homes_.bodies[body].frames[static_cast<std::size_t>(set)].bytes;
      };
      const std::int64_t bytes = (std::max)(frame_of(call.calling.body), frame_of(call.calling.else_body));
      if (bytes == 0) continue;
      for (const BodyId body : {call.calling.body, call.calling.else_body})
        if (body != BodyId::none) called_.push_back({body, set, static_cast<int>(rooms_.size())});
      add({RoomKind::called, set, StorageId::none, bytes, 0, g, g});
    }
  }
  constexpr void use(StorageId s, int g) {
    const StorageId owner = draft_.owner(s);
    if (!map_.layouts[owner].is_decided() || has_home(owner)) return;
    int& room = room_of_[owner];
    if (room >= 0) {
      rooms_[room].last = (std::max)(rooms_[room].last, g);
      return;
    }
    room = static_cast<int>(rooms_.size());
    const int set = map_.layouts[owner].places.set;
    const std::int64_t bytes = room_bytes(map_.layouts[owner], dtype_of(owner), sets_);
    add({RoomKind::storage, set, owner, bytes, 0, g, g});
    note(owner, set, bytes, g);
  }
  /// Records a tensor that group g uses, for an error about memory.
  constexpr void note(StorageId s, int set, std::int64_t bytes, int g) {
    const Storage& storage = draft_.storage(s);
    const Operation& first = draft_.operation(draft_.groups[g].members[0]);
    LargeRoom room{bytes, storage.whole, storage.location.base, storage.location.offset};
    if (!first.is_call()) room.op = first.op->name;
    room.graph = first.graph, room.scope = first.scope;
    keep_largest(homes_.largest[static_cast<std::size_t>(set)], room);
  }
  constexpr bool has_home(StorageId s) const {
    const Base base = draft_.storage(s).location.base;
    return base == Base::variable || base == Base::constant;
  }
  constexpr DType dtype_of(StorageId s) const { return draft_.storage(s).whole.dtype; }
  constexpr void add(const Room& room) {
    make_room(rooms_);
    rooms_.push_back(room);
  }

  const TileDraft& draft_;
  const TileMap& map_;
  const Target& target_;
  const Plan& plan_;
  TileSets sets_;
  TileHomes& homes_;
  BodyId body_;
  PerStorage<int> room_of_;  // -1: none yet
  List<Room> rooms_{};
  List<PlacedBankStep> bank_steps_{};
  struct CalledRoom {
    BodyId body;
    int set, room;
  };
  List<CalledRoom> called_{};
};

}  // namespace detail

/// Assigns places in the memory of tiles to a body's data.
constexpr void place_tiles(TileDraft& draft, const Target& target, const Plan& plan, TileHomes& homes, BodyId body) {
  draft.tiles.rooms = detail::TilePlacer(draft, draft.tiles, target, plan, homes, body).run();
}

/// Assigns addresses on tiles to the variables, or to the constants, of a plan: to those that are not second, then to the others.
/// Returns the bytes on a tile, by set.
constexpr List<std::int64_t> place_homes(List<Home>& homes, const TileSets& sets) {
  List<std::int64_t> bytes(static_cast<std::size_t>(sets.size()), 0);
  for (const bool second : {false, true})
    for (Home& home : homes) {
      if (!home.layout.is_decided() || home.is_second != second) continue;
      std::int64_t& end = bytes[static_cast<std::size_t>(home.layout.places.set)];
      home.address = end;
      end += room_bytes(home.layout, home.spec.dtype, sets);
    }
  return bytes;
}

}  // namespace tilewright::internal
