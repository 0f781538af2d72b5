#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tilewright/core/logger.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/codelet.hpp"
#include "tilewright/execute/flush_denormals.hpp"
#include "tilewright/execute/thread_choice.hpp"
#include "tilewright/execute/workers.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// A frozen plan and its code, without their types.
struct ProgramView {
  std::span<const Body> bodies;
  std::span<const Step> steps;
  std::span<const Location> locations;
  std::span<const ComputeFunction> functions;
  std::span<const std::int64_t> strides;
  std::span<const std::int64_t> stream_bytes;
  std::span<const PlannedRemoteBuffer> remote_buffers;
  MemoryUse memory{};
};

/// Runs a program: its workers go through the steps of the main body together, each with its share of the vertices of every
/// step, and meet where a step needs what others wrote. Results do not depend on the number of workers, and a run allocates
/// nothing. Denormal numbers count as 0. What the environment says about the log is read when an executor is made.
class Executor {
 public:
  Executor(const ProgramView& program, int threads)
      : program_(program),
        variables_(program.memory.variables),
        constants_(program.memory.constants),
        remote_(program.memory.remote),
        faults_(program.remote_buffers.size(), 0),
        frame_(program.memory.frame),
        choice_(threads, static_cast<int>(std::thread::hardware_concurrency()), logger_),
        workers_(choice_.limit()) {
    std::size_t deepest = 1;
    for (const Body& body : program.bodies) deepest += static_cast<std::size_t>(body.max_arguments);
    states_.resize(static_cast<std::size_t>(workers_.count()));
    for (auto& state : states_) {
      state.arguments.resize(deepest);
      state.streams.resize(program.stream_bytes.size());
    }
  }

  std::byte* variables() const { return variables_.data(); }
  std::byte* remote() const { return remote_.data(); }
  std::byte* constants() const { return constants_.data(); }
  int threads() const { return choice_.threads(); }
  int most_threads() const { return choice_.limit(); }
  const Logger& logger() const { return logger_; }

  /// Runs the program once; throws std::out_of_range if it computed an offset that a remote buffer does not have. `streams` has
  /// for each stream the host's memory for all elements that the run takes or gives.
  void run(std::span<std::byte* const> streams) {
    for (auto& state : states_) std::ranges::copy(streams, state.streams.begin());
    if (choice_.measuring() || logger_.shows(LogLevel::trace)) [[unlikely]] {
      run_timed();
    } else {
      choice_.counted();
      run_workers();
    }
    check_faults();
  }

 private:
  /// What each worker has for itself.
  struct alignas(64) State {
    std::vector<std::byte*> arguments;  // of all calls on the way to the running body
    std::vector<std::byte*> streams;  // next elements
  };

  /// Throws for the first remote buffer that was given an offset it does not have, and forgets all such offsets.
  void check_faults() {
    const auto fault = std::ranges::find_if(faults_, [](std::int64_t offset) { return offset != 0; });
    if (fault == faults_.end()) return;
    const auto buffer = static_cast<std::size_t>(fault - faults_.begin());
    const Text message = text("remote buffer ", buffer + 1, ": offset ", *fault, " in a run: an offset from 0 to ",
                              program_.remote_buffers[buffer].entries - 1, " expected");
    std::ranges::fill(faults_, 0);
    throw std::out_of_range(message.string());
  }
  void run_timed() {
    const bool measures = choice_.measuring();
    if (!measures) choice_.counted();
    const auto start = std::chrono::steady_clock::now();
    run_workers();
    const auto time = std::chrono::steady_clock::now() - start;
    logger_.write(LogLevel::trace, "run of ", std::chrono::nanoseconds(time).count(), " ns, threads: ", active_);
    if (measures) choice_.measured(time);
  }
  void run_workers() {
    active_ = choice_.threads();
    workers_.run([](void* self, int worker) { static_cast<Executor*>(self)->run_main(worker); }, this, active_);
  }
  void run_main(int worker) {
    const FlushDenormals flush;
    State& state = states_[static_cast<std::size_t>(worker)];
    run_body(program_.bodies[0], frame_.data(), nullptr, state.arguments.data(), worker, state);
  }
  /// `arguments` are the body's own; those of its calls are written to `free_arguments`.
  void run_body(const Body& body, std::byte* frame, std::byte* const* arguments, std::byte** free_arguments, int worker,
                State& state) {
    const auto address = [&](const Location& location) {
      switch (location.base) {
        case Base::frame: return frame + location.offset;
        case Base::argument: return arguments[location.index] + location.offset;
        case Base::variable: return variables_.data() + location.offset;
        case Base::constant: return constants_.data() + location.offset;
        case Base::remote: return remote_.data() + location.offset;
        case Base::fault: return reinterpret_cast<std::byte*>(faults_.data()) + location.offset;
        case Base::stream: break;
      }
      return state.streams[static_cast<std::size_t>(location.index)] + location.offset;
    };
    std::byte* operands[max_locations];
    for (const Step& step :
         program_.steps.subspan(static_cast<std::size_t>(body.first_step), static_cast<std::size_t>(body.step_count))) {
      const Location* locations = program_.locations.data() + step.first_location;
      if (step.kind == StepKind::load_code) continue;
      if (step.kind == StepKind::compute || step.kind == StepKind::conditional)
        if (step.meets) barrier_.arrive_and_wait(active_);
      if (step.kind != StepKind::compute) {
        int target = step.target, count = step.arguments;
        if (step.kind == StepKind::conditional && *reinterpret_cast<const bool*>(address(*locations++)) == false) {
          target = step.else_target;
          locations += step.arguments;
          count = step.location_count - 1 - step.arguments;
        }
        for (std::int64_t iteration = 0; iteration < step.count; ++iteration) {
          const Location* const own = iteration == 0 ? locations : locations + (2 - iteration % 2) * count;
          for (int i = 0; i < count; ++i) free_arguments[i] = address(own[i]);
          if (step.kind == StepKind::loop)
            for (int i = 0; i < count; ++i)
              free_arguments[i] += iteration * program_.strides[static_cast<std::size_t>(step.first_stride + i)];
          run_body(program_.bodies[static_cast<std::size_t>(target)], frame + step.frame_offset, free_arguments,
                   free_arguments + count, worker, state);
        }
        continue;
      }
      const std::int64_t first = step.vertices * worker / active_, last = step.vertices * (worker + 1) / active_;
      if (first < last) {
        for (int i = 0; i < step.location_count; ++i) operands[i] = address(locations[i]);
        program_.functions[static_cast<std::size_t>(step.target)](operands, first, last);
      }
      if (step.stream >= 0)
        state.streams[static_cast<std::size_t>(step.stream)] += program_.stream_bytes[static_cast<std::size_t>(step.stream)];
    }
  }

  ProgramView program_;
  AlignedMemory variables_, constants_, remote_;
  std::vector<std::int64_t> faults_;  // by remote buffer
  AlignedMemory frame_;
  Logger logger_ = Logger::from_environment();
  ThreadChoice choice_;
  int active_ = 1;
  Barrier barrier_;
  std::vector<State> states_;
  Workers workers_;  // last: its threads end before what they use
};

}  // namespace tilewright
