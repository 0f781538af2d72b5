#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/core/log/logger.hpp"
#include "tilewright/core/log/print_stream.hpp"
#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/platform/cores.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/arithmetic_mode.hpp"
#include "tilewright/execute/fault_report.hpp"
#include "tilewright/execute/held_replicas.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/execute/recorder.hpp"
#include "tilewright/execute/run_memory.hpp"
#include "tilewright/execute/strict_mode.hpp"
#include "tilewright/execute/thread_choice.hpp"
#include "tilewright/execute/threads/crew.hpp"
#include "tilewright/execute/threads/shares.hpp"
#include "tilewright/execute/threads/workers.hpp"
#include "tilewright/lower/host/useful_threads.hpp"

namespace tilewright::internal {

/// Runs a program. Its workers go through the steps of a root body together. Each computes its share of the vertices of every
/// step, and then takes over vertices that others have not begun. They wait at barriers before steps that need other workers'
/// results. Results do not depend on the number of workers, and a run allocates nothing. Denormal numbers count as 0. The
/// constructor reads the log's settings from the environment.
///
/// Replicas have separate memory, except for constants, and go through the program in lockstep: a step runs for all of them
/// before the next one. The branches of a conditional run in sequence, each for the replicas that take it. An executor that holds
/// a part of the program's replicas numbers them from 0.
class Executor {
 public:
  /// `strict`: run on tiles with separate memory. Throws std::invalid_argument if it is set and the target is not a simulated
  /// IPU. `recorded_events`: capacity for each worker.
  [[gnu::cold]] Executor(const ProgramView& program, int threads, StrictMode strict = {}, const HeldReplicas& held = {},
                         std::int64_t recorded_events = 0)
      : held_(held.of(program.replicas)),
        locations_(held_locations(program.locations, program.stream_bytes, program.replicas, held_.count)),
        program_(program_of(program)),
        strict_(make_strict(program_, strict)),
        memory_(program_),
        faults_(program.fault_sites.size()),
        all_(program_.replicas),
        logger_(Logger::from_environment(held.rank)),
        choice_(strict_ ? 1 : threads, usable_cores(), logger_.of(LogModule::threads)),
        ipu_barriers_(new Barrier[static_cast<std::size_t>(program.ipus)]()),
        workers_(choice_.limit(), static_cast<std::size_t>(program.stack_bytes)) {
    if (threads == 0) choice_.begin_with(useful_threads(program_, choice_.limit()));
    recorder_ = Recorder::of(recorded_events, workers_.count(), program_.steps.data());
    if (strict_ && recorder_) throw std::invalid_argument("recorded_events: strict mode records nothing: 0 expected");
    states_ = memory_.make_states(workers_.count());  // after the threads exist: their number sizes it
    shares_ = Shares(workers_.count());
  }

  std::byte* variables(int replica = 0) const { return memory_.variables(replica); }
  std::byte* remote(int replica = 0) const { return memory_.remote(replica); }
  std::byte* constants() const { return memory_.constants(); }
  int threads() const { return choice_.threads(); }
  int most_threads() const { return choice_.limit(); }
  const Logger& logger() const { return logger_; }
  int replicas() const { return program_.replicas; }
  const HeldReplicas& held() const { return held_; }
  StrictRunner* strict() const { return strict_.get(); }  ///< null: the program runs in the fast mode
  Recorder* recorder() const { return recorder_.get(); }  ///< null: nothing is recorded

  /// For tests: workers take parts of all shares at random, in an order that depends on the number and on their speed; 0: off.
  void shuffle(std::uint32_t seed) { shuffle_ = seed; }

  /// Runs the program once. Throws FaultError if an op met values with which it cannot compute, std::runtime_error if not all
  /// replicas reached a collective, std::logic_error in a child process without the threads, and exceptions of ops. After an
  /// exception, later steps have not run, or not on all threads. `streams`: for each stream the host's memory for all elements
  /// of the run, [transfers, replicas] of them.
  void run(Span<const OperandAddress> streams) {
    if (strict_) [[unlikely]]
      return run_strictly(BodyId::main, streams);
    root_ = BodyId::main;
    for (auto& state : states_)
      for (int replica = 0; replica < program_.replicas; ++replica)
        for (std::size_t i = 0; i < streams.size(); ++i)
          memory_.streams_of(state, replica)[i] = streams[i].for_kernel() + replica * program_.stream_bytes[i];
    if (choice_.measuring() || logger_.shows(LogModule::runs, LogLevel::trace)) [[unlikely]] {
      run_timed();
    } else {
      choice_.counted();
      run_workers();
    }
    check_collectives();
    check_faults();
  }
  /// Runs another body that no step calls, once, as `run` does. It moves no streams, and its time does not count for the number
  /// of threads.
  void run_root(BodyId body) {
    if (strict_) [[unlikely]]
      return run_strictly(body, {});
    root_ = body;
    run_workers();
    check_collectives();
    check_faults();
  }

