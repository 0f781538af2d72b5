#pragma once
// Programs for simulated IPUs whose plans have everything that tiles can have: strips, parts of sums, halos, rearrangements,
// tables, calls, loops, branches, banks, collectives, rows, several IPUs and IO tiles.
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../../examples/more/heat_equation.hpp"
#include "frame_programs.hpp"
#include "ipu_programs.hpp"

namespace tile_faults {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Graph, tw::Ir, tw::Tensor;

inline Tensor load(Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ops::host_load(ir.h2d_stream(name, shape, dtype));
}
inline void store(std::string_view name, Tensor x) { ops::host_store(x.ir().d2h_stream(name, x.spec()), x); }
inline Tensor variable(Ir& ir, std::string_view name, const tw::Shape& shape) {
  return ir.variable(tw::ones(), shape, tw::float32, name);
}

/// Two layers of odd widths, their gradients by hand, and updates of the weights.
inline void layers(Ir& ir) {
  const Tensor x = load(ir, "x", {6, 41}), w = variable(ir, "w", {41, 23}), v = variable(ir, "v", {23, 13}),
               b = variable(ir, "b", {23});
  const Tensor h = ops::tanh(x.matmul(w) + b), y = h.matmul(v);
  store("y", y);
  const Tensor dh = y.matmul(v.T()) * (1 - h * h);
  ops::scaled_add_(v, h.T().matmul(y), {.b = 0.1});
  ops::scaled_add_(w, x.T().matmul(dh), {.b = 0.1});
  ops::scaled_add_(b, ops::sum(dh, {0}), {.b = 0.1});
}
/// Long sums, which are added in parts, and these in stages.
inline void sums(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 2048});
  store("y", x.matmul(variable(ir, "w", {2048, 8})));
  store("softmax", ops::softmax(x));
  store("sum", ops::sum(x));
}
/// Columns and rows change places, halves of vectors are added, and tensors are joined.
inline void rearranged(Ir& ir) {
  const Tensor x = load(ir, "x", {10, 14});
  const Tensor t = ops::exp(x.T().reshape({10, 14})) + x;
  store("lines", ops::softmax(t));
  store("sums", ops::sum(t, {1}) + ops::sum(x.T(), {0}));
  store("joined", ops::concat({t, x * 2}, 1));
}
/// Halos between blocks, on one IPU and on two.
template <int ipus>
void heat(Ir& ir) {
  constexpr heat::HeatEquation equation{.blocks = {2, 3, 2}, .block = {4, 3, 5}, .ipus = ipus, .steps = 4};
  equation(ir);
}
/// A convolution of one image, which is cut into blocks that share elements.
inline void convolution(Ir& ir) {
  const Tensor x = load(ir, "x", {1, 4, 24, 24}), w = variable(ir, "w", {8, 4, 3, 3});
  store("y", ops::relu(ops::conv(x, w, {.padding = {1, 1, 1, 1}})));
}
/// A batch that all tiles read, in parts of samples, and some of its samples.
inline void strips(Ir& ir) {
  const Tensor x = variable(ir, "x", {4, 64, 128}), w = load(ir, "w", {128, 1024});
  store("y", x.matmul(w));
  store("some", ops::exp(ops::slice(x, {0}, {3}, {}, {0})));
}
/// The rows of a tensor from a block on, used where they are.
inline void last_rows(Ir& ir) {
  const Tensor y = ops::exp(load(ir, "x", {64, 64}));
  store("z", ops::tanh(ops::slice(y, {8, 0}, {64, 64})));
}
/// Lines of which a tile has several, because few fit in a cache of the host.
inline void lines(Ir& ir) {
  const Tensor x = load(ir, "x", {64, 1024});
  store("y", ops::softmax(ops::layer_norm(x, variable(ir, "scale", {1024}), variable(ir, "shift", {1024}), 1e-5)));
}
/// Rows of a table, and a table that changes.
inline void table(Ir& ir) {
  const Tensor rows = variable(ir, "rows", {96, 24}), at = load(ir, "at", {10}, tw::int32);
  const Tensor found = ops::gather(rows, at, 0);
  store("found", ops::tanh(found));
  store("scattered", ops::scatter(load(ir, "into", {96, 24}), at, found * 2, 0));
}
/// A sum and updates whose operands may be in different banks.
inline void triad(Ir& ir) {
  const tw::Shape shape{6000 * 4};
  const Tensor w = variable(ir, "w", shape), momentum = variable(ir, "momentum", shape);
  ops::scaled_add_(w, momentum, {.b = -0.1});
  const Tensor x = load(ir, "x", shape), y = load(ir, "y", shape);
  store("sum", x + y);
  ops::scaled_add_(momentum, x, {.b = 0.5});
}
/// Calls of a graph, a loop, and a branch.
inline void calls(Ir& ir) {
  const auto layer = [](Tensor t, Tensor weight) { return ops::tanh(t.matmul(weight)).matmul(weight); };
  const Tensor w = variable(ir, "w", {16, 16}), x = load(ir, "x", {16, 16});
  const Graph step = ir.create_graph(layer, x, w);
  const Graph other = ir.create_graph([](Tensor t, Tensor weight) { return ops::exp(t + weight.T()); }, x, w);
  const Graph half = ir.create_graph([](Tensor t) { return t * 0.5 + ops::tanh(t.T().reshape({16, 16})); }, x);
  const Tensor first = tw::call(step, {x, w})[0], second = tw::call(step, {first, w})[0];
  const Tensor chosen = tw::conditional(load(ir, "condition", {}, tw::boolean), {step, {second, w}}, {other, {first, w}})[0];
  store("y", tw::repeat(half, 3, {chosen + x})[0]);
}
/// Two replicas on two IPUs: a collective, rows of a remote buffer, two of which are one exchange, and constants.
inline void replicas(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = load(ir, "x", {6, 64});
  const Tensor h =
      (x.matmul(variable(ir, "a", {64, 8})) + ir.constant(tw::List<double>{1, 2, 3, 4, 5, 6, 7, 8}, {8})).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  const Tensor y = ops::collectives::replicated_all_reduce(h.matmul(variable(ir, "b", {8, 64})));
  const auto buffer = ir.remote_buffer({6, 64}, tw::float32, 3);
  ops::remote_store(buffer, 1, y);
  Tensor first, second;
  {
    const auto loads = tw::merge_exchange(ir);
    first = ops::remote_load(buffer, 1);
    second = ops::remote_load(buffer, 2);
  }
  store("y", first + second);
}
struct Scaled : tw::Module<Scaled> {
  constexpr Tensor build(Tensor x) {
    const Tensor y = x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {24, 24}));
    return ops::tanh(y) *
           x.ir().constant(
               tw::List<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}, {24});
  }
};
/// A graph and its gradient, which have one constant.
inline void one_constant_of_two_graphs(Ir& ir) {
  const Tensor x = load(ir, "x", {16, 24});
  const auto [factories, layer] = tw::create_graph(Scaled{}, x);
  const auto backward = tw::autodiff(layer);
  const tw::NamedTensors weights = factories.init("layer");
  const tw::CallSiteInfo first = layer.bind(weights).call_with_info(x),
                         second = layer.bind(weights).call_with_info(first.output(0));
  const Tensor dy = backward.call_with_info(second.output(0), backward.grad_graph_info().inputs_dict(second)).output(0);
  store("dx", backward.call_with_info(dy, backward.grad_graph_info().inputs_dict(first)).output(0));
}
/// Branches on two IPUs.
inline void in_branches(Ir& ir) {
  const Tensor x = load(ir, "x", {6, 8}), c = load(ir, "c", {}, tw::boolean);
  const Graph then = ir.create_graph([](Tensor t) { return ops::exp(t).copy_to_ipu(1); }, x);
  const Graph otherwise = ir.create_graph([](Tensor t) { return ops::negate(t).copy_to_ipu(1); }, x);
  const Tensor y = tw::conditional(c, {then, {x}}, {otherwise, {x}})[0];
  const auto device = tw::ipu(ir, 1);
  store("y", y + 1);
}
/// Loads that are one exchange, and stores, on IO tiles.
inline void on_io_tiles(Ir& ir) {
  const auto a = ir.h2d_stream("a", {6}), b = ir.h2d_stream("b", {6});
  Tensor x, y;
  {
    const auto loads = tw::io_tile_exchange(ir);
    x = ops::host_load(a);
    y = ops::host_load(b);
  }
  const Tensor out = ops::io_tile_copy(ops::io_tile_copy(x) + ops::io_tile_copy(y));
  const auto buffer = ir.remote_buffer({6}, tw::float32, 2);
  const auto io = tw::io_tiles(ir);
  ops::remote_store(buffer, 0, out);
  ops::host_store(ir.d2h_stream("z", {6}), out);
}

