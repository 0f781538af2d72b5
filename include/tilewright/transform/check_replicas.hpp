#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/ops/collective/differs_by_replica.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/transform/replica_partitions.hpp"

namespace tilewright {

namespace detail {

/// How the values of a tensor differ between replicas.
struct ReplicaDifference {
  int partition = ReplicaPartitions::equal;
  /// First cause of the difference: above 0, the Node::id of an op; below 0, -1 - the number of a variable; 0: none. If
  /// `partition` is equal and the origin is not 0, the origin is a load of one element.
  int origin = 0;
  constexpr bool operator==(const ReplicaDifference&) const = default;
};

/// State of a graph's input, before and after the graph.
struct ReplicaInput {
  ReplicaDifference value{};
  ReplicaDifference unmeant{};  ///< without changes that are intended to differ by replica
  int updater = 0;  ///< Node::id of the last op that changed `unmeant`; 0: none
  constexpr bool operator==(const ReplicaInput&) const = default;
};

/// Effect of a call of a graph for given inputs.
struct ReplicaEffect {
  List<ReplicaInput> before{}, after{};
  List<ReplicaDifference> outputs{};
  ReplicaDifference control{};  ///< of the condition under which the graph runs
  int stores = 0;  ///< value of ReplicaCheck::stores_ for which it is valid
};

/// Follows tensors through a program and finds those that differ by replica. It follows each graph once for each combination of
/// differences of its inputs, and a loop until nothing changes. It repeats the run until the differences of variables no longer
/// change from run to run.
class ReplicaCheck {
 public:
  constexpr explicit ReplicaCheck(Ir& ir) : ir_(ir), partitions_(ir.replication_factor()) {
    effects_.resize(ir.tables.graphs.size());
    for (std::size_t v = 0; v < ir.tables.variables.size(); ++v) {
      const VariableRecord& variable = ir.tables.variables[v];
      const int partition = partition_of(variable);
      const ReplicaDifference shared{partition, partition == ReplicaPartitions::equal ? 0 : -1 - static_cast<int>(v)};
      shared_.push_back(shared);
      if (variable.remote_buffer >= 0) rows_.push_back({variable.remote_buffer, variable.row, shared});
    }
  }

  constexpr void run() {
    List<ReplicaDifference> values = shared_;  // of variables, where a run begins
    for (bool changes = true; changes && !ir_.failed();) {
      const int stores = stores_;
      Tensors tensors(ir_.tables.record(GraphId::main).tensors.size());
      for (std::size_t v = 0; v < values.size(); ++v) tensors[ir_.tables.variables[v].tensor].input = {values[v], shared_[v]};
      follow_context(ExecutionContext::WeightsFromHostFragment, tensors);
      follow_context(ExecutionContext::Normal, tensors);
      check_variables(tensors);
      follow_context(ExecutionContext::WeightsToHostFragment, tensors);
      if (ir_.tables.has_contexts) check_variables(tensors);
      changes = stores != stores_;
      for (std::size_t v = 0; v < values.size(); ++v) {
        const ReplicaDifference next = joined(values[v], tensors[ir_.tables.variables[v].tensor].input.value);
        if (next == values[v]) continue;
        values[v] = next;
        changes = true;
      }
    }
  }
  /// Returns whether an op declared a difference as intended.
  constexpr bool found_meant() const { return found_meant_; }

 private:
  /// A tensor of the graph that is followed. Aliases of one memory form a list that begins with its root.
  struct Followed {
    ReplicaInput input{};  ///< complete for a root only; others have the value
    TensorId root = TensorId::none;  ///< none: the tensor itself is a root
    TensorId next = TensorId::none;  ///< next alias of the root
    bool is_meant = false;  ///< whether changes through this alias are intended to differ
    bool counts_as_equal = false;  ///< whether all writes to the root count as equal
  };
  using Tensors = List<Followed, TensorId>;
  /// A row of a remote buffer, or all of them: the values that any run stores there.
  struct Row {
    int buffer = 0;
    std::int64_t row = -1;  ///< -1: stores whose row is unknown
    ReplicaDifference value{};
    int updater = 0;
  };

