// labels: none
// What handles of an Ir, its graphs, tensors, streams and call sites say.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/program/comm_group.hpp"
#include "tilewright/transform/decompose_sum.hpp"

using support::Edges, support::failure, support::sequence_of, support::variable;
using tw::Graph, tw::Ir, tw::Shape, tw::Tensor, tw::TensorKind, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

using Strides = tw::List<std::int64_t>;

// ---- ids and names
constexpr Text ids() {
  support::Facts facts;
  Ir ir, other;
  const Tensor w = variable(ir, "w", {2});
  Tensor inner, weight;
  const Graph graph = ir.create_graph(
      [&](Tensor x) {
        weight = tw::graph_input(ir, {2}, tw::float32, "weight");
        return inner = x + weight;
      },
      w);
  facts.check(w.id() == "w" && w.scope() == "", "of the main graph");
  facts.check(weight.id() == "graph_subgraph(0)/weight" && weight.name() == "weight", "of another graph");
  facts.check(weight.scope() == "graph_subgraph(0)", "scope");
  facts.check(inner.id() == "graph_subgraph(0)/#2", "of an unnamed tensor");
  facts.check(graph.get_tensor("graph_subgraph(0)/weight") == weight && graph.get_tensor("weight") == weight, "get_tensor");
  facts.check(ir.main_graph().get_tensor("w") == w, "get_tensor of the main graph");
  facts.check(graph.inputs_by_name()["weight"] == weight && graph.inputs_by_name().size() == 1, "inputs_by_name");
  facts.check(graph.main_graph() == ir.main_graph() && graph.main_graph().main_graph() == ir.main_graph(), "main_graph");
  facts.check(ir.id() == w.ir().id() && ir.id() != other.id(), "Ir::id");
  facts.check(w.kind() == TensorKind::variable && weight.kind() == TensorKind::input, "kind");
  return facts.check(inner.kind() == TensorKind::intermediate && ir.constant(1).kind() == TensorKind::constant, "other kinds");
}
TW_SAME(ids(), "");
TW_SAME(failure([](Ir& ir) { ir.main_graph().get_tensor("w"); }),
        "get_tensor: 'w' in the main graph: the id or name of a tensor of this graph expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = variable(ir, "x", {});
          ir.create_graph([](Tensor t) { return t + 1; }, x).get_tensor("x");
        }),
        "get_tensor: 'x' in graph_subgraph(0): the id or name of a tensor of this graph expected");
TW_SAME(failure([](Ir& ir) {
          const Graph graph = ir.create_empty_graph("g");
          const tw::GraphScope scope(graph);
          tw::graph_input(ir, {}, tw::float32, "a"), tw::graph_input(ir, {}, tw::float32, "b");
          graph.inputs_by_name()["c"];
        }),
        "inputs_by_name: 'c': one of 'a', 'b' expected");

/// Tensors of ops that take a name.
constexpr Text named_results() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2});
  facts.check(ops::identity(x).name().empty() && ops::identity(x, "copy").id() == "copy", "identity");
  facts.check(ops::init(ir, {3}).name().empty(), "init without a name");
  const auto scope = tw::name_scope(ir, "layer");
  facts.check(ops::init(ir, {3}, tw::float16, tw::InitType::undef, "sums").name() == "layer/sums", "init");
  return facts.check(ir.main_graph().get_tensor("layer/sums").dtype() == tw::float16, "get_tensor");
}
TW_SAME(named_results(), "");

// ---- strides
constexpr Text strides() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2, 3, 5}), half = variable(ir, "half", {4, 2}, tw::float16);
  facts.check(x.strides() == Strides{60, 20, 4} && half.strides() == Strides{4, 2}, "dense");
  facts.check(x.transpose({2, 0, 1}).strides() == Strides{4, 60, 20}, "transposed");
  facts.check(x.T().detach().transpose({1, 0, 2}).strides() == Strides{20, 4, 60}, "view of a view");
  facts.check(x.T().reshape({30}).strides() == Strides{4}, "a copy of a view, in another shape");
  facts.check(ops::expand(half.reshape({1, 8}), {3, 8}).strides() == Strides{0, 2}, "expanded");
  facts.check((x.T() + 1).strides() == Strides{24, 8, 4}, "what an op makes");
  facts.check(ops::scaled_add_(ops::transpose_(half), half.T()).strides() == Strides{2, 4}, "alias of an alias");
  return facts.check(ir.constant(1).strides().empty(), "scalar");
}
TW_SAME(strides(), "");

