// labels: quick
// autodiff: which graphs it makes and how they connect to their forward graphs.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"

using tw::Graph, tw::Ir, tw::OnError, tw::Tensor, tw::TensorSpec, tw::Text;
using tw::ExpectedConnectionType::Fwd, tw::ExpectedConnectionType::FwdGrad;
namespace ops = tw::ops;

constexpr TensorSpec pair_spec{{2, 2}, tw::float32};
constexpr auto scale_and_shift = [](Tensor x, Tensor w, Tensor b) { return x * w + b; };

constexpr bool are(const std::vector<tw::ExpectedConnection>& connections,
                   std::initializer_list<std::pair<tw::ExpectedConnectionType, Tensor>> expected) {
  return std::ranges::equal(connections, expected, [](const auto& a, const auto& b) {
    return a.connection_type == b.first && a.fwd_tensor == b.second;
  });
}

// ---- connections
constexpr bool gradients_provided_come_first_then_forward_tensors() {
  Ir ir;
  const Graph forward = ir.create_graph(scale_and_shift, pair_spec, pair_spec, pair_spec);
  const auto info = tw::autodiff(forward);
  return info.forward_graph() == forward && info.graph().name() == "graph_subgraph(0)_bwd" &&
         are(info.expected_inputs(), {{FwdGrad, forward.output(0)}, {Fwd, forward.input(1)}, {Fwd, forward.input(0)}}) &&
         are(info.expected_outputs(), {{FwdGrad, forward.input(0)}, {FwdGrad, forward.input(1)}, {FwdGrad, forward.input(2)}}) &&
         info.inputs() == std::vector{forward.output(0), forward.input(1), forward.input(0)} &&
         info.outputs() == forward.inputs() && info.graph().inputs().size() == 3 && info.graph().outputs().size() == 3;
}
static_assert(gradients_provided_come_first_then_forward_tensors());

constexpr bool grads_required_keep_their_order() {
  Ir ir;
  const Graph forward = ir.create_graph(scale_and_shift, pair_spec, pair_spec, pair_spec);
  const Tensor w = forward.input(1), b = forward.input(2);
  const auto first = tw::autodiff(forward, {.grads_required = std::vector{w, b}});
  const auto second = tw::autodiff(forward, {.grads_required = std::vector{b, w}});
  const auto only_b = tw::autodiff(forward, {.grads_required = std::vector{b}});
  return first.outputs() == std::vector{w, b} && second.outputs() == std::vector{b, w} && only_b.graph().op_count() == 0 &&
         only_b.inputs() == std::vector{forward.output(0)} && second.graph().name() == "graph_subgraph(0)_bwd_1";
}
static_assert(grads_required_keep_their_order());

constexpr bool grads_provided_may_be_some_outputs() {
  Ir ir;
  const Graph forward = ir.create_graph([](Tensor x) { return std::pair(ops::tanh(x), ops::exp(x)); }, pair_spec);
  const auto one = tw::autodiff(forward, {.grads_provided = std::vector{forward.output(1)}}), both = tw::autodiff(forward);
  return are(one.expected_inputs(), {{FwdGrad, forward.output(1)}, {Fwd, forward.output(1)}}) && both.inputs().size() == 4 &&
         both.inputs()[0] == forward.output(0) && both.inputs()[1] == forward.output(1);
}
static_assert(grads_provided_may_be_some_outputs());

constexpr bool inner_tensors_can_be_required() {
  Ir ir;
  Tensor inner;
  const Graph forward = ir.create_graph([&](Tensor x) { return ops::exp(inner = x + 1); }, pair_spec);
  const auto info = tw::autodiff(forward, {.grads_required = std::vector{inner, forward.input(0)}});
  const Tensor x = ir.variable(tw::ones(), {2, 2}, tw::float32, "x");
  const auto call = tw::call_with_info(forward, x);
  const auto gradient_call = tw::call_with_info(info.graph(), call.output(0), info.inputs_dict(call));
  const auto grads = info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call);
  return info.outputs() == std::vector{inner, forward.input(0)} && grads.size() == 1 && grads[x] == gradient_call.output(1);
}
static_assert(inner_tensors_can_be_required());

