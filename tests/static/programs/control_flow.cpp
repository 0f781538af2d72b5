// labels: quick
// Inputs by reference, repeat, conditional, recomputation and accumulation: graphs, plans and messages.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/recompute_graph.hpp"

using tw::Graph, tw::Ir, tw::OnError, tw::Tensor, tw::TensorByRef, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

constexpr TensorSpec pair_spec{{2}, tw::float32};

/// The message of a program that is wrong; `program` is given an Ir and a variable `w` of two elements.
constexpr Text failure(auto program) {
  return support::failure([&](Ir& ir) { program(ir, ir.variable(tw::ones(), {2}, tw::float32, "w")); });
}

// ---- inputs by reference are known by the parameters of the function that builds the graph
struct Update {
  constexpr void build(TensorByRef x, Tensor step, double factor) { ops::scaled_add_(x, step, {.b = factor}); }
};
constexpr void add_to(TensorByRef x, Tensor step) { ops::scaled_add_(x, step); }
constexpr bool by_reference() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const Graph update = ir.create_graph(Update{}, w, pair_spec, 2.0);
  const Graph function = ir.create_graph(add_to, w, pair_spec);
  const Graph list = ir.create_graph([](std::vector<TensorByRef> all) { ops::scaled_add_(all[1], all[0]); },
                                     std::vector{w, w, w});
  const Graph array = ir.create_graph([](Tensor x, std::array<TensorByRef, 2> all) noexcept { ops::scaled_add_(all[1], x); }, w,
                                      std::array{w, w});
  const Graph by_value = ir.create_graph([](Tensor x) { return x; }, w);
  Graph empty = ir.create_empty_graph();
  {
    const tw::GraphScope scope(empty);
    tw::graph_input(ir, {2}, tw::float32, "x");
    tw::graph_input(ir, {2}, tw::float32, "y", true);
  }
  const auto inputs = [&](Graph graph) { return ir.tables.record(graph.id()).by_reference; };
  return inputs(update) == std::vector{0} && inputs(function) == std::vector{0} && inputs(list) == std::vector{0, 1, 2} &&
         inputs(array) == std::vector{1, 2} && inputs(by_value).empty() && inputs(empty) == std::vector{1};
}
static_assert(by_reference());
constexpr bool calls_change_what_is_given_by_reference() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w"), x = w * 2;
  const Graph update = ir.create_graph(Update{}, w, pair_spec, 2.0);
  tw::call(update, {w, x});
  const Graph by_value = ir.create_graph([](Tensor a, Tensor b) { return a + b; }, w, w);
  auto info = tw::call_with_info(by_value, {w, x});
  const bool unmodified = ir.tables.record(tw::GraphId::main).nodes.back().modified.empty();
  info.set_parent_input_modified(x);
  info.set_parent_input_modified(x);
  return ir.tables.record(tw::GraphId::main).nodes[tw::NodeId(1)].modified == std::vector{0} && unmodified &&
         ir.tables.record(tw::GraphId::main).nodes[tw::NodeId(2)].modified == std::vector{1};
}
static_assert(calls_change_what_is_given_by_reference());

TW_SAME(failure([](Ir& ir, Tensor w) { tw::call(ir.create_graph(add_to, w, w), {w, w}); }),
        "call of graph_subgraph(0): Tensor[w float32 (2,)], which the call changes, is given for several inputs: one expected");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::call(ir.create_graph(add_to, w, w), {ir.constant({1}, {2}), w}); }),
        "call of graph_subgraph(0): Tensor[float32 (2,)] is a constant: a tensor that the call may change expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          auto info = tw::call_with_info(ir.create_graph([](Tensor x) { return x; }, w), w);
          info.set_parent_input_modified(w * 2);
        }),
        "set_parent_input_modified: Tensor[float32 (2,)]: an input of this call of graph_subgraph(0) expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          tw::autodiff(ir.create_graph(
              [&](Tensor x) {
                const Tensor y = x * 1;
                tw::call(ir.create_graph(add_to, y, x), {y, x});
                return y;
              },
              w));
        }),
        "autodiff of graph_subgraph(0): Call.102 changes its input in place: ops that do not expected");

