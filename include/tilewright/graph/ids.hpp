#pragma once

namespace tilewright {

/// The number of a graph in its Ir. That of the main graph is `main`.
enum class GraphId : int { none = -1, main = 0 };

}  // namespace tilewright
