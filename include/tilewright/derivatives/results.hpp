#pragma once
#include <array>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// Results of a function, or their tangents, in order. A single one converts to a Tensor; `results.as<2>()` is an array for
/// structured bindings.
class Results {
 public:
  constexpr explicit Results(Ir& ir, List<Tensor> tensors = {}) : ir_(&ir), tensors_(std::move(tensors)) {}

  constexpr std::size_t size() const { return tensors_.size(); }
  constexpr const Tensor* begin() const { return tensors_.begin(); }
  constexpr const Tensor* end() const { return tensors_.end(); }
  constexpr Tensor operator[](std::size_t i) const {
    if (i < size()) return tensors_[i];
    if (ir_->failed()) return Tensor::invalid(*ir_);
    return ir_->fail(text("Results: result ", i, " of ", size(), ": an index below ", size(), " expected"));
  }
  constexpr operator Tensor() const {
    if (size() > 1) return ir_->fail(text("Results: ", size(), " results for one tensor: results.as<", size(), ">() expected"));
    return (*this)[0];
  }
  /// Returns the first `count` results.
  template <std::size_t count>
  constexpr std::array<Tensor, count> as() const {
    std::array<Tensor, count> first;
    for (std::size_t i = 0; i < count; ++i) first[i] = (*this)[i];
    return first;
  }

 private:
  Ir* ir_;
  List<Tensor> tensors_;
};

}  // namespace tilewright
