#pragma once
// What an Ir keeps: plain data, which refer to each other by number.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/initialiser.hpp"
#include "tilewright/graph/op_info.hpp"

namespace tilewright {

enum class TensorKind : std::uint8_t {
  intermediate,
  input,
  variable,
  constant,
  remote  ///< a variable in a row of a remote buffer: ops see what they load from there
};

/// What a shard is a part of.
struct MetaShape {
  Shape whole{};
  std::int64_t parts = 1;
  constexpr bool operator==(const MetaShape&) const = default;
};

struct TensorRecord {
  TensorSpec spec;
  TensorKind kind = TensorKind::intermediate;
  int payload = -1;   ///< index of the variable or constant
  int producer = -1;  ///< node that makes it
  Text name{};
  int meta_shape = -1;  ///< of Ir::meta_shapes, if it is a shard
};

struct Node {
  const OpInfo* op = nullptr;
  int id = 0;  ///< number of the op in its Ir, as printed
  List<int> inputs{};
  List<int> outputs{};
  PackedAttributes attributes{};
  int called_graph = -1;
  int scope = -1;               ///< of Ir::name_scopes: where it was made
  int else_graph = -1;          ///< of a conditional: the graph that is called where the condition is false
  List<int> modified{};  ///< positions of the inputs that change, and no output is an alias of them
};

/// The input of the node that a tensor which it makes is an alias of, or -1.
constexpr int aliased_input(const Node& node, int tensor) {
  if (node.op->is_alias) return node.inputs[0];
  return node.op->modifies >= 0 && node.outputs[0] == tensor ? node.inputs[static_cast<std::size_t>(node.op->modifies)] : -1;
}

/// What an input of a gradient graph stands for.
enum class ExpectedConnectionType : std::uint8_t {
  Fwd,     ///< the forward tensor itself
  FwdGrad  ///< the gradient of the forward tensor
};

/// A gradient graph, and the tensors of its forward graph that its inputs and outputs stand for.
struct GradientRecord {
  int graph = -1;
  List<std::pair<ExpectedConnectionType, int>> inputs{};
  List<int> outputs{};  ///< gradients of these
};

/// Open addressing: hash of a name, and the tensor that has it or -1.
using NameTable = List<std::pair<std::size_t, int>>;

struct GraphRecord {
  Text name;
  List<TensorRecord> tensors{};
  List<Node> nodes{};
  List<int> inputs{};
  List<int> outputs{};
  List<int> by_reference{};                      ///< positions of the inputs that every call changes
  int activations = 0;                                  ///< the last outputs, which autodiff added
  List<std::pair<int, int>> call_sites{};        ///< (graph, node) of every call of this graph
  List<std::pair<int, int>> sequence{};          ///< (node, later node) edges of in_sequence
  GradientRecord gradient{};                              ///< what autodiff made of it as a called graph
  NameTable name_table{};
};

/// How a variable's values on the host belong to the replicas.
struct Distribution {
  Shape shape{};                ///< of a group's tensor, which is the replica's if it is not sharded
  int groups = 1;
  std::int64_t shard_over = 1;  ///< replicas of a group that have a part each
  bool all_replicas = false;    ///< whether the host has the tensor of every replica, not one for each group
};

struct VariableRecord {
  int tensor = -1;
  Initialiser initialiser{};
  Distribution distribution{};
  List<int> assignment{};  ///< by replica: its group; empty if there is but one
  int remote_buffer = -1;  ///< where it lives, if that is not the machine's own memory
  std::int64_t row = 0;
};

/// Rows of equal tensors in streaming memory.
struct RemoteBufferRecord {
  TensorSpec spec{};
  std::int64_t entries = 1;
  List<std::int64_t> variable_rows{};  ///< rows that are variables
  bool is_used = false;                       ///< by a variable, or a load or store
  std::int64_t last_row = 0;                  ///< of those that they name
  int meta_shape = -1;          ///< of what it has parts of, in the Ir
  std::int64_t shard_over = 1;  ///< replicas of a group that have a part each
};

struct ConstantRecord {
  List<double> values{};  ///< one for all elements, or one for each; none if there is a generator
  Generator generator{};
};

enum class StreamDirection : std::uint8_t { host_to_device, device_to_host };

/// Nodes from `first` to before `end` of a graph, which a merge_exchange scope held: its loads and stores are as few exchanges
/// as may be. See graph/merge_exchange.hpp.
struct MergedExchanges {
  int graph = 0;
  int first = 0;
  int end = 0;
};

/// An open in_sequence scope: which ops of a graph the next one runs after.
struct SequenceScope {
  int graph = 0;
  bool ordered = true;        ///< each op runs after the one before it; else all of them after `before`
  List<int> before{};  ///< nodes that the next op runs after
  List<int> last{};    ///< nodes that what follows the scope runs after
};

struct StreamRecord {
  StreamDirection direction;
  Text name;
  TensorSpec spec;
  std::size_t hash = 0;  ///< of the name
};

}  // namespace tilewright
