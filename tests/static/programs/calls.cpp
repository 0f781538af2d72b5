// labels: quick
// Calls of graphs: inputs by position, by name and bound; call sites.
#include <array>
#include <ranges>
#include <span>

#include "../../support/same.hpp"
#include "models.hpp"

using tw::Graph, tw::Ir, tw::NamedTensors, tw::OnError, tw::Tensor, tw::TensorMap, tw::TensorSpec, tw::Text;

constexpr TensorSpec rows{{2, 4}, tw::float32};

/// A linear layer's graph, two sets of variables for it, and an input for it, in the main graph.
struct Setting {
  Ir ir;
  tw::GraphWithNamedArgs linear;
  NamedTensors variables, variables2;
  Tensor x;
  constexpr explicit Setting(OnError on_error = OnError::raise) : ir(on_error), linear(ir.main_graph()) {
    const auto [facts, graph] = tw::create_graph(ir, Linear<32>{}, rows);
    linear = graph;
    variables = facts.init();
    variables2 = facts.init("second");
    x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  }
  constexpr Graph graph() const { return linear.graph(); }
  constexpr std::vector<Tensor> inputs(const NamedTensors& set) const { return {x, set["weight"], set["bias"]}; }
};

// ---- calling
constexpr bool an_unbound_graph_takes_all_tensors_by_position() {
  Setting s;
  const auto info = s.linear.call_with_info(s.x, s.variables["weight"], s.variables["bias"]);
  return info.inputs() == s.inputs(s.variables) && info.output(0).shape() == tw::Shape{2, 32};
}
static_assert(an_unbound_graph_takes_all_tensors_by_position());

constexpr bool or_by_its_own_tensors() {
  Setting s;
  const auto info = s.linear.call_with_info(s.x, s.linear.args().to_mapping(s.variables2));
  const auto same = tw::call_with_info(
      s.graph(), s.x, TensorMap{{s.graph().input(2), s.variables2["bias"]}, {s.graph().input(1), s.variables2["weight"]}});
  return info.inputs() == s.inputs(s.variables2) && same.inputs() == info.inputs();
}
static_assert(or_by_its_own_tensors());

constexpr bool a_bound_graph_takes_the_others() {
  Setting s;
  return s.linear.bind(s.variables).call_with_info(s.x).inputs() == s.inputs(s.variables);
}
static_assert(a_bound_graph_takes_the_others());

constexpr bool several_bound_graphs_share_one_graph() {
  Setting s;
  const auto first = s.linear.bind(s.variables), second = s.linear.bind(s.variables2);
  const auto a = first.call_with_info(s.x), b = second.call_with_info(s.x);
  return a.called_graph() == b.called_graph() && a.inputs() == s.inputs(s.variables) && b.inputs() == s.inputs(s.variables2) &&
         s.ir.tables.graphs.size() == 2 && s.ir.main_graph().called_graphs() == std::vector{s.graph()};
}
static_assert(several_bound_graphs_share_one_graph());

constexpr bool a_bound_graph_maps_inputs_and_outputs() {
  Setting s;
  const Tensor y = s.ir.variable(tw::zeros(), {2, 32}, tw::float32, "y");
  const auto map = s.linear.bind(s.variables).subgraph_io_map({s.x}, {}, {y});
  return map.size() == 4 && map[s.graph().input(0)] == s.x && map[s.linear.args()["bias"]] == s.variables["bias"] &&
         map[s.graph().output(0)] == y;
}
static_assert(a_bound_graph_maps_inputs_and_outputs());

constexpr bool a_partly_bound_graph_takes_the_rest_in_order() {
  Setting s;
  const auto bound = s.linear.bind(NamedTensors::from_dict({{"weight", s.variables["weight"]}, {"unknown", s.x}}));
  return bound.call_with_info(s.x, s.variables2["bias"]).inputs() ==
         std::vector{s.x, s.variables["weight"], s.variables2["bias"]};
}
static_assert(a_partly_bound_graph_takes_the_rest_in_order());

constexpr bool later_bindings_win() {
  Setting s;
  const auto bound = s.linear.bind(s.variables).bind(s.linear.args().to_mapping(s.variables2));
  return bound.call_with_info(s.x).inputs() == s.inputs(s.variables2);
}
static_assert(later_bindings_win());

constexpr bool one_tensor_may_stand_for_several_inputs() {
  Ir ir;
  const Graph product = ir.create_graph([](Tensor a, Tensor b) { return a * b; }, rows, rows);
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  const auto info = tw::call_with_info(product, {x, x});
  return info.inputs() == std::vector{x, x} && info.parent_to_graph(x) == product.input(0) &&
         info.graph_to_parent(product.input(1)) == x;
}
static_assert(one_tensor_may_stand_for_several_inputs());

