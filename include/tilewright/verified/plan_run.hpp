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
#include "tilewright/verified/plan_places.hpp"
#include "tilewright/verified/stage_values.hpp"
#include "tilewright/verified/step_text.hpp"
#include "tilewright/verified/vertices.hpp"

namespace tilewright::internal::proof::detail {

/// Runs a plan, or a frozen one, on values in place of numbers, step by step, with every call. It finds the first step that
/// accesses bytes beyond its memory, reads what no step wrote, computes what no graph says, or runs at the same time as a step
/// with which it shares bytes.
template <class AnyPlan>
class PlanRun : PlanPlaces<AnyPlan> {
 public:
  /// `called`: graphs whose bodies run once.
  constexpr PlanRun(const AnyPlan& plan, ValueTerms& terms, const CalledGraphs& called)
      : PlanPlaces<AnyPlan>(plan, terms),
        stage_values_(terms),
        called_(called),
        graphs_(called.graphs_of_bodies(plan)),
        results_(plan.bodies.size(), BodyResult{}),
        checked_sets_(plan.compute_sets.size(), false) {}

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
    if (problem_.empty()) {
      body_ = BodyId::main, step_number_ = plan_.bodies.data()[0].step_count;
      this->compare(expected);
    }
    return {std::move(problem_), body_, step_number_};
  }
  /// Returns whether a step computes of bytes that no step wrote, as the graphs do.
  constexpr bool reads_unwritten() const { return reads_unwritten_; }

 private:
  using Base_ = PlanPlaces<AnyPlan>;
  using Base_::fail, Base_::fail_always, Base_::has_bytes, Base_::is_given, Base_::resolve;
  using Base_::ignored_, Base_::memory_, Base_::plan_, Base_::printed_, Base_::problem_, Base_::terms_;
  using typename Base_::Place;

  /// Result of a body for any arguments.
  struct BodyResult : CallResult {
    Barriers barriers{};
    List<bool> written{};  // by argument: whether a step writes it
  };
  /// A value that a stage passes on: elements of a dense block.
  struct Register {
    Access access{};
    Content content{};
  };

