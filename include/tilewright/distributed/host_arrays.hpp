#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/session/streams/stream_arrays.hpp"

namespace tilewright::distributed::detail {

/// Returns the axis of the replicas in the host's array for a stream, or -1 if there is none.
constexpr int replica_axis(const auto& plan, std::size_t stream) {
  return plan.replicas > 1 ? (plan.streams[stream].transfers > 1 ? 1 : 0) : -1;
}

/// Use of a host array for a stream. The extent of the replicas' axis is known when the program runs. Here it is that of the
/// array type T, if T fixes it, otherwise that of all replicas.
template <const auto& plan, std::size_t stream, class T>
struct StreamArray {
  static constexpr TensorSpec spec = [] {
    TensorSpec result{host_shape(plan, stream), plan.streams[stream].spec.dtype};
    constexpr int axis = replica_axis(plan, stream);
    if constexpr (tilewright::detail::HostNumber<T> || tilewright::detail::HostArray<T>)
      if constexpr (constexpr auto given = tilewright::detail::static_shape<T>(); given && axis >= 0)
        if (given->rank == result.shape.rank) result.shape[axis] = given->extents[axis];
    return result;
  }();
  static constexpr std::string_view name() { return plan.stream_name(stream); }
  static constexpr Text note() {
    Text note = host_shape_note<plan, stream>();
    if constexpr (plan.replicas > 1) note += ", of which each process has its part";
    return note;
  }
};

/// Returns the contiguous elements of a host array for a stream. A type that fits no number of processes does not compile. Throws
/// std::invalid_argument for a wrong shape or elements that are not contiguous.
template <const auto& plan, std::size_t stream, NameText what, class T>
auto host_data(T& array, std::int64_t replicas) {
  using Use = StreamArray<plan, stream, std::remove_const_t<T>>;
  return tilewright::detail::host_data<Use, what>(array, host_shape(plan, stream, replicas));
}
/// Returns the elements of an array that a session fills. Requirements are those of host_data; an array that must not change does
/// not compile.
template <const auto& plan, std::size_t stream, NameText what, class T>
auto host_memory(std::remove_reference_t<T>& array, std::int64_t replicas) {
  using Use = StreamArray<plan, stream, std::remove_cvref_t<T>>;
  return tilewright::detail::host_memory<Use, what, T>(array, host_shape(plan, stream, replicas));
}

/// Records the elements of an array for a named stream, for `replicas` replicas.
template <const auto& plan, NameText what, class StreamName, class Array>
void set_stream(StreamMemory<plan>& memory, const NamedArgument<StreamName, Array>& argument, std::int64_t replicas) {
  constexpr std::size_t stream = PlanNames<plan>::find_stream(StreamName::view());
  if constexpr (stream != PlanNames<plan>::none) {
    if constexpr (plan.streams[stream].direction == StreamDirection::device_to_host)
      memory[stream] = host_memory<plan, stream, what, Array>(argument.value, replicas);
    else memory[stream] = host_data<plan, stream, what>(std::as_const(argument.value), replicas);
  }
}

/// Returns the extents of the host's array for a stream, for `replicas` replicas.
template <const auto& plan, std::size_t stream>
auto extents(std::int64_t replicas) {
  constexpr Shape shape = host_shape(plan, stream);
  auto result = extents_of<shape>();
  if constexpr (constexpr int axis = replica_axis(plan, stream); axis >= 0)
    result[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(replicas);
  return result;
}

}  // namespace tilewright::distributed::detail
