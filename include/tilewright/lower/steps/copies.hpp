#pragma once
#include <algorithm>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/lower/draft/intrinsics.hpp"
#include "tilewright/lower/program/dead_code.hpp"
#include "tilewright/lower/steps/copied_views.hpp"

namespace tilewright::internal::detail {

/// Values of a graph's tensors in a draft: of the body's graph, or of a graph that is inlined at a call.
struct GraphValues {
  constexpr GraphValues(const Ir& ir, GraphId number)
      : graph(number),
        record(ir.tables.record(number)),
        values(record.tensors.size()),
        copied_views(find_copied_views(record, ir.tables.has_contexts)) {}
  constexpr Value& value_of(TensorId tensor) { return values[tensor]; }
  constexpr const TensorSpec& spec(TensorId tensor) const {
    const int number = static_cast<int>(tensor), count = static_cast<int>(record.tensors.size());
    return number < count ? record.tensors[tensor].spec : between_parts[number - count];
  }
  /// Returns where a tensor is; unknown for those between the parts of an op.
  constexpr Placement placement(TensorId tensor) const {
    if (static_cast<std::size_t>(tensor) >= record.tensors.size()) return {};
    return record.tensors[tensor].placement;
  }
  /// Adds a tensor that the graph does not have, and returns its number.
  constexpr TensorId add(const TensorSpec& spec) {
    between_parts.push_back(spec);
    values.push_back({});
    return TensorId(values.size() - 1);
  }

  GraphId graph;
  const GraphRecord& record;
  List<Value, TensorId> values;  ///< a value without a storage is not created yet
  List<bool, NodeId> copied_views;  ///< whether the node is a view whose elements are copied; empty if there are none
  List<StorageId> borrowed{};        ///< storages of the caller of an inlined graph, which the graph must not write
  List<TensorSpec> between_parts{};  ///< of the tensors between the parts of an op, numbered after the graph's tensors
};

/// Adds a body's copies: before an op changes memory that its graph must not change, before it overwrites memory that it reads,
/// and for ops that need dense operands.
class Copier {
 public:
  constexpr Copier(const Ir& ir, const LiveCode& live, const Plan& plan, BodyDraft& draft, GraphId graph)
      : ir_(ir), modified_(live.modified[graph]), plan_(plan), draft_(draft) {}

  /// Returns a tensor's value. Variables, constants, and tensors of another execution context get their storage at their first
  /// use.
  constexpr Value& value(GraphValues& graph, TensorId tensor) {
    Value& known = graph.value_of(tensor);
    if (known.storage != StorageId::none) return known;
    const TensorRecord& record = graph.record.tensors[tensor];
    if (record.kind == TensorKind::intermediate) return known = kept_value(graph, tensor);
    if (record.kind == TensorKind::constant) return known = constant_value(record);
    const Location location{Base::variable, 0, plan_.variables[record.payload].offset};
    return known = draft_.placed(draft_.add_value(record.spec, location), record.placement);
  }
  /// Returns the value of a constant. Graphs in one body may have equal constants, for example a gradient graph and its forward
  /// graph. Such a constant has one storage, so that it is at one place of the tiles.
  constexpr Value constant_value(const TensorRecord& record) {
    if (draft_.constants.empty()) draft_.constants.resize(plan_.constants.size(), StorageId::none);
    StorageId& storage = draft_.constants[record.payload];
    if (storage != StorageId::none && draft_.storage(storage).placement == record.placement)
      return {storage, dense_layout(record.spec.shape), record.spec};
    const Location location{Base::constant, 0, plan_.constants[record.payload].offset};
    const Value value = draft_.placed(draft_.add_value(record.spec, location), record.placement);
    storage = value.storage;
    return value;
  }
  constexpr void copy(const Value& from, const Value& to) { draft_.add(copy_operation(from, to)); }
  constexpr Value copied(const Value& given) {
    const Value result = draft_.placed(draft_.add_value(given.spec), draft_.placement_of(given));
    copy(given, result);
    return result;
  }
  /// Returns the value, or a copy of it if its elements are not contiguous.
  constexpr Value dense(const Value& given) {
    if (is_dense(given.spec.shape, given.layout)) return given;
    return copied(given);
  }
  /// Puts a result at a location: it is written there directly if it has its own storage; otherwise it is copied.
  constexpr void give(const Value& result, const Location& target) {
    Storage& storage = draft_.storage(result.storage);
    if (storage.location.base == Base::frame && is_whole_and_dense(result, storage)) storage.location = target;
    else copy(result, draft_.placed(draft_.add_value(result.spec, target), draft_.placement_of(result)));
  }