// ---- variables
constexpr Text variables() {
  support::Facts facts;
  Ir ir;
  ir.set_replication_factor(4);
  const auto pairs = ir.replica_grouping(1, 2), uneven = ir.replica_grouping_from_assignments({0, 1, 1, 0});
  const auto make = [&](std::string_view name, const tw::VariableOptions& options) {
    return ir.variable(tw::zeros(), {3, 5}, tw::float32, name, options);
  };
  const Tensor plain = make("plain", {}), grouped = make("grouped", {.replica_grouping = pairs}),
               odd = make("odd", {.replica_grouping = uneven}),
               all = make("all", {.retrieval_mode = tw::RetrievalMode::all_replicas}),
               shard = ir.replica_sharded_variable(tw::zeros(), {3, 5}, tw::float32, "shard", {.shard_over = 2});
  facts.check(plain.replica_grouping() == ir.replica_grouping(), "one group");
  facts.check(grouped.replica_grouping() == pairs && odd.replica_grouping() == uneven, "groups");
  facts.check(plain.retrieval_mode() == tw::RetrievalMode::one_per_group, "one_per_group");
  facts.check(all.retrieval_mode() == tw::RetrievalMode::all_replicas, "all_replicas");
  facts.check(plain.shape_on_host() == Shape{3, 5} && grouped.shape_on_host() == Shape{2, 3, 5}, "shape_on_host");
  facts.check(all.shape_on_host() == Shape{4, 3, 5} && shard.shape_on_host() == Shape{3, 5}, "shape_on_host of others");
  facts.check(grouped.shape_on_replica() == Shape{3, 5} && shard.shape_on_replica() == Shape{8}, "shape_on_replica");
  const tw::RemoteBuffer buffer = ir.remote_buffer({3, 5}, tw::float32, 1);
  const Tensor remote = ir.remote_variable(tw::zeros(), buffer, 0, "remote", {.replica_grouping = pairs});
  facts.check(remote.replica_grouping() == pairs && remote.shape_on_host() == Shape{2, 3, 5}, "remote");
  const Tensor every = ir.replica_sharded_variable(tw::zeros(), {3, 5}, tw::float32, "every",
                                                   {.shard_over = 2, .retrieval_mode = tw::RetrievalMode::all_replicas});
  facts.check(every.retrieval_mode() == tw::RetrievalMode::all_replicas && every.shape_on_host() == Shape{4, 3, 5}, "shards");
  const tw::RemoteBuffer rows = ir.replica_sharded_buffer({3, 5}, tw::float32, {.entries = 2});
  const auto remote_shard = [&](std::int64_t row, std::string_view name, const tw::VariableOptions& options) {
    return ir.remote_replica_sharded_variable(tw::zeros(), rows, row, name, options);
  };
  const Tensor whole = remote_shard(0, "whole", {}),
               each = remote_shard(1, "each", {.retrieval_mode = tw::RetrievalMode::all_replicas});
  facts.check(whole.retrieval_mode() == tw::RetrievalMode::one_per_group && whole.shape_on_host() == Shape{3, 5}, "rows");
  return facts.check(each.retrieval_mode() == tw::RetrievalMode::all_replicas && each.shape_on_host() == Shape{4, 3, 5},
                     "rows of all replicas");
}
TW_SAME(variables(), "");

