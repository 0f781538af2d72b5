#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/text.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/verified/apart.hpp"
#include "tilewright/verified/barriers.hpp"
#include "tilewright/verified/fault.hpp"
#include "tilewright/verified/graph_run.hpp"
#include "tilewright/verified/plan_memory.hpp"
#include "tilewright/verified/stage_values.hpp"
#include "tilewright/verified/step_text.hpp"
#include "tilewright/verified/vertices.hpp"

namespace tilewright::internal::proof::detail {

/// Runs a plan, or a frozen one, on values in place of numbers, step by step, with every call. It finds the first step that
/// accesses bytes beyond its memory, reads what no step wrote, computes what no graph says, or runs at the same time as a step
/// with which it shares bytes.
template <class AnyPlan>
class PlanRun {
 public:
  constexpr PlanRun(const AnyPlan& plan, ValueTerms& terms)
      : plan_(plan), terms_(terms), stage_values_(terms), memory_(plan, terms), checked_sets_(plan.compute_sets.size(), false) {}

  constexpr void ignore(std::string_view rule) { ignored_ = rule; }
  /// Returns what is wrong. `expected`: what graphs do.
  constexpr Fault run(const RunEffects& expected) {
    most_iterations_ = expected.iterations;
    if (Text wrong = memory_.start(); !wrong.empty()) return {std::move(wrong)};
    for (const BodyId root : {plan_.after_upload, BodyId::main, plan_.before_download})
      if (root != BodyId::none && problem_.empty()) {
        barriers_ = {};
        run_body(root, {}, 0);
      }
    if (problem_.empty()) compare(expected);
    return {std::move(problem_), body_, step_number_};
  }
  /// Returns whether a step computes of bytes that no step wrote, as the graphs do.
  constexpr bool reads_unwritten() const { return reads_unwritten_; }

 private:
  /// A place of the whole run: the frame's offsets count from the start of the root's.
  using Place = Location;
  /// A value that a stage passes on: elements of a dense block.
  struct Register {
    Access access{};
    Content content{};
  };

  constexpr bool fail(std::string_view rule, const auto&... what) {
    if (rule == ignored_) return true;
    if (problem_.empty()) problem_ = text(rule, ": ", what...);
    return false;
  }
  /// Fails by the rule `tables`, also where that is ignored: the row to read is not there.
  constexpr bool fail_always(const auto&... what) { return ignored_ = {}, fail("tables", what...); }
  // ---- bodies

