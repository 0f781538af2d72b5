#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>

#include "tilewright/core/list.hpp"

namespace tilewright {

/// No number: `tw::none` as a bound of a slice, like None in Python.
enum NoneType : std::uint8_t { none };
#ifndef None
using None [[deprecated("since 0.2.0: use NoneType")]] = NoneType;
#endif

/// A position along an axis, negative from the end, or none.
struct Position {
  std::int64_t value = 0;
  bool given = false;

  constexpr Position() = default;
  constexpr Position(NoneType) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  constexpr Position(Integer number) : value(static_cast<std::int64_t>(number)), given(true) {}
};

/// Positions along several axes, or along one; or nothing.
struct Positions {
  List<Position> list{};
  bool given = false;  ///< whether a list is given at all

  constexpr Positions() = default;
  constexpr Positions(NoneType) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  constexpr Positions(Integer number) : list{Position(number)}, given(true) {}
  constexpr Positions(std::initializer_list<Position> positions) : list(positions), given(true) {}
  constexpr void add(Position position) {
    make_room(list);
    list.push_back(position);
    given = true;
  }
};

}  // namespace tilewright
