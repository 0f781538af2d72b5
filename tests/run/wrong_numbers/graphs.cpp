// labels: none
// Wrong numbers as parameters of graphs, variables, streams, remote buffers, replicas and call sites.
#include "../../catch.hpp"
#include "tilewright/execute/budget_errors.hpp"
#include "tilewright/ops/collective/distributed_norm.hpp"
#include "tilewright/ops/collective/sharded_loss.hpp"
#include "tilewright/program/instance_grouping.hpp"
#include "tilewright/program/named_streams.hpp"
#include "tilewright/scaling/scaling.hpp"
#include "tilewright/transform/batch_serialise_gradients.hpp"
#include "tilewright/transform/repeat_graph.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;

constexpr Legal index_of_1{0, 0}, extent{1, 0x1p40};

int narrow_of(Whole n) { return static_cast<int>(n); }
Tensor with_replicas(const Scene& s, Tensor (*use)(const Scene&, Whole), Whole n) {
  s.ir.set_replication_factor(4);
  return use(s, n);
}
template <Tensor (*use)(const Scene&, Whole)> Tensor replicated(const Scene& s, Whole n) { return with_replicas(s, use, n); }
/// A graph that gives twice its input, (2,).
tw::Graph twice(const Scene& s) {
  return s.ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{2}, tw::float32});
}
tw::CallSiteInfo call_site(const Scene& s) { return tw::call_with_info(twice(s), {s.tensor({2})}); }
Tensor indexed(const Scene& s, int (*of)(const tw::CallSiteInfo&, int), Whole n) {
  return s.tensor({1 + of(call_site(s), narrow_of(n))});
}
tw::RemoteBuffer buffer(const Scene& s) { return s.ir.remote_buffer({2}, tw::float32, 3); }
Tensor variable(const Scene& s, const tw::Initialiser& initialiser) {
  return s.ir.variable(initialiser, {2, 2}, tw::float32, "v");
}
Tensor constant(const Scene& s, const tw::Initialiser& initialiser) {
  return s.ir.constant(initialiser, {2, 2}, tw::float32, "v");
}

const Case values[] = {
    real("normal.mean", finite_only, [](const Scene& s, double n) { return variable(s, tw::normal(n, 1)); }),
    real("normal.standard_deviation", not_negative, [](const Scene& s, double n) { return variable(s, tw::normal(0, n)); }),
    real("uniform.low", {-infinity, 1, false}, [](const Scene& s, double n) { return variable(s, tw::uniform(n, 1)); }),
    real("uniform.high", {0, infinity, true, false}, [](const Scene& s, double n) { return variable(s, tw::uniform(0, n)); }),
    real("values.values", everything, [](const Scene& s, double n) { return variable(s, tw::values({n, n, n, 1})); }),
    real("Ir::constant.values", everything, [](const Scene& s, double n) { return s.ir.constant({n, 1}, {2}); }),
    real("range.start", as_float32, [](const Scene& s, double n) { return constant(s, tw::range(n)); }),
    real("range.step", as_float32, [](const Scene& s, double n) { return constant(s, tw::range(0, n)); }),
    real("eye.diagonal", numbers, [](const Scene& s, double n) { return constant(s, tw::eye(n)); }),
    real("causal_mask.masked", numbers, [](const Scene& s, double n) { return constant(s, tw::causal_mask(n)); }),
    real("causal_mask.kept", numbers, [](const Scene& s, double n) { return constant(s, tw::causal_mask(0, n)); }),
};

Tensor budget(const Scene& s, const tw::Limits& limits) {
  const tw::Text error = tw::internal::check_limits(limits, tw::gc200);
  if (!error.empty()) s.ir.fail(error);
  return s.x;
}
const Case of_budgets[] = {
    whole("Limits.variables", whole_not_negative, [](const Scene& s, Whole n) { return budget(s, {.variables = n}); }),
    whole("Limits.frame", whole_not_negative, [](const Scene& s, Whole n) { return budget(s, {.frame = n}); }),
    whole("Limits.stack", whole_not_negative, [](const Scene& s, Whole n) { return budget(s, {.stack = n}); }),
    whole("Limits.code", whole_not_negative, [](const Scene& s, Whole n) { return budget(s, {.code = n}); }),
    whole("Limits.cycles", whole_not_negative, [](const Scene& s, Whole n) { return budget(s, {.cycles = n}); }),
};

