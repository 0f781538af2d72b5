#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>

#include "tilewright/lower/lower.hpp"

namespace tilewright::lab {

/// Operations and bytes of a run of a plan, on all tiles of a replica. For a conditional, each figure is that of the branch where
/// the figure is larger.
struct Traffic {
  // floating-point operations of products, convolutions and attention; a multiplication and an addition count as two
  std::int64_t float16_operations = 0;  ///< operands and sums of float16
  std::int64_t float16_float32_operations = 0;  ///< operands of float16 or float8, sums of float32
  std::int64_t float32_operations = 0;  ///< operands of float32
  // bytes
  std::int64_t read = 0;  ///< by vertices and copies for calls, on their tile; an operand counts once for each vertex
  std::int64_t written = 0;  ///< by these; not what ops of one vertex pass on to each other
  std::int64_t exchanged = 0;  ///< received by tiles from tiles of the same IPU
  std::int64_t links = 0;  ///< between IPUs of the replica
  std::int64_t replicas = 0;  ///< sent to other replicas
  std::int64_t streamed = 0;  ///< to and from streaming memory: rows and code
  std::int64_t host = 0;  ///< to and from the host: streams

  bool operator==(const Traffic&) const = default;
};

namespace detail {

/// The members of Traffic that steps of a plan add to; those of replicas and streaming memory are figures of the whole plan.
inline constexpr std::int64_t Traffic::* of_steps[] = {&Traffic::float16_operations,
                                                       &Traffic::float16_float32_operations,
                                                       &Traffic::float32_operations,
                                                       &Traffic::read,
                                                       &Traffic::written,
                                                       &Traffic::exchanged,
                                                       &Traffic::links,
                                                       &Traffic::host};

}  // namespace detail

/// Counts traffic while a program is planned: an observer of `lower`, which has the same `homes`.
class TrafficCounter {
 public:
  TrafficCounter(const Target& target, const internal::TileHomes& homes) : sets_(target), homes_(homes) {}

  /// Counts the steps of a body when their moves and cycles are known.
  void operator()(internal::Pass pass, internal::BodyId, const internal::TileDraft& draft, const Plan& plan) {
    if (pass != internal::Pass::count_step_cycles) return;
    const std::size_t first = plan.moves.size() - draft.groups.size();
    for (std::size_t g = 0; g < draft.groups.size(); ++g) {
      Traffic step;
      count_moves(plan.moves[first + g], step);
      const internal::Operation& operation = draft.operation(draft.groups[g].members[0]);
      if (!operation.is_call()) count_vertices(draft, g, plan.step_cycles[first + g].flops, step);
      else if (!operation.loads_code) count_copies(draft, operation, step);
      steps_.push_back(step);
    }
  }
  void operator()(internal::Pass, internal::BodyId, const internal::BodyDraft&, const Plan&) const {}  // of the host
  void operator()(const Plan&) const {}

  /// Returns the traffic of a run of the plan.
  Traffic of_run(const Plan& plan) const {
    const auto add_step = [&](Traffic& all, int s) {
      for (const auto member : detail::of_steps) all.*member += steps_[static_cast<std::size_t>(s)].*member;
    };
    const auto add_call = [](Traffic& all, std::int64_t times, const Traffic& one, const Traffic& other) {
      for (const auto member : detail::of_steps) internal::detail::add_larger(all.*member, times, one.*member, other.*member);
    };
    Traffic result = internal::detail::fold_bodies(plan, Traffic{}, add_step, add_call);
    result.replicas = plan.collectives.bytes;
    result.streamed = plan.remote.loaded_bytes + plan.remote.stored_bytes + plan.remote.code_bytes;
    return result;
  }

 private:
  void count_moves(const internal::StepMoves& moves, Traffic& step) const {
    const bool is_far = moves.from_set >= 0 && sets_.ipu(moves.from_set) != sets_.ipu(moves.set);
    (is_far ? step.links : step.exchanged) += moves.before.total_bytes + moves.after.total_bytes;
    step.host += moves.host_in + moves.host_out;
  }
  static void count_vertices(const internal::TileDraft& draft, std::size_t g, std::int64_t operations, Traffic& step) {
    const std::int64_t vertices = draft.cuts[g].partition.vertices;
    for (const internal::TileOperand& operand : draft.tiles.groups[g].operands) {
      const std::int64_t bytes = vertices * operand.slice_elements * size_of(draft.storage(operand.storage).whole.dtype);
      if (operand.is_read) step.read += bytes;
      if (operand.is_written) step.written += bytes;
    }
    if (operations > 0) step.*unit_of(draft, draft.groups[g]) += operations;
  }
  /// Counts the arguments of a call that are copied on their tiles: of a loop, those of an iteration.
  void count_copies(const internal::TileDraft& draft, const internal::Operation& call, Traffic& step) const {
    const auto count = [&](const internal::Value& value, const internal::TileLayout& there, bool, std::int64_t parts) {
      const internal::StorageId owner = draft.owner(value.storage);
      if (!internal::detail::stays_on_tiles(value, draft.storage(owner), there, draft.tiles.layouts[owner])) return;
      const std::int64_t bytes = value.spec.bytes() / parts;
      step.read += bytes, step.written += bytes;
    };
    internal::detail::for_each_argument(call, homes_, count);
  }
  /// Returns which operations those of a group's products are.
  static std::int64_t Traffic::* unit_of(const internal::TileDraft& draft, const internal::Group& group) {
    for (const internal::Member& member : group.members) {
      const internal::Operation& operation = draft.operation(member);
      const OpInfo& op = *operation.op;
      if (op.work_kind != WorkKind::product && op.work_kind != WorkKind::convolution &&
          op.vertex_cost.formula != CostFormula::pairs)
        continue;
      if (size_of(operation.operands[0].spec.dtype) > 2) return &Traffic::float32_operations;
      const DType result = operation.operands[operation.input_count].spec.dtype;
      const bool is_half_sum = internal::dtype_of_parts(op, operation.attributes, result) == float16;
      return is_half_sum ? &Traffic::float16_operations : &Traffic::float16_float32_operations;
    }
    return &Traffic::float32_operations;
  }

  internal::TileSets sets_;
  const internal::TileHomes& homes_;
  List<Traffic> steps_;  // of the plan, each time that it runs
};

}  // namespace tilewright::lab
