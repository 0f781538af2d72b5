#pragma once
#include "tilewright/core/span.hpp"
#include "tilewright/execute/executor.hpp"
#include "tilewright/session/arrays/given_arrays.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/session/log_session.hpp"
#include "tilewright/session/session_core.hpp"
#include "tilewright/session/variable_copies.hpp"

namespace tilewright::detail {

/// Members of a session. Their order is that of construction: copies refer to the arrays and the executor.
template <class Build>
struct SessionCore<Build>::Parts {
  [[gnu::cold]] Parts(const SessionOptions& given, const internal::ProgramView& view, const internal::HeldReplicas& held)
      : options(given),
        program(view),
        arrays(program, given.arrays),
        executor(arrays.with_rows(program), given.threads, given.strict, held, given.recorded_events),
        copies(executor, program, given.seed, given.attach, arrays) {
    options.arrays.clear();  // those of the host may end after the constructor
    fill_constants(program, executor.constants());
  }

  SessionOptions options;
  internal::ProgramView program;
  GivenArrays arrays;
  internal::Executor executor;
  VariableCopies copies;
};

template <class Build>
[[gnu::cold, gnu::noinline]] SessionCore<Build>::SessionCore(const SessionOptions& options, const internal::ProgramView& program,
                                                             const internal::HeldReplicas& held)
    : parts_(new Parts(options, program, held)) {}
template <class Build>
[[gnu::noinline]] SessionCore<Build>::~SessionCore() = default;
template <class Build>
[[gnu::cold, gnu::noinline]] void SessionCore<Build>::begin(std::string_view device, bool is_optimised) {
  const SessionOptions& options = parts_->options;
  if (options.attach) parts_->copies.run_after_upload();
  internal::log_session(parts_->executor.logger(), parts_->program, device, options.threads, parts_->executor.most_threads(),
                        is_optimised);
}

template <class Build>
const SessionOptions& SessionCore<Build>::options() const {
  return parts_->options;
}
template <class Build>
const Logger& SessionCore<Build>::logger() const {
  return parts_->executor.logger();
}
template <class Build>
int SessionCore<Build>::threads() const {
  return parts_->executor.threads();
}
template <class Build>
const internal::HeldReplicas& SessionCore<Build>::held() const {
  return parts_->executor.held();
}
template <class Build>
bool SessionCore<Build>::is_strict() const {
  return parts_->executor.strict() != nullptr;
}
template <class Build>
[[gnu::cold]] Recording SessionCore<Build>::recording() const {
  const internal::Recorder* const recorder = parts_->executor.recorder();
  return recorder ? recorder->recording() : Recording();
}
template <class Build>
void SessionCore<Build>::clear_recording() {
  if (internal::Recorder* const recorder = parts_->executor.recorder()) recorder->clear();
}

template <class Build>
std::byte* SessionCore<Build>::variables() const {
  return parts_->executor.variables();
}
template <class Build>
std::byte* SessionCore<Build>::remote() const {
  return parts_->executor.remote();
}
template <class Build>
std::byte* SessionCore<Build>::constants() const {
  return parts_->executor.constants();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::run(Span<const internal::OperandAddress> streams) {
  parts_->copies.mark_stale();
  parts_->executor.run(streams);
}

template <class Build>
bool SessionCore<Build>::is_attached() const {
  return parts_->copies.is_attached();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::attach() {
  parts_->copies.attach();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::detach() {
  parts_->copies.detach();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::copy_to_device() {
  parts_->copies.copy_to_device();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::copy_to_host() {
  parts_->copies.copy_to_host();
}
template <class Build>
bool SessionCore<Build>::in_sync() const {
  return parts_->copies.in_sync();
}
template <class Build>
bool SessionCore<Build>::in_sync(std::size_t v) const {
  return parts_->copies.in_sync(v);
}
template <class Build>
Transfers SessionCore<Build>::transfers() const {
  return parts_->copies.transfers();
}
template <class Build>
void SessionCore<Build>::mark_stale() {
  parts_->copies.mark_stale();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::refresh() {
  parts_->copies.refresh();
}
template <class Build>
[[gnu::noinline]] void SessionCore<Build>::write(Span<const std::byte* const> values) {
  parts_->copies.write(values);
}
template <class Build>
std::byte* SessionCore<Build>::device_data(std::size_t v) const {
  return parts_->copies.device_data(v);
}
template <class Build>
std::byte* SessionCore<Build>::host_data(std::size_t v) const {
  return parts_->copies.host_data(v);
}

}  // namespace tilewright::detail
