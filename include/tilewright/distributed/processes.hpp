#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tilewright/core/platform/platform.hpp"
#include "tilewright/core/text/parse_number.hpp"
#include "tilewright/distributed/mpi.hpp"
#include "tilewright/distributed/platform.hpp"

/// Programs whose replicas are in several processes, which MPI starts and connects.
namespace tilewright::distributed {

/// The processes of this program: those that mpirun started, or one. MPI starts at the first call of world(), and ends with the
/// program. If a process fails, all processes end.
class Processes {
 public:
  static Processes& world() {
    static Processes processes;
    return processes;
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }
  /// Returns whether this is the process that speaks for all.
  bool is_first() const { return rank_ == 0; }
  std::string_view host() const { return host_; }
  /// Return the number of processes on this process's host, and the number of processor cores available to it.
  int count_on_host() const { return count_on_host_; }
  int cores() const { return cores_; }
  /// Returns how long a process waits for others before all end: TILEWRIGHT_WAIT_SECONDS, or 60. For another text than a number
  /// of seconds there, world() throws std::runtime_error.
  double wait_seconds() const { return wait_seconds_; }

  /// Sets the number of the current run of this process's session, for errors; 0: before the first.
  void set_step(std::int64_t step) { std::atomic_ref(*step_).store(step, std::memory_order_relaxed); }

  /// Waits briefly before an error that other processes detect, too, so that the error of the lowest rank ends all with one line.
  /// Waits longer if another process has ended, which may report the cause.
  void let_others_speak(bool has_ended = false) const {
    std::this_thread::sleep_for(std::chrono::milliseconds((has_ended ? 1000 : 0) + 200 * (std::min)(rank_, 15)));
  }
  /// Ends all processes with status 1 and one line: "tilewright: rank 1 of 2 on <host>, step 3: <cause>". Of processes that share
  /// the directory TILEWRIGHT_STEPS, only the first caller writes it.
  [[noreturn]] void end_all(std::string_view cause) const {
    std::string line = "tilewright: rank " + std::to_string(rank_) + " of " + std::to_string(count_) + " on " + host_ +
                       ", step " + std::to_string(std::atomic_ref(*step_).load(std::memory_order_relaxed)) + ": ";
    for (const char c : cause) line += c == '\n' ? ' ' : c;
    line += '\n';
    std::fflush(stdout);
    if (is_forked()) {
      std::fwrite(line.data(), 1, line.size(), stderr);
      std::_Exit(1);  // the others go on
    }
    if (is_first_to_end_all()) {
      std::fwrite(line.data(), 1, line.size(), stderr);
      std::fflush(stderr);
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(2));  // in which that process writes its line and ends all
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
  }
  /// Returns whether this is a child process that was forked, which takes no part in MPI.
  bool is_forked() const { return internal::fork_count() != forks_; }
  /// Call it when an exception ends a session. If the exception does not end the program, the end of this process ends all.
  void note_exception() { has_exception_ = true; }
  /// Registers f, which is called when the program ends, before MPI does.
  void at_end(std::function<void()> f) { at_end_.push_back(std::move(f)); }

 private:
  Processes() {
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    int level = MPI_THREAD_SINGLE;
    if (is_initialised == 0)
      internal::check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    else MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
      throw std::runtime_error("MPI: thread level " + std::to_string(level) + ": " + std::to_string(MPI_THREAD_SERIALIZED) +
                               ", MPI_THREAD_SERIALIZED, expected");
    ends_mpi_ = is_initialised == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm on_host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &on_host);
    MPI_Comm_size(on_host, &count_on_host_);
    MPI_Comm_free(&on_host);
    host_ = internal::host_name();
    cores_ = internal::cores_of_host();
    if (const char* const seconds = std::getenv("TILEWRIGHT_WAIT_SECONDS"); seconds && *seconds) {
      wait_seconds_ = tilewright::detail::parse_number<double>(seconds).value_or(-1);
      if (!(wait_seconds_ >= 0))
        throw std::runtime_error("TILEWRIGHT_WAIT_SECONDS: '" + std::string(seconds) + "': a number of seconds expected");
    }
    if (const char* const directory = std::getenv("TILEWRIGHT_STEPS")) {
      steps_directory_ = directory;
      note_steps();
    }
    if (count_ > 1) std::set_terminate([] { world().end_by_exception(); });
  }
  ~Processes() {
    if (!ends_mpi_ || is_forked()) return;
    if (has_exception_ && count_ > 1) end_all("an exception ended a session: the same steps on all processes expected");
    for (const auto& f : at_end_) f();
    MPI_Finalize();
  }
  /// Keeps the number of the run in 8 bytes of the file rank-<rank>, followed by the host's name. The parent of this process can
  /// read both there even after SIGKILL. If the file cannot be made, the number stays in memory.
  void note_steps() {
    std::byte* const mapped = internal::map_new_file(steps_directory_ + "/rank-" + std::to_string(rank_),
                                                     sizeof own_step_ + host_.size());
    if (!mapped) return;
    step_ = reinterpret_cast<std::int64_t*>(mapped);
    std::memcpy(step_ + 1, host_.data(), host_.size());
  }
  /// Returns whether no other process that shares the directory has called this before. True if there is no directory.
  bool is_first_to_end_all() const { return steps_directory_.empty() || internal::makes_file(steps_directory_ + "/end"); }
  [[noreturn]] void end_by_exception() const {
    try {
      if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      end_all(error.what());
    } catch (...) {
      end_all("an exception that is no std::exception");
    }
    end_all("std::terminate");
  }

  int rank_ = 0, count_ = 1, count_on_host_ = 1, cores_ = 1;
  std::string host_, steps_directory_;
  double wait_seconds_ = 60;
  bool ends_mpi_ = false, has_exception_ = false;
  unsigned forks_ = internal::fork_count();  // when MPI started
  std::int64_t own_step_ = 0;
  std::int64_t* step_ = &own_step_;  // used by atomic_ref only
  std::vector<std::function<void()>> at_end_;
};

/// Calls f. If f throws and there are several processes, ends all of them, with one line that names this one.
void end_all_on_exception(auto&& f) {
  Processes& processes = Processes::world();
  try {
    f();
  } catch (const std::exception& error) {
    if (processes.count() > 1) processes.end_all(error.what());
    throw;
  }
}

}  // namespace tilewright::distributed