// ---- locations
constexpr Text locations() {
  support::Facts facts;
  Ir ir;
  ir.set_replication_factor(2);
  const auto at = [](Tensor t) { return to_text(t.location_info().location); };
  const Tensor x = variable(ir, "x", {3, 5}), shard = ir.replica_sharded_variable(tw::zeros(), {3, 5}, tw::float32, "shard");
  facts.check(at(x) == "TensorLocation(storage=OnChip, replicated_tensor_sharding=Off)", "variable");
  facts.check(at(shard) == "TensorLocation(storage=OnChip, replicated_tensor_sharding=On)", "sharded variable");
  facts.check(at(shard + 1) == at(shard) && at(x + 1) == at(x) && at(ir.constant(1)) == at(x), "results");
  facts.check(!x.location_info().remote_buffer && !x.location_info().is_remote() && shard.location_info().is_sharded(), "info");
  const tw::RemoteBuffer wholes = ir.remote_buffer({3}, tw::float32, 4), shards = ir.replica_sharded_buffer({3}, tw::float32, {});
  const auto whole = ir.remote_variable(tw::zeros(), wholes, 3, "whole").location_info(),
             part = ir.remote_replica_sharded_variable(tw::zeros(), shards, 0, "part").location_info();
  facts.check(to_text(whole.location) == "TensorLocation(storage=OffChip, replicated_tensor_sharding=Off)", "remote");
  facts.check(whole.remote_buffer == wholes && whole.row == 3 && whole.is_remote() && !whole.is_sharded(), "its row");
  facts.check(part.remote_buffer == shards && part.row == 0 && part.is_remote() && part.is_sharded(), "remote shard");
  facts.check(at(ops::remote_load(wholes, 3)) == at(x) && at(ops::remote_load(shards, 0)) == at(shard), "what is loaded");
  facts.check(tw::TensorLocation() == x.location_info().location, "TensorLocation()");
  return facts.check(tw::TensorLocation{tw::TensorStorage::OffChip, tw::ReplicatedTensorSharding::On} == part.location,
                     "by hand");
}
TW_SAME(locations(), "");
TW_SAME(failure([](Ir& ir) { ir.constant(1).shape_on_host(); }), "shape_on_host: Tensor[float32 ()]: a variable expected");
TW_SAME(failure([](Ir& ir) { variable(ir, "x", {2}).T().replica_grouping(); }),
        "replica_grouping: Tensor[float32 (2,)]: a variable expected");

// ---- streams
constexpr Text used_streams() {
  support::Facts facts;
  Ir ir;
  const auto unused = ir.h2d_stream("unused", {2}), image = ir.h2d_stream("image", {2}), label = ir.h2d_stream("label", {2});
  const auto loss = ir.d2h_stream("loss", {2}), none = ir.d2h_stream("none", {2});
  const Graph graph = ir.create_graph([&](Tensor x) { return x + ops::host_load(label); }, image.spec);
  ops::host_store(loss, tw::call(graph, ops::host_load(image) + ops::host_load(image)));
  const auto loaded = ir.get_all_h2d_streams();
  const auto stored = ir.get_all_d2h_streams();
  facts.check(loaded.size() == 2 && loaded[0] == image && loaded[1] == label && loaded[1].name() == "label", "h2d");
  facts.check(!(image == label) && unused.name() == "unused" && none.name() == "none", "names");
  return facts.check(stored.size() == 1 && stored[0] == loss, "d2h");
}
TW_SAME(used_streams(), "");

/// Streams that a load and a store make.
constexpr Text new_streams() {
  support::Facts facts;
  Ir ir;
  const Tensor x = ops::host_load(ir, "x", {2, 3}), label = ops::host_load(ir, "label", {2}, tw::int32);
  const tw::DeviceToHostStream y = ops::host_store("y", x + 1);
  facts.check(x.shape() == Shape{2, 3} && x.dtype() == tw::float32 && x.name() == "x_hostload", "a load");
  facts.check(label.spec() == TensorSpec{{2}, tw::int32}, "of integers");
  const auto loaded = ir.get_all_h2d_streams();
  facts.check(loaded.size() == 2 && loaded[0].name() == "x" && loaded[1].name() == "label", "their streams");
  return facts.check(y.name() == "y" && y.spec == x.spec() && ir.get_all_d2h_streams()[0] == y, "a store");
}
TW_SAME(new_streams(), "");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::host_load(ir, "x", {2});
          ops::host_store("x", x);
        }),
        "stream: 'x' exists already: stream names are unique");
