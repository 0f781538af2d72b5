// labels: none
// Execution contexts that cannot be, and ops that cannot be part of them.
#include "traced.hpp"

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
struct NetOfScale : tw::Module<NetOfScale<has_scope>> {
  BOOST_HANA_DEFINE_STRUCT(NetOfScale, (Scale<has_scope>, scale));
  constexpr tw::Tensor build(tw::Tensor x) { return scale(x); }
};

/// Half of w, which is made in a context, goes into a run.
template <tw::ExecutionContext context, bool graph_has_scope = false, bool has_stream = false>
constexpr void program(tw::Ir& ir) {
  const tw::Tensor w = ir.variable(tw::ones(), {4}, tw::float32, "w");
  const auto [factories, graph] = tw::create_graph(NetOfScale<graph_has_scope>{}, w);
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
// expect: accumulates, expected
Traced<program<AccumulateOuterFragment>> accumulate_outer;

// CASE optimizer_from_host
// expect: execution_context: OptimizerFromHostFragment, which no session runs: WeightsFromHostFragment, as optimisers have their
// expect: state in variables, expected
Traced<program<OptimizerFromHostFragment>> optimizer_from_host;

// CASE subgraph
// expect: execution_context: Subgraph in the main graph: Normal, WeightsFromHostFragment or WeightsToHostFragment expected
Traced<program<Subgraph>> subgraph;

// CASE in_a_graph
// expect: execution_context: WeightsFromHostFragment in graph `NetOfScale_subgraph(0)`, whose ops run with its calls: a
// expect: scope of the main graph expected, in NetOfScale/scale
Traced<program<Normal, true>> in_a_graph;

// CASE later_tensor
// expect: Add: Tensor[float32 (4,)] of WeightsToHostFragment in Normal, which runs before: a variable, a constant, or a tensor of
// expect: this or an earlier execution context expected, in use
Traced<program<WeightsToHostFragment>> later_tensor;

// CASE stream
// expect: HostStore: a stream in WeightsFromHostFragment: Normal, as only runs have arrays for streams, expected
Traced<program<WeightsFromHostFragment, false, true>> stream;
