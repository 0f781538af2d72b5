#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/execute/codelet.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/execute/operand_address.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

struct ProgramView;

/// A program's memory that the host accesses.
struct HostMemory {
  std::byte *variables = nullptr, *constants = nullptr, *remote = nullptr;  ///< of replica 0
  std::int64_t variable_bytes = 0, remote_bytes = 0;  ///< from one replica to the next
  FaultRecord* faults = nullptr;  ///< by fault site
};
/// Runs a program on tiles with separate memory, to find what an op does not declare.
class StrictRunner {
 public:
  virtual ~StrictRunner() = default;
  /// Runs a root body. `streams` are those of replica 0, empty for a body without streams. Returns whether all replicas reached
  /// all collectives. Throws StrictError.
  virtual bool run(const HostMemory& host, BodyId root, Span<const OperandAddress> streams) = 0;
};

/// A frozen plan and its code, type-erased.
struct ProgramView {
  Span<const Body> bodies;
  Span<const Step> steps;
  Span<const Location> locations;
  Span<const ComputeFunction> functions;
  Span<const std::int64_t> strides;
  Span<const std::int64_t> stream_bytes;
  Span<const FrozenRemoteBuffer> remote_buffers;
  Span<const FrozenFaultSite> fault_sites;
  std::string_view characters;  ///< the pool of texts
  MemoryUse memory{};  ///< of each replica
  int replicas = 1;
  int ipus = 1;  ///< of each replica
  std::int64_t stack_bytes = 0;  ///< bytes that a run needs on each thread
  // for variables and constants
  Span<const FrozenVariable> variables;
  Span<const FrozenConstant> constants;
  Span<const double> values;  ///< the pool
  BodyId after_upload = BodyId::none, before_download = BodyId::none;
  Span<const ComputeSet> compute_sets{};  ///< for the strict executor and useful_threads
  // for the strict executor
  Span<const Stage> stages{};
  Span<const StageOperand> operands{};
  TileSets sets{};
  Span<const TileSetUse> tile_sets{};  ///< by number in `sets`
  std::string_view tile_table{};  ///< empty: the target is not a simulated IPU

  Span<std::byte* const> mapped{};  ///< the first rows of the mapped buffers, by number - 1; a session sets it

  std::string_view text(PoolRange range) const { return characters.substr(range.first, range.count); }
  Span<const double> numbers(PoolRange range) const { return values.subspan(range.first, range.count); }
};

}  // namespace tilewright::internal
