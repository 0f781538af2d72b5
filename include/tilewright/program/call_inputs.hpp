#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

class Outputs;

namespace detail {
template <class T>
concept TensorLike = std::derived_from<T, Tensor> || std::same_as<T, TensorSpec>;
/// A container of tensors, for example List<Tensor>, std::array<Tensor, 3>, a view, or the outputs of a call.
template <class T>
concept TensorRange = !TensorLike<T> && requires(const T& range) {
  { *range.begin() } -> std::convertible_to<const Tensor&>;
};

/// Returns the tensors of a range.
constexpr List<Tensor> list_of(const TensorRange auto& range) {
  List<Tensor> result;
  for (const Tensor& tensor : range) result.push_back(tensor);
  return result;
}
}  // namespace detail

/// One entry of a call's positional inputs: a tensor, a number, or a list of tensors, each for one input. Outputs of a call are
/// no entry, because a call with one output is a tensor: `outputs.as<2>()` is a list.
struct CallInput : NumberOrTensor {
  using NumberOrTensor::NumberOrTensor;
  constexpr CallInput(const NumberOrTensor& input) : NumberOrTensor(input) {}
  template <detail::TensorRange Tensors>
    requires(!std::same_as<Tensors, Outputs>)
  constexpr CallInput(const Tensors& range) : NumberOrTensor(0), tensors(detail::list_of(range)), is_list(true) {}

  List<Tensor> tensors{};  ///< elements of a list
  bool is_list = false;  ///< whether the entry is a list, which may be empty
};

namespace detail {
/// Returns the tensors for `expected` inputs of a graph, in order. A number becomes a constant of its input's dtype.
constexpr List<Tensor> tensors_of(Graph graph, Span<const CallInput> inputs, const List<Tensor>& expected) {
  Ir& ir = graph.ir();
  List<Tensor> result;
  for (const CallInput& input : inputs) {
    const std::size_t i = result.size();
    if (input.is_list)
      for (const Tensor& tensor : input.tensors) result.push_back(tensor);
    else if (input.tensor) result.push_back(*input.tensor);
    else if (ir.failed()) result.push_back(Tensor::invalid(ir));
    else if (i >= expected.size())  // too many, which the call reports
      result.push_back(ir.constant(0));
    else result.push_back(ir.number(text("call of ", graph.name()).view(), input.exact, expected[i].dtype()));
  }
  return result;
}
/// Returns the tensors of a call's positional inputs.
constexpr List<Tensor> tensors_of(Graph graph, Span<const CallInput> inputs) { return tensors_of(graph, inputs, graph.inputs()); }
}  // namespace detail

/// Positional inputs of a branch: tensors, numbers and lists of tensors, as for a call.
class CallInputs {
 public:
  constexpr CallInputs() = default;
  constexpr CallInputs(std::initializer_list<CallInput> inputs) : inputs_(inputs) {}
  constexpr CallInputs(const detail::TensorRange auto& tensors) {
    for (const Tensor& tensor : tensors) inputs_.push_back(tensor);
  }
  constexpr void push_back(CallInput input) { inputs_.push_back(std::move(input)); }
  /// Returns the number of entries; a list among other entries is one.
  constexpr std::size_t size() const { return inputs_.size(); }
  constexpr const CallInput& operator[](std::size_t i) const { return inputs_[i]; }
  /// Returns the tensors for a graph, in the graph that is being built.
  constexpr List<Tensor> tensors(Graph graph) const { return detail::tensors_of(graph, inputs_); }

 private:
  List<CallInput> inputs_{};
};

}  // namespace tilewright
