#pragma once
#include <array>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "tilewright/core/span.hpp"
#include "tilewright/execute/operand_address.hpp"
#include "tilewright/session/host_array.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/streams/streams.hpp"

namespace tilewright {

/// Addresses of the host's arrays for each stream of a plan.
template <const auto& plan>
using StreamMemory = std::array<internal::OperandAddress, plan.streams.size()>;

namespace detail {

/// The host's array for a stream.
template <const auto& plan, std::size_t stream>
struct StreamArray {
  static constexpr TensorSpec spec{host_shape(plan, stream), plan.streams[stream].spec.dtype};
  static constexpr std::string_view name() { return plan.stream_name(stream); }
  static constexpr Text note() { return host_shape_note<plan, stream>(); }
};

/// Records the elements of an array for a named stream; refuses an array that does not fit.
template <const auto& plan, NameText what, class StreamName, class Array>
void set_stream(StreamMemory<plan>& memory, const NamedArgument<StreamName, Array>& argument) {
  constexpr std::size_t stream = PlanNames<plan>::find_stream(StreamName::view());
  if constexpr (stream != PlanNames<plan>::none) {
    using Use = StreamArray<plan, stream>;
    if constexpr (plan.streams[stream].direction == StreamDirection::device_to_host)
      memory[stream] = host_memory<Use, what, Array>(argument.value);
    else memory[stream] = host_data<Use, what>(std::as_const(argument.value));
  }
}

/// Returns the elements of the host's array for a stream, for `replicas` replicas.
template <const auto& plan>
Span<const std::byte> array_of(const StreamMemory<plan>& memory, std::size_t stream, std::int64_t replicas) {
  return {memory[stream].get(), static_cast<std::size_t>(array_bytes(plan, stream, replicas))};
}

/// Throws std::invalid_argument if the array of an output stream shares memory with another stream's array or with a block of
/// `variables`. `variables`: the memory of the session's variables, in blocks.
template <const auto& plan, NameText what>
void check_apart(const StreamMemory<plan>& memory, std::int64_t replicas,
                 std::initializer_list<Span<const std::byte>> variables) {
  const auto array = [&](std::size_t i) { return array_of<plan>(memory, i, replicas); };
  const auto fail = [](std::size_t i, const Text& other) {
    throw std::invalid_argument(
        text(what.view(), ": '", plan.stream_name(i), "' shares memory with ", other, ": memory of its own expected").string());
  };
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (!plan.streams[i].used || plan.streams[i].direction != StreamDirection::device_to_host) continue;
    for (std::size_t j = 0; j < memory.size(); ++j)
      if (i != j && plan.streams[j].used && share_memory(array(i), array(j))) fail(i, text("'", plan.stream_name(j), "'"));
    for (const auto& block : variables)
      if (share_memory(array(i), block)) fail(i, "the session's variables");
  }
}

}  // namespace detail

}  // namespace tilewright
