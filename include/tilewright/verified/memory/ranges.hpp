#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/text.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/verified/tiles/run_cycles.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that each number of a plan, or of a frozen one, is one with which other checks can compute: an enumerator, the number
/// of a row or -1, a count that its array has room for, bytes that are not negative, and offsets and strides whose products do
/// not overflow. Pointers are not checked.
class RangesCheck {
 public:
  constexpr explicit RangesCheck(const Target& target) : target_(target) {}

  /// Returns what is wrong; empty: nothing.
  constexpr Text run(const auto& plan) {
    check_totals(plan);
    for_each(plan.bodies, "body", [&](const Body& body) {
      return are_rows(body.first_step, body.step_count, body.max_arguments, body.ipu) && are_sizes(body.frame_bytes) &&
             body.ipu < target_.ipus;
    });
    for_each(plan.steps, "step", [&](const Step& step) { return is_right(step); });
    for_each(plan.locations, "location", [&](const Location& location) {
      return location.base <= Base::position && are_rows(location.index) && are_sizes(location.offset);
    });
    for_each(plan.compute_sets, "compute set", [&](const ComputeSet& set) { return is_right(set); });
    for_each(plan.stages, "stage", [&](const Stage& stage) {
      return stage.evaluation <= Evaluation::epilogue && stage.parts <= SumParts::combined &&
             stage.attributes.count <= PackedAttributes::capacity &&
             are_rows(stage.first_operand, stage.operand_count, stage.input_count);
    });
    for_each(plan.operands, "operand", [&](const StageOperand& operand) { return is_right(operand); });
    for_each(plan.strides, "stride", [&](std::int64_t stride) { return are_sizes(stride); });
    for_each(plan.variables, "variable", [&](const auto& variable) {
      return (variable.base == Base::variable || variable.base == Base::remote) && are_sizes(variable.offset) &&
             is_right(variable.spec);
    });
    for_each(plan.constants, "constant",
             [&](const auto& constant) { return are_sizes(constant.offset) && is_right(constant.spec); });
    for_each(plan.streams, "stream", [&](const auto& stream) {
      if (stream.direction > StreamDirection::device_to_host || !is_right(stream.spec)) return false;
      const std::int64_t most_elements = most / std::max<std::int64_t>(1, plan.replicas * stream.spec.bytes());
      if constexpr (requires { stream.elements; })
        if (stream.elements < 0 || stream.elements > most_elements) return false;
      return stream.transfers >= 1 && stream.transfers <= most_elements;
    });
    for_each(plan.remote_buffers, "remote buffer", [&](const auto& buffer) {
      return is_right(buffer.spec) && buffer.entries >= 1 && buffer.entries <= most / align(buffer.spec.bytes() + 1) &&
             are_sizes(buffer.offset) && are_rows(buffer.mapping);
    });
    for_each(plan.fault_sites, "fault site", [&](const auto& site) { return are_sizes(site.reports); });
    if constexpr (requires { plan.moves; })
      for_each(plan.moves, "data that move of step", [&](const StepMoves& moves) { return is_right(moves); });
    if constexpr (requires { plan.step_cycles; })
      for_each(plan.step_cycles, "cycles of step", [&](const CycleUse& use) { return are_cycles(use, most >> 10); });
    if constexpr (requires { plan.exchanges; })
      for_each(plan.exchanges, "merged exchange", [&](const PlannedExchange& exchange) {
        return are_rows(exchange.first_step, exchange.step_count) && exchange.first_step >= 0 && exchange.step_count > 0 &&
               exchange.last_step() < static_cast<int>(plan.steps.size());
      });
    return std::move(problem_);
  }

 private:
  /// More than a tensor has bytes, and so little that sums do not overflow.
  static constexpr std::int64_t most = std::int64_t{1} << 50;
  static constexpr int most_rows = 1 << 28;

