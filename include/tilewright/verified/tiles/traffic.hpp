#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/target/ipu_link_cycles.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/verified/set_stages.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Calls f(bytes, whether it is stored) for each row of a remote buffer that a step moves: it reads or writes a table of rows.
constexpr void for_each_row(const auto& plan, const Step& step, const auto& f) {
  if (plan.remote_buffers.size() == 0) return;
  const SetStages stages(plan, plan.compute_sets[static_cast<std::size_t>(step.compute_set)]);
  for (int o = 0; o < stages[0].operand_count; ++o) {
    const StageOperand& table = stages.operand(0, o);
    if (table.source == Source::memory && table.view.shape.rank > 0 &&
        plan.locations[static_cast<std::size_t>(step.first_location + table.index)].base == Base::remote)
      f(table.view.shape[-1] * size_of(table.view.dtype), o >= stages[0].input_count);
  }
}

/// Checks what a plan counts for collectives, rows of remote buffers and streams of a run.
template <class AnyPlan>
class TrafficProof {
 public:
  constexpr TrafficProof(const AnyPlan& plan, const Target& target, ValueTerms& terms, FirstFault& fault)
      : plan_(plan), target_(target), terms_(terms), fault_(fault) {}

  constexpr void run() {
    for (std::size_t i = 0; i < plan_.compute_sets.size(); ++i) {
      const ComputeSet& set = plan_.compute_sets[i];
      const CollectiveTraffic traffic = plan_.replicas > 1 ? traffic_of(set) : CollectiveTraffic();
      expect(set.traffic.bytes == traffic.bytes, "compute set ", i, " counts ", set.traffic.bytes,
             " bytes that a replica sends: ", traffic.bytes, " expected");
      expect(set.traffic.cycles == traffic.cycles, "compute set ", i, " counts ", set.traffic.cycles,
             " cycles of a collective: ", traffic.cycles, " expected");
    }
    if (fault_.is_found()) return;
    const Bytes all = bytes_of_run();
    const auto validate = [&](std::int64_t counted, std::int64_t moved, std::string_view what) {
      fault_.expect(counted == moved, "traffic", BodyId::none, -1, "counts ", counted, " bytes of a run ", what, ": ", moved,
                    " expected");
    };
    validate(plan_.collectives.bytes, plan_.replicas > 1 ? all.sent : 0, "that a replica sends");
    expect(plan_.collectives.cycles == all.cycles, "counts ", plan_.collectives.cycles, " cycles of collectives: ", all.cycles,
           " expected");
    validate(plan_.remote.loaded_bytes, all.loaded, "that come from remote buffers");
    validate(plan_.remote.stored_bytes, all.stored, "that go to remote buffers");
    for (std::size_t i = 0; i < plan_.streams.size(); ++i) check_stream(i);
    if constexpr (requires { plan_.step_cycles; })
      expect(plan_.remote.cycles == all.remote_cycles, "counts ", plan_.remote.cycles,
             " cycles of streaming memory: ", all.remote_cycles, " expected");
  }

 private:
  struct Bytes {
    std::int64_t sent = 0;  ///< by each replica, to others
    std::int64_t loaded = 0, stored = 0;  ///< of rows
    std::int64_t cycles = 0;  ///< of collectives
    std::int64_t remote_cycles = 0;
  };

