#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/verified/fault.hpp"
#include "tilewright/verified/set_stages.hpp"
#include "tilewright/verified/step_text.hpp"

namespace tilewright::internal::proof::detail {

/// Checks each row of a plan, or of a frozen one, before the plan runs: its numbers lead to rows that exist, the executor has
/// room for what it needs, and each stage is computed where the stages that read it expect its value.
template <class AnyPlan>
class TablesCheck {
 public:
  /// `ignored`: a rule that is not checked. Numbers without a row are always a fault.
  constexpr TablesCheck(const AnyPlan& plan, const Target& target, ValueTerms& terms, std::string_view ignored)
      : plan_(plan), target_(target), terms_(terms), ignored_(ignored) {}

  constexpr Fault run() {
    if (plan_.bodies.size() == 0) fail("no body: at least one expected");
    for (std::size_t i = 0; i < plan_.compute_sets.size() && is_right(); ++i) check_set(i);
    for (std::size_t b = 0; b < plan_.bodies.size() && is_right(); ++b) {
      const Body& body = body_of(BodyId(b));
      if (!has_rows(body.first_step, body.step_count, plan_.steps.size()) || body.frame_bytes < 0) {
        fail("body ", b, " has steps ", body.first_step, " to ", body.first_step + body.step_count, " and a frame of ",
             body.frame_bytes, " bytes: steps that exist, and 0 bytes or more, expected");
        break;
      }
      fault_.body = BodyId(b);
      for (fault_.step = 0; fault_.step < body.step_count; ++fault_.step) {
        check_step(plan_.steps[static_cast<std::size_t>(body.first_step + fault_.step)], body);
        if (!is_right()) return std::move(fault_);
      }
      fault_.body = BodyId::none, fault_.step = -1;
    }
    if (is_right() && ignored_ != "memory") check_memory();
    return std::move(fault_);
  }

 private:
  constexpr bool is_right() const { return fault_.what.empty(); }
  constexpr void fail_by(std::string_view rule, const auto&... what) {
    if (is_right()) fault_.what = text(rule, ": ", what...);
  }
  constexpr void fail(const auto&... what) { fail_by("tables", what...); }
  static constexpr bool has_rows(std::int64_t first, std::int64_t count, std::size_t rows) {
    return first >= 0 && count >= 0 && first + count <= static_cast<std::int64_t>(rows);
  }
  constexpr const Body& body_of(BodyId body) const { return plan_.bodies.data()[static_cast<std::size_t>(body)]; }
  constexpr const Stage& stage(const ComputeSet& set, int s) const {
    return plan_.stages[static_cast<std::size_t>(set.first_stage + s)];
  }
  constexpr const StageOperand& operand(const Stage& stage, int o) const {
    return plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
  }

  // ---- compute sets