constexpr Text lists_of_tensors() {
  support::Facts facts;
  Setting s;
  const tw::List<Tensor> list{s.x, s.variables["weight"], s.variables["bias"]};
  const std::array two{list[0], list[1]};
  const std::vector<Tensor> vector{list[1], list[2]};
  const auto expected = s.inputs(s.variables);
  const auto inputs_of = [&](auto... inputs) { return tw::call_with_info(s.graph(), inputs...).inputs(); };
  facts.check(inputs_of(list) == expected && inputs_of(std::span(list.data(), 3)) == expected, "List and span");
  facts.check(inputs_of(two, TensorMap{{s.graph().input(2), list[2]}}) == expected, "array and map");
  facts.check(inputs_of(list | std::views::transform([](Tensor t) { return t; })) == expected, "view");
  facts.check(tw::call_with_info(s.graph(), {s.x, vector}).inputs() == expected, "a tensor and a vector");
  facts.check(tw::call_with_info(s.graph(), {two, list[2]}).inputs() == expected, "an array and a tensor");
  facts.check(tw::call_with_info(s.graph(), {tw::List<Tensor>(), list}).inputs() == expected, "an empty list");
  facts.check(tw::call_with_info(s.graph(), {list}).inputs() == expected, "a list in braces");
  facts.check(tw::call_with_info(s.graph(), {list.data(), list.size()}).inputs() == expected, "a span in braces");
  facts.check(tw::call(s.graph(), {list}).size() == 1, "call of a list in braces");
  facts.check(tw::call(s.graph(), list)[0].shape() == tw::Shape{2, 32}, "call of a list");
  facts.check(tw::call(s.graph(), {s.x, vector})[0].shape() == tw::Shape{2, 32}, "call of both");
  const Graph both = s.ir.create_graph([](Tensor a, Tensor b) { return std::pair(b, a); }, rows, rows);
  const auto turned = tw::call(both, {s.x, s.x});
  facts.check(tw::call_with_info(both, turned).inputs() == tw::List<Tensor>{turned[0], turned[1]}, "outputs of a call");
  return facts.check(tw::call_with_info(both, {turned.as<2>()}).inputs() == tw::List<Tensor>{turned[0], turned[1]}, "as<2>");
}
TW_SAME(lists_of_tensors(), "");

constexpr Text lists_and_numbers() {
  support::Facts facts;
  Ir ir;
  const TensorSpec number{{}, tw::int32};
  const Graph graph = ir.create_graph([](Tensor a, Tensor b, Tensor n) { return std::pair(a + b, b * n.cast(tw::float32)); },
                                      rows, rows, number);
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), y = ir.variable(tw::ones(), {2, 4}, tw::float32, "y");
  const std::array list{x, y};
  const auto called = tw::call_with_info(graph, {list, 3}), repeated = tw::repeat_with_info(graph, 4, {list, 3});
  facts.check(called.parent_input(1) == y && called.parent_input(2).dtype() == tw::int32, "call");
  facts.check(repeated.parent_input(1) == y && repeated.parent_input(2).kind() == tw::TensorKind::constant, "repeat");
  const Tensor n = repeated.parent_input(2);
  facts.check(tw::repeat_with_info(graph, 4, tw::List<Tensor>{x, y, n}).inputs() == repeated.inputs(), "repeat of a list");
  facts.check(tw::repeat(graph, 2, {x, std::vector{y, n}}).size() == 2, "repeat of both");
  facts.check(tw::repeat(graph, 2, std::array{x, y}, {{graph.input(2), n}}).size() == 2, "repeat of a list and a map");
  const tw::BoundGraph bound(graph, {{graph.input(2), n}});
  facts.check(tw::repeat_with_info(bound, 4, list).inputs() == repeated.inputs(), "repeat of a bound graph");
  const Tensor condition = ir.constant(1, tw::boolean);
  const auto either = tw::conditional_with_info(condition, {graph, {list, n}}, {graph, tw::List<Tensor>{y, x, n}});
  return facts.check(either.inputs() == tw::List<Tensor>{condition, x, y, n, y, x, n}, "branches");
}
TW_SAME(lists_and_numbers(), "");

constexpr bool outputs_are_one_tensor_or_several() {
  Ir ir;
  const Graph both = ir.create_graph([](Tensor a) { return std::pair(a + 1, a * 2); }, rows);
  const Graph none = ir.create_graph([](Tensor) {}, rows);
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  const auto outputs = tw::call(both, x);
  const auto [sum, product] = outputs.as<2>();
  return outputs.size() == 2 && outputs[0] == sum && outputs[1] == product && tw::call(none, x).size() == 0;
}
static_assert(outputs_are_one_tensor_or_several());

