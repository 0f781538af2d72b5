#pragma once
#include <cstdint>

#include "tilewright/core/fixed_vector.hpp"
#include "tilewright/core/shape.hpp"

namespace tilewright {

/// How the planner may divide one axis of an op's work.
enum class WorkAxisKind : std::uint8_t {
  parallel,   ///< blocks are independent of each other
  reduction,  ///< like `summed`, but only divided if a target that divides reductions has tiles left
  summed,  ///< blocks are independent for results that follow the axis, and produce partials of the others
  whole  ///< never divided
};

/// Returns whether blocks along such an axis produce partials.
constexpr bool gives_partials(WorkAxisKind kind) { return kind == WorkAxisKind::reduction || kind == WorkAxisKind::summed; }

/// Returns whether work is divided along such an axis wherever possible.
constexpr bool is_cut_always(WorkAxisKind kind) { return kind == WorkAxisKind::parallel || kind == WorkAxisKind::summed; }

struct WorkAxis {
  std::int64_t extent = 1;
  WorkAxisKind kind = WorkAxisKind::parallel;
  /// Extents of blocks are multiples of the grain, except that of the last block; 1: any. A reduction axis is divided at
  /// multiples of the larger of grain and Target::shortest_reduction.
  std::int64_t grain = 1;
  /// Whether the grain is a vector of the target instead, in elements of the first output's dtype. Not read for a reduction axis.
  bool vectorised = false;
  std::int64_t block = 0;  ///< extent of a vertex that the planner has chosen; 0: one block for each remaining tile

  constexpr bool operator==(const WorkAxis&) const = default;
};

/// Largest number of operands of one op with a kernel, inputs and outputs together. Each Work has a table with a row for each
/// operand, and a group holds at most max_locations of all its ops. An op with `expand`, such as a concat, may have any number,
/// because only the ops that replace it have kernels. Calls may have more, too.
inline constexpr int max_operands = 12;
/// Largest number of axes of an op's work, and of a group's grid.
inline constexpr int max_work_axes = 8;
static_assert(max_work_axes < 16 && max_rank <= 8, "Work::follows_plus_one has 4 bits for each axis of an operand");

/// The iteration space of an op, and for each axis of each operand the axis of that space that it follows. With these the planner
/// divides the op into vertices for tiles. Operands are the inputs, then the outputs.
struct Work {
  FixedVector<WorkAxis, max_work_axes> axes;  ///< none: one vertex
  /// By operand, 4 bits for each of its axes: 1 + the axis of the work that it follows; 0: every vertex takes the operand's whole
  /// axis. A separate number for each axis would make each copy of a Work expensive for compilers.
  std::uint32_t follows_plus_one[max_operands]{};

  constexpr int add_axis(const WorkAxis& axis) {
    axes.push_back(axis);
    return axes.size() - 1;
  }
  constexpr void follow(int operand, int operand_axis, int work_axis) {
    const int shift = 4 * operand_axis;
    follows_plus_one[operand] = (follows_plus_one[operand] & ~(15u << shift)) | static_cast<unsigned>(work_axis + 1) << shift;
  }
  /// Returns the axis of the work that an operand's axis follows, or -1.
  constexpr int follows(int operand, int operand_axis) const {
    return static_cast<int>(follows_plus_one[operand] >> 4 * operand_axis & 15) - 1;
  }
  /// Returns whether an axis of the operand follows the axis of the work.
  constexpr bool has_follower(int operand, int work_axis) const {
    for (std::uint32_t rest = follows_plus_one[operand]; rest != 0; rest >>= 4)
      if (static_cast<int>(rest & 15) == work_axis + 1) return true;
    return false;
  }
};

}  // namespace tilewright