const Case of_main[] = {
    narrow("Ir::set_num_host_transfers.count", at_least_1,
           [](const Scene& s, Whole n) { return s.ir.set_num_host_transfers(narrow_of(n)), s.x; }),
    whole("Ir::set_replication_factor.replicas", from(1, 64),
          [](const Scene& s, Whole n) { return s.ir.set_replication_factor(n), s.x; }),
    whole("Ir::h2d_stream.shape", any_outcome,
          [](const Scene& s, Whole n) { return ops::host_load(s.ir.h2d_stream("s", {n, 2})); }),
    whole("host_load.shape", any_outcome, [](const Scene& s, Whole n) { return ops::host_load(s.ir, "s", {n, 2}); }),
    whole("NamedStreams::operator[].position", from(0, 1),
          [](const Scene& s, Whole n) {
            const tw::InputStreams streams(s.ir, {{"a", {2}}, {"b", {2}}});
            return ops::host_load(streams[static_cast<std::size_t>(n)]);
          }),
    whole("Ir::d2h_stream.shape", any_outcome, [](const Scene& s, Whole n) { return s.ir.d2h_stream("s", {n, 2}), s.x; }),
    whole("Ir::variable.shape", any_outcome,
          [](const Scene& s, Whole n) { return s.ir.variable(tw::zeros(), {n, 2}, tw::float32, "v"); }),
    whole("Ir::constant.shape", any_outcome, [](const Scene& s, Whole n) { return s.ir.constant({1}, {n, 2}); }),
    whole("Ir::remote_buffer.shape", any_outcome, [](const Scene& s, Whole n) { return s.ir.remote_buffer({n, 2}), s.x; }),
    whole("Ir::remote_buffer.entries", any_outcome,
          [](const Scene& s, Whole n) { return s.ir.remote_buffer({2}, tw::float32, n), s.x; }),
    whole("Ir::remote_variable.offset", from(0, 2),
          [](const Scene& s, Whole n) { return s.ir.remote_variable(tw::zeros(), buffer(s), n, "v"), s.x; }),
    whole("mapped_buffer.shape", any_outcome,
          [](const Scene& s, Whole n) { return tw::mapped_buffer(s.ir, "table", {n, 2}), s.x; }),
    whole("mapped_buffer.entries", any_outcome,
          [](const Scene& s, Whole n) { return tw::mapped_buffer(s.ir, "table", {2}, tw::float32, n), s.x; }),
    whole("RemoteBuffer::set_entries.entries", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).set_entries(n), s.x; }),
    whole("RemoteBuffer::set_remote_buffer_info.shape", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).set_remote_buffer_info({n, 2}, tw::float32, 1), s.x; }),
    whole("RemoteBuffer::set_remote_buffer_info.entries", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).set_remote_buffer_info({2}, tw::float32, n), s.x; }),
    whole("RemoteBuffer::set_meta_shape.whole", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).set_meta_shape({n}, 4), s.x; }),
    whole("RemoteBuffer::set_meta_shape.num_shards", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).set_meta_shape({8}, n), s.x; }),
    whole("RemoteBuffer::validate_tensor_matches_buffer.num_shards", any_outcome,
          [](const Scene& s, Whole n) { return buffer(s).validate_tensor_matches_buffer(s.tensor({2}), n), s.x; }),
    whole("RemoteBuffer::check_offset.offset", from(0, 2),
          [](const Scene& s, Whole n) { return buffer(s).check_offset("op", n), s.x; }),
    narrow("Graph::input.i", index_of_1, [](const Scene& s, Whole n) { return s.tensor(twice(s).input(narrow_of(n)).shape()); }),
    narrow("Graph::output.i", index_of_1,
           [](const Scene& s, Whole n) { return s.tensor(twice(s).output(narrow_of(n)).shape()); }),
    narrow("Graph::remove_op_created_hook.handle", any_outcome,
           [](const Scene& s, Whole n) { return twice(s).remove_op_created_hook(narrow_of(n)), s.x; }),
};