TW_SAME(failure([](Ir& ir) { ops::host_load(ir, "x", {0}); }), "stream: 'x' of shape (0,): extents above 0 expected");

// ---- meta shapes
constexpr Text meta_shapes() {
  support::Facts facts;
  Ir ir;
  ir.set_replication_factor(2);
  const Shape whole{3, 5};
  const Graph graph = ir.create_graph(
      [&](Tensor x) { return x + tw::graph_input(ir, {8}, tw::float32, "shard", false, {{whole, 2}}); },
      TensorSpec{{8}, tw::float32});
  facts.check(graph.input(1).meta_shape() == whole && graph.output(0).meta_shape() == whole, "graph_input");
  const tw::RemoteBuffer buffer = ir.remote_buffer({8}, tw::float32, 2);
  facts.check(!buffer.meta_shape() && buffer.num_shards() == 1, "a buffer of whole tensors");
  buffer.set_meta_shape(whole, 2);
  facts.check(buffer.meta_shape() == whole && buffer.num_shards() == 2, "set_meta_shape");
  buffer.validate_tensor_matches_buffer(variable(ir, "shard", {8}));
  buffer.validate_tensor_matches_buffer(variable(ir, "whole", whole), 2);
  return facts.check(ops::remote_load(buffer, 0).meta_shape() == whole, "what is loaded");
}
TW_SAME(meta_shapes(), "");
TW_SAME(failure([](Ir& ir) { tw::graph_input(ir, {7}, tw::float32, "x", false, {{{3, 5}, 2}}); }),
        "graph_input: (7,) as one of 2 shards of (3, 5): shape (8,) expected");
TW_SAME(failure([](Ir& ir) { ir.remote_buffer({8}, tw::float32, 1).set_meta_shape({3, 5}, 0); }),
        "set_meta_shape: 0 shards of (3, 5): at least 1 expected");
TW_SAME(failure([](Ir& ir) {
          const auto buffer = ir.remote_buffer({8}, tw::float32, 1);
          ops::remote_load(buffer, 0);
          buffer.set_meta_shape({3, 5}, 2);
        }),
        "set_meta_shape: (3, 5) for remote buffer 1 with 1 rows of (8,) float32, which is in use: a buffer without variables, "
        "loads and "
        "stores expected");
TW_SAME(failure([](Ir& ir) {
          ir.set_replication_factor(2);
          const auto buffer = ir.replica_sharded_buffer({3, 5}, tw::float32, {});
          buffer.validate_tensor_matches_buffer(variable(ir, "w", {3, 5}), 2);
          buffer.validate_tensor_matches_buffer(variable(ir, "v", {5, 3}), 2);
        }),
        "validate_tensor_matches_buffer: Tensor[v float32 (5, 3)] for remote buffer 1 with 1 rows of (8,) float32: (3, 5) "
        "float32 expected");
TW_SAME(failure([](Ir& ir) {
          ir.remote_buffer({8}, tw::float32, 1).validate_tensor_matches_buffer(variable(ir, "w", {3, 5}), 4);
        }),
        "validate_tensor_matches_buffer: 4 shards for remote buffer 1 with 1 rows of (8,) float32: 1 expected");

static_assert(to_text(tw::CommGroupType::All) == "All" && to_text(tw::CommGroupType::Consecutive) == "Consecutive" &&
              to_text(tw::CommGroupType::Orthogonal) == "Orthogonal" && to_text(tw::CommGroupType::Ungrouped) == "Ungrouped");

