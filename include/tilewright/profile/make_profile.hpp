#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tilewright/lower/lower.hpp"
#include "tilewright/lower/memory/fault_sites.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/profile/error_range.hpp"
#include "tilewright/profile/lay_out_steps.hpp"
#include "tilewright/profile/machine_numbers.hpp"
#include "tilewright/profile/profile.hpp"

namespace tilewright::internal {

/// Collects a profile while a program is planned for a simulated IPU.
class Profiler {
 public:
  Profiler(const Ir& ir, const Target& target) : ir_(ir), target_(target), sets_(target) {}

  /// Stores what the plan does not: the tensors of a body, and where the ops of its steps were traced.
  void operator()(Pass pass, BodyId body, const TileDraft& draft, const Plan& plan) {
    kinds_(pass, body, draft, plan);
    if (pass != Pass::place_tiles) return;
    if (bodies_.size() < plan.bodies.size()) bodies_.resize(plan.bodies.size());
    bodies_[static_cast<std::size_t>(body)] = body_of(draft);
  }
  void operator()(Pass, BodyId, const BodyDraft&, const Plan&) {}  // of the host
  void operator()(const Plan&) {}

  Profile profile(const Plan& plan, const TileHomes& homes, std::string program) {
    Profile result;
    result.program = std::move(program);
    result.target = machine_name(target_);
    result.banks = name_of(target_.banks);
    for (const ChangedNumber& change : changed_numbers(target_, nearest_preset(target_).target))
      result.numbers.push_back({change.name, change.value, "given", "the preset has " + change.preset_value});
    result.range = time_range(kinds_.of_run(plan));
    result.replicas = plan.replicas;
    result.bytes_per_tile = memory_of_tile(target_);
    result.clock_hz = target_.clock_hz();
    result.peak_flops = static_cast<double>(target_.ipus * target_.peak_flops(float16, float16));
    add_homes(result, plan, homes.variables, MemoryCategory::variables);
    add_homes(result, plan, homes.constants, MemoryCategory::constants);
    first_step_.assign(plan.bodies.size(), -1);
    const List<std::int64_t, BodyId> runs = detail::runs_of_bodies(plan);
    for (std::size_t b = 0; b < plan.bodies.size(); ++b) {
      std::string name = b == 0 ? "main" : "body " + std::to_string(b);
      if (!bodies_[b].name.empty()) name += " " + bodies_[b].name;
      result.bodies.push_back({std::move(name)});
    }
    for (std::size_t b = 0; b < plan.bodies.size(); ++b)
      if (plan.is_root(BodyId(b))) add_body(result, plan, runs, BodyId(b), Bytes(static_cast<std::size_t>(sets_.size()), 0));
    add_tiles(result, plan, homes);
    add_tile_sets(result, plan, sets_);
    std::ranges::sort(result.tensors, [](const Profile::Tensor& a, const Profile::Tensor& b) {
      return std::tie(b.bytes, a.first_step, a.name) < std::tie(a.bytes, b.first_step, b.name);
    });
    return result;
  }

 private:
  using Bytes = std::vector<std::int64_t>;  // by set of tiles
  struct RoomOf {
    Profile::Tensor tensor;  // steps count from the body's first
    int set = 0;
    std::int64_t places = 0, place_bytes = 0;
    bool is_called = false;
  };
  struct BodyOf {
    std::string name;
    std::vector<std::string> modules;  // by step
    std::vector<std::int64_t> places;  // by step
    std::vector<RoomOf> rooms;
  };

