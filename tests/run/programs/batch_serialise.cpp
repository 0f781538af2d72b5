// labels: strict
// Serialised graphs compute what the same calls in order compute, bit for bit.
#include "../../support/elements.hpp"
#include "tilewright/transform/batch_serialise_gradients.hpp"
#include "tilewright/transform/repeat_graph.hpp"
#include "tilewright/transform/route_tensor.hpp"

namespace {

using support::load;
using tw::Graph, tw::Ir, tw::IoMode, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

constexpr int steps = 4, rows = 3;
constexpr tw::Shape shape{2, 3};

/// Stores rows of a buffer in a stream, and tensors of a stream in rows.
constexpr void read_rows(RemoteBuffer buffer, int first, int count, tw::DeviceToHostStream to) {
  const auto read = [&](Tensor row) {
    ops::host_store(to, ops::remote_load(buffer, row));
    return row + 1;
  };
  tw::repeat(buffer.ir().create_graph(read, tw::TensorSpec{{}, tw::uint32}), count, buffer.ir().constant(first, tw::uint32));
}
constexpr void write_rows(RemoteBuffer buffer, int first, int count, tw::HostToDeviceStream from) {
  const auto write = [&](Tensor row) {
    ops::remote_store(buffer, row, ops::host_load(from));
    return row + 1;
  };
  tw::repeat(buffer.ir().create_graph(write, tw::TensorSpec{{}, tw::uint32}), count, buffer.ir().constant(first, tw::uint32));
}

/// A product, of which a half is dropped, times a scale that changes by step.
struct Noisy : tw::Module<Noisy> {
  constexpr Tensor build(Tensor x, Tensor scale, Tensor seed) {
    const Tensor weight = add_variable_input("weight", tw::normal(0, 1), {3, 3});
    return ops::dropout(x.matmul(weight), seed, 0.5) * scale;
  }
};
constexpr auto reversed = [](Tensor row) { return 2 - row; };

/// What Noisy gives for three rows of four steps: called in order, and serialised in each mode.
constexpr void forward(Ir& ir) {
  const auto [factories, graph] = tw::create_graph(ir, Noisy{}, tw::TensorSpec{shape}, tw::TensorSpec{shape},
                                                   tw::TensorSpec{{2}, tw::uint32});
  const auto variables = factories.init();
  const Tensor seed = load(ir, "seed", {2}, tw::uint32);
  const RemoteBuffer scales = ir.remote_buffer(shape, tw::float32, rows * steps);
  write_rows(scales, 0, rows * steps, ir.h2d_stream("scales", shape));
  const auto x = ir.h2d_stream("x", shape), plain = ir.h2d_stream("x_plain", shape);
  const auto y = ir.d2h_stream("y", shape), expected = ir.d2h_stream("expected", shape), again = ir.d2h_stream("again", shape);
  for (int row = 0; row < rows; ++row) {
    Tensor of_step = seed;
    for (int i = 0; i < steps; ++i) {
      const auto [next, used] = ops::split_random_seed(of_step).as<2>();
      const Tensor scale = ops::remote_load(scales, (2 - row) * steps + i);
      ops::host_store(expected, graph.bind(variables).call(ops::host_load(plain), scale, used)[0]);
      of_step = next;
    }
  }
  const auto in = graph.graph().inputs();
  for (const IoMode mode : {IoMode::compute, IoMode::io, IoMode::io_overlapped}) {
    const RemoteBuffer results = ir.remote_buffer(shape), last = ir.remote_buffer(shape);
    const auto serial = tw::batch_serialise(
        graph, steps,
        {.load_handles = {{in[0], x}, {in[1], {scales, reversed}}},
         .store_streams = {{graph.graph().output(0), y}},
         .store_buffers = {{graph.graph().output(0), {results, 1}}, {in[0], {last, tw::none}}},
         .seed_input = in[2],
         .rows = rows,
         .io_mode = mode});
    for (int row = 0; row < rows; ++row) serial.graph.bind(variables).call(ir.constant(row, tw::uint32), seed);
    read_rows(results, steps, rows * steps, again);
    read_rows(last, 0, steps, again);
  }
}

/// A layer with a weight and a bias, whose gradient needs its input and what is between.
struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) {
    x = x.matmul(add_variable_input("weight", tw::normal(0, 1), {3, 3}));
    return ops::gelu(x + add_variable_input("bias", tw::normal(0, 1), {3}));
  }
};
constexpr int layers = 2;

