#pragma once
#include <optional>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/lower/steps/copies.hpp"

namespace tilewright::internal::detail {

/// Lowers loads and stores by the Transfer of their ops.
class TransferLowerer {
 public:
  constexpr TransferLowerer(Copier& copier, const List<BodyId, GraphId>& body_of, Plan& plan, BodyDraft& draft,
                            bool in_main_graph, bool has_io_tiles)
      : copier_(copier),
        body_of_(body_of),
        plan_(plan),
        draft_(draft),
        in_main_graph_(in_main_graph),
        has_io_tiles_(has_io_tiles) {}

  constexpr void add(GraphValues& graph, const Node& node) {
    List<Operation> transfers, afterwards;
    lower(graph, node, transfers, afterwards);
    add_all(transfers);
    add_all(afterwards);
  }
  /// Adds transfers of one exchange consecutively. Copies that make operands dense come before them, and copies of received rows
  /// after them. Loads and stores of host streams in the main graph are not separate transfers.
  constexpr void add_exchange(GraphValues& graph, Span<const NodeId> nodes) {
    List<Operation> transfers, afterwards;
    for (const NodeId n : nodes) lower(graph, graph.record.nodes[n], transfers, afterwards);
    for (Operation& transfer : transfers) {
      transfer.alone = true;
      transfer.exchange = exchanges_;
    }
    ++exchanges_;
    add_all(transfers);
    add_all(afterwards);
  }

 private:
  constexpr void add_all(List<Operation>& operations) {
    for (Operation& operation : operations) draft_.add(std::move(operation));
  }
  /// Adds the operations that precede a transfer to the draft, and adds the transfer and the operations that follow it to the
  /// lists.
  constexpr void lower(GraphValues& graph, const Node& node, List<Operation>& transfers, List<Operation>& afterwards) {
    const Transfer transfer = node.op->transfer(node.attributes);
    switch (transfer.kind) {
      case TransferKind::stream:
        return transfer.stores ? store_element(graph, node, transfer, transfers) : load_element(graph, node, transfer, transfers);
      case TransferKind::remote:
        return transfer.stores ? store_row(graph, node, transfer, transfers)
                               : load_row(graph, node, transfer, transfers, afterwards);
      case TransferKind::code: return load_code(transfer, transfers);
    }
  }

  // ---- streams: copies from and to where the host has their elements

  /// Loads an element of a stream. The main graph reads it directly from the host's array, unless called graphs move the stream.
  /// IO tiles load theirs at the place in the program, while other tiles work.
  constexpr void load_element(GraphValues& graph, const Node& node, const Transfer& transfer, List<Operation>& transfers) {
    Value& result = graph.value_of(node.outputs[0]);
    const bool moves = uses_stream(transfer);
    const Value element = next_element(transfer, graph.spec(node.outputs[0]));
    if (const int target = node.op->modifies; target >= 0) {
      copier_.make_writable(graph, node.inputs[target]);
      result = copier_.value(graph, node.inputs[target]);
    } else if (moves || (has_io_tiles_ && draft_.placement.tile_set == TileSet::io)) {
      result = draft_.add_value(element.spec);
    } else {
      result = element;
      return;
    }
    add_copy(element, result, transfer, transfers);
  }
  /// Stores an element of a stream. The main graph writes it directly to the host's array; if a call computes it, the call writes
  /// it there.
  constexpr void store_element(GraphValues& graph, const Node& node, const Transfer& transfer, List<Operation>& transfers) {
    const Value& from = copier_.value(graph, node.inputs[transfer.tensor]);
    const bool moves = uses_stream(transfer);
    const Value element = next_element(transfer, from.spec);
    Storage& made = draft_.storage(from.storage);
    if (!moves && made.location.base == Base::frame && made.is_call_result && is_whole_and_dense(from, made)) {
      made.location = draft_.storage(element.storage).location;
      return;
    }
    add_copy(from, element, transfer, transfers);
  }
  /// Records that the body uses the stream. Returns whether each load and store moves it on.
  constexpr bool uses_stream(const Transfer& transfer) {
    PlannedStream& stream = plan_.streams[transfer.number];
    stream.used = true;
    if (!in_main_graph_) stream.moves = true;
    return stream.moves;
  }
  /// Returns the element for the next load or store of the stream.
  constexpr Value next_element(const Transfer& transfer, const TensorSpec& spec) {
    PlannedStream& stream = plan_.streams[transfer.number];
    const std::int64_t offset = stream.moves ? 0 : stream.elements++ * plan_.replicas * spec.bytes();
    return draft_.add_value(spec, {Base::stream, static_cast<int>(transfer.number), offset});
  }
  /// Adds a copy, which moves the stream on and is a transfer, unless the stream's elements have fixed places.
  constexpr void add_copy(const Value& from, const Value& to, const Transfer& transfer, List<Operation>& transfers) {
    if (!plan_.streams[transfer.number].moves) return copier_.copy(from, to);
    transfers.push_back(copy_operation(from, to));
    transfers.back().stream = static_cast<int>(transfer.number);
  }