/// a + b and a - b; its rule says which of the results' gradients it saw.
struct SumAndDifference : tw::Op<SumAndDifference> {
  static constexpr std::string_view name = "SumAndDifference";
  static constexpr void infer(tw::Inference& op) {
    for (int i = 0; i < 2; ++i) op.output(op.input(0));
  }
  static constexpr void gradient(tw::GradientContext& op) {
    const bool sum = op.has_output_gradient(0), difference = op.has_output_gradient(1);
    const auto both = [&](Tensor a, Tensor b) { op.input_gradient(0, a), op.input_gradient(1, b); };
    if (sum) both(op.output_gradient(0), op.output_gradient(0));
    if (difference) both(op.output_gradient(1), -op.output_gradient(1));
  }
  template <tw::PackedAttributes, class... V>
  static void compute(V...) {}  // never planned
};
constexpr bool rules_see_which_gradients_reach_their_op() {
  Ir ir;
  const Graph forward = ir.create_graph(
      [](Tensor a, Tensor b) {
        const Tensor inputs[] = {a, b};
        const auto results = tw::apply_all<SumAndDifference>(a.ir(), inputs);
        return std::pair(results[0], results[1]);
      },
      pair_spec, pair_spec);
  const auto ops_of_gradient = [&](int first, int last) {
    std::vector<Tensor> provided;
    for (int i = first; i <= last; ++i) provided.push_back(forward.output(i));
    return tw::autodiff(forward, {.grads_provided = provided}).graph().op_count();
  };
  return ops_of_gradient(0, 0) == 0 && ops_of_gradient(1, 1) == 1 && ops_of_gradient(0, 1) == 3;  // negate, and two sums
}
static_assert(rules_see_which_gradients_reach_their_op());

// ---- activations
constexpr bool inner_tensors_become_outputs_at_calls_that_exist_too() {
  Ir ir;
  const Graph forward = ir.create_graph([](Tensor x) { return ops::gelu(ops::gelu(x)); }, pair_spec);
  const Tensor x = ir.variable(tw::ones(), {2, 2}, tw::float32, "x");
  const auto before = tw::call_with_info(forward, x);
  if (before.outputs().size() != 1) return false;
  const auto info = tw::autodiff(forward);
  const auto after = tw::call_with_info(forward, x);
  return forward.outputs().size() == 2 && before.outputs().size() == 2 && after.outputs().size() == 2 &&
         are(info.expected_inputs(), {{FwdGrad, forward.output(0)}, {Fwd, forward.output(1)}, {Fwd, forward.input(0)}}) &&
         info.inputs_dict(before)[info.graph().input(1)] == before.output(1) &&
         info.inputs_dict(before)[info.graph().input(2)] == x && info.inputs_dict(before).size() == 2;
}
static_assert(inner_tensors_become_outputs_at_calls_that_exist_too());

constexpr bool constants_are_copied_and_views_made_again() {
  Ir ir;
  const Graph forward = ir.create_graph(
      [](Tensor x) { return ops::sum(ops::exp(x.reshape({4})) * 3) + ops::sum(ops::gelu(x.reshape({4}))); }, pair_spec);
  const auto info = tw::autodiff(forward);
  return info.graph().constants().size() >= 1 && info.inputs()[1] == forward.input(0) && forward.outputs().size() == 2;
}
static_assert(constants_are_copied_and_views_made_again());

// ---- calling a gradient graph
constexpr bool gradients_are_found_by_parent_tensors() {
  Ir ir;
  const auto [facts, forward] = tw::create_graph(ir, Linear<3>{}, pair_spec);
  const auto backward = tw::autodiff(forward);
  const auto info = backward.grad_graph_info();
  const auto variables = facts.init();
  const Tensor x = ir.variable(tw::ones(), {2, 2}, tw::float32, "x");
  const auto call = forward.bind(variables).call_with_info(x);
  const Tensor seed = ir.constant(std::vector{1.0}, {2, 3});
  const auto gradient_call = backward.call_with_info(seed, info.inputs_dict(call));
  const auto grads = info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call);
  const auto by_input = info.fwd_graph_ins_to_grad_parent_outs(gradient_call);
  return grads.size() == 3 && grads[x].spec() == x.spec() && grads[variables["weight"]].spec() == variables["weight"].spec() &&
         grads[variables["bias"]] == gradient_call.output(2) && by_input[forward.args()["bias"]] == gradient_call.output(2);
}
static_assert(gradients_are_found_by_parent_tensors());

