#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>

#include "tilewright/execute/memory_error.hpp"
#include "tilewright/session/stream_arrays.hpp"
#include "tilewright/session/streams.hpp"

namespace tilewright {

/// Memory for a copy of each input of a plan. A run reads inputs in the caller's arrays, but first copies those that share memory
/// with its outputs. The memory is allocated here, so that a run allocates nothing; it is not touched before it is needed.
template <const auto& plan>
class InputCopies {
 public:
  explicit InputCopies(std::int64_t replicas)
      : replicas_(replicas),
        offsets_(detail::offsets_of_arrays<plan, StreamDirection::host_to_device>(replicas)),
        memory_(new(std::nothrow) std::byte[static_cast<std::size_t>(offsets_.back())]) {
    if (!memory_) throw MemoryError("copies of inputs", offsets_.back());
  }
  /// Copies the inputs that share memory with one of the blocks, and records the addresses of the copies.
  void replace_shared(StreamMemory<plan>& streams, std::initializer_list<std::span<const std::byte>> written) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!plan.streams[i].used || plan.streams[i].direction != StreamDirection::host_to_device) continue;
      const std::span<const std::byte> input = detail::array_of<plan>(streams, i, replicas_);
      for (const auto block : written)
        if (detail::share_memory(input, block)) [[unlikely]] {
          std::byte* const copy = memory_.get() + offsets_[i];
          std::memcpy(copy, input.data(), input.size());
          streams[i] = copy;
          break;
        }
    }
  }

 private:
  std::int64_t replicas_;  // of each array
  std::array<std::int64_t, plan.streams.size() + 1> offsets_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace tilewright
