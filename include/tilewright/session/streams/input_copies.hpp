#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>

#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/memory_error.hpp"
#include "tilewright/session/streams/stream_arrays.hpp"
#include "tilewright/session/streams/streams.hpp"

namespace tilewright {

namespace detail {
/// Copies an input of `bytes` bytes if it shares memory with one of the blocks, and makes `input` the copy's address. Not
/// inlined, because all inputs of all programs have one such function.
[[gnu::noinline]] inline void replace_if_shared(internal::OperandAddress& input, std::size_t bytes,
                                                std::initializer_list<Span<const std::byte>> written, std::byte* copy) {
  for (const auto& block : written)
    if (share_memory({input.get(), bytes}, block)) [[unlikely]] {
      std::memcpy(copy, input.get(), bytes);
      input = copy;
      return;
    }
}
}  // namespace detail

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
  void replace_shared(StreamMemory<plan>& streams, std::initializer_list<Span<const std::byte>> written) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!plan.streams[i].used || plan.streams[i].direction != StreamDirection::host_to_device) continue;
      detail::replace_if_shared(streams[i], static_cast<std::size_t>(detail::array_bytes(plan, i, replicas_)), written,
                                memory_.get() + offsets_[i]);
    }
  }

 private:
  std::int64_t replicas_;  // of each array
  std::array<std::int64_t, plan.streams.size() + 1> offsets_;
  internal::Owned<std::byte[]> memory_;
};

}  // namespace tilewright
