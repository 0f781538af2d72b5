#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/lower/namespace.hpp"
#include "tilewright/lower/tile_figures.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::internal {

/// Memory of a location.
enum class Base : std::uint8_t {
  frame,     ///< the frame of the running body
  argument,  ///< memory that the caller of the body passed, by a pointer
  variable,  ///< the variables; lives as long as the session
  constant,  ///< the constants, which all replicas share
  stream,    ///< the host's array of a stream, from the stream's next element on
  remote,  ///< streaming memory; lives as long as the session
  position  ///< no memory: the address is the number of an element in the row-major order of its tensor
};
constexpr std::string_view name_of(Base base) {
  constexpr std::string_view names[] = {"frame", "argument", "variable", "constant", "stream", "remote", "position"};
  return names[static_cast<int>(base)];
}

/// The number of a body in its plan. The main graph has `main`.
enum class BodyId : int { none = -1, main = 0 };

/// Where the first element of an operand is.
struct Location {
  Base base = Base::frame;
  /// Number of the argument, of the stream or of the mapped buffer; 0 in other memories. Arguments: inputs, then outputs
  int index = 0;
  std::int64_t offset = 0;  ///< in bytes, from the start of the memory, the argument or the stream's next element
  constexpr bool operator==(const Location&) const = default;
};

/// Where a vertex finds an operand of a stage.
enum class Source : std::uint8_t {
  memory,  ///< at a location of the step
  scratch,  ///< in the vertex's scratch, as a dense block, or as one of each image
  value  ///< in registers: the result of a stage of the same set
};
constexpr std::string_view name_of(Source source) {
  constexpr std::string_view names[] = {"memory", "scratch", "value"};
  return names[static_cast<int>(source)];
}

/// An operand of a stage.
struct StageOperand {
  ViewSpec view{};  ///< the whole tensor, with its strides in memory, in elements
  Source source = Source::memory;
  /// memory: number of the location among the step's; scratch: byte of the scratch; value: number of the stage among the set's
  int index = 0;
  /// By axis of the tensor, the axis of the grid that divides it, or -1. The planner writes all, because 0 is an axis.
  std::int8_t grid_axis[max_rank]{};
  bool by_image = false;  ///< scratch: whether the indices of axis 0 share one place, one after the other, for one kernel
  constexpr bool operator==(const StageOperand&) const = default;
};

/// Returns the slice of an operand for a vertex whose block has the given extents, by axis of the grid. Slices in memory have the
/// operand's strides; others are dense, with channels last as in the operand.
constexpr ViewSpec slice_of(const StageOperand& operand, const FixedVector<std::int64_t, max_work_axes>& extents) {
  ViewSpec slice = operand.view;
  for (int axis = 0; axis < slice.shape.rank; ++axis)
    if (const int cut = operand.grid_axis[axis]; cut >= 0) slice.shape[axis] = extents[cut];
  if (operand.source != Source::memory)
    slice.strides = is_channels_last(operand.view) ? channels_last_strides(slice.shape) : dense_strides(slice.shape);
  if (operand.by_image) slice.strides[0] = 0;
  return written_out(slice);
}

/// How the value of a stage is computed.
enum class Evaluation : std::uint8_t {
  kernel,  ///< by a separate kernel, or by the loop of an expression
  expression,  ///< inside the expression of the only stage that reads it
  epilogue  ///< while the nearest earlier kernel has its elements in registers; with OpInfo::reads_rows, when it has stored rows
};

/// Role of a stage whose parts of sums one worker adds up, if it runs all vertices in the order of the grid. The stage that makes
/// the parts then adds them up in the memory of the first part, and the stage that combines them reads only this memory.
enum class SumParts : std::uint8_t {
  apart,  ///< none: the stage has no parts, or all workers keep them apart
  made,  ///< parts are the only result of the stage
  combined  ///< parts are the only input of the stage, along the first axis
};

/// An op of a compute set, which each vertex runs on its block. A stage has the op's tag, not its OpInfo: a frozen plan with
/// pointers to OpInfo would keep the code of the trace in the program.
struct Stage {
  const OpTag* op = nullptr;
  std::string_view name{};  ///< of the op
  PackedAttributes attributes{};
  Evaluation evaluation = Evaluation::kernel;
  int input_count = 0;  ///< of its operands, which come before its outputs
  int first_operand = 0;  ///< in the plan's operands
  int operand_count = 0;
  SumParts parts = SumParts::apart;
  bool can_fault = false;  ///< whether its kernel reports to a `Faults`; it has a fault site in each step of the set
};

