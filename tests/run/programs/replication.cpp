// labels: asan strict tsan ubsan
// Programs of several replicas: what each has of its own, and what they have together.
#include <array>
#include <stdexcept>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;

using support::load;
template <class Session, tw::NameText name>
auto data(const Session& session, tw::Name<name> of) {
  return elements(session.get_tensor_data(of));
}

/// Loads in the main graph: two elements of a stream, at fixed places.
constexpr void streams(Ir& ir) {
  ir.set_replication_factor(3);
  ir.set_num_host_transfers(2);
  const auto stream = ir.h2d_stream("x", {2});
  const Tensor first = ops::host_load(stream), second = ops::host_load(stream);
  const auto output = ir.d2h_stream("y", {2});
  ops::host_store(output, first + second);
  ops::host_store(output, first - second);
}

/// The same in a loop, whose loads and stores move the streams on.
struct Step {
  tw::HostToDeviceStream x;
  tw::DeviceToHostStream y;
  constexpr Tensor operator()(Tensor sum) const {
    const Tensor next = sum + ops::host_load(x);
    ops::host_store(y, next);
    return next;
  }
};
constexpr void streams_in_a_loop(Ir& ir) {
  ir.set_replication_factor(3);
  ir.set_num_host_transfers(4);
  const Tensor start = ir.variable(tw::values({1, 10, 100}), {}, tw::float32, "start",
                                   {.replica_grouping = ir.replica_grouping(1, 1)});
  const Graph step = ir.create_graph(Step{ir.h2d_stream("x", {}), ir.d2h_stream("y", {})}, start);
  store("sum", tw::repeat(step, 4, start)[0]);
}

/// Variables of four replicas in all kinds of groups, each of which is changed by the replica's own input.
constexpr void groups(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = load(ir, "x", {}) + ir.constant({0}, {2});
  const auto pairs = ir.replica_grouping(1, 2), halves = ir.replica_grouping(2, 2), single = ir.replica_grouping(1, 1);
  const auto mirrored = ir.replica_grouping_from_assignments({0, 1, 1, 0});
  const std::array<Tensor, 6> variables{
      ir.variable(tw::values({1, 2}), {2}, tw::float32, "all"),
      ir.variable(tw::values({1, 2, 3, 4}), {2}, tw::float32, "pairs", {.replica_grouping = pairs}),
      ir.variable(tw::values({1, 2, 3, 4}), {2}, tw::float32, "halves", {.replica_grouping = halves}),
      ir.variable(tw::values({1, 2, 3, 4, 5, 6, 7, 8}), {2}, tw::float32, "single", {.replica_grouping = single}),
      ir.variable(tw::values({1, 2, 3, 4}), {2}, tw::float32, "mirrored", {.replica_grouping = mirrored}),
      ir.variable(tw::values({1, 2, 3, 4}), {2}, tw::float32, "retrieved",
                  {.replica_grouping = mirrored, .retrieval_mode = tw::RetrievalMode::all_replicas})};
  for (const Tensor variable : variables) {
    ops::accumulate_(variable, x);
    store(tw::text(variable.name(), "_out").view(), variable);
  }
}