  // ---- rows of remote buffers

  constexpr void load_row(GraphValues& graph, const Node& node, const Transfer& transfer, List<Operation>& transfers,
                          List<Operation>& afterwards) {
    const int modified = node.op->modifies;
    const bool in_place = modified >= 0;
    if (in_place) copier_.make_writable(graph, node.inputs[modified]);
    const Value target = in_place ? copier_.value(graph, node.inputs[modified]) : draft_.add_value(graph.spec(node.outputs[0]));
    const std::optional<Value> offset = offset_of(graph, node, transfer);
    const bool is_direct = is_dense(target.spec.shape, target.layout) && !(offset && offset->storage == target.storage);
    const Value landing = is_direct ? target : draft_.add_value(target.spec);
    Operation load = row_operation(graph, node, transfer, table_of(transfer));
    add_offset(load, offset);
    load.operands.push_back(as_vector(landing));
    transfers.push_back(std::move(load));
    if (!is_direct) afterwards.push_back(copy_operation(landing, target));
    graph.value_of(node.outputs[0]) = target;
  }
  constexpr void store_row(GraphValues& graph, const Node& node, const Transfer& transfer, List<Operation>& transfers) {
    const Value from = copier_.dense(copier_.value(graph, node.inputs[transfer.tensor]));
    const std::optional<Value> offset = offset_of(graph, node, transfer);
    note_store(plan_.remote_buffers[transfer.number]);
    Operation store = row_operation(graph, node, transfer, as_vector(from));
    add_offset(store, offset);
    store.operands.push_back(table_of(transfer));
    transfers.push_back(std::move(store));
  }
  constexpr void note_store(PlannedRemoteBuffer& buffer) const {
    buffer.is_stored = true;
    if (buffer.mapping > 0 && plan_.replicas > 1)
      plan_.fail(text("remote_store: mapped buffer '", buffer.name, "', whose rows ", plan_.replicas,
                      " replicas share: one replica expected"));
  }
  static constexpr Operation row_operation(const GraphValues& graph, const Node& node, const Transfer& transfer,
                                           const Value& source) {
    const OpInfo* const op = transfer.kernel ? transfer.kernel : node.op;
    return {.op = op, .input_count = 1, .operands = {source}, .graph = graph.graph, .scope = node.scope, .alone = true};
  }
  constexpr std::optional<Value> offset_of(GraphValues& graph, const Node& node, const Transfer& transfer) {
    if (transfer.offset < 0) return {};
    return copier_.value(graph, node.inputs[transfer.offset]);
  }
  /// Returns the table of all rows, or the known row.
  constexpr Value table_of(const Transfer& transfer) {
    const PlannedRemoteBuffer& buffer = plan_.remote_buffers[transfer.number];
    const std::int64_t rows = transfer.row < 0 ? buffer.entries : 1, first = transfer.row < 0 ? 0 : transfer.row;
    Value result = draft_.add_value({{rows, buffer.spec.nelms()}, buffer.spec.dtype},
                                    {Base::remote, buffer.mapping, buffer.offset + first * buffer.row_bytes()});
    result.layout.strides[0] = buffer.row_bytes() / size_of(buffer.spec.dtype);
    return result;
  }
  static constexpr Value as_vector(const Value& dense) {
    const TensorSpec spec{{dense.spec.nelms()}, dense.spec.dtype};
    return {dense.storage, {dense.layout.offset, dense_strides(spec.shape)}, spec};
  }
  static constexpr void add_offset(Operation& operation, const std::optional<Value>& offset) {
    if (!offset) return;
    operation.operands.push_back(as_vector(*offset));
    ++operation.input_count;
  }

  // ---- code

  constexpr void load_code(const Transfer& transfer, List<Operation>& transfers) const {
    const BodyId body = body_of_[GraphId(transfer.number)];
    if (body != BodyId::none)
      transfers.push_back({.calling = {.body = body}, .loads_code = true});  // else no result of it is used
  }

  Copier& copier_;
  const List<BodyId, GraphId>& body_of_;
  Plan& plan_;
  BodyDraft& draft_;
  bool in_main_graph_, has_io_tiles_;
  int exchanges_ = 0;  // so far: the number of the next one
};

}  // namespace tilewright::internal::detail
