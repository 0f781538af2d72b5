#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/graph/ir.hpp"
#include "tilewright/kernel/view.hpp"

namespace tilewright {

/// What a location counts from.
enum class Base : std::uint8_t {
  frame,     ///< the memory of the running body
  argument,  ///< what the caller passes: pointers to the graph's inputs, then to its outputs
  variable,  ///< the memory of the variables, which lives as long as the session
  constant,  ///< the memory of the constants
  stream     ///< the next element of a stream
};

/// Where an operand is: `offset` bytes after the base; `index` says which argument or stream.
struct Location {
  Base base = Base::frame;
  int index = 0;
  std::int64_t offset = 0;
};

/// An elementwise op that the vertices of a compute set apply to each block of their result, instead of storing it.
struct FusedStage {
  const OpTag* op = nullptr;
  PackedAttributes attributes{};
  int intermediate = 0;                  ///< which input the block is
  FixedVector<ViewSpec, 6> operands{};   ///< its other inputs, then its result: the whole tensors
  constexpr bool operator==(const FusedStage&) const = default;
};

/// A compute set: one op, and stages fused to it, cut into a grid of vertices. Equal ones share their code. It has tags of
/// ops, not their OpInfo: a frozen plan would drag the code of the whole trace into the program with it.
struct ComputeSet {
  static constexpr int max_fused = 2;

  const OpTag* op = nullptr;
  PackedAttributes attributes{};
  int input_count = 0;
  FixedVector<ViewSpec, max_operands> operands{};     ///< inputs, then outputs: the whole tensors
  FixedVector<std::int64_t, max_work_axes> blocks{};  ///< the extent of a vertex along each axis of the work
  bool partial = false;          ///< the output has a part for each block of the reduction axes, one after the other
  bool whole_reduction = false;  ///< reduction axes are not cut
  FixedVector<FusedStage, max_fused> fused{};

  constexpr bool operator==(const ComputeSet&) const = default;
};

/// The largest number of locations of a compute set.
inline constexpr int max_locations = max_operands + ComputeSet::max_fused * 6;

/// The number of blocks along an axis.
constexpr std::int64_t block_count(std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; }

enum class StepKind : std::uint8_t { compute, call };

/// One superstep of a body, or a call of another body.
struct Step {
  StepKind kind = StepKind::compute;
  int target = 0;               ///< the compute set, or the body
  int first_location = 0;       ///< of its operands or arguments
  int location_count = 0;       ///< of a compute set with fused stages: its inputs, then the stages' operands
  std::int64_t vertices = 0;
  std::int64_t frame_offset = 0;  ///< of the called body's frame in this body's
  int stream = -1;              ///< the stream that moves on after the step
};

/// A lowered graph: steps over a frame of memory.
struct Body {
  int first_step = 0;
  int step_count = 0;
  std::int64_t frame_bytes = 0;
  int max_arguments = 0;  ///< the longest list of arguments among its calls
};

struct PlannedVariable {
  TensorSpec spec{};
  Text name{};
  Initialiser initialiser{};
  std::int64_t offset = 0;
};
struct PlannedConstant {
  TensorSpec spec{};
  std::vector<double> values{};
  std::int64_t offset = 0;
};
struct PlannedStream {
  StreamDirection direction{};
  TensorSpec spec{};
  Text name{};
  bool used = false;  ///< some live op loads from it or stores to it
};

/// Bytes of memory that a program needs.
struct MemoryUse {
  std::int64_t variables = 0;
  std::int64_t constants = 0;
  std::int64_t frame = 0;           ///< the main body's frame, which holds the others'
  std::int64_t fullest_tile = 0;    ///< always live, and live at the peak, on the tile that has most
  constexpr bool operator==(const MemoryUse&) const = default;
};

/// A program for a machine: bodies of steps, body 0 first, and the memory they use.
struct Plan {
  std::vector<Body> bodies{};
  std::vector<Step> steps{};
  std::vector<Location> locations{};
  std::vector<ComputeSet> compute_sets{};
  std::vector<PlannedVariable> variables{};
  std::vector<PlannedConstant> constants{};
  std::vector<PlannedStream> streams{};
  MemoryUse memory{};
  int num_host_transfers = 1;
};

/// Blocks of memory start at multiples of this: a cache line, and the widest vector.
inline constexpr std::int64_t memory_alignment = 64;
constexpr std::int64_t align(std::int64_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

}  // namespace tilewright
