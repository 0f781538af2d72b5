// labels: quick
// Modules: names of nested members, graphs made from them, factories and variables.
#include <array>

#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/module/members_of.hpp"
#include "tilewright/transform/recompute_graph.hpp"

using tw::Graph, tw::Ir, tw::NamedTensors, tw::Tensor, tw::TensorSpec, tw::Text;

constexpr TensorSpec rows{{2, 4}, tw::float32};

constexpr Text names(const auto& tree) {
  std::vector<Text> result;
  for (const auto& [name, leaf] : tree.to_dict()) result.push_back(name);
  return tw::join(result, " ");
}
template <class M> constexpr Text names_of() {
  Ir ir;
  return names(tw::create_graph(ir, M{}, rows).factories);
}

// ---- names: members, members of members, arrays, class templates
struct Block : tw::Module<Block> {
  BOOST_HANA_DEFINE_STRUCT(Block, (Linear<4>, up), (Linear<4>, down));
  constexpr Tensor build(Tensor x) { return down(up(x)); }
};
struct Tower : tw::Module<Tower> {
  BOOST_HANA_DEFINE_STRUCT(Tower, (Block, first), (Block, second));
  constexpr Tensor build(Tensor x) { return second(first(x)); }
};
TW_SAME(names_of<Tower>(),
        "first.up.weight first.up.bias first.down.weight first.down.bias "
        "second.up.weight second.up.bias second.down.weight second.down.bias");

template <int width, bool has_bias> struct Wide : tw::Module<Wide<width, has_bias>> {
  BOOST_HANA_DEFINE_STRUCT(Wide, (Linear<width, {.bias = has_bias}>, inner), (Linear<4>, outer));  // a type with a comma
  constexpr Tensor build(Tensor x) { return outer(inner(x)); }
};
TW_SAME((names_of<Wide<7, false>>()), "inner.weight outer.weight outer.bias");
TW_SAME((names_of<Wide<7, true>>()), "inner.weight inner.bias outer.weight outer.bias");

struct Stack : tw::Module<Stack> {
  using Layers = std::array<Linear<4, {.bias = false}>, 3>;
  BOOST_HANA_DEFINE_STRUCT(Stack, (Layers, layers));
  constexpr Tensor build(Tensor x) {
    for (auto& layer : layers) x = layer(x);
    return x;
  }
};
TW_SAME(names_of<Stack>(), "layers.0.weight layers.1.weight layers.2.weight");

struct StackOfBlocks : tw::Module<StackOfBlocks> {
  using Blocks = std::array<Block, 2>;
  BOOST_HANA_DEFINE_STRUCT(StackOfBlocks, (Blocks, blocks), (Linear<4>, head));
  constexpr Tensor build(Tensor x) {
    for (auto& block : blocks) x = block(x);
    return head(x);
  }
};
TW_SAME(names_of<StackOfBlocks>(),
        "blocks.0.up.weight blocks.0.up.bias blocks.0.down.weight blocks.0.down.bias "
        "blocks.1.up.weight blocks.1.up.bias blocks.1.down.weight blocks.1.down.bias "
        "head.weight head.bias");

// ---- results of create_graph: references to what the Ir keeps
static_assert([] {
  Ir ir;
  const auto& [factories, graph] = tw::create_graph(ir, Linear<4>{}, rows);
  const auto& first = factories.init("first");
  const auto& second = factories.init("second");
  return first["weight"].name() == "first.weight" && second["weight"].name() == "second.weight" && graph.args().size() == 2 &&
         tw::NamedVariableFactories().init().size() == 0;
}());
// ---- references to handles: a compiler that warns of them (GCC from version 14 on) fails the build
static_assert([] {
  Ir ir;
  const auto graph = ir.create_graph([](Tensor x) { return x + x; }, rows);
  const Tensor x = ir.variable(tw::ones(), rows.shape, rows.dtype, "x");
  const auto& info = tw::call_with_info(graph, x);
  const auto& sum = tw::ops::sum(x, {0}, true);
  const auto& gradient = tw::autodiff(graph, {.grads_provided = graph.outputs()});
  const auto& stream = ir.h2d_stream("x", {2, 4});
  const auto& buffer = ir.remote_buffer({2, 4}, tw::float32, 1);
  std::size_t count = 0;
  for (const Tensor& output : tw::call_with_info(graph, ir.constant({1}, {2, 4})).outputs()) count += output.valid();
  for (const auto& output : tw::call(graph, {x})) count += output.valid();
  for (const auto& output : tw::repeat(graph, 2, {x})) count += output.valid();
  return count == 3 && info.valid() && sum.valid() && gradient.graph().name() != "" && stream.id >= 0 && buffer.valid();
}());
// ---- outputs of a call: those that it had, without the activations of a later autodiff
static_assert([] {
  Ir ir;
  const Graph graph = ir.create_graph([](Tensor x) { return tw::ops::exp(tw::ops::exp(x)); }, rows);
  const auto outputs = tw::call(graph, ir.constant({1}, {2, 4}));
  tw::autodiff(graph);
  std::size_t visited = 0;
  for (const Tensor& output : outputs) visited += output == outputs[0];
  return graph.outputs().size() > 1 && outputs.size() == 1 && visited == 1 && Tensor(outputs).shape() == tw::Shape{2, 4};
}());

