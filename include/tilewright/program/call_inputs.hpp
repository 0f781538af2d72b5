#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

namespace detail {
/// Returns the tensors of a call's positional inputs. A number becomes a constant of the dtype of the graph's input.
constexpr List<Tensor> tensors_of(Graph graph, std::span<const NumberOrTensor> inputs) {
  Ir& ir = graph.ir();
  const List<TensorId>& ids = ir.tables.record(graph.id()).inputs;
  List<Tensor> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].tensor) result.push_back(*inputs[i].tensor);
    else if (ir.failed()) result.push_back(Tensor::invalid(ir));
    else if (i >= ids.size())  // too many, which the call reports
      result.push_back(ir.constant(0));
    else
      result.push_back(
          ir.number(text("call of ", graph.name()).view(), inputs[i].exact, graph.input(static_cast<int>(i)).dtype()));
  }
  return result;
}
}  // namespace detail

/// Positional inputs of a branch: tensors and numbers, as for a call.
class CallInputs {
 public:
  constexpr CallInputs() = default;
  constexpr CallInputs(std::initializer_list<NumberOrTensor> inputs) : inputs_(inputs) {}
  constexpr CallInputs(const List<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) inputs_.push_back(tensor);
  }
  constexpr void push_back(NumberOrTensor input) { inputs_.push_back(std::move(input)); }
  constexpr std::size_t size() const { return inputs_.size(); }
  constexpr const NumberOrTensor& operator[](std::size_t i) const { return inputs_[i]; }
  /// Returns the tensors for a graph, in the graph that is being built.
  constexpr List<Tensor> tensors(Graph graph) const { return detail::tensors_of(graph, inputs_); }

 private:
  List<NumberOrTensor> inputs_{};
};

}  // namespace tilewright