/// A factory of (2, 4), and a tree with it.
tw::VariableFactory factory(const Scene& s) { return {s.ir, tw::ones(), {{2, 4}, tw::float32}}; }
tw::NamedVariableFactories factories(const Scene& s) {
  return tw::NamedVariableFactories(tw::DotTree<tw::VariableFactory>::from_dict({{"w", factory(s)}}));
}
const Case trees[] = {
    whole(
        "NamedTensors::subtree.key", from(-1, 0),
        [](const Scene& s, Whole n) { return tw::NamedTensors(tw::DotTree<Tensor>::from_dict({{"0.w", s.x}})).subtree(n)["w"]; }),
    whole("VariableFactory::replica_sharded.shard_over", any_outcome,
          replicated<[](const Scene& s, Whole n) { return factory(s).replica_sharded("w", n), s.x; }>),
    whole("VariableFactory::create_buffer.entries", any_outcome,
          [](const Scene& s, Whole n) { return factory(s).create_buffer(n), s.x; }),
    whole("VariableFactory::create_remote_tensor.entry", from(0, 2),
          [](const Scene& s, Whole n) { return factory(s).create_remote_tensor(factory(s).create_buffer(3), n, "w"), s.x; }),
    whole("NamedVariableFactories::replica_sharded.shard_over", any_outcome,
          replicated<[](const Scene& s, Whole n) { return factories(s).replica_sharded(n), s.x; }>),
    whole("NamedVariableFactories::init_remote.entry", from(0, 2),
          [](const Scene& s, Whole n) { return factories(s).init_remote(tw::named_variable_buffers(factories(s), 3), n), s.x; }),
    whole("named_variable_buffers.entries", any_outcome,
          [](const Scene& s, Whole n) { return tw::named_variable_buffers(factories(s), n), s.x; }),
    whole("LoadRemoteGraph::call.entry", any_outcome,
          [](const Scene& s, Whole n) {
            return tw::load_remote_graph(s.ir, tw::named_variable_buffers(factories(s), 3)).call(n)["w"];
          }),
    whole("create_remote_buffer.entries", any_outcome,
          [](const Scene& s, Whole n) { return tw::create_remote_buffer(s.ir, {{2}, tw::float32}, n), s.x; }),
    whole("create_remote_buffer.shard_over", any_outcome,
          replicated<[](const Scene& s, Whole n) { return tw::create_remote_buffer(s.ir, {{8}, tw::float32}, 1, {}, n), s.x; }>),
    whole("named_buffers.entries", any_outcome,
          [](const Scene& s, Whole n) { return tw::named_buffers(tw::DotTree<Tensor>::from_dict({{"w", s.x}}), n), s.x; }),
    whole("NamedVariableFactories::replica_sharded.threshold", whole_not_negative,
          replicated<[](const Scene& s, Whole n) { return factories(s).replica_sharded(0, n), s.x; }>),
};

