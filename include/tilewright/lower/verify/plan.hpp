#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/barriers.hpp"
#include "tilewright/lower/verify/coverage.hpp"

namespace tilewright::detail {

/// The first fault of a plan, as `rule: what was given: what was expected, in step 3 of body 2`.
class PlanFault {
 public:
  constexpr explicit PlanFault(const Plan& plan) : plan_(plan) {}

  constexpr Text run() {
    check_tables();
    if (fault_.empty()) check_sets();
    where_ = {};
    if (fault_.empty()) check_arguments();
    for (body_ = 0; body_ < static_cast<int>(plan_.bodies.size()) && fault_.empty(); ++body_) check_body(plan_.bodies[body_]);
    where_ = {};
    if (fault_.empty()) check_memory();
    if (fault_.empty()) check_exchanges();
    return fault_;
  }

 private:
  constexpr bool expect(bool holds, std::string_view rule, const auto&... given_and_expected) {
    if (!holds && fault_.empty()) fault_ = text(rule, ": ", given_and_expected..., where_);
    return holds;
  }
  constexpr int location_end(const Step& step) const { return step.first_location + step.location_count; }

  // ---- tables: each row has one owner

  constexpr void check_tables() {
    Coverage steps(plan_.steps.size()), stages(plan_.stages.size()), operands(plan_.operands.size());
    Coverage strides(plan_.strides.size()), locations(plan_.locations.size());
    const auto take = [&](Coverage& table, std::string_view name, std::string_view owner, std::size_t number, std::int64_t first,
                          std::int64_t count) {
      expect(table.take(first, count), "rows have one owner", owner, " ", number, " has ", name, " ", first, " to ",
             first + count, ": rows of the table without an owner expected");
    };
    expect(!plan_.bodies.empty(), "bodies exist", "no body: at least one expected");
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b)
      take(steps, "steps", "body", b, plan_.bodies[b].first_step, plan_.bodies[b].step_count);
    for (std::size_t i = 0; i < plan_.compute_sets.size(); ++i) {
      const ComputeSet& set = plan_.compute_sets[i];
      take(stages, "stages", "compute set", i, set.first_stage, set.stage_count);
      take(strides, "strides", "compute set", i, set.first_stride, std::int64_t{set.location_count} * set.blocks.size());
    }
    for (std::size_t i = 0; i < plan_.stages.size(); ++i)
      take(operands, "operands", "stage", i, plan_.stages[i].first_operand, plan_.stages[i].operand_count);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      take(locations, "locations", "step", i, step.first_location, step.location_count);
      if (step.kind == StepKind::loop) take(strides, "strides", "step", i, step.first_stride, step.arguments);
    }
    const auto complete = [&](const Coverage& table, std::string_view name) {
      expect(table.is_complete(), "rows have one owner", "a row of the ", name, " has no owner: one expected");
    };
    complete(steps, "steps"), complete(stages, "stages"), complete(operands, "operands"), complete(strides, "strides");
    complete(locations, "locations");
  }

  // ---- compute sets

  constexpr void check_sets() {
    for (std::size_t i = 0; i < plan_.compute_sets.size() && fault_.empty(); ++i) {
      where_ = text(", in compute set ", i);
      const ComputeSet& set = plan_.compute_sets[i];
      expect(set.stage_count >= 1 && set.stage_count <= max_stages, "sets are small", set.stage_count, " stages: 1 to ",
             max_stages, " expected");
      expect(set.location_count <= max_locations, "sets are small", set.location_count, " locations: at most ", max_locations,
             " expected");
      expect(set.scratch_bytes >= 0 && set.scratch_bytes <= max_scratch_bytes, "scratch is limited", set.scratch_bytes,
             " bytes of scratch: at most ", max_scratch_bytes, " expected");
      if (!expect(set.extents.size() == set.blocks.size(), "blocks divide grids", set.blocks.size(),
                  " axes of blocks: ", set.extents.size(), " expected"))
        return;
      for (int axis = 0; axis < set.blocks.size(); ++axis)
        expect(set.blocks[axis] >= 1 && set.blocks[axis] <= set.extents[axis], "blocks divide grids", "blocks of ",
               set.blocks[axis], " along axis ", axis, ": 1 to ", set.extents[axis], " expected");
      for (int s = 0; s < set.stage_count && fault_.empty(); ++s) check_stage(set, s);
    }
  }
  constexpr const Stage& stage(const ComputeSet& set, int s) const { return plan_.stages[set.first_stage + s]; }
  constexpr void check_stage(const ComputeSet& set, int s) {
    const Stage& checked = stage(set, s);
    expect(checked.op != nullptr && !checked.name.empty(), "stages have ops", "stage ", s, " has none: one expected");
    expect(checked.input_count >= 0 && checked.input_count < checked.operand_count, "stages have outputs", "stage ", s, " (",
           checked.name, ") has ", checked.input_count, " inputs of ", checked.operand_count, " operands: an output expected");
    for (int o = 0; o < checked.operand_count && fault_.empty(); ++o) check_operand(set, s, o);
    expect(s > 0 || checked.evaluation != Evaluation::epilogue, "epilogues follow kernels", "stage 0 (", checked.name,
           ") is in an epilogue: a kernel before it expected");
    if (checked.evaluation != Evaluation::expression) return;
    int readers = 0;
    for (int later = s + 1; later < set.stage_count; ++later)
      for (int o = 0; o < stage(set, later).input_count; ++o) {
        const StageOperand& operand = plan_.operands[stage(set, later).first_operand + o];
        readers += operand.source == Source::value && operand.index == s;
      }
    expect(readers == 1, "expressions have one reader", "stage ", s, " (", checked.name, ") has ", readers, ": one expected");
  }
  constexpr void check_operand(const ComputeSet& set, int s, int o) {
    const Stage& of = stage(set, s);
    const StageOperand& operand = plan_.operands[of.first_operand + o];
    for (int axis = 0; axis < operand.view.shape.rank; ++axis)
      if (!expect(operand.grid_axis[axis] >= -1 && operand.grid_axis[axis] < set.blocks.size(), "operands follow the grid",
                  "operand ", o, " of stage ", s, " (", of.name, ") follows axis ", int{operand.grid_axis[axis]}, " of ",
                  set.blocks.size(), ": one of them expected"))
        return;
    bool holds = operand.index >= 0;
    switch (operand.source) {
      case Source::memory: holds = holds && operand.index < set.location_count; break;
      case Source::value: holds = holds && (o < of.input_count ? operand.index < s : operand.index == s); break;
      case Source::scratch:
        holds = holds && operand.index % memory_alignment == 0 &&
                operand.index + span_bytes(slice_of(operand, set.blocks)) <= set.scratch_bytes;
        break;
    }
    expect(holds, "operands exist", "operand ", o, " of stage ", s, " (", of.name, ") is at ", operand.index, " of ",
           name_of(operand.source), ": a place in it expected");
  }

  // ---- steps

  /// How many arguments each body gets: all its callers agree.
  constexpr void check_arguments() {
    arguments_.assign(plan_.bodies.size(), -1);
    arguments_[0] = 0;
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b)
      for (int s = 0; s < plan_.bodies[b].step_count; ++s) {
        const Step& step = plan_.steps[plan_.bodies[b].first_step + s];
        if (!step.is_call()) continue;
        where_ = text(", in step ", s, " of body ", b);
        const auto note = [&](int callee, int count) {
          const int bodies = static_cast<int>(plan_.bodies.size());
          if (!expect(callee > static_cast<int>(b) && callee < bodies, "callees come after callers", "a call of body ", callee,
                      ": one from ", b + 1, " to ", bodies - 1, " expected"))
            return;
          expect(count >= 0 && count <= plan_.bodies[b].max_arguments, "room for arguments", count, " arguments of body ", callee,
                 ": at most ", plan_.bodies[b].max_arguments, " expected");
          expect(arguments_[callee] < 0 || arguments_[callee] == count, "callers agree", count, " arguments of body ", callee,
                 ": ", arguments_[callee], " expected");
          arguments_[callee] = count;
        };
        note(step.body, step.arguments);
        if (step.kind == StepKind::conditional) note(step.else_body, step.location_count - 1 - step.arguments);
      }
  }
  constexpr void check_body(const Body& body) {
    List<Access> since;            // the last barrier
    bool is_entered = body_ == 0;  // no barrier is needed: nothing ran before, or since the last call
    for (int s = 0; s < body.step_count && fault_.empty(); ++s) {
      const Step& step = plan_.steps[body.first_step + s];
      where_ = text(", in step ", s, " of body ", body_);
      if (step.kind == StepKind::load_code) {
        expect(step.body > 0 && step.body < static_cast<int>(plan_.bodies.size()), "steps name what they run", "code of body ",
               step.body, ": one of ", plan_.bodies.size(), " bodies but the first expected");
        continue;
      }
      if (step.is_call()) {
        check_call(body, step);
        is_entered = false;
        continue;
      }
      check_compute(step);
      if (!fault_.empty()) return;
      const List<Access> own = accesses(body, step);
      expect(step.barrier_before || is_entered, "barriers stand between conflicts",
             "no barrier in the first step, or after a call: one expected");
      if (step.barrier_before) since.clear();
      for (const Access& access : own)
        for (const Access& earlier : since)
          expect(!conflict(access, earlier), "barriers stand between conflicts",
                 "no barrier before a step that shares bytes with an earlier one at offset ", access.from.offset, " of memory `",
                 name_of(access.from.base), "`: one expected");
      for (const Access& access : own) since.push_back(access);
      is_entered = true;
    }
  }
  constexpr void check_call(const Body& body, const Step& step) {
    std::int64_t expected = step.arguments;
    if (step.kind == StepKind::loop) expected *= 3;
    if (step.kind == StepKind::conditional) expected += 1 + arguments_[step.else_body];
    expect(step.location_count == expected, "steps have their locations", step.location_count, " locations of a call: ", expected,
           " expected");
    expect(step.count >= 1, "loops count", step.count, " iterations: at least 1 expected");
    expect(step.compute_set == -1 && (step.else_body >= 0) == (step.kind == StepKind::conditional), "steps name what they run",
           "a call with compute set ", step.compute_set, " and body ", step.else_body,
           " for false: none, but of a conditional, expected");
    expect(step.barrier_before, "barriers stand between conflicts", "no barrier before a call: one expected");
    for (int callee : {step.body, step.else_body})
      if (callee >= 0)
        expect(step.frame_offset >= 0 && step.frame_offset + plan_.bodies[callee].frame_bytes <= body.frame_bytes,
               "frames lie in frames", "the frame of body ", callee, " has bytes ", step.frame_offset, " to ",
               step.frame_offset + plan_.bodies[callee].frame_bytes, ": at most ", body.frame_bytes, " expected");
    for (int l = step.first_location; l < location_end(step); ++l) check_location(body, plan_.locations[l], 0);
  }
  constexpr void check_compute(const Step& step) {
    if (!expect(step.compute_set >= 0 && step.compute_set < static_cast<int>(plan_.compute_sets.size()) && step.body == -1 &&
                    step.else_body == -1,
                "steps name what they run", "compute set ", step.compute_set, ", body ", step.body, ": one of ",
                plan_.compute_sets.size(), " sets and no body expected"))
      return;
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    expect(step.location_count == set.location_count, "steps have their locations", step.location_count,
           " locations of a set of ", set.location_count, ": as many expected");
    std::int64_t vertices = 1;
    for (int axis = 0; axis < set.blocks.size(); ++axis) vertices *= block_count(set.extents[axis], set.blocks[axis]);
    const bool is_collective = step.kind == StepKind::collective;
    expect(step.vertices == (is_collective ? 0 : vertices), "vertices are blocks", step.vertices,
           " vertices: ", is_collective ? 0 : vertices, " expected");
    expect(is_collective ? step.items >= 1 : step.items == 0, "only collectives have items", step.items,
           " items: ", is_collective ? "at least 1" : "none", " expected");
    const int streams = static_cast<int>(plan_.streams.size());
    expect(step.stream >= -1 && step.stream < streams, "streams exist", "stream ", step.stream, " moves: one of ", streams,
           " expected");
    for (int l = step.first_location; l < location_end(step); ++l) {
      const Location& location = plan_.locations[l];
      if (location.base != Base::stream || location.index < 0 || location.index >= streams) continue;
      const int moves = plan_.streams[location.index].moves ? location.index : -1;
      expect(step.stream == moves, "streams move after each use", "stream ", step.stream, " moves: ", moves, " expected");
    }
  }
  /// What a step accesses, by location; exact, where those of place_barriers may be more.
  constexpr List<Access> accesses(const Body& body, const Step& step) {
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    List<Access> all;
    for (int l = step.first_location; l < location_end(step); ++l)
      all.push_back({.from = plan_.locations[l], .single = step.vertices == 1});
    for (int s = 0; s < set.stage_count; ++s)
      for (int o = 0; o < stage(set, s).operand_count; ++o) {
        const StageOperand& operand = plan_.operands[stage(set, s).first_operand + o];
        if (operand.source != Source::memory) continue;
        Access& access = all[operand.index];
        access.writes = access.writes || o >= stage(set, s).input_count;
        std::int64_t bytes = span_bytes(operand.view);
        for (int axis = 0; axis < set.blocks.size(); ++axis)  // partials: the view is that of one
          if (std::ranges::find(operand.grid_axis, axis) == std::end(operand.grid_axis))
            bytes += (block_count(set.extents[axis], set.blocks[axis]) - 1) *
                     plan_.strides[set.first_stride + operand.index * set.blocks.size() + axis];
        access.bytes = std::max(access.bytes, bytes);
      }
    for (const Access& access : all) check_location(body, access.from, access.bytes);
    return all;
  }
  constexpr void check_location(const Body& body, const Location& location, std::int64_t bytes) {
    const auto& [base, index, offset] = location;
    std::int64_t end = 0;
    bool holds = index >= 0;
    switch (base) {
      case Base::frame: end = body.frame_bytes; break;
      case Base::argument: end = offset + bytes, holds = holds && (arguments_[body_] < 0 || index < arguments_[body_]); break;
      case Base::variable: end = plan_.memory.variables; break;
      case Base::constant: end = plan_.memory.constants; break;
      case Base::remote: end = plan_.memory.remote; break;
      case Base::stream:
        holds = holds && index < static_cast<int>(plan_.streams.size());
        if (!holds) break;
        const PlannedStream& stream = plan_.streams[index];
        end = stream.spec.bytes() * (stream.moves ? 1 : stream.elements * plan_.replicas);
    }
    expect(holds && offset >= 0 && offset + bytes <= end, "locations lie in their memory", bytes, " bytes at index ", index,
           ", offset ", offset, " of memory `", name_of(base), "`: at most ", end, " bytes expected");
  }

  // ---- the program

  constexpr void check_memory() {
    struct Block {
      std::int64_t begin, end;
    };
    const auto check = [&](std::string_view what, List<Block> blocks, std::int64_t bytes) {
      std::ranges::sort(blocks, {}, &Block::begin);
      std::int64_t used = 0;
      for (const auto& [begin, end] : blocks) {
        expect(begin >= used && begin % memory_alignment == 0 && end <= bytes, "memory is divided", what, " at bytes ", begin,
               " to ", end, " of ", bytes, ": aligned, inside, and apart from others expected");
        used = end;
      }
    };
    List<Block> variables, constants, rows;
    for (const PlannedVariable& each : plan_.variables)
      if (each.base == Base::variable) variables.push_back({each.offset, each.offset + each.spec.bytes()});
    for (const PlannedConstant& each : plan_.constants) constants.push_back({each.offset, each.offset + each.spec.bytes()});
    for (const PlannedRemoteBuffer& each : plan_.remote_buffers)
      rows.push_back({each.offset, each.offset + each.entries * each.row_bytes()});
    check("a variable", std::move(variables), plan_.memory.variables);
    check("a constant", std::move(constants), plan_.memory.constants);
    check("a remote buffer", std::move(rows), plan_.memory.remote);
    expect(plan_.memory.frame == plan_.bodies[0].frame_bytes, "memory is divided", "a frame of ", plan_.memory.frame,
           " bytes: ", plan_.bodies[0].frame_bytes, ", the main body's, expected");
  }
  constexpr void check_exchanges() {
    int next = 0;
    for (const PlannedExchange& exchange : plan_.exchanges) {
      bool is_in_body = false;
      for (const Body& body : plan_.bodies)
        is_in_body = is_in_body ||
                     (exchange.first_step >= body.first_step && exchange.last_step() < body.first_step + body.step_count);
      expect(exchange.step_count >= 1 && exchange.first_step >= next && is_in_body, "exchanges are steps of a body",
             "an exchange of steps ", exchange.first_step, " to ", exchange.last_step(), ": some of one body, from ", next,
             " on, expected");
      next = exchange.last_step() + 1;
    }
  }

  const Plan& plan_;
  int body_ = 0;
  List<int> arguments_{};  // by body; -1: nobody calls it
  Text where_{};           // of the fault
  Text fault_{};           // empty: none
};

}  // namespace tilewright::detail