constexpr void add_to_both(TensorByRef x, TensorByRef y) { ops::scaled_add_(x, y); }
TW_SAME(failure([](Ir& ir, Tensor w) {
          tw::call(ir.create_graph(add_to_both, w, pair_spec), {w, ops::reshape_(ops::reshape_(w, {1, 2}), {2})});
        }),
        "call of graph_subgraph(0): Tensor[w float32 (2,)] and Tensor[float32 (2,)], which share memory, may both change: "
        "aliases of different tensors expected");
TW_SAME(failure([](Ir& ir, Tensor) {
          const Tensor m = ir.variable(tw::ones(), {2, 2}, tw::float32, "m");
          const Graph add = ir.create_graph(add_to, m, m);
          tw::conditional(ir.constant(1, tw::boolean), {add, {m, m * 1}}, {add, {ops::transpose_(m), m * 1}});
        }),
        "call of graph_subgraph(0): Tensor[m float32 (2, 2)] and Tensor[float32 (2, 2)], which share memory, may both "
        "change: aliases of different tensors, or the same alias for both branches, expected");

// ---- aliases in another shape
TW_SAME(failure([](Ir& ir, Tensor) {
          const Tensor m = ir.variable(tw::ones(), {2, 3}, tw::float32, "m");
          ops::reshape_(ops::transpose_(m), {6});
        }),
        "ReshapeInplace: Tensor[float32 (3, 2)], whose elements stand in another order, to (6,): reshape, or reshape_ before "
        "transpose_, expected");
constexpr bool aliases_are_found() {
  Ir ir;
  const Tensor m = ir.variable(tw::ones(), {2, 3}, tw::float32, "m");
  const Tensor alias = ops::detach_(ops::transpose_(ops::reshape_(ops::flatten_(m), {3, 2})));
  return tw::detail::aliased_tensor(ir, tw::GraphId::main, alias.number()).first == m.number() &&
         tw::detail::aliased_tensor(ir, tw::GraphId::main, m.T().number()).first != m.number() &&
         alias.shape() == tw::Shape{2, 3};
}
static_assert(aliases_are_found());

// ---- a build whose ops are in sequence
struct Ordered : tw::Module<Ordered> {
  static constexpr bool in_sequence = true;
  constexpr Tensor build(Tensor x) { return ops::exp(ops::relu(x + 1)); }
};
constexpr bool a_module_orders_its_ops() {
  Ir ir;
  const auto created = tw::create_graph(ir, Ordered{}, pair_spec);
  return support::sequence_of(ir, created.graph.graph().id()) == support::Edges{{0, 1}, {1, 2}};
}
static_assert(a_module_orders_its_ops());
constexpr bool unordered_blocks_are_like_one_op() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
  const auto ordered = tw::in_sequence(ir);
  ops::exp(x);  // 0
  {
    const auto free = tw::in_sequence(ir, false);
    ops::exp(x), ops::exp(x);  // 1, 2
    const auto inner = tw::in_sequence(ir);
    ops::exp(x), ops::exp(x);  // 3, 4
  }
  ops::exp(x);  // 5
  return support::sequence_of(ir) == support::Edges{{0, 1}, {0, 2}, {0, 3}, {3, 4}, {1, 5}, {2, 5}, {4, 5}};
}
static_assert(unordered_blocks_are_like_one_op());

