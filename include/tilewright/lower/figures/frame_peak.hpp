#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/memory/fault_sites.hpp"
#include "tilewright/lower/pass.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/lower/program/fold_bodies.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// Purpose of a part of a frame.
enum class FramePart : std::uint8_t {
  kept,       ///< results of a differentiated graph that its gradient graph reads
  gradients,  ///< results of a gradient graph
  exchanged,  ///< slices that come from other tiles or go to them
  scratch,    ///< of vertices
  others      ///< all other tensors
};

/// A tensor, a slice or a scratch in a frame.
struct PeakTensor {
  Text name{};    ///< `Gelu (8, 64) float32`
  Text module{};  ///< where it was traced; empty for arguments
  std::int64_t bytes = 0;  ///< on a tile; on the host, on all of them
  FramePart part = FramePart::others;
};

/// The fullest step of a frame, and what the frame has there.
struct FramePeak {
  Text step{};  ///< ops of the step, and their module
  List<PeakTensor> tensors{};
};

/// Finds the fullest steps of frames while a program is planned: an observer of `lower`.
class FramePeaks {
 public:
  constexpr FramePeaks(const Ir& ir, const Target& target) : ir_(ir), sets_(target) {}

  constexpr void operator()(Pass pass, BodyId body, const BodyDraft& draft, const Plan& plan) {
    if (pass == Pass::place) add_body(body, draft, rooms_of(draft), plan);
  }
  constexpr void operator()(Pass pass, BodyId body, const TileDraft& draft, const Plan& plan) {
    if (pass == Pass::place_tiles) add_body(body, draft, draft.tiles.rooms, plan);
  }
  constexpr void operator()(const Plan&) const {}

  /// Returns where the op of a step was traced, by step of the plan.
  constexpr const List<Text>& modules() const { return modules_; }
  /// Returns the peak of the frame of a body on a set of tiles, with the frames of the bodies that its fullest step calls.
  constexpr FramePeak peak(BodyId body, int set) const {
    const Peak& own = bodies_[body].peaks[static_cast<std::size_t>(set)];
    FramePeak result{own.step, own.tensors};
    if (own.called == BodyId::none) return result;
    FramePeak called = peak(own.called, set);
    for (PeakTensor& tensor : called.tensors) result.tensors.push_back(std::move(tensor));
    if (!called.step.empty()) result.step = std::move(called.step);
    return result;
  }

 private:
  struct Peak {
    std::int64_t bytes = -1;  // with those of called bodies; -1: it has no steps
    Text step{};
    List<PeakTensor> tensors{};
    BodyId called = BodyId::none;
  };
  struct BodyPeaks {
    Text name{};  // of its graph
    bool is_forward = false, is_gradient = false;
    List<Peak> peaks{};  // by set of tiles
  };
  struct StorageUse {
    int maker = -1;  // its operation; -1: it is an argument
    bool is_for_gradient = false;
  };

  /// Returns the places in a frame of the host, each with its live range.
  static constexpr List<Room> rooms_of(const BodyDraft& draft) {
    List<Room> rooms;
    PerStorage<int> room_of(draft.storages.size(), -1);
    for (std::size_t g = 0; g < draft.groups.size(); ++g)
      for_each_operand(draft, draft.groups[g], [&](const Operation& operation, int o, const Member&) {
        const StorageId s = draft.owner(operation.operands[o].storage);
        if (!draft.in_frame(s) || draft.storage(s).internal) return;
        if (room_of[s] < 0) {
          room_of[s] = static_cast<int>(rooms.size());
          const bool is_frame = operation.is_call() && o + 1 == static_cast<int>(operation.operands.size());
          rooms.push_back({is_frame ? RoomKind::called : RoomKind::storage, 0, s, align(draft.storage(s).whole.bytes()), 0,
                           static_cast<int>(g)});
        }
        rooms[room_of[s]].last = static_cast<int>(g);
      });
    return rooms;
  }

  constexpr bool is_gradient(const Operation& operation) const {
    if (operation.is_call()) return bodies_[operation.calling.body].is_gradient;
    return operation.graph != GraphId::none && is_gradient(operation.graph);
  }
  constexpr bool is_gradient(GraphId graph) const {
    return ir_.tables.record(graph).name.view().find("_bwd") != std::string_view::npos;
  }
  constexpr bool is_forward(const Operation& operation) const {
    if (operation.is_call()) return bodies_[operation.calling.body].is_forward;
    return operation.graph != GraphId::none && ir_.tables.record(operation.graph).is_differentiated;
  }
  constexpr Text module_of(const Operation& operation) const {
    if (operation.is_call()) return bodies_[operation.calling.body].name;
    if (operation.graph == GraphId::none) return {};
    return detail::place_in_model(ir_, operation.graph, operation.scope);
  }
  /// Returns where the first op of a group with a place in the model was traced.
  constexpr Text module_of(const BodyDraft& draft, const Group& group) const {
    for (const Member& member : group.members)
      if (Text module = module_of(draft.operation(member)); !module.empty()) return module;
    return {};
  }