  std::string module_of(const Operation& operation) const {
    if (operation.graph == GraphId::none) return {};
    return detail::place_in_model(ir_, operation.graph, operation.scope).string();
  }
  BodyOf body_of(const TileDraft& draft) const {
    BodyOf result;
    PerStorage<int> maker(draft.storages.size(), -1);
    for (std::size_t g = 0; g < draft.groups.size(); ++g) {
      std::string module;
      for (const Member& member : draft.groups[g].members)
        if (module.empty()) module = module_of(draft.operation(member));
      result.modules.push_back(std::move(module));
      result.places.push_back(draft.tiles.groups[g].grid.places.count);
      for_each_operand(draft, draft.groups[g], [&](const Operation& operation, int o, const Member& member) {
        const StorageId s = draft.owner(operation.operands[o].storage);
        if (operation.is_output(o) && maker[s] < 0) maker[s] = member.operation;
      });
    }
    for (const Room& room : draft.tiles.rooms) {
      RoomOf of;
      Profile::Tensor& tensor = of.tensor;
      tensor.first_step = room.first, tensor.last_step = room.last;
      tensor.bytes = room.bytes;
      tensor.category = room.kind == RoomKind::storage || room.kind == RoomKind::scratch ? MemoryCategory::frame
                                                                                         : MemoryCategory::exchange_buffers;
      of.is_called = room.kind == RoomKind::called;
      of.set = room.set;
      const TileLayout* layout = room.kind == RoomKind::storage ? &draft.tiles.layouts[room.storage] : nullptr;
      of.places = layout ? layout->places.count : draft.tiles.groups[static_cast<std::size_t>(room.first)].grid.places.count;
      of.place_bytes = room.bytes / std::max<std::int64_t>(1, on_a_tile(of.places, of.set));
      tensor.whole_bytes = of.places * of.place_bytes;
      if (room.storage != StorageId::none) {
        const Storage& storage = draft.storage(room.storage);
        if (layout) tensor.whole_bytes = storage.whole.bytes();
        if (maker[room.storage] >= 0) {
          const Operation& made = draft.operations[static_cast<std::size_t>(maker[room.storage])];
          tensor.name = made.op ? std::string(made.op->name) : "result of a call";
          tensor.module = module_of(made);
        } else {
          tensor.name = std::string(name_of(storage.location.base)) + " " + std::to_string(storage.location.index);
        }
        tensor.name += " " + to_text(storage.whole).string();
        if (room.kind == RoomKind::received) tensor.name = "received of " + tensor.name;
        if (room.kind == RoomKind::sent) tensor.name = "sent of " + tensor.name;
      } else {
        tensor.name = "scratch";
      }
      result.rooms.push_back(std::move(of));
    }
    return result;
  }

  void add_homes(Profile& result, const Plan& plan, const List<Home>& homes, MemoryCategory category) const {
    for (const Home& home : homes) {
      if (!home.layout.is_decided()) continue;
      Profile::Tensor tensor;
      tensor.bytes = room_bytes(home.layout, home.spec.dtype, sets_);
      tensor.whole_bytes = home.spec.bytes();
      tensor.always_live = true;
      tensor.category = category;
      if (category == MemoryCategory::variables) {
        for (const PlannedVariable& variable : plan.variables)
          if (variable.base == Base::variable && variable.offset == home.offset) tensor.name = variable.name.string();
        if (tensor.name.empty()) tensor.name = "kept from one root to another";
      } else {
        for (const PlannedConstant& constant : plan.constants)
          if (constant.offset == home.offset) tensor.name = constant.name.string();
        if (tensor.name.empty()) tensor.name = "constant";
      }
      tensor.name += " " + to_text(home.spec).string();
      result.tensors.push_back(std::move(tensor));
    }
  }

  std::int64_t on_a_tile(std::int64_t places, int set) const { return (places + sets_.count(set) - 1) / sets_.count(set); }

