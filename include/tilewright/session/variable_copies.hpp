#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/executor.hpp"
#include "tilewright/session/arrays/given_arrays.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/session/streams/transfers.hpp"

namespace tilewright {

/// The variables of a program, twice: the device's memory for computation, and a host copy for reads and writes. A run makes the
/// host copy stale; the next read fetches it. Its memory is allocated when it is first needed. Ops of the upload and download
/// contexts run after each upload and before each download, so the device can have other values than the host copy that is in
/// sync with it.
class VariableCopies {
 public:
  /// `arrays`: those that the session got. Host copies of variables in files are these files.
  [[gnu::cold]] VariableCopies(internal::Executor& device, const internal::ProgramView& program, std::uint64_t seed,
                               bool attached, const detail::GivenArrays& arrays)
      : device_(device), program_(program), arrays_(arrays), seed_(seed), attached_(attached) {
    host_offsets_.push_back(0);
    in_sync_at_.resize(count());
    for (std::size_t v = 0; v < count(); ++v)
      host_offsets_.push_back(host_offsets_.back() + (arrays_.mapped(v) ? 0 : internal::align(host_spec(program_, v).bytes())));
    if (arrays_.has_variables()) begin_with_arrays();
    else begin();
  }

  /// Runs the ops that follow an upload. Call it after the constructor, if the device is attached and has its constants.
  void run_after_upload() {
    if (has_upload_ops()) device_.run_root(program_.after_upload);
  }

  bool is_attached() const { return attached_; }
  /// Returns whether the host copy has the device's values. The values of a detached session are those of its host copy.
  bool in_sync() const { return !stale_; }
  /// Returns whether the host copy has the device's values of variable v: nothing can have changed them since they were written
  /// or fetched.
  bool in_sync(std::size_t v) const { return !stale_ || in_sync_at_[v] == changes_; }
  const Transfers& transfers() const { return transfers_; }
  /// Call it before the device's values change.
  void mark_stale() {
    stale_ = true;
    ++changes_;
  }

  /// Copies the values of the host copy to the device. A no-op if it is attached.
  void attach() {
    if (attached_) return;
    copy_to_device();
    attached_ = true;
  }
  /// Drops the device's values.
  void detach() {
    if (!attached_) return;
    make_host_copy();
    attached_ = stale_ = false;
  }

  void copy_to_device() {
    make_host_copy();
    for (std::size_t v = 0; v < count(); ++v) to_device(v);
    stale_ = false;
    ++transfers_.from_host;
    run_after_upload();
  }
  void copy_to_host() {
    if (!host_) make_room();
    if (program_.before_download != internal::BodyId::none) device_.run_root(program_.before_download);
    fetch();
    ++transfers_.to_host;
  }
  /// Updates the host copy, by one transfer if it is stale.
  void refresh() {
    if (stale_) copy_to_host();
    else make_host_copy();
  }
  /// Writes new values of variables to the host copy and, if the device is attached, by one transfer to the device. If the
  /// program has ops that run after an upload, these ops need the host's values of all variables. In this case, the call
  /// fetches a stale host copy first, and copies all variables. `values`: the contiguous elements of each variable, or null
  /// for a variable that keeps its values.
  void write(Span<const std::byte* const> values) {
    if (has_upload_ops()) refresh();
    make_host_copy();
    for (std::size_t v = 0; v < count(); ++v)
      if (values[v] != nullptr) arrays_.require_writable(v, "write_variable_data");
    for (std::size_t v = 0; v < count(); ++v) {
      if (values[v] == nullptr) continue;
      std::memcpy(host_data(v), values[v], bytes(v));
      if (attached_ && !has_upload_ops()) to_device(v);
      in_sync_at_[v] = changes_;
    }
    if (!attached_) return;
    if (has_upload_ops()) copy_to_device();
    else ++transfers_.from_host;
  }

  /// Returns the device's memory for variable v of a held replica.
  std::byte* device_data(std::size_t v, int replica = 0) const {
    const bool is_remote = program_.variables[v].base == internal::Base::remote;
    const int held = replica - device_.held().first;
    return (is_remote ? device_.remote(held) : device_.variables(held)) + program_.variables[v].offset;
  }
  /// Returns the host's memory for variable v, once there is a host copy.
  std::byte* host_data(std::size_t v) const {
    std::byte* const in_file = arrays_.mapped(v);
    return in_file ? in_file : host_->data() + host_offsets_[v];
  }

