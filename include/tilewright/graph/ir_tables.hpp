#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/name_table.hpp"
#include "tilewright/graph/records.hpp"
#include "tilewright/graph/tensor.hpp"
#include "tilewright/graph/trace_functions.hpp"
#include "tilewright/graph/tracing.hpp"

namespace tilewright {

/// Contents of an Ir: graphs, variables and other records in lists that ids index, and the open scopes of a trace.
struct IrTables {
  constexpr GraphRecord& current() { return graphs[current_graph]; }
  constexpr GraphRecord& record(GraphId graph) { return graphs[graph]; }
  constexpr const GraphRecord& record(GraphId graph) const { return graphs[graph]; }
  constexpr TensorRecord& record(Tensor t) { return graphs[t.graph_id()].tensors[t.number()]; }

  /// Adds a tensor to the current graph and returns its number. Prefixes `wished_name` with the open name scopes, and appends
  /// `__t<N>` to a name that is taken.
  constexpr TensorId add_tensor(TensorRecord tensor, std::string_view wished_name = "") {
    auto& graph = current();
    const auto id = TensorId(graph.tensors.size());
    if (!wished_name.empty()) tensor.name = detail::enter_name(graph, scoped(wished_name), id, name_counter_);
    make_room(graph.tensors);
    graph.tensors.push_back(std::move(tensor));
    return id;
  }
  /// Gives an unnamed tensor of the current graph a name.
  constexpr void rename(Tensor t, std::string_view wished_name) {
    record(t).name = detail::enter_name(current(), scoped(wished_name), t.number(), name_counter_);
  }
  /// Returns the index of an entry of meta_shapes, and adds the entry if it is new.
  constexpr int add_meta_shape(const Shape& whole, std::int64_t parts) {
    const MetaShape meta_shape{whole, parts};
    for (std::size_t i = 0; i < meta_shapes.size(); ++i)
      if (meta_shapes[i] == meta_shape) return static_cast<int>(i);
    meta_shapes.push_back(meta_shape);
    return static_cast<int>(meta_shapes.size()) - 1;
  }
  /// Records that `t` is one of `parts` shards of a tensor of shape `whole`.
  constexpr void set_meta_shape(Tensor t, const Shape& whole, std::int64_t parts) {
    record(t).meta_shape = add_meta_shape(whole, parts);
  }
  /// Adds a graph `<name>_subgraph(N)`, where N counts the graphs of this Ir.
  constexpr GraphId add_graph(std::string_view name) {
    graphs.push_back({.name = text(name, "_subgraph(", subgraph_counter_++, ")")});
    return GraphId(graphs.size() - 1);
  }
  /// Adds a graph `<graph><suffix>`, with a number if the name is taken.
  constexpr GraphId add_derived_graph(GraphId derived_from, std::string_view suffix) {
    Text name = text(record(derived_from).name, suffix);
    int same = 0;
    for (const auto& graph : graphs) same += graph.name.view().starts_with(name.view());
    if (same > 0) name += text("_", same);
    graphs.push_back({.name = std::move(name)});
    return GraphId(graphs.size() - 1);
  }

  /// Opens a name scope inside the current one. Returns the number of the enclosing scope, or -1.
  constexpr int enter_scope(std::string_view name) {
    make_room(name_scopes);
    name_scopes.push_back(text(scoped(name), "/"));
    return std::exchange(current_scope, static_cast<int>(name_scopes.size()) - 1);
  }

  OnError on_error = OnError::raise;  ///< whether a failed check throws or records
  GraphId current_graph = GraphId::main;
  ExecutionContext current_context = ExecutionContext::Normal;  ///< of new ops of the main graph
  bool has_contexts = false;  ///< whether the program had a scope of a context other than Normal
  std::optional<Mode> current_mode{};  ///< of the innermost open mode scope; nothing: none is open
  Placement current_placement{};  ///< of new ops; on no IPU: where their inputs are, or on IPU 0
  /// Whether nodes and tensors have placements: true once the program asked for a placement or named an IPU other than 0
  bool has_placements = false;
  std::string_view traced_for = default_kind;  ///< name of a MachineKind
  Rewrites rewrites{};
  int current_scope = -1;  ///< index in name_scopes of the innermost open name scope; -1: none is open
  List<GraphRecord, GraphId> graphs;
  List<VariableRecord> variables;
  List<ConstantRecord> constants;
  List<StreamRecord> streams;
  List<RemoteBufferRecord> remote_buffers;
  List<std::size_t> turns;  ///< by initialiser of in_turn: the number of its values that variables have
  List<MetaShape> meta_shapes;  ///< the whole tensors of shards, without repetitions
  List<Text> module_path;
  List<Text> name_scopes;  ///< all scopes so far, open or closed, as prefixes of names: blocks/0/fc1/
  List<SequenceScope> sequences;  ///< the open in_sequence scopes, the innermost last
  detail::TraceFunctions functions;
  List<MergedExchanges> merged_exchanges;  ///< of each graph in the order of its nodes, without overlaps
  int next_op_id = 100;
  int next_hook = 0;  ///< the handle of the next hook on created ops
  bool is_in_hook = false;  ///< whether a hook for created ops runs; it must not append ops

 private:
  constexpr Text scoped(std::string_view name) const {
    if (current_scope < 0) return name;
    return text(name_scopes[static_cast<std::size_t>(current_scope)], name);
  }
  int name_counter_ = 0;
  int subgraph_counter_ = 0;
};

}  // namespace tilewright