  /// Prepares an in-place op: copies memory that the graph must not write, for all views of it. A tensor whose elements share
  /// memory gets separate memory.
  constexpr void make_writable(GraphValues& graph, TensorId tensor) {
    if (const Value& given = value(graph, tensor); repeats_elements(given.spec.shape, given.layout))
      return make_dense(graph, tensor);
    const StorageId storage = value(graph, tensor).storage;
    if (is_writable(draft_.storage(storage).location) && !has_item(graph.borrowed, storage)) return;
    const TensorSpec whole = draft_.storage(storage).whole;
    const Value fresh = draft_.placed(draft_.add_value(whole), draft_.storage(storage).placement);
    copy({storage, dense_layout(whole.shape), whole}, fresh);
    const TensorId changed = alias_root(graph, tensor);  // other values in the same memory stay there
    for (std::size_t t = 0; t < graph.values.size(); ++t)
      if (const auto other = TensorId(t); graph.values[other].storage == storage && alias_root(graph, other) == changed)
        graph.values[other].storage = fresh.storage;
  }
  /// Prepares an alias that needs dense elements: an input by value of an inlined graph may be a view. A copy replaces it, for
  /// all its aliases.
  constexpr void make_dense(GraphValues& graph, TensorId tensor) {
    const TensorId root = alias_root(graph, tensor);
    const Value given = value(graph, root);
    if (is_dense(given.spec.shape, given.layout)) return;
    const Value fresh = copied(given);
    for (std::size_t t = 0; t < graph.record.tensors.size(); ++t) {
      const auto other = TensorId(t);
      if (graph.values[other].storage == given.storage && alias_root(graph, other) == root)
        graph.values[other] = {fresh.storage, aliased_tensor(ir_, graph.graph, other).second, graph.spec(other)};
    }
  }
  /// Copies operands that overlap with the memory that an in-place op writes, unless each element is read where it is written.
  constexpr void read_before_write(Operation& operation) {
    const OpInfo& op = *operation.op;
    const Value target = operation.operands[op.modifies];
    for (int i = 0; i < operation.input_count; ++i) {
      Value& other = operation.operands[i];
      const bool same_place = op.elementwise && other.layout == target.layout && other.spec == target.spec;
      if (i == op.modifies || other.storage != target.storage || same_place) continue;
      other = copied(other);
    }
  }
  /// Copies the result of an in-place op back if the op got a dense copy of its operand.
  constexpr void write_back(GraphValues& graph, const Node& node) {
    const Value target = value(graph, node.inputs[node.op->modifies]);
    Value& result = graph.value_of(node.outputs[0]);
    if (result.storage == target.storage) return;
    copy(result, target);
    result = target;
  }

 private:
  /// Returns the value of a tensor that another root computed, or of an alias of such a tensor or of a variable.
  constexpr Value kept_value(GraphValues& graph, TensorId tensor) {
    const TensorSpec& spec = graph.spec(tensor);
    if (const auto [aliased, layout] = aliased_tensor(ir_, graph.graph, tensor); aliased != tensor)
      return {value(graph, aliased).storage, layout, spec};
    const auto place = std::find_if(plan_.kept.begin(), plan_.kept.end(),
                                    [tensor](const KeptTensor& kept) { return kept.tensor == tensor; });
    return draft_.placed(draft_.add_value(spec, {Base::variable, 0, place->offset}), graph.placement(tensor));
  }
  /// Returns the tensor of the graph of which a tensor is an alias; itself if it is none.
  static constexpr TensorId alias_root(const GraphValues& graph, TensorId tensor) {
    const auto end = TensorId(graph.record.tensors.size());
    while (tensor < end) {
      const NodeId producer = graph.record.tensors[tensor].producer;
      if (producer == NodeId::none) break;
      const TensorId input = aliased_input(graph.record.nodes[producer], tensor);
      if (input == TensorId::none) break;
      tensor = input;
    }
    return tensor;
  }
  /// Returns whether the body may write there: to its frame, to variables, and to arguments that some call lets it change.
  constexpr bool is_writable(const Location& location) const {
    if (location.base != Base::argument) return location.base == Base::frame || location.base == Base::variable;
    return location.index < static_cast<int>(modified_.size()) && modified_[location.index];
  }

  const Ir& ir_;
  const List<bool>& modified_;  // by input of the body's graph: whether some call lets the graph change the caller's tensor
  const Plan& plan_;
  BodyDraft& draft_;
};

}  // namespace tilewright::internal::detail
