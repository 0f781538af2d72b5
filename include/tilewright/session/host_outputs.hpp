#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/session/streams/stream_arrays.hpp"

namespace tilewright {

/// The user's arrays for all outputs of a program, for Session::run_with_outputs. They have the host shapes of
/// Session::expected_outputs and are initially zero.
template <const auto& plan>
class HostOutputs {
 public:
  HostOutputs() : HostOutputs([]<std::size_t stream> { return extents_of<detail::StreamArray<plan, stream>::spec.shape>(); }) {}

  /// Returns the array of a stream, an xtensor. An unknown name does not compile.
  template <NameText name>
  decltype(auto) operator[](Name<name>) {
    constexpr std::size_t i = find(name.view());
    if constexpr (i < streams.size()) return (std::get<i>(arrays_));
    else return PlanNames<plan>::template unknown_output<name>();
  }
  template <NameText name>
  decltype(auto) operator[](Name<name>) const {
    constexpr std::size_t i = find(name.view());
    if constexpr (i < streams.size()) return (std::get<i>(arrays_));
    else return PlanNames<plan>::template unknown_output<name>();
  }
  auto operator[](const std::convertible_to<std::string_view> auto& name) const { return detail::require_name(name); }

  /// Records the addresses of the arrays' elements. Throws std::invalid_argument for an array whose shape has changed.
  void set_streams(StreamMemory<plan>& memory) {
    for_each([&memory]<std::size_t stream>(auto& array) {
      memory[stream] = detail::host_memory<detail::StreamArray<plan, stream>, "run_with_outputs", decltype(array)>(array);
    });
  }

 protected:
  /// Creates arrays of other shapes: `extents` returns the extents of the array for a stream.
  explicit HostOutputs(auto extents) {
    for_each([&extents]<std::size_t stream>(auto& array) {
      array = std::remove_cvref_t<decltype(array)>(extents.template operator()<stream>(), 0);
    });
  }
  /// Calls f<stream>(array) for each array.
  void for_each(auto f) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (f.template operator()<streams[i]>(std::get<i>(arrays_)), ...);
    }(std::make_index_sequence<streams.size()>{});
  }

 private:
  static constexpr auto streams = [] {
    std::array<std::size_t, expected_streams<plan, StreamDirection::device_to_host>().size()> found{};
    for (std::size_t i = 0, n = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].used && plan.streams[i].direction == StreamDirection::device_to_host) found[n++] = i;
    return found;
  }();
  static consteval std::size_t find(std::string_view name) {
    std::size_t i = 0;
    while (i < streams.size() && plan.stream_name(streams[i]) != name) ++i;
    return i;
  }
  template <std::size_t i>
  using Array = xt::xtensor<element_t<plan.streams[streams[i]].spec.dtype>,
                            static_cast<std::size_t>(detail::StreamArray<plan, streams[i]>::spec.shape.rank)>;
  static auto make() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return std::tuple<Array<i>...>();
    }(std::make_index_sequence<streams.size()>{});
  }

  decltype(make()) arrays_;
};

}  // namespace tilewright
