#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/kernel/view.hpp"

namespace tilewright {

/// What a location counts from.
enum class Base : std::uint8_t {
  frame,     ///< the memory of the running body
  argument,  ///< what the caller passes: pointers to the graph's inputs, then to its outputs
  variable,  ///< the memory of the variables, which lives as long as the session
  constant,  ///< the memory of the constants
  stream,    ///< the next element of a stream
  remote,    ///< streaming memory, which lives as long as the session
  fault      ///< by remote buffer, an int64: 0, or an offset outside of it that a step was given
};

/// Where an operand is: `offset` bytes after the base; `index` says which argument or stream.
struct Location {
  Base base = Base::frame;
  int index = 0;
  std::int64_t offset = 0;
  constexpr bool operator==(const Location&) const = default;
};

/// Where a vertex finds an operand of a stage.
enum class Source : std::uint8_t {
  memory,   ///< at a location of the step; `index` says which
  scratch,  ///< in the vertex's own memory, `index` bytes from its start: a dense block
  value     ///< nowhere: it is the value of stage `index` of the set, where an expression or an epilogue goes on with it
};

struct StageOperand {
  ViewSpec view{};  ///< the whole tensor
  Source source = Source::memory;
  int index = 0;
  std::int8_t grid_axis[max_rank]{};  ///< by axis of the tensor: the axis of the grid that it is cut along, or -1
  constexpr bool operator==(const StageOperand&) const = default;
};

/// The slice of an operand that a vertex of the given extents takes: in the operand's own strides, or, if it is in the vertex's
/// own memory, dense.
constexpr ViewSpec slice_of(const StageOperand& operand, const FixedVector<std::int64_t, max_work_axes>& extents) {
  ViewSpec slice = operand.view;
  for (int axis = 0; axis < slice.shape.rank; ++axis)
    if (const int cut = operand.grid_axis[axis]; cut >= 0) slice.shape[axis] = extents[cut];
  if (operand.source != Source::memory) slice.strides = dense_strides(slice.shape);
  return written_out(slice);
}

/// How the value of a stage is computed.
enum class Evaluation : std::uint8_t {
  kernel,      ///< by a kernel of its own, or by the assignment of an expression
  expression,  ///< as a part of the expression of the only stage that reads it
  epilogue     ///< element by element where the last kernel has its result in registers
};

/// An op that each vertex of a compute set runs on its block. It has the op's tag, not its OpInfo: a frozen plan would drag the
/// code of the whole trace into the program with it.
struct Stage {
  const OpTag* op = nullptr;
  std::string_view name{};
  PackedAttributes attributes{};
  Evaluation evaluation = Evaluation::kernel;
  int input_count = 0;
  int first_operand = 0;  ///< in the plan
  int operand_count = 0;
};

/// Stages over a grid of vertices. Equal sets share their code.
struct ComputeSet {
  int first_stage = 0;  ///< in the plan
  int stage_count = 0;
  FixedVector<std::int64_t, max_work_axes> extents{};  ///< of the grid
  FixedVector<std::int64_t, max_work_axes> blocks{};   ///< of a vertex
  int first_stride = 0;  ///< in the plan, for each location and axis of the grid: bytes from one block to the next
  int location_count = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t code_bytes = 0;  ///< on an IPU tile
};

/// The largest number of locations of a compute set, and of its stages.
inline constexpr int max_locations = 48, max_stages = 16;
/// The most memory of its own that a vertex has, on the stack of its thread.
inline constexpr std::int64_t max_scratch_bytes = 256 * 1024;

enum class StepKind : std::uint8_t {
  compute,      ///< one superstep
  call,         ///< of another body; its arguments are at the locations
  loop,         ///< `count` calls; the locations are the arguments of the first iteration, of odd and of even ones
  conditional,  ///< the locations are the condition, the arguments of the body, and of that for false
  collective,   ///< one superstep of all replicas together
  load_code     ///< nothing runs: from here on the code of the body is on the tiles
};

/// One superstep of a body, or calls of other bodies.
struct Step {
  StepKind kind = StepKind::compute;
  int target = 0;               ///< the compute set, or the body
  int first_location = 0;       ///< of its operands or arguments
  int location_count = 0;
  std::int64_t vertices = 0;    ///< of each replica; of a collective, of all together
  std::int64_t frame_offset = 0;  ///< of the called body's frame in this body's
  std::int64_t count = 1;       ///< of iterations
  int first_stride = 0;         ///< of a loop: in the plan, for each argument the bytes from one iteration to the next
  int else_target = -1;         ///< of a conditional: the body that is called for false
  int arguments = 0;            ///< of the body that is called
  int stream = -1;              ///< the stream that moves on after the step
  bool meets = true;            ///< workers wait for each other before it: it touches what a step since they last met wrote

