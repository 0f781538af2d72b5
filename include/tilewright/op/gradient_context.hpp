#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/gradient_rule.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// The gradient of a part of a tensor. `where` identifies the part for the op that created it.
struct GradientPart {
  Tensor gradient{};
  PackedAttributes where{};
};
/// Function that joins the gradients of parts of a tensor to the gradient of the whole: their sum, and 0 elsewhere.
using JoinRule = Tensor (*)(Ir&, const TensorSpec& whole, Span<const GradientPart> parts);

/// Context of a gradient rule while autodiff builds the gradient graph. It provides the forward op's tensors, as tensors of the
/// gradient graph, and the gradients of its outputs. The rule sets the gradients of the inputs. All ops that the rule appends go
/// into the gradient graph.
class GradientContext {
 public:
  /// Fetches forward tensors into the gradient graph and collects the gradients of forward tensors.
  class Builder : public tilewright::detail::ForwardValues {
   public:
    constexpr virtual Tensor added_activation(const OpInfo& op, const Node& forward_node) = 0;
    constexpr virtual bool needs_gradient(TensorId forward_tensor) const = 0;
    constexpr virtual const Tensor* gradient(TensorId forward_tensor) const = 0;
    constexpr virtual void add_gradient(TensorId forward_tensor, Tensor gradient) = 0;
    constexpr virtual void add_gradient_part(TensorId forward_tensor, const GradientPart& part, JoinRule join) = 0;

   protected:
    constexpr ~Builder() = default;
  };

  constexpr GradientContext(Builder& builder, Ir& ir, GraphId forward_graph, Node node)
      : builder_(builder), ir_(ir), forward_graph_(forward_graph), node_(std::move(node)) {}

  constexpr Ir& ir() { return ir_; }
  constexpr const Node& node() const { return node_; }
  template <class A>
  constexpr A attributes() const {
    return unpack<A>(node_.attributes);
  }
  constexpr int input_count() const { return static_cast<int>(node_.inputs.size()); }
  constexpr TensorSpec input_spec(int i) const { return spec(input_id(i)); }
  constexpr TensorSpec output_spec(int i) const { return spec(output_id(i)); }
  /// Returns the value of the forward op's input, as a tensor of the gradient graph.
  constexpr Tensor input(int i) { return builder_.activation(input_id(i)); }
  /// Returns the value of the forward op's output, as a tensor of the gradient graph.
  constexpr Tensor output(int i) {
    if (node_.op->gradient_needs_no_result)
      ir_.fail(text(node_.op->name, ": its gradient rule asks for result ", i, ": gradient_needs_no_result = false expected"));
    return builder_.activation(output_id(i));
  }
  /// Adds an op on the forward op's inputs and attributes to the forward graph, whose ops can share work with it, and returns its
  /// value as a tensor of the gradient graph. Returns Tensor() if the op cannot be added, or if the inputs are also needed. The
  /// rule then uses the inputs, because the extra value would cost memory.
  constexpr Tensor added_to_forward(const OpInfo& op) { return builder_.added_activation(op, node_); }
  /// Returns whether the gradient of an input is needed. Rules skip the work for others.
  constexpr bool needs(int input) const { return builder_.needs_gradient(input_id(input)); }
  /// Returns whether a gradient reached an output. Otherwise its gradient counts as zero.
  constexpr bool has_output_gradient(int i) const { return builder_.gradient(output_id(i)) != nullptr; }
  constexpr Tensor output_gradient(int i) {
    if (const Tensor* gradient = builder_.gradient(output_id(i))) return *gradient;
    const TensorSpec zero = output_spec(i);
    return ir_.constant(List<double>{0}, zero.shape, zero.dtype);
  }
  /// Adds to the gradient of an input. Its shape and dtype must be the input's.
  constexpr void input_gradient(int i, Tensor gradient) {
    if (!gradient.valid() || !needs(i)) return;
    if (gradient.spec() != input_spec(i)) {
      ir_.fail(text(node_.op->name, ": gradient ", to_text(gradient.spec()), " for input ", i, " of ", to_text(input_spec(i)),
                    ": the input's shape and dtype expected"));
      return;
    }
    builder_.add_gradient(input_id(i), gradient);
  }
  /// Adds the gradient of a part of an input. All parts of a tensor with the same rule are joined at once, when the gradients of
  /// all ops that read the tensor are known. Slices of one tensor therefore have one gradient instead of a sum of padded ones.
  constexpr void input_gradient_part(int i, const GradientPart& part, JoinRule join) {
    if (part.gradient.valid() && needs(i)) builder_.add_gradient_part(input_id(i), part, join);
  }

 private:
  constexpr TensorId input_id(int i) const { return node_.inputs[static_cast<std::size_t>(i)]; }
  constexpr TensorId output_id(int i) const { return node_.outputs[static_cast<std::size_t>(i)]; }
  constexpr const TensorSpec& spec(TensorId id) const { return ir_.tables.record(forward_graph_).tensors[id].spec; }

  Builder& builder_;
  Ir& ir_;
  GraphId forward_graph_;
  Node node_;
};

}  // namespace tilewright
