#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tilewright/core/logger.hpp"
#include "tilewright/core/print_stream.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/arithmetic_mode.hpp"
#include "tilewright/execute/crew.hpp"
#include "tilewright/execute/fault_report.hpp"
#include "tilewright/execute/held_replicas.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/execute/recorder.hpp"
#include "tilewright/execute/strict_mode.hpp"
#include "tilewright/execute/thread_choice.hpp"
#include "tilewright/execute/workers.hpp"

namespace tilewright::internal {

/// Runs a program: its workers go through the steps of a root body together, each with its share of the vertices of every
/// step, and wait for each other where a step needs what others wrote. Results do not depend on the number of workers, and a run
/// allocates nothing. Denormal numbers count as 0. What the environment says about the log is read when an executor is made.
///
/// Replicas, each with memory of its own but for constants, go through the program in lockstep: a step runs for all of them
/// before the next one. The branches of a conditional run one after the other, each for the replicas that take it. An executor
/// that holds a part of the program's replicas numbers them from 0.
class Executor {
 public:
  /// `strict`: on tiles with memory of their own. Throws std::invalid_argument if the target is then no simulated IPU.
  /// `recorded_events`: of each worker, for which there shall be room.
  Executor(const ProgramView& program, int threads, StrictMode strict = {}, const HeldReplicas& held = {},
           std::int64_t recorded_events = 0)
      : held_(held.of(program.replicas)),
        locations_(held_locations(program.locations, program.stream_bytes, program.replicas, held_.count)),
        program_(program_of(program)),
        strict_(make_strict(program_, strict)),
        variable_bytes_(align(program.memory.variables)),
        remote_bytes_(program.memory.remote),
        frame_bytes_(align(program.memory.frame)),
        variables_(program_.replicas * variable_bytes_, "variables"),
        constants_(program.memory.constants, "constants"),
        remote_(program_.replicas * remote_bytes_, "remote buffers"),
        faults_(program.fault_sites.size()),
        frame_(program_.replicas * frame_bytes_, "tensors of a run"),
        all_(program_.replicas),
        logger_(Logger::from_environment(held.rank)),
        choice_(strict_ ? 1 : threads, static_cast<int>(std::thread::hardware_concurrency()), logger_),
        recorder_(Recorder::of(recorded_events, choice_.limit(), program_.steps.data())),
        ipu_barriers_(std::make_unique<Barrier[]>(static_cast<std::size_t>(program.ipus))),
        workers_(choice_.limit(), static_cast<std::size_t>(program.stack_bytes)) {
    if (strict_ && recorder_) throw std::invalid_argument("recorded_events: strict mode records nothing: 0 expected");
    for (const Body& body : program.bodies) deepest_ += body.max_arguments;
    states_.resize(static_cast<std::size_t>(workers_.count()));
    for (auto& state : states_) {
      state.arguments.resize(static_cast<std::size_t>(program_.replicas * deepest_));
      state.streams.resize(static_cast<std::size_t>(program_.replicas) * program.stream_bytes.size());
    }
  }

  std::byte* variables(int replica = 0) const { return variables_.data() + replica * variable_bytes_; }
  std::byte* remote(int replica = 0) const { return remote_.data() + replica * remote_bytes_; }
  std::byte* constants() const { return constants_.data(); }
  int threads() const { return choice_.threads(); }
  int most_threads() const { return choice_.limit(); }
  const Logger& logger() const { return logger_; }
  int replicas() const { return program_.replicas; }
  const HeldReplicas& held() const { return held_; }
  StrictRunner* strict() const { return strict_.get(); }  ///< null: the program runs in the fast mode
  Recorder* recorder() const { return recorder_.get(); }  ///< null: nothing is recorded

  /// Runs the program once; throws FaultError if an op met values that it cannot compute with, std::runtime_error if replicas did
  /// not all reach a collective, std::logic_error in a child process that does not have the threads, and what an op threw: then
  /// steps after it have not run, or not on all threads. `streams` has for each stream the host's memory for all elements that
  /// the run takes or gives: [transfers, replicas] of them.
  void run(std::span<std::byte* const> streams) {
    if (strict_) [[unlikely]]
      return run_strictly(BodyId::main, streams);
    root_ = BodyId::main;
    for (auto& state : states_)
      for (int replica = 0; replica < program_.replicas; ++replica)
        for (std::size_t i = 0; i < streams.size(); ++i)
          streams_of(state, replica)[i] = streams[i] + replica * program_.stream_bytes[i];
    if (choice_.measuring() || logger_.shows(LogLevel::trace)) [[unlikely]] {
      run_timed();
    } else {
      choice_.counted();
      run_workers();
    }
    check_collectives();
    check_faults();
  }
  /// Runs another body that no step calls, once, as `run` does. It moves no streams, and its time tells nothing of the number of
  /// threads.
  void run_root(BodyId body) {
    if (strict_) [[unlikely]]
      return run_strictly(body, {});
    root_ = body;
    run_workers();
    check_collectives();
    check_faults();
  }

