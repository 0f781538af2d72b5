#pragma once
#include <algorithm>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/graph/move_nodes.hpp"

// The ops of a pipeline's stages, and what they may use of each other.

namespace tilewright::detail {

/// Nodes [first, end) of the pipeline's graph, which were appended in a scope of one stage.
struct StageNodes {
  int stage = 0;
  NodeId first{}, end{};
};
/// A tensor that a stage keeps for a later one. `node` is the Identity in the later stage that returns it.
struct Stash {
  NodeId node{};
  int from = 0;  ///< stage that produces the tensor
  int to = 0;  ///< stage that gets it back
};

/// The part of a cycle in which a node runs.
enum class CyclePart : std::uint8_t {
  loads,     ///< loads from the host
  copies_in,  ///< copies to other IPUs of tensors of the previous stage
  stages,    ///< the graphs of the stages
  copies_out,  ///< copies to other IPUs for the next stage
  stores     ///< stores to the host
};
struct StagedNode {
  Node node{};
  int stage = 0;
  CyclePart part = CyclePart::stages;
  int stash = -1;  ///< number of the stash that the node returns; -1: it is an op of the user
};

/// Takes the nodes of a pipeline from their graph, sorts them, and checks what they use.
class PipelineNodes {
 public:
  static constexpr int outside = -1;

  constexpr PipelineNodes(Ir& ir, GraphId graph, NodeId first, const List<StageNodes>& ranges, const List<Stash>& stashes)
      : ir_(ir), graph_(graph) {
    for (const StageNodes& range : ranges) stages = (std::max)(stages, range.stage + 1);
    take(first, ranges, stashes);
    for (std::size_t i = 0; i < stashes.size(); ++i) stashed.push_back(TensorId::none);
    for (const StagedNode& staged : nodes)
      if (staged.stash >= 0) stashed[static_cast<std::size_t>(staged.stash)] = staged.node.inputs[0];
  }
  /// Sorts the nodes. Returns whether they are valid; fails if not.
  constexpr bool validate(std::int64_t steps) {
    if (ir_.failed()) return false;
    List<bool> has_ops(static_cast<std::size_t>(stages), false);
    for (const StagedNode& staged : nodes) has_ops[static_cast<std::size_t>(staged.stage)] = true;
    for (int s = 0; s < stages; ++s)
      if (!has_ops[static_cast<std::size_t>(s)])
        ir_.fail(text("pipelined_execution: no op in stage ", s, " of ", stages,
                      ": at least one op in each stage, counted from 0, expected"));
    if (steps < 2 * stages)
      ir_.fail(text("pipelined_execution: ", steps, " steps of ", stages, " stages: at least ", 2 * stages, " steps expected"));
    if (ir_.failed()) return false;
    sort();
    return check_uses() && check_changes() && check_transfers();
  }

  constexpr GraphRecord& record() const { return ir_.tables.record(graph_); }
  /// Makes room for tensors that were added to the graph later.
  constexpr void make_room_for_tensors() {
    made_in.resize(record().tensors.size(), outside);
    maker.resize(record().tensors.size(), -1);
    changed_in.resize(record().tensors.size(), outside);
  }

  int stages = 0;
  List<StagedNode> nodes{};
  List<int, TensorId> made_in{};  ///< by tensor of the pipeline's graph: its stage; `outside` for others
  List<int, TensorId> maker{};  ///< by tensor: its producer in `nodes`; -1: outside
  List<int, TensorId> changed_in{};  ///< by tensor from outside: the stage that changes it in place; `outside`: none does
  List<TensorId> stashed{};  ///< by stash: its tensor