// ---- repeat
constexpr auto identity = [](Tensor x) { return x; };
TW_SAME(failure([](Ir& ir, Tensor w) { tw::repeat(ir.create_graph(identity, w), -1, w); }),
        "repeat of graph_subgraph(0): -1 times: a count from 0 to 2^48 expected");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::repeat(ir.create_graph([](Tensor x) { return std::array{x, x}; }, w), 2, w); }),
        "repeat of graph_subgraph(0): 2 outputs and 1 inputs: at least as many inputs as outputs, which are the first "
        "inputs of the next iteration, expected");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::repeat(ir.create_graph([](Tensor x) { return x.reshape({1, 2}); }, w), 2, w); }),
        "repeat of graph_subgraph(0): output 0 (1, 2) float32 for input 0 (2,) float32 of the next iteration: equal "
        "shapes and dtypes expected");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::repeat(ir.create_graph([](TensorByRef x) { return x * 1; }, w), 2, w); }),
        "repeat of graph_subgraph(0): input 0, Tensor[float32 (2,)], is by reference and output 0 replaces it in the "
        "next iteration: inputs by reference after those that outputs replace expected");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::repeat(ir.create_graph([](Tensor x, Tensor y) { return x + y; }, w, w), 2, w); }),
        "call of graph_subgraph(0): input 1, Tensor[float32 (2,)], is missing: all 2 inputs must be given or bound");
TW_SAME(failure([](Ir& ir, Tensor w) {
          tw::repeat_with_info(ir.create_graph([](Tensor x) { return x + 1; }, w), 2, w).set_parent_input_modified(w);
        }),
        "set_parent_input_modified: Tensor[w float32 (2,)]: output 0 of graph_subgraph(0) replaces it in the next "
        "iteration: an input that no output replaces expected");
TW_SAME(failure([](Ir& ir, Tensor) {
          const Tensor x = ir.variable(tw::ones(), {1, 1, 1, 1, 1, 2}, tw::float32, "x");
          const Graph body = ir.create_graph([](Tensor t) { return ops::exp(t) * 2; }, x);
          tw::autodiff(ir.create_graph([&](Tensor t) { return tw::repeat(body, 3, t); }, x));
        }),
        "autodiff of Loop.102: the gradient needs (1, 1, 1, 1, 1, 2) float32 of every iteration of graph_subgraph(0): at "
        "most 5 axes expected");
/// What autodiff of a loop of no iterations, and of a graph that has a gradient already, needs besides.
constexpr bool gradients_are_made_again() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const Graph body = ir.create_graph([](Tensor x) { return ops::exp(x) * 2; }, w);
  const Graph graph = ir.create_graph([&](Tensor x) { return tw::repeat(body, 0, x); }, w);
  const auto loop = tw::autodiff(graph), gradient = tw::autodiff(body);
  const auto call = tw::call_with_info(graph, w), body_call = tw::call_with_info(body, w);
  ops::host_store(ir.d2h_stream("loop", {2}), tw::call(loop.graph(), call.output(0), loop.inputs_dict(call)));
  ops::host_store(ir.d2h_stream("body", {2}), tw::call(gradient.graph(), w, gradient.inputs_dict(body_call)));
  return lower(tw::prepare(ir, tw::cpu)).memory.variables > 0 && gradient.graph().inputs().size() == 2;
}
static_assert(gradients_are_made_again());
constexpr Text loops_print() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const auto info = tw::repeat_with_info(ir.create_graph([](Tensor x) { return x + 1; }, w), 3, w);
  if (info.graph_to_parent_input_index(0) != 0 || info.parent_to_graph_output_index(0) != 0) return "other indices";
  if (!(info.graph_to_parent(info.called_graph().output(0)) == info.output(0))) return "another output";
  return print_schedule(ir.main_graph());
}
TW_SAME(loops_print(),
        "Graph : \n  () -> () {\n    Loop.101(graph_subgraph(0)) (%1 [(2,) float32]) -> (%2 [(2,) float32])\n  }\n");
TW_SAME(failure([](Ir& ir, Tensor w) { tw::call_with_info(ir.create_graph(identity, w), w).graph_to_parent_input_index(1); }),
        "graph_to_parent_input_index: index 1 of a call of graph_subgraph(0), which has 1 inputs: an index of at least 0 and "
        "below 1 expected");
