#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/text.hpp"
#include "tilewright/verified/graph_run.hpp"
#include "tilewright/verified/memory/plan_memory.hpp"
#include "tilewright/verified/step_text.hpp"

namespace tilewright::internal::proof::detail {

/// Memories of a plan, or of a frozen one, while it runs on values: the places of locations, and what is there after the run.
template <class AnyPlan>
class PlanPlaces {
 protected:
  /// A place of the whole run: the frame's offsets count from the start of the root's.
  using Place = Location;
  constexpr PlanPlaces(const AnyPlan& plan, ValueTerms& terms) : plan_(plan), terms_(terms), memory_(plan, terms) {}

  constexpr bool fail(std::string_view rule, const auto&... what) {
    if (rule == ignored_) return true;
    if (problem_.empty()) problem_ = text(rule, ": ", what...);
    return false;
  }
  /// Fails by the rule `tables`, also where that is ignored: the row to read is not there.
  constexpr bool fail_always(const auto&... what) { return ignored_ = {}, fail("tables", what...); }
  constexpr bool resolve(const Location& location, const List<Place>& arguments, const Body& body, std::int64_t frame,
                         Place& place) {
    place = location;
    switch (location.base) {
      case Base::frame:
        if (location.offset < 0 || location.offset > body.frame_bytes)
          return fail("memory", "offset ", location.offset, " of a frame: 0 to ", body.frame_bytes, " expected");
        place.offset += frame;
        return true;
      case Base::argument:
        if (location.index < 0 || static_cast<std::size_t>(location.index) >= arguments.size())
          return fail_always("argument ", location.index, " of ", arguments.size(), ": an argument that the call has expected");
        place = arguments[static_cast<std::size_t>(location.index)];
        place.offset += location.offset;
        return true;
      case Base::stream:
        if (!memory_.find(Base::stream, location.index)) break;
        if (memory_.moves(location.index))
          place.offset += memory_.moved(location.index) * plan_.replicas *
                          plan_.streams[static_cast<std::size_t>(location.index)].spec.bytes();
        return true;
      case Base::position: return true;
      default:
        if (memory_.find(location.base, location.index)) return true;
    }
    return fail_always("index ", location.index, " of memory `", name_of(location.base), "`: a memory of the plan expected");
  }

  /// Returns whether an argument is in a memory of the plan.
  constexpr bool has_bytes(const Place& place, std::int64_t bytes) {
    if (place.base == Base::position) return false;
    const Stored& memory = *memory_.find(place.base, place.index);
    return place.offset >= 0 && (memory.bytes < 0 || place.offset + bytes <= memory.bytes);
  }
  /// Returns whether no step may write to a memory.
  constexpr bool is_given(const Place& place) const {
    return place.base == Base::constant ||
           (place.base == Base::stream &&
            plan_.streams[static_cast<std::size_t>(place.index)].direction == StreamDirection::host_to_device);
  }
  /// Compares what is there after a run.
  constexpr void compare(const RunEffects& expected) {
    const auto validate = [&](ValueId expected_value, Base base, int index, const Access& access, const Shape& shape,
                              std::string_view what, std::size_t number) {
      Stored* const memory = memory_.find(base, index);
      if (memory == nullptr || terms_.number(memory->values.read(access), shape) != expected_value)
        fail("values", what, " ", number, row_name(plan_, base, number),
             " differs from the graphs after the run: equal expected");
    };
    for (std::size_t i = 0; i < expected.variables.size(); ++i) {
      const auto& variable = plan_.variables[i];
      if (variable.base == Base::variable)
        validate(expected.variables[i], Base::variable, 0,
                 access_of(variable.offset, variable.spec, dense_strides(variable.spec.shape)), variable.spec.shape, "variable",
                 i);
    }
    for (std::size_t i = 0; i < expected.rows.size(); ++i) {
      const auto& buffer = plan_.remote_buffers[i];
      validate(expected.rows[i], Base::remote, buffer.mapping, memory_.rows_of(buffer), {buffer.entries, buffer.spec.nelms()},
               "remote buffer", i);
    }
    for (std::size_t i = 0; i < plan_.streams.size(); ++i) compare_stream(expected, i, validate);
    if (printed_.size() != expected.printed.size())
      fail("values", printed_.size(), " ops with other effects ran: ", expected.printed.size(), " expected");
    for (std::size_t i = 0; i < printed_.size() && problem_.empty(); ++i)
      if (printed_[i] != expected.printed[i]) fail("values", "ops with other effects run in another order or on other values");
  }
  constexpr void compare_stream(const RunEffects& expected, std::size_t i, const auto& validate) {
    const auto& stream = plan_.streams[i];
    const bool loads = stream.direction == StreamDirection::host_to_device;
    const std::int64_t count = loads ? expected.loaded[i] : static_cast<std::int64_t>(expected.stored[i].size());
    const bool moves = memory_.moves(static_cast<int>(i));
    const std::int64_t moved = moves ? memory_.moved(static_cast<int>(i)) : memory_.elements_of(static_cast<int>(i));
    if (moved != count && (moves || moved >= 0)) fail("values", moved, " elements of stream ", i, " move: ", count, " expected");
    if (loads) return;
    const std::int64_t pitch = plan_.replicas * stream.spec.bytes();
    for (std::int64_t k = 0; k < count && problem_.empty(); ++k)
      validate(expected.stored[i][static_cast<std::size_t>(k)], Base::stream, static_cast<int>(i),
               access_of(k * pitch, stream.spec, dense_strides(stream.spec.shape)), stream.spec.shape, "stream", i);
  }

  const AnyPlan& plan_;
  ValueTerms& terms_;
  PlanMemory<AnyPlan> memory_;
  List<ValueId> printed_{};
  std::string_view ignored_{};
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
