#pragma once
#include <cstddef>
#include <string_view>

#include "tilewright/core/built_with.hpp"
#include "tilewright/core/log/logger.hpp"
#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/held_replicas.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/execute/recording.hpp"
#include "tilewright/session/session_options.hpp"
#include "tilewright/session/streams/transfers.hpp"

namespace tilewright::detail {

/// The part of a session that is the same in all programs: memory, threads and variables. It knows a program by its tables alone,
/// so its code is equal in all programs. `Build`: the options that this code is compiled with, as a part of the names of its
/// functions.
template <class Build>
class SessionCore {
 public:
  /// Throws what the constructor of a session throws.
  SessionCore(const SessionOptions& options, const internal::ProgramView& program, const internal::HeldReplicas& held);
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;
  ~SessionCore();
  /// Runs the ops that follow an upload, if the session is attached, and logs the session. `is_optimised`: whether the program
  /// is.
  void begin(std::string_view device, bool is_optimised);

  const SessionOptions& options() const;
  const Logger& logger() const;
  int threads() const;
  const internal::HeldReplicas& held() const;
  bool is_strict() const;
  /// Returns the recording of all runs, without names; empty if nothing is recorded.
  Recording recording() const;
  void clear_recording();

  // memory of the device, of the first replica
  std::byte* variables() const;
  std::byte* remote() const;
  std::byte* constants() const;
  /// Runs the program once, as Executor::run does. The host copy of variables becomes stale.
  void run(Span<const internal::OperandAddress> streams);

  // functions of VariableCopies
  bool is_attached() const;
  void attach();
  void detach();
  void copy_to_device();
  void copy_to_host();
  bool in_sync() const;
  bool in_sync(std::size_t v) const;
  Transfers transfers() const;
  void mark_stale();
  void refresh();
  void write(Span<const std::byte* const> values);
  std::byte* device_data(std::size_t v) const;
  std::byte* host_data(std::size_t v) const;

 private:
  struct Parts;
  internal::Owned<Parts> parts_;
};

}  // namespace tilewright::detail