 private:
  [[gnu::cold]] ProgramView program_of(ProgramView program) const {
    program.replicas = held_.count;
    if (!locations_.empty()) program.locations = locations_;
    return program;
  }
  [[gnu::cold]] static Owned<StrictRunner> make_strict(const ProgramView& program, StrictMode strict) {
    if (!strict) return nullptr;
    if (program.tile_table.empty())
      throw std::invalid_argument("strict: the target has no tiles with memory of their own: a simulated IPU expected");
    return strict.factory()(program);
  }
  [[gnu::cold]] void run_strictly(BodyId root, Span<const OperandAddress> streams) {
    const ArithmeticMode mode;
    try {
      missed_collective_ = !strict_->run(memory_.host(faults_.data()), root, streams);
    } catch (...) {
      std::fill(faults_.begin(), faults_.end(), FaultRecord{});
      throw;
    }
    check_collectives();
    check_faults();
  }
  /// Throws for a collective that some replicas did not reach, and discards the faults of the run.
  void check_collectives() {
    if (!std::exchange(missed_collective_, false)) return;
    std::fill(faults_.begin(), faults_.end(), FaultRecord{});
    throw std::runtime_error(
        "replicas took different branches of a conditional, in one of which is a collective: all replicas expected in it");
  }
  void check_faults() { throw_faults(faults_, program_.fault_sites, program_.characters); }
  [[gnu::cold]] void run_timed() {
    const auto begin = std::chrono::steady_clock::now();
    run_workers();
    const auto end = std::chrono::steady_clock::now();
    logger_.of(LogModule::runs)
        .write(LogLevel::trace, "run of ", (end - begin) / std::chrono::nanoseconds(1), " ns, threads: ", active_);
    choice_.measuring() ? choice_.measured(begin, end) : choice_.counted();
  }
  void run_workers() {
    if (std::exchange(active_, choice_.threads()) != active_) shares_.reset();
    if (recorder_) recorder_->begin_run(static_cast<int>(root_), active_);
    try {
      workers_.run([](void* self, int worker) { static_cast<Executor*>(self)->run_main(worker); }, this, active_);
      shares_.finish(states_[0].ticket);
      if (recorder_) recorder_->end_run(false, logger_);
    } catch (...) {
      shares_.reset();
      if (recorder_) recorder_->end_run(true, logger_);
      for_each_barrier([](Barrier& barrier) { barrier.mend(); });
      std::fill(faults_.begin(), faults_.end(), FaultRecord{});
      missed_collective_ = false;
      throw;
    }
  }
  /// Runs the main body. An exception ends the run: the other workers leave at the next barrier with this one.
  void run_main(int worker) {
    const RecordedStay stay(recorder_.get(), worker);
    const ArithmeticMode mode;
    const detail::ReplicaNames names{};
    WorkerState& state = states_[static_cast<std::size_t>(worker)];
    state.ticket = shares_.ticket();
    try {
      run_body(program_.bodies[static_cast<std::size_t>(root_)], memory_.start(worker, state, all_));
    } catch (const Barrier::Broken&) {  // the worker whose exception it was has thrown it
    } catch (...) {
      for_each_barrier([](Barrier& barrier) { barrier.break_up(); });
      throw;
    }
  }

