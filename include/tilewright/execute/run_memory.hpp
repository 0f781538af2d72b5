#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/core/memory/with_memory.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/memory_error.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright::internal {

/// State of one worker, by replica.
struct alignas(64) WorkerState {
  List<std::byte*> arguments;  ///< of all calls on the path to the running body
  List<std::byte*> streams;  ///< next elements
  std::uint32_t ticket = 0;  ///< of the last step whose parts others could take over, see Shares
};
/// Replicas that run a body.
struct ReplicaNumbers {
  explicit ReplicaNumbers(int all) : count(all) {
    for (int i = 0; i < all; ++i) numbers[i] = static_cast<std::uint8_t>(i);
  }
  std::uint8_t numbers[Ir::max_replicas]{};
  int count = 0;
};
/// A body that a worker runs. Pointers are the first replica's: see RunMemory for those of others.
struct Running {
  std::byte* frame;
  std::byte* const* arguments;  ///< the body's arguments
  std::byte** free_arguments;  ///< memory for the arguments of its calls
  int worker;
  WorkerState& state;
  const ReplicaNumbers& replicas;
};

/// Memory of all replicas of a program, with the locations of a running body's tensors.
class RunMemory {
 public:
  [[gnu::cold]] explicit RunMemory(const ProgramView& program)
      : replicas_(program.replicas),
        stream_count_(program.stream_bytes.size()),
        variable_bytes_(align(program.memory.variables)),
        remote_bytes_(program.memory.remote),
        frame_bytes_(align(program.memory.frame)),
        mapped_(program.mapped),
        variables_(replicas_ * variable_bytes_, "variables"),
        constants_(program.memory.constants, "constants"),
        remote_(replicas_ * remote_bytes_, "remote buffers"),
        frame_(replicas_ * frame_bytes_, "tensors of a run") {
    for (const Body& body : program.bodies) deepest_ += body.max_arguments;
  }

  std::byte* variables(int replica = 0) const { return variables_.data() + replica * variable_bytes_; }
  std::byte* remote(int replica = 0) const { return remote_.data() + replica * remote_bytes_; }
  /// Returns the first row of a mapped buffer, which all replicas share, or for number 0 the rows that are memory of the session.
  std::byte* rows(int mapping, int replica) const {
    return mapping == 0 ? remote(replica) : mapped_[static_cast<std::size_t>(mapping) - 1];
  }
  std::byte* constants() const { return constants_.data(); }
  /// Returns the memory as the host sees it.
  HostMemory host(FaultRecord* faults) const {
    return {variables_.data(), constants_.data(), remote_.data(), variable_bytes_, remote_bytes_, faults};
  }

  /// Makes states of workers with room for their pointers. Throws MemoryError.
  [[gnu::cold]] std::vector<WorkerState> make_states(int workers) const {
    WorkerState state;
    state.arguments.resize(static_cast<std::size_t>(replicas_ * deepest_));
    state.streams.resize(static_cast<std::size_t>(replicas_) * stream_count_);
    const std::size_t bytes = sizeof state + (state.arguments.size() + state.streams.size()) * sizeof(std::byte*);
    return tilewright::detail::with_memory(
        0, [&] { return std::vector<WorkerState>(static_cast<std::size_t>(workers), state); },
        [&] { return MemoryError("states of threads", workers * static_cast<std::int64_t>(bytes)); });
  }
  /// Returns a root body as a worker runs it.
  Running start(int worker, WorkerState& state, const ReplicaNumbers& replicas) const {
    return {frame_.data(), nullptr, state.arguments.data(), worker, state, replicas};
  }
  /// Returns the next elements of a replica's streams.
  std::byte** streams_of(WorkerState& state, int replica) const {
    return state.streams.data() + static_cast<std::size_t>(replica) * stream_count_;
  }
  std::byte* frame_of(const Running& running, int replica) const { return running.frame + replica * frame_bytes_; }
  /// Returns the arguments of a replica in one of a body's argument lists.
  template <class Pointer>
  Pointer arguments_of(Pointer list, int replica) const {
    return list + replica * deepest_;
  }
  std::byte* address(const Location& location, const Running& running, int replica) const {
    switch (location.base) {
      case Base::frame: return frame_of(running, replica) + location.offset;
      case Base::argument: return arguments_of(running.arguments, replica)[location.index] + location.offset;
      case Base::variable: return variables(replica) + location.offset;
      case Base::constant: return constants() + location.offset;
      case Base::remote: return rows(location.index, replica) + location.offset;
      case Base::position: return OperandAddress(&position_origin).for_kernel() + location.offset;
      case Base::stream: break;
    }
    return streams_of(running.state, replica)[location.index] + location.offset;
  }

 private:
  int replicas_;
  std::size_t stream_count_;
  std::int64_t variable_bytes_, remote_bytes_, frame_bytes_;  // of a replica
  Span<std::byte* const> mapped_;
  AlignedMemory variables_, constants_, remote_;
  AlignedMemory frame_;
  std::int64_t deepest_ = 1;  // of arguments, on the way to any body
};

}  // namespace tilewright::internal
