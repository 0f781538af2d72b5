#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/distributed/host_arrays.hpp"
#include "tilewright/session/host_outputs.hpp"

namespace tilewright::distributed {

/// The user's arrays for all outputs of a process's replicas, for Session::run_with_outputs. They have the host shapes of
/// Session::expected_outputs and are initially zero.
template <const auto& plan>
class HostOutputs : public tilewright::HostOutputs<plan> {
 public:
  /// `replicas`: the number of replicas that the process holds.
  explicit HostOutputs(std::int64_t replicas)
      : tilewright::HostOutputs<plan>([replicas]<std::size_t stream> { return detail::extents<plan, stream>(replicas); }),
        replicas_(replicas) {}

  /// Records the addresses of the arrays' elements. Throws std::invalid_argument for an array whose shape has changed.
  void set_streams(StreamMemory<plan>& memory) {
    this->for_each([this, &memory]<std::size_t stream>(auto& array) {
      memory[stream] = detail::host_memory<plan, stream, "run_with_outputs", decltype(array)>(array, replicas_);
    });
  }

 private:
  std::int64_t replicas_;
};

}  // namespace tilewright::distributed
