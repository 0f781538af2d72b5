#pragma once
#include <array>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/graph/ids.hpp"
#include "tilewright/graph/op_info/layout.hpp"

namespace tilewright {

/// Largest number of executions of a graph in a run of a program.
inline constexpr double most_runs = 0x1p48;

/// How a Loop calls its graph. The inputs are, in order: carried tensors, which the outputs of the same numbers replace after
/// each iteration; slices, one for each iteration, of tensors with a leading axis of iterations; and tensors that are equal in
/// all iterations. The outputs are the carried tensors, then slices of tensors with a leading axis of iterations.
struct LoopAttributes {
  std::int64_t count = 0;  ///< iterations
  std::int64_t carried = 0;  ///< number of carried inputs
  std::int64_t sliced = 0;  ///< number of inputs that are slices
  std::int64_t reversed = 0;  ///< 1: the first iteration has the last slices
};

namespace detail {
inline constexpr OpTag loop_tag{};
/// Returns whether a node calls its graph repeatedly, as its LoopAttributes say.
constexpr bool is_loop(const Node& node) { return node.op->tag == &loop_tag; }
/// Returns whether a node calls one graph, once.
constexpr bool is_plain_call(const Node& node) {
  return node.called_graph != GraphId::none && node.else_graph == GraphId::none && !is_loop(node);
}

/// Returns the tensor of which a tensor is an alias (itself if it is none), and its layout in that tensor.
constexpr Pair<TensorId, Layout> aliased_tensor(const Ir& ir, GraphId graph, TensorId tensor) {
  const GraphRecord& record = ir.tables.record(graph);
  const TensorRecord& known = record.tensors[tensor];
  if (known.producer != NodeId::none) {
    const Node& node = record.nodes[known.producer];
    if (const TensorId input = aliased_input(node, tensor); input != TensorId::none) {
      const auto [aliased, layout] = aliased_tensor(ir, graph, input);
      if (!node.op->view) return {aliased, layout};
      const Shape& shape = record.tensors[input].spec.shape;
      return {aliased, node.op->view(shape, layout, known.spec.shape, node.attributes)};
    }
  }
  return {tensor, dense_layout(known.spec.shape)};
}

/// Follows a chain of views and aliases from a tensor to its end, and returns the tensor there. The two may share memory. Returns
/// the tensor itself if there is no chain.
constexpr TensorId viewed_tensor(const GraphRecord& record, TensorId tensor) {
  for (;;) {
    const NodeId producer = record.tensors[tensor].producer;
    if (producer == NodeId::none) return tensor;
    const Node& node = record.nodes[producer];
    const TensorId input = node.op->view ? node.inputs[0] : aliased_input(node, tensor);
    if (input == TensorId::none) return tensor;
    tensor = input;
  }
}

/// Records that a call changes the caller's tensor at `input`. The inputs [first, first + count) of the call belong to the same
/// called graph. Fails if the tensor must not change.
constexpr void modify_input(Ir& ir, GraphId graph, Node& call, int input, int first, int count) {
  if (has_item(call.modified, input)) return;
  const auto parent_of = [&](int i) { return Tensor(ir, graph, call.inputs[i]); };
  const Tensor parent = parent_of(input);
  const std::string_view called = ir.tables.record(call.called_graph).name.view();
  int uses = 0;
  for (int i = first; i < first + count; ++i) uses += call.inputs[i] == parent.number();
  if (uses > 1) {
    ir.fail(
        text("call of ", called, ": ", to_text(parent), ", which the call changes, is given for several inputs: one expected"));
    return;
  }
  if (ir.tables.record(parent).kind == TensorKind::constant) {
    ir.fail(text("call of ", called, ": ", to_text(parent), " is a constant: a tensor that the call may change expected"));
    return;
  }
  if (!call.modified.empty()) {
    const bool is_made = ir.tables.record(parent).producer != NodeId::none;
    const auto [aliased, layout] = aliased_tensor(ir, graph, parent.number());
    for (int known : call.modified) {
      const Tensor other = parent_of(known);
      if (!is_made && ir.tables.record(other).producer == NodeId::none) continue;  // two variables or inputs; there may be many
      const auto [also_aliased, other_layout] = aliased_tensor(ir, graph, other.number());
      if (also_aliased != aliased) continue;
      const bool same_graph = known >= first && known < first + count;
      if (!same_graph && ((layout == other_layout && parent.shape() == other.shape()) ||
                          (is_dense(parent.shape(), layout) && is_dense(other.shape(), other_layout))))
        continue;
      ir.fail(text("call of ", called, ": ", to_text(other), " and ", to_text(parent),
                   ", which share memory, may both change: aliases of different tensors",
                   same_graph ? "" : ", or the same alias for both branches,", " expected"));
      return;
    }
  }
  call.modified.push_back(input);
}
}  // namespace detail

/// Outputs of a call. A single one converts to a Tensor; `outputs.as<2>()` is an array for structured bindings.
class Outputs : detail::Handle {
 public:
  class Iterator {
   public:
    using value_type = Tensor;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() = default;
    constexpr Tensor operator*() const { return (*outputs_)[i_]; }
    constexpr Iterator& operator++() { return ++i_, *this; }
    constexpr Iterator operator++(int) { return {*outputs_, i_++}; }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    friend Outputs;
    constexpr Iterator(const Outputs& outputs, std::size_t i) : outputs_(&outputs), i_(i) {}
    const Outputs* outputs_ = nullptr;
    std::size_t i_ = 0;
  };
  /// Creates the outputs of a call that failed: none.
  constexpr explicit Outputs(Ir& ir) : Handle{&ir} {}
  /// Creates the outputs that a node has now.
  constexpr Outputs(Ir& ir, GraphId graph, NodeId node)
      : Handle{&ir}, graph_(graph), node_(node), size_(ir.tables.record(graph).nodes[node].outputs.size()) {}