  /// Adds the steps of a body, unless they are there. `runs`: executions of each body; `live` bytes are in use outside of it.
  void add_body(Profile& result, const Plan& plan, const List<std::int64_t, BodyId>& runs, BodyId id, const Bytes& live) {
    const auto b = static_cast<std::size_t>(id);
    const Body& body = plan.bodies[id];
    const BodyOf& known = bodies_[b];
    if (first_step_[b] >= 0) return;
    std::vector<Bytes> live_at(static_cast<std::size_t>(body.step_count) + 1, live);
    for (const RoomOf& room : known.rooms)
      for (int s = room.tensor.first_step; s <= room.tensor.last_step; ++s)
        if (!room.is_called) live_at[static_cast<std::size_t>(s)][static_cast<std::size_t>(room.set)] += room.tensor.bytes;
    std::vector<int> number(static_cast<std::size_t>(body.step_count) + 1, 0);
    first_step_[b] = static_cast<int>(result.steps.size());
    for (int s = 0; s < body.step_count; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const auto planned = static_cast<std::size_t>(body.first_step + s);
      number[at] = static_cast<int>(result.steps.size());
      result.steps.push_back(step_of(plan, planned, known, at, static_cast<int>(b), runs[id], live_at[at]));
      const Step& step = plan.steps[planned];
      for (const BodyId called : detail::called_bodies(step)) {
        result.calls.push_back({static_cast<int>(b), static_cast<int>(called), step.count});
        add_body(result, plan, runs, called, live_at[at]);
      }
    }
    for (const RoomOf& room : known.rooms) {
      if (room.is_called) continue;
      Profile::Tensor tensor = room.tensor;
      tensor.first_step = number[static_cast<std::size_t>(tensor.first_step)];
      tensor.last_step = number[static_cast<std::size_t>(tensor.last_step)];
      result.tensors.push_back(std::move(tensor));
    }
  }
  Profile::Step step_of(const Plan& plan, std::size_t planned, const BodyOf& known, std::size_t at, int body, std::int64_t times,
                        const Bytes& live) const {
    const Step& step = plan.steps[planned];
    const CycleUse& cycles = plan.step_cycles[planned];
    const StepMoves& moves = plan.moves[planned];
    Profile::Step result;
    result.kind = kind_of(step, moves);
    if (moves.banks != OperandBanks::any) result.banks = name_of(moves.banks);
    result.label = step.compute_set >= 0
                       ? detail::print_stages(plan, plan.compute_sets[static_cast<std::size_t>(step.compute_set)]).string()
                       : result.kind + " body " + std::to_string(static_cast<int>(step.body));
    result.module = known.modules[at];
    result.body = body;
    result.times = times;
    result.vertices = step.vertices;
    const int set = (std::max)(moves.set, 0);
    if (sets_.size() > 1) result.tile_set = moves.set, result.from_tile_set = moves.from_set;
    result.tiles_used = (std::min)(known.places[at], sets_.count(set));
    result.compute = cycles.compute;
    result.exchange = cycles.exchange;
    result.sync = cycles.sync;
    result.host = cycles.host;
    result.remote = cycles.remote;
    result.collective = cycles.collectives;
    result.links = cycles.links;
    result.assumed = cycles.assumed;
    result.flops = cycles.flops;
    for (const TileExchange* each : {&moves.before, &moves.after}) {
      result.bytes_in += each->bytes_in;
      result.bytes_out += each->bytes_out;
      result.fragments += each->fragments;
      result.exchanged_bytes += each->total_bytes;
    }
    const std::int64_t of_tile = on_a_tile(known.places[at], set);
    if (of_tile > 0) result.balance = static_cast<double>(step.vertices) / static_cast<double>(of_tile * sets_.count(set));
    result.live_bytes = moves.set >= 0 ? live[static_cast<std::size_t>(set)] : *std::ranges::max_element(live);
    return result;
  }
  static std::string kind_of(const Step& step, const StepMoves& moves) {
    switch (step.kind) {
      case StepKind::collective: return "collective";
      case StepKind::load_code: return "code";
      case StepKind::call: return "call";
      case StepKind::loop: return "loop";
      case StepKind::conditional: return "conditional";
      default: return moves.host_in + moves.host_out > 0 ? "stream" : "superstep";
    }
  }

