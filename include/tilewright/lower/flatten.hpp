#pragma once
#include <algorithm>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/merge_exchange.hpp"
#include "tilewright/lower/body_draft.hpp"
#include "tilewright/lower/copied_views.hpp"
#include "tilewright/lower/dead_code.hpp"
#include "tilewright/lower/remote.hpp"
#include "tilewright/ops/host.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright {

namespace detail {

/// Goes through the live ops of a graph, and of graphs that are called only once, in traced order.
class Flattener {
 public:
  constexpr Flattener(const Ir& ir, const LiveCode& live, const List<int>& body_of, Plan& plan)
      : ir_(ir), live_(live), body_of_(body_of), plan_(plan) {}

  constexpr BodyDraft run(int graph) {
    graph_ = graph;
    Scope scope(ir_, graph);
    const auto& inputs = scope.record.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      scope.value_of(inputs[i]) = draft_.add_value(scope.spec(inputs[i]), {Base::argument, static_cast<int>(i)});
    flatten_nodes(scope);
    const auto& outputs = scope.record.outputs;
    for (std::size_t o = 0; graph != 0 && o < outputs.size(); ++o)
      if (live_.outputs[at(graph)][o] != 0)
        flatten_output(value(scope, outputs[o]), {Base::argument, static_cast<int>(inputs.size() + o)});
    return std::move(draft_);
  }

 private:
  /// A graph whose ops go into the draft.
  struct Scope {
    constexpr Scope(const Ir& ir, int number)
        : graph(number), record(ir.record(number)), values(record.tensors.size()), copied_views(find_copied_views(record)) {}
    constexpr Value& value_of(int tensor) { return values[at(tensor)]; }
    constexpr const TensorSpec& spec(int tensor) const {
      const std::size_t count = record.tensors.size();
      return at(tensor) < count ? record.tensors[at(tensor)].spec : between_parts[at(tensor) - count];
    }
    /// A tensor that the graph does not have.
    constexpr int add(const TensorSpec& spec) {
      between_parts.push_back(spec);
      values.push_back({});
      return static_cast<int>(values.size()) - 1;
    }

    int graph;
    const GraphRecord& record;
    List<Value> values;    // by tensor
    List<char> copied_views;  // by node; empty if there are none
    List<int> borrowed{};  // storages of the caller: not to be written
    List<TensorSpec> between_parts{};  // what parts of expanded ops hand to each other
  };

  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static constexpr bool contains(const List<int>& list, int item) { return std::ranges::find(list, item) != list.end(); }

  /// Variables and constants get their storage when they are first used.
  constexpr Value& value(Scope& scope, int tensor) {
    Value& known = scope.value_of(tensor);
    if (known.storage >= 0) return known;
    const TensorRecord& info = scope.record.tensors[at(tensor)];
    Location location{Base::constant, 0, 0};
    if (info.kind == TensorKind::variable) location = {Base::variable, 0, plan_.variables[at(info.payload)].offset};
    else location.offset = plan_.constants[at(info.payload)].offset;
    return known = draft_.add_value(info.spec, location);
  }

