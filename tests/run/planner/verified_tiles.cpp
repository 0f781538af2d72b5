// labels: none
// Plans for simulated IPUs are proven on their tiles: memory, exchanges, what they count, and banks. Changed plans are refused.
#include <map>
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../catch.hpp"
#include "../../support/plan_programs.hpp"
#include "../../support/tile_mutations.hpp"

namespace tw = tilewright;

namespace {

using namespace planner_faults;

/// A sum and an update whose operands may be in different banks.
void triad(tw::Ir& ir) {
  const tw::Shape shape{1000 * tw::ipu_model.tiles};
  ops::scaled_add_(variable(ir, "w", shape), variable(ir, "momentum", shape), {.b = -0.1});
  store("sum", load(ir, "x", shape) + load(ir, "y", shape));
}

/// A product, a convolution and dot products, in the main graph and in a graph that is called twice.
void products(tw::Ir& ir) {
  const tw::TensorSpec rows{{96, 256}, tw::float16};
  const tw::Graph square = ir.create_graph([](tw::Tensor x, tw::Tensor w) { return ops::gelu(x.matmul(w)); }, rows,
                                           tw::TensorSpec{{256, 256}, tw::float16});
  const tw::Tensor w = ir.variable(tw::zeros(), {256, 256}, tw::float16, "w");
  const tw::Tensor x = tw::call(square, {tw::call(square, {load(ir, "x", rows.shape, tw::float16), w}), w});
  store("y", x.matmul(load(ir, "column", {256, 1}, tw::float16)));
  store("z", ops::conv(load(ir, "image", {2, 32, 16, 16}, tw::float16),
                       ir.variable(tw::zeros(), {32, 32, 3, 3}, tw::float16, "kernel")));
}

tw::Prepared prepared(void (*program)(tw::Ir&), const tw::Target& target) {
  return tw::prepare(*tw::trace(program, target), target);
}

TEST_CASE("verified: plans for simulated IPUs are proven on their tiles") {
  for (const auto program : {layer, softmax, chain, updates, calls, loops, rows, streams, triad, products})
    for (const tw::Target& target :
         {tw::ipu_model, tw::gc2, tw::bow, tw::ipu_model.without_fusion(), tw::ipu_model.with_tiles(8).with_bytes_per_tile(0)}) {
      const tw::Prepared given = prepared(program, target);
      CHECK(tw::fault_of_plan(given, tw::lower(given)).string() == "");
    }
}

TEST_CASE("verified: plans that are changed on tiles are refused") {
  std::map<std::string, int> refused_alone, accepted;
  int count = 0;
  std::uint64_t seed = 0;
  for (const auto program : {layer, softmax, chain, updates, calls, loops, streams, triad, products}) {
    const tw::Prepared given = prepared(program, tw::ipu_model);
    const tw::Plan good = tw::lower(given);
    tile_mutations::Mutator mutator(++seed);
    for (int i = 0; i < (program == triad ? 120 : 40); ++i) {
      tw::Plan plan = good;
      const auto change = mutator.change(plan);
      if (!change) continue;
      ++count;
      const std::string fault = tw::fault_of_plan(given, plan).string(), rule = fault.substr(0, fault.find(':'));
      if (fault.empty()) {
        ++accepted[*change];
        continue;
      }
      if (tw::fault_of_plan(given, plan, rule).empty()) ++refused_alone[rule];
    }
  }
  std::string text = std::to_string(count) + " changes\n";
  for (const auto& [change, times] : accepted) text += "accepted: " + change + " " + std::to_string(times) + "\n";
  for (const auto& [rule, times] : refused_alone) text += rule + " alone: " + std::to_string(times) + "\n";
  INFO(text);
  // a tensor of which all parts are exchanged may be in other blocks
  CHECK((accepted.empty() || (accepted.size() == 1 && accepted.count("other blocks of a tensor") == 1)));
  CHECK(accepted["other blocks of a tensor"] * 100 <= count * 3);
  CHECK(count >= 200);
  for (const char* const rule : {"memory", "tiles", "exchanges", "traffic", "banks"}) {
    INFO(rule);
    CHECK(refused_alone[rule] > 0);
  }
}

}  // namespace
