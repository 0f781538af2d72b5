#pragma once
#include <atomic>
#include <stdexcept>

#include "tilewright/core/platform/platform.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/fault_error.hpp"  // what a run may throw
#include "tilewright/session/exclusive_use.hpp"
#include "tilewright/session/host_outputs.hpp"
#include "tilewright/session/session_core.hpp"
#include "tilewright/session/streams/input_copies.hpp"
#ifndef TILEWRIGHT_COMPILED  // then a library of the user's build has this code: cmake/compiled.cpp
#include "tilewright/session/session_core_code.hpp"
#endif

namespace tilewright::detail {

/// Throws the error of a call of a session that was moved from.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_moved_from(const char* call) {
  throw std::logic_error(text(call, ": a session that was moved from: the one that has its memory now expected").string());
}
/// Throws the error of a call of a detached session that needs the device.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_detached(const char* call) {
  throw std::logic_error(text(call, ": the session is not attached: a context() or attach() expected").string());
}
/// Throws the error of a session that is destroyed during a call. In a forked child, nobody else uses the session.
[[gnu::noinline, gnu::cold]] inline void throw_if_used(std::atomic<bool>& in_use, unsigned forks) {
  if (internal::fork_count() == forks) const ExclusiveUse use(in_use, "~Session");
}

/// Memory and threads of a session. They are on the heap, so that moving a session moves no memory that others refer to.
template <class Program>
struct SessionState {
  [[gnu::cold]] SessionState(const SessionOptions& options, const internal::HeldReplicas& held)
      : core(options, Program::view(), held),
        outputs(offsets_of_arrays<Program::plan, StreamDirection::device_to_host>(core.held().count).back(), "outputs"),
        input_copies(core.held().count) {}
  ~SessionState() { throw_if_used(in_use, forks); }  // ends the program if that throws

  SessionCore<ThisBuild> core;
  internal::AlignedMemory outputs;
  InputCopies<Program::plan> input_copies;
  std::atomic<bool> in_use{false};
  unsigned forks = internal::fork_count();  // when it was made
};

}  // namespace tilewright::detail