  /// Returns the partition of all replicas for a variable. The replicas of a block share the variable or, if it is sharded,
  /// the same shard.
  constexpr int partition_of(const VariableRecord& variable) {
    const std::int64_t shards = variable.distribution.shard_over;
    if (variable.assignment.empty() && shards == 1) return ReplicaPartitions::equal;
    List<int> labels, members(static_cast<std::size_t>(ir_.replication_factor()), 0);  // by group: those that were seen
    for (std::int64_t replica = 0; replica < ir_.replication_factor(); ++replica) {
      const int group = variable.assignment.empty() ? 0 : variable.assignment[replica];
      labels.push_back(static_cast<int>(group * shards + members[group]++ % shards));
    }
    return partitions_.of_labels(std::move(labels));
  }
  constexpr ReplicaDifference joined(const ReplicaDifference& a, const ReplicaDifference& b) {
    if (b.origin == 0) return a;
    if (a.origin == 0) return b;
    const int partition = partitions_.refined(a.partition, b.partition);
    const bool is_earlier = b.origin > 0 && (a.origin < 0 || b.origin < a.origin);
    const bool of_b = (partition == a.partition) == (partition == b.partition) ? is_earlier : partition == b.partition;
    return {partition, of_b ? b.origin : a.origin};
  }
  static constexpr TensorId root_of(const Tensors& tensors, TensorId tensor) {
    const TensorId root = tensors[tensor].root;
    return root == TensorId::none ? tensor : root;
  }

  // ---- graphs

  constexpr void follow_context(ExecutionContext context, Tensors& tensors) {
    const List<Node, NodeId>& nodes = ir_.tables.record(GraphId::main).nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (nodes[NodeId(n)].context == context) follow(GraphId::main, nodes[NodeId(n)], {}, tensors);
  }
  /// Returns the number of the effect in effects_ of the graph.
  constexpr std::size_t effect_of(GraphId graph, const List<ReplicaInput>& before, const ReplicaDifference& control) {
    List<ReplicaEffect>& known = effects_[graph];
    for (std::size_t e = 0; e < known.size(); ++e)
      if (known[e].stores == stores_ && known[e].control == control && known[e].before == before) return e;
    const GraphRecord& record = ir_.tables.record(graph);
    ReplicaEffect effect{.before = before, .control = control, .stores = stores_};
    Tensors tensors(record.tensors.size());
    for (std::size_t i = 0; i < before.size(); ++i) tensors[record.inputs[i]].input = before[i];
    for (const Node& node : record.nodes) follow(graph, node, control, tensors);
    for (const TensorId input : record.inputs) effect.after.push_back(tensors[input].input);
    for (const TensorId output : record.outputs) effect.outputs.push_back(tensors[output].input.value);
    known.push_back(std::move(effect));
    return known.size() - 1;
  }
  /// Returns the number of the effect of a loop; `before` becomes the inputs of any iteration.
  constexpr std::size_t effect_of_loop(const Node& node, List<ReplicaInput>& before, const ReplicaDifference& control) {
    const std::int64_t carried = unpack<LoopAttributes>(node.attributes).carried;
    for (;;) {
      const std::size_t effect = effect_of(node.called_graph, before, control);
      const ReplicaEffect& known = effects_[node.called_graph][effect];
      List<ReplicaInput> next = before;
      for (std::int64_t i = 0; i < carried; ++i) next[i].value = joined(next[i].value, known.outputs[i]);
      for (const int i : node.modified) {
        next[i].value = joined(next[i].value, known.after[i].value);
        next[i].unmeant = joined(next[i].unmeant, known.after[i].unmeant);
      }
      if (next == before) return effect;
      before = std::move(next);
    }
  }
  constexpr void follow_call(GraphId graph, const Node& node, const ReplicaDifference& outer, Tensors& tensors) {
    const bool is_conditional = node.else_graph != GraphId::none;
    const auto value_of = [&](TensorId tensor) -> ReplicaDifference& { return tensors[tensor].input.value; };
    const ReplicaDifference control = is_conditional ? joined(outer, value_of(node.inputs[0])) : outer;
    for_each_callee(node, [&](GraphId called, int first) {
      const GraphRecord& record = ir_.tables.record(called);
      const auto count = static_cast<int>(record.inputs.size());
      List<ReplicaInput> before(record.inputs.size());
      for (int i = 0; i < count; ++i) {
        ReplicaDifference value = value_of(node.inputs[first + i]);
        if (value.origin > 0 && record.is_differentiated) value = as_data(value);
        before[i].value = value;
      }
      for (const int i : node.modified)
        if (i >= first && i < first + count) before[i - first].unmeant = tensors[root_of(tensors, node.inputs[i])].input.unmeant;
      const std::size_t effect = is_loop(node) ? effect_of_loop(node, before, control) : effect_of(called, before, control);
      const ReplicaEffect& known = effects_[called][effect];
      for (std::size_t o = 0; o < node.outputs.size(); ++o) {
        ReplicaDifference& value = value_of(node.outputs[o]);
        value = joined(joined(value, known.outputs[o]), control);
      }
      for (const int i : node.modified)
        if (i >= first && i < first + count) write(graph, node.inputs[i], known.after[i - first], is_conditional, tensors);
    });
    if (is_loop(node) && unpack<LoopAttributes>(node.attributes).count == 0)
      for (std::size_t o = 0; o < node.outputs.size(); ++o) value_of(node.outputs[o]) = value_of(node.inputs[o]);
  }
  /// Returns the difference of a load of one element that serves as data, in a graph that is differentiated.
  static constexpr ReplicaDifference as_data(const ReplicaDifference& value) {
    if (value.partition != ReplicaPartitions::equal) return value;
    return {ReplicaPartitions::own, value.origin};
  }