/// A serialised graph of `steps` steps, which doubles a tensor of a stream.
tw::BatchSerialResult serialised(const Scene& s, Whole steps, tw::BatchSerialOptions options = {}) {
  const tw::Graph graph = twice(s);
  options.load_handles = {{graph.input(0), s.ir.h2d_stream("serialised", {2})}};
  options.io_mode = tw::IoMode::compute;
  const auto result = tw::batch_serialise(graph, steps, options);
  if (!s.ir.failed()) result.graph.call(s.ir.constant(0, tw::uint32));
  return result;
}
tw::BatchSerialFwdAndGrad with_gradient(const Scene& s, Whole steps) {
  const tw::Graph graph = twice(s);
  const auto gradient = tw::autodiff(graph);
  const Tensor dy = gradient.graph().input(0);
  return tw::batch_serialise_fwd_and_grad(
      graph, {gradient.graph(), {}, gradient}, {}, steps,
      {.load_handles = {{graph.input(0), s.ir.h2d_stream("serialised", {2})}, {dy, s.ir.h2d_stream("dy", {2})}}});
}
const Case serial_graphs[] = {
    whole("batch_serialise.steps", from(1, 0x7fff'ffff), [](const Scene& s, Whole n) { return serialised(s, n), s.x; }),
    whole("BatchSerialOptions.rows", at_least_1, [](const Scene& s, Whole n) { return serialised(s, 2, {.rows = n}), s.x; }),
    whole("batch_serialise_fwd_and_grad.steps", from(1, 0x7fff'ffff),
          [](const Scene& s, Whole n) { return with_gradient(s, n), s.x; }),
    whole("batch_serial_buffer.steps", any_outcome, [](const Scene& s, Whole n) { return tw::batch_serial_buffer(s.x, n), s.x; }),
    whole("batch_serial_buffer.rows", any_outcome,
          [](const Scene& s, Whole n) { return tw::batch_serial_buffer(s.x, 2, n), s.x; }),
    whole("repeat_graph.repeat_count", from(1, 0x1p48),
          [](const Scene& s, Whole n) {
            const tw::Graph graph = twice(s);
            tw::repeat_graph(graph, n);
            return tw::call(graph, s.tensor({2}))[0];
          }),
};

const Case calls[] = {
    real("set_available_memory_proportion_by_ipu.proportions", {0, 1},
         [](const Scene& s, double n) { return tw::set_available_memory_proportion_by_ipu(s.ir, {n}), s.x; }),
    real("set_graph_available_memory_proportion_by_ipu.proportions", {0, 1},
         [](const Scene& s, double n) { return tw::set_graph_available_memory_proportion_by_ipu(twice(s), {n}), s.x; }),
    whole("repeat.count", from(0, 0x1p48), [](const Scene& s, Whole n) { return tw::repeat(twice(s), n, s.tensor({2}))[0]; }),
    whole("repeat_with_info.count", from(0, 0x1p48),
          [](const Scene& s, Whole n) { return tw::repeat_with_info(twice(s), n, s.tensor({2})).output(0); }),
    real("call.inputs", everything,
         [](const Scene& s, double n) {
           return tw::call(s.ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{}, tw::float32}), {n})[0];
         }),
    real("call_with_info.inputs", everything,
         [](const Scene& s, double n) {
           return tw::call_with_info(s.ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{}, tw::float32}), {n})
               .output(0);
         }),
    real("repeat.inputs", everything,
         [](const Scene& s, double n) {
           return tw::repeat(s.ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{}, tw::float32}), 2, {n})[0];
         }),
    real("repeat_with_info.inputs", everything,
         [](const Scene& s, double n) {
           return tw::repeat_with_info(s.ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{}, tw::float32}), 2, {n})
               .output(0);
         }),
    whole("Outputs::operator[].i", index_of_1,
          [](const Scene& s, Whole n) { return call_site(s).outputs()[static_cast<std::size_t>(n)]; }),
    narrow("CallSiteInfo::output.i", index_of_1, [](const Scene& s, Whole n) { return call_site(s).output(narrow_of(n)); }),
    narrow("CallSiteInfo::parent_input.i", index_of_1,
           [](const Scene& s, Whole n) { return call_site(s).parent_input(narrow_of(n)); }),
    narrow("CallSiteInfo::parent_output.i", index_of_1,
           [](const Scene& s, Whole n) { return call_site(s).parent_output(narrow_of(n)); }),
    narrow("CallSiteInfo::graph_to_parent_input_index.i", index_of_1,
           [](const Scene& s, Whole n) {
             return indexed(s, [](const auto& site, int i) { return site.graph_to_parent_input_index(i); }, n);
           }),
    narrow("CallSiteInfo::graph_to_parent_output_index.i", index_of_1,
           [](const Scene& s, Whole n) {
             return indexed(s, [](const auto& site, int i) { return site.graph_to_parent_output_index(i); }, n);
           }),
    narrow("CallSiteInfo::parent_to_graph_input_index.i", index_of_1,
           [](const Scene& s, Whole n) {
             return indexed(s, [](const auto& site, int i) { return site.parent_to_graph_input_index(i); }, n);
           }),
    narrow("CallSiteInfo::parent_to_graph_output_index.i", index_of_1,
           [](const Scene& s, Whole n) {
             return indexed(s, [](const auto& site, int i) { return site.parent_to_graph_output_index(i); }, n);
           }),
    whole("move_ops_into_callees.least_update", any_outcome,
          [](const Scene& s, Whole n) { return tw::move_ops_into_callees(s.ir, n), s.x; }),
};