 private:
  /// Gives the variables their initial values.
  [[gnu::cold]] void begin() {
    if (!attached_) return;
    if (program_.replicas == 1) {
      fill_variables(program_, [this](std::size_t v) { return device_data(v); }, seed_);
    } else {
      attached_ = false;
      make_host_copy();
      for (std::size_t v = 0; v < count(); ++v) to_device(v);
      attached_ = true;
    }
  }
  /// Gives some variables the values of arrays, and others their initial values. The host copy begins here, because arrays of the
  /// host may end before it is needed.
  [[gnu::cold]] void begin_with_arrays() {
    make_room();
    const auto memory_of = [this](std::size_t v) {
      const auto* const array = arrays_.of(v);
      return array == nullptr || array->is_new() ? host_data(v) : nullptr;
    };
    fill_variables(program_, memory_of, seed_);
    for (std::size_t v = 0; v < count(); ++v) {
      const auto* const array = arrays_.of(v);
      if (array && array->copied) std::memcpy(host_data(v), array->copied, bytes(v));
      if (attached_) to_device(v);
      if (!array || !array->is_new()) continue;
      (*array->publish)();
      *array->publish = {};
    }
  }

  std::size_t count() const { return program_.variables.size(); }
  bool has_upload_ops() const { return program_.after_upload != internal::BodyId::none; }
  [[gnu::noinline]] std::size_t bytes(std::size_t v) const { return static_cast<std::size_t>(host_spec(program_, v).bytes()); }

  void make_room() { host_.emplace(host_offsets_.back(), "the host's copy of variables"); }
  /// Creates the host copy with the initial values. Copies those that the device still has, if no op has changed them, which is
  /// faster.
  void make_host_copy() {
    if (host_) return;
    make_room();
    if (attached_ && !stale_ && !has_upload_ops()) fetch();
    else fill_variables(program_, [this](std::size_t v) { return host_data(v); }, seed_);
  }
  void fetch() {
    for (std::size_t v = 0; v < count(); ++v) {
      if (program_.replicas == 1) fetch(v, 0, device_data(v), bytes(v));
      else
        for (const ReplicaPart& part : replica_parts(program_, v))
          if (part.is_read && holds(part)) fetch(v, part.offset, device_data(v, part.replica), part.bytes);
    }
    if (device_.held().transport) share();
    stale_ = false;
  }
  /// Copies elements of a variable to its host copy. A read-only file may have them already.
  void fetch(std::size_t v, std::size_t offset, const std::byte* from, std::size_t count) {
    std::byte* const to = host_data(v) + offset;
    if (arrays_.mapped(v) && std::memcmp(to, from, count) == 0) return;  // no page of the file changes
    arrays_.require_writable(v, "weights_to_host");
    std::memcpy(to, from, count);
  }
  /// Sends to each process the values that the others have fetched.
  [[gnu::cold, gnu::noinline]] void share() {
    List<internal::SharedPiece> pieces;
    for (std::size_t v = 0; v < count(); ++v)
      for (const ReplicaPart& part : replica_parts(program_, v))
        if (part.is_read) pieces.push_back({part.replica, static_cast<std::size_t>(host_offsets_[v]) + part.offset, part.bytes});
    device_.held().transport->share(host_->data(), pieces);
  }
  bool holds(const ReplicaPart& part) const {
    return part.replica >= device_.held().first && part.replica < device_.held().first + device_.replicas();
  }
  void to_device(std::size_t v) {
    if (program_.replicas == 1) std::memcpy(device_data(v), host_data(v), bytes(v));
    else
      for (const ReplicaPart& part : replica_parts(program_, v))
        if (part.is_written && holds(part)) std::memcpy(device_data(v, part.replica), host_data(v) + part.offset, part.bytes);
  }

  internal::Executor& device_;
  internal::ProgramView program_;
  const detail::GivenArrays& arrays_;
  std::uint64_t seed_;
  std::vector<std::int64_t> host_offsets_;  // of each variable, and the end
  std::optional<internal::AlignedMemory> host_;
  Transfers transfers_;
  bool attached_;
  bool stale_ = false;
  std::int64_t changes_ = 0;  // times that the device's values may have changed
  std::vector<std::int64_t> in_sync_at_;  // by variable: `changes_` when it was last written
};

}  // namespace tilewright