// more members than the macro takes: those of two structs, of which the names say nothing; in one struct it takes 39
using L = Linear<4, {.bias = false}>;
struct Many {
  BOOST_HANA_DEFINE_STRUCT(Many, (L, m0), (L, m1), (L, m2), (L, m3), (L, m4), (L, m5), (L, m6), (L, m7), (L, m8), (L, m9),
                           (L, m10), (L, m11), (L, m12), (L, m13), (L, m14), (L, m15), (L, m16), (L, m17), (L, m18), (L, m19),
                           (L, m20), (L, m21), (L, m22), (L, m23), (L, m24), (L, m25), (L, m26), (L, m27), (L, m28), (L, m29),
                           (L, m30), (L, m31), (L, m32), (L, m33), (L, m34), (L, m35), (L, m36), (L, m37), (L, m38));
};
struct More {
  BOOST_HANA_DEFINE_STRUCT(More, (L, m39), (Block, m40));
};
struct FortyOne : tw::Module<FortyOne>, tw::MembersOf<Many, More> {
  constexpr Tensor build(Tensor x) { return m40(m39(m38(m0(x)))); }
};
struct FromOne : tw::Module<FromOne>, tw::MembersOf<More> {
  constexpr Tensor build(Tensor x) { return m40(m39(x)); }
};
TW_SAME(names_of<FortyOne>(), "m0.weight m38.weight m39.weight m40.up.weight m40.up.bias m40.down.weight m40.down.bias");
TW_SAME(names_of<FromOne>(), "m39.weight m40.up.weight m40.up.bias m40.down.weight m40.down.bias");

struct ReversedUse : tw::Module<ReversedUse> {
  BOOST_HANA_DEFINE_STRUCT(ReversedUse, (Linear<4, {.bias = false}>, declared_first),
                           (Linear<4, {.bias = false}>, declared_second));
  constexpr Tensor build(Tensor x) { return declared_first(declared_second(x)); }
};
constexpr bool args_keep_the_order_of_use_and_factories_that_of_members() {
  Ir ir;
  const auto [facts, graph] = tw::create_graph(ir, ReversedUse{}, rows);
  return names(facts) == "declared_first.weight declared_second.weight" &&
         graph.graph().input(1) == graph.args()["declared_second.weight"];
}
static_assert(args_keep_the_order_of_use_and_factories_that_of_members());

struct NumberedOutlined : tw::Module<NumberedOutlined> {
  constexpr Tensor build(Tensor x) {
    const auto [facts, shared] = tw::create_graph(Linear<4, {.bias = false}>{}, x);
    for (int i = 0; i < 3; ++i) x = shared.bind(add_variable_inputs(i, facts)).call(x);
    return x;
  }
};
TW_SAME(names_of<NumberedOutlined>(), "0.weight 1.weight 2.weight");

// ---- inlined modules share no graph, outlined ones do; names of tensors inside
template <class M> constexpr std::size_t graph_count() {
  Ir ir;
  tw::create_graph(ir, M{}, rows);
  return ir.tables.graphs.size();
}
static_assert(graph_count<Linear<4>>() == 2 && graph_count<Tower>() == 2 && graph_count<NumberedOutlined>() == 3);