  constexpr bool expect(bool holds, const auto&... what) { return fault_.expect(holds, "traffic", BodyId::none, -1, what...); }
  /// Checks whether a stream is used, and the elements of its array: those that a run moves, with the larger branch of each
  /// conditional, or those at fixed places.
  constexpr void check_stream(std::size_t i) {
    const auto& stream = plan_.streams[i];
    bool is_used = false;
    std::int64_t fixed = 0;
    const std::int64_t pitch = plan_.replicas * std::max<std::int64_t>(1, stream.spec.bytes());
    for (const Location& location : plan_.locations)
      if (location.base == Base::stream && location.index == static_cast<int>(i))
        is_used = true, fixed = (std::max)(fixed, location.offset / pitch + 1);
    List<std::int64_t> moves(plan_.bodies.size(), 0);
    bool is_moved = false;
    for (std::size_t b = moves.size(); b-- > 0;) {
      const Body& body = plan_.bodies.data()[b];
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
        const Step& step = plan_.steps[static_cast<std::size_t>(s)];
        if (step.stream == static_cast<int>(i)) ++moves[b], is_moved = true;
        if (!step.is_call()) continue;
        const std::int64_t one = moves[static_cast<std::size_t>(step.body)];
        moves[b] += step.count *
                    (step.else_body == BodyId::none ? one : (std::max)(one, moves[static_cast<std::size_t>(step.else_body)]));
      }
    }
    const std::int64_t of_run = std::max<std::int64_t>(1, is_moved ? moves[0] : fixed);
    const std::int64_t elements = !is_used ? 1 : plan_.num_host_transfers > 0 ? plan_.num_host_transfers : of_run;
    expect(stream.used == is_used && stream.transfers == elements, "stream ", i, " has ", stream.transfers,
           " elements for a run, and is ", stream.used ? "used: " : "not used: ", elements, ", and ",
           is_used ? "used" : "not used", ", expected");
  }

  /// Returns what a collective sends, and its cycles. The replicas of a group divide the tensor among themselves: to reduce it,
  /// each sends the part of every other one to it; to gather it, each sends its own part to every other one.
  constexpr CollectiveTraffic traffic_of(const ComputeSet& set) {
    const SetStages stages(plan_, set);
    const OpInfo* const op = stages.op(0, terms_);
    if (op == nullptr || op->collective_items == nullptr) return {};
    const auto spec = [&](int o) { return TensorSpec{stages.operand(0, o).view.shape, stages.operand(0, o).view.dtype}; };
    const CollectiveVolume volume = op->collective_volume(stages[0].attributes, spec(0), spec(1));
    const std::int64_t replicas = volume.groups.group_size;
    const std::int64_t part = replicas < 1 ? 0 : (volume.bytes + replicas - 1) / replicas;
    CollectiveTraffic traffic;
    for (const bool reduces : {true, false}) {
      if (!(reduces ? volume.reduces : volume.gathers)) continue;
      traffic.bytes += (replicas - 1) * part;
      if (target_.ipu != nullptr && traffic.bytes > 0)
        traffic.cycles += collective_cycles(*target_.ipu, target_.tiles, volume.bytes, volume.groups, reduces).cycles;
    }
    return traffic;
  }
  /// Returns the bytes of a run. Of a conditional, those of the branch that moves more.
  constexpr Bytes bytes_of_run() const {
    List<Bytes> bodies(plan_.bodies.size());
    for (std::size_t b = bodies.size(); b-- > 0;) {  // callers are before what they call
      const Body& body = plan_.bodies.data()[b];
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
        const Step& step = plan_.steps[static_cast<std::size_t>(s)];
        if (!step.is_call()) {
          if (step.kind != StepKind::load_code) add(step, bodies[b]);
          if constexpr (requires { plan_.step_cycles; })
            if (plan_.step_cycles.size() == plan_.steps.size())
              bodies[b].remote_cycles += plan_.step_cycles[static_cast<std::size_t>(s)].remote;
          continue;
        }
        const Bytes& one = bodies[static_cast<std::size_t>(step.body)];
        const Bytes& other = step.else_body == BodyId::none ? one : bodies[static_cast<std::size_t>(step.else_body)];
        bodies[b].sent += step.count * (std::max)(one.sent, other.sent);
        bodies[b].cycles += step.count * (std::max)(one.cycles, other.cycles);
        bodies[b].remote_cycles += step.count * (std::max)(one.remote_cycles, other.remote_cycles);
        bodies[b].loaded += step.count * (std::max)(one.loaded, other.loaded);
        bodies[b].stored += step.count * (std::max)(one.stored, other.stored);
      }
    }
    return bodies[0];
  }
  /// Adds a step: what a replica sends, or a row, if it reads or writes a table of rows.
  constexpr void add(const Step& step, Bytes& bytes) const {
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(step.compute_set)];
    if (step.kind == StepKind::collective) bytes.sent += set.traffic.bytes, bytes.cycles += set.traffic.cycles;
    for_each_row(plan_, step, [&](std::int64_t moved, bool is_stored) { (is_stored ? bytes.stored : bytes.loaded) += moved; });
  }

  const AnyPlan& plan_;
  const Target& target_;
  ValueTerms& terms_;
  FirstFault& fault_;
};

}  // namespace tilewright::internal::proof::detail
