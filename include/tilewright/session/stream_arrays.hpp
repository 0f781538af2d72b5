#pragma once
#include <array>
#include <stdexcept>

#include "tilewright/session/host_array.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/streams.hpp"

namespace tilewright {

/// The host's memory for each stream of a plan.
template <const auto& plan>
using StreamMemory = std::array<std::byte*, plan.streams.size()>;

namespace detail {

/// The host's array for a stream.
template <const auto& plan, std::size_t stream>
struct StreamArray {
  static constexpr TensorSpec spec{host_shape(plan, stream), plan.streams[stream].spec.dtype};
  static constexpr std::string_view name() { return plan.stream_name(stream); }
  static constexpr Text note() { return host_shape_note<plan, stream>(); }
};

/// Notes the elements of an array that was given for a stream by name; an array that does not fit is refused.
template <const auto& plan, NameText what, class StreamName, class Array>
void set_stream(StreamMemory<plan>& memory, const NamedArgument<StreamName, Array>& argument) {
  constexpr std::size_t stream = PlanNames<plan>::find_stream(StreamName::view());
  if constexpr (stream != PlanNames<plan>::none) {
    using Use = StreamArray<plan, stream>;
    if constexpr (plan.streams[stream].direction == StreamDirection::device_to_host)
      memory[stream] = host_memory<Use, what, Array>(argument.value);
    else memory[stream] = const_cast<std::byte*>(host_data<Use, what>(argument.value));
  }
}

/// Throws std::invalid_argument if what the program writes overlaps with anything else.
template <const auto& plan, NameText what>
void check_apart(const StreamMemory<plan>& memory) {
  const auto bytes = [](std::size_t i) {
    return static_cast<std::size_t>(TensorSpec{host_shape(plan, i), plan.streams[i].spec.dtype}.bytes());
  };
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (!plan.streams[i].used || plan.streams[i].direction != StreamDirection::device_to_host) continue;
    for (std::size_t j = 0; j < memory.size(); ++j)
      if (i != j && plan.streams[j].used && memory[i] < memory[j] + bytes(j) && memory[j] < memory[i] + bytes(i))
        throw std::invalid_argument(text(what.view(), ": '", plan.stream_name(i), "' shares memory with '", plan.stream_name(j),
                                         "': memory of its own expected")
                                        .string());
  }
}

}  // namespace detail

}  // namespace tilewright
