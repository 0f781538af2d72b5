// labels: none
// Graphs in Graphviz's language.
#include <tilewright/graph/dot_checkpoint.hpp>

#include "../../support/same.hpp"
#include "models.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// Variables, constants, inputs, outputs, a call, name scopes, order and a change in place.
constexpr void program(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2}), "x");
  const Tensor w = ir.variable(tw::zeros(), {2}, tw::float32, "say \"w\"");
  const tw::Graph graph = ir.create_graph(
      [](Tensor t) {
        const tw::NameScope blocks(t.ir(), "blocks"), block(t.ir(), "a\\b&c");
        return t * t.ir().constant(2);
      },
      x);
  const Tensor y = tw::call(graph, x);
  const auto ordered = tw::in_sequence(ir);
  ops::scaled_add_(w, y);
  ops::host_store(ir.d2h_stream("w", {2}), w);
}
constexpr tw::Text drawn() {
  Ir ir;
  program(ir);
  if (!(to_dot(ir.main_graph()) == to_dot(ir))) return "the main graph is drawn otherwise";
  return to_dot(ir);
}
TW_SAME(drawn(),
        R"dot(digraph {
  compound=true
  node [fontname="Helvetica" fontsize=10]
  edge [fontname="Helvetica" fontsize=8]
  subgraph cluster_0 {
    label="main graph"
    g0 [style=invis shape=point]
    g0_t1 [label="say \"w\"\n(2,) float32" shape=cylinder style=filled fillcolor=lightyellow]
    g0_op0 [label="HostLoad.100" shape=box]
    g0_op1 [label="Call.102" shape=box]
    g0_op0 -> g0_op1 [label="x_hostload\n(2,) float32"]
    g0_op2 [label="ScaledAddLhsInplace.103" shape=box]
    g0_t1 -> g0_op2 [label="(2,) float32" color=red]
    g0_op1 -> g0_op2 [label="(2,) float32"]
    g0_op3 [label="HostStore.104" shape=box]
    g0_t1 -> g0_op3 [label="(2,) float32"]
    g0_op2 -> g0_op3 [style=dotted constraint=false]
  }
  subgraph cluster_1 {
    label="graph_subgraph(0)"
    g1 [style=invis shape=point]
    g1_t0 [label="input 0\n(2,) float32" shape=invhouse style=filled fillcolor=lightblue]
    g1_t1 [label="constant\n() float32" shape=note style=filled fillcolor=lightgrey]
    g1_op0 [label="Mul.101\nblocks/a\\b&amp;c" shape=box]
    g1_t0 -> g1_op0 [label="(2,) float32"]
    g1_t1 -> g1_op0 [label="() float32"]
    g1_out0 [label="output 0" shape=house style=filled fillcolor=lightblue]
    g1_op0 -> g1_out0 [label="(2,) float32"]
  }
  g0_op1 -> g1 [lhead=cluster_1 style=dashed]
}
)dot");

constexpr int count(const tw::Text& dot, std::string_view part) {
  int found = 0;
  for (std::size_t at = dot.view().find(part); at != std::string_view::npos; at = dot.view().find(part, at + 1)) ++found;
  return found;
}

/// The graphs that a graph calls are drawn once, those that call it are not.
constexpr bool a_graph_is_drawn_with_those_it_calls() {
  Ir ir;
  const auto graph = tw::create_graph(ir, NetOutlined{}, tw::TensorSpec{{28, 28}, tw::float32}).graph;
  tw::autodiff(graph);  // two more graphs
  constexpr std::string_view cluster = "subgraph cluster_";
  return count(to_dot(graph.graph()), cluster) == 2 && count(to_dot(graph.graph().called_graphs()[0]), cluster) == 1 &&
         count(to_dot(ir), cluster) == 5;
}
static_assert(a_graph_is_drawn_with_those_it_calls());

/// Both branches of a conditional are drawn, and what it changes by reference is red.
constexpr bool both_branches_are_drawn() {
  Ir ir;
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2}), "x");
  const Tensor condition = ops::host_load(ir.h2d_stream("condition", {}, tw::boolean), "condition");
  const tw::Graph changes = ir.create_graph([](tw::TensorByRef t) { ops::scaled_add_(t, t.ir().constant({1}, {2})); }, x);
  const tw::Graph does_not = ir.create_graph([](Tensor) {}, x);
  tw::conditional(condition, {changes, {x}}, {does_not, {x}});
  const tw::Text dot = to_dot(ir.main_graph());
  return count(dot, "subgraph cluster_") == 3 && count(dot, " -> g1 [lhead=cluster_1 style=dashed label=\"true\"]") == 1 &&
         count(dot, " -> g2 [lhead=cluster_2 style=dashed label=\"false\"]") == 1 && count(dot, "color=red") == 2;
}
static_assert(both_branches_are_drawn());

constexpr bool a_remote_variable_has_its_place() {
  Ir ir;
  ir.remote_variable(tw::zeros(), ir.remote_buffer({2}, tw::float32, 3), 1, "w");
  return count(to_dot(ir), "[label=\"w\\nremote buffer 1, row 1\\n(2,) float32\" shape=cylinder") == 1;
}
static_assert(a_remote_variable_has_its_place());

/// Gradient ops are drawn in the scope of the ops that they are the gradients of; their tensors have no new names.
constexpr bool gradients_have_scopes() {
  Ir ir;
  const auto graph = tw::create_graph(ir, Net{}, tw::TensorSpec{{28, 28}, tw::float32}).graph;
  const tw::Text dot = to_dot(tw::autodiff(graph).graph());
  return count(dot, "\\nfc4\" shape=box") > 0 && count(dot, "fc4/fc4") == 0 && count(dot, "fc4/Gradient") == 0;
}
static_assert(gradients_have_scopes());

/// While a program compiles a checkpoint only checks its name.
constexpr bool checkpoint(std::string_view name) {
  Ir ir(tw::OnError::record);
  dot_checkpoint(ir, name);
  return !ir.failed();
}
static_assert(checkpoint("before fusion"));
static_assert(!checkpoint("a/b") && !checkpoint("a:b") && !checkpoint(""));

static_assert(tw::detail::is_enabled_check(nullptr, "FOO"));
static_assert(!tw::detail::is_enabled_check("", "FOO"));
static_assert(tw::detail::is_enabled_check("FOO:BAR", "FOO") && tw::detail::is_enabled_check("FOO:BAR", "BAR"));
static_assert(!tw::detail::is_enabled_check("FOO:BAR", "FO") && !tw::detail::is_enabled_check("FOO:BAR", "FOO:BAR"));
static_assert(tw::detail::is_enabled_check("ALL", "FOO"));