constexpr bool a_parent_tensor_of_several_inputs_gets_the_sum() {
  Ir ir;
  const Graph product = ir.create_graph([](Tensor a, Tensor b) { return a * b; }, pair_spec, pair_spec);
  const auto info = tw::autodiff(product);
  const Tensor x = ir.variable(tw::ones(), {2, 2}, tw::float32, "x");
  const auto call = tw::call_with_info(product, {x, x});
  const auto gradient_call = tw::call_with_info(info.graph(), x, info.inputs_dict(call));
  const auto ops_before = ir.main_graph().op_count();
  const auto grads = info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call);
  return grads.size() == 1 && ir.main_graph().op_count() == ops_before + 1;
}
static_assert(a_parent_tensor_of_several_inputs_gets_the_sum());

// ---- gradients as text
constexpr Text gradient_of(auto function, const auto&... specs) {
  Ir ir;
  return print_schedule(tw::autodiff(ir.create_graph(function, specs...)).graph());
}
static_assert(gradient_of(scale_and_shift, pair_spec, pair_spec, TensorSpec{{2}, tw::float32}) ==
              R"(Graph : graph_subgraph(0)_bwd
  (%1, %2, %3) -> (%5, %6, %4) {
    ReduceSum.102 (%1 [(2, 2) float32]) -> (%4 [(2,) float32])
    Mul.103 (%1 [(2, 2) float32], %2 [(2, 2) float32]) -> (%5 [(2, 2) float32])
    Mul.104 (%1 [(2, 2) float32], %3 [(2, 2) float32]) -> (%6 [(2, 2) float32])
  }
)");
// a tensor that is used several times gets the sum of its gradients
static_assert(gradient_of(
                  [](Tensor x) {
                    const Tensor square = x * x;  // a statement of its own: C++ leaves open which operand of + comes first
                    return square + ops::tanh(x);
                  },
                  pair_spec) ==
              R"(Graph : graph_subgraph(0)_bwd
  (%1, %2, %3) -> (%8) {
    TanhGrad.103 (%2 [(2, 2) float32], %1 [(2, 2) float32]) -> (%4 [(2, 2) float32])
    Mul.104 (%1 [(2, 2) float32], %3 [(2, 2) float32]) -> (%5 [(2, 2) float32])
    Add.105 (%4 [(2, 2) float32], %5 [(2, 2) float32]) -> (%6 [(2, 2) float32])
    Mul.106 (%1 [(2, 2) float32], %3 [(2, 2) float32]) -> (%7 [(2, 2) float32])
    Add.107 (%6 [(2, 2) float32], %7 [(2, 2) float32]) -> (%8 [(2, 2) float32])
  }
)");
// an output that is used inside too gets the gradient provided and those from inside
static_assert(gradient_of(
                  [](Tensor x) {
                    const Tensor y = ops::exp(x);
                    return std::pair(y, -y);
                  },
                  pair_spec) ==
              R"(Graph : graph_subgraph(0)_bwd
  (%1, %2, %3) -> (%6) {
    Neg.102 (%2 [(2, 2) float32]) -> (%4 [(2, 2) float32])
    Add.103 (%1 [(2, 2) float32], %4 [(2, 2) float32]) -> (%5 [(2, 2) float32])
    ExpGrad.104 (%3 [(2, 2) float32], %5 [(2, 2) float32]) -> (%6 [(2, 2) float32])
  }
)");

// ---- called graphs
constexpr bool every_called_graph_gets_one_gradient_graph() {
  Ir ir;
  const auto forward = tw::create_graph(ir, NetOutlined{}, TensorSpec{{8, 28, 28}, tw::float32}).graph;
  const auto backward = tw::autodiff(forward);
  const auto called = backward.graph().called_graphs();
  return ir.tables.graphs.size() == 5 && called.size() == 1 && called[0].name() == "Linear_subgraph(1)_bwd" &&
         backward.graph().name() == "NetOutlined_subgraph(0)_bwd" &&
         backward.grad_graph_info().outputs() == forward.graph().inputs();
}
static_assert(every_called_graph_gets_one_gradient_graph());