  constexpr void check_set(std::size_t number) {
    const ComputeSet& set = plan_.compute_sets[number];
    if (!has_rows(set.first_stage, set.stage_count, plan_.stages.size()) || set.stage_count < 1 || set.stage_count > max_stages)
      return fail("compute set ", number, " has stages ", set.first_stage, " to ", set.first_stage + set.stage_count, ": 1 to ",
                  max_stages, " stages that exist expected");
    if (set.blocks.size() != set.extents.size())
      return fail("compute set ", number, " has blocks along ", set.blocks.size(), " axes: blocks along ", set.extents.size(),
                  " expected");
    if (set.location_count < 0 || set.location_count > max_locations ||
        !has_rows(set.first_stride, std::int64_t{set.location_count} * set.blocks.size(), plan_.strides.size()))
      return fail("compute set ", number, " has ", set.location_count, " locations, and strides from ", set.first_stride,
                  " on: 0 to ", max_locations, " locations, and strides that exist, expected");
    for (int axis = 0; axis < set.blocks.size(); ++axis)
      if (set.blocks[axis] < 1 || set.blocks[axis] > set.extents[axis])
        return fail("compute set ", number, " has blocks of ", set.blocks[axis], " along axis ", axis, ": blocks of 1 to ",
                    set.extents[axis], " expected");
    if (set.scratch_bytes < 0 || set.scratch_bytes > max_scratch_bytes)
      return fail("compute set ", number, " has ", set.scratch_bytes, " bytes of scratch: 0 to ", max_scratch_bytes, " expected");
    for (int s = 0; s < set.stage_count && is_right(); ++s) check_stage(set, s);
    for (int s = 0; s < set.stage_count && is_right() && ignored_ != "vertices"; ++s) check_evaluation(set, s);
    if (!is_right()) fault_.what += text(", in compute set ", number);
  }
  constexpr void check_stage(const ComputeSet& set, int s) {
    const Stage& checked = stage(set, s);
    if (checked.op == nullptr) return fail("stage ", s, " has no op: an op expected");
    if (checked.input_count < 0 || checked.input_count >= checked.operand_count ||
        !has_rows(checked.first_operand, checked.operand_count, plan_.operands.size()))
      return fail("stage ", s, " (", checked.name, ") has ", checked.input_count, " inputs of ", checked.operand_count,
                  " operands: operands that exist, at least one of them an output, expected");
    if (ignored_ != "values" && terms_.find_op(checked.op) && checked.op != op_info<Identity>.tag &&
        !terms_.has_use(checked.op, checked.attributes, static_cast<std::size_t>(checked.input_count),
                        static_cast<std::size_t>(checked.operand_count - checked.input_count)))
      return fail_by("values", "stage ", s, " (", checked.name,
                     ") computes with other attributes or numbers of operands than ops of ",
                     "the program: attributes of one of them expected");
    for (int o = 0; o < checked.operand_count && is_right(); ++o) {
      const StageOperand& each = operand(checked, o);
      if (each.source == Source::value && o >= checked.input_count && each.index != s)
        return fail("operand ", o, " of stage ", s, " (", checked.name, ") is the value of stage ", each.index,
                    ": its own value expected");
      if (each.by_image && (each.source != Source::scratch || each.view.shape.rank == 0))
        return fail("operand ", o, " of stage ", s, " (", checked.name, ") is there for one image at a time, in ",
                    name_of(each.source), ": images in scratch expected");
      if (each.source == Source::scratch && each.index % memory_alignment != 0)
        return fail("operand ", o, " of stage ", s, " (", checked.name, ") is at byte ", each.index,
                    " of scratch: a multiple of ", memory_alignment, " expected");
    }
  }
  /// Checks that a stage is computed, and that values which it reads are in registers then.
  constexpr void check_evaluation(const ComputeSet& set, int s) {
    const SetStages stages(plan_, set);
    const Stage& checked = stages[s];
    const auto fail_stage = [&](const auto&... what) { fail_by("vertices", "stage ", s, " (", checked.name, ") ", what...); };
    int root = s;  // the stage that computes it
    while (stages[root].evaluation == Evaluation::expression) {
      if (stages.operand(root, stages[root].input_count).source != Source::value)
        return fail_stage("stores the result of an expression: a value that one stage reads expected");
      root = stages.reader_of(root);
      if (root < 0) return fail_stage("is in an expression that not exactly one stage reads: one reader expected");
    }
    int kernel = root;
    if (stages[root].evaluation == Evaluation::epilogue) {
      kernel = stages.kernel_before(root);
      if (kernel < 0) return fail_stage("is in an epilogue: a kernel before it expected");
      const OpInfo* const op = stages.op(kernel, terms_);
      if (op && (!op->has_epilogue || !host_rules_of(*op).runs_epilogues(stages[kernel].attributes)))
        return fail_stage("is in the epilogue of ", stages[kernel].name, ", which runs none: an op that does expected");
      if (stages.reads_rows(root, terms_)) return check_rows(stages, s, kernel);
    }
    for (int o = 0; o < checked.input_count; ++o) {
      const StageOperand& each = operand(checked, o);
      if (each.source == Source::memory) {
        if (root != s) check_not_written(set, s, o, root);
        continue;
      }
      if (each.source != Source::value || each.index < 0 || each.index >= s) continue;  // other rules see to these
      const Evaluation made = stages[each.index].evaluation;
      const bool is_in_registers = made == Evaluation::expression || (kernel != root && each.index == kernel) ||
                                   (kernel != root && made == Evaluation::epilogue && each.index > kernel &&
                                    !stages.reads_rows(each.index, terms_));
      if (!is_in_registers)
        return fail_stage("reads the value of stage ", each.index,
                          ", which is no longer in registers: an operand in memory expected");
    }
  }
  /// Checks a stage that reads rows in the epilogue of a kernel: these are rows of the planes that the kernel, or its epilogue,
  /// stores before.
  constexpr void check_rows(const SetStages& stages, int s, int kernel) {
    const Stage& checked = stages[s];
    const auto fail_stage = [&](const auto&... what) { fail_by("vertices", "stage ", s, " (", checked.name, ") ", what...); };
    if (const OpInfo* const op = stages.op(kernel, terms_); op && !host_rules_of(*op).epilogue_of_planes)
      return fail_stage("reads rows in the epilogue of ", stages[kernel].name,
                        ", which makes no planes: an op that does expected");
    const StageOperand &rows = stages.operand(s, 0), &result = stages.operand(kernel, stages[kernel].input_count);
    if (checked.input_count != 1 ||
        !host_rules_of(*stages.op(s, terms_)).reads_rows(checked.attributes, {rows.view.shape, rows.view.dtype}))
      return fail_stage("is in an epilogue, and needs more than rows of one operand: a separate kernel expected");
    int maker = s - 1;
    while (maker > kernel && !stores(stages, maker, rows)) --maker;
    if (!stores(stages, maker, rows))
      return fail_stage("reads rows that are not stored by stage ", kernel, " or its epilogue: rows stored there expected");
    bool is_same = rows.view.shape == result.view.shape;
    for (int axis = 0; is_same && axis < rows.view.shape.rank; ++axis) is_same = rows.grid_axis[axis] == result.grid_axis[axis];
    if (!is_same) fail_stage("reads other planes than stage ", kernel, " makes: equal planes in each vertex expected");
  }
  /// Returns whether the first result of a stage is stored in the place of an operand, in its order.
  static constexpr bool stores(const SetStages& stages, int s, const StageOperand& operand) {
    return stages.operand(s, stages[s].input_count) == operand;
  }
  /// Checks that no stage writes what an expression reads before the expression is computed.
  constexpr void check_not_written(const ComputeSet& set, int s, int o, int root) {
    for (int between = s + 1; between < root; ++between)
      for (int w = stage(set, between).input_count; w < stage(set, between).operand_count; ++w)
        if (const StageOperand& written = operand(stage(set, between), w);
            written.source == Source::memory && written.index == operand(stage(set, s), o).index)
          fail_by("vertices", "stage ", s, " (", stage(set, s).name, ") reads operand ", o, " in stage ", root, ", after stage ",
                  between, " wrote it: an earlier read expected");
  }