  /// Adds the bytes of each tile: variables, constants, and the frame at the fullest step.
  void add_tiles(Profile& result, const Plan& plan, const TileHomes& homes) const {
    result.tiles.resize(static_cast<std::size_t>(sets_.all()));
    result.compute_by_tile.assign(static_cast<std::size_t>(sets_.all()), 0);
    const auto add = [&](int set, std::int64_t places, std::int64_t place_bytes, MemoryCategory category) {
      const std::int64_t count = sets_.count(set);
      for (std::int64_t tile = 0; tile < (std::min)(places, count); ++tile)
        result.tiles[static_cast<std::size_t>(sets_.first(set) + tile)][category] += ((places - 1 - tile) / count + 1) *
                                                                                     place_bytes;
    };
    const auto add_list = [&](const List<Home>& list, MemoryCategory category) {
      for (const Home& home : list)
        if (home.layout.is_decided())
          add(home.layout.places.set, home.layout.places.count,
              align(home.layout.block_elements() * size_of(home.spec.dtype), tile_alignment), category);
    };
    add_list(homes.variables, MemoryCategory::variables);
    add_list(homes.constants, MemoryCategory::constants);
    for (int set = 0; set < sets_.size(); ++set) {
      BodyId largest = BodyId::main;
      for (std::size_t b = 0; b < plan.bodies.size(); ++b)
        if (plan.is_root(BodyId(b)) && frame_bytes(homes, BodyId(b), set) > frame_bytes(homes, largest, set)) largest = BodyId(b);
      const std::int64_t gaps = add_frame(plan, homes, largest, set, add);
      const TileMemory& tile = plan.tile_sets[static_cast<std::size_t>(set)].tile;
      for (std::int64_t t = sets_.first(set); t < sets_.first(set) + sets_.count(set); ++t) {
        Profile::TileMemory& each = result.tiles[static_cast<std::size_t>(t)];
        each[MemoryCategory::vertex_code] = tile.code.vertex;
        each[MemoryCategory::vertex_state] = tile.code.state;
        each[MemoryCategory::exchange_code] = tile.code.exchange;
        each[MemoryCategory::control_code] = tile.code.control;
        each[MemoryCategory::stack] = tile.stack + tile.reserve;
        each[MemoryCategory::padding] = tile.padding + gaps;
      }
    }
    for (const Profile::Step& step : result.steps) {
      const int set = (std::max)(step.tile_set, 0);
      const std::int64_t of_tile = step.tiles_used == 0 ? 0 : on_a_tile(step.vertices, set);
      if (of_tile == 0) continue;
      for (std::int64_t t = 0; t < step.tiles_used; ++t)
        result.compute_by_tile[static_cast<std::size_t>(sets_.first(set) + t)] += step.times * step.compute / of_tile *
                                                                                  ((step.vertices - 1 - t) / sets_.count(set) +
                                                                                   1);
    }
    for (std::size_t t = 0; t < result.tiles.size(); ++t)
      if (result.fullest_tile < 0 || result.tiles[t].total() > result.fullest().total())
        result.fullest_tile = static_cast<int>(t);
  }
  static std::int64_t frame_bytes(const TileHomes& homes, BodyId body, int set) {
    return homes.bodies[body].frames[static_cast<std::size_t>(set)].bytes;
  }
  /// Adds the regions of a set of tiles that are in use at the fullest step of a body and of the bodies that it calls there.
  /// Returns the bytes of the gaps in the frames of these.
  std::int64_t add_frame(const Plan& plan, const TileHomes& homes, BodyId id, int set, const auto& add) const {
    const BodyOf& known = bodies_[static_cast<std::size_t>(id)];
    const Body& body = plan.bodies[id];
    std::int64_t most = -1;
    int fullest = -1;
    for (int s = 0; s < body.step_count; ++s) {
      std::int64_t bytes = 0;
      for (const RoomOf& room : known.rooms)
        if (room.set == set && room.tensor.first_step <= s && s <= room.tensor.last_step) bytes += room.tensor.bytes;
      if (bytes > most) most = bytes, fullest = s;
    }
    if (fullest < 0) return 0;
    for (const RoomOf& room : known.rooms)
      if (room.set == set && room.tensor.first_step <= fullest && fullest <= room.tensor.last_step && !room.is_called)
        add(set, room.places, room.place_bytes, room.tensor.category);
    const Step& step = plan.steps[static_cast<std::size_t>(body.first_step + fullest)];
    if (!step.is_call()) return 0;
    BodyId called = step.body;
    if (step.else_body != BodyId::none && frame_of(step.else_body, set) > frame_of(called, set)) called = step.else_body;
    const TileFrame& frame = homes.bodies[called].frames[static_cast<std::size_t>(set)];
    return frame.bytes - frame.live_bytes + add_frame(plan, homes, called, set, add);
  }
  std::int64_t frame_of(BodyId body, int set) const {
    std::int64_t end = 0;
    for (const RoomOf& room : bodies_[static_cast<std::size_t>(body)].rooms)
      if (room.set == set) end = (std::max)(end, room.tensor.bytes);
    return end;
  }

  const Ir& ir_;
  const Target& target_;
  TileSets sets_;
  KindCounter kinds_;
  std::vector<BodyOf> bodies_;
  std::vector<int> first_step_;  // of each body, among the profile's; -1: none yet
};

/// Traces a program, plans it for a simulated IPU and returns the costs of the plan. Throws std::invalid_argument for a target
/// other than a simulated IPU, and the exceptions of the trace. A program that exceeds the memory has a profile, too.
template <class Build>
Profile profile(const Build& build, const Target& target, std::string program = {}) {
  if (target.ipu == nullptr)
    throw std::invalid_argument("profile: a simulated IPU expected, such as gc200: the host's cycles are not counted");
  Ir ir(OnError::record);
  trace_for(target, build, ir);
  const Prepared prepared = prepare(std::move(ir), target);
  Profiler profiler(prepared.ir(), target);
  TileHomes homes;
  const Plan plan = lower(prepared, profiler, &homes);
  if (!plan.failure.empty() && !plan.failure.view().starts_with(memory_error)) throw std::runtime_error(plan.failure.string());
  return profiler.profile(plan, homes, std::move(program));
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::profile;
}  // namespace tilewright