/// Traffic of collectives between the machines of the replicas: of one collective, or of a run. For a conditional, each figure
/// is that of the branch where the figure is larger.
struct CollectiveTraffic {
  std::int64_t bytes = 0;  ///< sent by each replica to others
  /// Time from start to end of the collective, by the machine's clock; of a run, the sum. 0: nothing moves, or the target has no
  /// link between replicas.
  std::int64_t cycles = 0;
  constexpr bool operator==(const CollectiveTraffic&) const = default;
};

/// The code of a group: stages over a grid, which each vertex runs in sequence on its block. Equal groups share one set.
struct ComputeSet {
  int first_stage = 0;  ///< in the plan's stages
  int stage_count = 0;
  FixedVector<std::int64_t, max_work_axes> extents{};  ///< of the whole grid, by axis
  FixedVector<std::int64_t, max_work_axes> blocks{};  ///< extents of a block, by axis; the last block of an axis may be shorter
  /// Pieces of a vertex, which threads share, if its only kernel supports pieces; otherwise 1.
  int pieces = 1;
  int first_stride = 0;  ///< index in the plan's strides: by location, then by axis of the grid, bytes from one block to the next
  int location_count = 0;  ///< of each step that runs the set
  std::int64_t scratch_bytes = 0;  ///< of each vertex
  std::int64_t code_bytes = 0;  ///< of its stages' code on one tile: an estimate, by the target's CodeSizes
  double work = 0;  ///< of all vertices of one replica, in multiply-adds: an estimate, see vertex_work.hpp
  std::int64_t memory_bytes = 0;  ///< of all operands in memory of one replica; each location counts once, positions do not count
  CollectiveTraffic traffic{};  ///< of a collective, each time that it runs; otherwise zeros
};

/// Largest number of operands of a group of several operations, which are the locations of its compute set, and of its stages.
/// One op has at most max_operands. The addresses of locations are on the stack of each thread. Fusion compares the operands of
/// two groups in pairs, and a compiler inlines all stages of a set: both limit the compile time. Training steps of MNIST have
/// groups near these limits (the CNN has some near max_stages).
inline constexpr int max_locations = 48, max_stages = 16;
/// Largest number of bytes of scratch of a vertex. It is on the stack of the vertex's thread, together with the arrays of
/// kernels, which need about as much. Internal storages of a group are counted in the order of its members: the first one beyond
/// the limit, and all later ones, get places in the frame. Encoder blocks and the CNN of the benchmarks have vertices with more
/// than 16 KB.
inline constexpr std::int64_t max_scratch_bytes = 256 * 1024;

enum class StepKind : std::uint8_t {
  compute,  ///< all vertices of a compute set
  call,  ///< one call of a body
  loop,  ///< calls of a body in sequence
  conditional,  ///< a call of one of two bodies
  collective,  ///< a compute set of one collective, which all replicas run together
  load_code  ///< nothing runs; from here to the last step that calls the body, its code counts as loaded
};