  constexpr Ir& ir() const { return *ir_; }
  constexpr std::size_t size() const { return size_; }
  constexpr Iterator begin() const { return {*this, 0}; }
  constexpr Iterator end() const { return {*this, size_}; }
  constexpr Tensor operator[](std::size_t i) const {
    if (i < size_) return {*ir_, graph_, ir_->tables.record(graph_).nodes[node_].outputs[i]};
    if (!ir_->failed()) ir_->fail(text("call: output ", i, " of ", size(), ": an index below ", size(), " expected"));
    return Tensor::invalid(*ir_);
  }
  constexpr operator Tensor() const {
    if (size() > 1) return ir_->fail(text("call: ", size(), " outputs for one tensor: outputs.as<", size(), ">() expected"));
    return (*this)[0];
  }
  /// Returns the first `count` outputs.
  template <std::size_t count>
  constexpr std::array<Tensor, count> as() const {
    std::array<Tensor, count> result;
    for (std::size_t i = 0; i < count; ++i) result[i] = (*this)[i];
    return result;
  }

 private:
  // A handle without a destructor: GCC 12 stores no place for calls that return other classes.
  GraphId graph_ = GraphId::none;
  NodeId node_ = NodeId::none;
  std::size_t size_ = 0;
};

/// One call of a graph, once or repeated. Maps between the called graph's tensors and the caller's ("parent") tensors.
class CallSiteInfo : detail::Handle {
 public:
  /// Creates the info of a call that failed. Its tensors are invalid.
  constexpr CallSiteInfo(Ir& ir) : Handle{&ir} {}
  constexpr CallSiteInfo(Ir& ir, GraphId graph, NodeId node) : Handle{&ir}, graph_(graph), node_(node) {}

  constexpr bool valid() const { return node_ != NodeId::none; }
  constexpr Graph called_graph() const { return valid() ? Graph(*ir_, node().called_graph) : Graph(*ir_, GraphId::main); }
  /// Returns the parent tensors that the call reads.
  constexpr List<Tensor> inputs() const { return handles(true); }
  /// Returns the parent tensors that the call produces. Autodiff appends activations.
  constexpr Outputs outputs() const { return valid() ? Outputs(*ir_, graph_, node_) : Outputs(*ir_); }
  constexpr Tensor parent_input(int i) const { return pick(true, i, "parent_input"); }
  constexpr Tensor parent_output(int i) const { return pick(false, i, "parent_output"); }
  constexpr Tensor output(int i) const { return parent_output(i); }