  constexpr void add_body(BodyId id, const BodyDraft& draft, const List<Room>& rooms, const Plan& plan) {
    if (bodies_.size() < plan.bodies.size()) bodies_.resize(plan.bodies.size());
    BodyPeaks& body = bodies_[id];
    for (const Group& group : draft.groups) {
      modules_.push_back(module_of(draft, group));
      for (const Member& member : group.members) {
        const Operation& operation = draft.operation(member);
        body.is_forward = body.is_forward || is_forward(operation);
        body.is_gradient = body.is_gradient || is_gradient(operation);
        if (body.name.empty() && operation.graph != GraphId::none) body.name = ir_.tables.record(operation.graph).name;
      }
    }
    const PerStorage<StorageUse> uses = uses_of(draft);
    body.peaks.resize(static_cast<std::size_t>((std::max)(1, sets_.size())));
    for (std::size_t set = 0; set < body.peaks.size(); ++set)
      body.peaks[set] = peak_of(id, static_cast<int>(set), draft, rooms, uses, plan);
  }
  constexpr PerStorage<StorageUse> uses_of(const BodyDraft& draft) const {
    PerStorage<StorageUse> uses(draft.storages.size());
    for (const Group& group : draft.groups)
      for_each_operand(draft, group, [&](const Operation& operation, int o, const Member& member) {
        StorageUse& use = uses[draft.owner(operation.operands[o].storage)];
        if (operation.is_output(o) && use.maker < 0) use.maker = member.operation;
        if (!operation.is_output(o) && is_gradient(operation)) use.is_for_gradient = true;
      });
    return uses;
  }
  constexpr Peak peak_of(BodyId id, int set, const BodyDraft& draft, const List<Room>& rooms, const PerStorage<StorageUse>& uses,
                         const Plan& plan) const {
    const int groups = static_cast<int>(draft.groups.size());
    List<std::int64_t> live(draft.groups.size() + 1, 0);
    for (const Room& room : rooms)
      if (room.set == set) live[room.first] += room.bytes, live[room.last + 1] -= room.bytes;
    Peak result;
    int fullest = -1;
    for (int g = 0; g < groups; ++g) {
      if (g > 0) live[g] += live[g - 1];
      if (live[g] > result.bytes) result.bytes = live[g], fullest = g;
    }
    if (fullest < 0) return result;
    const Step& step = plan.steps[plan.bodies[id].first_step + fullest];
    const Text module = module_of(draft, draft.groups[fullest]);
    if (step.compute_set >= 0) {
      result.step = detail::print_stages(plan, plan.compute_sets[step.compute_set]);
      if (!module.empty()) result.step += text(" in ", module);
    } else {
      std::int64_t most = -1;
      for (const BodyId called : detail::called_bodies(step))
        if (const Peak& peak = bodies_[called].peaks[set]; peak.bytes > most) most = peak.bytes, result.called = called;
      result.step = text("the call of ", module);
    }
    for (const Room& room : rooms)
      if (room.set == set && room.first <= fullest && fullest <= room.last && room.kind != RoomKind::called)
        result.tensors.push_back(tensor_of(draft, room, uses, plan, module));
    return result;
  }
  constexpr PeakTensor tensor_of(const BodyDraft& draft, const Room& room, const PerStorage<StorageUse>& uses, const Plan& plan,
                                 const Text& step_module) const {
    if (room.kind == RoomKind::scratch) return {"scratch", step_module, room.bytes, FramePart::scratch};
    const Storage& storage = draft.storage(room.storage);
    const StorageUse& use = uses[room.storage];
    PeakTensor result{.bytes = room.bytes};
    if (use.maker >= 0) {
      const Operation& maker = draft.operations[use.maker];
      result.module = module_of(maker);
      result.name = Text(maker.is_call() ? std::string_view("a result of the call") : maker.op->name);
      if (is_gradient(maker)) result.part = FramePart::gradients;
      else if (is_forward(maker) && use.is_for_gradient) result.part = FramePart::kept;
    } else {
      result.name = "an argument";
    }
    if (storage.location.base == Base::variable)
      for (const PlannedVariable& variable : plan.variables)
        if (variable.base == Base::variable && variable.offset == storage.location.offset) result.name = variable.name;
    result.name += text(" ", to_text(storage.whole));
    if (room.kind != RoomKind::storage) {
      result.name = text(room.kind == RoomKind::received ? "slices received of " : "slices sent of ", result.name);
      result.module = step_module;
      result.part = FramePart::exchanged;
    }
    return result;
  }

  const Ir& ir_;
  TileSets sets_;
  List<BodyPeaks, BodyId> bodies_{};
  List<Text> modules_{};  // by step
};

}  // namespace tilewright::internal
