// labels: none
// From a program to a plan: trace, prepare, lower.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using tw::Ir, tw::Tensor, tw::Text;
namespace ops = tw::ops;

/// Composed attention, and a layer that is called four times and followed by an op that can move into it.
constexpr void program(Ir& ir) {
  const tw::Shape heads{1, 4, 64, 64};
  const Tensor q = support::load(ir, "q", heads), k = support::load(ir, "k", heads), v = support::load(ir, "v", heads);
  const Tensor y = ops::softmax(q.matmul(k.transpose({0, 1, 3, 2})) * 0.125).matmul(v);
  support::store("attention", y);
  const Tensor w = support::variable(ir, "w", {64, 64});
  Tensor x = support::load(ir, "x", {64, 64});
  const tw::Graph layer = ir.create_graph([](Tensor a, Tensor b) { return a.matmul(b); }, x, w);
  for (int i = 0; i < 4; ++i) x = ops::relu(tw::call(layer, {x, w})[0]);
  support::store("layers", x);
}
constexpr Text graphs_of(Ir& ir) {
  Text result;
  for (std::size_t graph = 0; graph < ir.tables.graphs.size(); ++graph)
    result += tw::print_schedule(ir.graph(tw::GraphId(graph)));
  return result;
}

// ---- an Ir stays as it is

constexpr bool can_be_prepared_again(const tw::Target& target) {
  Ir ir;
  tw::trace_for(target, program, ir);
  const Text traced = graphs_of(ir);
  const Text first = tw::print_plan(tw::lower(tw::prepare(ir, target)));
  const Text without_fusion = tw::print_plan(tw::lower(tw::prepare(ir, target.without_fusion())));
  return tw::print_plan(tw::lower(tw::prepare(ir, target))) == first && without_fusion != first && graphs_of(ir) == traced;
}
static_assert(can_be_prepared_again(tw::cpu));
static_assert(can_be_prepared_again(tw::ipu_model));

constexpr bool can_be_lowered_again() {
  const tw::Prepared prepared = support::prepared(program);
  return tw::print_plan(tw::lower(prepared)) == tw::print_plan(tw::lower(prepared));
}
static_assert(can_be_lowered_again());

// ---- hooks on created ops are of the trace

constexpr bool hooks_see_the_trace_alone() {
  Ir ir;
  int ops_created = 0;
  ir.main_graph().register_op_created_hook([&ops_created](const tw::CreatedOp&) { ++ops_created; });
  program(ir);
  const int traced = ops_created;
  tw::lower(tw::prepare(ir, tw::cpu));
  return traced > 0 && ops_created == traced;
}
static_assert(hooks_see_the_trace_alone());

// ---- errors

constexpr Text error_of(const tw::Target& traced_for, const tw::Target& prepared_for) {
  Ir ir(tw::OnError::record);
  tw::trace_for(traced_for, program, ir);
  return tw::lower(tw::prepare(ir, prepared_for)).failure;
}
TW_SAME(error_of(tw::cpu, tw::cpu.with_tiles(3)), "");
TW_SAME(error_of(tw::cpu, tw::gc200),
        "prepare: a program that was traced for the host, for a simulated IPU: trace(build, target) with the same target "
        "expected");
TW_SAME(error_of(tw::gc200, tw::cpu),
        "prepare: a program that was traced for a simulated IPU, for the host: trace(build, target) with the same target "
        "expected");

}  // namespace