constexpr bool gradients_and_recomputations_are_one_graph_more_each() {
  Ir ir;
  const tw::GraphWithNamedArgs graph = tw::create_graph(ir, Linear<4>{}, rows).graph;
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), weight = ir.variable(tw::ones(), {4, 4}, tw::float32, "w"),
               bias = ir.variable(tw::zeros(), {4}, tw::float32, "b");
  const tw::TensorMap variables{{graph.args()["weight"], weight}, {graph.args()["bias"], bias}};
  graph.call(graph.call(x, variables), variables);
  const std::size_t called = ir.tables.graphs.size();
  const tw::GraphWithNamedArgs gradient = tw::autodiff(graph);
  const std::size_t differentiated = ir.tables.graphs.size();
  tw::recompute_graph(gradient);
  return called == 2 && differentiated == 3 && ir.tables.graphs.size() == 4;
}
static_assert(gradients_and_recomputations_are_one_graph_more_each());

constexpr bool tensors_are_named_in_the_scope_of_their_member() {
  Ir ir;
  const auto args = tw::create_graph(ir, Tower{}, rows).graph.args();
  const auto stacked = tw::create_graph(ir, StackOfBlocks{}, rows).graph.args();
  return args["second.up.weight"].name() == "second/up/weight" && stacked["blocks.1.up.bias"].name() == "blocks.1/up/bias";
}
static_assert(tensors_are_named_in_the_scope_of_their_member());

constexpr bool graphs_are_numbered_over_all_names() {
  Ir ir;
  const auto first = tw::create_graph(ir, Block{}, rows).graph.graph();
  const auto second = ir.create_graph([](Tensor x) { return x; }, rows);
  const auto third = ir.create_empty_graph();
  const auto fourth = ir.create_empty_graph("mine");
  return first.name() == "Block_subgraph(0)" && second.name() == "graph_subgraph(1)" && third.name() == "graph_subgraph(2)" &&
         fourth.name() == "mine_subgraph(3)" && ir.main_graph().name().empty();
}
static_assert(graphs_are_numbered_over_all_names());

// ---- arguments of build
struct Scaled : tw::Module<Scaled> {
  double factor = 2;
  constexpr std::pair<Tensor, Tensor> build(Tensor x, int times, std::vector<Tensor> others) {
    for (int i = 0; i < times; ++i) x = x * factor;
    for (const Tensor& other : others) x = x + other;
    return {x, others.front()};
  }
};
constexpr bool tensors_become_inputs_and_other_arguments_are_passed() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  Scaled module;
  module.factor = 3;
  const Graph graph = tw::create_graph(module, x, 2, std::vector{x, x, x}).graph.graph();
  return graph.inputs().size() == 4 && graph.outputs().size() == 2 && graph.op_count() == 5 && graph.constants().size() == 2 &&
         graph.output(1) == graph.input(1);
}
static_assert(tensors_become_inputs_and_other_arguments_are_passed());

constexpr bool argument_tensors_only_describe() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  const Graph graph = tw::create_graph(Linear<4>{}, x).graph.graph();
  return graph.input(0) != x && graph.input(0).spec() == x.spec() && ir.main_graph().op_count() == 0;
}
static_assert(argument_tensors_only_describe());

constexpr bool member_functions_create_graphs_too() {
  Ir ir;
  const auto [facts, graph] = Linear<4>().create_graph(ir, rows);
  const auto again = Linear<4>().create_graph(ir.variable(tw::ones(), {2, 4}, tw::float32, "x"));
  return names(facts) == "weight bias" && again.graph.graph().name() == "Linear_subgraph(1)";
}
static_assert(member_functions_create_graphs_too());

constexpr bool a_module_makes_many_graphs() {
  Ir ir;
  const Tower tower;
  const auto first = tw::create_graph(ir, tower, rows), second = tw::create_graph(ir, tower, TensorSpec{{5, 4}, tw::float32});
  return names(first.factories) == names(second.factories) && second.graph.graph().output(0).shape() == tw::Shape{5, 4};
}
static_assert(a_module_makes_many_graphs());

struct KeepsInput : tw::Module<KeepsInput> {
  Tensor offset;
  constexpr Tensor build(Tensor x) {
    offset = tw::graph_input(x.ir(), {4}, x.dtype(), "offset");
    return x + offset;
  }
};
constexpr bool a_module_keeps_what_build_stores() {
  Ir ir;
  KeepsInput module;
  const Graph graph = ir.create_graph(module, rows);
  return graph.input(1) == module.offset && module.offset.name() == "offset";
}
static_assert(a_module_keeps_what_build_stores());

