#pragma once
// Plans as texts that change when anything in the plan changes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <tilewright/lower/verify.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

namespace plans {

namespace tw = tilewright;

/// Numbers of a table of a plan, and a hash of them (FNV-1a, by 64-bit words): a table's line in the golden text.
class Digest {
 public:
  void operator()(auto... numbers) { (add(static_cast<std::uint64_t>(numbers)), ...); }
  std::uint64_t value() const { return value_; }

 private:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 1099511628211u; }
  std::uint64_t value_ = 14695981039346656037u;
};

/// Calls add(numbers...) for each row of a table.
void table(std::ostream& out, std::string_view name, const auto& rows, auto add_row) {
  Digest digest;
  std::size_t count = 0;
  for (const auto& row : rows) add_row(digest, row), ++count;
  out << "  " << name << ": " << count << ", hash " << std::hex << digest.value() << std::dec << '\n';
}

inline void add_view(Digest& digest, const tw::ViewSpec& view) {
  digest(view.dtype, view.shape.rank);
  for (int axis = 0; axis < view.shape.rank; ++axis) digest(view.shape[axis], view.stride(axis));
}
inline void add_spec(Digest& digest, const tw::TensorSpec& spec) {
  digest(spec.dtype, spec.shape.rank);
  for (int axis = 0; axis < spec.shape.rank; ++axis) digest(spec.shape[axis]);
}
inline void add_text(Digest& digest, std::string_view text) {
  for (const char c : text) digest(c);
}

/// What print_plan does not say: memory, traffic, and a hash of each table.
inline void print_tables(std::ostream& out, const tw::Plan& plan) {
  const auto& memory = plan.memory;
  out << "  memory: variables " << memory.variables << ", constants " << memory.constants << ", remote " << memory.remote
      << ", frame " << memory.frame << ", code " << memory.code << ", loaded code " << memory.loaded_code << ", fullest tile "
      << memory.fullest_tile << '\n';
  out << "  remote traffic: " << plan.remote.loaded_bytes << " bytes loaded, " << plan.remote.stored_bytes << " stored, "
      << plan.remote.code_bytes << " of code, " << plan.remote.cycles << " cycles, " << plan.remote.exchanges << " exchanges\n";
  out << "  collective traffic: " << plan.collectives.bytes << " bytes, " << plan.collectives.cycles << " cycles\n";
  table(out, "steps", plan.steps, [](Digest& add, const tw::internal::Step& s) {
    const int target = s.compute_set >= 0 ? s.compute_set : static_cast<int>(s.body);
    add(s.kind, target, s.first_location, s.location_count, s.parts(), s.frame_offset, s.count, s.first_stride, s.else_body,
        s.arguments, s.stream, s.barrier_before);
    if (s.ipu >= 0) add(s.ipu, s.from_ipu, s.joins_ipus);
  });
  table(out, "locations", plan.locations, [](Digest& add, const tw::internal::Location& l) { add(l.base, l.index, l.offset); });
  table(out, "compute sets", plan.compute_sets, [](Digest& add, const tw::internal::ComputeSet& s) {
    add(s.first_stage, s.stage_count, s.first_stride, s.location_count, s.scratch_bytes, s.code_bytes);
    for (const auto extent : s.extents) add(extent);
    for (const auto block : s.blocks) add(block);
  });
  table(out, "stages", plan.stages, [](Digest& add, const tw::internal::Stage& s) {
    add_text(add, s.name);
    for (const auto word : s.attributes.words) add(word);
    add(s.evaluation, s.input_count, s.first_operand, s.operand_count);
  });
  table(out, "operands", plan.operands, [](Digest& add, const tw::internal::StageOperand& o) {
    add_view(add, o.view);
    add(o.source, o.index);
    for (const auto axis : o.grid_axis) add(axis);
  });
  table(out, "strides", plan.strides, [](Digest& add, std::int64_t stride) { add(stride); });
  table(out, "exchanges", plan.exchanges,
        [](Digest& add, const tw::internal::PlannedExchange& e) { add(e.first_step, e.step_count); });
  table(out, "variables", plan.variables, [](Digest& add, const tw::internal::PlannedVariable& v) {
    add_spec(add, v.spec);
    add_text(add, v.name.view());
    add(v.base, v.offset, v.distribution.groups, v.distribution.shard_over, v.distribution.all_replicas);
    for (const int group : v.assignment) add(group);
  });
  table(out, "constants", plan.constants, [](Digest& add, const tw::internal::PlannedConstant& c) {
    add_spec(add, c.spec);
    add_text(add, c.name.view());
    add(c.offset);
  });
  table(out, "streams", plan.streams, [](Digest& add, const tw::internal::PlannedStream& s) {
    add_spec(add, s.spec);
    add_text(add, s.name.view());
    add(s.direction, s.used, s.moves, s.elements);
  });
  table(out, "remote buffers", plan.remote_buffers, [](Digest& add, const tw::internal::PlannedRemoteBuffer& b) {
    add_spec(add, b.spec);
    add(b.entries, b.offset);
  });
}

