#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/session/session.hpp"

namespace tilewright::distributed {

/// How replicated_all_reduce reduces over the replicas of all processes.
enum class AllReduce : std::uint8_t {
  replica_order,  ///< element by element in the order of the replicas: the bits of one process, with every number of processes
  /// Each process reduces its own replicas' values, then MPI_Allreduce reduces those between processes. All processes get the
  /// same bits, which depend on the number of processes. See docs/instances.md#hierarchical-all-reduce for what it takes.
  hierarchical
};

constexpr std::string_view to_text(AllReduce all_reduce) {
  return all_reduce == AllReduce::hierarchical ? "hierarchical" : "replica_order";
}

/// The options of a tw::Session, and those of several processes.
struct SessionOptions {
  std::uint64_t seed = 42;              ///< of the variables' initial values
  int threads = 0;                      ///< host threads of a process; 0: as many, up to one a core, as are fastest
  bool attach = true;                   ///< whether the session is attached from the start; else it waits for a context
  bool weights_to_host_on_exit = true;  ///< whether a context that ends copies the variables to the host
  StrictMode strict{};                  ///< true checks the plan and the ops while they run; with one process only
  AllReduce all_reduce = AllReduce::replica_order;  ///< the same on all processes
  std::int64_t recorded_events = 0;  ///< of each worker of this process for which there is room; 0: runs are not recorded

  constexpr operator tilewright::SessionOptions() const {
    return {seed, threads, attach, weights_to_host_on_exit, strict, recorded_events};
  }
};

}  // namespace tilewright::distributed
