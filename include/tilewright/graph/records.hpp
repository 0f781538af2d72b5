#pragma once
// What an Ir keeps: plain data, which refer to each other by number.
#include <cstddef>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/execution_context.hpp"
#include "tilewright/graph/ids.hpp"
#include "tilewright/graph/initialiser.hpp"
#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

enum class TensorKind : std::uint8_t {
  intermediate,
  input,
  variable,
  constant,
  remote  ///< a variable in a row of a remote buffer; ops use results of remote_load, not the variable
};

/// Whole tensor of a shard: its shape, and the number of shards into which it is divided.
struct MetaShape {
  Shape whole{};
  std::int64_t parts = 1;
  constexpr bool operator==(const MetaShape&) const = default;
};

struct TensorRecord {
  TensorSpec spec;
  TensorKind kind = TensorKind::intermediate;
  int payload = -1;                ///< index in variables (variable, remote) or constants (constant) of IrTables; -1: others
  NodeId producer = NodeId::none;  ///< node of its graph that produces it; none: an input, a variable or a constant
  Text name{};                     ///< unique in its graph; empty: unnamed
  int meta_shape = -1;  ///< index in IrTables::meta_shapes; -1: not a shard
  Placement placement{};           ///< of a variable, constant or input: that of the first op that uses it
};

struct Node {
  const OpInfo* op = nullptr;
  int id = 0;  ///< number of the op in its Ir, from 100, as printed; 0: the planner made the node
  List<TensorId> inputs{};   ///< tensors of its graph
  List<TensorId> outputs{};  ///< tensors of its graph
  PackedAttributes attributes{};
  GraphId called_graph = GraphId::none;  ///< graph that a call, loop or conditional (if true) calls
  int scope = -1;  ///< index in IrTables::name_scopes of the scope in which it was made; -1: none
  ExecutionContext context = ExecutionContext::Subgraph;  ///< when it runs; Subgraph: the node is not of the main graph
  GraphId else_graph = GraphId::none;  ///< graph that a conditional calls if false; none: not a conditional
  List<int> modified{};  ///< positions of inputs that it changes in place, in addition to OpInfo::modifies
  Placement placement{};                 ///< where it runs; not known: a call, or IrTables::has_placements is false
};

/// Returns the input tensor of which the output `tensor` of the node is an alias, or none.
constexpr TensorId aliased_input(const Node& node, TensorId tensor) {
  if (node.op->is_alias) return node.inputs[0];
  return node.op->modifies >= 0 && node.outputs[0] == tensor ? node.inputs[static_cast<std::size_t>(node.op->modifies)]
                                                             : TensorId::none;
}

/// Type of the forward tensor for which an input of a gradient graph stands.
enum class ExpectedConnectionType : std::uint8_t {
  Fwd,     ///< the forward tensor itself
  FwdGrad  ///< the gradient of the forward tensor
};

/// A gradient graph, and the tensors of its forward graph that its inputs and outputs stand for.
struct GradientRecord {
  GraphId graph = GraphId::none;  ///< the gradient graph; none: does not exist
  List<Pair<ExpectedConnectionType, TensorId>> inputs{};
  List<TensorId> outputs{};  ///< forward tensors: output i of the gradient graph is the gradient of outputs[i]
  bool is_default = false;  ///< whether autodiff of a caller made it from the graph's ops
};
/// A further gradient graph of a called graph, which also takes gradients of activations.
struct FurtherGradient {
  List<int> provided{};  ///< numbers of the forward graph's outputs whose gradients it takes
  GradientRecord record{};
};

/// Hash table with open addressing: slots hold a name's hash and the number of the record with this name, or -1 if the slot is
/// empty.
template <class Number>
using NameTable = List<Pair<std::size_t, Number>>;