  // ---- steps

  constexpr void check_step(const Step& step, const Body& body) {
    if (!has_rows(step.first_location, step.location_count, plan_.locations.size()))
      return fail("locations ", step.first_location, " to ", step.first_location + step.location_count,
                  ": locations that exist expected");
    if (step.stream < -1 || step.stream >= static_cast<int>(plan_.streams.size()))
      return fail("stream ", step.stream, " moves: a stream of the plan, or none (-1), expected");
    if (step.ipu < -1 || step.ipu >= target_.ipus)
      return fail("IPU ", step.ipu, ": an IPU from 0 to ", target_.ipus - 1, ", or all (-1), expected");
    if (step.kind == StepKind::load_code) {
      if (step.body <= BodyId::main || step.body >= BodyId(plan_.bodies.size()) || plan_.is_root(step.body))
        fail("a load of the code of body ", step.body, ": a body that steps call expected");
    } else if (step.is_call()) {
      check_call(step, body);
    } else if (step.compute_set >= 0 && static_cast<std::size_t>(step.compute_set) < plan_.compute_sets.size()) {
      check_compute(step, body, plan_.compute_sets[static_cast<std::size_t>(step.compute_set)]);
    }
  }
  constexpr void check_call(const Step& step, const Body& body) {
    if (step.arguments < 0) return fail(step.arguments, " arguments: 0 or more expected");
    const auto check_callee = [&](BodyId callee, int arguments) {
      if (callee >= BodyId::main && plan_.is_root(callee))
        fail("a call of body ", callee, ", which a run begins with: another body expected");
      if (callee <= fault_.body || callee >= BodyId(plan_.bodies.size()))
        fail("a call of body ", callee, ": a body from ", static_cast<int>(fault_.body) + 1, " on expected");
      if (arguments > body.max_arguments)
        fail(arguments, " arguments of body ", callee, ": at most ", body.max_arguments, ", for which there is room, expected");
    };
    check_callee(step.body, step.arguments);
    if (step.kind == StepKind::loop && !has_rows(step.first_stride, step.arguments, plan_.strides.size()))
      fail("strides ", step.first_stride, " to ", step.first_stride + step.arguments, ": strides that exist expected");
    if (step.kind != StepKind::conditional && step.else_body != BodyId::none)
      fail("a call of body ", step.else_body, " for false, without a condition: none expected");
    if (step.kind == StepKind::conditional) {
      check_callee(step.else_body, step.location_count - 1 - step.arguments);
      if (ignored_ != "barriers" && !(step.barrier_before && (step.joins_ipus || step.ipu >= 0)))
        fail_by("barriers", "a condition that is read at once: a barrier before it expected");
    }
    if (step.joins_ipus && step.ipu >= 0 && body.ipu >= 0)
      fail_by("barriers", "a barrier of all IPUs in a body of IPU ", body.ipu, ": a barrier of that IPU expected");
  }
  constexpr void check_compute(const Step& step, const Body& body, const ComputeSet& set) {
    const bool is_collective = step.kind == StepKind::collective;
    if (!is_collective && step.pieces != set.pieces)
      return fail(step.pieces, " pieces of each vertex: ", set.pieces, ", as in the compute set, expected");
    const Stage& first = stage(set, 0);
    const OpInfo* const op = terms_.find_op(first.op);
    const bool has_collective = op && op->collective_items;
    if (has_collective != is_collective)
      return fail(is_collective ? "a collective" : "a step of vertices", " that runs ", first.name, ": an op ",
                  is_collective ? "over replicas" : "of one replica", " expected");
    if (is_collective && (set.stage_count != 1 || first.operand_count != 2 || operand(first, 0).source != Source::memory ||
                          operand(first, 1).source != Source::memory || operand(first, 0).index != 0 ||
                          operand(first, 1).index != step.location_count - 1))
      return fail("a collective of other operands than its first and its last location: these expected");
    std::int64_t items = 0;
    if (is_collective) items = op->collective_items(first.attributes, spec_of(operand(first, 0)), spec_of(operand(first, 1)));
    if (step.items != items || (is_collective && items == 0))
      return fail(step.items, " items: ", items, ", as many as its collective has, expected");
    int sites = 0;
    for (int s = 0; s < set.stage_count; ++s) sites += stage(set, s).can_fault ? 1 : 0;
    if (sites > 0 && !has_rows(step.first_fault_site, sites, plan_.fault_sites.size()))
      return fail("fault sites from ", step.first_fault_site, " on: ", sites, " that exist expected");
    check_fault_sites(step, set);
    if (step.barrier_before && step.joins_ipus ? body.ipu >= 0 : step.barrier_before && step.ipu < 0)
      return fail_by("barriers", "a barrier of ", step.joins_ipus ? "all IPUs" : "one IPU", " in a step of IPU ", step.ipu,
                     " and a body of IPU ", body.ipu, " (-1: all): a barrier of the workers that come there expected");
    if (ignored_ != "memory") check_elements(step, set);
  }
  /// Checks that the stages which can fault have a site, and what its text says of the op and its value.
  constexpr void check_fault_sites(const Step& step, const ComputeSet& set) {
    int number = step.first_fault_site;
    for (int s = 0; s < set.stage_count && is_right(); ++s) {
      const Stage& checked = stage(set, s);
      const OpInfo* const op = terms_.find_op(checked.op);
      if (op == nullptr || (op->fault == nullptr && !checked.can_fault)) continue;
      FaultText fault;
      if (op->fault) {
        List<TensorSpec> specs;
        for (int o = 0; o < checked.operand_count; ++o) specs.push_back(spec_of(operand(checked, o)));
        fault = op->fault({specs.data(), specs.size()}, checked.input_count, checked.attributes);
      }
      if (checked.can_fault != fault.possible)
        return fail("stage ", s, " (", checked.name, ") ",
                    fault.possible ? "reports no faults: a fault site" : "reports faults: none", " expected");
      if (!fault.possible) continue;
      const auto& site = plan_.fault_sites[static_cast<std::size_t>(number++)];
      const Text before = text(op->name, ": ", fault.value, " "), after = text(": ", fault.expected, " expected, in ");
      if (name_in(plan_, site.before) != before.view() || !name_in(plan_, site.after).starts_with(after.view()) ||
          site.reports != (fault.of_all_vertices ? step.vertices : 1))
        return fail("a fault site of ", site.reports, " reports, `", name_in(plan_, site.before), "7", name_in(plan_, site.after),
                    "`: `", before, "7", after, "...` expected");
    }
  }
  static constexpr TensorSpec spec_of(const StageOperand& operand) { return {operand.view.shape, operand.view.dtype}; }
  /// Checks that operands begin at an element.
  constexpr void check_elements(const Step& step, const ComputeSet& set) {
    for (int s = 0; s < set.stage_count; ++s)
      for (int o = 0; o < stage(set, s).operand_count; ++o) {
        const StageOperand& each = operand(stage(set, s), o);
        if (each.source != Source::memory || each.index < 0 || each.index >= step.location_count) continue;
        const Location& location = plan_.locations[static_cast<std::size_t>(step.first_location + each.index)];
        if (location.base != Base::position && location.offset % size_of(each.view.dtype) != 0)
          fail_by("memory", "operand ", o, " of stage ", s, " (", stage(set, s).name, ") at byte ", location.offset,
                  ": a multiple of ", size_of(each.view.dtype), " expected");
      }
  }