/// The inner tensors that the gradient needs come out of the loop with an axis for its iterations.
constexpr bool loops_keep_activations() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const Graph body = ir.create_graph([](Tensor x) { return ops::exp(x) * 2; }, w);
  const Graph graph = ir.create_graph([&](Tensor x) { return tw::repeat(body, 3, x); }, w);
  const auto info = tw::autodiff(graph);
  const auto inputs = info.graph().inputs();
  return inputs.size() == 2 && inputs[1].spec() == TensorSpec{{3, 2}, tw::float32} && graph.outputs().size() == 2 &&
         info.graph().op_count() == 1;
}
static_assert(loops_keep_activations());

// ---- conditional
TW_SAME(failure([](Ir& ir, Tensor w) {
          const Graph graph = ir.create_graph(identity, w);
          tw::conditional(w, {graph, {w}}, {graph, {w}});
        }),
        "conditional: Tensor[w float32 (2,)] as condition: bool of one element expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          const Graph one = ir.create_graph(identity, w), none = ir.create_graph([](Tensor) {}, w);
          tw::conditional(ir.constant(1, tw::boolean), {one, {w}}, {none, {w}});
        }),
        "conditional: graph_subgraph(0) has 1 outputs, graph_subgraph(1) has 0: the same number of outputs expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          const Graph one = ir.create_graph(identity, w), other = ir.create_graph([](Tensor x) { return x.reshape({1, 2}); }, w);
          tw::conditional(ir.constant(1, tw::boolean), {one, {w}}, {other, {w}});
        }),
        "conditional: output 0 is (2,) float32 of graph_subgraph(0), (1, 2) float32 of graph_subgraph(1): equal shapes "
        "and dtypes expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          const Graph graph = ir.create_graph(identity, w);
          tw::conditional(ir.constant(1, tw::boolean), {graph, {w}}, {graph, {}});
        }),
        "call of graph_subgraph(0): input 0, Tensor[float32 (2,)], is missing: all 1 inputs must be given or bound");
constexpr bool conditionals_map_tensors() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const Graph two = ir.create_graph([](Tensor x, Tensor y) { return x + y; }, w, w), one = ir.create_graph(identity, w);
  const auto info = tw::conditional_with_info(ir.constant(1, tw::boolean), {two, {w, w}}, {one, {w}});
  return info.called_graph() == std::pair(two, one) && info.inputs().size() == 4 && info.graph_to_parent_input_index(1) == 2 &&
         info.graph_to_parent_input_index(0, false) == 3 && info.graph_to_parent_output_index(0) == 0 &&
         info.parent_to_graph_input_index(2) == 1 && info.parent_to_graph_input_index(3) == 0 &&
         info.is_parent_index_in_then_branch(2) && !info.is_parent_index_in_then_branch(3) &&
         !info.is_parent_index_in_then_branch(0) &&
         print_schedule(ir.main_graph()).view().find("If.101(graph_subgraph(0), graph_subgraph(1)) (%1 [() bool], ") !=
             std::string_view::npos;
}
static_assert(conditionals_map_tensors());

// ---- only_if
constexpr bool scopes_become_branches() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w"), step = ir.variable(tw::ones(), {2}, tw::float32, "step");
  const Graph add = ir.create_graph(add_to, w, pair_spec);
  const Tensor doubled = step * 2;
  {
    const auto scope = tw::only_if(ops::isfinite(ops::sum(w)));
    const Tensor half = ops::transpose_(w * ir.constant(0.5));
    tw::call(add, {w, doubled});
    ops::scaled_add_(ops::transpose_(step), half);
  }
  {
    const auto empty = tw::only_if(ir.constant(1, tw::boolean));
  }
  const auto called = ir.main_graph().called_graphs();
  const Graph& branch = called.front();
  return called.size() == 2 && called[1].op_count() == 0 && ir.main_graph().op_count() == 4 && branch.op_count() == 5 &&
         branch.inputs().size() == 3 && ir.tables.record(branch.id()).by_reference.size() == 2 && branch.outputs().empty() &&
         branch.called_graphs().front() == add && ir.tables.record(add.id()).call_sites.size() == 1;
}
static_assert(scopes_become_branches());
TW_SAME(failure([](Ir&, Tensor w) {
          const auto scope = tw::only_if(w);
          ops::scaled_add_(w, w);
        }),
        "conditional: Tensor[w float32 (2,)] as condition: bool of one element expected");
