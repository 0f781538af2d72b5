// labels: none
// Execution contexts: which program an op is part of, what programs hand to each other, and what is an error.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/program/merge_exchange.hpp"
#include "tilewright/program/scopes.hpp"
#include "tilewright/verified/lower_verified.hpp"

using support::Edges, support::Facts, support::failure, support::load, support::plan_of, support::plan_text, support::sequence_of,
    support::store, support::variable;
using tw::ExecutionContext, tw::Graph, tw::Ir, tw::Tensor, tw::Text;
namespace ops = tw::ops;

namespace {

constexpr auto Normal = ExecutionContext::Normal, from_host = ExecutionContext::WeightsFromHostFragment,
               to_host = ExecutionContext::WeightsToHostFragment;

constexpr Tensor weight(Ir& ir) { return ir.variable(tw::ones(), {64}, tw::float32, "w"); }

// ---- names and numbers are PopXL's

constexpr Text names_and_numbers() {
  Text all;
  for (int value = 0; value < 6; ++value) all += tw::text(value, " ", to_text(static_cast<ExecutionContext>(value)), "\n");
  return all;
}
TW_SAME(names_and_numbers(), R"(0 Normal
1 AccumulateOuterFragment
2 WeightsFromHostFragment
3 WeightsToHostFragment
4 OptimizerFromHostFragment
5 Subgraph
)");

// ---- an op is part of the innermost scope's program; ops of other graphs of that of their call

constexpr Text contexts_of_ops() {
  Ir ir;
  const Tensor w = weight(ir);
  const auto twice = [](Tensor x) {
    const auto same = tw::execution_context(x.ir(), ExecutionContext::Subgraph);
    return x + x;
  };
  -w;
  {
    const auto upload = tw::execution_context(ir, from_host);
    -w;
    {
      const auto run = tw::execution_context(ir, Normal);
      -w;
    }
    tw::call(ir.create_graph(twice, w), w);
  }
  -w;
  Text all;
  for (const tw::GraphRecord& graph : ir.tables.graphs)
    for (const tw::Node& node : graph.nodes) all += tw::text(node.op->name, " ", to_text(node.context), "\n");
  return all;
}
TW_SAME(contexts_of_ops(), R"(Neg Normal
Neg WeightsFromHostFragment
Neg Normal
Call WeightsFromHostFragment
Neg Normal
Add Subgraph
)");

constexpr bool hooks_see_contexts() {
  Ir ir;
  const Tensor w = weight(ir);
  tw::List<ExecutionContext> seen;
  ir.main_graph().register_op_created_hook([&seen](const tw::CreatedOp& op) { seen.push_back(op.execution_context()); });
  -w;
  const auto download = tw::execution_context(ir, to_host);
  -w;
  return seen.size() == 2 && seen[0] == Normal && seen[1] == to_host;
}
static_assert(hooks_see_contexts());

// ---- sequences order the ops of each context, and tie none of different contexts

constexpr Edges interleaved(bool inner) {
  Ir ir;
  const Tensor w = weight(ir);
  const auto sequence = tw::in_sequence(ir);
  -w;  // 0
  const auto upload = [&] {
    const auto context = tw::execution_context(ir, from_host);
    -w;
  };
  {
    const auto unordered = tw::in_sequence(ir, !inner);
    upload();  // 1
    upload();  // 2
    -w;        // 3
  }
  -w;        // 4
  upload();  // 5
  return sequence_of(ir);
}
static_assert(interleaved(false) == Edges{{1, 2}, {0, 3}, {3, 4}, {2, 5}});
static_assert(interleaved(true) == Edges{{0, 3}, {3, 4}, {1, 5}, {2, 5}});

// ---- plans: a body for each context that has live ops

/// A weight is halved after uploads and doubled before downloads; t and y go from one program to a later one.
constexpr void program(Ir& ir) {
  const Tensor w = weight(ir), mean = variable(ir, "mean", {});
  Tensor t;
  {
    const auto upload = tw::execution_context(ir, from_host);
    ops::mul_(w, ir.constant(0.5));
    t = w + ir.constant(1.0);
  }
  const Tensor y = ops::sum(t * load(ir, "x", {64}));
  store("y", y);
  const auto download = tw::execution_context(ir, to_host);
  ops::mul_(w, ir.constant(2.0));
  ops::copy_var_update_(mean, y);
}
TW_SAME(plan_text(program), R"(Body 0 : 1 steps, 0 bytes
  1 of 64: Mul; ReduceSum [Identity]
Body 1 : 1 steps, 0 bytes, after an upload
  4 of 16: MulInplace; Add
Body 2 : 2 steps, 0 bytes, before a download
  4 of 16: MulInplace
  1 of : CopyVarUpdate
)");
TW_SAME(tw::lower_verified(support::prepared(program, tw::cpu, tw::OnError::record)).failure, "");
TW_SAME(tw::lower_verified(support::prepared(program, tw::ipu_model, tw::OnError::record)).failure, "");

/// w and t have 256 bytes each, mean and y 64, with what aligns them.
static_assert(plan_of(program).memory.variables == 256 + 64 + 256 + 64);

/// Programs share one frame, which is the largest one's.
constexpr auto sum_of_exp(auto context, int extent) {
  return [=](Ir& ir) {
    const Tensor v = variable(ir, "v", {}), w = weight(ir);
    ops::copy_var_update_(v, ops::sum(ops::gelu(w)));
    const auto scope = tw::execution_context(ir, context);
    const Tensor x = ops::gelu(ops::expand(v, tw::Shape{extent, 3}));
    ops::copy_var_update_(v, ops::sum(x.T().matmul(x)));
  };
}
constexpr std::int64_t frame_of(auto build) { return plan_of(build, tw::cpu.without_fusion()).memory.frame; }
static_assert(frame_of(sum_of_exp(from_host, 1000)) == frame_of(sum_of_exp(Normal, 1000)));
static_assert(frame_of(sum_of_exp(to_host, 2000)) > frame_of(sum_of_exp(from_host, 1000)));

TW_SAME(
    tw::lower(support::prepared(sum_of_exp(from_host, 500'000'000), tw::ipu_model.without_fusion(), tw::OnError::record)).failure,
    "memory: tile 0 of 1472 needs 4640080 bytes: at most 638976 expected; variables 136, constants 0, frame 4612576, padding "
    "72, "
    "code 17824, stack 1280, reserve 8192; largest tensors: Gelu in the main graph (500000000, 3) float32 4076088 bytes, MatMul "
    "in "
    "the main graph (500000000, 3) float32 268128 bytes, MatMul in the main graph (500000000, 3) float32 268128 bytes, MatMul in "
    "the main graph (500000000, 3) float32 268128 bytes, MatMul in the main graph (500000000, 3) float32 268128 bytes");

/// Without a scope, or with nothing live in it, there is no other program.
constexpr auto unused = [](Ir& ir) {
  const Tensor w = weight(ir);
  {
    const auto upload = tw::execution_context(ir, from_host);
    w + w;
  }
  store("y", w);
};
static_assert(plan_of(unused).bodies.size() == 1 && plan_of(unused).kept.empty());

/// The results of ops in place are what they change, in whichever program: nothing is kept but t.
constexpr auto aliases = [](Ir& ir) {
  const Tensor w = weight(ir);
  Tensor changed, t;
  {
    const auto upload = tw::execution_context(ir, from_host);
    changed = ops::mul_(w, ir.constant(0.5));
    t = ops::reshape_(ops::exp(w), {8, 8});
  }
  store("y", ops::mul_(changed, ir.constant(3.0)));
  const Tensor added = ops::add_(t, ir.constant(1.0));
  const auto download = tw::execution_context(ir, to_host);
  ops::copy_var_update_(changed, ops::flatten_(added));
};
static_assert(plan_of(aliases).kept.size() == 1);

/// A graph that several programs call is one body of all.
constexpr auto shared_graph = [](Ir& ir) {
  const Tensor w = weight(ir);
  const auto softmax = [](Tensor x) { return ops::softmax(x); };
  const Graph graph = ir.create_graph(softmax, w);
  const auto update = [&] { ops::copy_var_update_(w, tw::call(graph, w)); };
  update();
  {
    const auto upload = tw::execution_context(ir, from_host);
    update();
  }
  const auto download = tw::execution_context(ir, to_host);
  update();
};
static_assert(plan_of(shared_graph).bodies.size() == 4);

// ---- errors

constexpr Text failure_in(ExecutionContext context, auto trace) {
  return failure([&](Ir& ir) {
    const auto scope = tw::execution_context(ir, context);
    trace(ir);
  });
}
constexpr auto nothing = [](Ir&) {};

TW_SAME(failure_in(ExecutionContext::AccumulateOuterFragment, nothing),
        "execution_context: AccumulateOuterFragment, which surrounds PopART's own accumulation: Normal, after the repeat that "
        "accumulates, expected");
TW_SAME(failure_in(ExecutionContext::OptimizerFromHostFragment, nothing),
        "execution_context: OptimizerFromHostFragment, which no session runs: WeightsFromHostFragment, as optimisers have their "
        "state in variables, expected");
TW_SAME(failure_in(ExecutionContext::Subgraph, nothing),
        "execution_context: Subgraph in the main graph: Normal, WeightsFromHostFragment or WeightsToHostFragment expected");

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) {
    const auto upload = tw::execution_context(x.ir(), from_host);
    return -x;
  }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer, layer));
  constexpr Tensor build(Tensor x) { return layer(x); }
};
TW_SAME(
    failure([](Ir& ir) { tw::create_graph(Net{}, weight(ir)); }),
    "execution_context: WeightsFromHostFragment in graph 'Net_subgraph(0)', whose ops run with its calls: a scope of the main "
    "graph expected, in Net/layer");