/// Code that is loaded before the calls and the loop that run it.
inline void loaded_code(Ir& ir) {
  Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const Graph softmax = ir.create_graph([](Tensor t) { return ops::softmax(t); }, x);
  ops::remote_code_load(product);
  for (int i = 0; i < 2; ++i) x = tw::call(product, x);
  ops::remote_code_load(softmax);
  store("y", tw::repeat(softmax, 3, {x})[0]);
}
/// Sums over replicas that others read on other tiles, and a sum of which each replica has a part.
inline void reduced(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = load(ir, "x", {8, 36});
  const Tensor sum = ops::collectives::replicated_all_reduce(ops::exp(x));
  store("lines", ops::softmax(sum.T().reshape({8, 36})));
  const Tensor part = ops::collectives::replicated_reduce_scatter(x * 2);
  store("parts", ops::tanh(part));
}

struct FaultProgram {
  std::string_view name;
  void (*program)(Ir&);
  tw::Target target;
};
inline std::vector<FaultProgram> programs() {
  constexpr tw::Target few = tw::gc200.with_tiles(5), tiles = tw::gc200.with_tiles(16), more = tw::ipu_model.with_tiles(64);
  return {{"layers", layers, few},
          {"layers on 64 tiles", layers, more},
          {"sums", sums, more},
          {"rearranged", rearranged, few},
          {"heat", heat<1>, tiles},
          {"heat on two IPUs", heat<2>, tiles.with_ipus(2)},
          {"convolution", convolution, more},
          {"strips", strips, more},
          {"lines", lines, tw::gc200.with_tiles(3)},
          {"table", table, tiles},
          {"triad", triad, tw::gc200.with_tiles(4)},
          {"calls", calls, few},
          {"gradients", frame_programs::calls<false>, tiles},
          {"one constant", one_constant_of_two_graphs, few},
          {"norm", frame_programs::norm, few},
          {"replicas", replicas, few.with_ipus(2)},
          {"pipeline", ipu_programs::inference<true>, few.with_ipus(3)},
          {"training on two IPUs", ipu_programs::training<false>, tw::gc200.with_tiles(40).with_ipus(2)},
          {"branches", in_branches, few.with_ipus(2)},
          {"IO tiles", on_io_tiles, tw::gc200.with_tiles(40).with_io_tiles(32)},
          {"all tiles", layers, tw::ipu_model},
          {"loaded code", loaded_code, few},
          {"reduced", reduced, few.with_ipus(2)},
          {"last rows", last_rows, tiles.without_fusion()}};
}

}  // namespace tile_faults