struct GraphRecord {
  Text name;  ///< name; empty: the main graph
  List<TensorRecord, TensorId> tensors{};
  List<Node, NodeId> nodes{};
  List<TensorId> inputs{};
  List<TensorId> outputs{};
  List<int> by_reference{};                       ///< positions of the inputs by reference: a call's changes reach the caller
  int activations = 0;                            ///< number of activations: last outputs, added for gradient graphs
  List<Pair<GraphId, NodeId>> call_sites{};  ///< (graph, node) of every call of this graph
  List<Pair<NodeId, NodeId>> sequence{};     ///< (node, later node) edges of in_sequence
  GradientRecord gradient{};  ///< gradient graph that autodiff of a caller made
  List<FurtherGradient> further_gradients{};  ///< for callers whose gradients reach activations: derivatives of higher order
  NameTable<TensorId> name_table{};  ///< the named tensors
  bool is_differentiated = false;  ///< whether autodiff has made a gradient graph of it
};

/// How a variable's values on the host are distributed over the replicas.
struct Distribution {
  Shape shape{};  ///< shape of a group's whole tensor: each replica has all of it, or a shard
  int groups = 1;  ///< replica groups with separate values
  std::int64_t shard_over = 1;  ///< number of shards; 1: not sharded
  bool all_replicas = false;  ///< whether the host has the tensor of every replica; otherwise it has one for each group
};

struct VariableRecord {
  TensorId tensor = TensorId::none;  ///< in the main graph
  Initialiser initialiser{};
  Distribution distribution{};
  List<int> assignment{};  ///< by replica: its group; empty: one group of all replicas
  int remote_buffer = -1;  ///< index in IrTables::remote_buffers; -1: in the machine's memory
  std::int64_t row = 0;  ///< number of its row of the remote buffer; 0 if there is no buffer
};

/// A remote buffer: rows of equal tensors in streaming memory.
struct RemoteBufferRecord {
  TensorSpec spec{};  ///< of one row
  std::int64_t entries = 1;  ///< number of rows of each replica
  List<std::int64_t> variable_rows{};  ///< numbers of the rows that are variables
  bool is_used = false;  ///< whether a variable, load or store uses the buffer
  std::int64_t last_row = 0;  ///< largest row number that a variable, load or store uses; 0 if none does
  int meta_shape = -1;  ///< index in IrTables::meta_shapes of the tensor whose shards the rows are; -1: not shards
  std::int64_t shard_over = 1;  ///< shards into which that tensor is divided; 1: rows are not shards
  int mapping = 0;  ///< number among the mapped buffers, from 1; 0: the rows are memory of the session
  Text name{};  ///< of a mapped buffer
};

struct ConstantRecord {
  Numbers values{};  ///< one for all elements, or one for each; empty if there is a generator
  Generator generator{};
};

enum class StreamDirection : std::uint8_t { host_to_device, device_to_host };

/// A closed merge_exchange scope: the nodes [first, end) of a graph. Its loads and stores are merged into as few exchanges as
/// possible. See program/merge_exchange.hpp.
struct MergedExchanges {
  GraphId graph = GraphId::main;
  NodeId first{};
  NodeId end{};
};

/// Mode of a trace. Layers such as dropout and batch norm behave differently in each.
enum class Mode : std::uint8_t { training, evaluation };

/// How an in_sequence scope orders its ops.
enum class SequenceMode : std::uint8_t {
  ordered,  ///< each op runs after the one before it
  unordered,  ///< ops have no order among themselves; the enclosing scope orders them as one op
  pass  ///< ops have no order, neither among themselves nor with ops before and after the scope
};

/// An open in_sequence scope of a graph.
struct SequenceScope {
  GraphId graph = GraphId::main;
  SequenceMode mode = SequenceMode::ordered;
  List<NodeId> before{};  ///< nodes after which the next op runs
  List<NodeId> last{};  ///< nodes after which the first op after the scope runs
};

struct StreamRecord {
  StreamDirection direction;
  Text name;
  TensorSpec spec;
};

}  // namespace tilewright
