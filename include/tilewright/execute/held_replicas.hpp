#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// Work of a collective that remains in this process after the exchange between processes: its items [first, last). `operands`
/// are the inputs of all replicas of the program, then the outputs of all.
struct DistributedCollective {
  std::byte* const* operands = nullptr;
  std::int64_t first = 0, last = 0;
};

/// A piece of a block of memory that the process of a replica has written.
struct SharedPiece {
  int replica = 0;
  std::size_t offset = 0, bytes = 0;
};

/// Connects the processes that hold the replicas of a program. All processes make the same calls in the same order.
class ReplicaTransport {
 public:
  virtual ~ReplicaTransport() = default;
  /// Returns whether collectives in flight start or end before a step.
  virtual bool has_work_before(const Step& step) = 0;
  /// Starts and ends collectives before a step. `frames` are those of the step's body, by held replica. One worker calls it while
  /// the others wait, as for `communicate`.
  virtual void work_before(const Step& step, std::byte* const* frames) = 0;
  /// Lets messages in flight move. The worker that makes the other calls also makes this one, and other workers do not wait
  /// meanwhile.
  virtual void progress() = 0;
  /// Sends and receives the data for a collective. `held` are the inputs of the held replicas, then their outputs. One worker
  /// calls it while the others wait. Allocates nothing.
  virtual DistributedCollective communicate(const Step& step, std::byte* const* held) = 0;
  /// Sends all pieces of the memory to every process; each process has those of its replicas.
  virtual void share(std::byte* memory, Span<const SharedPiece> pieces) = 0;
};

/// The replicas [first, first + count) of a program that an executor holds.
struct HeldReplicas {
  int first = 0;
  int count = 0;  ///< 0: all of the program's
  ReplicaTransport* transport = nullptr;  ///< to the processes that hold the others; null: there are none
  int rank = -1;  ///< of the process, for lines of the log; -1: not named
  bool names_replicas = false;  ///< whether print_tensor names the replica that prints

  /// Returns these replicas of a program of `replicas`, with their count.
  HeldReplicas of(int replicas) const {
    HeldReplicas result = *this;
    if (count == 0) result.count = replicas;
    return result;
  }
};

/// Returns the locations of operands if the host's arrays have the elements of `held` replicas of a program of `replicas`;
/// nothing if it holds all.
inline List<Location> held_locations(Span<const Location> locations, Span<const std::int64_t> stream_bytes, std::int64_t replicas,
                                     std::int64_t held) {
  if (held == replicas) return {};
  List<Location> result(locations.begin(), locations.end());
  for (Location& location : result) {
    if (location.base != Base::stream) continue;
    const std::int64_t element = replicas * stream_bytes[static_cast<std::size_t>(location.index)];  // from one to the next
    if (element > 0) location.offset = location.offset / element * (element / replicas * held) + location.offset % element;
  }
  return result;
}

}  // namespace tilewright::internal
