#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/lower/steps/barriers.hpp"
#include "tilewright/lower/verify/plan_violation.hpp"

namespace tilewright::internal::detail {

/// Checks the steps of a plan whose tables are valid: their code, their operands, and the barriers between them.
class StepsViolation : PlanViolation {
 public:
  using PlanViolation::PlanViolation;

  constexpr Text run() {
    check_arguments();
    for (std::size_t i = 0; i < plan_.bodies.size() && violation_.empty(); ++i) {
      body_ = BodyId(i);
      check_body(plan_.bodies[body_]);
    }
    return violation_;
  }

 private:
  constexpr int location_end(const Step& step) const { return step.first_location + step.location_count; }
  /// Checks that all callers of a body pass the same number of arguments.
  constexpr void check_arguments() {
    arguments_.assign(plan_.bodies.size(), -1);
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i)
      if (plan_.is_root(BodyId(i))) arguments_[BodyId(i)] = 0;
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i) {
      const auto b = BodyId(i);
      for (int s = 0; s < plan_.bodies[b].step_count; ++s) {
        const Step& step = plan_.steps[plan_.bodies[b].first_step + s];
        if (!step.is_call()) continue;
        where_ = text(", in step ", s, " of body ", b);
        const auto note = [&](BodyId callee, int count) {
          const int bodies = static_cast<int>(plan_.bodies.size());
          if (!expect(callee > b && callee < BodyId(bodies) && !plan_.is_root(callee), "callees come after callers",
                      "a call of body ", callee, ": a body from ", i + 1, " to ", bodies - 1, " that is no root expected"))
            return;
          expect(count >= 0 && count <= plan_.bodies[b].max_arguments, "room for arguments", count, " arguments of body ", callee,
                 ": at most ", plan_.bodies[b].max_arguments, " expected");
          expect(arguments_[callee] < 0 || arguments_[callee] == count, "callers agree", count, " arguments of body ", callee,
                 ": ", arguments_[callee], ", as in another call, expected");
          arguments_[callee] = count;
        };
        note(step.body, step.arguments);
        if (step.kind == StepKind::conditional) note(step.else_body, step.location_count - 1 - step.arguments);
      }
    }
  }
  /// Accesses of an earlier step.
  struct Earlier {
    Access access{};
    int ipu = -1;
    bool is_over = false;  // for the workers of its IPU, by a barrier of theirs
  };
  /// Returns an access for comparison with one of other workers.
  static constexpr Access by_many(Access access) {
    access.single = false;
    return access;
  }
  constexpr void check_body(const Body& body) {
    List<Earlier> since;  // the last barrier of all workers
    List<int> after_call;  // IPUs whose next step comes after a call; -1: all
    List<int> called;  // IPUs that ran calls since the last barrier of all
    if (!plan_.is_root(body_)) after_call.push_back(body.ipu);
    for (int s = 0; s < body.step_count && violation_.empty(); ++s) {
      const Step& step = plan_.steps[body.first_step + s];
      where_ = text(", in step ", s, " of body ", body_);
      if (step.kind == StepKind::load_code) {
        expect(step.body > BodyId::main && !plan_.is_root(step.body) && step.body < BodyId(plan_.bodies.size()),
               "steps name what they run", "code of body ", step.body, ": a body from 1 to ", plan_.bodies.size() - 1,
               " that is no root expected");
        continue;
      }
      if (step.is_call()) {
        check_call(body, step);
        after_call.push_back(step.ipu);
        if (step.joins_ipus) since.clear(), called.clear();
        called.push_back(step.ipu);
        continue;
      }
      check_compute(step);
      if (!violation_.empty()) return;
      const List<Access> own = accesses(body, step);
      const bool joins = step.joins_ipus || body.ipu >= 0;
      expect(step.barrier_before || !(has_item(after_call, -1) || has_item(after_call, step.ipu)),
             "barriers stand between conflicts", "no barrier in the first step, or after a call: a barrier expected");
      expect(joins || !has_item(after_call, -1), "barriers stand between conflicts",
             "a barrier of one IPU after a call on several IPUs: a barrier of all IPUs expected");
      expect((step.barrier_before && joins) || !has_item(called, step.from_ipu) || step.from_ipu < 0,
             "barriers stand between conflicts", "a copy from IPU ", step.from_ipu,
             ", which ran a call: a barrier of all IPUs expected");
      if (step.barrier_before) {
        erase_if(after_call, [&](int ipu) { return joins || ipu == step.ipu; });
        if (joins) since.clear(), called.clear();
        for (Earlier& earlier : since) earlier.is_over = earlier.is_over || earlier.ipu == step.ipu;
      }
      for (const Access& access : own)
        for (const Earlier& earlier : since)
          expect(earlier.ipu == step.ipu ? earlier.is_over || !conflict(access, earlier.access)
                                         : !conflict(by_many(access), by_many(earlier.access)),
                 "barriers stand between conflicts", "no barrier before a step that shares bytes with an earlier one at offset ",
                 access.from.offset, " of memory `", name_of(access.from.base), "`: a barrier expected");
      for (const Access& access : own) since.push_back({access, step.ipu});
    }
  }
  constexpr void check_call(const Body& body, const Step& step) {
    std::int64_t expected = step.arguments;
    if (step.kind == StepKind::loop) expected *= 3;
    if (step.kind == StepKind::conditional) expected += 1 + arguments_[step.else_body];
    expect(step.location_count == expected, "steps have their locations", step.location_count, " locations of a call: ", expected,
           " expected");
    expect(step.count >= 1, "loops count", step.count, " iterations: at least 1 expected");
    expect(step.compute_set == -1 && (step.else_body != BodyId::none) == (step.kind == StepKind::conditional),
           "steps name what they run", "a call with compute set ", step.compute_set, " and body ", step.else_body,
           " for false: no set (-1), and a body for false only in a conditional, expected");
    expect(step.barrier_before, "barriers stand between conflicts", "no barrier before a call: a barrier expected");
    for (const BodyId callee : {step.body, step.else_body})
      if (callee != BodyId::none)
        expect(step.frame_offset >= 0 && step.frame_offset + plan_.bodies[callee].frame_bytes <= body.frame_bytes,
               "frames lie in frames", "the frame of body ", callee, " has bytes ", step.frame_offset, " to ",
               step.frame_offset + plan_.bodies[callee].frame_bytes, ": a place in bytes 0 to ", body.frame_bytes, " expected");
    for (int l = step.first_location; l < location_end(step); ++l) check_location(body, plan_.locations[l], 0);
  }
  constexpr void check_compute(const Step& step) {
    if (!expect(step.compute_set >= 0 && step.compute_set < static_cast<int>(plan_.compute_sets.size()) &&
                    step.body == BodyId::none && step.else_body == BodyId::none,
                "steps name what they run", "compute set ", step.compute_set, ", body ", step.body, ", body ", step.else_body,
                " for false: a set from 0 to ", plan_.compute_sets.size() - 1, " and no bodies (-1) expected"))
      return;
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    expect(step.location_count == set.location_count, "steps have their locations", step.location_count,
           " locations: ", set.location_count, ", as in the compute set, expected");
    std::int64_t vertices = 1;
    for (int axis = 0; axis < set.blocks.size(); ++axis) vertices *= block_count(set.extents[axis], set.blocks[axis]);
    const bool is_collective = step.kind == StepKind::collective;
    expect(step.vertices == (is_collective ? 0 : vertices), "vertices are blocks", step.vertices,
           " vertices: ", is_collective ? 0 : vertices, " expected");
    expect(is_collective ? step.items >= 1 : step.items == 0, "only collectives have items", step.items,
           " items: ", is_collective ? "at least 1" : "none", " expected");
    const int streams = static_cast<int>(plan_.streams.size());
    expect(step.stream >= -1 && step.stream < streams, "streams exist", "stream ", step.stream, " moves: a stream from 0 to ",
           streams - 1, ", or none (-1), expected");
    for (int l = step.first_location; l < location_end(step); ++l) {
      const Location& location = plan_.locations[l];
      if (location.base != Base::stream || location.index < 0 || location.index >= streams) continue;
      const int moves = plan_.streams[location.index].moves ? location.index : -1;
      expect(step.stream == moves, "streams move after each use", "stream ", step.stream, " moves (-1: none): stream ", moves,
             " expected");
    }
  }
  /// Returns the accesses of a step, by location.
  constexpr List<Access> accesses(const Body& body, const Step& step) {
    const List<Access> all = accesses_of(plan_, step);
    for (const Access& access : all) check_location(body, access.from, access.bytes);
    return all;
  }
  constexpr void check_location(const Body& body, const Location& location, std::int64_t bytes) {
    const auto& [base, index, offset] = location;
    std::int64_t end = 0;
    int indices = std::numeric_limits<int>::max();
    switch (base) {
      case Base::frame: end = body.frame_bytes; break;
      case Base::argument:
        end = offset + bytes;
        if (arguments_[body_] >= 0) indices = arguments_[body_];
        break;
      case Base::variable: end = plan_.memory.variables; break;
      case Base::constant: end = plan_.memory.constants; break;
      case Base::remote: end = remote_bytes(plan_, index); break;
      case Base::position: end = offset + bytes; break;
      case Base::stream:
        indices = static_cast<int>(plan_.streams.size());
        if (index < 0 || index >= indices) break;
        const PlannedStream& stream = plan_.streams[index];
        end = stream.spec.bytes() * (stream.moves ? 1 : stream.elements * plan_.replicas);
    }
    if (expect(index >= 0 && index < indices, "locations lie in their memory", "index ", index, " of memory `", name_of(base),
               "`: an index from 0 to ", indices - 1, " expected"))
      expect(offset >= 0 && offset + bytes <= end, "locations lie in their memory", bytes, " bytes at index ", index, ", offset ",
             offset, " of memory `", name_of(base), "`: a place in bytes 0 to ", end, " expected");
  }

  BodyId body_ = BodyId::main;     // whose steps are checked
  List<int, BodyId> arguments_{};  // -1: nobody calls it
};

}  // namespace tilewright::internal::detail
