#pragma once
#include <atomic>

#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/executor.hpp"
#include "tilewright/session/host_outputs.hpp"
#include "tilewright/session/input_copies.hpp"
#include "tilewright/session/session_options.hpp"
#include "tilewright/session/variable_copies.hpp"

namespace tilewright::detail {

/// Memory and threads of a session. They are on the heap, so that moving a session moves no memory that others refer to.
template <class Program>
struct SessionState {
  SessionState(const SessionOptions& given, const internal::HeldReplicas& held)
      : options(given),
        arrays(Program::view(), given.arrays),
        executor(arrays.with_rows(Program::view()), given.threads, given.strict, held, given.recorded_events),
        copies(executor, Program::view(), given.seed, given.attach, arrays),
        outputs(offsets_of_arrays<Program::plan, StreamDirection::device_to_host>(executor.replicas()).back(), "outputs"),
        input_copies(executor.replicas()) {
    options.arrays.clear();  // those of the host may end after the constructor
  }

  SessionOptions options;
  GivenArrays arrays;
  internal::Executor executor;
  VariableCopies copies;
  internal::AlignedMemory outputs;
  InputCopies<Program::plan> input_copies;
  std::atomic<bool> in_use{false};
};

}  // namespace tilewright::detail
