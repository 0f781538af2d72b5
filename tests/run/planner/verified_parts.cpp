// labels: none
// Who has which part of a tensor on tiles: ops and calls that write parts, ops of one step that pass elements to each other, and
// small results in scratch. Plans are proven; plans with faults in these are refused.
#include <map>
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../catch.hpp"
#include "../../support/tile_fault_programs.hpp"
#include "../../support/tile_faults_of_parts.hpp"

namespace tw = tilewright;

namespace {

using namespace tile_faults;

/// A tensor in two parts that calls read, and results in parts.
void joined(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16}), w = variable(ir, "w", {16, 16});
  const Tensor parts = ops::concat({ops::softmax(x), x.matmul(w)}, 0);
  const Graph layer = ir.create_graph(
      [](Tensor t, Tensor weight) {
        return ops::concat({ops::softmax(ops::slice(t, 0, 8)), ops::slice(t, 8).matmul(weight)}, 0);
      },
      parts, w);
  const Graph outer = ir.create_graph([&](Tensor t, Tensor weight) { return tw::call(layer, {t * 2, weight})[0] + t; }, parts, w);
  Tensor t = parts;
  for (const Graph& graph : {layer, outer, layer, outer}) t = tw::call(graph, {t, w})[0];
  store("y", t);
}
/// Calls that change rows of a tensor, which two ops have written, and a variable.
void changed(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16}), w = variable(ir, "w", {16, 16}), v = variable(ir, "v", {8, 16});
  const Tensor parts = ops::concat({ops::softmax(x), x.matmul(w)}, 0);
  const Graph change = ir.create_graph([](tw::TensorByRef t, Tensor step) { ops::scaled_add_(t, ops::softmax(t).matmul(step)); },
                                       x, w);
  tw::call(change, {ops::slice_(parts, 8, 16), w});
  tw::call(change, {v, w});
  store("y", ops::softmax(parts).matmul(w));
}
/// Loops and branches over a tensor in two parts.
void turns(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16}), w = variable(ir, "w", {16, 16});
  const Tensor parts = ops::concat({ops::softmax(x), x.matmul(w)}, 0);
  const Graph step = ir.create_graph([](Tensor t, Tensor weight) { return ops::softmax(t.matmul(weight)); }, parts, w),
              other = ir.create_graph(
                  [](Tensor t) { return ops::concat({ops::softmax(ops::slice(t, 8)), ops::slice(t, 0, 8)}, 0); }, parts);
  const Tensor looped = tw::repeat(step, 3, {parts, w})[0];
  const Tensor chosen = tw::conditional(load(ir, "condition", {}, tw::boolean), {step, {parts, w}}, {other, {looped}})[0];
  store("y", tw::repeat(step, 4, {chosen, w})[0] + tw::call(other, {parts})[0]);
}
/// Views of what an op of the same step gives, and of variables that it changes.
void views(Ir& ir) {
  const Tensor v = variable(ir, "v", {6, 8}), x = load(ir, "x", {6, 8});
  ops::scaled_add_(v, x, {.b = 0.5});
  const Tensor flat = v.reshape_({48});
  ops::scaled_add_(flat, ops::exp(flat), {.b = 0.25});
  store("y", ops::exp(ops::reshape(v, {8, 6})));
  store("z", ops::tanh(v).reshape({2, 24}) + 1);
}
/// A step of Adam, whose factors are two numbers beside the time step that it changes.
template <tw::DType dtype>
void adam(Ir& ir) {
  const Tensor w = ir.variable(tw::ones(), {64, 8}, dtype, "w"), m = ir.variable(tw::ones(), {64, 8}, dtype, "m"),
               v = ir.variable(tw::ones(), {64, 8}, dtype, "v"), t = ir.variable(tw::zeros(), {}, tw::float32, "t");
  ops::scaled_add_(w, ops::adam_updater(m, v, {.time_step = t, .beta1 = 0.9, .beta2 = 0.99}), {.b = -0.1});
}

TEST_CASE("verified: plans with faults in parts of tensors are refused") {
  constexpr tw::Target few = tw::gc200.with_tiles(5), one = tw::gc200.with_tiles(1), more = tw::gc200.with_tiles(64);
  std::map<std::string, int> refused;
  std::string holes;
  std::uint64_t seed = 0;
  for (const auto program : {joined, changed, turns, views, adam<tw::float32>, adam<tw::float64>, rearranged, calls})
    for (const tw::Target& target : {few, one, more, few.without_fusion()}) {
      const tw::Prepared prepared = tw::prepare(*tw::trace(program, target), target);
      const tw::Plan good = tw::lower(prepared);
      REQUIRE(tw::fault_of_plan(prepared, good).string() == "");
      const TileData data(good.tile_table);
      for (const Kind& kind : faults_of_parts())
        for (int times = 0; times < 3; ++times) {
          Mutant mutant(good, data, target, ++seed);
          if (!kind.plant(mutant)) continue;
          mutant.plan.tile_table = mutant.tiles.table();
          const std::string fault = tw::fault_of_plan(prepared, mutant.plan).string();
          if (fault.empty()) holes += std::string(kind.name) + "\n";
          else ++refused[std::string(kind.name) + " -- " + fault.substr(0, 90)];
        }
    }
  std::string text;
  for (const auto& [kind, count] : refused) text += kind + ": " + std::to_string(count) + "\n";
  INFO(text);
  CHECK(holes == "");
  for (const Kind& kind : faults_of_parts()) {
    INFO(kind.name);
    const auto found = refused.lower_bound(std::string(kind.name));
    CHECK((found != refused.end() && found->first.starts_with(kind.name)));
  }
}

}  // namespace
