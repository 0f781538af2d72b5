// labels: none
// Towers of calls: each floor calls the one below twice, 2^40 times in all. Proofs, profiles and counts of code follow a body
// once, not once for each path to it, or would not end.
#include <algorithm>
#include <string>
#include <tilewright/lower/verify.hpp>
#include <tilewright/profile/make_profile.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>
#include <utility>

#include "../../catch.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Graph, tw::Ir, tw::Tensor, tw::TensorByRef;
using tw::internal::Plan, tw::internal::Step, tw::internal::StepKind;

constexpr int few = 3, many = 40;  // floors: the proof follows each call of few
enum class Kind { calls, loops, conditionals, changes, loads, on_two_ipus };

void store(Tensor t) { ops::host_store(t.ir().d2h_stream("y", t.shape(), t.dtype()), t); }
Graph floor_on(Graph below, Kind kind, Tensor x) {
  return x.ir().create_graph(
      [&](Tensor t) {
        if (kind == Kind::loops) return tw::repeat(below, 2, {t})[0];
        if (kind == Kind::conditionals) return tw::conditional(ops::greater(ops::sum(t), 0), {below, {t}}, {below, {t * 2}})[0];
        return tw::call(below, tw::call(below, t)[0])[0];
      },
      x);
}
void add_changes(Ir& ir, Tensor x, int floors) {
  const Tensor w = ir.variable(tw::ones(), x.shape(), tw::float32, "w");
  Graph top = ir.create_graph([](TensorByRef a, Tensor b) { ops::scaled_add_(a, ops::softmax(b)); }, w, x);
  for (int floor = 0; floor < floors; ++floor)
    top = ir.create_graph([&](TensorByRef a, Tensor b) { tw::call(top, {a, b}), tw::call(top, {a, ops::softmax(b)}); }, w, x);
  tw::call(top, {w, x});
  store(w);
}
auto tower(Kind kind, int floors) {
  return [=](Ir& ir) {
    const Tensor x = ops::host_load(ir.h2d_stream("x", {8, 4}));
    if (kind == Kind::changes) return add_changes(ir, x, floors);
    const Graph lowest = ir.create_graph(
        [&](Tensor t) {
          if (kind != Kind::on_two_ipus) return ops::softmax(t) + 1;
          return ops::exp(ops::softmax(t).copy_to_ipu(1)).copy_to_ipu(0);
        },
        x);
    Graph top = lowest;
    for (int floor = 0; floor < floors; ++floor) top = floor_on(top, kind, x);
    if (kind == Kind::loads) ops::remote_code_load(lowest);
    store(tw::call(top, x)[0]);
  };
}
tw::Prepared prepared(Kind kind, int floors, const tw::Target& target) {
  return tw::prepare(*tw::trace(tower(kind, floors), target), target);
}
/// Returns the fault of a plan that is changed, without its place.
std::string fault(Kind kind, int floors, auto change) {
  const tw::Prepared program = prepared(kind, floors, tw::cpu);
  Plan plan = tw::lower(program);
  change(plan);
  const std::string text = tw::fault_of_plan(program, plan).string();
  return text.substr(0, text.find(", in step"));
}
Step& first_step(Plan& plan, StepKind kind) {
  for (Step& step : plan.steps)
    if (step.kind == kind) return step;
  throw std::logic_error("no such step");
}

}  // namespace