 private:
  ProgramView program_of(ProgramView program) const {
    program.replicas = held_.count;
    if (!locations_.empty()) program.locations = locations_;
    return program;
  }
  static std::unique_ptr<StrictRunner> make_strict(const ProgramView& program, StrictMode strict) {
    if (!strict) return nullptr;
    if (program.tile_table.empty())
      throw std::invalid_argument("strict: the target has no tiles with memory of their own: a simulated IPU expected");
    return strict.factory()(program);
  }
  void run_strictly(BodyId root, std::span<std::byte* const> streams) {
    const ArithmeticMode mode;
    try {
      missed_collective_ = !strict_->run(
          {variables_.data(), constants_.data(), remote_.data(), variable_bytes_, remote_bytes_, faults_.data()}, root, streams);
    } catch (...) {
      std::fill(faults_.begin(), faults_.end(), FaultRecord{});
      throw;
    }
    check_collectives();
    check_faults();
  }
  /// What each worker has for itself, by replica.
  struct alignas(64) State {
    std::vector<std::byte*> arguments;  // of all calls on the way to the running body
    std::vector<std::byte*> streams;  // next elements
  };
  /// The replicas that run a body.
  struct Replicas {
    explicit Replicas(int all) : count(all) {
      for (int i = 0; i < all; ++i) numbers[i] = static_cast<std::uint8_t>(i);
    }
    std::uint8_t numbers[Ir::max_replicas]{};
    int count = 0;
  };

  std::byte** streams_of(State& state, int replica) const {
    return state.streams.data() + static_cast<std::size_t>(replica) * program_.stream_bytes.size();
  }

  /// Throws for a collective that some replicas did not reach. Faults of the run are forgotten.
  void check_collectives() {
    if (!std::exchange(missed_collective_, false)) return;
    std::fill(faults_.begin(), faults_.end(), FaultRecord{});
    throw std::runtime_error(
        "replicas took different branches of a conditional, in one of which is a collective: all replicas expected in it");
  }
  void check_faults() { throw_faults(faults_, program_.fault_sites, program_.characters); }
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
    if (recorder_) recorder_->begin_run(static_cast<int>(root_), active_);
    try {
      workers_.run([](void* self, int worker) { static_cast<Executor*>(self)->run_main(worker); }, this, active_);
      if (recorder_) recorder_->end_run(false, logger_);
    } catch (...) {
      if (recorder_) recorder_->end_run(true, logger_);
      for_each_barrier([](Barrier& barrier) { barrier.mend(); });
      std::fill(faults_.begin(), faults_.end(), FaultRecord{});
      missed_collective_ = false;
      throw;
    }
  }
  /// An exception ends the run: the other workers leave where they would meet this one.
  void run_main(int worker) {
    const RecordedStay stay(recorder_.get(), worker);
    const ArithmeticMode mode;
    const detail::ReplicaNames names{};
    State& state = states_[static_cast<std::size_t>(worker)];
    try {
      run_body(program_.bodies[static_cast<std::size_t>(root_)],
               {frame_.data(), nullptr, state.arguments.data(), worker, state, all_});
    } catch (const Barrier::Broken&) {  // the worker whose exception it was has thrown it
    } catch (...) {
      for_each_barrier([](Barrier& barrier) { barrier.break_up(); });
      throw;
    }
  }