 private:
  constexpr void take(NodeId first, const List<StageNodes>& ranges, const List<Stash>& stashes) {
    GraphRecord& graph = record();
    made_in.assign(graph.tensors.size(), outside);
    maker.assign(graph.tensors.size(), -1);
    List<int> stage_of(graph.nodes.size(), outside), stash_of(graph.nodes.size(), -1);
    for (const auto& [stage, begin, end] : ranges)
      for (auto n = static_cast<std::size_t>(begin); n < static_cast<std::size_t>(end); ++n) stage_of[n] = stage;
    for (std::size_t i = 0; i < stashes.size(); ++i) stash_of[static_cast<std::size_t>(stashes[i].node)] = static_cast<int>(i);
    for (auto n = static_cast<std::size_t>(first); n < graph.nodes.size(); ++n) {
      StagedNode staged{.node = graph.nodes[NodeId(n)], .stage = stage_of[n], .stash = stash_of[n]};
      if (staged.stage == outside && !ir_.failed())
        ir_.fail(text("pipelined_execution: ", staged.node.op->name, ".", staged.node.id,
                      " in no stage: ops in scopes of pipeline.stage(i) expected"));
      for (const TensorId output : staged.node.outputs) {
        made_in[output] = staged.stage;
        maker[output] = static_cast<int>(nodes.size());
      }
      make_room(nodes);
      nodes.push_back(std::move(staged));
    }
    remove_nodes(ir_, graph_, first);
  }
  constexpr void sort() {
    List<bool, TensorId> is_used_here(made_in.size(), false);
    for (StagedNode& staged : nodes) {
      const Node& node = staged.node;
      if (is_stream(node))
        staged.part = node.op->transfer(node.attributes).stores ? CyclePart::stores
                      : node.inputs.empty()                     ? CyclePart::loads
                                                                : CyclePart::stages;
      else if (node.op->result_placement && made_in[node.inputs[0]] != staged.stage) staged.part = CyclePart::copies_in;
      if (staged.part != CyclePart::stages || staged.stash >= 0) continue;
      for (const TensorId input : node.inputs)
        if (made_in[input] == staged.stage) is_used_here[input] = true;
    }
    for (StagedNode& staged : nodes)
      if (staged.node.op->result_placement && staged.part == CyclePart::stages && !is_used_here[staged.node.outputs[0]])
        staged.part = CyclePart::copies_out;
  }
  /// Checks that each stage uses only tensors from outside, its own, and those of the previous stage.
  constexpr bool check_uses() {
    for (const StagedNode& staged : nodes)
      for (const TensorId input : staged.node.inputs) {
        const int made = made_in[input];
        if (staged.stash >= 0 || made == outside || made == staged.stage || made == staged.stage - 1) continue;
        ir_.fail(text("pipelined_execution: ", staged.node.op->name, ".", staged.node.id, " of stage ", staged.stage, " on ",
                      to_text(tensor(input)), " of stage ", made, ": ",
                      made > staged.stage ? "a tensor of an earlier stage" : "what stash_and_restore_tensor gives of it",
                      " expected"));
        return false;
      }
    return true;
  }
  /// Checks that no stage uses a tensor that another stage changes. Such a stage would see the change early or late.
  constexpr bool check_changes() {
    changed_in.assign(made_in.size(), outside);
    for (const StagedNode& staged : nodes) {
      const Node& node = staged.node;
      if (node.op->modifies >= 0) changed_in[root_of(node.inputs[static_cast<std::size_t>(node.op->modifies)])] = staged.stage;
      for (const int input : node.modified) changed_in[root_of(node.inputs[static_cast<std::size_t>(input)])] = staged.stage;
    }
    for (const StagedNode& staged : nodes)
      for (const TensorId input : staged.node.inputs) {
        const TensorId root = root_of(input);
        if (made_in[root] != outside || changed_in[root] == outside || changed_in[root] == staged.stage) continue;
        ir_.fail(text("pipelined_execution: ", staged.node.op->name, ".", staged.node.id, " of stage ", staged.stage, " on ",
                      to_text(tensor(root)), ", which stage ", changed_in[root],
                      " changes: a tensor that one stage alone uses expected"));
        return false;
      }
    return true;
  }
  /// A load or store of a stage, or of a graph that the stage calls.
  struct StageTransfer {
    Transfer transfer{};
    int stage = 0;
    bool is_called = false;  // in such a graph
  };
  /// Checks transfers. Two stages cannot use one stream, because its elements would get another order; nor can a stage and a
  /// graph that it calls, because a cycle begins with loads. Other stages would see early a row of a remote buffer that one stage
  /// stores.
  constexpr bool check_transfers() {
    List<StageTransfer> all;
    List<bool> is_seen(static_cast<std::size_t>(stages) * ir_.tables.graphs.size(), false);  // by stage, then by graph
    for (const StagedNode& staged : nodes) add_transfers(staged.node, staged.stage, false, is_seen, all);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (const Text problem = problem_of(all[j], all[i]); !problem.empty()) {
          ir_.fail(text("pipelined_execution: ", problem));
          return false;
        }
    return true;
  }
  constexpr void add_transfers(const Node& node, int stage, bool is_called, List<bool>& is_seen, List<StageTransfer>& all) const {
    if (node.op->transfer) {
      make_room(all);
      all.push_back({node.op->transfer(node.attributes), stage, is_called});
    }
    for_each_callee(node, [&](GraphId callee, int) {
      bool& seen = is_seen[static_cast<std::size_t>(stage) * ir_.tables.graphs.size() + static_cast<std::size_t>(callee)];
      if (std::exchange(seen, true)) return;
      for (const Node& called : ir_.tables.record(callee).nodes) add_transfers(called, stage, true, is_seen, all);
    });
  }
  /// Returns what is wrong with two loads or stores, or an empty text if nothing is.
  constexpr Text problem_of(const StageTransfer& a, const StageTransfer& b) const {
    const Transfer &x = a.transfer, &y = b.transfer;
    if (x.kind != y.kind || x.number != y.number) return {};
    const bool is_one_stage = a.stage == b.stage;
    if (x.kind == TransferKind::stream) {
      const auto name = ir_.tables.streams[static_cast<std::size_t>(x.number)].name;
      if (!is_one_stage)
        return text("stream '", name, "' in stages ", a.stage, " and ", b.stage, ": a stream of one stage expected");
      if (a.is_called != b.is_called)
        return text("stream '", name, "' in stage ", a.stage, " and in a graph that it calls: one of the two expected");
    }
    const bool may_be_one_row = x.row < 0 || y.row < 0 || x.row == y.row;
    if (x.kind == TransferKind::remote && !is_one_stage && (x.stores || y.stores) && may_be_one_row)
      return text("remote buffer ", x.number + 1, ", to which stage ", x.stores ? a.stage : b.stage, " stores, in stage ",
                  x.stores ? b.stage : a.stage, ": rows that one stage alone uses expected");
    return {};
  }
  static constexpr bool is_stream(const Node& node) {
    return node.op->transfer && node.op->transfer(node.attributes).kind == TransferKind::stream;
  }
  /// Returns the tensor whose memory a tensor of the pipeline aliases.
  constexpr TensorId root_of(TensorId t) const {
    while (maker[t] >= 0) {
      const TensorId input = aliased_input(nodes[static_cast<std::size_t>(maker[t])].node, t);
      if (input == TensorId::none) break;
      t = input;
    }
    return t;
  }
  constexpr Tensor tensor(TensorId t) const { return {ir_, graph_, t}; }

  Ir& ir_;
  GraphId graph_;
};

}  // namespace tilewright::detail
