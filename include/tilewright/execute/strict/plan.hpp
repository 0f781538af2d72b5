#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/execute/executor.hpp"
#include "tilewright/execute/strict/error.hpp"
#include "tilewright/execute/strict/tables.hpp"

namespace tilewright::internal {

/// A plan's records about tiles, see plan_reader.hpp.
struct StrictPlan {
  const ProgramView& program;
  std::vector<StrictBody> bodies;
  std::vector<StrictHome> homes;
  std::vector<std::int64_t> frame_addresses;  ///< of roots, by set of tiles: behind variables and constants
  List<Text> scopes, graphs;  ///< names

  explicit StrictPlan(const ProgramView& from) : program(from) { bodies.resize(from.bodies.size()); }

  const Step& step(std::size_t body, std::size_t group) const {
    return program.steps[static_cast<std::size_t>(program.bodies[body].first_step) + group];
  }
  const ComputeSet& set_of(const Step& step) const { return program.compute_sets[static_cast<std::size_t>(step.compute_set)]; }
  const Stage& stage(const ComputeSet& set, int member) const {
    return program.stages[static_cast<std::size_t>(set.first_stage + member)];
  }
  const StageOperand& stage_operand(const ComputeSet& set, int member, int operand) const {
    return program.operands[static_cast<std::size_t>(stage(set, member).first_operand + operand)];
  }
  /// Computes the coordinates of a vertex in its grid, and returns its position.
  static std::int64_t locate(const ComputeSet& set, const StrictGroup& group, std::int64_t vertex, std::int64_t* coordinates) {
    std::int64_t place = 0;
    for (int axis = set.blocks.size(); axis-- > 0;) {
      const std::int64_t count = block_count(set.extents[axis], set.blocks[axis]);
      coordinates[axis] = vertex % count;
      vertex /= count;
      place += group.grid.axes[axis].place(coordinates[axis]);
    }
    return place;
  }
  /// Finds the elements of a vertex's slice, in the order of the slice; without coordinates, those of the whole operand.
  static void runs_of(const StrictOperand& operand, const std::int64_t* coordinates, std::vector<ElementRun>& runs) {
    runs.clear();
    std::int64_t first = operand.offset;
    std::int64_t counts[max_work_axes], index[max_work_axes]{};
    const int axes = operand.axes.size();
    for (int a = 0; a < axes; ++a) {
      const LayoutAxis& axis = operand.axes[a];
      counts[a] = axis.extent;
      if (axis.grid_axis < 0 || coordinates == nullptr) continue;
      const std::int64_t begin = coordinates[axis.grid_axis] * axis.block;
      counts[a] = (std::min)(axis.block, axis.extent - begin);
      first += begin * axis.stride;
    }
    for (int a = 0; a < axes; ++a)
      if (counts[a] <= 0) return;
    const int inner = axes - 1;
    const std::int64_t count = axes > 0 ? counts[inner] : 1, step = axes > 0 ? operand.axes[inner].stride : 1;
    for (;;) {
      if (!runs.empty() && step == 1 && runs.back().first + runs.back().count == first) runs.back().count += count;
      else runs.push_back({first, count, step});
      int a = inner - 1;
      for (; a >= 0; --a) {
        first += operand.axes[a].stride;
        if (++index[a] < counts[a]) break;
        first -= counts[a] * operand.axes[a].stride;
        index[a] = 0;
      }
      if (a < 0) return;
    }
  }
  /// Returns the bytes of a vertex's slice in a room.
  static std::int64_t slice_bytes(const StrictOperand& operand, const StrictStorage& storage) {
    return align(operand.slice_elements * storage.bytes, 8);
  }

  /// Returns the name of a storage for errors: a variable's name, or the op that produces the tensor and its place in the model.
  [[gnu::cold]] std::string name_of(std::size_t b, int s) const {
    const StrictStorage& storage = bodies[b].storages[static_cast<std::size_t>(s)];
    const auto text = [&](const PoolRange& range) { return std::string(program.characters.substr(range.first, range.count)); };
    switch (storage.location.base) {
      case Base::variable:
        for (const FrozenVariable& variable : program.variables)
          if (variable.base == Base::variable && variable.offset == storage.location.offset) return text(variable.name);
        return "a kept tensor";
      case Base::constant:
        for (const FrozenConstant& constant : program.constants)
          if (constant.offset == storage.location.offset && constant.name.count > 0) return text(constant.name);
        return "a constant";
      case Base::stream: return strict_text({"stream ", storage.location.index});
      case Base::argument: return strict_text({"argument ", storage.location.index, " of body ", b});
      case Base::remote: return "a remote buffer";
      default: break;
    }
    for (std::size_t g = 0; g < bodies[b].groups.size(); ++g) {
      const StrictGroup& group = bodies[b].groups[g];
      for (const StrictOperand& operand : group.operands)
        if (operand.storage == s && operand.is_written) return strict_text({"the result of ", name_of_step(b, g)});
      for (std::size_t o = static_cast<std::size_t>(group.input_count); o < group.call_operands.size(); ++o)
        if (group.call_operands[o].storage == s) return strict_text({"a result of ", name_of_step(b, g)});
    }
    return strict_text({"storage ", s, " of body ", b});
  }
  /// Returns the name of a step for errors: "step 3 (MatMul, Relu in Net/fc1)"
  [[gnu::cold]] std::string name_of_step(std::size_t b, std::size_t g) const {
    const Step& its_step = step(b, g);
    const StrictGroup& group = bodies[b].groups[g];
    std::string ops = "call";
    if (its_step.compute_set >= 0) {
      const ComputeSet& set = set_of(its_step);
      ops = std::string(stage(set, 0).name);
      for (int m = 1; m < set.stage_count; ++m) ops += ", " + std::string(stage(set, m).name);
    }
    std::string place = group.graph >= 0 ? graphs[group.graph].string() : "";
    if (group.scope >= 0) {
      if (!place.empty()) place += '/';
      place += scopes[group.scope].view().substr(0, scopes[group.scope].size() - 1);
    }
    if (place.empty()) place = "the main graph";
    return strict_text({"step ", g, " of body ", b, " (", ops, " in ", place, ")"});
  }
};

}  // namespace tilewright::internal
