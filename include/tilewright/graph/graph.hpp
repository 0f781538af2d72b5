#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/handles.hpp"
#include "tilewright/graph/ids.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/graph/tensors_by_name.hpp"

namespace tilewright {

/// A handle of a graph: a network of ops and tensors with ordered inputs and outputs. Other graphs can call it.
class Graph : protected detail::Handle {
 public:
  constexpr Graph() = default;
  constexpr Graph(Ir& ir, GraphId id) : Handle{&ir}, id_(id) {}

  constexpr Ir& ir() const {
    if (id_ == no_graph)
      TW_THROW TraceError("Graph: a Graph() of no program: a graph that create_graph or autodiff gave expected");
    return *ir_;
  }
  [[nodiscard]] constexpr Graph main_graph() const { return {ir(), GraphId::main}; }
  constexpr GraphId id() const { return id_; }
  constexpr std::string_view name() const { return ir().tables.record(id_).name.view(); }
  constexpr List<Tensor> inputs() const { return handles(ir().tables.record(id_).inputs); }
  constexpr List<Tensor> outputs() const { return handles(ir().tables.record(id_).outputs); }
  constexpr Tensor input(int i) const { return pick(ir().tables.record(id_).inputs, i, "input"); }
  constexpr Tensor output(int i) const { return pick(ir().tables.record(id_).outputs, i, "output"); }
  constexpr List<Tensor> tensors() const { return all({}); }
  constexpr List<Tensor> variables() const { return all({TensorKind::variable, TensorKind::remote}); }
  constexpr List<Tensor> constants() const { return all({TensorKind::constant}); }
  /// Returns the named inputs by name: `graph.inputs_by_name()["weight"]`.
  constexpr TensorsByName inputs_by_name() const {
    TensorsByName result(ir());
    for (const TensorId id : ir().tables.record(id_).inputs)
      if (const Tensor input(ir(), id_, id); !input.name().empty()) result.insert(input.name(), input);
    return result;
  }
  /// Returns the tensor of this graph with the id `graph/name` or the name. Fails if there is none.
  constexpr Tensor get_tensor(std::string_view id) const {
    const GraphRecord& record = ir().tables.record(id_);
    const std::string_view graph = record.name.view();
    TensorId found = detail::find_name(record, id);
    if (found == TensorId::none && !graph.empty() && id.size() > graph.size() && id[graph.size()] == '/' &&
        same_characters(id.substr(0, graph.size()), graph))
      found = detail::find_name(record, id.substr(graph.size() + 1));
    if (found != TensorId::none) return {ir(), id_, found};
    if (ir().failed()) return Tensor::invalid(ir());
    return ir().fail(text("get_tensor: '", id, "' in ", graph.empty() ? "the main graph" : graph,
                          ": the id or name of a tensor of this graph expected"));
  }

  /// Registers `hook(op)`, which is called with a CreatedOp for each op that is later appended to this graph. A hook may read and
  /// store what it sees; it must not append ops. An op's outputs get their names after the call. Returns a handle for
  /// remove_op_created_hook.
  template <std::invocable<const CreatedOp&> F>
  constexpr int register_op_created_hook(F hook) const {
    ir().tables.functions.op_created_hooks.emplace_back(ir().tables.next_hook, id_, std::move(hook));
    return ir().tables.next_hook++;
  }
  /// Removes a hook. Fails for a handle that does not belong to a hook of this graph.
  constexpr void remove_op_created_hook(int handle) const {
    auto& hooks = ir().tables.functions.op_created_hooks;
    for (auto& hook : hooks)
      if (hook.handle() == handle && hook.graph() == id_) {
        hooks.erase(&hook);
        return;
      }
    ir().fail(text("remove_op_created_hook: ", handle, ": a handle that register_op_created_hook of this graph gave expected"));
  }
  constexpr std::size_t op_count() const { return ir().tables.record(id_).nodes.size(); }
  /// Returns the distinct graphs that ops of this graph call, in the order of their first call.
  constexpr List<Graph> called_graphs() const {
    List<Graph> result;
    for (const auto& node : ir().tables.record(id_).nodes)
      detail::for_each_callee(node, [&](GraphId called, int) {
        if (!has_item(result, Graph(ir(), called))) result.push_back({ir(), called});
      });
    return result;
  }
  constexpr bool contains(Tensor t) const { return t.is_of(ir()) && t.graph_id() == id_; }
  friend constexpr bool operator==(const Graph&, const Graph&) = default;

