// labels: none
// The plan that a session runs is proven together with its exchanges, which it does not have.
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>
#include <vector>

#include "../../catch.hpp"
#include "../../support/programs.hpp"

namespace tw = tilewright;

namespace {

namespace ops = tw::ops;
namespace proof = tw::internal::proof::detail;

/// Streams, exchanges before and after steps, a call, and rows that move together.
constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", {6, 10});
  const tw::Graph half = ir.create_graph([](tw::Tensor t) { return ops::tanh(t.T().reshape({6, 10})) * 0.5; }, x);
  const tw::Tensor h = tw::call(half, {tw::call(half, {x})[0]})[0];
  const tw::RemoteBuffer buffer = ir.remote_buffer({6, 10}, tw::float32, 2);
  ops::remote_store(buffer, 0, ops::softmax(h));
  tw::Tensor first, second;
  {
    const auto loads = tw::merge_exchange(ir);
    first = ops::remote_load(buffer, 0);
    second = ops::remote_load(buffer, 1);
  }
  support::store("y", first + second);
}
constexpr tw::Target tiles = tw::ipu_model.with_tiles(5);
static_assert(tw::verified<program, tiles>);

/// Plants faults in the exchanges. Returns those that the proof does not refuse.
template <auto build, tw::Target target>
std::string accepted_faults() {
  const tw::Prepared prepared = tw::prepare(*tw::trace(build, target), target);
  const auto good = proof::plan_with_moves<build, target>(prepared);
  CHECK(tw::fault_of_plan(prepared, good).string() == "");
  const tw::Plan full = tw::lower(prepared);
  CHECK(good.moves.size() == full.moves.size());
  CHECK(good.exchanges.size() == full.exchanges.size());
  using Plan = std::remove_const_t<decltype(good)>;
  struct Fault {
    std::string name;
    bool (*plant)(tw::internal::StepMoves&);
  };
  const std::vector<Fault> faults{
      {"bytes of an exchange", [](auto& moves) { return moves.before.total_bytes > 1 && (moves.before.total_bytes /= 2, true); }},
      {"bytes into a tile", [](auto& moves) { return moves.before.bytes_in > 1 && (moves.before.bytes_in /= 2, true); }},
      {"pieces", [](auto& moves) { return moves.before.fragments > 1 && (--moves.before.fragments, true); }},
      {"bytes from the host", [](auto& moves) { return moves.host_in > 0 && (moves.host_in = 0, true); }},
      {"bytes to the host", [](auto& moves) { return moves.host_out > 0 && (moves.host_out *= 2, true); }},
      {"tiles", [](auto& moves) { return moves.set >= 0 && (++moves.set, true); }},
  };
  std::string accepted;
  for (const Fault& fault : faults)
    for (std::size_t i = 0; i < good.moves.size(); ++i) {
      Plan plan = good;
      if (fault.plant(plan.moves[i]) && tw::fault_of_plan(prepared, plan).empty()) accepted += fault.name + "\n";
    }
  for (std::size_t i = 0; i < good.step_cycles.size(); ++i) {
    Plan plan = good;
    ++plan.step_cycles[i].exchange;
    if (tw::fault_of_plan(prepared, plan).empty()) accepted += "cycles of an exchange\n";
  }
  for (std::size_t i = 0; i < good.exchanges.size(); ++i) {
    Plan plan = good;
    ++plan.exchanges[i].step_count;
    if (tw::fault_of_plan(prepared, plan).empty()) accepted += "a merged exchange\n";
  }
  Plan plan = good;
  if (!plan.moves.empty()) {
    plan.moves.pop_back();
    if (tw::fault_of_plan(prepared, plan).empty()) accepted += "a step without moves\n";
  }
  plan = good;
  plan.cycles.compute /= 2;
  if (!plan.moves.empty() && tw::fault_of_plan(prepared, plan).empty()) accepted += "half of the cycles of a run\n";
  CHECK(good.exchanges.size() > 0);
  return accepted;
}

TEST_CASE("verified: exchanges of the plan that a session runs are proven") { CHECK(accepted_faults<program, tiles>() == ""); }

}  // namespace