  /// Returns the parent tensor for an input or output of the called graph.
  constexpr Tensor graph_to_parent(Tensor t) const {
    if (!valid()) return invalid();
    const Graph graph = called_graph();
    const GraphRecord& record = ir_->tables.record(graph.id());
    if (graph.contains(t)) {
      if (const int i = position(record.inputs, t.number()); i >= 0) return parent_input(i);
      if (const int i = position(record.outputs, t.number()); i >= 0) return parent_output(i);
    }
    return ir_->fail(text("graph_to_parent: ", to_text(t), ": an input or output of ", graph.name(), " expected"));
  }
  /// Returns the called graph's input for a parent tensor that the call reads. If the tensor is passed for several inputs,
  /// returns the first.
  constexpr Tensor parent_to_graph(Tensor t) const {
    if (!valid()) return invalid();
    if (t.graph_id() == graph_ && t.is_of(*ir_))
      if (const int i = position(node().inputs, t.number()); i >= 0) return called_graph().input(i);
    return ir_->fail(text("parent_to_graph: ", to_text(t), ": an input of this call of ", called_graph().name(), " expected"));
  }

  /// Returns the index of the call's input for input i of the called graph. The two indices are equal. An index out of range is
  /// an error.
  constexpr int graph_to_parent_input_index(int i) const { return checked(true, i, "graph_to_parent_input_index"); }
  constexpr int graph_to_parent_output_index(int i) const { return checked(false, i, "graph_to_parent_output_index"); }
  constexpr int parent_to_graph_input_index(int i) const { return checked(true, i, "parent_to_graph_input_index"); }
  constexpr int parent_to_graph_output_index(int i) const { return checked(false, i, "parent_to_graph_output_index"); }

  /// Passes the parent tensor by reference: in-place changes to the called graph's input reach the parent tensor. Inputs by
  /// reference need no such call. Errors: a tensor that the call does not read, or reads through several inputs; a constant; a
  /// carried input of a loop; a tensor that shares memory with another one that the call changes.
  constexpr void set_parent_input_modified(Tensor t) {
    if (!valid() || !t.valid()) return;
    Node& call = ir_->tables.record(graph_).nodes[node_];
    const int input = t.graph_id() == graph_ && t.is_of(*ir_) ? position(call.inputs, t.number()) : -1;
    if (input < 0) {
      ir_->fail(
          text("set_parent_input_modified: ", to_text(t), ": an input of this call of ", called_graph().name(), " expected"));
      return;
    }
    if (detail::is_loop(call) && input < unpack<LoopAttributes>(call.attributes).carried) {
      ir_->fail(text("set_parent_input_modified: ", to_text(t), ": output ", input, " of ", called_graph().name(),
                     " replaces it in the next iteration: an input that no output replaces expected"));
      return;
    }
    detail::modify_input(*ir_, graph_, call, input, 0, static_cast<int>(call.inputs.size()));
  }

 private:
  constexpr const Node& node() const { return ir_->tables.record(graph_).nodes[node_]; }
  constexpr Tensor invalid() const { return {*ir_, graph_, TensorId::none}; }
  constexpr List<Tensor> handles(bool inputs) const {
    List<Tensor> result;
    if (!valid()) return result;
    const auto& ids = inputs ? node().inputs : node().outputs;
    result.reserve(ids.size());
    for (const TensorId id : ids) result.push_back({*ir_, graph_, id});
    return result;
  }
  static constexpr int position(const List<TensorId>& ids, TensorId id) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == id) return static_cast<int>(i);
    return -1;
  }
  constexpr Tensor pick(bool inputs, int i, std::string_view what) const {
    if (checked(inputs, i, what) < 0) return invalid();
    return {*ir_, graph_, (inputs ? node().inputs : node().outputs)[i]};
  }
  /// Returns the index, or -1 after an error.
  constexpr int checked(bool inputs, int i, std::string_view what) const {
    if (!valid()) return -1;
    const std::size_t count = inputs ? node().inputs.size() : node().outputs.size();
    if (i >= 0 && i < static_cast<int>(count)) return i;
    ir_->fail(text(what, ": index ", i, " of a call of ", called_graph().name(), ", which has ", count,
                   inputs ? " inputs" : " outputs", ": an index of at least 0 and below ", count, " expected"));
    return -1;
  }

  GraphId graph_ = GraphId::none;
  NodeId node_ = NodeId::none;
};

}  // namespace tilewright