  constexpr void run_body(BodyId number, const List<Place>& arguments, std::int64_t frame) {
    const BodyId caller = std::exchange(body_, number);
    const int caller_step = step_number_;
    const Body& body = plan_.bodies.data()[static_cast<std::size_t>(number)];
    memory_.find(Base::frame, 0)->values.forget(frame, frame + body.frame_bytes);
    for (int s = 0; s < body.step_count && problem_.empty(); ++s) {
      step_number_ = s;
      const Step& step = plan_.steps[static_cast<std::size_t>(body.first_step + s)];
      run_step(step, body, arguments, frame);
    }
    if (problem_.empty()) body_ = caller, step_number_ = caller_step;  // else they say where the fault is
    memory_.find(Base::frame, 0)->values.forget(frame, frame + body.frame_bytes);
  }
  constexpr void run_step(const Step& step, const Body& body, const List<Place>& arguments, std::int64_t frame) {
    const Location* const locations = plan_.locations.data() + step.first_location;
    List<Place> places;
    places.reserve(static_cast<std::size_t>(step.location_count));
    for (int i = 0; i < step.location_count; ++i) {
      Place place;
      if (!resolve(locations[i], arguments, body, frame, place)) return;
      places.push_back(place);
    }
    if (body.ipu >= 0 && step.joins_ipus && step.barrier_before && step.kind != StepKind::load_code &&
        !fail("barriers", "workers of IPU ", body.ipu,
              " wait for those of all IPUs, which do not come: no such barrier expected"))
      return;
    switch (step.kind) {
      case StepKind::compute:
      case StepKind::collective: return compute(step, body, places);
      case StepKind::load_code: return;
      default: break;
    }
    if (!is_callee(step.body, step, body) || (step.kind == StepKind::conditional && !is_callee(step.else_body, step, body)))
      return;
    if (step.joins_ipus && step.ipu >= 0) barriers_.pass(-1);  // workers meet before a body of one IPU
    const auto list = [&](int first, int count) { return List<Place>(places.begin() + first, places.begin() + first + count); };
    if (step.kind == StepKind::call) return run_body(step.body, list(0, step.arguments), frame + step.frame_offset);
    if (step.kind == StepKind::conditional) return branch(step, body, places, list, frame + step.frame_offset);
    iterations_ += step.count;
    if (iterations_ > most_iterations_)
      return void(fail_always(iterations_, " iterations of loops: at most ", most_iterations_, ", as in the graphs, expected"));
    for (std::int64_t n = 0; n < step.count && problem_.empty(); ++n) {
      List<Place> given = list((n == 0 ? 0 : n % 2 == 1 ? 1 : 2) * step.arguments, step.arguments);
      for (int i = 0; i < step.arguments; ++i)
        given[static_cast<std::size_t>(i)].offset += n * plan_.strides[static_cast<std::size_t>(step.first_stride + i)];
      run_body(step.body, given, frame + step.frame_offset);
    }
  }
  constexpr bool is_callee(BodyId callee, const Step& step, const Body& body) {
    if (callee <= body_ || callee >= BodyId(plan_.bodies.size()))
      return fail_always("a call of body ", callee, ": a body from ", static_cast<int>(body_) + 1, " on expected");
    const std::int64_t bytes = plan_.bodies.data()[static_cast<std::size_t>(callee)].frame_bytes;
    if (step.frame_offset < 0 || step.frame_offset + bytes > body.frame_bytes)
      return fail("memory", "a frame of ", bytes, " bytes at ", step.frame_offset, ": a place in ", body.frame_bytes,
                  " bytes expected");
    const int expected = step.kind == StepKind::loop ? 3 * step.arguments : step.arguments;
    if (step.kind != StepKind::conditional) return has_locations(step, expected);
    return step.location_count > step.arguments ||
           fail_always(step.location_count, " locations of a conditional: more than ", step.arguments, " expected");
  }
  /// Checks the number of locations. No code reads those that are too many, but they are a fault, too.
  constexpr bool has_locations(const Step& step, int expected) {
    if (step.location_count < expected) ignored_ = {};
    return step.location_count == expected || fail("tables", step.location_count, " locations: ", expected, " expected");
  }
  constexpr void branch(const Step& step, const Body& body, const List<Place>& places, const auto& list, std::int64_t frame) {
    barriers_.pass(step.joins_ipus && body.ipu < 0 ? -1 : step.ipu);
    if (!memory_.find(places[0].base, places[0].index))
      return void(fail_always("a condition that is in no memory: a bool expected"));
    const Content read = memory_.read(places[0], {places[0].offset, 1, 0, {}, {}});
    if (has_unwritten(read)) return void(fail("values", "a condition that no step wrote: a bool expected"));
    const StepAccess condition_bytes{places[0].base,   places[0].index,     {places[0].offset, 1, 0, {}, {}}, false, 0, 0,
                                     places[0].offset, places[0].offset + 1};
    if (barriers_.add({condition_bytes}, step.ipu, false) &&
        !fail("barriers", "no barrier before a condition that an earlier step writes: a barrier expected"))
      return;
    const ValueId condition = terms_.number(read, {});
    const PlanMemory<AnyPlan> before = memory_;
    run_body(step.body, list(1, step.arguments), frame);
    PlanMemory<AnyPlan> after = std::exchange(memory_, before);
    const Barriers barriers = std::exchange(barriers_, {});
    run_body(step.else_body, list(1 + step.arguments, step.location_count - 1 - step.arguments), frame);
    barriers_.add_all(barriers);
    memory_.join(after, condition);
  }
  constexpr bool resolve(const Location& location, const List<Place>& arguments, const Body& body, std::int64_t frame,
                         Place& place) {
    place = location;
    switch (location.base) {
      case Base::frame:
        if (location.offset < 0 || location.offset > body.frame_bytes)
          return fail("memory", "offset ", location.offset, " of a frame: 0 to ", body.frame_bytes, " expected");
        place.offset += frame;
        return true;
      case Base::argument:
        if (location.index < 0 || static_cast<std::size_t>(location.index) >= arguments.size())
          return fail_always("argument ", location.index, " of ", arguments.size(), ": an argument that the call has expected");
        place = arguments[static_cast<std::size_t>(location.index)];
        place.offset += location.offset;
        return true;
      case Base::stream:
        if (!memory_.find(Base::stream, location.index)) break;
        if (memory_.moves(location.index))
          place.offset += memory_.moved(location.index) * plan_.replicas *
                          plan_.streams[static_cast<std::size_t>(location.index)].spec.bytes();
        return true;
      case Base::position: return true;
      default:
        if (memory_.find(location.base, location.index)) return true;
    }
    return fail_always("index ", location.index, " of memory `", name_of(location.base), "`: a memory of the plan expected");
  }