  // ---- ops

  constexpr void follow(GraphId graph, const Node& node, const ReplicaDifference& control, Tensors& tensors) {
    if (node.called_graph != GraphId::none) return follow_call(graph, node, control, tensors);
    const OpInfo& op = *node.op;
    ReplicaDifference others{};  // of all inputs but the one that it changes
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (static_cast<int>(i) != op.modifies) others = joined(others, tensors[node.inputs[i]].input.value);
    if (op.transfer) others = joined(others, follow_transfer(graph, node, others, control));
    if (op.modifies >= 0) return follow_change(graph, node, joined(others, control), tensors);
    if (op.is_alias) {
      Followed& alias = add_alias(node, tensors);
      if (&op != &op_info<DiffersByReplica>) return;
      alias.is_meant = alias.counts_as_equal = found_meant_ = true;
      alias.input.value = {};
      return;
    }
    if (op.collective_volume) others = collected(graph, node, others);
    for (const TensorId output : node.outputs) tensors[output].input.value = others;
  }
  /// Adds output 0 to the aliases of its input.
  constexpr Followed& add_alias(const Node& node, Tensors& tensors) {
    const TensorId alias = node.outputs[0], input = aliased_input(node, alias), root = root_of(tensors, input);
    Followed& result = tensors[alias];
    result = tensors[input];
    result.root = root;
    result.next = tensors[root].next;
    tensors[root].next = alias;
    return result;
  }
  /// Follows an in-place op.
  constexpr void follow_change(GraphId graph, const Node& node, const ReplicaDifference& others, Tensors& tensors) {
    const TensorId input = node.inputs[node.op->modifies];
    const Followed& root = tensors[root_of(tensors, input)];
    ReplicaInput result{others, others};
    if (!overwrites(node)) {
      result.value = joined(tensors[input].counts_as_equal ? root.input.value : tensors[input].input.value, others);
      result.unmeant = joined(root.input.unmeant, others);
    }
    if (node.op->collective_items) {
      result.value = collected(graph, node, result.value);
      result.unmeant = collected(graph, node, result.unmeant);
    }
    const bool is_cause = others.origin != 0 && others.partition == result.unmeant.partition;
    if (is_cause || !partitions_.keeps(result.unmeant.partition, root.input.unmeant.partition)) result.updater = node.id;
    Followed& alias = add_alias(node, tensors);
    alias.counts_as_equal = false;
    write(graph, input, result, false, tensors);
    alias.input.value = result.value;
  }
  /// Returns whether an in-place op overwrites the whole old value.
  static constexpr bool overwrites(const Node& node) {
    if (node.op->transfer || node.op->is_copy || node.op == &op_info<CopyVarUpdate>) return true;
    return node.op == &op_info<AccumulatorScale> && node.inputs.size() == 1 &&
           unpack<AccumulatorScale::Attributes>(node.attributes).factor == 0;
  }
  /// Changes a tensor and all tensors that share its memory. `may_be`: the value may also remain.
  constexpr void write(GraphId graph, TensorId changed, const ReplicaInput& result, bool may_be, Tensors& tensors) {
    const TensorId root = root_of(tensors, changed);
    const auto& records = ir_.tables.record(graph).tensors;
    const bool is_whole = !may_be && records[changed].spec.nelms() == records[root].spec.nelms();
    for (TensorId each = root; each != TensorId::none; each = tensors[each].next) {
      if (tensors[each].counts_as_equal) continue;
      ReplicaDifference& value = tensors[each].input.value;
      value = is_whole || (each == changed && !may_be) ? result.value : joined(value, result.value);
    }
    if (tensors[changed].is_meant) return;
    ReplicaInput& input = tensors[root].input;
    input.unmeant = is_whole ? result.unmeant : joined(input.unmeant, result.unmeant);
    if (result.updater != 0) input.updater = result.updater;
  }
  /// Returns the difference of a collective's result.
  constexpr ReplicaDifference collected(GraphId graph, const Node& node, const ReplicaDifference& given) {
    const auto spec_of = [&](TensorId tensor) -> const TensorSpec& { return ir_.tables.record(graph).tensors[tensor].spec; };
    const CollectiveVolume volume = node.op->collective_volume(node.attributes, spec_of(node.inputs[0]),
                                                               spec_of(node.outputs[0]));
    if (volume.groups.num_replicas != ir_.replication_factor()) return given;
    const bool slices = !volume.reduces && !volume.gathers;
    const int whole = slices ? given.partition : partitions_.of_group(given.partition, volume.groups, false);
    const int origin = whole == ReplicaPartitions::equal ? 0 : given.origin;
    if (volume.gathers) return {whole, origin};
    const int part = slices ? partitions_.of_slices(whole, volume.groups)
                            : partitions_.of_group(given.partition, volume.groups, true);
    return {part, origin != 0 || part == ReplicaPartitions::equal ? origin : node.id};
  }
  /// Returns the difference of a load's result; `moved`: the difference of its inputs.
  constexpr ReplicaDifference follow_transfer(GraphId graph, const Node& node, const ReplicaDifference& moved,
                                              const ReplicaDifference& control) {
    const Transfer transfer = node.op->transfer(node.attributes);
    if (transfer.kind == TransferKind::stream && !transfer.stores) {
      const ReplicaDifference loaded{ReplicaPartitions::equal, node.id};
      const GraphRecord& record = ir_.tables.record(graph);
      return record.is_differentiated || record.tensors[node.outputs[0]].spec.nelms() > 1 ? as_data(loaded) : loaded;
    }
    if (transfer.kind != TransferKind::remote) return {};
    const auto buffer = static_cast<int>(transfer.number);
    ReplicaDifference loaded{};
    bool is_known = false;
    for (Row& each : rows_) {
      if (each.buffer != buffer) continue;
      if (!transfer.stores && (transfer.row < 0 || each.row < 0 || each.row == transfer.row)) loaded = joined(loaded, each.value);
      if (transfer.stores && each.row == transfer.row) is_known = true, store(each, joined(moved, control), node);
    }
    if (transfer.stores && !is_known) {
      rows_.push_back({.buffer = buffer, .row = transfer.row});
      store(rows_.back(), joined(moved, control), node);
    }
    return loaded;
  }
  constexpr void store(Row& row, const ReplicaDifference& value, const Node& node) {
    const ReplicaDifference next = joined(row.value, value);
    if (next == row.value) return;
    row.value = next;
    row.updater = node.id;
    ++stores_;
  }