TEST_CASE("towers of calls are planned and proven") {
  for (const Kind kind : {Kind::calls, Kind::loops, Kind::conditionals, Kind::changes, Kind::loads})
    for (const tw::Target& target : {tw::cpu, tw::gc200.with_tiles(4)}) {
      INFO(static_cast<int>(kind) << " on " << target.tiles << " tiles");
      const tw::Prepared program = prepared(kind, many, target);
      const Plan plan = tw::internal::lower_checked(program);
      CHECK(plan.bodies.size() >= many);
      CHECK(tw::fault_of_plan(program, plan) == "");
    }
}
TEST_CASE("faults in towers of calls are found") {
  const auto is_found = [](Kind kind, std::string_view expected, auto change) {
    CHECK(fault(kind, few, change) == expected);
    CHECK(fault(kind, many, change) == expected);
  };
  const auto argument = [](Plan& plan, const Step& step, int number) -> auto& {
    return plan.locations[step.first_location + number];
  };
  is_found(Kind::calls, "", [](Plan&) {});
  is_found(Kind::calls, "values: stage 0 (Softmax) reads bytes that no step wrote", [&](Plan& plan) {
    Step& second = *(&first_step(plan, StepKind::call) + 1);
    argument(plan, second, 0) = argument(plan, second, 1);  // not what the first call gives
  });
  is_found(Kind::calls, "barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected",
           [&](Plan& plan) { first_step(plan, StepKind::compute).barrier_before = false; });
  is_found(Kind::loops, "values: stage 0 (Softmax) reads bytes that no step wrote",
           [&](Plan& plan) { first_step(plan, StepKind::loop).count = 1; });
  is_found(Kind::conditionals, "values: stream 1 (y) differs from the graphs after the run: equal expected", [&](Plan& plan) {
    Step& branch = first_step(plan, StepKind::conditional);
    argument(plan, branch, 1) = argument(plan, branch, 3);
  });
  const auto three_iterations = [&](Plan& plan) { first_step(plan, StepKind::loop).count = 3; };
  CHECK(fault(Kind::loops, few, three_iterations) == "tables: 15 iterations of loops: at most 14, as in the graphs, expected");
  CHECK(fault(Kind::loops, many, three_iterations) == "tables: 81 iterations of loops: at most 80, as in the graphs, expected");
  const auto changes_input = [&](Plan& plan) { argument(plan, first_step(plan, StepKind::call), 0).index = 1; };
  CHECK(fault(Kind::changes, few, changes_input) == "memory: writes what is given, in memory `stream`: a read expected");
  CHECK(fault(Kind::changes, many, changes_input) ==
        "values: stage 1 (ScaledAddLhsInplace) computes of its operands what no graph does");
  const auto moves_stream = [&](Plan& plan) { first_step(plan, StepKind::compute).stream = 0; };
  CHECK(fault(Kind::changes, few, moves_stream) == "values: 8 elements of stream 0 move: 1 expected");
  CHECK(fault(Kind::changes, many, moves_stream) == "tables: stream 0 moves in a body whose graph moves none: no move expected");
}
TEST_CASE("profiles of towers of calls count how often steps run") {
  const tw::Target one = tw::gc200.with_tiles(4), two = tw::gc200.with_tiles(4).with_ipus(2);
  for (const int floors : {few, many}) {
    INFO(floors << " floors");
    const auto profile = tw::profile(tower(Kind::calls, floors), one);
    std::int64_t most = 0;
    for (const auto& step : profile.steps) most = (std::max)(most, step.times);
    CHECK(most == std::int64_t{1} << floors);
    const auto of_two = tw::profile(tower(Kind::on_two_ipus, floors), two);
    std::int64_t laid_out = 0, expected = 0;
    for (const auto& slice : of_two.slices) laid_out += slice.times * of_two.steps[static_cast<std::size_t>(slice.step)].cycles();
    for (const auto& step : of_two.steps) expected += step.cycles_in_run();
    CHECK(of_two.slices.size() < 200);
    CHECK(laid_out > expected / 2);
    CHECK(laid_out <= expected);
  }
}
TEST_CASE("code that a tower of calls loads is on the tiles once") {
  for (const int floors : {few, many}) {
    const tw::Target target = tw::gc200.with_tiles(4);
    const Plan loads = tw::lower(prepared(Kind::loads, floors, target)), stays = tw::lower(prepared(Kind::calls, floors, target));
    CHECK(loads.memory.loaded_code > 0);
    CHECK(loads.memory.code + loads.memory.loaded_code >= stays.memory.code);
    CHECK(loads.memory.code < stays.memory.code);
  }
}