  /// A body that a worker runs. Pointers are the first replica's: frames are frame_bytes_ apart, lists of arguments deepest_.
  struct Running {
    std::byte* frame;
    std::byte* const* arguments;  ///< the body's own
    std::byte** free_arguments;  ///< where those of its calls are written
    int worker;
    State& state;
    const Replicas& replicas;
  };
  std::byte* address(const Location& location, const Running& running, int replica) const {
    switch (location.base) {
      case Base::frame: return running.frame + replica * frame_bytes_ + location.offset;
      case Base::argument: return running.arguments[replica * deepest_ + location.index] + location.offset;
      case Base::variable: return variables(replica) + location.offset;
      case Base::constant: return constants_.data() + location.offset;
      case Base::remote: return remote(replica) + location.offset;
      case Base::position: return const_cast<std::byte*>(&position_origin) + location.offset;
      case Base::stream: break;
    }
    return streams_of(running.state, replica)[location.index] + location.offset;
  }
  void run_body(const Body& body, const Running& running) {
    for (const Step& step :
         program_.steps.subspan(static_cast<std::size_t>(body.first_step), static_cast<std::size_t>(body.step_count))) {
      if (held_.transport) [[unlikely]]
        run_transport(step, running);
      switch (step.kind) {
        case StepKind::compute: run_compute(step, running); break;
        case StepKind::collective: run_collective(step, running); break;
        case StepKind::conditional: run_conditional(step, running); break;
        case StepKind::call:
        case StepKind::loop:
          if (step.ipu >= 0 && !enters(step, running)) break;
          run_calls(step, step.body, program_.locations.data() + step.first_location, step.arguments, running);
          break;
        case StepKind::load_code: break;
      }
    }
  }
  /// What the transport to other processes does before a step. There is one IPU, or one worker.
  void run_transport(const Step& step, const Running& running) {
    if (running.replicas.count < program_.replicas) return;  // in a branch that some take, where collectives are missed
    if (!held_.transport->has_work_before(step)) {
      if (running.worker == 0) held_.transport->progress();
      return;
    }
    meet(barrier_, active_, step, running);  // all have written what starts to move
    if (running.worker == 0) {
      std::byte* frames[Ir::max_replicas];
      for (int replica = 0; replica < program_.replicas; ++replica) frames[replica] = running.frame + replica * frame_bytes_;
      held_.transport->work_before(step, frames);
    }
    meet(barrier_, active_, step, running);
  }
  Crew crew_of(const Step& step) const { return internal::crew_of(step.ipu, program_.ipus, active_); }
  /// Waits for so many workers before a step.
  [[gnu::noinline]] void meet(Barrier& barrier, int workers, const Step& step, const Running& running) {
    if (workers > 1)
      recorded(recorder_.get(), running.worker, Recording::Kind::barrier, step, 0, [&] { barrier.arrive_and_wait(workers); });
  }
  void wait_before(const Step& step, const Crew& crew, const Running& running) {
    if (!step.barrier_before) return;
    if (step.joins_ipus) meet(barrier_, active_, step, running);
    else if (crew.has(running.worker)) meet(ipu_barriers_[static_cast<std::size_t>(step.ipu)], crew.count, step, running);
  }
  /// Whether the worker takes part in the call of a body on one IPU.
  bool enters(const Step& step, const Running& running) {
    if (step.joins_ipus) meet(barrier_, active_, step, running);
    return crew_of(step).has(running.worker);
  }
  void for_each_barrier(auto f) {
    f(barrier_);
    for (int ipu = 0; ipu < program_.ipus; ++ipu) f(ipu_barriers_[static_cast<std::size_t>(ipu)]);
  }
  /// Workers of the step's IPU share the vertices of all replicas.
  void run_compute(const Step& step, const Running& running) {
    const Crew crew = crew_of(step);
    wait_before(step, crew, running);
    const Location* const locations = program_.locations.data() + step.first_location;
    const std::int64_t vertices = crew.has(running.worker) ? step.vertices * running.replicas.count : 0;
    const int number = running.worker - crew.first;
    const std::int64_t end = vertices * (number + 1) / crew.count;
    std::byte* operands[max_locations + 1];
    if (step.first_fault_site >= 0)
      operands[step.location_count] = reinterpret_cast<std::byte*>(faults_.data() + step.first_fault_site);
    for (std::int64_t begin = vertices * number / crew.count; begin < end;) {
      const int replica = running.replicas.numbers[begin / step.vertices];
      const std::int64_t first = begin % step.vertices, last = std::min(step.vertices, first + end - begin);
      if (held_.names_replicas) [[unlikely]]
        detail::printing_replica = held_.first + replica;
      for (int i = 0; i < step.location_count; ++i) operands[i] = address(locations[i], running, replica);
      recorded(recorder_.get(), running.worker, Recording::Kind::compute, step, last - first,
               [&] { program_.functions[static_cast<std::size_t>(step.compute_set)](operands, first, last); });
      begin += last - first;
    }
    if (step.stream < 0) return;
    for (int i = 0; i < running.replicas.count; ++i)
      streams_of(running.state,
                 running.replicas.numbers[i])[step.stream] += program_.replicas *
                                                              program_.stream_bytes[static_cast<std::size_t>(step.stream)];
  }
  /// The operands are those of all replicas: inputs, then outputs.
  void run_collective(const Step& step, const Running& running) {
    const Crew crew = crew_of(step);
    wait_before(step, crew, running);
    if (!crew.has(running.worker)) return;
    if (running.replicas.count < program_.replicas) {
      if (running.worker == crew.first) missed_collective_ = true;
      return;
    }
    const Location& input = program_.locations[static_cast<std::size_t>(step.first_location)];
    const Location& output = program_.locations[static_cast<std::size_t>(step.first_location + step.location_count - 1)];
    std::byte* operands[2 * Ir::max_replicas];
    for (int replica = 0; replica < program_.replicas; ++replica) {
      operands[replica] = address(input, running, replica);
      operands[program_.replicas + replica] = address(output, running, replica);
    }
    DistributedCollective work{operands, 0, step.items};
    if (held_.transport) [[unlikely]] {  // then there is one IPU, or one worker
      meet(barrier_, crew.count, step, running);  // what the last exchange brought is no longer read
      if (running.worker == crew.first) distributed_ = held_.transport->communicate(step, operands);
      meet(barrier_, crew.count, step, running);
      work = distributed_;
    }
    const std::int64_t items = work.last - work.first, number = running.worker - crew.first;
    const std::int64_t first = items * number / crew.count, last = items * (number + 1) / crew.count;
    if (first == last) return;
    recorded(recorder_.get(), running.worker, Recording::Kind::collective, step, last - first, [&] {
      program_.functions[static_cast<std::size_t>(step.compute_set)](work.operands, work.first + first, work.first + last);
    });
  }
  void run_conditional(const Step& step, const Running& running) {
    const Crew crew = crew_of(step);
    wait_before(step, crew, running);
    if (!crew.has(running.worker)) return;
    const Location* const condition = program_.locations.data() + step.first_location;
    Replicas of_branch[2]{Replicas(0), Replicas(0)};
    for (int i = 0; i < running.replicas.count; ++i) {
      const std::uint8_t replica = running.replicas.numbers[i];
      Replicas& takers = of_branch[*reinterpret_cast<const bool*>(address(*condition, running, replica)) ? 1 : 0];
      takers.numbers[takers.count++] = replica;
    }
    const auto run_branch = [&](const Replicas& takers, BodyId target, const Location* locations, int count) {
      if (takers.count == 0) return;
      run_calls(step, target, locations, count,
                {running.frame, running.arguments, running.free_arguments, running.worker, running.state, takers});
    };
    run_branch(of_branch[1], step.body, condition + 1, step.arguments);
    run_branch(of_branch[0], step.else_body, condition + 1 + step.arguments, step.location_count - 1 - step.arguments);
  }
  /// Calls a body once, or as often as a loop does.
  void run_calls(const Step& step, BodyId target, const Location* locations, int count, const Running& running) {
    for (std::int64_t iteration = 0; iteration < step.count; ++iteration) {
      const Location* const own = iteration == 0 ? locations : locations + (2 - iteration % 2) * count;
      for (int r = 0; r < running.replicas.count; ++r) {
        const int replica = running.replicas.numbers[r];
        std::byte** const arguments = running.free_arguments + replica * deepest_;
        for (int i = 0; i < count; ++i) arguments[i] = address(own[i], running, replica);
        if (step.kind == StepKind::loop)
          for (int i = 0; i < count; ++i)
            arguments[i] += iteration * program_.strides[static_cast<std::size_t>(step.first_stride + i)];
      }
      run_body(program_.bodies[static_cast<std::size_t>(target)],
               {running.frame + step.frame_offset, running.free_arguments, running.free_arguments + count, running.worker,
                running.state, running.replicas});
    }
  }

  HeldReplicas held_;
  std::vector<Location> locations_;  // of the program for the held replicas; empty: those of the plan
  ProgramView program_;
  DistributedCollective distributed_;  // of the collective that runs
  std::unique_ptr<StrictRunner> strict_;  // null: the fast mode
  std::int64_t variable_bytes_, remote_bytes_, frame_bytes_;  // of a replica
  AlignedMemory variables_, constants_, remote_;
  std::vector<FaultRecord> faults_;  // by fault site
  AlignedMemory frame_;
  std::int64_t deepest_ = 1;  // of arguments, on the way to any body
  Replicas all_;
  BodyId root_ = BodyId::main;  // that runs
  bool missed_collective_ = false;
  Logger logger_;
  ThreadChoice choice_;
  int active_ = 1;
  std::unique_ptr<Recorder> recorder_;  // null: nothing is recorded
  Barrier barrier_;  // of all workers
  std::unique_ptr<Barrier[]> ipu_barriers_;  // of the workers of each IPU
  std::vector<State> states_;
  Workers workers_;  // last: its threads end before what they use
};

}  // namespace tilewright::internal