constexpr bool an_inlined_net_needs_no_further_graph() {
  Ir ir;
  const auto forward = tw::create_graph(ir, Net{}, TensorSpec{{8, 28, 28}, tw::float32}).graph;
  const auto info = tw::autodiff(forward).grad_graph_info();
  return ir.tables.graphs.size() == 3 && info.outputs() == forward.graph().inputs() && info.graph().called_graphs().empty();
}
static_assert(an_inlined_net_needs_no_further_graph());

constexpr bool outputs_without_a_gradient_count_as_zero() {
  Ir ir;
  const Graph inner = ir.create_graph([](Tensor x) { return std::pair(ops::exp(x), ops::tanh(x)); }, pair_spec);
  const Graph outer = ir.create_graph([&](Tensor x) { return tw::call(inner, x)[0]; }, pair_spec);
  const auto info = tw::autodiff(outer);
  return info.outputs() == outer.inputs() && info.graph().constants().size() == 1;
}
static_assert(outputs_without_a_gradient_count_as_zero());

// ---- where gradients end
constexpr std::size_t gradient_count(auto function, const auto&... specs) {
  Ir ir;
  return tw::autodiff(ir.create_graph(function, specs...)).outputs().size();
}
constexpr TensorSpec labels_spec{{2}, tw::int32};
static_assert(gradient_count([](Tensor x, Tensor y) { return x + y.detach(); }, pair_spec, pair_spec) == 1);
static_assert(gradient_count([](Tensor x, Tensor) { return x; }, pair_spec, pair_spec) == 1, "an unused input has none");
static_assert(gradient_count([](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels); }, pair_spec, labels_spec) == 1);
static_assert(gradient_count([](Tensor x, Tensor i) { return x * i.cast(tw::float32); }, pair_spec, labels_spec) == 1);
static_assert(gradient_count([](Tensor x) { return x.cast(tw::float16).cast(tw::float32); }, pair_spec) == 1);
static_assert(gradient_count([](Tensor x) { return x.cast(tw::int32); }, pair_spec) == 0);