  /// Steps since the last barrier whose parts workers take over from each other, each with its ticket.
  struct Shared {
    const Step* steps[Shares::places];
    std::uint32_t tickets[Shares::places];
    int count = 0;
  };
  void run_body(const Body& body, const Running& running) {
    Shared shared;
    for (const Step& step :
         program_.steps.subspan(static_cast<std::size_t>(body.first_step), static_cast<std::size_t>(body.step_count))) {
      if (step.kind != StepKind::compute || step.barrier_before || step.stream >= 0 || shared.count == Shares::places)
        help(shared, running);
      if (held_.transport) [[unlikely]]
        run_transport(step, running);
      switch (step.kind) {
        case StepKind::compute: run_compute(step, running, shared); break;
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
    help(shared, running);
  }
  /// Runs the transport's work before a step. There is one IPU, or one worker.
  [[gnu::cold]] void run_transport(const Step& step, const Running& running) {
    if (running.replicas.count < program_.replicas) return;  // in a branch that some take, where collectives are missed
    if (!held_.transport->has_work_before(step)) {
      if (running.worker == 0) held_.transport->progress();
      return;
    }
    meet(barrier_, active_, step, running);  // all have written what starts to move
    if (running.worker == 0) {
      std::byte* frames[Ir::max_replicas];
      for (int replica = 0; replica < program_.replicas; ++replica) frames[replica] = memory_.frame_of(running, replica);
      held_.transport->work_before(step, frames);
    }
    meet(barrier_, active_, step, running);
  }
  Crew crew_of(const Step& step) const { return internal::crew_of(step.ipu, program_.ipus, active_); }
  /// Waits before a step until `workers` workers have arrived.
  [[gnu::noinline]] void meet(Barrier& barrier, int workers, const Step& step, const Running& running) {
    if (workers > 1)
      recorded(recorder_.get(), running.worker, Recording::Kind::barrier, step, 0, [&] { barrier.arrive_and_wait(workers); });
  }
  void wait_before(const Step& step, const Crew& crew, const Running& running) {
    if (!step.barrier_before) return;
    if (step.joins_ipus) meet(barrier_, active_, step, running);
    else if (crew.has(running.worker)) meet(ipu_barriers_[static_cast<std::size_t>(step.ipu)], crew.count, step, running);
  }
  /// Returns whether the worker takes part in the call of a body on one IPU.
  bool enters(const Step& step, const Running& running) {
    if (step.joins_ipus) meet(barrier_, active_, step, running);
    return crew_of(step).has(running.worker);
  }
  void for_each_barrier(auto f) {
    f(barrier_);
    for (int ipu = 0; ipu < program_.ipus; ++ipu) f(ipu_barriers_[static_cast<std::size_t>(ipu)]);
  }
  /// Computes a step: workers of the step's IPU share the vertices of all replicas. If there are more vertices than workers, an
  /// idle worker helps others.
  void run_compute(const Step& step, const Running& running, Shared& shared) {
    const Crew crew = crew_of(step);
    wait_before(step, crew, running);
    if (is_shared(step, running)) {
      shared.steps[shared.count] = &step;
      shared.tickets[shared.count++] = ++running.state.ticket;
      if (shuffle_ == 0) take_all(step, running, running.worker, running.state.ticket, Shares::Side::first);
    } else if (crew.has(running.worker)) {
      run_parts(step, running, share_of(step, running, running.worker - crew.first, crew.count));
    }
    if (step.stream < 0) return;
    for (int i = 0; i < running.replicas.count; ++i)
      memory_.streams_of(running.state, running.replicas.numbers[i])[step.stream] +=
          program_.replicas * program_.stream_bytes[static_cast<std::size_t>(step.stream)];
  }
  /// Returns a worker's share of the vertices of all replicas, or of their pieces: consecutive ones, equal in each run.
  static Shares::Range share_of(const Step& step, const Running& running, std::int64_t worker, std::int64_t workers) {
    const std::int64_t parts = step.vertices * step.pieces * running.replicas.count;
    return {parts * worker / workers, parts * (worker + 1) / workers};
  }
  /// Returns whether workers take over parts of a step from each other. They do not for steps that move a stream, steps of a
  /// single vertex, which may be a chain, and programs on several IPUs.
  bool is_shared(const Step& step, const Running& running) const {
    const std::int64_t parts = step.vertices * step.pieces * running.replicas.count, least = shuffle_ ? 1 : active_ + 1;
    return (active_ > 1 || shuffle_) && parts >= least && step.vertices > 1 && step.stream < 0 && program_.ipus == 1 &&
           parts / active_ < Shares::most_parts;
  }
  /// Runs the rest of a worker's share of a step.
  void take_all(const Step& step, const Running& running, int worker, std::uint32_t ticket, Shares::Side side) {
    const Shares::Range share = share_of(step, running, worker, active_);
    while (const Shares::Range part = shares_.take(worker, ticket, share.size(), side, Shares::half))
      run_parts(step, running, share.part(part));
  }
  /// Runs the rest of all shares of steps since the last barrier, those of the next workers first.
  void help(Shared& shared, const Running& running) {
    if (shuffle_ > 0 && shared.count > 0) [[unlikely]] {
      const auto share = [&](int i, int worker) { return share_of(*shared.steps[i], running, worker, active_); };
      shares_.take_at_random(
          shared.tickets, shared.count, active_, shuffle_ + 64 * shared.tickets[0] + static_cast<std::uint32_t>(running.worker),
          [&](int i, int worker) { return share(i, worker).size(); },
          [&](int i, int worker, Shares::Range part) { run_parts(*shared.steps[i], running, share(i, worker).part(part)); });
    }
    for (int i = 0; i < shared.count; ++i)
      for (int distance = 1; distance < active_; ++distance)
        take_all(*shared.steps[i], running, (running.worker + distance) % active_, shared.tickets[i], Shares::Side::last);
    shared.count = 0;
  }
  /// Runs some vertices of all replicas, or of their pieces. A worker that is alone runs all in order, and adds up parts of sums.
  void run_parts(const Step& step, const Running& running, Shares::Range parts) {
    const Location* const locations = program_.locations.data() + step.first_location;
    std::byte* operands[max_locations + 1];
    if (step.first_fault_site >= 0)
      operands[step.location_count] = reinterpret_cast<std::byte*>(faults_.data() + step.first_fault_site);
    const std::int64_t of_replica = step.vertices * step.pieces;
    while (parts.first < parts.last) {
      const int replica = running.replicas.numbers[parts.first / of_replica];
      const std::int64_t first = parts.first % of_replica, last = (std::min)(of_replica, first + parts.last - parts.first);
      if (held_.names_replicas) [[unlikely]]
        detail::printing_replica = held_.first + replica;
      for (int i = 0; i < step.location_count; ++i) operands[i] = memory_.address(locations[i], running, replica);
      recorded(recorder_.get(), running.worker, Recording::Kind::compute, step, last - first,
               [&] { program_.functions[std::size_t(step.compute_set)](operands, first, last, active_ == 1 && shuffle_ == 0); });
      parts.first += last - first;
    }
  }
  /// Runs a collective. The operands are those of all replicas: inputs, then outputs.
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
      operands[replica] = memory_.address(input, running, replica);
      operands[program_.replicas + replica] = memory_.address(output, running, replica);
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
      program_.functions[static_cast<std::size_t>(step.compute_set)](work.operands, work.first + first, work.first + last, false);
    });
  }
  void run_conditional(const Step& step, const Running& running) {
    const Crew crew = crew_of(step);
    wait_before(step, crew, running);
    if (!crew.has(running.worker)) return;
    const Location* const condition = program_.locations.data() + step.first_location;
    ReplicaNumbers of_branch[2]{ReplicaNumbers(0), ReplicaNumbers(0)};
    for (int i = 0; i < running.replicas.count; ++i) {
      const std::uint8_t replica = running.replicas.numbers[i];
      ReplicaNumbers& takers = of_branch[*reinterpret_cast<const bool*>(memory_.address(*condition, running, replica)) ? 1 : 0];
      takers.numbers[takers.count++] = replica;
    }
    const auto run_branch = [&](const ReplicaNumbers& takers, BodyId target, const Location* locations, int count) {
      if (takers.count == 0) return;
      run_calls(step, target, locations, count,
                {running.frame, running.arguments, running.free_arguments, running.worker, running.state, takers});
    };
    run_branch(of_branch[1], step.body, condition + 1, step.arguments);
    run_branch(of_branch[0], step.else_body, condition + 1 + step.arguments, step.location_count - 1 - step.arguments);
  }
  /// Calls a body once, or once per iteration of a loop.
  void run_calls(const Step& step, BodyId target, const Location* locations, int count, const Running& running) {
    for (std::int64_t iteration = 0; iteration < step.count; ++iteration) {
      const Location* const own = iteration == 0 ? locations : locations + (2 - iteration % 2) * count;
      for (int r = 0; r < running.replicas.count; ++r) {
        const int replica = running.replicas.numbers[r];
        std::byte** const arguments = memory_.arguments_of(running.free_arguments, replica);
        for (int i = 0; i < count; ++i) arguments[i] = memory_.address(own[i], running, replica);
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
  List<Location> locations_;  // of the program for the held replicas; empty: those of the plan
  ProgramView program_;
  DistributedCollective distributed_;  // of the collective that runs
  Owned<StrictRunner> strict_;  // null: the fast mode
  RunMemory memory_;
  List<FaultRecord> faults_;  // by fault site
  ReplicaNumbers all_;
  BodyId root_ = BodyId::main;  // that runs
  bool missed_collective_ = false;
  Logger logger_;
  ThreadChoice choice_;
  int active_ = 1;
  Shares shares_;
  std::uint32_t shuffle_ = 0;
  Owned<Recorder> recorder_;  // null: nothing is recorded
  Barrier barrier_;  // of all workers
  Owned<Barrier[]> ipu_barriers_;  // of the workers of each IPU
  std::vector<WorkerState> states_;
  Workers workers_;  // last: its threads end before what they use
};

}  // namespace tilewright::internal
