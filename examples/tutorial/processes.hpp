#pragma once
// The processes that a program's replicas are in: those that `./dev launch` started if the program is linked with
// tilewright::distributed, for which CMake defines TUTORIAL_WITH_MPI; else one.
#include <cstdio>
#include <stdexcept>
#include <tilewright/data/loader.hpp>
#include <tilewright/tilewright.hpp>
#ifdef TUTORIAL_WITH_MPI
#include <tilewright/distributed/distributed.hpp>
#endif

namespace processes {

#ifdef TUTORIAL_WITH_MPI
template <auto build, tilewright::Target device>
using Session = tilewright::distributed::Session<build, device>;

/// Whether this is the process that speaks for all.
inline bool is_first() { return tilewright::distributed::Processes::world().is_first(); }
/// Of the batches of the program, each process loads what its replicas take.
template <class TrainSession>
tilewright::data::LoaderOptions shard(const TrainSession& session, const tilewright::data::LoaderOptions& options) {
  return tilewright::distributed::shard(session, options);
}
/// Calls f; an exception of it ends all processes.
void end_all_on_exception(auto&& f) { tilewright::distributed::end_all_on_exception(f); }
#else
template <auto build, tilewright::Target device>
using Session = tilewright::Session<build, device>;

inline bool is_first() { return true; }
template <class TrainSession>
tilewright::data::LoaderOptions shard(const TrainSession&, const tilewright::data::LoaderOptions& options) {
  return options;
}
void end_all_on_exception(auto&& f) { f(); }
#endif

/// Lets one process write to standard output: the others' goes nowhere. Throws std::runtime_error if the system has no /dev/null.
inline void silence_others() {
  if (!is_first() && !std::freopen("/dev/null", "w", stdout)) throw std::runtime_error("cannot open /dev/null");
}

}  // namespace processes