namespace collectives = ops::collectives;
const Case replicas[] = {
    whole("Ir::replica_grouping.stride", any_outcome,
          replicated<[](const Scene& s, Whole n) { return s.ir.replica_grouping(n), s.x; }>),
    whole("Ir::replica_grouping.group_size", any_outcome,
          replicated<[](const Scene& s, Whole n) { return s.ir.replica_grouping(1, n), s.x; }>),
    narrow(
        "Ir::replica_grouping_from_assignments.assignment", any_outcome,
        replicated<[](const Scene& s, Whole n) { return s.ir.replica_grouping_from_assignments({0, narrow_of(n), 0, 1}), s.x; }>),
    whole("ReplicaGrouping::group_of.replica", from(0, 3),
          replicated<[](const Scene& s, Whole n) { return s.tensor({1 + s.ir.replica_grouping(1, 2).group_of(n)}); }>),
    whole("ReplicaGrouping::member.group", from(0, 1),
          replicated<[](const Scene& s, Whole n) { return s.tensor({1 + s.ir.replica_grouping(1, 2).member(n, 0)}); }>),
    whole("ReplicaGrouping::member.i", from(0, 1),
          replicated<[](const Scene& s, Whole n) { return s.tensor({1 + s.ir.replica_grouping(1, 2).member(0, n)}); }>),
    whole("ReplicaGrouping::index_in_group.replica", from(0, 3),
          replicated<[](const Scene& s, Whole n) { return s.tensor({1 + s.ir.replica_grouping(1, 2).index_in_group(n)}); }>),
    whole("CommGroup.replica_group_size", any_outcome, replicated<[](const Scene& s, Whole n) {
            return tw::CommGroup{tw::CommGroupType::Consecutive, n}.to_replica_grouping(s.ir), s.x;
          }>),
    whole("is_cross_instance.instance_replicas", any_outcome,
          replicated<[](const Scene& s, Whole n) { return tw::is_cross_instance(s.ir.replica_grouping(), n), s.x; }>),
    whole("get_instance_replica_grouping.instance_replicas", any_outcome,
          replicated<[](const Scene& s, Whole n) { return tw::get_instance_replica_grouping(s.ir.replica_grouping(), n), s.x; }>),
    whole("get_ild_replica_grouping.domain_replicas", any_outcome,
          replicated<[](const Scene& s, Whole n) { return tw::get_ild_replica_grouping(s.ir.replica_grouping(), n), s.x; }>),
    whole(
        "Ir::replica_sharded_variable.shape", any_outcome,
        replicated<[](const Scene& s, Whole n) { return s.ir.replica_sharded_variable(tw::zeros(), {n, 2}, tw::float32, "v"); }>),
    whole("ShardedVariableOptions.shard_over", any_outcome, replicated<[](const Scene& s, Whole n) {
            return s.ir.replica_sharded_variable(tw::zeros(), {8}, tw::float32, "v", {.shard_over = n});
          }>),
    whole("Ir::replica_sharded_buffer.shape", any_outcome,
          replicated<[](const Scene& s, Whole n) { return s.ir.replica_sharded_buffer({n, 2}, tw::float32, {}), s.x; }>),
    whole("ShardedBufferOptions.shard_over", any_outcome, replicated<[](const Scene& s, Whole n) {
            return s.ir.replica_sharded_buffer({8}, tw::float32, {.shard_over = n}), s.x;
          }>),
    whole("ShardedBufferOptions.entries", any_outcome,
          replicated<[](const Scene& s, Whole n) { return s.ir.replica_sharded_buffer({8}, tw::float32, {.entries = n}), s.x; }>),
    whole("Ir::remote_replica_sharded_variable.offset", index_of_1, replicated<[](const Scene& s, Whole n) {
            return s.ir.remote_replica_sharded_variable(tw::zeros(), s.ir.replica_sharded_buffer({8}, tw::float32, {}), n, "v"),
                   s.x;
          }>),
    whole("replica_sharded_spec.shard_over", any_outcome, replicated<[](const Scene& s, Whole n) {
            return s.tensor(tw::replica_sharded_spec(s.ir.variable(tw::zeros(), {8}, tw::float32, "v"), n).shape);
          }>),
    narrow("ReplicatedSliceOptions.axis", any_outcome, replicated<[](const Scene& s, Whole n) {
             return collectives::replicated_slice(s.tensor({4, 4}), {.axis = narrow_of(n)});
           }>),
    whole("ShardedLossOptions.ignore_index", everything, replicated<[](const Scene& s, Whole n) {
            return ops::cross_entropy_sharded_loss(s.tensor({2, 3}), s.tensor({2}, tw::int32), {.ignore_index = n});
          }>),
    real("layer_norm_distributed.eps", not_negative,
         [](const Scene& s, double n) {
           s.ir.set_replication_factor(2);
           return ops::layer_norm_distributed(s.tensor({2, 3}), s.tensor({3}), s.tensor({3}), n);
         }),
    narrow("AllGatherOptions.axis", any_outcome, replicated<[](const Scene& s, Whole n) {
             return collectives::replicated_all_gather(s.tensor({4, 4}), {.axis = narrow_of(n)});
           }>),
    narrow("IpuReduceOptions.ipus", any_outcome, replicated<[](const Scene& s, Whole n) {
             return collectives::all_reduce({s.tensor({4}), s.tensor({4})}, {.ipus = {0, narrow_of(n)}})[0];
           }>),
};
}  // namespace

