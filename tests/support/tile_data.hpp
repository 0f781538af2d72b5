#pragma once
// The data about tiles of a plan for simulated IPUs as records that a test changes: its table, read and written.
#include <cstdint>
#include <string_view>
#include <tilewright/lower/ipu/tile_table.hpp>
#include <tilewright/tilewright.hpp>
#include <utility>
#include <vector>

namespace tile_faults {

namespace tw = tilewright;
namespace internal = tw::internal;
using internal::Base, internal::BodyId, internal::Home, internal::LayoutAxis, internal::Room, internal::RoomKind, internal::Step,
    internal::StepMoves, internal::StepRecord, internal::StepUse, internal::StorageId, internal::StorageKind,
    internal::StorageRecord, internal::TileAccess, internal::TileExchange, internal::TileOperand, internal::TileSets;
using tw::List, tw::Plan;

struct TileBody {
  BodyId id = BodyId::none;
  List<StorageRecord> storages{};
  List<internal::TileFrame> frames{};
  List<Room> rooms{};
  List<StepRecord> steps{};

  /// Returns the storage that owns the memory of storage `s`.
  int owner(int s) const { return storages[s].kind == StorageKind::part ? storages[s].owner : s; }
};

/// The records of a plan's tile_table.
struct TileData {
  std::vector<TileBody> bodies{};
  List<Home> variables{}, constants{};
  internal::BankRules bank_rules{};
  List<internal::BankStep> bank_steps{};
  List<tw::Text> scopes{}, graphs{};

  TileData() = default;
  explicit TileData(const tw::Text& table) {
    internal::TileTableReader reader(table.view());
    for (;;) {
      BodyId id = BodyId::none;
      reader(id);
      if (id == BodyId::none) break;
      TileBody& body = bodies.emplace_back();
      body.id = id;
      each_part(reader, body.storages, body.frames, body.rooms, body.steps);
    }
    each_shared_part(reader, variables, constants, bank_rules, bank_steps);
    reader(scopes, graphs);
  }
  tw::Text table() const {
    tw::Text result;
    {
      internal::detail::TileTableWriter writer(result);
      for (const TileBody& body : bodies) {
        writer(body.id);
        each_part(writer, body.storages, body.frames, body.rooms, body.steps);
      }
      writer(BodyId::none);
      each_shared_part(writer, variables, constants, bank_rules, bank_steps);
      writer(scopes, graphs);
    }
    return result;
  }
};

/// Numbers from a seed (splitmix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  /// Returns a number from 0 to count - 1.
  std::size_t operator()(std::size_t count) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ (z >> 31)) % count);
  }

 private:
  std::uint64_t state_;
};

/// Removes item i of a list.
void erase(auto& list, std::size_t i) {
  for (; i + 1 < list.size(); ++i) list[i] = std::move(list[i + 1]);
  list.pop_back();
}

/// A plan that a fault changes. The functions `any_...` try places in an order that the dice give, until `f` has planted the
/// fault at one of them and returns true.
struct Mutant {
  Plan plan;
  TileData tiles;
  TileSets sets;
  Dice dice;

  Mutant(const Plan& good, const TileData& data, const tw::Target& target, std::uint64_t seed)
      : plan(good), tiles(data), sets(target), dice(seed) {}