/// What `late` makes, `early` reads.
constexpr Text read_too_early(ExecutionContext late, ExecutionContext early) {
  return failure([&](Ir& ir) {
    const Tensor w = weight(ir);
    Tensor made;
    {
      const auto context = tw::execution_context(ir, late);
      made = ops::reshape_(w + w, {8, 8});
    }
    const auto path = tw::op_debug_context(ir, "early");
    const auto context = tw::execution_context(ir, early);
    static_cast<void>(made.T());
  });
}
TW_SAME(read_too_early(to_host, Normal),
        "Transpose: Tensor[float32 (8, 8)] of WeightsToHostFragment in Normal, which runs before: a variable, a constant, or a "
        "tensor of "
        "this or an earlier execution context expected, in early");
TW_SAME(read_too_early(Normal, from_host),
        "Transpose: Tensor[float32 (8, 8)] of Normal in WeightsFromHostFragment, which runs before: a variable, a constant, or a "
        "tensor of "
        "this or an earlier execution context expected, in early");
TW_SAME(read_too_early(from_host, to_host), "");
TW_SAME(failure([](Ir& ir) {
          const Tensor w = weight(ir), y = w + w;
          const auto upload = tw::execution_context(ir, from_host);
          tw::call(ir.create_graph([](Tensor x) { return -x; }, y), y);
        }),
        "Call: Tensor[float32 (64,)] of Normal in WeightsFromHostFragment, which runs before: a variable, a constant, or a "
        "tensor of this "
        "or an earlier execution context expected");