  // ---- errors

  constexpr void check_variables(const Tensors& tensors) {
    for (std::size_t v = 0; v < ir_.tables.variables.size() && !ir_.failed(); ++v) {
      const VariableRecord& variable = ir_.tables.variables[v];
      if (variable.distribution.all_replicas) continue;
      const ReplicaInput& input = tensors[variable.tensor].input;
      if (variable.remote_buffer < 0) validate(v, input.unmeant, input.updater);
      for (const Row& row : rows_)
        if (row.buffer == variable.remote_buffer && (row.row < 0 || row.row == variable.row)) validate(v, row.value, row.updater);
    }
  }
  constexpr void validate(std::size_t v, const ReplicaDifference& difference, int updater) {
    const int shared = shared_[v].partition;
    if (ir_.failed() || partitions_.keeps(difference.partition, shared)) return;
    Text sharing = text("all ", ir_.replication_factor(), " replicas");  // no conditional operators: see Differentiator::run
    if (shared != ReplicaPartitions::equal) sharing = text("the replicas of each group, ", text_of(shared), ",");
    Text differing = "differs by replica";
    if (difference.partition != ReplicaPartitions::own)
      differing = text("is equal within the groups ", text_of(difference.partition), " only,");
    ir_.fail(text(op_text(updater), ": variable '", ir_.tables.record(GraphId::main).tensors[ir_.tables.variables[v].tensor].name,
                  "', of which ", sharing, " have one value, changed by what ", differing, " since ",
                  origin_text(difference.origin),
                  ": the replicated_all_reduce of a gradient, or tw::differs_by_replica where it is meant, expected"));
  }
  /// Returns, by replica, the number of its block as text.
  constexpr Text text_of(int partition) const {
    Text result;
    for (const int block : partitions_[partition]) result += text(result.empty() ? "" : " ", block);
    return result;
  }
  /// Returns the op and its graph for errors: ScaledAddInplace.104 in sgd_subgraph(1)
  constexpr Text op_text(int id) const {
    for (const GraphRecord& graph : ir_.tables.graphs)
      for (const Node& node : graph.nodes)
        if (node.id == id) return text(node.op->name, ".", id, graph.name.empty() ? "" : " in ", graph.name);
    return {};
  }
  constexpr Text origin_text(int origin) const {
    if (origin < 0) {
      const VariableRecord& variable = ir_.tables.variables[static_cast<std::size_t>(-1 - origin)];
      return text("variable '", ir_.tables.record(GraphId::main).tensors[variable.tensor].name, "'");
    }
    for (const GraphRecord& graph : ir_.tables.graphs)
      for (const Node& node : graph.nodes) {
        if (node.id != origin || !node.op->transfer) continue;
        const Transfer transfer = node.op->transfer(node.attributes);
        return text(op_text(origin), " of stream '", ir_.tables.streams[static_cast<std::size_t>(transfer.number)].name, "'");
      }
    return op_text(origin);
  }