  // ---- memory that outlives a run

  constexpr void check_memory() {
    const auto check_aligned = [&](std::string_view what, std::size_t number, std::int64_t offset) {
      if (offset % memory_alignment != 0)
        fail_by("memory", what, " ", number, " at byte ", offset, ": a multiple of ", memory_alignment, " expected");
    };
    for (std::size_t i = 0; i < plan_.variables.size(); ++i) check_aligned("variable", i, plan_.variables[i].offset);
    for (std::size_t i = 0; i < plan_.constants.size(); ++i) check_aligned("constant", i, plan_.constants[i].offset);
    List<std::pair<std::int64_t, std::int64_t>> rows;  // their first byte and their end
    for (std::size_t i = 0; i < plan_.remote_buffers.size(); ++i) {
      const auto& buffer = plan_.remote_buffers[i];
      check_aligned("remote buffer", i, buffer.offset);
      if (buffer.mapping == 0) rows.push_back({buffer.offset, buffer.offset + buffer.bytes()});
    }
    sort_items(rows, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::int64_t used = 0;
    for (const auto& [begin, end] : rows) {
      if (begin < used || end > plan_.memory.remote)
        fail_by("memory", "rows of a remote buffer at bytes ", begin, " to ", end, ": bytes of their own, from ", used, " to ",
                plan_.memory.remote, ", expected");
      used = end;
    }
  }

  const AnyPlan& plan_;
  const Target& target_;
  ValueTerms& terms_;
  std::string_view ignored_;
  Fault fault_{};
};

}  // namespace tilewright::internal::proof::detail
