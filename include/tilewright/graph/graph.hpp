#pragma once
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// A handle of a graph: a network of ops and tensors with ordered inputs and outputs, callable from other graphs.
class Graph {
 public:
  constexpr Graph() = default;
  constexpr Graph(Ir& ir, GraphId id) : ir_(&ir), id_(id) {}

  constexpr Ir& ir() const { return *ir_; }
  constexpr GraphId id() const { return id_; }
  constexpr std::string_view name() const { return ir_->record(id_).name.view(); }
  constexpr List<Tensor> inputs() const { return handles(ir_->record(id_).inputs); }
  constexpr List<Tensor> outputs() const { return handles(ir_->record(id_).outputs); }
  constexpr Tensor input(int i) const { return pick(ir_->record(id_).inputs, i, "input"); }
  constexpr Tensor output(int i) const { return pick(ir_->record(id_).outputs, i, "output"); }
  constexpr List<Tensor> tensors() const { return all({}); }
  constexpr List<Tensor> variables() const { return all({TensorKind::variable, TensorKind::remote}); }
  constexpr List<Tensor> constants() const { return all({TensorKind::constant}); }
  constexpr std::size_t op_count() const { return ir_->record(id_).nodes.size(); }
  /// The distinct graphs that ops of this graph call, in the order of their first call.
  constexpr List<Graph> called_graphs() const {
    List<Graph> result;
    for (const auto& node : ir_->record(id_).nodes)
      detail::for_each_callee(node, [&](GraphId called, int) {
        if (std::ranges::find(result, Graph(*ir_, called)) == result.end()) result.push_back({*ir_, called});
      });
    return result;
  }
  constexpr bool contains(Tensor t) const { return t.is_of(*ir_) && t.graph_id() == id_; }
  friend constexpr bool operator==(const Graph&, const Graph&) = default;

 private:
  constexpr Tensor pick(const List<TensorId>& ids, int i, std::string_view what) const {
    if (i >= 0 && i < static_cast<int>(ids.size())) return {*ir_, id_, ids[static_cast<std::size_t>(i)]};
    if (ir_->failed()) return Tensor::invalid(*ir_);
    return ir_->fail(text(what, ": index ", i, " of ", name(), " with ", ids.size(), " of them: an index below that expected"));
  }
  constexpr List<Tensor> handles(const List<TensorId>& ids) const {
    List<Tensor> result;
    result.reserve(ids.size());
    for (const TensorId id : ids) result.push_back({*ir_, id_, id});
    return result;
  }
  /// The tensors of these kinds; of all, if none is given.
  constexpr List<Tensor> all(std::initializer_list<TensorKind> kinds) const {
    List<Tensor> result;
    const auto& tensors = ir_->record(id_).tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (const auto tensor = TensorId(i); kinds.size() == 0 || std::ranges::find(kinds, tensors[tensor].kind) != kinds.end())
        result.push_back({*ir_, id_, tensor});
    return result;
  }

  Ir* ir_ = nullptr;
  GraphId id_ = GraphId::none;
};

/// While it lives, new ops and tensors go into the graph.
class GraphScope {
 public:
  constexpr explicit GraphScope(Graph graph) : ir_(graph.ir()), previous_(ir_.current_graph) { ir_.current_graph = graph.id(); }
  constexpr ~GraphScope() { ir_.current_graph = previous_; }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Ir& ir_;
  GraphId previous_;
};

constexpr Graph Ir::main_graph() { return {*this, GraphId::main}; }
constexpr Graph Ir::graph(GraphId id) { return {*this, id}; }
constexpr Graph Ir::create_empty_graph(std::string_view name) { return {*this, add_graph(name)}; }

/// A new input of the graph that is being built, for example a weight. Changes in place to an input by reference reach the
/// caller's tensor.
constexpr Tensor graph_input(Ir& ir, const Shape& shape, DType dtype = float32, std::string_view name = "", bool by_ref = false) {
  return ir.add_input({shape, dtype}, name, by_ref);
}
/// Marks a tensor of the graph that is being built as its next output.
constexpr void graph_output(Tensor t) {
  if (!t.valid() && t.ir().failed()) return;  // ir() throws for a Tensor() of no graph
  if (t.graph_id() != t.ir().current_graph) {
    t.ir().fail(text("graph_output: ", to_text(t), ": a tensor of the current graph expected"));
    return;
  }
  t.ir().current().outputs.push_back(t.id());
}

}  // namespace tilewright