// ---- hooks on created ops
constexpr Text hooks() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2});
  const Graph main = ir.main_graph();
  Text seen, others;
  -x;
  const int first = main.register_op_created_hook([&seen](const tw::CreatedOp& op) {
    seen += tw::text(op.name(), ".", op.id(), " ", op.inputs().size(), " ", op.outputs().size(), "; ");
  });
  const int second = main.register_op_created_hook([&others](const tw::CreatedOp& op) {
    if (op.graph().name().empty()) others += "1";
  });
  const Graph graph = ir.create_graph([](Tensor t) { return t * t; }, x);
  tw::call(graph, x + x);
  main.remove_op_created_hook(first);
  ops::gelu(x);
  main.remove_op_created_hook(second);
  -x;
  facts.check(seen == "Add.102 2 1; Call.103 1 1; ", "ops of the graph while the hook is there");
  return facts.check(others == "111", "a second hook, for longer").check(first != second, "handles");
}
TW_SAME(hooks(), "");
TW_SAME(failure([](Ir& ir) {
          const Graph graph = ir.create_empty_graph("g");
          graph.remove_op_created_hook(ir.main_graph().register_op_created_hook([](const tw::CreatedOp&) {}));
        }),
        "remove_op_created_hook: 0: a handle that register_op_created_hook of this graph gave expected");
TW_SAME(failure([](Ir& ir) {
          ir.main_graph().register_op_created_hook([](const tw::CreatedOp& op) { ops::gelu(op.outputs()[0]); });
          -variable(ir, "x", {2});
        }),
        "register_op_created_hook: Gelu by a hook: a hook that appends no ops expected");

// ---- scopes
constexpr Text orders() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2});
  {
    const auto sequence = tw::in_sequence(ir);
    x + x;
    {
      const auto pass = tw::in_sequence(ir, tw::SequenceMode::pass);
      x* x;
      const auto inner = tw::in_sequence(ir);
      x - x;
      -x;
    }
    x / x;
  }
  facts.check(sequence_of(ir) == Edges{{2, 3}, {0, 4}}, "pass");
  const auto unordered = tw::in_sequence(ir, tw::SequenceMode::unordered);
  x + x;
  x + x;
  return facts.check(sequence_of(ir).size() == 2, "unordered");
}
TW_SAME(orders(), "");
TW_SAME(failure([](Ir& ir) {
          const auto context = tw::op_debug_context(ir, "scaled_sum");
          variable(ir, "x", {2}) + variable(ir, "y", {3});
        }),
        "Add: (2,) and (3,): shapes that broadcast expected, in scaled_sum");

// ---- call sites
constexpr Text call_sites() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2}), y = variable(ir, "y", {2});
  const Graph graph = ir.create_graph([](Tensor a, Tensor b) { return a + b; }, x, y);
  const auto call = tw::call_with_info(graph, {x, y});
  facts.check(call.graph_to_parent_output_index(0) == 0 && call.parent_to_graph_output_index(0) == 0, "outputs of a call");
  facts.check(call.graph_to_parent_input_index(1) == 1 && call.parent_to_graph_input_index(1) == 1, "inputs of a call");
  const auto loop = tw::repeat_with_info(graph, 3, {x, y});
  facts.check(loop.graph_to_parent_output_index(0) == 0 && loop.parent_to_graph_input_index(1) == 1, "a loop");
  const Tensor yes = ir.constant(1, tw::boolean);
  const auto branch = tw::conditional_with_info(yes, {graph, {x, y}}, {graph, {y, x}});
  facts.check(branch.parent_to_graph_output_index(0) == 0 && branch.graph_to_parent_output_index(0) == 0, "a conditional");
  return facts;
}
TW_SAME(call_sites(), "");
constexpr Text index_failure(auto ask) {
  return failure([ask](Ir& ir) {
    const Tensor x = variable(ir, "x", {2});
    const Graph graph = ir.create_graph([](Tensor a) { return a + 1; }, x);
    ask(tw::call_with_info(graph, x), tw::conditional_with_info(ir.constant(1, tw::boolean), {graph, {x}}, {graph, {x}}));
  });
}
TW_SAME(index_failure([](auto call, auto) { call.graph_to_parent_output_index(1); }),
        "graph_to_parent_output_index: index 1 of a call of graph_subgraph(0), which has 1 outputs: an index of at least 0 and "
        "below 1 expected");
TW_SAME(index_failure([](auto call, auto) { call.parent_to_graph_input_index(-1); }),
        "parent_to_graph_input_index: index -1 of a call of graph_subgraph(0), which has 1 inputs: an index of at least 0 and "
        "below 1 expected");
TW_SAME(index_failure([](auto, auto branch) { branch.parent_to_graph_output_index(1); }),
        "parent_to_graph_output_index: index 1 of 1: an index of at least 0 and below 1 expected");