constexpr bool both_functions_keep_it_and_leave_const_modules_alone() {
  Ir ir;
  KeepsInput module;
  const KeepsInput unchanged;
  const Graph graph = tw::create_graph(ir, module, rows).graph.graph();
  tw::create_graph(ir, unchanged, rows);
  ir.create_graph(unchanged, rows);
  return graph.input(1) == module.offset && !unchanged.offset.valid();
}
static_assert(both_functions_keep_it_and_leave_const_modules_alone());

/// A member that is a part of its module, and has a graph of its own besides.
struct InlinedAndOutlined : tw::Module<InlinedAndOutlined> {
  BOOST_HANA_DEFINE_STRUCT(InlinedAndOutlined, (Block, block));
  constexpr Tensor build(Tensor x) {
    const auto [facts, graph] = tw::create_graph(block, x);
    return block(graph.bind(add_variable_inputs("own", facts)).call(x));
  }
};
static_assert(names_of<InlinedAndOutlined>() ==
              "block.up.weight block.up.bias block.down.weight block.down.bias "
              "own.up.weight own.up.bias own.down.weight own.down.bias");

// ---- factories
constexpr bool init_makes_independent_sets_of_variables() {
  Ir ir;
  const auto facts = tw::create_graph(ir, Linear<32>{}, rows).factories;
  const NamedTensors first = facts.init(), second = facts.init("second"), third = facts.init("head");
  return first["weight"] != second["weight"] && first["weight"].name() == "weight" && second["bias"].name() == "second.bias" &&
         third["weight"].name() == "head.weight" && third["bias"].name() == "head.bias" && ir.tables.variables.size() == 6 &&
         ir.main_graph().variables().size() == 6 && first["weight"].shape() == tw::Shape{4, 32};
}
static_assert(init_makes_independent_sets_of_variables());

constexpr bool variables_are_made_in_alphabetical_order() {
  Ir ir;
  const auto variables = tw::create_graph(ir, Tower{}, rows).factories.init();
  return names(variables) ==
             "first.down.bias first.down.weight first.up.bias first.up.weight "
             "second.down.bias second.down.weight second.up.bias second.up.weight" &&
         ir.main_graph().variables().front() == variables["first.down.bias"];
}
static_assert(variables_are_made_in_alphabetical_order());

constexpr bool a_layer_can_be_initialised_alone() {
  Ir ir;
  const tw::NamedVariableFactories facts = tw::create_graph(ir, Tower{}, rows).factories;
  const auto variables = facts.subtree("first.up").init("up");
  return names(variables) == "bias weight" && variables["bias"].name() == "up.bias";
}
static_assert(a_layer_can_be_initialised_alone());

constexpr bool a_subtree_has_tensors() {
  Ir ir;
  const NamedTensors variables = tw::create_graph(ir, Tower{}, rows).factories.init();
  const NamedTensors up = variables.subtree("first").subtree("up");
  return up.named_tensors().size() == 2 &&
         up.tensors() == tw::List<Tensor>{variables["first.up.bias"], variables["first.up.weight"]};
}
static_assert(a_subtree_has_tensors());

// ---- tensors that are not variables
constexpr bool tensors_of_factories_live_in_any_graph() {
  Ir ir;
  const auto facts = tw::create_graph(ir, Linear<32>{}, rows).factories;
  NamedTensors in_graph;
  const Graph graph = ir.create_graph([&](Tensor x) { return x.matmul((in_graph = facts.init_zero("state"))["weight"]); }, rows);
  const NamedTensors undefined = facts.init_undef();
  if (in_graph.unpack().first != facts.unpack().first || undefined.unpack().first != facts.unpack().first) return false;
  return names(in_graph) == "bias weight" && in_graph["weight"].spec() == TensorSpec{{4, 32}, tw::float32} &&
         in_graph["weight"].name() == "state.weight" && in_graph["weight"].graph_id() == graph.id() &&
         undefined["bias"].name() == "bias" && ir.main_graph().variables().empty();
}
static_assert(tensors_of_factories_live_in_any_graph());