  constexpr void flatten_nodes(Scope& scope) {
    for_each_op(ir_, scope.graph, [&](std::span<const int> nodes) {
      if (nodes.size() > 1) flatten_exchange(scope, nodes);
      else if (live_.nodes[at(scope.graph)][at(nodes[0])] != 0) flatten_node(scope, at(nodes[0]));
    });
  }
  constexpr void flatten_node(Scope& scope, std::size_t n) {
    flatten(scope, scope.record.nodes[n]);
    if (scope.copied_views.empty() || scope.copied_views[n] == 0) return;
    Value& view = scope.value_of(scope.record.nodes[n].outputs[0]);
    view = copied(view);
  }
  /// The transfers follow each other; copies that make operands dense come before, and those from where rows land after them.
  /// What the main graph loads from the host or stores there is no transfer of its own.
  constexpr void flatten_exchange(Scope& scope, std::span<const int> nodes) {
    List<Operation> transfers, afterwards;
    List<Operation>& all = draft_.operations;
    for (const int n : nodes) {
      if (live_.nodes[at(scope.graph)][at(n)] == 0) continue;
      const std::size_t first = all.size();
      flatten(scope, scope.record.nodes[at(n)]);
      std::size_t transfer = first;
      while (transfer < all.size() && all[transfer].alone == 0 && !all[transfer].loads_code && all[transfer].stream < 0)
        ++transfer;
      for (std::size_t i = transfer; i < all.size(); ++i) (i == transfer ? transfers : afterwards).push_back(std::move(all[i]));
      while (all.size() > transfer) all.pop_back();
    }
    for (Operation& transfer : transfers) {
      transfer.alone = next_exchange_;
      add_operation(std::move(transfer));
    }
    for (Operation& copy : afterwards) add_operation(std::move(copy));
    ++next_exchange_;
  }
  constexpr void flatten(Scope& scope, const Node& node) {
    if (node.op == &op_info<HostLoad>) return flatten_host_load(scope, node);
    if (node.op == &op_info<HostStore>) return flatten_host_store(scope, node);
    if (node.op == &op_info<RemoteLoad>) return flatten_remote_load(scope, node);
    if (node.op == &op_info<RemoteLoadInplace>) return flatten_remote_load_inplace(scope, node);
    if (node.op == &op_info<RemoteStore>) return flatten_remote_store(scope, node);
    if (node.op == &op_info<RemoteCodeLoad>) return flatten_code_load(node);
    if (node.called_graph >= 0)
      return live_.is_inlined(node.called_graph) ? flatten_inlined(scope, node) : flatten_call(scope, node);
    if (node.op->expand && flatten_parts(scope, node)) return;
    const OpInfo& op = *node.op;
    if (op.modifies >= 0) make_writable(scope, node.inputs[at(op.modifies)]);
    if (op.is_alias && !op.any_layout) make_dense(scope, node.inputs[0]);
    Operation operation{&op, node.attributes, static_cast<int>(node.inputs.size())};
    operation.graph = scope.graph;
    operation.scope = node.scope;
    operation.alone = op.has_side_effect || op.collective_items ? 1 : 0;
    operation.operands.reserve(node.inputs.size() + node.outputs.size());
    for (int input : node.inputs) operation.operands.push_back(fit(value(scope, input), op.any_layout));
    if (op.modifies >= 0) read_before_write(op, operation);
    if (op.view) {
      const auto& [storage, layout, from] = operation.operands[0];
      const TensorSpec& to = scope.spec(node.outputs[0]);
      scope.value_of(node.outputs[0]) = {storage, op.view(from.shape, layout, to.shape, node.attributes), to};
      return;
    }
    for (int output : node.outputs) {
      Value& result = scope.value_of(output);
      if (op.modifies >= 0 && output == node.outputs[0]) result = operation.operands[at(op.modifies)];
      else result = draft_.add_value(scope.spec(output));
      operation.operands.push_back(result);
    }
    make_room(draft_.operations);
    draft_.operations.push_back(std::move(operation));
    if (op.modifies >= 0) write_back(scope, node);
  }
  /// Whether the op stands for others; they go into the draft.
  constexpr bool flatten_parts(Scope& scope, const Node& node) {
    List<TensorSpec> operands;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (int tensor : *tensors) operands.push_back(scope.spec(tensor));
    const auto parts = node.op->expand(operands, static_cast<int>(node.inputs.size()), node.attributes);
    List<int> tensors = node.inputs;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Node part{.op = parts[p].op, .attributes = parts[p].attributes, .scope = node.scope};
      for (int input : parts[p].inputs) part.inputs.push_back(tensors[at(input)]);
      if (p + 1 == parts.size()) part.outputs = node.outputs;
      else
        for (const TensorSpec& spec : parts[p].outputs) part.outputs.push_back(scope.add(spec));
      for (int output : part.outputs) tensors.push_back(output);
      flatten(scope, part);
    }
    return !parts.empty();
  }
  /// In the main graph the elements of a stream are read, and written, where the host has them, unless called graphs move it.
  constexpr void flatten_host_load(Scope& scope, const Node& node) {
    const int stream = static_cast<int>(unpack<StreamAttributes>(node.attributes).stream);
    Value& result = scope.value_of(node.outputs[0]);
    const Value element = next_element(stream, scope.spec(node.outputs[0]));
    if (!plan_.streams[at(stream)].moves) {
      result = element;
      return;
    }
    copy(element, result = draft_.add_value(element.spec));
    draft_.operations.back().stream = stream;
  }
  constexpr void flatten_host_store(Scope& scope, const Node& node) {
    const int stream = static_cast<int>(unpack<StreamAttributes>(node.attributes).stream);
    const Value& from = value(scope, node.inputs[0]);
    const Value element = next_element(stream, from.spec);
    Storage& made = draft_.storage(from.storage);
    if (!plan_.streams[at(stream)].moves && made.location.base == Base::frame && is_made_by_call(from.storage) &&
        is_whole_and_dense(from, made)) {
      made.location = draft_.storage(element.storage).location;  // the call writes it there
      return;
    }
    copy(from, element);
    if (plan_.streams[at(stream)].moves) draft_.operations.back().stream = stream;
  }
  /// The element that the next load or store of the stream takes.
  constexpr Value next_element(int number, const TensorSpec& spec) {
    PlannedStream& stream = plan_.streams[at(number)];
    stream.used = true;
    if (graph_ != 0) stream.moves = true;
    const std::int64_t offset = stream.moves ? 0 : stream.elements++ * plan_.replicas * spec.bytes();
    return draft_.add_value(spec, {Base::stream, number, offset});
  }
  /// Input `i` of a load or store, its offset, if there is one.
  constexpr std::optional<Value> remote_offset(Scope& scope, const Node& node, std::size_t i) {
    if (i >= node.inputs.size()) return {};
    return value(scope, node.inputs[i]);
  }
  constexpr void add_operation(Operation operation) {
    make_room(draft_.operations);
    draft_.operations.push_back(std::move(operation));
  }
  constexpr void flatten_remote_load(Scope& scope, const Node& node) {
    const Value result = draft_.add_value(scope.spec(node.outputs[0]));
    add_operation(RemoteOperands(draft_, plan_, node.attributes).load(remote_offset(scope, node, 0), result));
    scope.value_of(node.outputs[0]) = result;
  }
  constexpr void flatten_remote_load_inplace(Scope& scope, const Node& node) {
    make_writable(scope, node.inputs[0]);
    const Value target = value(scope, node.inputs[0]);
    std::optional<Value> offset = remote_offset(scope, node, 1);
    const bool is_direct = is_dense(target.spec.shape, target.layout) && !(offset && offset->storage == target.storage);
    const Value landing = is_direct ? target : draft_.add_value(target.spec);
    add_operation(RemoteOperands(draft_, plan_, node.attributes).load(offset, landing));
    if (!is_direct) copy(landing, target);
    scope.value_of(node.outputs[0]) = target;
  }
  constexpr void flatten_remote_store(Scope& scope, const Node& node) {
    const Value from = fit(value(scope, node.inputs[0]), false);
    add_operation(RemoteOperands(draft_, plan_, node.attributes).store(from, remote_offset(scope, node, 1)));
  }
  constexpr void flatten_code_load(const Node& node) {
    const int body = body_of_[at(static_cast<int>(unpack<CodeLoadAttributes>(node.attributes).graph))];
    if (body >= 0) add_operation({.calling = {.body = body}, .loads_code = true});  // else no result of it is used
  }
  constexpr void flatten_call(Scope& scope, const Node& node) {
    Operation call;
    Calling& calling = call.calling;
    if (node.op == &loop_info) calling.loop = unpack<LoopAttributes>(node.attributes);
    if (calling.loop && calling.loop->count == 0) return flatten_no_iteration(scope, node, calling.loop->carried);
    make_modified_writable(scope, node);
    int first = 0;
    if (node.op == &conditional_info) call.operands.push_back(value(scope, node.inputs[at(first++)]));
    calling.body = body_of_[at(node.called_graph)];
    calling.inputs = add_inputs(scope, node, call, node.called_graph, first);
    std::int64_t frame = plan_.bodies[at(calling.body)].frame_bytes;
    if (node.else_graph >= 0) {
      calling.else_body = body_of_[at(node.else_graph)];
      calling.else_inputs = add_inputs(scope, node, call, node.else_graph, first + calling.inputs);
      frame = std::max(frame, plan_.bodies[at(calling.else_body)].frame_bytes);
    }
    call.input_count = static_cast<int>(call.operands.size());
    calling.outputs = add_outputs(scope, node, call, node.called_graph);
    if (node.else_graph >= 0) calling.else_outputs = add_outputs(scope, node, call, node.else_graph);
    else if (!calling.loop) note_made_by_call(call);
    if (calling.loop)  // what an iteration takes over from the one before it is in two places by turns
      for (int k = 0; k < calling.loop->carried; ++k)
        call.operands.push_back(calling.loop->count > 1 ? draft_.add_value(scope.spec(node.outputs[at(k)]))
                                                        : call.operands[at(call.input_count + k)]);
    for (int input : node.modified) call.operands.push_back(call.operands[at(input)]);
    call.operands.push_back(draft_.add_value({{frame}, uint8}));
    const List<Value> given = call.operands;
    draft_.operations.push_back(std::move(call));
    List<int> written;
    for (int input : node.modified) {  // of a view, a dense copy was changed
      const Value& target = value(scope, node.inputs[at(input)]);
      const int changed = given[at(input)].storage;
      if (changed == target.storage || contains(written, changed)) continue;
      copy(given[at(input)], target);
      written.push_back(changed);
    }
  }
  /// Outputs are what the loop carries; of others, which are slices for each iteration, there are none.
  constexpr void flatten_no_iteration(Scope& scope, const Node& node, std::int64_t carried) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(carried); ++k) {
      const Value result = scope.value_of(node.outputs[k]) = draft_.add_value(scope.spec(node.outputs[k]));
      copy(value(scope, node.inputs[k]), result);
    }
  }
  constexpr void make_modified_writable(Scope& scope, const Node& node) {
    for (int input : node.modified) make_writable(scope, node.inputs[at(input)]);
  }
  /// Adds the operands for the inputs of a called graph, the first of which is the node's input `first`; returns how many.
  constexpr int add_inputs(Scope& scope, const Node& node, Operation& call, int graph, int first) {
    const auto& modified = live_.modified[at(graph)];
    for (std::size_t i = 0; i < modified.size(); ++i) {
      const int input = first + static_cast<int>(i);
      const bool by_value = !contains(node.modified, input);
      Value given;
      if (const int same = by_value ? -1 : same_modified(scope, node, input, static_cast<int>(call.operands.size())); same >= 0)
        given = call.operands[at(same)];
      else given = fit(value(scope, node.inputs[at(input)]), false);
      if (by_value && (modified[i] != 0 || is_modified(scope, node, given.storage))) given = copied(given);
      call.operands.push_back(given);
    }
    return static_cast<int>(modified.size());
  }
  /// An input before `end` for which a conditional's other branch is given the same view to change, or -1: both change one copy.
  constexpr int same_modified(Scope& scope, const Node& node, int input, int end) {
    const Value own = value(scope, node.inputs[at(input)]);
    for (int other : node.modified) {
      const Value& known = value(scope, node.inputs[at(other)]);
      if (other < end && known.storage == own.storage && known.layout == own.layout && known.spec == own.spec) return other;
    }
    return -1;
  }
  /// Whether a call changes the storage through another input.
  constexpr bool is_modified(Scope& scope, const Node& node, int storage) {
    for (int input : node.modified)
      if (value(scope, node.inputs[at(input)]).storage == storage) return true;
    return false;
  }
  /// Adds the operands for the outputs of a called graph; returns how many.
  constexpr int add_outputs(Scope& scope, const Node& node, Operation& call, int graph) {
    const auto& live = live_.outputs[at(graph)];
    const GraphRecord& called = ir_.record(graph);
    for (std::size_t o = 0; o < live.size(); ++o) {
      TensorSpec spec{{0}, uint8};  // no memory for what nobody uses
      if (o >= node.outputs.size()) {  // what autodiff added to a branch of a conditional for calls elsewhere
        if (live[o] != 0) spec = called.tensors[at(called.outputs[o])].spec;
        call.operands.push_back(draft_.add_value(spec));
        continue;
      }
      Value& output = scope.value_of(node.outputs[o]);
      if (live[o] != 0) spec = scope.spec(node.outputs[o]);
      if (output.storage < 0 || draft_.storage(output.storage).whole != spec) output = draft_.add_value(spec);
      call.operands.push_back(output);
    }
    return static_cast<int>(live.size());
  }
  constexpr void note_made_by_call(const Operation& call) {
    made_by_call_.resize(draft_.storages.size(), 0);
    for (std::size_t o = at(call.input_count); o < call.operands.size(); ++o) made_by_call_[at(call.operands[o].storage)] = 1;
  }
  constexpr bool is_made_by_call(int storage) const {
    return at(storage) < made_by_call_.size() && made_by_call_[at(storage)] != 0;
  }
  /// What the graph changes in inputs by value is its own copy, and no result shares memory with what the caller has.
  constexpr void flatten_inlined(Scope& caller, const Node& node) {
    Scope scope(ir_, node.called_graph);
    make_modified_writable(caller, node);
    List<int> given_storages;
    List<std::pair<Value, Value>> changed_copies;  // of views, and where they go
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Value given = value(caller, node.inputs[i]);
      given_storages.push_back(given.storage);
      if (!contains(node.modified, static_cast<int>(i))) {
        if (!node.modified.empty() && is_modified(caller, node, given.storage)) given = copied(given);
        scope.borrowed.push_back(given.storage);
      } else if (!is_dense(given.spec.shape, given.layout)) {
        changed_copies.push_back({copied(given), given});
        given = changed_copies.back().first;
      }
      scope.value_of(scope.record.inputs[i]) = given;
    }
    flatten_nodes(scope);
    for (const auto& [copy_of_view, view] : changed_copies) copy(copy_of_view, view);
    ++inlined_calls_;
    for (int storage : given_storages) take(storage);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (live_.outputs[at(node.called_graph)][o] == 0) continue;
      const Value result = value(scope, scope.record.outputs[o]);
      Value& output = caller.value_of(node.outputs[o]);
      if (draft_.in_frame(result.storage) && take(result.storage)) {
        output = result;
      } else {
        output = draft_.add_value(result.spec);
        copy(result, output);
      }
    }
  }
  /// Whether the storage is taken for the first time at this inlined call, by its inputs or an earlier output.
  constexpr bool take(int storage) {
    while (taken_at_.size() <= at(storage)) taken_at_.push_back(0);
    return std::exchange(taken_at_[at(storage)], inlined_calls_) != inlined_calls_;
  }
  /// Outputs are written straight to the caller's memory where they have a storage of their own; others are copied.
  constexpr void flatten_output(const Value& result, const Location& target) {
    Storage& storage = draft_.storage(result.storage);
    if (storage.location.base == Base::frame && is_whole_and_dense(result, storage)) storage.location = target;
    else copy(result, draft_.add_value(result.spec, target));
  }
  /// Before an op works in place: memory that the graph may not write is copied, for all views of it; a tensor whose elements
  /// share memory gets its own.
  constexpr void make_writable(Scope& scope, int tensor) {
    if (const Value& given = value(scope, tensor); repeats_elements(given.spec.shape, given.layout))
      return make_dense(scope, tensor);
    const int storage = value(scope, tensor).storage;
    if (is_writable(draft_.storage(storage).location) && !contains(scope.borrowed, storage)) return;
    const TensorSpec whole = draft_.storage(storage).whole;
    const Value fresh = draft_.add_value(whole);
    copy({storage, dense_layout(whole.shape), whole}, fresh);
    const int changed = alias_root(scope, tensor);  // other values in the same memory stay there
    for (std::size_t other = 0; other < scope.values.size(); ++other)
      if (scope.values[other].storage == storage && alias_root(scope, static_cast<int>(other)) == changed)
        scope.values[other].storage = fresh.storage;
  }
  /// Before an alias that needs dense elements: what the caller of an inlined graph gave for an input by value may be a view. A
  /// copy takes its place, for all aliases of it.
  constexpr void make_dense(Scope& scope, int tensor) {
    const int root = alias_root(scope, tensor);
    const Value given = value(scope, root);
    if (is_dense(given.spec.shape, given.layout)) return;
    const Value fresh = copied(given);
    for (std::size_t other = 0; other < scope.record.tensors.size(); ++other)
      if (scope.values[other].storage == given.storage && alias_root(scope, static_cast<int>(other)) == root)
        scope.values[other] = {fresh.storage, aliased_tensor(ir_, scope.graph, static_cast<int>(other)).second,
                               scope.spec(static_cast<int>(other))};
  }
  /// The tensor of the graph that a tensor is an alias of; itself if it is none.
  static constexpr int alias_root(const Scope& scope, int tensor) {
    while (at(tensor) < scope.record.tensors.size()) {
      const int producer = scope.record.tensors[at(tensor)].producer;
      if (producer < 0) break;
      const int input = aliased_input(scope.record.nodes[at(producer)], tensor);
      if (input < 0) break;
      tensor = input;
    }
    return tensor;
  }
  constexpr bool is_writable(const Location& location) const {
    if (location.base != Base::argument) return location.base == Base::frame || location.base == Base::variable;
    const auto& modified = live_.modified[at(graph_)];
    return at(location.index) < modified.size() && modified[at(location.index)] != 0;
  }
  /// What an op in place reads of the memory that it writes is copied, unless each element is read where it is written.
  constexpr void read_before_write(const OpInfo& op, Operation& operation) {
    const Value target = operation.operands[at(op.modifies)];
    for (int i = 0; i < operation.input_count; ++i) {
      Value& other = operation.operands[at(i)];
      const bool same_place = op.elementwise && other.layout == target.layout && other.spec == target.spec;
      if (i == op.modifies || other.storage != target.storage || same_place) continue;
      other = copied(other);
    }
  }
  /// If an op in place got a dense copy of what it modifies, its result goes back to where it came from.
  constexpr void write_back(Scope& scope, const Node& node) {
    const Value target = value(scope, node.inputs[at(node.op->modifies)]);
    Value& result = scope.value_of(node.outputs[0]);
    if (result.storage == target.storage) return;
    copy(result, target);
    result = target;
  }
  /// The value, or a dense copy of it for ops that do not take views of any strides.
  constexpr Value fit(const Value& given, bool any_layout) {
    if (any_layout || is_dense(given.spec.shape, given.layout)) return given;
    return copied(given);
  }
  constexpr Value copied(const Value& given) {
    const Value result = draft_.add_value(given.spec);
    copy(given, result);
    return result;
  }
  constexpr void copy(const Value& from, const Value& to) {
    make_room(draft_.operations);
    draft_.operations.push_back({.op = &op_info<Identity>, .input_count = 1, .operands = {from, to}});
  }

  const Ir& ir_;
  const LiveCode& live_;
  const List<int>& body_of_;
  Plan& plan_;
  BodyDraft draft_{};
  int graph_ = 0;
  int inlined_calls_ = 0;
  int next_exchange_ = 2;
  List<int> taken_at_{};  // by storage: the last inlined call that took it
  List<char> made_by_call_{};  // by storage: whether it is a result of a call that runs once
};

}  // namespace detail

/// The operations of a graph's body: views are resolved to layouts, graphs that are called only once are inlined, and calls
/// go to bodies that are planned already.
constexpr BodyDraft flatten(const Ir& ir, const LiveCode& live, const List<int>& body_of, Plan& plan, int graph) {
  return detail::Flattener(ir, live, body_of, plan).run(graph);
}

}  // namespace tilewright
