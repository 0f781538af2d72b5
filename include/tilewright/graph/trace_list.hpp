#pragma once
#include "tilewright/core/list.hpp"

namespace tilewright::detail {

/// What a trace holds besides its graphs, such as functions of the user. A copy is empty: these belong to those who trace.
template <class T>
class TraceList : public List<T> {
 public:
  constexpr TraceList() = default;
  constexpr TraceList(const TraceList&) : List<T>() {}
  constexpr TraceList(TraceList&&) noexcept = default;
  constexpr TraceList& operator=(TraceList&&) noexcept = default;
};

}  // namespace tilewright::detail