/// Seven elements over two of the four replicas of a group, and over all; in streaming memory too.
constexpr void shards(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor two = ir.replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6, 7}), {7}, tw::float32, "two", {.shard_over = 2});
  const Tensor four = ir.replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6, 7, 8, 9}), {3, 3}, tw::float32, "four");
  const auto halves = ir.replica_grouping(2, 2);
  const Tensor grouped = ir.replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6}), {3}, tw::float32, "grouped",
                                                     {.replica_grouping = halves});
  const RemoteBuffer buffer = ir.replica_sharded_buffer({2, 3}, tw::float32, {.entries = 2});
  ir.remote_replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6}), buffer, 1, "remote");
  const Tensor remote = ops::remote_load(buffer, 1);
  store("two_out", two);
  store("four_out", four);
  store("grouped_out", grouped);
  store("remote_out", remote);
  const Tensor number = ir.variable(tw::values({0, 1, 2, 3}), {}, tw::float32, "number",
                                    {.replica_grouping = ir.replica_grouping(1, 1)});
  const Tensor every = ir.replica_sharded_variable(tw::values({1, 2, 3}), {3}, tw::float32, "every",
                                                   {.shard_over = 2, .retrieval_mode = tw::RetrievalMode::all_replicas});
  ops::accumulate_(every, number + ir.constant({0}, {2}));
  ir.remote_replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6}), buffer, 0, "every_row",
                                     {.retrieval_mode = tw::RetrievalMode::all_replicas});
  ops::remote_store(buffer, 0, ops::remote_load(buffer, 0) + number);
  for (const Tensor shard : {two, four, grouped}) ops::accumulate_(shard, ir.constant({10}, shard.shape()));
  ops::remote_store(buffer, 1, remote + 10);
}

/// Replicas that take different branches, in one of which a stream moves on.
struct Take {
  tw::HostToDeviceStream stream;
  constexpr Tensor operator()(Tensor x) const { return x + ops::host_load(stream); }
};
struct Leave {
  constexpr Tensor operator()(Tensor x) const { return x * 2; }
};
struct Choose {
  Graph take, leave;
  constexpr Tensor operator()(Tensor x, Tensor condition) const {
    return tw::conditional(condition, {take, {x}}, {leave, {x}})[0];
  }
};
constexpr void branches(Ir& ir) {
  ir.set_replication_factor(4);
  ir.set_num_host_transfers(2);
  const auto flags = ir.h2d_stream("flag", {}, tw::boolean);
  const Tensor first = ops::host_load(flags), second = ops::host_load(flags);
  const Tensor x = ir.variable(tw::values({1, 2, 3, 4}), {}, tw::float32, "x", {.replica_grouping = ir.replica_grouping(1, 1)});
  const Graph take = ir.create_graph(Take{ir.h2d_stream("x_in", {})}, x);
  const Graph choose = ir.create_graph(Choose{take, ir.create_graph(Leave(), x)}, x, first);
  const auto output = ir.d2h_stream("out", {});
  const Tensor once = tw::call(choose, {x, first})[0];
  ops::host_store(output, once);
  ops::host_store(output, tw::call(choose, {once, second})[0]);
}

/// Rows of streaming memory at offsets of the replicas' own.
constexpr void rows(Ir& ir) {
  ir.set_replication_factor(2);
  const RemoteBuffer buffer = ir.remote_buffer({2}, tw::float32, 3);
  ir.remote_variable(tw::values({1, 2, 3, 4}), buffer, 1, "row", {.replica_grouping = ir.replica_grouping(1, 1)});
  const Tensor offset = load(ir, "offset", {}, tw::int32);
  ops::remote_store(buffer, offset, load(ir, "x", {2}));
  store("row_1", ops::remote_load(buffer, 1));
  store("row_2", ops::remote_load(buffer, 2));
}

/// A module with a variable for each pair of replicas, and one of which each has a quarter; in streaming memory too.
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) {
    const Tensor scale = add_variable_input("scale", tw::values({2, 3}), {}, tw::float32,
                                            {.replica_grouping = ir().replica_grouping(1, 2)});
    const Tensor bias = add_replica_sharded_variable_input("bias", tw::values({1, 2, 3, 4}), {2, 2});
    return x * scale + bias;
  }
};
constexpr void modules(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = load(ir, "x", {1});
  const auto [factories, graph] = Scale().create_graph(x);
  const auto variables = factories.init("chip");
  store("chip_out", graph.bind(variables).call(x)[0]);
  const auto buffers = tw::named_variable_buffers(factories, 2);
  factories.init_remote(buffers, 1, "remote");
  store("remote_out", graph.bind(tw::load_remote(buffers, 1)).call(x)[0]);
}