/// Calls f(name, target) for each target of a program.
void for_each_target(const auto& program, const auto& f) {
  const auto traced = tw::trace(program);
  int ipus = 1;
  for (const tw::GraphRecord& graph : traced->tables.graphs)
    for (const tw::Node& node : graph.nodes) ipus = std::max(ipus, node.placement.ipu + 1);
  if (ipus == 1) f("cpu", tw::cpu);
  else f("cpu of " + std::to_string(ipus) + " IPUs", tw::cpu.with_ipus(ipus));
  f("ipu_model", tw::ipu_model);
}

/// A program's graphs as they are printed, and its plan for each target, or why there is none.
void print_program(std::ostream& out, std::string_view name, const auto& program) {
  out << "=== " << name << '\n';
  const auto traced = tw::trace(program);
  for (std::size_t graph = 0; graph < traced->tables.graphs.size(); ++graph)
    out << tw::print_schedule(tw::Graph(*traced, tw::GraphId(graph))).view();
  for_each_target(program, [&](std::string_view target_name, const tw::Target& target) {
    out << "--- on " << target_name << '\n';
    try {
      const tw::Plan plan = tw::internal::lower_checked(tw::prepare(*tw::trace(program, target), target));
      out << tw::print_plan(plan).view();
      print_tables(out, plan);
    } catch (const tw::TraceError& error) {  // it may be too large
      out << "  " << error.what() << '\n';
    }
  });
}

/// Proves the plans of a program. Prints a line for each.
void prove_program(std::ostream& out, std::string_view name, const auto& program) {
  for_each_target(program, [&](std::string_view target_name, const tw::Target& target) {
    try {
      const tw::Prepared prepared = tw::prepare(*tw::trace(program, target), target);
      const tw::Plan plan = tw::lower(prepared);
      const auto begin = std::chrono::steady_clock::now();
      const tw::Text fault = tw::fault_of_plan(prepared, plan);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      out << name << " on " << target_name << ": ";
      if (fault.empty()) out << "proven in " << time.count() << " s\n";
      else out << "refused by " << fault.view() << '\n';
    } catch (const tw::TraceError&) {  // its text is the golden one
    }
  });
}

/// Prints a line if the plan that the compiler makes of a program is not the one that is made at run time.
template <auto program>
void compare_session(std::ostream& out, std::string_view name) {
  const auto compare = [&]<tw::Target target>() {
    if constexpr (tw::internal::detail::draft_of<program, target>.failure == 0) {
      const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(program, target), target));
      if (tw::print_plan(plan).view() != tw::print_plan(tw::Program<program, target>::plan).view())
        out << name << (target.ipu == nullptr ? " on cpu" : " on ipu_model") << ": plans differ\n";
    }
  };
  compare.template operator()<tw::cpu>();
  compare.template operator()<tw::ipu_model>();
}

}  // namespace plans
