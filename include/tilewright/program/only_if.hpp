#pragma once
#include <exception>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/program/conditional.hpp"

namespace tilewright {

/// Scope of conditional ops: new ops of the graph that was current at its creation run only if `condition`, a bool of one
/// element, is true:
///
///     {
///       const auto scope = tw::only_if(ops::isfinite(norm));
///       ops::scaled_add_(weight, gradient, {.b = -0.1});
///     }
///
/// When the scope ends, its ops become the true branch of a conditional; the false branch is empty. Tensors made inside cannot be
/// used afterwards. To keep a result, write it in place or store it. Errors: a condition of another dtype or size; a use of a
/// result after the scope; an in-place change of a tensor from before the scope if the scope also uses another alias of it.
class [[nodiscard]] OnlyIf {
 public:
  constexpr explicit OnlyIf(Tensor condition)
      : ir_(condition.ir()),
        condition_(condition),
        graph_(ir_.tables.current_graph),
        first_(NodeId(ir_.tables.current().nodes.size())) {
    if (!std::is_constant_evaluated()) exceptions_ = std::uncaught_exceptions();
  }
  constexpr ~OnlyIf() noexcept(false) {
    if (ir_.failed()) return;
    if (!std::is_constant_evaluated() && std::uncaught_exceptions() != exceptions_) return;
    if (ir_.tables.record(graph_).nodes.size() > static_cast<std::size_t>(first_)) move_nodes();
  }
  OnlyIf(const OnlyIf&) = delete;
  OnlyIf& operator=(const OnlyIf&) = delete;

 private:
  constexpr void move_nodes() {
    List<Node> nodes;
    for (auto n = static_cast<std::size_t>(first_); n < ir_.tables.record(graph_).nodes.size(); ++n) {
      make_room(nodes);
      nodes.push_back(ir_.tables.record(graph_).nodes[NodeId(n)]);
    }
    find_changes(nodes);
    detail::remove_nodes(ir_, graph_, first_);

    const GraphId moved = ir_.tables.add_graph("only_if"), nothing = ir_.tables.add_graph("else");
    List<Tensor> inputs;
    {
      const GraphScope scope(ir_.graph(moved));
      List<Tensor, TensorId> values(ir_.tables.record(graph_).tensors.size());
      const auto value_of = [&](TensorId t) {
        if (values[t].valid()) return values[t];
        const TensorRecord outer = ir_.tables.record(graph_).tensors[t];
        if (outer.kind == TensorKind::constant) return values[t] = detail::copy_constant(ir_, outer);
        inputs.push_back({ir_, graph_, t});
        values[t] = detail::add_graph_input(ir_, outer.spec, outer.name.view(), is_changed_[t], outer.meta_shape);
        ir_.tables.record(values[t]).placement = outer.placement;
        return values[t];
      };
      for (const Node& node : nodes) detail::append_copy(ir_, graph_, node, values, value_of);
    }
    const GraphScope scope(ir_.graph(graph_));
    if (check_aliases(inputs)) conditional_with_info(condition_, {ir_.graph(moved), inputs}, {ir_.graph(nothing)});
  }
  /// Finds the tensors from before the scope that its ops change.
  constexpr void find_changes(const List<Node>& nodes) {
    is_changed_.assign(ir_.tables.record(graph_).tensors.size(), false);
    const auto change = [&](TensorId t) {
      for (;;) {  // to the first alias, if ops of the scope made t
        const NodeId producer = ir_.tables.record(graph_).tensors[t].producer;
        if (producer == NodeId::none || producer < first_) break;
        const TensorId input = aliased_input(ir_.tables.record(graph_).nodes[producer], t);
        if (input == TensorId::none) break;
        t = input;
      }
      is_changed_[t] = true;
    };
    for (const Node& node : nodes) {
      if (node.op->modifies >= 0) change(node.inputs[static_cast<std::size_t>(node.op->modifies)]);
      for (const int input : node.modified) change(node.inputs[static_cast<std::size_t>(input)]);
    }
  }
  /// Fails if two inputs share memory and one of them changes, because the other must keep its value from before the scope.
  constexpr bool check_aliases(const List<Tensor>& inputs) {
    List<TensorId, TensorId> changed(ir_.tables.record(graph_).tensors.size(),
                                     TensorId::none);  // by memory: the tensor that changes
    const auto memory_of = [&](Tensor t) { return detail::aliased_tensor(ir_, graph_, t.number()).first; };
    for (const Tensor& input : inputs)
      if (is_changed_[input.number()]) changed[memory_of(input)] = input.number();
    for (const Tensor& input : inputs) {
      const TensorId other = changed[memory_of(input)];
      if (other == TensorId::none || other == input.number()) continue;
      ir_.fail(text("only_if: ", to_text(Tensor(ir_, graph_, other)), ", which changes, and ", to_text(input),
                    ", which shares its memory: one of the two expected"));
      return false;
    }
    return true;
  }

  Ir& ir_;
  Tensor condition_;
  GraphId graph_;
  NodeId first_;
  int exceptions_ = 0;
  List<bool, TensorId> is_changed_{};
};
[[nodiscard]] constexpr OnlyIf only_if(Tensor condition) { return OnlyIf(condition); }

}  // namespace tilewright