/// Collectives between other ops: of all replicas, of groups, in place on a view, and in a loop.
struct Rounds {
  constexpr Tensor operator()(Tensor x) const { return collectives::replicated_all_reduce(x * 2) - x; }
};
constexpr void exchanges(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = load(ir, "x", {2, 3});
  const auto pairs = ir.replica_grouping(1, 2), halves = ir.replica_grouping(2, 2);
  store("sum", collectives::replicated_all_reduce(x + 1) * 2);
  store("largest", collectives::replicated_all_reduce(x, {.op = tw::CollectiveOperator::max, .group = pairs}));
  store("gathered", collectives::replicated_all_gather(x * 2, {.axis = 1, .group = halves}));
  store("slice", collectives::replicated_slice(x, {.group = pairs}));
  store("scattered", collectives::replicated_reduce_scatter(x));
  const Tensor columns = (x * 1).T();
  collectives::replicated_all_reduce_(columns, {.group = pairs});
  store("columns", columns);
  store("looped", tw::repeat(ir.create_graph(Rounds(), x), 3, x)[0]);
}

/// A step of SGD for y = x w, on every replica with a part of the batch.
constexpr std::int64_t batch = 8;
struct Regression {
  constexpr Tensor operator()(Tensor w, Tensor x, Tensor y) const {
    const Tensor error = ops::matmul(x, w) - y;
    return ops::mean(error * error);
  }
};
constexpr Tensor gradient(Ir& ir, Tensor w, std::int64_t replicas) {
  const Tensor x = load(ir, "x", {batch / replicas, 3}), y = load(ir, "y", {batch / replicas, 2});
  const Graph forward = ir.create_graph(Regression(), w, x, y);
  const auto info = tw::call_with_info(forward, {w, x, y});
  const auto backward = tw::autodiff(forward, {.grads_required = {{forward.input(0)}}});
  return tw::call(backward.graph(), ir.constant(1.0), backward.inputs_dict(info))[0];
}
template <int replicas>
constexpr void train(Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor w = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {3, 2}, tw::float32, "w",
                               {.retrieval_mode = tw::RetrievalMode::all_replicas});
  const Tensor dw = collectives::replicated_all_reduce(gradient(ir, w, replicas), {.op = tw::CollectiveOperator::mean});
  ops::scaled_add_(w, dw, 1, -0.1);
}
// 24 bytes in four pieces: each replica gives three of them twice, added up and then gathered
static_assert(tw::Session<train<4>, tw::ipu_model>::plan.collectives.bytes == 36);
static_assert(tw::Session<train<4>, tw::ipu_model>::plan.collectives.cycles > 0);
static_assert(tw::Session<train<4>>::plan.collectives.cycles == 0);
static_assert(tw::Session<train<1>, tw::ipu_model>::plan.collectives == tw::CollectiveTraffic{});

/// The same, of which each replica has a part of the weight.
constexpr void train_shards(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor shard = ir.replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6}), {3, 2}, tw::float32, "w");
  const Tensor dw = gradient(ir, collectives::replicated_all_gather(shard), 4);
  const Tensor own = collectives::replicated_reduce_scatter(
      dw, {.op = tw::CollectiveOperator::mean, .configure_output_for_replicated_tensor_sharding = true});
  ops::scaled_add_(shard, own, 1, -0.1);
}

/// The same by an optimiser with state, in whole on one replica or on two of them in parts.
template <int replicas>
constexpr void train_with_momentum(Ir& ir) {
  ir.set_replication_factor(replicas);
  Tensor w, part;
  if (replicas == 1) {
    w = part = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {3, 2}, tw::float32, "w");
  } else {
    part = ir.replica_sharded_variable(tw::values({1, 2, 3, 4, 5, 6}), {3, 2}, tw::float32, "w");
    w = collectives::replicated_all_gather(part);
  }
  Tensor dw = gradient(ir, w, replicas);
  if (replicas > 1)
    dw = collectives::replicated_reduce_scatter(
        dw, {.op = tw::CollectiveOperator::mean, .configure_output_for_replicated_tensor_sharding = true});
  const auto [factories, graph] = tw::create_graph(tw::optim::Sgd(), part, dw.spec(),
                                                   tw::optim::SgdParameters{.lr = 0.1, .momentum = 0.9});
  graph.bind(factories.init("sgd")).call(part, dw);
}