constexpr bool empty_variables_are_zeros() {
  Ir ir;
  const auto facts = tw::create_graph(ir, Linear<32>{}, rows).factories;
  facts.init("filled"), facts.init("empty", {.empty = true});
  bool has_fill[2]{};
  for (const auto& variable : ir.tables.variables) has_fill[0] |= variable.initialiser.fill != nullptr;
  Ir other;
  tw::create_graph(other, Linear<32>{}, rows).factories.init("", {.empty = true});
  for (const auto& variable : other.tables.variables)
    has_fill[1] |= variable.initialiser.fill != nullptr || variable.initialiser.values.size() != 1;
  return has_fill[0] && !has_fill[1] && other.tables.variables.size() == 2;
}
static_assert(empty_variables_are_zeros());

// ---- factories that exist already
struct FromFactories : tw::Module<FromFactories> {
  constexpr std::pair<Tensor, Tensor> build(Tensor x) {
    const tw::VariableFactory row(ir(), tw::ones(), {{4}, tw::float32});
    const auto list = from_variable_factories("rows", {row, tw::VariableFactory(ir(), tw::zeros(), {{2, 1}, tw::float32})});
    return {x * add_variable_factory("fwd.scale", row) + list[0], list[1]};
  }
};
TW_SAME(names_of<FromFactories>(), "rows.0 rows.1 fwd.scale");
constexpr bool factories_make_independent_variables() {
  Ir ir;
  const auto [facts, graph] = tw::create_graph(ir, FromFactories(), rows);
  const NamedTensors variables = facts.init();
  return variables.subtree("rows")[-1].shape() == tw::Shape{2, 1} && variables["rows.0"] != variables["fwd.scale"] &&
         graph.bind(variables).call(ir.variable(tw::ones(), {2, 4}, tw::float32, "x"))[0].shape() == tw::Shape{2, 4};
}
static_assert(factories_make_independent_variables());

/// Replaces its own input of a name: the last one counts.
struct Overwrites : tw::Module<Overwrites> {
  constexpr Tensor build(Tensor x) {
    add_variable_input("w", tw::ones(), {2});
    add_variable_factory("w", tw::VariableFactory(ir(), tw::ones(), {{3}, tw::float32}), true);
    return x + add_variable_input("w", tw::ones(), {4}, tw::float32, {.overwrite = true});
  }
};
constexpr bool the_last_input_of_a_name_counts() {
  Ir ir;
  const auto [facts, graph] = tw::create_graph(ir, Overwrites(), rows);
  return names(facts) == "w" && facts["w"].spec().shape == tw::Shape{4} && graph.args()["w"].shape() == tw::Shape{4};
}
static_assert(the_last_input_of_a_name_counts());

// ---- one element of an initialiser for each variable
constexpr Text in_turn() {
  Ir ir(tw::OnError::record);
  support::Facts facts;
  const tw::VariableFactory pairs(ir, tw::in_turn(tw::values({1, 2, 3, 4, 5, 6})), {{2}, tw::float32}), copy = pairs;
  pairs.create_tensor("a");
  copy.create_tensor("b");
  pairs.create_tensor("empty", {.empty = true});
  const auto first = [&](std::size_t v) { return ir.tables.variables[v].initialiser.values[0]; };
  facts.check(first(0) == 1 && first(1) == 3 && first(2) == 0, "copies take turns together, and empty variables take none");
  facts.check(ir.tables.variables[1].initialiser.values.size() == 2, "two values each");
  const tw::VariableFactory large(ir, tw::in_turn(tw::values(std::array{std::int64_t{1}, (std::int64_t{1} << 60) + 1})),
                                  {{}, tw::int64});
  large.create_tensor("c");
  large.create_tensor("d");
  const tw::Numbers exact = ir.tables.variables[4].initialiser.values;
  facts.check(exact.size() == 1 && exact.list()[0] == 0x1p60 && exact.list()[1] == 1, "integers of 64 bits are exact");
  pairs.create_tensor("e");
  facts.check(!ir.failed(), "six values are for three variables");
  pairs.create_tensor("f");
  return tw::text(Text(facts), ir.failure());
}
TW_SAME(in_turn(), "in_turn: 'f' after 3 of 3 tensors: 1 more expected");
constexpr Text no_whole_tensors() {
  Ir ir(tw::OnError::record);
  const tw::VariableFactory pairs(ir, tw::in_turn(tw::values({1, 2, 3})), {{2}, tw::float32});
  return ir.failure();
}
TW_SAME(no_whole_tensors(), "in_turn: 3 values for tensors of shape (2,): a multiple of 2 expected");
