#pragma once
#include <algorithm>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/lower/steps/copies.hpp"

namespace tilewright::internal::detail {

/// Lowers calls, loops and conditionals to calls of planned bodies, or inlines them.
class CallLowerer {
 public:
  constexpr CallLowerer(const Ir& ir, const LiveCode& live, const List<BodyId, GraphId>& body_of, const Plan& plan,
                        Copier& copier, BodyDraft& draft)
      : ir_(ir), live_(live), body_of_(body_of), plan_(plan), copier_(copier), draft_(draft) {}

  /// Adds a node's call as an operation.
  constexpr void add(GraphValues& graph, const Node& node) {
    Operation call;
    Calling& calling = call.calling;
    if (is_loop(node)) calling.loop = unpack<LoopAttributes>(node.attributes);
    if (calling.loop && calling.loop->count == 0) return add_no_iteration(graph, node, calling.loop->carried);
    make_modified_writable(graph, node);
    if (node.else_graph != GraphId::none) call.operands.push_back(copier_.value(graph, node.inputs[0]));
    std::int64_t frame = 0;
    for_each_callee(node, [&](GraphId callee, int first_input) {
      const bool is_first = calling.body == BodyId::none;
      const BodyId body = body_of_[callee];
      call.placement.ipu = is_first || call.placement.ipu == plan_.bodies[body].ipu ? plan_.bodies[body].ipu : -1;
      const int inputs = add_inputs(graph, node, call, callee, first_input);
      frame = (std::max)(frame, plan_.bodies[body].frame_bytes);
      (is_first ? calling.body : calling.else_body) = body;
      (is_first ? calling.inputs : calling.else_inputs) = inputs;
    });
    if (node.else_graph != GraphId::none && draft_.placement_of(call.operands[0]).ipu != call.placement.ipu)
      call.placement = {};  // all workers read the condition
    call.input_count = static_cast<int>(call.operands.size());
    calling.outputs = add_outputs(graph, node, call, node.called_graph);
    if (node.else_graph != GraphId::none) calling.else_outputs = add_outputs(graph, node, call, node.else_graph);
    if (is_plain_call(node))
      for (std::size_t o = static_cast<std::size_t>(call.input_count); o < call.operands.size(); ++o)
        draft_.storage(call.operands[o].storage).is_call_result = true;
    if (calling.loop)  // what an iteration takes over from the one before it is in two places by turns
      for (int k = 0; k < calling.loop->carried; ++k)
        call.operands.push_back(calling.loop->count > 1 ? new_value(graph, node.outputs[k])
                                                        : call.operands[call.input_count + k]);
    for (int input : node.modified) call.operands.push_back(call.operands[input]);
    call.operands.push_back(draft_.placed(draft_.add_value({{frame}, uint8}), call.placement));
    const List<Value> given = call.operands;
    draft_.add(std::move(call));
    copy_changed_back(graph, node, given);
  }