/// Shards of one shape, of tensors of different ones, in graphs from one cache.
struct Gather : tw::Module<Gather> {
  constexpr Tensor build(Tensor shard) { return collectives::replicated_all_gather(shard) * 2; }
};
constexpr void cached_shards(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor three = ir.replica_sharded_variable(tw::values({1, 2, 3}), {3}, tw::float32, "three");
  const Tensor four = ir.replica_sharded_variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, "four");
  const Tensor whole = ir.variable(tw::values({5, 6}), {2}, tw::float32, "whole");
  tw::GraphCache cache;
  store("three_out", cache.create_graph(Gather(), three).graph.call(three)[0]);
  store("four_out", cache.create_graph(Gather(), four).graph.call(four)[0]);
  store("whole_out", cache.create_graph(Gather(), whole).graph.call(whole)[0]);
}

/// A collective in a branch that not all replicas take, of a row that may not be there.
struct Reduce {
  constexpr Tensor operator()(Tensor x) const { return collectives::replicated_all_reduce(x); }
};
constexpr void apart(Ir& ir) {
  ir.set_replication_factor(2);
  const RemoteBuffer buffer = ir.remote_buffer({}, tw::float32, 2);
  ir.remote_variable(tw::values({1, 2}), buffer, 1, "row", {.replica_grouping = ir.replica_grouping(1, 1)});
  const Tensor x = ops::remote_load(buffer, load(ir, "offset", {}, tw::int32));
  const Tensor condition = load(ir, "condition", {}, tw::boolean);
  const Graph reduce = ir.create_graph(Reduce(), x), leave = ir.create_graph(Leave(), x);
  store("y", tw::conditional(condition, {reduce, {x}}, {leave, {x}})[0]);
}

}  // namespace

TEST_CASE("each replica has its own elements of a stream", "[replication]") {
  on_all_machines<streams>([](auto& session) {
    const xt::xtensor<float, 3> x{{{1, 2}, {3, 4}, {5, 6}}, {{10, 20}, {30, 40}, {50, 60}}};
    const auto outputs = session.run("x"_s = x);
    CHECK(elements(outputs["y"_s]) == Floats{11, 22, 33, 44, 55, 66, -9, -18, -27, -36, -45, -54});
  });
  on_all_machines<streams_in_a_loop>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    for (int run = 0; run < 2; ++run) {
      const auto outputs = session.run("x"_s = x);
      CHECK(elements(outputs["y"_s]) == Floats{2, 12, 103, 6, 17, 109, 13, 25, 118, 23, 36, 130});
      CHECK(elements(outputs["sum"_s]) == Floats{23, 36, 130, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    }
  });
}

TEST_CASE("arrays for streams of replicas have an axis of them", "[replication]") {
  tw::Session<streams> session;
  CHECK_THROWS_WITH((session.run("x"_s = xt::xtensor<float, 3>({2, 2, 2}))),
                    "run: 'x' has shape (2, 2, 2): (2, 3, 2) expected, where 2 is num_host_transfers and 3 is the "
                    "replication factor");
  CHECK_THROWS_AS((session.run("x"_s = xt::xtensor<float, 2>({3, 2}))), std::invalid_argument);
}