 private:
  constexpr Tensor pick(const List<TensorId>& ids, int i, std::string_view what) const {
    if (i >= 0 && i < static_cast<int>(ids.size())) return {ir(), id_, ids[static_cast<std::size_t>(i)]};
    if (ir().failed()) return Tensor::invalid(ir());
    return ir().fail(text(what, ": index ", i, " of ", name(), ", which has ", ids.size(), " ", what,
                          "s: an index of at least 0 and below ", ids.size(), " expected"));
  }
  constexpr List<Tensor> handles(const List<TensorId>& ids) const {
    List<Tensor> result;
    result.reserve(ids.size());
    for (const TensorId id : ids) result.push_back({ir(), id_, id});
    return result;
  }
  /// Returns the tensors of the given kinds; without kinds, all tensors.
  constexpr List<Tensor> all(std::initializer_list<TensorKind> kinds) const {
    List<Tensor> result;
    const auto& tensors = ir().tables.record(id_).tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (const auto tensor = TensorId(i); kinds.size() == 0 || has_item(kinds, tensors[tensor].kind))
        result.push_back({ir(), id_, tensor});
    return result;
  }

  static constexpr GraphId no_graph{-2};

  GraphId id_ = no_graph;
};

/// Scope in which new ops and tensors are added to the graph.
class GraphScope {
 public:
  constexpr explicit GraphScope(Graph graph) : ir_(graph.ir()), previous_(ir_.tables.current_graph) {
    ir_.tables.current_graph = graph.id();
  }
  constexpr ~GraphScope() { ir_.tables.current_graph = previous_; }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Ir& ir_;
  GraphId previous_;
};

namespace detail {
/// Checks that a shard of a tensor has the shape. Fails if not; the error names `what`.
constexpr bool check_meta_shape(Ir& ir, std::string_view what, const Shape& shard, const MetaShape& meta_shape) {
  const auto& [whole, parts] = meta_shape;
  if (parts >= 1 && check_spec(ir, what, "", {whole, float32})) {
    const Shape expected{shard_elements(whole.nelms(), parts)};
    if (shard == expected) return true;
    ir.fail(text(what, ": ", to_text(shard), " as one of ", parts, " shards of ", to_text(whole), ": shape ", to_text(expected),
                 " expected"));
  } else if (parts < 1) {
    ir.fail(text(what, ": ", parts, " shards of ", to_text(whole), ": at least 1 expected"));
  }
  return false;
}
}  // namespace detail

constexpr Graph Ir::main_graph() { return {*this, GraphId::main}; }
constexpr Graph Ir::graph(GraphId id) { return {*this, id}; }
constexpr Graph Ir::create_empty_graph(std::string_view name) { return {*this, tables.add_graph(name)}; }

/// Adds an input to the graph that is being built, for example a weight. In-place changes to an input by reference reach the
/// caller's tensor. With a `meta_shape`, the input is one of `meta_shape.parts` shards of a tensor of shape `meta_shape.whole`,
/// as replica_sharded_variable creates them: `graph_input(ir, {8}, tw::float32, "shard", false, {{{4, 4}, 2}})`. Fails for a
/// shape that such a shard does not have.
constexpr Tensor graph_input(Ir& ir, const Shape& shape, DType dtype = float32, std::string_view name = "", bool by_ref = false,
                             const std::optional<MetaShape>& meta_shape = {}) {
  if (!meta_shape) return detail::add_graph_input(ir, {shape, dtype}, name, by_ref);
  if (!detail::check_meta_shape(ir, "graph_input", shape, *meta_shape)) return Tensor::invalid(ir);
  return detail::add_graph_input(ir, {shape, dtype}, name, by_ref,
                                 ir.tables.add_meta_shape(meta_shape->whole, meta_shape->parts));
}
/// Marks a tensor of the graph that is being built as its next output.
constexpr void graph_output(Tensor t) {
  if (!t.valid() && t.ir().failed()) return;  // ir() throws for a Tensor() of no graph
  if (t.graph_id() != t.ir().tables.current_graph) {
    t.ir().fail(text("graph_output: ", to_text(t), ": a tensor of the current graph expected"));
    return;
  }
  t.ir().tables.current().outputs.push_back(t.number());
}

constexpr Graph CreatedOp::graph() const { return {*ir_, graph_}; }

}  // namespace tilewright
