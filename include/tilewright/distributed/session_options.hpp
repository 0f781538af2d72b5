#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/flag.hpp"
#include "tilewright/session/session.hpp"

namespace tilewright::distributed {

/// How replicated_all_reduce reduces over the replicas of all processes.
enum class AllReduce : std::uint8_t {
  replica_order,  ///< element by element in the order of the replicas: the bits do not depend on the number of processes
  /// Each process reduces the values of its own replicas, then MPI_Allreduce reduces between processes. All processes get equal
  /// bits, which depend on the number of processes. See docs/how-to/instances-shards.md#hierarchical-all-reduce for its
  /// requirements.
  hierarchical
};

[[nodiscard]] constexpr std::string_view to_text(AllReduce all_reduce) {
  return all_reduce == AllReduce::hierarchical ? "hierarchical" : "replica_order";
}

/// Options of a session in several processes: those of a tw::Session, and all_reduce.
struct SessionOptions {
  std::uint64_t seed = 42;  ///< seed of the variables' initial values
  int threads = 0;  ///< host threads of a process; 0: the first runs measure which number is fastest, at most one per core
  Flag attach = true;  ///< whether the session starts attached; otherwise a context attaches it
  Flag weights_to_host_on_exit = true;  ///< whether a context copies the variables to the host when it ends
  StrictMode strict{};  ///< true: each run checks the ops; with one process only
  AllReduce all_reduce = AllReduce::replica_order;  ///< must be equal on all processes
  std::int64_t recorded_events = 0;  ///< capacity of each worker's event recorder in this process; 0: runs are not recorded

  constexpr operator tilewright::SessionOptions() const {
    return {seed, threads, attach, weights_to_host_on_exit, strict, recorded_events};
  }
};

}  // namespace tilewright::distributed