constexpr bool graphs_call_graphs() {
  Ir ir;
  const Graph inner = ir.create_graph([](Tensor a) { return a + 1; }, rows);
  const Graph outer = ir.create_graph([&](Tensor a) -> Tensor { return tw::call(inner, tw::call(inner, a)); }, rows);
  return outer.called_graphs() == std::vector{inner} && outer.op_count() == 2 && inner.op_count() == 1;
}
static_assert(graphs_call_graphs());

// ---- call sites
constexpr bool call_sites_map_between_graph_and_parent() {
  Setting s;
  const auto info = s.linear.bind(s.variables).call_with_info(s.x);
  const Graph graph = info.called_graph();
  return graph == s.graph() && info.graph_to_parent(graph.input(0)) == s.x &&
         info.graph_to_parent(s.linear.args()["bias"]) == s.variables["bias"] &&
         info.graph_to_parent(graph.output(0)) == info.parent_output(0) &&
         info.parent_to_graph(s.variables["weight"]) == graph.input(1) && info.parent_input(2) == s.variables["bias"] &&
         info.output(0) == info.outputs()[0];
}
static_assert(call_sites_map_between_graph_and_parent());

constexpr bool graphs_know_their_tensors() {
  Setting s;
  const Graph graph = s.graph();
  return graph.contains(graph.input(0)) && !graph.contains(s.x) && graph.tensors().size() == 5 && graph.variables().empty() &&
         s.ir.main_graph().variables().size() == 5;
}
static_assert(graphs_know_their_tensors());

constexpr bool equality_is_identity() {
  Ir ir, other;
  const Tensor a = ir.constant(1.0), b = ir.constant(1.0), copy = a;
  return a == copy && a != b && a != other.constant(1.0) && ir.main_graph() == ir.main_graph() &&
         ir.main_graph() != other.main_graph();
}
static_assert(equality_is_identity());

// ---- errors
template <class Use> constexpr Text failure(Use use) {
  Setting s(OnError::record);
  use(s);
  return s.ir.failure();
}
TW_SAME(failure([](Setting& s) { s.linear.call(s.x); }),
        "call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 32)], is missing: all 3 inputs must be given or bound");
TW_SAME(failure([](Setting& s) { s.linear.bind({}).call(s.x); }),
        "call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 32)], is missing: all 3 inputs must be given or bound");
TW_SAME(failure([](Setting& s) { s.linear.bind(s.variables).call(s.x, s.x); }),
        "call of Linear_subgraph(0): 2 tensors for 1 unbound inputs: one for each expected");
TW_SAME(failure([](Setting& s) { s.linear.call(s.x, s.x, s.x, s.x); }),
        "call of Linear_subgraph(0): 4 positional inputs: at most 3 expected");
TW_SAME(failure([](Setting& s) { s.linear.call(s.x, TensorMap{{s.graph().input(0), s.x}}); }),
        "call of Linear_subgraph(0): input Tensor[float32 (2, 4)] is given twice: once expected");
TW_SAME(failure([](Setting& s) { s.linear.call(s.x, TensorMap{{s.x, s.x}}); }),
        "call of Linear_subgraph(0): Tensor[x float32 (2, 4)] is not one of its inputs: an input of Linear_subgraph(0) expected");
TW_SAME(failure([](Setting& s) { s.linear.bind(s.variables).call(s.variables["bias"]); }),
        "call of Linear_subgraph(0): (32,) float32 for input 0, Tensor[float32 (2, 4)]: (2, 4) float32 expected");
TW_SAME(failure([](Setting& s) { s.linear.bind(s.variables).call_with_info(s.x).graph_to_parent(s.x); }),
        "graph_to_parent: Tensor[x float32 (2, 4)]: an input or output of Linear_subgraph(0) expected");
TW_SAME(failure([](Setting& s) { s.linear.bind(s.variables).call_with_info(s.x).parent_to_graph(s.variables2["bias"]); }),
        "parent_to_graph: Tensor[second.bias float32 (32,)]: an input of this call of Linear_subgraph(0) expected");
TW_SAME(
    failure([](Setting& s) { s.linear.bind(s.variables).call_with_info(s.x).output(1); }),
    "parent_output: index 1 of a call of Linear_subgraph(0), which has 1 outputs: an index of at least 0 and below 1 expected");
TW_SAME(failure([](Setting& s) { s.linear.bind(s.variables).subgraph_io_map({s.x}, {}, {s.x}); }),
        "subgraph_io_map of Linear_subgraph(0): Tensor[x float32 (2, 4)] for output 0 of 1: one of its shape and dtype expected");