  bool any(std::size_t count, const auto& f) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) order.push_back(i);
    for (std::size_t i = count; i-- > 0;) {
      std::swap(order[i], order[dice(i + 1)]);
      if (f(order[i])) return true;
    }
    return false;
  }
  bool any_of_bodies(const auto& list_of, const auto& f) {
    std::vector<std::pair<TileBody*, std::size_t>> places;
    for (TileBody& body : tiles.bodies)
      for (std::size_t i = 0; i < list_of(body).size(); ++i) places.push_back({&body, i});
    return any(places.size(), [&](std::size_t i) { return f(*places[i].first, places[i].second); });
  }
  /// f(body, room)
  bool any_room(const auto& f) {
    return any_of_bodies([](TileBody& body) -> auto& { return body.rooms; },
                         [&](TileBody& body, std::size_t r) { return f(body, body.rooms[r]); });
  }
  /// f(body, room, other): two rooms of one set that are in use at the same time.
  bool any_two_rooms(const auto& f) {
    return any_of_bodies([](TileBody& body) -> auto& { return body.rooms; },
                         [&](TileBody& body, std::size_t a) {
                           return any(body.rooms.size(), [&](std::size_t b) {
                             Room &room = body.rooms[a], &other = body.rooms[b];
                             return a != b && room.set == other.set && room.first <= other.last && other.first <= room.last &&
                                    room.bytes > 0 && other.bytes > 0 && f(body, room, other);
                           });
                         });
  }
  /// f(body, number): a storage with memory on tiles.
  bool any_storage(const auto& f) {
    return any_of_bodies([](TileBody& body) -> auto& { return body.storages; },
                         [&](TileBody& body, std::size_t s) {
                           const StorageRecord& storage = body.storages[s];
                           return storage.kind != StorageKind::part && storage.layout.is_decided() &&
                                  f(body, static_cast<int>(s));
                         });
  }
  /// f(body, number): a step that computes.
  bool any_step(const auto& f) {
    return any_of_bodies(
        [](TileBody& body) -> auto& { return body.steps; },
        [&](TileBody& body, std::size_t g) { return body.steps[g].use == StepUse::computes && f(body, static_cast<int>(g)); });
  }
  /// f(body, number): a step that calls bodies.
  bool any_call(const auto& f) {
    return any_of_bodies(
        [](TileBody& body) -> auto& { return body.steps; },
        [&](TileBody& body, std::size_t g) { return body.steps[g].use == StepUse::calls && f(body, static_cast<int>(g)); });
  }
  /// f(body, number of the step, operand)
  bool any_operand(const auto& f) {
    return any_step([&](TileBody& body, int g) {
      auto& operands = body.steps[g].tile_operands;
      return any(operands.size(), [&](std::size_t k) { return f(body, g, operands[k]); });
    });
  }
  /// f(moves, next): the counts of a step and those of the step after it in the plan.
  bool any_moves(const auto& f) {
    return any(plan.moves.size(), [&](std::size_t i) { return f(plan.moves[i], plan.moves[(i + 1) % plan.moves.size()]); });
  }

  std::size_t number(const TileBody& body, int g) const { return static_cast<std::size_t>(plan.bodies[body.id].first_step + g); }
  Step& step(const TileBody& body, int g) { return plan.steps[number(body, g)]; }
  StepMoves& moves(const TileBody& body, int g) { return plan.moves[number(body, g)]; }
  bool is_collective(const TileBody& body, int g) { return step(body, g).kind == internal::StepKind::collective; }
  /// Whether a vertex finds the storage's elements on its tile, without an exchange.
  bool is_used_locally(const TileBody& body, int s) {
    for (std::size_t g = 0; g < body.steps.size(); ++g)
      for (const TileOperand& operand : body.steps[g].tile_operands)
        if (static_cast<int>(operand.storage) == s && operand.access == TileAccess::local &&
            !is_collective(body, static_cast<int>(g)))
          return true;
    return false;
  }
  bool has_local_operand(const TileBody& body, int g) {
    for (const TileOperand& operand : body.steps[g].tile_operands)
      if (operand.access == TileAccess::local && !is_collective(body, g) && body.storages[int(operand.storage)].elements > 1)
        return true;
    return false;
  }
  /// The room of a storage; null: there is none.
  static Room* room_of(TileBody& body, int s) {
    for (Room& room : body.rooms)
      if (room.kind == RoomKind::storage && static_cast<int>(room.storage) == s) return &room;
    return nullptr;
  }
  /// The number of the room of an exchanged operand of a step; -1: there is none.
  static int room_of(const TileBody& body, int g, const TileOperand& operand) {
    for (std::size_t r = 0; r < body.rooms.size(); ++r)
      if (const Room& room = body.rooms[r]; room.first == g && room.storage == operand.storage && is_slice(room))
        return static_cast<int>(r);
    return -1;
  }
  static bool is_slice(const Room& room) { return room.kind == RoomKind::received || room.kind == RoomKind::sent; }
  /// Shrinks what a step has for each of a tile's vertices, from `before` vertices to `now`.
  static void shrink_rooms(TileBody& body, int g, std::int64_t before, std::int64_t now) {
    for (Room& room : body.rooms)
      if (room.first == g && (is_slice(room) || room.kind == RoomKind::scratch)) room.bytes = room.bytes / before * now;
  }
  /// The number of inputs of a called body; its other arguments are results.
  int inputs_of(BodyId number) {
    for (const TileBody& body : tiles.bodies)
      for (int g = 0; g < static_cast<int>(body.steps.size()); ++g) {
        const Step& planned = step(body, g);
        if (planned.is_call() && planned.body == number) return body.steps[g].inputs;
        if (planned.is_call() && planned.else_body == number) return body.steps[g].else_inputs;
      }
    return 0;
  }
  /// The steps that use a storage: the first and the last; -1: none.
  std::pair<int, int> uses(const TileBody& body, int s) const {
    std::pair<int, int> result{-1, -1};
    for (int g = 0; g < static_cast<int>(body.steps.size()); ++g) {
      bool is_used = false;
      for (const TileOperand& operand : body.steps[g].tile_operands) is_used = is_used || static_cast<int>(operand.storage) == s;
      const auto& values = body.steps[g].call_values;  // the last one is the frame of called bodies
      for (std::size_t v = 0; v + 1 < values.size(); ++v)
        is_used = is_used || body.owner(static_cast<int>(values[v].storage)) == s;
      if (!is_used) continue;
      if (result.first < 0) result.first = g;
      result.second = g;
    }
    return result;
  }
};

/// A fault of a planner in the data about tiles.
struct Kind {
  std::string_view name;  ///< what the planner does wrong
  std::string_view history;  ///< the change that mended it, or after which it could be made; empty: thought of
  bool (*plant)(Mutant&);  ///< returns whether the plan has a place for it
};

}  // namespace tile_faults