  // ---- steps that compute

  /// Returns the access to an operand with its place, or as a dense block.
  constexpr Access access(const StageOperand& operand, const List<Place>& places, std::int64_t parts) const {
    if (operand.source == Source::memory)
      return access_of(operand, places[static_cast<std::size_t>(operand.index)].offset, parts);
    return access_of(0, {operand.view.shape, operand.view.dtype}, dense_strides(operand.view.shape));
  }
  constexpr void compute(const Step& step, const Body& body, const List<Place>& places) {
    if (step.compute_set < 0 || static_cast<std::size_t>(step.compute_set) >= plan_.compute_sets.size())
      return void(fail_always("compute set ", step.compute_set, ": a set of the plan expected"));
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(step.compute_set)];
    if (!has_locations(step, set.location_count)) return;
    if (!checked_sets_[static_cast<std::size_t>(step.compute_set)]) {
      if (const Text wrong = SetCheck(plan_, set, terms_).run(); !wrong.empty() && !fail("vertices", wrong)) return;
      checked_sets_[static_cast<std::size_t>(step.compute_set)] = true;
    }
    const Division division(plan_, set);
    const bool is_collective = step.kind == StepKind::collective;
    if (step.vertices != (is_collective ? 0 : division.vertices()) &&
        !fail("vertices", step.vertices, " vertices: ", division.vertices(), ", one for each block, expected"))
      return;
    if (step.barrier_before) barriers_.pass(step.joins_ipus && body.ipu < 0 ? -1 : step.ipu);
    List<StepAccess> accesses;
    scratch_.clear();
    registers_.clear();
    for (int s = 0; s < set.stage_count && problem_.empty(); ++s) run_stage(set, division, s, places, accesses);
    if (!problem_.empty()) return;
    if (const auto wrong = ApartCheck(SetStages(plan_, set), division, accesses, terms_).run(); !wrong.empty())
      fail("vertices", wrong);
    if (barriers_.add(std::move(accesses), step.ipu, !is_collective && step.vertices * step.pieces == 1))
      fail("barriers", "no barrier before a step that shares bytes with an earlier one: a barrier expected");
    memory_.move(step.stream);
  }

