#pragma once
#include "tilewright/core/id.hpp"

namespace tilewright {

/// The number of a graph in its Ir. The main graph has `main`.
enum class GraphId : int { none = -1, main = 0 };
/// The number of a node in its graph.
enum class NodeId : int { none = -1 };
/// The number of a tensor in its graph.
enum class TensorId : int { none = -1 };

}  // namespace tilewright