TW_SAME(
    failure([](Ir& ir, Tensor w) {
      Tensor doubled;
      {
        const auto scope = tw::only_if(ir.constant(1, tw::boolean));
        doubled = w * 2;
      }
      ops::exp(doubled);
    }),
    "Exp: Tensor[float32 (2,)] of a scope that has ended, of only_if or of a pipeline: a tensor that its ops change in place, or "
    "a stream, expected");
TW_SAME(failure([](Ir& ir, Tensor w) {
          const Tensor alias = ops::reshape_(w, {1, 2});
          const auto scope = tw::only_if(ir.constant(1, tw::boolean));
          ops::scaled_add_(w, alias.reshape({2}));
        }),
        "only_if: Tensor[w float32 (2,)], which changes, and Tensor[float32 (1, 2)], which shares its memory: one of the two "
        "expected");

/// A graph of create_graph without named inputs is given as the Graph is.
struct Doubled : tw::Module<Doubled> {
  constexpr Tensor build(Tensor x) { return x * 2; }
};
constexpr bool graphs_of_modules_need_no_bind() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  const tw::GraphWithNamedArgs doubled = tw::create_graph(Doubled{}, w).graph;
  const auto loop = tw::repeat_with_info(doubled, 3, w);
  const auto branches = tw::conditional_with_info(ir.constant(1, tw::boolean), {doubled, {w}}, {doubled, {w}});
  return !ir.failed() && loop.called_graph() == doubled.graph() &&
         branches.called_graph() == std::pair(doubled.graph(), doubled.graph()) && loop.output(0).spec() == pair_spec;
}
static_assert(graphs_of_modules_need_no_bind());

// ---- recomputation: no inner tensor lives from the forward to the backward call
template <int layers>
struct Deep : tw::Module<Deep<layers>> {
  constexpr Tensor build(Tensor x) {
    for (int i = 0; i < layers; ++i) x = ops::exp(ops::gelu(x));
    return x;
  }
};
template <bool recomputes>
constexpr void deep_step(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {1024}));
  Tensor y = x, dy;
  std::vector<tw::GraphWithNamedArgs> gradients;
  std::vector<tw::CallSiteInfo> calls;
  const auto created = tw::create_graph(Deep<4>{}, x);
  auto gradient = tw::autodiff(created.graph);
  if (recomputes) gradient = tw::recompute_graph(gradient);
  for (int i = 0; i < 4; ++i) {
    calls.push_back(created.graph.call_with_info(y));
    y = calls.back().output(0);
  }
  dy = y;
  for (int i = 4; i-- > 0;)
    dy = gradient.call_with_info(dy, gradient.grad_graph_info().inputs_dict(calls[static_cast<std::size_t>(i)])).output(0);
  ops::host_store(ir.d2h_stream("dx", dy.spec()), dy);
}
template <bool recomputes>
constexpr std::int64_t frame_of_deep_step() {
  return support::plan_of(deep_step<recomputes>).memory.frame;
}
// 4 blocks of 4 kept tensors (an exp's result is what the next gelu reads) and a gradient; or 4 outputs, and one block's tensors
static_assert(frame_of_deep_step<false>() == 17 * 4096);
static_assert(frame_of_deep_step<true>() == 9 * 4096);
TW_SAME(failure([](Ir& ir, Tensor w) {
          const auto stream = ir.d2h_stream("y", {2});
          const Graph graph = ir.create_graph(
              [&](Tensor x) {
                ops::host_store(stream, x);
                return x * 2;
              },
              w);
          tw::recompute_graph(tw::autodiff(tw::GraphWithNamedArgs(graph)));
        }),
        "recompute_graph of graph_subgraph(0)_bwd: graph_subgraph(0) has side effects: a forward graph that can be "
        "computed again expected");