TEST_CASE("variables of groups of replicas", "[replication]") {
  on_all_machines<groups>([](auto& session) {
    CHECK(data(session, "all"_s) == Floats{1, 2});
    CHECK(data(session, "retrieved"_s) == Floats{1, 2, 3, 4, 3, 4, 1, 2});
    const auto outputs = session.run("x"_s = xt::xtensor<float, 1>{10, 20, 30, 40});
    CHECK(elements(outputs["all_out"_s]) == Floats{11, 12, 21, 22, 31, 32, 41, 42});
    CHECK(elements(outputs["pairs_out"_s]) == Floats{11, 12, 21, 22, 33, 34, 43, 44});
    CHECK(elements(outputs["halves_out"_s]) == Floats{11, 12, 23, 24, 31, 32, 43, 44});
    CHECK(elements(outputs["single_out"_s]) == Floats{11, 12, 23, 24, 35, 36, 47, 48});
    CHECK(elements(outputs["mirrored_out"_s]) == Floats{11, 12, 23, 24, 33, 34, 41, 42});
    // the host has the tensors of the first replica of each group, or all
    CHECK(data(session, "all"_s) == Floats{11, 12});
    CHECK(data(session, "pairs"_s) == Floats{11, 12, 33, 34});
    CHECK(data(session, "halves"_s) == Floats{11, 12, 23, 24});
    CHECK(data(session, "single"_s) == Floats{11, 12, 23, 24, 35, 36, 47, 48});
    CHECK(data(session, "mirrored"_s) == Floats{11, 12, 23, 24});
    CHECK(data(session, "retrieved"_s) == Floats{11, 12, 23, 24, 33, 34, 41, 42});
    // what it writes, all replicas of a group get
    session.write_variable_data("mirrored"_s, xt::xtensor<float, 2>{{1, 2}, {3, 4}});
    session.write_variable_data("retrieved"_s, xt::xtensor<float, 2>{{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    const auto again = session.run("x"_s = xt::xtensor<float, 1>{0, 0, 0, 0});
    CHECK(elements(again["mirrored_out"_s]) == Floats{1, 2, 3, 4, 3, 4, 1, 2});
    CHECK(elements(again["retrieved_out"_s]) == Floats{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(elements(again["all_out"_s]) == Floats{11, 12, 21, 22, 31, 32, 41, 42});
    // a new context begins with the host's values
    session.weights_to_host();
    session.detach();
    session.attach();
    CHECK(elements(session.run("x"_s = xt::xtensor<float, 1>{0, 0, 0, 0})["all_out"_s]) ==
          Floats{11, 12, 11, 12, 11, 12, 11, 12});
  });
}

TEST_CASE("sharded variables", "[replication]") {
  on_all_machines<shards>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["two_out"_s]) == Floats{1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0});
    CHECK(elements(outputs["four_out"_s]) == Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0});
    CHECK(elements(outputs["grouped_out"_s]) == Floats{1, 2, 4, 5, 3, 0, 6, 0});
    CHECK(elements(outputs["remote_out"_s]) == Floats{1, 2, 3, 4, 5, 6, 0, 0});
    const auto four = session.get_tensor_data("four"_s);
    CHECK(four.dimension() == 2);
    CHECK(elements(four) == Floats{11, 12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(data(session, "two"_s) == Floats{11, 12, 13, 14, 15, 16, 17});
    CHECK(data(session, "grouped"_s) == Floats{11, 12, 13, 14, 15, 16});
    CHECK(data(session, "remote"_s) == Floats{11, 12, 13, 14, 15, 16});
    // the tensor of each replica is made of the shards of the replicas with which it gathers
    CHECK(data(session, "every"_s) == Floats{1, 2, 4, 1, 2, 4, 3, 4, 6, 3, 4, 6});
    CHECK(data(session, "every_row"_s) == Floats{1, 2, 4, 5, 7, 8, 1, 2, 4, 5, 7, 8, 1, 2, 4, 5, 7, 8, 1, 2, 4, 5, 7, 8});
    session.write_variable_data("every"_s, xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}});
    session.write_variable_data("two"_s, xt::xtensor<float, 1>{7, 6, 5, 4, 3, 2, 1});
    CHECK(elements(session.run()["two_out"_s]) == Floats{7, 6, 5, 4, 3, 2, 1, 10, 7, 6, 5, 4, 3, 2, 1, 10});
    CHECK(data(session, "every"_s) == Floats{1, 2, 7, 1, 2, 7, 9, 10, 15, 9, 10, 15});
  });
}

