#pragma once
#include <concepts>
#include <cstdint>

#include "tilewright/program/positions.hpp"

namespace tilewright {

/// Elements along an axis from `start` on, before `stop`; either may be `tw::none`.
struct Range {
  Position start{}, stop{}, step{};
};
/// Returns a range: `x[tw::slice(1, 7, 2)]` is x[1:7:2] in Python; `tw::slice(tw::none, tw::none, -1)` is [::-1].
[[nodiscard]] constexpr Range slice(Position start, Position stop, Position step = {}) { return {start, stop, step}; }

/// All elements along an axis: `tw::all`, like `:` in Python.
enum All : std::uint8_t { all };
/// All elements along the axes for which no index is given: `tw::ellipsis`, like `...` in Python.
enum Ellipsis : std::uint8_t { ellipsis };

/// Index for an axis in `x[...]`: a number, which drops the axis, a range, or all; or an ellipsis for several axes.
struct TensorIndex {
  enum class Kind : std::uint8_t { number, range, ellipsis };

  Kind kind{};
  Range taken{};  ///< of a number, it starts there

  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  constexpr TensorIndex(Integer number) : kind(Kind::number), taken{.start = number} {}
  constexpr TensorIndex(const Range& range) : kind(Kind::range), taken(range) {}
  constexpr TensorIndex(All) : kind(Kind::range) {}
  constexpr TensorIndex(Ellipsis) : kind(Kind::ellipsis) {}
};

}  // namespace tilewright
