#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/distributed/host_arrays.hpp"
#include "tilewright/session/host_outputs.hpp"

namespace tilewright::distributed {

/// Arrays of the user for all that the replicas of a process store in streams, to be given to Session::run_with_outputs: zeros at
/// first, of the host shapes of Session::expected_outputs.
template <const auto& plan>
class HostOutputs : public tilewright::HostOutputs<plan> {
 public:
  /// `replicas` are those that the process holds.
  explicit HostOutputs(std::int64_t replicas)
      : tilewright::HostOutputs<plan>([replicas]<std::size_t stream> { return detail::extents<plan, stream>(replicas); }),
        replicas_(replicas) {}

  /// Notes where the arrays' elements are; throws std::invalid_argument for an array that was given another shape.
  void set_streams(StreamMemory<plan>& memory) {
    this->for_each([this, &memory]<std::size_t stream>(auto& array) {
      memory[stream] = detail::host_memory<plan, stream, "run_with_outputs", decltype(array)>(array, replicas_);
    });
  }

 private:
  std::int64_t replicas_;
};

}  // namespace tilewright::distributed
