#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright::layers {

/// Joins the axes `start_dim` to `end_dim` into one: torch.nn.Flatten. x: any shape with these axes, any dtype. Negative axes
/// count from the end. The layer has no variables. Errors: an axis out of range; a start_dim behind end_dim.
///
///     tw::layers::Flatten<>  // (batch, channels, height, width): (batch, channels height width)
template <int start_dim = 1, int end_dim = -1>
struct Flatten : Module<Flatten<start_dim, end_dim>> {
  constexpr Tensor build(Tensor x) {
    const int rank = x.rank(), first = start_dim < 0 ? start_dim + rank : start_dim,
              last = end_dim < 0 ? end_dim + rank : end_dim;
    if (first < 0 || last >= rank || first > last)
      return x.ir().fail(text("Flatten: start_dim ", start_dim, ", end_dim ", end_dim, " of ", to_text(x.spec()), ": axes from ",
                              -rank, " to ", rank - 1, ", the first before the last, expected"));
    Shape shape;
    std::int64_t joined = 1;
    for (int axis = 0; axis < rank; ++axis) {
      if (axis < first || axis > last) shape.push_back(x.shape(axis));
      else joined *= x.shape(axis);
      if (axis == last) shape.push_back(joined);
    }
    return x.reshape(shape);
  }
};

}  // namespace tilewright::layers
