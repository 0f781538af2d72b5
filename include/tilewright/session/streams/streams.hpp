#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Returns the shape of the host's array for a stream of a frozen plan: [transfers in a run, `replicas`, stream's shape...]. The
/// first axis is omitted if it is 1, the second if the program has one replica.
constexpr Shape host_shape(const auto& plan, std::size_t stream, std::int64_t replicas) {
  Shape shape;
  if (plan.streams[stream].transfers > 1) shape.push_back(plan.streams[stream].transfers);
  if (plan.replicas > 1) shape.push_back(replicas);
  const Shape& element = plan.streams[stream].spec.shape;
  for (int axis = 0; axis < element.rank; ++axis) shape.push_back(element[axis]);
  return shape;
}
/// Returns the shape of the host's array for a stream of a frozen plan, for all replicas of the program.
constexpr Shape host_shape(const auto& plan, std::size_t stream) { return host_shape(plan, stream, plan.replicas); }

namespace detail {
/// Returns the bytes of the host's array for a stream.
constexpr std::int64_t array_bytes(const auto& plan, std::size_t stream, std::int64_t replicas) {
  return TensorSpec{host_shape(plan, stream, replicas), plan.streams[stream].spec.dtype}.bytes();
}
inline bool share_memory(Span<const std::byte> a, Span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}
/// Returns the offsets, in bytes, of the host's arrays in one block of memory, for all streams of a frozen plan in one direction.
/// The last entry is the size of the block.
template <const auto& plan, StreamDirection direction>
constexpr auto offsets_of_arrays(std::int64_t replicas) {
  std::array<std::int64_t, plan.streams.size() + 1> offsets{};
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    const bool stands_here = plan.streams[i].direction == direction && plan.streams[i].used;
    offsets[i + 1] = offsets[i] + (stands_here ? internal::align(array_bytes(plan, i, replicas)) : 0);
  }
  return offsets;
}
}  // namespace detail

/// Offsets of arrays for all replicas.
template <const auto& plan, StreamDirection direction>
inline constexpr auto array_offsets = detail::offsets_of_arrays<plan, direction>(plan.replicas);
template <const auto& plan>
inline constexpr const auto& input_offsets = array_offsets<plan, StreamDirection::host_to_device>;
template <const auto& plan>
inline constexpr const auto& output_offsets = array_offsets<plan, StreamDirection::device_to_host>;

/// Returns a remark about the host shape of a stream for errors.
template <const auto& plan, std::size_t stream>
constexpr Text host_shape_note() {
  Text note;
  if constexpr (plan.streams[stream].transfers > 1)
    note += text(", where ", plan.streams[stream].transfers,
                 plan.num_host_transfers > 0 ? " is num_host_transfers" : " is the number of transfers of this stream in a run");
  if constexpr (plan.replicas > 1) note += text(note.empty() ? ", where " : " and ", plan.replicas, " is the replication factor");
  return note;
}

/// A stream for which a session needs an array.
struct ExpectedStream {
  std::string_view name{};
  TensorSpec spec{};  ///< of one transfer
  Shape host_shape{};  ///< of the array
};

/// Returns the streams of a frozen plan in one direction that the program uses.
template <const auto& plan, StreamDirection direction>
constexpr auto expected_streams() {
  constexpr auto is_expected = [](const auto& stream) { return stream.direction == direction && stream.used; };
  constexpr std::size_t count = [&] {
    std::size_t sum = 0;
    for (const auto& stream : plan.streams) sum += is_expected(stream);
    return sum;
  }();
  std::array<ExpectedStream, count> expected{};
  for (std::size_t i = 0, n = 0; i < plan.streams.size(); ++i)
    if (is_expected(plan.streams[i])) expected[n++] = {plan.stream_name(i), plan.streams[i].spec, host_shape(plan, i)};
  return expected;
}

}  // namespace tilewright
