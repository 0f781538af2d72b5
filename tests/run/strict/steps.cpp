// labels: none
// Steps that exchange slices, updates, calls, and steps whose operands lie in different banks give in strict mode what they give
// in the fast mode.
#include "run.hpp"
#include "tilewright/verified/verified.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using support::load, support::store, support::variable;

/// Two layers, their gradients by hand, and updates of the weights.
constexpr void layers(Ir& ir) {
  const Tensor x = load(ir, "x", {6, 40});
  const Tensor w = ir.variable(tw::zeros(), {40, 24}, tw::float32, "w"), v = ir.variable(tw::zeros(), {24, 12}, tw::float32, "v");
  const Tensor b = ir.variable(tw::zeros(), {24}, tw::float32, "b");
  const Tensor h = ops::tanh(x.matmul(w) + b), y = h.matmul(v);
  store("y", y);
  const Tensor dh = y.matmul(v.T()) * (1 - h * h);
  ops::scaled_add_(v, h.T().matmul(y), {.b = 0.1});
  ops::scaled_add_(w, x.T().matmul(dh), {.b = 0.1});
  ops::scaled_add_(b, ops::sum(dh, {0}), {.b = 0.1});
}
/// Columns and rows change places, halves of vectors are added, and lines are normalised.
constexpr void rearranged(Ir& ir) {
  const Tensor x = load(ir, "x", {10, 14});
  const Tensor t = ops::exp(x.T().reshape({10, 14})) + x;
  store("lines", ops::softmax(t));
  store("sums", ops::sum(t, {1}) + ops::sum(x.T(), {0}));
  store("joined", ops::concat({t, x * 2}, 1));
}
/// A graph is called, and repeated.
constexpr void called(Ir& ir) {
  const Tensor w = ir.variable(tw::zeros(), {16, 16}, tw::float32, "w"), x = load(ir, "x", {8, 16});
  const Graph layer = ir.create_graph([](Tensor t, Tensor weight) { return ops::tanh(t.matmul(weight)); }, x, w);
  const Tensor once = tw::call(layer, {tw::call(layer, {x, w}), w});
  const Graph step = ir.create_graph([](Tensor t) { return t * 0.5 + ops::tanh(t.T().reshape({8, 16})); }, x);
  store("y", tw::repeat(step, 3, once)[0]);
}

/// A variable is updated by a tensor of the frame. Each tile has 4,000 bytes of both.
constexpr void update(Ir& ir) { ops::scaled_add_(variable(ir, "w", {2'000}), load(ir, "dw", {2'000}), {.b = -0.5}); }
/// Three tensors of the frame, with 20,000 bytes of each on a tile.
constexpr void triad(Ir& ir) { store("z", ops::scaled_add(load(ir, "x", {10'000}), load(ir, "y", {10'000}), {.b = 3})); }

/// The product of a stream and a variable. A tile has 3,072 bytes of the input, and makes 1,536 of the result.
constexpr void product(Ir& ir) {
  store("y", load(ir, "x", {48, 64}, tw::float16).matmul(variable(ir, "w", {64, 32}, tw::float16)));
}
/// An equal product with an activation. A vertex adds its sums in scratch or in registers.
constexpr void activated(Ir& ir) {
  store("y", ops::gelu(load(ir, "x", {48, 64}, tw::float16).matmul(variable(ir, "w", {64, 32}, tw::float16))));
}
/// Results of one column: dot products.
constexpr void dots(Ir& ir) { store("y", load(ir, "x", {96, 256}).matmul(load(ir, "w", {256, 1}))); }
/// Elements at steps of variables: data of a convolution, and rows and columns of a matrix, from the first or the second one on.
template <int step>
constexpr void strided(Ir& ir) {
  const Tensor x = variable(ir, "x", {2, 16, 10, 9}), matrix = variable(ir, "matrix", {60, 30});
  store("y", ops::conv(x, load(ir, "w", {8, 16, 1, 1}), {.stride = {step, step}}));
  store("rows", ops::exp(ops::slice(matrix, {1, 0}, {60, 30}, {step, 1})));
  store("both", ops::exp(ops::slice(matrix, {0, 1}, {60, 30}, {step, step})));
}

}  // namespace

TEST_CASE("steps that exchange slices") {
  constexpr tw::Target tiles = tw::ipu_model.with_tiles(4).with_bytes_per_tile(1 << 20);
  check_strict<layers, tiles>();
  check_strict<rearranged, tiles>();
  check_strict<called, tiles>();
}
TEST_CASE("steps that read each second or third element") {
  check_strict<strided<2>, tw::gc200.with_tiles(40)>();
  check_strict<strided<3>, tw::gc200.with_tiles(40)>();
  check_strict<strided<2>, tw::gc200.with_tiles(7)>();
  for (const std::int64_t tiles : {1, 3, 16, 100, 333}) {
    INFO(tiles << " tiles");
    for (const auto build : {strided<2>, strided<3>, strided<5>}) {
      const tw::Target target = tw::gc200.with_tiles(tiles);
      const tw::Prepared prepared = tw::prepare(*tw::trace(build, target), target);
      CHECK(tw::fault_of_plan(prepared, tw::lower(prepared)).string() == "");
    }
  }
}
TEST_CASE("steps whose operands lie in different banks") {
  constexpr tw::Target tiles = tw::gc200.with_tiles(2);
  check_strict<update, tiles>();
  check_strict<triad, tiles>();
  check_strict<product, tiles>();
  check_strict<activated, tiles>();
  check_strict<dots, tiles>();
}