/// Gradients of two layers and of their input, for four steps: by calls in order, and by layer, serialised in two modes.
constexpr void gradients(Ir& ir) {
  const auto [factories, forward] = tw::create_graph(ir, Layer{}, tw::TensorSpec{shape});
  const auto [accumulators, gradient] = tw::autodiff_with_accumulation(forward, forward.args(),
                                                                       {.grads_required = {{forward.graph().input(0)}}});
  const auto info = gradient.grad_graph_info();
  const auto x = ir.h2d_stream("layers_x", shape), dy = ir.h2d_stream("dy", shape);
  const auto y = ir.d2h_stream("layers_y", shape), dx = ir.d2h_stream("dx", shape);
  tw::NamedTensors variables[layers];
  for (int i = 0; i < layers; ++i) variables[i] = factories.init(tw::text("layer", i).view());
  const auto means_of = [&made = accumulators](std::string_view name, int layer) {
    return made.init(tw::text(name, layer).view());
  };
  tw::NamedTensors means[layers]{means_of("plain", 0), means_of("plain", 1)};
  for (int step = 0; step < steps; ++step) {
    const auto first = forward.bind(variables[0]).call_with_info(ops::host_load(x));
    const auto second = forward.bind(variables[1]).call_with_info(first.output(0));
    ops::host_store(y, second.output(0));
    const Tensor between = gradient.bind(means[1]).call(ops::host_load(dy), info.inputs_dict(second))[0];
    ops::host_store(dx, gradient.bind(means[0]).call(between, info.inputs_dict(first))[0]);
  }
  for (const IoMode mode : {IoMode::compute, IoMode::io_overlapped}) {
    const RemoteBuffer activations = ir.remote_buffer(shape, tw::float32, (layers + 1) * steps),
                       differences = ir.remote_buffer(shape, tw::float32, (layers + 1) * steps);
    const auto serial = tw::batch_serialise_fwd_and_grad(
        forward, gradient, forward.args(), steps,
        {.load_handles = {{forward.graph().input(0), activations}, {gradient.graph().input(0), {differences, 1}}},
         .store_buffers = {{forward.graph().output(0), {activations, 1}}, {gradient.graph().output(0), differences}},
         .rows = layers,
         .io_mode = mode});
    write_rows(activations, 0, steps, x);
    for (int layer = 0; layer < layers; ++layer) serial.forward.graph.bind(variables[layer]).call(ir.constant(layer, tw::uint32));
    read_rows(activations, layers * steps, steps, y);
    write_rows(differences, layers * steps, steps, dy);
    for (int layer = layers; layer-- > 0;) {
      tw::NamedTensors all = means_of(mode == IoMode::compute ? "compute" : "overlapped", layer);
      all.update(variables[layer]);
      serial.gradient.graph.bind(all).call(ir.constant(layer, tw::uint32));
    }
    read_rows(differences, 0, steps, dx);
  }
}

/// total gets t (y + (y + 1) + y) in a graph that is called and, in another one, repeated; and a graph that repeats itself.
constexpr void routes(Ir& ir) {
  const Tensor t = load(ir, "t", shape), y = load(ir, "routed_y", shape);
  const Tensor total = ir.variable(tw::zeros(), shape, tw::float32, "total");
  const Graph inner = ir.create_graph([](Tensor x) { return x + 1; }, y);
  const Graph outer = ir.create_graph([&](Tensor x) { return Tensor(tw::repeat(inner, 2, x)) + Tensor(tw::call(inner, x)); }, y);
  store("routed", tw::call(outer, y));
  {
    const tw::GraphScope scope(inner);
    const Tensor factor = tw::route_tensor_into_graph(t), sum = tw::route_tensor_into_graph(total, inner, true);
    ops::add_(sum, factor * inner.input(0));
  }
  store("total_of_run", total);
  const Graph doubles = ir.create_graph([](Tensor x) { return x * 2; }, y);
  store("doubled", tw::call(doubles, y));
  tw::repeat_graph(doubles, 3);
}

/// Doubles tensors of which each of two replicas keeps a shard, in two steps, and counts; five times, as a loop.
constexpr void sharded(Ir& ir) {
  ir.set_replication_factor(2);
  const tw::ReplicaGrouping all = ir.replica_grouping();
  const Graph doubles = ir.create_graph([](Tensor t) { return t * 2; }, tw::TensorSpec{shape});
  const Tensor in = doubles.input(0), out = doubles.output(0);
  const RemoteBuffer loaded = tw::batch_serial_buffer(in, 2, 1, all), stored = tw::batch_serial_buffer(out, 2, 2, all);
  const auto x = ir.h2d_stream("x", shape);
  for (int i = 0; i < 2; ++i) {
    const Tensor whole = ops::collectives::replicated_all_reduce_identical_inputs(ops::host_load(x), all);
    ops::remote_store(loaded, i, ops::collectives::replica_sharded_slice(whole, all));
  }
  const auto serial = tw::batch_serialise(
      tw::GraphWithNamedArgs(doubles), 2,
      {.load_handles = {{in, {loaded, 0, all}}}, .store_buffers = {{out, {stored, 1, all}}}, .io_mode = IoMode::compute});
  serial.graph.call(ir.constant(0, tw::uint32));
  const auto y = ir.d2h_stream("y", {3});
  for (int i = 0; i < 2; ++i) ops::host_store(y, ops::remote_load(stored, 2 + i));
  const Tensor count = ir.variable(tw::zeros(), {}, tw::float32, "count");
  store("count", ops::add_(count, ir.constant(1)));
  tw::repeat_graph(ir.main_graph(), 5);
}