TEST_CASE("replicas take branches of their own", "[replication]") {
  on_all_machines<branches>([](auto& session) {
    const xt::xtensor<bool, 2> flags{{true, false, false, true}, {true, true, false, false}};
    const xt::xtensor<float, 2> x{{10, 20, 30, 40}, {100, 200, 300, 400}};
    const auto outputs = session.run("flag"_s = flags, "x_in"_s = x);
    // replica 1 takes its first element in the second call
    CHECK(elements(outputs["out"_s]) == Floats{11, 4, 6, 44, 111, 24, 12, 88});
  });
}

TEST_CASE("each replica has its own rows of remote buffers", "[replication]") {
  on_all_machines<rows>([](auto& session) {
    const auto outputs = session.run("offset"_s = xt::xtensor<std::int32_t, 1>{1, 2},
                                     "x"_s = xt::xtensor<float, 2>{{5, 6}, {7, 8}});
    CHECK(elements(outputs["row_1"_s]) == Floats{5, 6, 3, 4});
    CHECK(elements(outputs["row_2"_s]) == Floats{0, 0, 7, 8});
    CHECK(data(session, "row"_s) == Floats{5, 6, 3, 4});
  });
}

TEST_CASE("variables of modules in groups and in parts", "[replication]") {
  on_all_machines<modules>([](auto& session) {
    const auto outputs = session.run("x"_s = xt::xtensor<float, 2>{{10}, {20}, {30}, {40}});
    CHECK(elements(outputs["chip_out"_s]) == Floats{21, 42, 93, 124});
    CHECK(elements(outputs["remote_out"_s]) == Floats{21, 42, 93, 124});
    CHECK(data(session, "chip.scale"_s) == Floats{2, 3});
    CHECK(data(session, "remote.bias"_s) == Floats{1, 2, 3, 4});
  });
}

TEST_CASE("collectives between other ops", "[replication]") {
  on_all_machines<exchanges>([](auto& session) {
    xt::xtensor<float, 3> x({4, 2, 3});
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
    const auto outputs = session.run("x"_s = x);
    const auto repeated = [](const Floats& once, int times) {
      Floats all;
      for (int i = 0; i < times; ++i) all.insert(all.end(), once.begin(), once.end());
      return all;
    };
    CHECK(elements(outputs["sum"_s]) == repeated({80, 88, 96, 104, 112, 120}, 4));
    CHECK(elements(outputs["largest"_s]) ==
          Floats{6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23, 18, 19, 20, 21, 22, 23});
    const Floats even{0, 2, 4, 24, 26, 28, 6, 8, 10, 30, 32, 34}, odd{12, 14, 16, 36, 38, 40, 18, 20, 22, 42, 44, 46};
    Floats gathered = even;
    gathered.insert(gathered.end(), odd.begin(), odd.end());
    CHECK(elements(outputs["gathered"_s]) == repeated(gathered, 2));
    CHECK(elements(outputs["slice"_s]) == Floats{0, 1, 2, 9, 10, 11, 12, 13, 14, 21, 22, 23});
    CHECK(elements(outputs["scattered"_s]) == Floats{36, 40, 44, 48, 52, 56, 0, 0});
    const Floats first{6, 12, 8, 14, 10, 16}, second{30, 36, 32, 38, 34, 40};
    CHECK(elements(outputs["columns"_s]) == [&] {
      Floats all = repeated(first, 2);
      const Floats others = repeated(second, 2);
      all.insert(all.end(), others.begin(), others.end());
      return all;
    }());
    // with s, the sum of x over the replicas, the rounds make 2s - x, then 14s - (2s - x), then 98s - (12s + x)
    Floats looped;
    for (std::size_t replica = 0; replica < 4; ++replica)
      for (std::size_t i = 0; i < 6; ++i) looped.push_back(86 * static_cast<float>(36 + 4 * i) - x.data()[6 * replica + i]);
    CHECK(elements(outputs["looped"_s]) == looped);
  });
}