// ---- numbers as inputs
constexpr Text numbers() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2}), count = variable(ir, "count", {}, tw::int32);
  const auto scale = [](Tensor t, Tensor by) { return t * by; };
  const Graph graph = ir.create_graph(scale, x, TensorSpec{}), whole = ir.create_graph(scale, count, count);
  const auto call = tw::call_with_info(graph, {x, 2.5});
  facts.check(call.parent_input(1).kind() == TensorKind::constant && ir.tables.constants.back().values[0] == 2.5, "call");
  const auto loop = tw::repeat_with_info(whole, 3, {7, 2});
  facts.check(loop.parent_input(0).dtype() == tw::int32 && loop.parent_input(1).spec() == count.spec(), "repeat");
  tw::conditional(ir.constant(1, tw::boolean), {graph, {x, 0.5}}, {graph, {x, 1}});
  facts.check(ir.tables.constants.back().values[0] == 1 && ir.main_graph().op_count() == 3, "conditional");
  const Tensor by = graph.input(1);
  tw::call(graph, x, {{by, 0.75}});
  facts.check(ir.tables.constants.back().values[0] == 0.75, "in a map");
  const Graph longs = ir.create_graph(scale, TensorSpec{{}, tw::int64}, TensorSpec{{}, tw::int64});
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  tw::call(longs, {odd, 1});
  facts.check(ir.tables.constants[ir.tables.constants.size() - 2].values.list() == tw::Numbers{odd}.list(), "64 bits");
  tw::call(longs, count.cast(tw::int64), {{longs.input(1), odd}});
  facts.check(ir.tables.constants.back().values.list() == tw::Numbers{odd}.list(), "64 bits in a map");
  const Tensor scaled = tw::call(graph, {x, 2}), repeated = tw::repeat(whole, 2, {count, 2});
  return facts.check(scaled.spec() == x.spec() && repeated.spec() == count.spec(), "outputs");
}
TW_SAME(numbers(), "");
/// Calls of graphs with named inputs take numbers and lists, too: of all inputs, or of those that are not bound.
constexpr Text numbers_and_lists_by_member() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2, 3}), count = variable(ir, "count", {}, tw::int32);
  const auto scale = [](Tensor t, Tensor by) { return t * by.cast(tw::float32); };
  const Graph graph = ir.create_graph(scale, x, count);
  const tw::GraphWithNamedArgs named(graph);
  const tw::BoundGraph bound(graph, {{graph.input(0), x}});
  const auto is_call = [&](tw::CallSiteInfo call, std::int64_t by) {
    const bool is_number = ir.tables.constants.back().values[0] == static_cast<double>(by);
    return call.parent_input(0) == x && call.parent_input(1).spec() == count.spec() && is_number;
  };
  facts.check(is_call(named.call_with_info(x, 3), 3), "a number");
  facts.check(is_call(bound.call_with_info(5), 5), "a number for an input that is not bound");
  facts.check(named.call_with_info(tw::List<Tensor>{x, count}).parent_input(1) == count, "a list");
  facts.check(bound.call_with_info(std::array{count}).parent_input(1) == count, "a list for inputs that are not bound");
  const Tensor scaled = bound.call(7);
  return facts.check(scaled.spec() == x.spec() && bound.unbound_inputs() == tw::List<Tensor>{graph.input(1)}, "outputs");
}
TW_SAME(numbers_and_lists_by_member(), "");
constexpr Text number_failure(auto call) {
  return failure([call](Ir& ir) {
    const Tensor x = variable(ir, "x", {2}), count = variable(ir, "count", {}, tw::int32);
    call(ir.create_graph([](Tensor t, Tensor by) { return t * by.cast(tw::float32); }, x, count), x);
  });
}
TW_SAME(number_failure([](Graph graph, Tensor x) { tw::call(graph, {x, 0.5}); }),
        "call of graph_subgraph(0): 0.5 as int32: a whole number from -2147483648 to 2147483647 expected");