  /// Adds the ops of a graph that is inlined at the call (LiveCode::is_inlined); `flatten_nodes(GraphValues&)` adds them. The
  /// graph changes copies of inputs by value, and no result shares memory with values of the caller.
  template <class F>
  constexpr void inline_graph(GraphValues& caller, const Node& node, const F& flatten_nodes) {
    GraphValues inlined(ir_, node.called_graph);
    make_modified_writable(caller, node);
    List<StorageId> given_storages;
    List<Pair<Value, Value>> changed_copies;  // of views, and where they go
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Value given = copier_.value(caller, node.inputs[i]);
      given_storages.push_back(given.storage);
      if (!has_item(node.modified, static_cast<int>(i))) {
        if (!node.modified.empty() && is_modified(caller, node, given.storage)) given = copier_.copied(given);
        inlined.borrowed.push_back(given.storage);
      } else if (!is_dense(given.spec.shape, given.layout)) {
        changed_copies.push_back({copier_.copied(given), given});
        given = changed_copies.back().first;
      }
      inlined.value_of(inlined.record.inputs[i]) = given;
    }
    flatten_nodes(inlined);
    for (const auto& [copy_of_view, view] : changed_copies) copier_.copy(copy_of_view, view);
    ++inlined_calls_;
    for (const StorageId storage : given_storages) take(storage);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (!live_.outputs[node.called_graph][o]) continue;
      const Value result = copier_.value(inlined, inlined.record.outputs[o]);
      const bool is_its_own = draft_.in_frame(result.storage) && take(result.storage);
      caller.value_of(node.outputs[o]) = is_its_own ? result : copier_.copied(result);
    }
  }

 private:
  /// Copies the first `carried` inputs to the outputs of the same numbers. Each further output is a stack of 0 slices: without
  /// elements, it gets no value.
  constexpr void add_no_iteration(GraphValues& graph, const Node& node, std::int64_t carried) {
    for (std::int64_t k = 0; k < carried; ++k) {
      const Value result = graph.value_of(node.outputs[k]) = new_value(graph, node.outputs[k]);
      copier_.copy(copier_.value(graph, node.inputs[k]), result);
    }
  }
  constexpr Value new_value(const GraphValues& graph, TensorId tensor) {
    return draft_.placed(draft_.add_value(graph.spec(tensor)), graph.placement(tensor));
  }
  constexpr void make_modified_writable(GraphValues& graph, const Node& node) {
    for (int input : node.modified) copier_.make_writable(graph, node.inputs[input]);
  }
  /// Adds the operands for the inputs of a called graph, the first of which is the node's input `first`. Returns their number.
  constexpr int add_inputs(GraphValues& graph, const Node& node, Operation& call, GraphId callee, int first) {
    const List<bool>& modified = live_.modified[callee];
    const int count = static_cast<int>(modified.size());
    for (int input = first; input < first + count; ++input) {
      const bool by_value = !has_item(node.modified, input);
      Value given;
      if (const int same = by_value ? -1 : same_modified(graph, node, input, static_cast<int>(call.operands.size())); same >= 0)
        given = call.operands[same];
      else given = copier_.dense(copier_.value(graph, node.inputs[input]));
      if (by_value && (modified[input - first] || is_modified(graph, node, given.storage))) given = copier_.copied(given);
      call.operands.push_back(given);
    }
    return count;
  }
  /// Returns the input before `end` by which a conditional's other branch changes the same view, so that both change one copy; or
  /// -1.
  constexpr int same_modified(GraphValues& graph, const Node& node, int input, int end) {
    const Value own = copier_.value(graph, node.inputs[input]);
    for (int other : node.modified) {
      const Value& known = copier_.value(graph, node.inputs[other]);
      if (other < end && known.storage == own.storage && known.layout == own.layout && known.spec == own.spec) return other;
    }
    return -1;
  }
  /// Returns whether a call changes the storage through one of its inputs.
  constexpr bool is_modified(GraphValues& graph, const Node& node, StorageId storage) {
    for (int input : node.modified)
      if (copier_.value(graph, node.inputs[input]).storage == storage) return true;
    return false;
  }
  /// Adds the operands for the outputs of a called graph. Returns their number.
  constexpr int add_outputs(GraphValues& graph, const Node& node, Operation& call, GraphId callee) {
    const List<bool>& live = live_.outputs[callee];
    const GraphRecord& called = ir_.tables.record(callee);
    for (std::size_t o = 0; o < live.size(); ++o) {
      TensorSpec spec{{0}, uint8};  // no memory for what nobody uses
      if (o >= node.outputs.size()) {  // what autodiff added to a branch of a conditional for calls elsewhere
        if (live[o]) spec = called.tensors[called.outputs[o]].spec;
        call.operands.push_back(draft_.placed(draft_.add_value(spec), call.placement));
        continue;
      }
      Value& output = graph.value_of(node.outputs[o]);
      if (live[o]) spec = graph.spec(node.outputs[o]);
      if (output.storage == StorageId::none || draft_.storage(output.storage).whole != spec)
        output = draft_.placed(draft_.add_value(spec), graph.placement(node.outputs[o]));
      call.operands.push_back(output);
    }
    return static_cast<int>(live.size());
  }
  /// Copies changes back to a view for which the call got a dense copy.
  constexpr void copy_changed_back(GraphValues& graph, const Node& node, const List<Value>& given) {
    List<StorageId> written;
    for (int input : node.modified) {
      const Value& target = copier_.value(graph, node.inputs[input]);
      const StorageId changed = given[input].storage;
      if (changed == target.storage || has_item(written, changed)) continue;
      copier_.copy(given[input], target);
      written.push_back(changed);
    }
  }
  /// Returns whether this inlined call takes the storage for the first time, among its inputs and earlier outputs.
  constexpr bool take(StorageId storage) {
    while (static_cast<int>(taken_at_.size()) <= static_cast<int>(storage)) taken_at_.push_back(0);
    return std::exchange(taken_at_[storage], inlined_calls_) != inlined_calls_;
  }

  const Ir& ir_;
  const LiveCode& live_;
  const List<BodyId, GraphId>& body_of_;
  const Plan& plan_;
  Copier& copier_;
  BodyDraft& draft_;
  int inlined_calls_ = 0;  // so far: the number of the last one
  PerStorage<int> taken_at_{};  // the number of the last inlined call that took it, from 1; 0: none
};

}  // namespace tilewright::internal::detail