TEST_CASE("replicas train on their parts of a batch as one does on all of it", "[replication]") {
  xt::xtensor<float, 3> x({4, 2, 3}), y({4, 2, 2});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7 % 11) / 11;
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(i * 5 % 7) / 7;
  tw::Session<train<1>> alone;
  const xt::xtensor<float, 2> all_x = xt::reshape_view(x, {8, 3}), all_y = xt::reshape_view(y, {8, 2});
  for (int step = 0; step < 5; ++step) alone.run("x"_s = all_x, "y"_s = all_y);
  const Floats expected = data(alone, "w"_s);
  on_all_machines<train<4>>([&](auto& session) {
    for (int step = 0; step < 5; ++step) session.run("x"_s = x, "y"_s = y);
    const Floats all = data(session, "w"_s);
    REQUIRE(all.size() == 24);
    for (std::size_t i = 0; i < 6; ++i) CHECK(all[i] == Approx(expected[i]).epsilon(1e-6));
    for (std::size_t i = 6; i < 24; ++i) CHECK(all[i] == all[i - 6]);
  });
  on_all_machines<train_shards>([&](auto& session) {
    for (int step = 0; step < 5; ++step) session.run("x"_s = x, "y"_s = y);
    const Floats w = data(session, "w"_s);
    for (std::size_t i = 0; i < 6; ++i) CHECK(w[i] == Approx(expected[i]).epsilon(1e-6));
  });
}

TEST_CASE("the state of an optimiser for a shard goes with it", "[replication]") {
  xt::xtensor<float, 3> x({2, 4, 3}), y({2, 4, 2});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7 % 11) / 11;
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(i * 5 % 7) / 7;
  tw::Session<train_with_momentum<1>> alone;
  const xt::xtensor<float, 2> all_x = xt::reshape_view(x, {8, 3}), all_y = xt::reshape_view(y, {8, 2});
  for (int step = 0; step < 6; ++step) alone.run("x"_s = all_x, "y"_s = all_y);
  const Floats expected = data(alone, "w"_s);
  on_all_machines<train_with_momentum<2>>([&](auto& session) {
    for (int step = 0; step < 3; ++step) session.run("x"_s = x, "y"_s = y);
    std::remove_reference_t<decltype(session)> other;
    other.load_from_session(session);
    for (int step = 0; step < 3; ++step) other.run("x"_s = x, "y"_s = y);
    const Floats w = data(other, "w"_s);
    for (std::size_t i = 0; i < 6; ++i) CHECK(w[i] == Approx(expected[i]).epsilon(1e-5));
  });
}

TEST_CASE("a graph for a shard is not one for shards of other tensors", "[replication]") {
  on_all_machines<cached_shards>([](auto& session) {
    const auto outputs = session.run();
    CHECK(elements(outputs["three_out"_s]) == Floats{2, 4, 6, 2, 4, 6});
    CHECK(elements(outputs["four_out"_s]) == Floats{2, 4, 6, 8, 2, 4, 6, 8});
    CHECK(elements(outputs["whole_out"_s]) == Floats{10, 12, 10, 12, 10, 12, 10, 12});
  });
}

TEST_CASE("a collective that not all replicas come to is an error", "[replication]") {
  on_all_machines<apart>([](auto& session) {
    const auto run = [&](bool first, bool second, std::int32_t offset = 1) {
      return elements(session.run("offset"_s = xt::xtensor<std::int32_t, 1>{offset, 1},
                                  "condition"_s = xt::xtensor<bool, 1>{first, second})["y"_s]);
    };
    constexpr auto apart_text =
        "replicas took different branches of a conditional, in one of which is a collective: all replicas expected in it";
    CHECK(run(true, true) == Floats{3, 3});
    CHECK_THROWS_WITH(run(true, false), apart_text);
    CHECK(run(false, false) == Floats{2, 4});
    CHECK_THROWS_AS(run(true, true, 2), std::out_of_range);
    CHECK_THROWS_WITH(run(true, false, 2), apart_text);  // both errors; neither is left for the next run
    CHECK(run(true, true) == Floats{3, 3});
  });
}