TW_SAME(number_failure([](Graph graph, Tensor x) { tw::call(graph, x, {{graph.input(1), 0.5}}); }),
        "call of graph_subgraph(0): 0.5 as int32: a whole number from -2147483648 to 2147483647 expected");
TW_SAME(number_failure([](Graph graph, Tensor) { tw::call(graph, {1, 2}); }),
        "call of graph_subgraph(0): () float32 for input 0, Tensor[float32 (2,)]: (2,) float32 expected");
TW_SAME(number_failure([](Graph graph, Tensor x) { tw::call(graph, {x, 1, 2}); }),
        "call of graph_subgraph(0): 3 positional inputs: at most 2 expected");
TW_SAME(number_failure([](Graph graph, Tensor x) { tw::BoundGraph(graph, {{graph.input(0), x}}).call(0.5); }),
        "call of graph_subgraph(0): 0.5 as int32: a whole number from -2147483648 to 2147483647 expected");
TW_SAME(number_failure([](Graph graph, Tensor x) { tw::BoundGraph(graph, {{graph.input(0), x}}).call(1, 2); }),
        "call of graph_subgraph(0): 2 tensors for 1 unbound inputs: one for each expected");

// ---- gradient graphs
/// x * |x|, whose gradient is written by hand.
constexpr Text gradient_by_hand() {
  support::Facts facts;
  Ir ir;
  const TensorSpec spec{{2}, tw::float32};
  Tensor dy, x;
  const Graph inner = ir.create_graph([](Tensor t) { return ops::detach(t); }, spec);
  const Graph by_hand = ir.create_graph(
      [&](Tensor d, Tensor t) {
        dy = d, x = t;
        return d * t * 2;
      },
      spec, spec);
  const Graph outer = ir.create_graph([&](Tensor t) { return tw::call(inner, t + 1)[0] * 3; }, spec);
  const tw::GradGraphInfo info(
      by_hand, inner, {{tw::ExpectedConnectionType::FwdGrad, inner.output(0)}, {tw::ExpectedConnectionType::Fwd, inner.input(0)}},
      {inner.input(0)});
  const tw::GradGraphInfo gradient = tw::autodiff(outer, {.called_graphs_grad_info = {info}});
  facts.check(gradient.graph().called_graphs() == tw::List<Graph>{by_hand}, "it is called");
  facts.check(gradient.outputs().size() == 1, "its gradient goes on");
  const auto all = gradient.all_grad_graphs();
  facts.check(all.size() == 2 && all[0].graph() == gradient.graph() && all[1].graph() == by_hand, "all_grad_graphs");
  facts.check(all[1].forward_graph() == inner && all[1].inputs() == info.inputs(), "of the called graph");
  return facts.check(tw::decompose_sum(gradient.graph()) == gradient.graph(), "decompose_sum");
}
TW_SAME(gradient_by_hand(), "");
constexpr Text info_failure(auto make) {
  return failure([make](Ir& ir) {
    const TensorSpec spec{{2}, tw::float32};
    const Graph forward = ir.create_graph([](Tensor t) { return t + 1; }, spec);
    make(ir.create_graph([](Tensor d) { return d; }, spec), forward);
  });
}
TW_SAME(info_failure([](Graph gradient, Graph forward) { tw::GradGraphInfo(gradient, forward, {}, {forward.input(0)}); }),
        "GradGraphInfo of graph_subgraph(1): 0 tensors for its 1 inputs: one for each expected");
TW_SAME(info_failure([](Graph gradient, Graph forward) {
          tw::GradGraphInfo(gradient, forward, {{tw::ExpectedConnectionType::FwdGrad, forward.input(0)}}, {forward.input(0)});
        }),
        "GradGraphInfo of graph_subgraph(1): Tensor[float32 (2,)]: gradients of the forward graph's outputs expected");
TW_SAME(info_failure([](Graph gradient, Graph forward) {
          tw::GradGraphInfo(gradient, forward, {{tw::ExpectedConnectionType::Fwd, forward.input(0)}}, {forward.output(0)});
        }),
        "GradGraphInfo of graph_subgraph(1): the gradient of Tensor[float32 (2,)]: of an input of the forward graph expected");