// ---- every differentiable op has gradients of its inputs' shapes and dtypes
constexpr bool gradients_fit(auto function, const auto&... specs) {
  Ir ir;
  const Graph forward = ir.create_graph(function, specs...);
  const auto info = tw::autodiff(forward);
  const auto outputs = info.graph().outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].spec() != info.outputs()[i].spec()) return false;
  return outputs.size() == sizeof...(specs);
}
constexpr TensorSpec f32(auto... extents) { return {{extents...}, tw::float32}; }
constexpr TensorSpec f16(auto... extents) { return {{extents...}, tw::float16}; }
static_assert(gradients_fit([](Tensor a, Tensor b) { return a + b; }, f32(8, 512), f32(512)));
static_assert(gradients_fit([](Tensor a, Tensor b) { return a - b; }, f32(2, 1), f32(1, 3)));
static_assert(gradients_fit([](Tensor a, Tensor b) { return a * b; }, f16(), f16(2, 3)));
static_assert(gradients_fit([](Tensor a, Tensor b) { return a / b; }, f32(4, 1, 6), f32(5, 1)));
constexpr auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
static_assert(gradients_fit(matmul, f32(8, 4), f32(4, 5)));
static_assert(gradients_fit(matmul, f32(4), f32(3, 4, 5)));
static_assert(gradients_fit(matmul, f32(6, 1, 8, 4), f32(3, 4, 5)));
static_assert(gradients_fit(matmul, f32(3, 8, 4), f32(4)));
static_assert(gradients_fit([](Tensor x) { return ops::exp(ops::log(ops::sqrt(ops::tanh(-ops::identity(x))))); }, f16(2, 3)));
static_assert(gradients_fit([](Tensor x) { return ops::relu(ops::gelu(x)); }, f16(2, 3)));
static_assert(gradients_fit([](Tensor x) { return x.reshape({3, -1}).T().flatten(); }, f32(2, 3)));
static_assert(gradients_fit([](Tensor x) { return x.transpose({1, 2, 0}); }, f32(2, 3, 4)));
static_assert(gradients_fit([](Tensor x) { return ops::expand(x, {5, 2, 3}); }, f32(2, 1)));
static_assert(gradients_fit([](Tensor x) { return ops::sum(x, {0, -1}); }, f32(2, 3, 4)));
static_assert(gradients_fit([](Tensor x) { return ops::mean(x, 1, true); }, f16(2, 3, 4)));
static_assert(gradients_fit([](Tensor x) { return ops::mean(x); }, f32(2, 3)));
static_assert(gradients_fit([](Tensor x) { return ops::softmax(x, 0); }, f32(2, 3)));
static_assert(gradients_fit([](Tensor x) { return x.cast(tw::float16); }, f32(2, 3)));
static_assert(gradients_fit([](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.a = 2, .b = -1}); }, f32(2, 3), f16(2, 3)));
static_assert(gradients_fit([](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, f32(2, 3),
                            f32(2, 3), f32(1), f16()));

// ---- gradients that modules write by hand
/// weight x + 1, with a gradient by hand.
struct ByHand : tw::Module<ByHand> {
  int calls = 0;
  constexpr Tensor build(Tensor x, Tensor labels) {
    const Tensor product = x * add_variable_input("weight", tw::ones(), {2, 2});
    aux("product", product), aux("turned", product.T()), aux("one", x.ir().constant(1)), aux("labels", labels);
    add_variable_input("counter", tw::zeros(), {}, tw::int32);
    ++calls;
    return product + 1;
  }
  constexpr Tensor build_grad(Tensor dy) {
    var_grad("weight", dy * aux("turned") * aux("one") * aux("labels").cast(tw::float32));
    return dy * aux("weight") * calls;
  }
};
constexpr Text gradient_graph_of_a_module() {
  support::Facts facts;
  Ir ir;
  const auto forward = tw::create_graph(ir, ByHand(), pair_spec, TensorSpec{{2, 2}, tw::int32}).graph;
  facts.check(forward.graph().outputs().size() == 1, "a forward graph that nobody differentiates");
  const auto backward = tw::autodiff(forward, {.method = tw::GradientMethod::build_grad});
  const auto info = backward.grad_graph_info();
  const Graph graph = forward.graph();
  const Tensor x = graph.input(0), labels = graph.input(1), weight = forward.args()["weight"];
  facts.check(graph.outputs().size() == 2, "an inner tensor, once");
  facts.check(are(info.expected_inputs(), {{FwdGrad, graph.output(0)}, {Fwd, graph.output(1)}, {Fwd, labels}, {Fwd, weight}}),
              "inputs");
  facts.check(info.outputs() == std::vector{x, weight}, "outputs");
  facts.check(tw::autodiff(forward, {.method = tw::GradientMethod::autodiff}).graph().outputs().size() == 2, "by autodiff");
  const auto second = tw::autodiff(forward, {.grads_required = std::vector{weight}, .force = true});
  facts.check(second.grad_graph_info().outputs() == std::vector{weight}, "another one, of the variable only");
  tw::autodiff_with_accumulation(forward, forward.args().filter_keys({"weight"}), {.force = true});
  facts.check(ir.tables.record(graph.id()).gradient.graph == tw::GraphId::none, "callers do not get accumulators");
  const auto named = tw::GraphWithNamedArgs::from_grad_graph(info, tw::NamedTensors::from_dict({{"dy", info.graph().input(0)}}));
  facts.check(named.graph() == info.graph() && named.grad_graph_info().outputs() == info.outputs(), "from_grad_graph");
  return facts.check(named.copy().graph() == named.graph() && named.copy().args()["dy"] == info.graph().input(0), "copy");
}
TW_SAME(gradient_graph_of_a_module(), "");

/// Calls of one graph, and a call_module.
struct CallsByHand : tw::Module<CallsByHand> {
  BOOST_HANA_DEFINE_STRUCT(CallsByHand, (ByHand, layer));
  constexpr Tensor build(Tensor x, Tensor labels) {
    const auto [factories, graph] = tw::create_graph(layer, x, labels);
    for (int i = 0; i < 2; ++i) x = graph.bind(add_variable_inputs(i, factories)).call(x, labels);
    const auto only_x = [](const tw::GraphWithNamedArgs& called) { return tw::List<Tensor>{called.graph().input(0)}; };
    x = call_module(layer, {.grads_required = only_x}, x, labels);
    return call_module(ByHand(), {.name = "by_ops", .method = tw::GradientMethod::autodiff}, x, labels);
  }
};
constexpr Text gradient_graphs_of_called_modules() {
  support::Facts facts;
  Ir ir;
  const auto forward = tw::create_graph(ir, CallsByHand(), pair_spec, TensorSpec{{2, 2}, tw::int32}).graph;
  const auto names = forward.args().keys_flat();
  facts.check(names == tw::List<Text>{"0.weight", "0.counter", "1.weight", "1.counter", "layer.weight", "layer.counter",
                                      "by_ops.weight", "by_ops.counter"},
              "variables");
  const auto info = tw::autodiff(forward).grad_graph_info();
  const tw::List<Graph> called = info.graph().called_graphs();
  facts.check(called.size() == 3 && info.graph().op_count() == 4, "one gradient graph for two calls of one graph");
  facts.check(called[0].name() == "ByHand_subgraph(3)_bwd" && called[0].op_count() == 2, "two products");
  facts.check(called[1].outputs().size() == 1 && called[2].outputs().size() == 2, "grads_required");
  facts.check(info.outputs().size() == 4, "the input, and three variables");
  return facts.check(info.all_grad_graphs().size() == 4, "all_grad_graphs");
}
TW_SAME(gradient_graphs_of_called_modules(), "");

/// A module that may be inlined: autodiff then uses its ops.
struct Inlined : tw::Module<Inlined> {
  static constexpr auto grad_inlining_error = tw::GradInlining::none;
  constexpr Tensor build(Tensor x) {
    aux("x", x);
    return ops::exp(x);
  }
  constexpr Tensor build_grad(Tensor dy) { return dy; }
};
struct Inlines : tw::Module<Inlines> {
  BOOST_HANA_DEFINE_STRUCT(Inlines, (Inlined, inlined));
  constexpr Tensor build(Tensor x) { return inlined(inlined(x)); }
};
constexpr Text inlined_gradient() {
  Ir ir;
  const auto info = tw::autodiff(tw::create_graph(ir, Inlines(), pair_spec).graph).grad_graph_info();
  return support::Facts().check(info.graph().op_count() == 2 && info.graph().called_graphs().empty(), "two products");
}
TW_SAME(inlined_gradient(), "");

// ---- errors
constexpr Text failure(auto function, const auto&... specs) {
  return support::failure([&](Ir& ir) { tw::autodiff(ir.create_graph(function, specs...)); });
}
TW_SAME(failure([](Tensor p, Tensor l) { return ops::nll_loss_with_softmax_grad(p, l).loss; }, pair_spec, labels_spec),
        "autodiff of graph_subgraph(0): NlllWithSoftmaxGradDirect.100 on (2, 2) float32 has no gradient: "
        "a differentiable op, or detach before it, expected");
TW_SAME(failure([](Tensor x) { return ops::scaled_add_(x, x); }, pair_spec),
        "autodiff of graph_subgraph(0): ScaledAddLhsInplace.100 changes its input in place: ops that do not expected");
TW_SAME(failure(
            [](Tensor x) {
              const auto step = ops::sum(x);
              return ops::adam_updater(x, x, {.time_step = step, .beta1 = 0.5, .beta2 = 0.5});
            },
            pair_spec),
        "autodiff of graph_subgraph(0): AdamUpdater.101 changes its input in place: ops that do not expected");
constexpr Text required_failure() {
  Ir ir(OnError::record);
  const Graph forward = ir.create_graph([](Tensor x, Tensor) { return ops::exp(x); }, pair_spec, pair_spec);
  tw::autodiff(forward, {.grads_required = std::vector{forward.input(1)}});
  return ir.failure();
}
TW_SAME(required_failure(),
        "autodiff of graph_subgraph(0): no gradient reaches Tensor[float32 (2, 2)]: tensors that the provided outputs "
        "depend on through differentiable ops expected in grads_required");
constexpr Text foreign_failure() {
  Ir ir(OnError::record);
  const Graph forward = ir.create_graph([](Tensor x) { return ops::exp(x); }, pair_spec);
  tw::autodiff(forward, {.grads_provided = std::vector{ir.variable(tw::ones(), {2, 2}, tw::float32, "x")}});
  return ir.failure();
}
TW_SAME(foreign_failure(),
        "autodiff of graph_subgraph(0): Tensor[x float32 (2, 2)] in grads_provided: tensors of that graph expected");
/// x exp(x), with a gradient by hand.
struct LoopedByHand : tw::Module<LoopedByHand> {
  constexpr Tensor build(Tensor x) {
    const Tensor e = ops::exp(x);
    aux("e", e);
    return e * x;
  }
  constexpr Tensor build_grad(Tensor dy) { return dy * aux("e"); }
};
constexpr Text second_gradient_of_a_loop_failure() {
  Ir ir(OnError::record);
  const Graph body = tw::create_graph(ir, LoopedByHand(), pair_spec).graph.graph();
  const Graph looped = ir.create_graph([&](Tensor x) { return tw::repeat(body, 2, {x})[0]; }, pair_spec);
  const auto info = tw::autodiff(looped);
  tw::autodiff(ir.create_graph(
      [&](Tensor x) { return tw::call(info.graph(), {x}, info.inputs_dict(tw::call_with_info(looped, x)))[0]; }, pair_spec));
  return ir.failure();
}
TW_SAME(second_gradient_of_a_loop_failure(),
        "autodiff of graph_subgraph(1): Loop.102 needs the gradient of a gradient of LoopedByHand_subgraph(0) that is not made "
        "from its ops: GradientMethod::autodiff, or calls in place of the loop, expected");

// ---- gradients of gradients in half precision
constexpr bool second_gradient_fits(auto function, tw::Shape shape = {2}) {
  Ir ir;
  const TensorSpec spec{shape, tw::float16};
  const Graph forward = ir.create_graph(function, spec);
  const auto info = tw::autodiff(forward);
  const Graph first = ir.create_graph(
      [&](Tensor x) { return tw::call(info.graph(), {x}, info.inputs_dict(tw::call_with_info(forward, x)))[0]; }, spec);
  const auto outputs = tw::autodiff(first).graph().outputs();
  return outputs.size() == 1 && outputs[0].spec() == spec;
}
static_assert(second_gradient_fits([](Tensor x) { return ops::tanh(x); }));
static_assert(second_gradient_fits([](Tensor x) { return ops::gelu(ops::softplus(x)); }));
static_assert(second_gradient_fits([](Tensor x) { return ops::sigmoid(ops::relu(x)) / ops::exp(x); }));
static_assert(second_gradient_fits([](Tensor x) { return ops::pow(ops::maximum(x, 1), x); }));
static_assert(second_gradient_fits([](Tensor x) { return ops::softmax(x) * ops::prod(x) * ops::max(x); }));
static_assert(second_gradient_fits([](Tensor x) { return x * ops::l1(x) * ops::l2(x) * ops::logsumexp(x); }));
static_assert(second_gradient_fits([](Tensor x) {
  return ops::topk(x, 2).values * ops::gather(x, x.ir().constant({1, 0}, {2}, tw::int32));
}));
static_assert(second_gradient_fits(
    [](Tensor x) {
      const Tensor one = x.ir().constant({1, 1}, {2}, tw::float16);
      return ops::layer_norm(x, one, one) * ops::group_norm(x, one, one, 2);
    },
    {3, 2}));
static_assert(second_gradient_fits([](Tensor x) { return ops::conv(x, x, {.padding = {1, 1}}); }, {1, 1, 3}));
static_assert(second_gradient_fits(
    [](Tensor x) {
      return ops::conv_transpose(ops::average_pool(x, {2}), ops::slice(x, 0, 2, {}, 2)) *
             ops::interpolate(ops::max_pool(x, {3}), {1, 1, 3});
    },
    {1, 1, 3}));
static_assert(second_gradient_fits(
    [](Tensor x) {
      const Tensor labels = x.ir().constant({1, 0}, {2}, tw::int32);
      return x * ops::cross_entropy(x, labels) * ops::nll_loss(x, labels);
    },
    {2, 2}));
static_assert(second_gradient_fits([](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.is_causal = true}); },
                                   {1, 1, 2, 2}));