/// A chain of graphs that each call the next one twice: whether there are side effects is asked once for each.
constexpr bool chains_are_searched_once() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  Graph graph = ir.create_graph([](Tensor x) { return x * 2; }, w);
  for (int i = 0; i < 24; ++i) graph = ir.create_graph([&](Tensor x) { return tw::call(graph, tw::call(graph, x)); }, w);
  return tw::recompute_graph(tw::autodiff(tw::GraphWithNamedArgs(graph))).graph().inputs().size() == 2;
}
static_assert(chains_are_searched_once());

// ---- accumulation: gradients of variables become means in variables of their own
constexpr bool gradients_accumulate() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  const auto [factories, linear] = tw::create_graph(Linear<3>{}, x);
  const auto [accumulators, gradient] = tw::autodiff_with_accumulation(linear, linear.args());
  std::vector<Text> names;
  for (const auto& [name, factory] : accumulators.to_dict()) names.push_back(name);
  return names == std::vector<Text>{"mean_accum_counter", "accum.weight", "accum.bias"} && gradient.graph().outputs().empty() &&
         gradient.args()["accum.weight"].shape() == tw::Shape{4, 3} &&
         ir.tables.record(gradient.graph().id()).by_reference.size() == 3;
}
static_assert(gradients_accumulate());

// ---- caches: one graph for each shape, dtype and set of parameters
struct SumOfProducts : tw::Module<SumOfProducts> {
  constexpr Tensor build(const std::vector<Tensor>& factors, const std::vector<Tensor>& terms) {
    Tensor sum = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) sum = sum * factors[i];
    for (const Tensor& term : terms) sum = sum + term;
    return sum;
  }
};
constexpr bool lists_of_other_lengths_are_other_arguments() {
  Ir ir;
  const Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  tw::Cached<SumOfProducts> cached;
  const std::vector one{w}, two{w, w};
  cached.create_graph(one, two);
  cached.create_graph(two, one);
  cached.create_graph(one, two);
  return cached.size() == 2;
}
static_assert(lists_of_other_lengths_are_other_arguments());
constexpr bool optimisers_share_graphs() {
  Ir ir;
  const Tensor a = ir.variable(tw::ones(), {2}, tw::float32, "a"), b = ir.variable(tw::ones(), {2}, tw::float32, "b"),
               c = ir.variable(tw::ones(), {3}, tw::float32, "c");
  tw::Cached<tw::optim::Adam> adam;
  const auto graph = [&](Tensor variable, const tw::optim::AdamParameters& parameters) {
    return adam.create_graph(variable, variable.spec(), parameters).graph.graph();
  };
  const Graph first = graph(a, {.lr = 1e-3});
  return graph(b, {.lr = 1e-3}) == first && graph(c, {.lr = 1e-3}) != first && graph(a, {.lr = 1e-4}) != first &&
         graph(a, {.lr = TensorSpec{{}, tw::float32}}) != first && graph(a, {.lr = 1e-3, .bias_correction = false}) != first &&
         graph(a, {.lr = ir.constant(2)}) == graph(b, {.lr = TensorSpec{{}, tw::float32}}) && adam.size() == 5;
}
static_assert(optimisers_share_graphs());

// ---- functions whose calls are outlined
constexpr Tensor scaled_sum(Tensor x, Tensor w) { return x * w + x; }
constexpr std::array<Tensor, 2> half_and_double(Tensor x) { return {x * 0.5, x * 2.0}; }
constexpr void count(tw::TensorByRef counter) { ops::add_(counter, counter.ir().constant(1)); }