TW_SAME(failure_in(from_host, [](Ir& ir) { load(ir, "x", {}); }),
        "HostLoad: a stream in WeightsFromHostFragment: Normal, as only runs have arrays for streams, expected");
TW_SAME(failure_in(to_host, [](Ir& ir) { store("y", weight(ir)); }),
        "HostStore: a stream in WeightsToHostFragment: Normal, as only runs have arrays for streams, expected");

constexpr auto stores = [](Tensor x) { store("y", x); };
TW_SAME(
    failure_in(to_host,
               [](Ir& ir) {
                 const Tensor w = weight(ir);
                 const Graph inner = ir.create_graph(stores, w);
                 tw::call(ir.create_graph([&](Tensor x) { tw::call(inner, x); }, w), w);
               }),
    "call of graph_subgraph(1): its streams in WeightsToHostFragment: Normal, as only runs have arrays for streams, expected");
TW_SAME(failure_in(to_host,
                   [](Ir& ir) {
                     const Tensor w = weight(ir);
                     const Graph graph = ir.create_graph([](Tensor x) { return -x; }, w);
                     tw::call(graph, w);
                     const tw::GraphScope scope(graph);
                     stores(graph.input(0));
                   }),
        "HostStore: a stream in WeightsToHostFragment: Normal, as only runs have arrays for streams, expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor w = weight(ir);
          const Graph graph = ir.create_graph(stores, w);
          tw::call(graph, w);
          const auto upload = tw::execution_context(ir, from_host);
          -w;
        }),
        "");

TW_SAME(failure([](Ir& ir) {
          const tw::RemoteBuffer buffer = ir.remote_buffer({8}, tw::float32, 2);
          const auto merged = tw::merge_exchange(ir);
          ops::remote_load(buffer, 0);
          const auto download = tw::execution_context(ir, to_host);
          ops::remote_load(buffer, 1);
        }),
        "merge_exchange: RemoteLoad.100 of Normal and RemoteLoad.101 of WeightsToHostFragment: ops of one execution context "
        "expected");

}  // namespace