  /// Whether bodies run in it.
  constexpr bool is_call() const { return kind == StepKind::call || kind == StepKind::loop || kind == StepKind::conditional; }
};

/// Steps that load and store in one exchange.
struct PlannedExchange {
  int first_step = 0;
  int step_count = 0;
  constexpr int last_step() const { return first_step + step_count - 1; }
};

/// A lowered graph: steps over a frame of memory.
struct Body {
  int first_step = 0;
  int step_count = 0;
  std::int64_t frame_bytes = 0;
  int max_arguments = 0;  ///< the longest list of arguments among its calls
};

struct PlannedVariable {
  TensorSpec spec{};  ///< on each replica
  Text name{};
  Initialiser initialiser{};
  Base base = Base::variable;  ///< or remote
  std::int64_t offset = 0;
  Distribution distribution{};
  List<int> assignment{};  ///< by replica: its group; empty if there is but one
};
struct PlannedConstant {
  TensorSpec spec{};
  List<double> values{};
  std::int64_t offset = 0;
  Text name{};  ///< empty if it has none; `graph/name` outside of the main graph
  Generator generator{};  ///< if there are no values
};
struct PlannedStream {
  StreamDirection direction{};
  TensorSpec spec{};
  Text name{};
  bool used = false;           ///< some live op loads from it or stores to it
  bool moves = false;          ///< each load or store moves it on; else the main body has its elements at fixed places
  std::int64_t elements = 0;   ///< how many the main body uses so
};

/// Blocks of memory start at multiples of this: a cache line, and the widest vector.
inline constexpr std::int64_t memory_alignment = 64;
constexpr std::int64_t align(std::int64_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

struct PlannedRemoteBuffer {
  TensorSpec spec{};  ///< of a row
  std::int64_t entries = 1;
  std::int64_t offset = 0;
  /// Bytes from a row to the next.
  constexpr std::int64_t row_bytes() const { return align(spec.bytes()); }
};

/// Bytes of memory that a program needs.
struct MemoryUse {
  std::int64_t variables = 0;
  std::int64_t constants = 0;
  std::int64_t remote = 0;          ///< of remote buffers, in streaming memory: not on the tiles
  std::int64_t frame = 0;           ///< the main body's frame, which holds the others'
  std::int64_t code = 0;            ///< on the fullest tile, always there: an estimate, see code_memory.hpp
  std::int64_t loaded_code = 0;     ///< on the fullest tile, the most that remote_code_load has there at a time
  std::int64_t fullest_tile = 0;    ///< always live, and live at the peak, on the tile that has most
  constexpr bool operator==(const MemoryUse&) const = default;
};

/// What the collectives of one run move between the machines of the replicas.
struct CollectiveTraffic {
  std::int64_t bytes = 0;   ///< that each replica gives to others
  std::int64_t cycles = 0;  ///< of the machine's clock; 0 on machines that count none
  constexpr bool operator==(const CollectiveTraffic&) const = default;
};

/// What one run moves between tiles and streaming memory, on each replica.
struct RemoteTraffic {
  std::int64_t loaded_bytes = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t code_bytes = 0;  ///< loaded, for all tiles; 0 on machines that keep their code
  std::int64_t cycles = 0;  ///< of the machine's clock, for all of it; 0 on machines that count none
  std::int64_t exchanges = 0;  ///< in which all of it is moved
  constexpr bool operator==(const RemoteTraffic&) const = default;
};

/// A program for a machine: bodies of steps, body 0 first, and the memory they use.
struct Plan {
  List<Body> bodies{};
  List<Step> steps{};
  List<Location> locations{};
  List<ComputeSet> compute_sets{};
  List<Stage> stages{};
  List<StageOperand> operands{};
  List<std::int64_t> strides{};
  List<PlannedExchange> exchanges{};  ///< in the order of their steps
  List<PlannedVariable> variables{};
  List<PlannedConstant> constants{};
  List<PlannedStream> streams{};
  List<PlannedRemoteBuffer> remote_buffers{};
  MemoryUse memory{};
  RemoteTraffic remote{};
  CollectiveTraffic collectives{};
  int num_host_transfers = 1;
  int replicas = 1;
};

}  // namespace tilewright