constexpr bool calls_of_a_function_share_a_graph() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), w = ir.variable(tw::ones(), {4}, tw::float32, "w"),
               half = ir.variable(tw::ones(), {2, 4}, tw::float16, "half"), v = ir.variable(tw::ones(), {4}, tw::float16, "v");
  tw::OutlinedFunction<scaled_sum> outlined;
  const Tensor y = outlined(outlined(x, w), w);
  outlined(half, v);
  return outlined.size() == 2 && y.shape() == x.shape() && ir.main_graph().called_graphs().size() == 2 &&
         ir.tables.record(ir.main_graph().id()).nodes.size() == 3;
}
static_assert(calls_of_a_function_share_a_graph());

constexpr bool outlined_functions_have_outputs_and_references() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x"), counter = ir.variable(tw::zeros(), {}, tw::float32, "counter");
  tw::OutlinedFunction<half_and_double> outlined;
  const auto [half, doubled] = outlined(x).as<2>();
  tw::OutlinedFunction<count> counted;
  tw::OutlinedFunction<[](Tensor a) { return a + a; }> lambda;
  counted(counter), counted(counter);
  return lambda(half).size() == 1 && half.spec() == doubled.spec() && counted(counter).size() == 0 && counted.size() == 1;
}
static_assert(outlined_functions_have_outputs_and_references());

constexpr bool a_cache_knows_functions() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x");
  tw::GraphCache cache;
  const Graph first = cache.create_graph<half_and_double>(x);
  return first == cache.create_graph<half_and_double>(ir, x.spec()) && first != cache.create_graph<scaled_sum>(x, x) &&
         cache.size() == 2;
}
static_assert(a_cache_knows_functions());

/// Calls the graph that it gets.
struct CallsGraph : tw::Module<CallsGraph> {
  constexpr Tensor build(Tensor x, const auto& graph) { return tw::call(graph, x); }
};
struct IgnoresGraph : tw::Module<IgnoresGraph> {
  constexpr Tensor build(Tensor x, const tw::BoundGraph&) { return x; }
};
constexpr bool a_cache_knows_graphs() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x"), w = ir.variable(tw::ones(), {4}, tw::float32, "w");
  const Graph half = ir.create_graph([](Tensor a) { return a * 0.5; }, x),
              twice = ir.create_graph([](Tensor a) { return a + a; }, x);
  tw::Cached<CallsGraph> calls;
  calls.create_graph(x, half), calls.create_graph(x, twice), calls.create_graph(x, half);
  calls.create_graph(x, tw::GraphWithNamedArgs(half));  // another type
  tw::Cached<IgnoresGraph> bound;
  const auto bind = [](Graph graph, Tensor tensor) { return tw::BoundGraph(graph, {{graph.input(0), tensor}}); };
  bound.create_graph(x, bind(half, x)), bound.create_graph(x, bind(half, w)), bound.create_graph(x, bind(half, x));
  bound.create_graph(x, bind(twice, x)), bound.create_graph(x, tw::BoundGraph(half, {}));
  return calls.size() == 3 && bound.size() == 4;
}
static_assert(a_cache_knows_graphs());

/// Scales by a tree of numbers.
struct Scales : tw::Module<Scales> {
  constexpr Tensor build(Tensor x, const tw::DotTree<int>& factors) { return x * factors["a"]; }
};
constexpr bool a_cache_knows_trees() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x");
  tw::Cached<Scales> cached;
  const auto graph = [&](tw::DotTree<int> factors) { return cached.create_graph(x, factors).graph.graph(); };
  const Graph first = graph(tw::DotTree<int>::from_dict({{"a", 2}}));
  return graph(tw::DotTree<int>::from_dict({{"a", 2}})) == first && graph(tw::DotTree<int>::from_dict({{"a", 3}})) != first &&
         graph(tw::DotTree<int>::from_dict({{"a", 2}, {"b.c", 2}})) !=
             graph(tw::DotTree<int>::from_dict({{"a", 2}, {"b.d", 2}})) &&
         cached.size() == 4;
}
static_assert(a_cache_knows_trees());