/// A superstep of a body, or calls of other bodies. Its locations are, by kind:
///  - compute, collective: those of the compute set's operands;
///  - call: the arguments;
///  - loop: three lists of all arguments, for iteration 0, for iterations 1, 3, 5, ... and for 2, 4, 6, ...: see first_stride;
///  - conditional: the condition, the arguments of `body`, and those of `else_body`.
struct Step {
  StepKind kind = StepKind::compute;
  int compute_set = -1;  ///< compute, collective: number of the set; otherwise -1
  BodyId body = BodyId::none;  ///< calls: the called body, of a conditional for true; load_code: the loaded one; otherwise none
  BodyId else_body = BodyId::none;  ///< conditional: body that is called for false; otherwise none
  int first_location = 0;  ///< in the plan's locations
  int location_count = 0;  ///< loop: of all three lists
  std::int64_t vertices = 0;  ///< compute: of one replica; otherwise 0
  std::int64_t pieces = 1;  ///< compute: of each vertex, as in its set
  std::int64_t items = 0;  ///< collective: parts that workers share, of all replicas together; otherwise 0
  std::int64_t frame_offset = 0;  ///< calls: bytes from this body's frame to the called body's, which is inside it; otherwise 0
  std::int64_t count = 1;  ///< loop: iterations, at least 1; otherwise 1
  /// Loop: index in the plan's strides, by argument, in bytes. In iteration i, from 0, an argument is at the location in the
  /// iteration's list plus i x stride. Stride 0: it does not move. Otherwise 0.
  int first_stride = 0;
  /// Calls: number of inputs and outputs of `body`; otherwise 0. In a conditional, their locations follow the condition, and the
  /// locations of `else_body` follow them.
  int arguments = 0;
  int stream = -1;  ///< stream that moves to its next element after the step; -1: none
  int ipu = -1;  ///< IPU whose tiles run it, or that the called bodies use alone; -1: all work on it, or there is only one IPU
  int from_ipu = -1;  ///< of a copy between IPUs: the IPU whose memory it reads; otherwise -1
  /// Compute: index in the plan's fault sites, one for each stage that can fault, in order; -1: none can
  int first_fault_site = -1;
  /// Whether workers wait for each other before the step. A conditional always waits, to read its condition. Plain calls, loops
  /// and loads of code have it set, but do not wait: the first step of a called body does.
  bool barrier_before = true;
  /// Whether the workers of all IPUs wait for each other there; otherwise those of the step's IPU do. Not read without
  /// barrier_before.
  bool joins_ipus = true;

  /// Returns whether bodies run in the step; a load of code is not a call.
  constexpr bool is_call() const { return kind == StepKind::call || kind == StepKind::loop || kind == StepKind::conditional; }
  /// Returns the number of parts that workers share: the vertices of one replica, which each replica has, or the items of a
  /// collective, of all replicas together; otherwise 0.
  constexpr std::int64_t parts() const { return vertices + items; }
};

/// Consecutive steps of one body whose loads and stores share one exchange.
struct PlannedExchange {
  int first_step = 0;  ///< in the plan's steps
  int step_count = 0;
  constexpr int last_step() const { return first_step + step_count - 1; }
};

/// A lowered graph: steps over a frame of memory. Bodies stand before those that they call.
struct Body {
  int first_step = 0;  ///< in the plan's steps
  int step_count = 0;
  std::int64_t frame_bytes = 0;  ///< with the frames of the bodies it calls
  int max_arguments = 0;  ///< largest number of inputs and outputs of a body that one of its steps calls; 0: it has no calls
  int ipu = -1;  ///< IPU on which all its steps run; -1: there are several, or only one, or the body moves a stream
};

struct PlannedVariable {
  TensorSpec spec{};  ///< of one replica's part
  Text name{};  ///< with its scopes: fc1/weight
  Initialiser initialiser{};  ///< of the initial values, which a session writes; each variable has one
  Base base = Base::variable;  ///< variable or remote
  std::int64_t offset = 0;  ///< in bytes, in that memory of each replica
  Distribution distribution{};  ///< over replicas: the whole tensor of a replica group, and its shards
  List<int> assignment{};  ///< by replica: the number of its replica group; empty: all are in one
};
struct PlannedConstant {
  TensorSpec spec{};
  Numbers values{};  ///< one for each element, or one for all; empty: the generator computes them
  std::int64_t offset = 0;  ///< in bytes, in the memory of the constants
  Text name{};  ///< `graph/name` outside of the main graph; empty: unnamed
  Generator generator{};  ///< of the elements; its `write` is null if there are values
};
struct PlannedStream {
  StreamDirection direction{};  ///< host_to_device: the program loads; device_to_host: it stores
  TensorSpec spec{};  ///< of one element, which is a tensor of one replica
  Text name{};  ///< name in the program
  bool used = false;  ///< whether a live op loads from it or stores to it
  /// Whether each load and store moves it to its next element; otherwise all are at fixed places of the host's array
  bool moves = false;
  std::int64_t elements = 0;  ///< of each replica, at fixed places, which the main body uses; 0 if the stream moves
  /// Elements of each replica in the host's array for one run: num_host_transfers; or, if the program does not set it, the number
  /// that a run moves, with the larger branch of each conditional. At least 1.
  std::int64_t transfers = 1;
};