  template <class T>
  constexpr void for_each(const T& table, std::string_view what, const auto& is_right) {
    for (std::size_t i = 0; i < table.size() && problem_.empty(); ++i)
      if (!is_right(table.data()[i])) fail(what, " ", i);
  }
  constexpr void fail(const auto&... what) {
    if (problem_.empty()) problem_ = text("tables: ", what..., " has a number out of range: numbers of a plan expected");
  }
  static constexpr bool are_rows(auto... numbers) { return ((numbers >= -1 && numbers <= most_rows) && ...); }
  static constexpr bool are_bytes(auto... bytes) { return ((bytes >= 0 && bytes <= most) && ...); }
  static constexpr bool are_sizes(auto... sizes) { return ((sizes >= -most && sizes <= most) && ...); }
  static constexpr bool are_cycles(const CycleUse& use, std::int64_t limit) {
    bool is_right = use.waiting >= 0 && use.waiting <= limit;
    for (const CycleFigure& figure : cycle_figures) is_right = is_right && use.*figure.of >= 0 && use.*figure.of <= limit;
    return is_right;
  }
  static constexpr bool is_right(const TensorSpec& spec) {
    if (static_cast<std::size_t>(spec.dtype) >= tilewright::detail::dtype_count) return false;
    if (spec.shape.rank < 0 || spec.shape.rank > max_rank) return false;
    std::int64_t elements = 16;  // bytes of the largest dtype
    for (int axis = 0; axis < spec.shape.rank; ++axis) {
      const std::int64_t extent = spec.shape.extents[axis];
      if (extent < 0 || (extent > 0 && elements > most / extent)) return false;
      elements *= std::max<std::int64_t>(1, extent);
    }
    return true;
  }
  static constexpr bool is_right(const StageOperand& operand) {
    if (operand.source > Source::value || !are_rows(operand.index) || !is_right({operand.view.shape, operand.view.dtype}))
      return false;
    for (int axis = 0; axis < operand.view.shape.rank; ++axis) {
      const std::int64_t limit = most / std::max<std::int64_t>(1, operand.view.shape.extents[axis]);
      const std::int64_t stride = operand.view.strides[static_cast<std::size_t>(axis)];
      if (stride < -limit || stride > limit || operand.grid_axis[axis] < -1 || operand.grid_axis[axis] >= max_work_axes)
        return false;
    }
    return true;
  }
  static constexpr bool is_right(const ComputeSet& set) {
    if (!are_rows(set.first_stage, set.stage_count, set.first_stride, set.location_count, set.pieces) || set.pieces < 1 ||
        !are_bytes(set.scratch_bytes, set.code_bytes, set.memory_bytes, set.traffic.bytes) || !are_sizes(set.traffic.cycles))
      return false;
    const int axes = set.extents.count;
    if (axes < 0 || axes > max_work_axes || set.blocks.count < 0 || set.blocks.count > max_work_axes) return false;
    std::int64_t elements = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t extent = set.extents[axis];
      if (extent < 1 || elements > most / extent) return false;
      elements *= extent;
    }
    return true;
  }
  constexpr bool is_right(const Step& step) const {
    return step.kind <= StepKind::load_code &&
           are_rows(step.compute_set, static_cast<int>(step.body), static_cast<int>(step.else_body), step.first_location,
                    step.location_count, step.first_stride, step.arguments, step.stream, step.ipu, step.from_ipu,
                    step.first_fault_site) &&
           are_sizes(step.vertices, step.items, step.frame_offset) && step.pieces >= 1 && step.pieces <= most_rows &&
           step.count >= 0 && step.count <= most_rows && step.from_ipu < target_.ipus && step.vertices <= most / step.pieces;
  }
  static constexpr bool is_right(const StepMoves& moves) {
    for (const TileExchange* const each : {&moves.before, &moves.after})
      if (!are_sizes(each->bytes_in, each->pair_bytes_in, each->bytes_out, each->fragments, each->sends, each->total_bytes))
        return false;
    return are_sizes(moves.local_bytes, moves.transposed_bytes, moves.host_in, moves.host_out) &&
           are_rows(moves.set, moves.from_set) && moves.banks <= OperandBanks::interleaved;
  }
  constexpr void check_totals(const auto& plan) {
    const MemoryUse& memory = plan.memory;
    if (!are_bytes(memory.variables, memory.constants, memory.remote, memory.frame, memory.code, memory.loaded_code,
                   memory.fullest_tile, plan.remote.loaded_bytes, plan.remote.stored_bytes, plan.remote.code_bytes,
                   plan.collectives.bytes) ||
        !are_sizes(plan.remote.cycles, plan.remote.exchanges, plan.collectives.cycles) ||
        !are_rows(static_cast<int>(plan.after_upload), static_cast<int>(plan.before_download)) ||
        (std::max)(plan.after_upload, plan.before_download) >= BodyId(plan.bodies.size()) || plan.replicas < 1 ||
        plan.replicas > most_rows || !are_cycles(plan.cycles, most << 8))
      fail("the plan");
    const auto check_tile = [&](const TileMemory& tile) {
      if (!are_bytes(tile.variables, tile.constants, tile.frame, tile.padding, tile.code.vertex, tile.code.state,
                     tile.code.exchange, tile.code.control, tile.stack, tile.reserve))
        fail("the memory of a tile");
    };
    check_tile(plan.tile);
    for (const TileSetUse& use : plan.tile_sets) {
      check_tile(use.tile);
      if (!are_bytes(use.frame_address) || !are_cycles(use.cycles, most << 8) || use.ipu < 0 || use.ipu >= target_.ipus)
        fail("a set of tiles");
    }
  }

  const Target& target_;
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