  constexpr void run_stage(const ComputeSet& set, const Division& division, int s, const List<Place>& places,
                           List<StepAccess>& accesses) {
    const Stage& stage = plan_.stages[static_cast<std::size_t>(set.first_stage + s)];
    for (int o = 0; o < stage.operand_count; ++o)
      if (const StageOperand& each = plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
          each.source == Source::memory && (each.index < 0 || static_cast<std::size_t>(each.index) >= places.size()))
        return void(fail_always("an operand at a location that the step does not have: one of its locations expected"));
    List<Operand> inputs;
    inputs.reserve(static_cast<std::size_t>(stage.input_count) + 1);
    bool reads_unwritten = false;
    for (int o = 0; o < stage.input_count; ++o) {
      const StageOperand& operand = plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
      const Access bytes = access(operand, places, 1);
      if (operand.source == Source::memory && !note(places, operand.index, {.bytes = bytes, .stage = s, .operand = o}, accesses))
        return;
      inputs.push_back({{operand.view.shape, operand.view.dtype}, read(operand, bytes, places)});
      reads_unwritten = reads_unwritten || (bytes.elements() > 0 && has_unwritten(inputs.back().content));
    }
    const OpInfo* const op = terms_.find_op(stage.op);
    const bool prints = op && op->has_side_effect && op->modifies < 0 && !op->transfer;
    for (int o = stage.input_count; o < stage.operand_count && problem_.empty(); ++o) {
      const StageOperand& operand = plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
      const std::int64_t parts = division.parts(operand);
      const Access bytes = access(operand, places, parts);
      if (operand.source == Source::memory &&
          !note(places, operand.index, {.bytes = bytes, .writes = true, .stage = s, .operand = o}, accesses))
        return;
      Content made;  // GCC 12 takes contents that `?:` chooses for freed memory
      if (stage.op != op_info<Identity>.tag) {
        List<Operand> given;
        if (o + 1 < stage.operand_count || prints) given = inputs;
        else given = std::move(inputs);
        if (terms_.is_row_store(stage.op) && stage.input_count == 2)
          given.push_back({{operand.view.shape, operand.view.dtype}, read(operand, bytes, places)});
        const ValueId value = stage_values_.result(stage, given, o - stage.input_count, {operand.view.shape, operand.view.dtype},
                                                   parts);
        if (parts == 1 && bytes.elements() > 0 && !terms_.is_known(value))
          return void(reads_unwritten
                          ? fail("values", "stage ", s, " (", stage.name, ") reads bytes that no step wrote")
                          : fail("values", "stage ", s, " (", stage.name, ") computes of its operands what no graph does"));
        if (parts == 1) made = terms_.whole(value, bytes);
        else made = whole_of(value, bytes);
      } else if (reads_unwritten || inputs[0].spec.shape != operand.view.shape) {
        return void(fail("values", "stage ", s, " (", stage.name, ") copies ",
                         reads_unwritten ? "bytes that no step wrote" : "to another shape: equal shapes expected"));
      } else {
        made = inputs[0].content;
      }
      store(operand, bytes, places, made, s, o == stage.input_count);
    }
    reads_unwritten_ = reads_unwritten_ || reads_unwritten;
    if (prints) printed_.push_back(terms_.result(terms_.term_of(stage.op, stage.attributes, inputs, -1), {}));
  }
  constexpr Content read(const StageOperand& operand, const Access& bytes, const List<Place>& places) {
    const auto index = static_cast<std::size_t>(operand.index);
    if (operand.source == Source::value) {
      if (index >= registers_.size() || registers_[index].access == bytes)
        return index < registers_.size() ? registers_[index].content : Content();
      Memory memory;  // for elements in their order, but of another shape
      memory.write(registers_[index].access, registers_[index].content);
      return memory.read(bytes);
    }
    if (operand.source == Source::scratch) {
      for (const auto& [offset, memory] : scratch_)
        if (offset == operand.index) return memory.read(bytes);
      return {};
    }
    const Place& place = places[static_cast<std::size_t>(operand.index)];
    if (place.base == Base::position) {
      Content content{.value = terms_.initial(Origin::position, 0), .first = bytes.offset};
      for (int axis = 0; axis < bytes.rank; ++axis) content.steps[axis] = bytes.extents[axis] == 1 ? 0 : bytes.strides[axis];
      return content;
    }
    return memory_.read(place, bytes);
  }
  constexpr void store(const StageOperand& operand, const Access& bytes, const List<Place>& places, const Content& made, int s,
                       bool is_first) {
    while (static_cast<int>(registers_.size()) <= s) registers_.push_back({});
    if (is_first && bytes.elements() == operand.view.shape.nelms())
      registers_[static_cast<std::size_t>(s)] = {
          access_of(0, {operand.view.shape, operand.view.dtype}, dense_strides(operand.view.shape)), made};
    if (operand.source == Source::memory) {
      const Place& place = places[static_cast<std::size_t>(operand.index)];
      memory_.find(place.base, place.index)->values.write(bytes, made);
    } else if (operand.source == Source::scratch) {
      for (auto& [offset, memory] : scratch_)
        if (offset == operand.index) return memory.write(bytes, made);
      scratch_.push_back({operand.index, {}});
      scratch_.back().second.write(bytes, made);
    }
  }
  /// Records an access, and checks that its memory has the bytes.
  constexpr bool note(const List<Place>& places, int location, StepAccess access, List<StepAccess>& accesses) {
    const Place& place = places[static_cast<std::size_t>(location)];
    const Access& bytes = access.bytes;
    if (place.base == Base::position && access.writes)
      return fail_always("a write to positions, which are no memory: a read expected");
    if (place.base == Base::position || bytes.elements() == 0) return true;
    const Stored* const found = memory_.find(place.base, place.index);
    if (found == nullptr) return fail_always("an operand in no memory of the plan: one of its memories expected");
    const Stored& memory = *found;
    const auto [below, above] = bytes.reach();
    if (bytes.offset + below < 0 || (memory.bytes >= 0 && bytes.offset + above > memory.bytes))
      return fail("memory", "bytes ", bytes.offset + below, " to ", bytes.offset + above, " of memory `", name_of(place.base),
                  "`: bytes from 0 to ", memory.bytes, " expected");
    if (access.writes && (place.base == Base::constant ||
                          (place.base == Base::stream &&
                           plan_.streams[static_cast<std::size_t>(place.index)].direction == StreamDirection::host_to_device)))
      return fail("memory", "writes what is given, in memory `", name_of(place.base), "`: a read expected");
    access.base = place.base, access.index = place.index;
    access.begin = bytes.offset + below, access.end = bytes.offset + above;
    accesses.push_back(access);
    return true;
  }
  // ---- what is there after a run

