#pragma once
#include "tilewright/core/id.hpp"

namespace tilewright {

class Ir;

/// The number of a graph in its Ir. The main graph has `main`.
enum class GraphId : int { none = -1, main = 0 };
/// The number of a node in its graph.
enum class NodeId : int { none = -1 };
/// The number of a tensor in its graph.
enum class TensorId : int { none = -1 };

namespace detail {

/// The program of a handle, as a base: GCC 14 and newer take a class that is copied as bytes and has a pointer of its own for a
/// view of its maker's arguments, and warn of `const auto& y = ops::sum(x, {0})` (-Wdangling-reference).
struct Handle {
  Ir* ir_ = nullptr;

  constexpr bool operator==(const Handle&) const = default;
};

}  // namespace detail

}  // namespace tilewright