  constexpr void run_body(BodyId number, const List<Place>& arguments, std::int64_t frame) {
    if (graphs_[static_cast<std::size_t>(number)] == GraphId::main || !call_body(number, arguments, frame))
      run_call(number, arguments, frame);
  }
  /// Does what a body makes of any arguments, if these are written, and apart from each other. Returns whether it does, or a step
  /// of the body has a fault.
  constexpr bool call_body(BodyId number, const List<Place>& arguments, std::int64_t frame) {
    const GraphId graph = graphs_[static_cast<std::size_t>(number)];
    const List<TensorSpec> specs = called_.arguments(graph);
    if (arguments.size() != specs.size()) return false;
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (!has_bytes(arguments[i], specs[i].bytes())) return false;
    const auto access = [&](std::size_t i) { return access_of(arguments[i].offset, specs[i], dense_strides(specs[i].shape)); };
    List<Operand> inputs;
    for (std::size_t i = 0; i < called_.inputs(graph); ++i) {
      inputs.push_back({specs[i], specs[i].bytes() > 0 ? memory_.read(arguments[i], access(i)) : Content()});
      if (!is_written(inputs.back())) return false;
    }
    const BodyResult& result = result_of(number, specs, inputs.size());
    if (!problem_.empty()) return true;
    const Body& body = plan_.bodies.data()[static_cast<std::size_t>(number)];
    const auto share = [](const Place& a, std::int64_t bytes, const Place& b, std::int64_t others) {
      return bytes > 0 && others > 0 && a.base == b.base && a.index == b.index && a.offset < b.offset + others &&
             b.offset < a.offset + bytes;
    };
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (share(arguments[i], specs[i].bytes(), {Base::frame, 0, frame}, body.frame_bytes)) return false;
      for (std::size_t k = 0; k < specs.size() && result.written[i]; ++k)
        if (i != k && share(arguments[i], specs[i].bytes(), arguments[k], specs[k].bytes())) return false;
      if (result.written[i] && is_given(arguments[i])) return false;
    }
    const auto placed = [&](StepAccess bytes) {
      if (bytes.base == Base::constant) return bytes;
      const Place to = bytes.base == Base::frame ? Place{Base::frame, 0, frame}
                                                 : arguments[static_cast<std::size_t>(bytes.index)];
      bytes.base = to.base, bytes.index = to.index;
      bytes.bytes.offset += to.offset, bytes.begin += to.offset, bytes.end += to.offset;
      return bytes;
    };
    if (barriers_.add_body(result.barriers, placed) &&
        !fail("barriers", "no barrier before a step that shares bytes with an earlier one: a barrier expected"))
      return true;
    memory_.find(Base::frame, 0)->values.forget(frame, frame + body.frame_bytes);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!result.written[i]) continue;
      const ValueId made = i < inputs.size() ? result.inputs[i] : result.outputs[i - inputs.size()];
      memory_.find(arguments[i].base, arguments[i].index)->values.write(access(i), terms_.call(made, specs[i], inputs));
      if (arguments[i].base == Base::argument) written_[static_cast<std::size_t>(arguments[i].index)] = true;
    }
    return true;
  }
  /// Runs a body on arguments of which only the types are known, each in a memory of its own, if it did not run yet.
  constexpr const BodyResult& result_of(BodyId number, const List<TensorSpec>& specs, std::size_t inputs) {
    BodyResult& result = results_[static_cast<std::size_t>(number)];
    if (std::exchange(result.is_known, true)) return result;
    PlanMemory<AnyPlan> memory = memory_.of_body(plan_.bodies.data()[static_cast<std::size_t>(number)].frame_bytes);
    List<Place> arguments;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      arguments.push_back({Base::argument, static_cast<int>(i), 0});
      memory.add_argument(static_cast<int>(i), specs[i], i < inputs);
    }
    std::swap(memory_, memory);
    const std::size_t printed = printed_.size();
    const Barriers barriers = std::exchange(barriers_, {});
    List<bool> written = std::exchange(written_, List<bool>(specs.size(), false));
    barriers_.begin_body();
    run_call(number, arguments, 0);
    if (problem_.empty() && printed_.size() != printed)
      fail("values", "prints in body ", number, ": none expected, as in its graph");
    for (std::size_t i = 0; i < specs.size(); ++i)
      (i < inputs ? result.inputs : result.outputs)
          .push_back(terms_.number(memory_.find(Base::argument, static_cast<int>(i))
                                       ->values.read(access_of(0, specs[i], dense_strides(specs[i].shape))),
                                   specs[i].shape));
    std::swap(memory_, memory);
    result.barriers = std::exchange(barriers_, barriers);
    result.written = std::exchange(written_, std::move(written));
    return result;
  }
  constexpr void run_call(BodyId number, const List<Place>& arguments, std::int64_t frame) {
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
    const Barriers barriers_before = barriers_;
    run_body(step.body, list(1, step.arguments), frame);
    PlanMemory<AnyPlan> after = std::exchange(memory_, before);
    const Barriers barriers = barriers_.begin_branch(barriers_before);
    run_body(step.else_body, list(1 + step.arguments, step.location_count - 1 - step.arguments), frame);
    barriers_.end_branch(barriers);
    memory_.join(after, condition);
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
    if (step.stream >= 0 && !memory_.find(Base::stream, step.stream))
      return void(fail_always("stream ", step.stream, " moves in a body whose graph moves none: no move expected"));
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
    if (access.writes && is_given(place))
      return fail("memory", "writes what is given, in memory `", name_of(place.base), "`: a read expected");
    access.base = place.base, access.index = place.index;
    access.begin = bytes.offset + below, access.end = bytes.offset + above;
    if (access.writes && place.base == Base::argument) written_[static_cast<std::size_t>(place.index)] = true;
    accesses.push_back(access);
    return true;
  }
  StageValues stage_values_;
  const CalledGraphs& called_;
  List<GraphId> graphs_;  // by body; main: it runs in each call
  List<BodyResult> results_;  // by body
  List<bool> checked_sets_;
  Barriers barriers_{};
  List<std::pair<int, Memory>> scratch_{};  // of a step: by offset
  List<Register> registers_{};  // of a step: first results, by stage
  List<bool> written_{};  // of a body that runs on any arguments: by argument, whether a step wrote it
  BodyId body_ = BodyId::none;
  int step_number_ = 0;
  bool reads_unwritten_ = false;
  std::int64_t iterations_ = 0, most_iterations_ = 0;  // of all loops
};

}  // namespace tilewright::internal::proof::detail
