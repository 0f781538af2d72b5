// Execution contexts that cannot be, and ops that cannot be part of them.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using enum tw::ExecutionContext;

template <bool has_scope>
struct Scale : tw::Module<Scale<has_scope>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    if constexpr (has_scope) {
      const auto scope = tw::execution_context(x.ir(), WeightsFromHostFragment);
      return x * 0.5;
    }
    return x * 0.5;
  }
};
template <bool has_scope>
struct Net : tw::Module<Net<has_scope>> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Scale<has_scope>, scale));
  constexpr tw::Tensor build(tw::Tensor x) { return scale(x); }
};

/// Half of w, which is made in a context, goes into a run.
template <tw::ExecutionContext context, bool graph_has_scope = false, bool has_stream = false>
constexpr void program(tw::Ir& ir) {
  const tw::Tensor w = ir.variable(tw::ones(), {4}, tw::float32, "w");
  const auto [factories, graph] = tw::create_graph(Net<graph_has_scope>{}, w);
  tw::Tensor half;
  {
    const auto scope = tw::execution_context(ir, context);
    half = tw::call(graph, w);
    if (has_stream) tw::ops::host_store(ir.d2h_stream("half", half.spec()), half);
  }
  const auto path = tw::op_debug_context(ir, "use");
  tw::ops::host_store(ir.d2h_stream("y", half.spec()), half + w);
}
tw::Session<program<WeightsFromHostFragment>> session;

// CASE accumulate_outer
// expect: execution_context: AccumulateOuterFragment, which surrounds PopART`s own accumulation: Normal, after the repeat that
// accumulates, expected
#ifdef CASE_accumulate_outer
tw::Session<program<AccumulateOuterFragment>> wrong;
#endif

// CASE optimizer_from_host
// expect: execution_context: OptimizerFromHostFragment, which no session runs: WeightsFromHostFragment, as optimisers have their
// state in variables, expected
#ifdef CASE_optimizer_from_host
tw::Session<program<OptimizerFromHostFragment>> wrong;
#endif

// CASE subgraph
// expect: execution_context: Subgraph in the main graph: Normal, WeightsFromHostFragment or WeightsToHostFragment expected
#ifdef CASE_subgraph
tw::Session<program<Subgraph>> wrong;
#endif

// CASE in_a_graph
// expect: execution_context: WeightsFromHostFragment in graph `Net_subgraph(0)`, whose ops run with its calls: a scope of the
// main graph expected, in Net/scale
#ifdef CASE_in_a_graph
tw::Session<program<Normal, true>> wrong;
#endif

// CASE later_tensor
// expect: Add: Tensor[float32 (4,)] of WeightsToHostFragment in Normal, which runs before: a variable, a constant, or a tensor of
// this or an earlier execution context expected, in use
#ifdef CASE_later_tensor
tw::Session<program<WeightsToHostFragment>> wrong;
#endif

// CASE stream
// expect: HostStore: a stream in WeightsFromHostFragment: Normal, as only runs have arrays for streams, expected
#ifdef CASE_stream
tw::Session<program<WeightsFromHostFragment, false, true>> wrong;
#endif