  constexpr void compare(const RunEffects& expected) {
    body_ = BodyId::main, step_number_ = plan_.bodies.data()[0].step_count;
    const auto validate = [&](ValueId expected_value, Base base, int index, const Access& access, const Shape& shape,
                              std::string_view what, std::size_t number) {
      Stored* const memory = memory_.find(base, index);
      if (memory == nullptr || terms_.number(memory->values.read(access), shape) != expected_value)
        fail("values", what, " ", number, row_name(plan_, base, number),
             " differs from the graphs after the run: equal expected");
    };
    for (std::size_t i = 0; i < expected.variables.size(); ++i) {
      const auto& variable = plan_.variables[i];
      if (variable.base == Base::variable)
        validate(expected.variables[i], Base::variable, 0,
                 access_of(variable.offset, variable.spec, dense_strides(variable.spec.shape)), variable.spec.shape, "variable",
                 i);
    }
    for (std::size_t i = 0; i < expected.rows.size(); ++i) {
      const auto& buffer = plan_.remote_buffers[i];
      validate(expected.rows[i], Base::remote, buffer.mapping, memory_.rows_of(buffer), {buffer.entries, buffer.spec.nelms()},
               "remote buffer", i);
    }
    for (std::size_t i = 0; i < plan_.streams.size(); ++i) compare_stream(expected, i, validate);
    if (printed_.size() != expected.printed.size())
      fail("values", printed_.size(), " ops with other effects ran: ", expected.printed.size(), " expected");
    for (std::size_t i = 0; i < printed_.size() && problem_.empty(); ++i)
      if (printed_[i] != expected.printed[i]) fail("values", "ops with other effects run in another order or on other values");
  }
  constexpr void compare_stream(const RunEffects& expected, std::size_t i, const auto& validate) {
    const auto& stream = plan_.streams[i];
    const bool loads = stream.direction == StreamDirection::host_to_device;
    const std::int64_t count = loads ? expected.loaded[i] : static_cast<std::int64_t>(expected.stored[i].size());
    const bool moves = memory_.moves(static_cast<int>(i));
    const std::int64_t moved = moves ? memory_.moved(static_cast<int>(i)) : memory_.elements_of(static_cast<int>(i));
    if (moved != count && (moves || moved >= 0)) fail("values", moved, " elements of stream ", i, " move: ", count, " expected");
    if (loads) return;
    const std::int64_t pitch = plan_.replicas * stream.spec.bytes();
    for (std::int64_t k = 0; k < count && problem_.empty(); ++k)
      validate(expected.stored[i][static_cast<std::size_t>(k)], Base::stream, static_cast<int>(i),
               access_of(k * pitch, stream.spec, dense_strides(stream.spec.shape)), stream.spec.shape, "stream", i);
  }

  const AnyPlan& plan_;
  ValueTerms& terms_;
  StageValues stage_values_;
  PlanMemory<AnyPlan> memory_;
  List<bool> checked_sets_;
  Barriers barriers_{};
  List<std::pair<int, Memory>> scratch_{};  // of a step: by offset
  List<Register> registers_{};  // of a step: first results, by stage
  List<ValueId> printed_{};
  BodyId body_ = BodyId::none;
  int step_number_ = 0;
  bool reads_unwritten_ = false;
  std::int64_t iterations_ = 0, most_iterations_ = 0;  // of all loops
  std::string_view ignored_{};
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