  Ir& ir_;
  ReplicaPartitions partitions_;
  List<ReplicaDifference> shared_{};  // by variable: the replicas that have one value
  List<Row> rows_{};
  List<List<ReplicaEffect>, GraphId> effects_{};
  int stores_ = 0;  // stores to remote buffers that changed what is there
  bool found_meant_ = false;
};

/// Makes readers of the alias of differs_by_replica read the tensor itself, except calls, so that no pass meets the op.
constexpr void drop_differs_by_replica(Ir& ir) {
  for (GraphRecord& graph : ir.tables.graphs) {
    List<TensorId, TensorId> read(graph.tensors.size());
    for (std::size_t t = 0; t < read.size(); ++t) read[TensorId(t)] = TensorId(t);
    for (Node& node : graph.nodes) {
      if (node.op == &op_info<DiffersByReplica>) read[node.outputs[0]] = read[node.inputs[0]];
      if (node.called_graph != GraphId::none) continue;
      for (TensorId& input : node.inputs) input = read[input];
    }
    for (TensorId& output : graph.outputs) output = read[output];
  }
}

}  // namespace detail

/// Fails if replicas that share a variable would have different values of it after a run, and the program does not declare the
/// difference by differs_by_replica. Each replica has its own elements of streams. One exception: a single element, such as a
/// learning rate, counts as equal for all if no gradient is taken of its uses. Runs before the first pass of planning.
constexpr void check_replicas(Ir& ir) {
  if (ir.replication_factor() == 1 || ir.failed()) return;
  detail::ReplicaCheck replicas(ir);
  replicas.run();
  if (replicas.found_meant()) detail::drop_differs_by_replica(ir);
}

}  // namespace tilewright