TEST_CASE("wrong numbers as values of variables and constants") { CHECK(in_main_problems(values) == ""); }
TEST_CASE("wrong numbers in main graphs") { CHECK(in_main_problems(of_main) == ""); }
TEST_CASE("wrong numbers as limits of budgets") { CHECK(in_main_problems(of_budgets) == ""); }
TEST_CASE("wrong numbers in calls and loops") { CHECK(problems(calls) == ""); }
TEST_CASE("wrong numbers in serialised and repeated graphs") { CHECK(problems(serial_graphs) == ""); }
TEST_CASE("wrong numbers in trees of names") { CHECK(in_main_problems(trees) == ""); }
TEST_CASE("wrong numbers of replicas") { CHECK(in_main_problems(replicas) == ""); }

namespace {
/// The error of planning what a trace gives.
std::string planning_error(void (*trace)(Ir&)) {
  std::string text;
  const std::string ended = in_child(
      [&](Report& report) {
        try {
          Ir ir;
          trace(ir);
          tw::lower(tw::prepare(ir, tw::cpu));
        } catch (const tw::TraceError& error) {
          report.add(error.what());
        }
      },
      rlim_t{2} << 30, 60);
  return ended.substr(0, ended.find('\n'));
}
}  // namespace
TEST_CASE("sums and products of sizes that 64 bits do not have are errors") {
  CHECK(planning_error([](Ir& ir) {
          for (int i = 0; i < 140'000; ++i) ir.variable(tw::zeros(), {Whole{1} << 44}, tw::float32, "v" + std::to_string(i));
        }) == "memory: 9.85162418487e+18 bytes of all tensors together: at most 2^60 expected");
  CHECK(planning_error([](Ir& ir) {
          const tw::Graph inner = ir.create_graph([](Tensor x) { return x + x; }, TensorSpec{{2}, tw::float32});
          const tw::Graph outer = ir.create_graph([&](Tensor x) { return tw::repeat(inner, Whole{1} << 31, x)[0]; },
                                                  TensorSpec{{2}, tw::float32});
          const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
          ops::host_store(ir.d2h_stream("y", {2}), tw::repeat(outer, Whole{1} << 31, x)[0]);
        }).find("times in a run: at most 2^48 times expected") != std::string::npos);
  CHECK(planning_error([](Ir& ir) {
          const tw::Graph graph = ir.create_graph(
              [&](Tensor x) {
                ops::host_store(ir.d2h_stream("y", {2}), x);
                return x + x;
              },
              TensorSpec{{2}, tw::float32});
          tw::repeat(graph, Whole{1} << 45, ir.variable(tw::ones(), {2}, tw::float32, "x"));
        }).find("a host array of at most 2^47 bytes expected") != std::string::npos);
}