constexpr void on_host(Ir& ir) {
  forward(ir);
  routes(ir);
}
constexpr void on_ipu(Ir& ir) {
  forward(ir);
  gradients(ir);
}

/// `count` tensors with numbers between -1 and 1, and all of them `times` times.
xt::xtensor<float, 3> tensors(std::size_t count, std::size_t times, double first) {
  xt::xtensor<float, 3> result({times * count, 2, 3});
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<float>(std::sin(first + static_cast<double>(i % (6 * count))));
  return result;
}
Floats repeated(const Floats& values, int times) {
  Floats result;
  for (int i = 0; i < times; ++i) result.insert(result.end(), values.begin(), values.end());
  return result;
}

void check_forward(const auto& results, const auto& x) {
  const Floats expected = elements(results["expected"_s]);
  CHECK(elements(results["y"_s]) == repeated(expected, 3));
  Floats stored = expected;  // of the input, the last row's steps are in the rows without an offset
  stored.insert(stored.end(), x.data() + (rows - 1) * steps * 6, x.data() + rows * steps * 6);
  CHECK(elements(results["again"_s]) == repeated(stored, 3));
}
void check_gradients(const auto& results, const auto& session) {
  const auto check_thrice = [](const Floats& all) { CHECK(all == repeated(Floats(all.begin(), all.begin() + steps * 6), 3)); };
  check_thrice(elements(results["layers_y"_s]));
  check_thrice(elements(results["dx"_s]));
  const auto check_means = [&](auto plain, auto compute, auto overlapped) {
    const Floats expected = elements(session.get_tensor_data(plain));
    CHECK(elements(session.get_tensor_data(compute)) == expected);
    CHECK(elements(session.get_tensor_data(overlapped)) == expected);
  };
  check_means("plain0.accum.weight"_s, "compute0.accum.weight"_s, "overlapped0.accum.weight"_s);
  check_means("plain1.accum.bias"_s, "compute1.accum.bias"_s, "overlapped1.accum.bias"_s);
}
void check_routes(const auto& results, const auto& t, const auto& y) {
  Floats routed, total, doubled;
  for (std::size_t i = 0; i < 6; ++i) {
    const float of_t = t.data()[i], of_y = y.data()[i];
    routed.push_back((of_y + 1 + 1) + (of_y + 1));
    total.push_back(of_t * of_y + of_t * (of_y + 1) + of_t * of_y);
    doubled.push_back(of_y * 8);
  }
  CHECK(elements(results["routed"_s]) == routed);
  CHECK(elements(results["doubled"_s]) == doubled);
  const Floats sums = elements(results["total_of_run"_s]);
  for (std::size_t i = 0; i < 6; ++i) CHECK(sums[i] == Approx(total[i]).margin(1e-6));
}

const auto x = tensors(rows * steps, 1, 1), x_of_modes = tensors(rows * steps, 3, 1), scales = tensors(rows * steps, 1, 3);
const xt::xtensor<std::uint32_t, 1> seed{1, 2};

TEST_CASE("batch_serialise: the bits of calls in order, in all modes; repeat_graph and route_tensor_into_graph") {
  const xt::xtensor<float, 2> t{{1, -2, 3}, {0.5, 4, -1}}, y{{2, 1, -1}, {3, 0.25, 0}};
  tw::Session<on_host> session({.seed = 3, .threads = 2});
  const auto results = session.run("scales"_s = scales, "x"_s = x_of_modes, "x_plain"_s = x, "seed"_s = seed, "t"_s = t,
                                   "routed_y"_s = y);
  check_forward(results, x);
  check_routes(results, t, y);
}

TEST_CASE("batch_serialise_fwd_and_grad: on IO tiles, layers in turn have the gradients of calls in order") {
  TestSession<on_ipu, tw::gc200.with_io_tiles(32)> session({.seed = 3});
  const auto results = session.run("scales"_s = scales, "x"_s = x_of_modes, "x_plain"_s = x, "seed"_s = seed,
                                   "layers_x"_s = tensors(steps, 3, 1), "dy"_s = tensors(steps, 3, 2));
  check_forward(results, x);
  check_gradients(results, session);
}

TEST_CASE("batch_serialise: shards of two replicas, in a main graph that repeat_graph repeats") {
  tw::Session<sharded> session({.threads = 1});
  xt::xtensor<float, 4> equal({10, 2, 2, 3});  // on both replicas
  for (std::size_t i = 0; i < equal.size(); ++i) equal.data()[i] = static_cast<float>(6 * (i / 12) + i % 6);
  const auto results = session.run("x"_s = equal);
  Floats doubled, counts;
  for (int i = 0; i < 60; ++i) doubled.push_back(static_cast<float>(2 * i));  // one replica's shard follows the other one's
  for (int i = 0; i < 10; ++i) counts.push_back(static_cast<float>(i / 2 + 1));
  CHECK(elements(results["y"_s]) == doubled);
  CHECK(elements(results["count"_s]) == counts);
  CHECK(session.get_tensor_data("count"_s)() == 5);
}

}  // namespace