/// Alignment of storages, variables, constants and rows in bytes: a cache line, and the widest vector.
inline constexpr std::int64_t memory_alignment = 64;
constexpr std::int64_t align(std::int64_t bytes, std::int64_t alignment = memory_alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Rows of a remote buffer.
struct RemoteRows {
  TensorSpec spec{};  ///< of one row
  std::int64_t entries = 1;  ///< rows of each replica
  std::int64_t offset = 0;  ///< of row 0 in streaming memory of each replica, in bytes; 0 in a mapped buffer
  int mapping = 0;  ///< index of its locations: number among the mapped buffers, from 1; 0: the rows are memory of the session
  bool is_stored = false;  ///< whether an op stores rows
  /// Returns the bytes from a row to the next. The rows of a mapped buffer have no gaps, as in the array that they are.
  constexpr std::int64_t row_bytes() const { return mapping > 0 ? spec.bytes() : align(spec.bytes()); }
  constexpr std::int64_t bytes() const { return entries * row_bytes(); }
};
struct PlannedRemoteBuffer : RemoteRows {
  Text name{};  ///< of a mapped buffer
};
/// Returns the bytes of streaming memory that locations with an index are in: 0 for the session's own memory, or the number of a
/// mapped buffer. Returns 0 if there is no such buffer.
constexpr std::int64_t remote_bytes(const auto& plan, int index) {
  if (index == 0) return plan.memory.remote;
  for (const auto& buffer : plan.remote_buffers)
    if (buffer.mapping == index) return buffer.bytes();
  return 0;
}

/// A stage of a step that can report a fault. The error text is `before`, the value, `after`.
struct PlannedFaultSite {
  Text before{};  ///< "Div: divisor "
  Text after{};  ///< ": a number other than 0 expected, in Net_subgraph(0)/fc1"
  std::int64_t reports = 1;  ///< reports of one wrong value: by one vertex, or by all of the step
};

/// Bytes of memory that a program needs, of each replica's machine. Those of variables, constants and frame are of all tiles
/// together. The fullest tile is tile 0, which has a share of all memory and the code of all steps.
struct MemoryUse {
  std::int64_t variables = 0;  ///< of variables that are not in remote buffers, and of kept tensors
  std::int64_t constants = 0;  ///< on each machine; replicas on one host share them
  std::int64_t remote = 0;  ///< of remote buffers and the variables in them, in streaming memory
  std::int64_t frame = 0;  ///< of the largest root body, whose frame holds those of bodies that it calls
  std::int64_t code = 0;  ///< on the fullest tile, for the whole run: an estimate, see code_memory.hpp
  /// On the fullest tile, not in `code`: the largest amount that remote_code_load has there at a time
  std::int64_t loaded_code = 0;
  /// All bytes of the fullest tile. On a simulated IPU: TileMemory::total(). On other machines, tile 0: its share of variables,
  /// constants and frame, `code`, `loaded_code`, and slices and scratch of the largest vertex.
  std::int64_t fullest_tile = 0;
  constexpr bool operator==(const MemoryUse&) const = default;
};

/// Traffic of one run between tiles and streaming memory, on each replica. For a conditional, each figure is that of the
/// branch where the figure is larger.
struct RemoteTraffic {
  std::int64_t loaded_bytes = 0;  ///< of rows, without padding
  std::int64_t stored_bytes = 0;  ///< of rows, without padding
  std::int64_t code_bytes = 0;  ///< loaded, for all tiles; 0 on machines that keep their code
  std::int64_t cycles = 0;  ///< of the machine's clock, for all of it; 0 on machines that count none
  std::int64_t exchanges = 0;  ///< of rows and code: each merged exchange and each separate transfer counts as one
  constexpr bool operator==(const RemoteTraffic&) const = default;
};

/// A tensor of the main graph that one root computes and another one reads. It is kept from run to run.
struct KeptTensor {
  TensorId tensor = TensorId::none;  ///< never an alias of another one
  ExecutionContext made_in = ExecutionContext::Normal;  ///< context of the root that computes it
  std::int64_t bytes = 0;  ///< of its elements
  std::int64_t offset = 0;  ///< in bytes, in the memory of the variables, where it stays between runs
  DType dtype = float32;
};

/// Resources of a run on one set of a simulated IPU's tiles.
struct TileSetUse {
  int ipu = 0;  ///< of the replica
  bool is_io = false;  ///< whether they are its IO tiles; otherwise they are compute tiles
  TileMemory tile{};  ///< of each tile that has a part of all data of the set
  /// Bytes from the first variable on a tile to the frame: variables, constants, and memory between that is free, so that homes
  /// and the frame are in different banks
  std::int64_t frame_address = 0;
  CycleUse cycles{};

  /// Returns the bytes of a tile's data, from the first variable to the end of the largest frame.
  constexpr std::int64_t data_bytes() const { return frame_address + tile.frame + tile.padding; }
};

/// Figures of a plan for the whole program.
struct PlanTotals {
  MemoryUse memory{};
  TileMemory tile{};  ///< of the fullest tile of simulated IPUs; zeros for the host
  CycleUse cycles{};  ///< of a run on simulated IPUs, on the set of tiles that waits least for others; zeros for the host
  RemoteTraffic remote{};  ///< of one run
  CollectiveTraffic collectives{};  ///< of one run
  /// Elements of each replica in the host's array of every stream for one run. 0: the program does not set it, and each stream
  /// has the number of elements that a run moves.
  int num_host_transfers = 0;
  int replicas = 1;
  BodyId after_upload = BodyId::none;  ///< body that runs after variables got values from the host; none: nothing
  BodyId before_download = BodyId::none;  ///< body that runs before variables are copied to the host; none: nothing

  /// Returns whether a session runs the body directly, at the start of its frame: no step calls it.
  constexpr bool is_root(BodyId body) const {
    return body == BodyId::main || (body > BodyId::main && (body == after_upload || body == before_download));
  }
};

/// Start of the failure of a plan that is too large for its machine.
inline constexpr std::string_view memory_error = "memory: ";

/// A program for a machine: bodies of steps and the memory they use.
struct Plan : PlanTotals {
  List<Body, BodyId> bodies{};
  List<Step> steps{};  ///< body by body, those of called bodies first
  List<Location> locations{};
  List<ComputeSet> compute_sets{};
  List<Stage> stages{};
  List<StageOperand> operands{};
  List<std::int64_t> strides{};  ///< in bytes: those of compute sets and those of loops
  List<PlannedVariable> variables{};
  List<PlannedConstant> constants{};
  List<PlannedStream> streams{};
  List<PlannedRemoteBuffer> remote_buffers{};
  List<KeptTensor> kept{};  ///< not frozen, because steps have its offsets
  List<PlannedExchange> exchanges{};  ///< in the order of their steps; not frozen, because a run does not need it
  List<PlannedFaultSite> fault_sites{};
  List<TileSetUse> tile_sets{};  ///< of simulated IPUs, in the order of TileSets; empty for the host
  List<CycleUse> step_cycles{};  ///< of a simulated IPU, by step, each time that it runs; not frozen
  Text tile_table{};  ///< of a simulated IPU: numbers for the strict executor, see tile_table.hpp; a frozen plan has it in a pool
  List<StepMoves> moves{};  ///< of a simulated IPU, by step; empty for the host; not frozen, because a run does not need it
  OnError on_error = OnError::raise;  ///< mode of the program's Ir
  Text failure{};  ///< with OnError::record: first error of the program or of its planning; the plan is then incomplete

  constexpr void fail(Text message) {
    if (on_error == OnError::raise) TW_THROW TraceError(message.string());
    if (failure.empty()) failure = std::move(message);
  }
};

/// Calls f(table of each plan...) for each table of plans that is frozen. This list is complete: a new table is a member of Plan
/// and of the types for it (FrozenPlan, PlanSizes), and a line here.
constexpr void for_each_table(auto f, auto&... plans) {
  f(plans.bodies...);
  f(plans.steps...);
  f(plans.locations...);
  f(plans.compute_sets...);
  f(plans.stages...);
  f(plans.operands...);
  f(plans.strides...);
  f(plans.variables...);
  f(plans.constants...);
  f(plans.streams...);
  f(plans.remote_buffers...);
  f(plans.fault_sites...);
  f(plans.tile_sets...);
}

}  // namespace tilewright::internal

/// Figures of a plan, for users.
namespace tilewright {
using internal::CodeBytes, internal::CollectiveTraffic, internal::CycleUse, internal::MemoryUse, internal::Plan,
    internal::RemoteTraffic, internal::TileMemory, internal::TileSetUse;
}  // namespace tilewright
