// labels: none
// What users are told when a model is wrong: op, what was given, what was expected, and where in the model.
#include <limits>
#include <string>

#include "../../catch.hpp"
#include "../../static/programs/models.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor, tw::TensorSpec;
namespace ops = tw::ops;

constexpr TensorSpec rows{{2, 4}, tw::float32};

/// The message of the TraceError that a trace throws.
template <class Trace> std::string error_of(Trace trace) {
  Ir ir;
  try {
    trace(ir);
  } catch (const tw::TraceError& error) {
    return error.what();
  }
  return "no TraceError";
}
/// A module that builds with the given function: its errors are "in Model".
template <class Build> struct Model : tw::Module<Model<Build>> {
  Build build_with;
  constexpr explicit Model(Build build) : build_with(build) {}
  constexpr auto build(Tensor x) { return build_with(*this, x); }
};
template <class Build> std::string model_error(Build build, const TensorSpec& spec = rows) {
  return error_of([&](Ir& ir) { tw::create_graph(ir, Model<Build>(build), spec); });
}

struct Inner : tw::Module<Inner> {
  BOOST_HANA_DEFINE_STRUCT(Inner, (Linear<4>, fc));
  Tensor build(Tensor x) { return ops::matmul(fc(x), x); }
};
struct Outer : tw::Module<Outer> {
  using Inners = std::array<Inner, 2>;
  BOOST_HANA_DEFINE_STRUCT(Outer, (Inners, layers), (Linear<4>, head));
  Tensor build(Tensor x) { return head(layers[1](x)); }
};
struct Unnamed : tw::Module<Unnamed> {
  Linear<4> fc;  // not named by the macro
  Tensor build(Tensor x) { return fc(x); }
};

}  // namespace

TEST_CASE("errors of ops name the op, its operands and the module") {
  CHECK(model_error([](auto&, Tensor x) { return x.matmul(x); }) ==
        "MatMul: (2, 4) x (2, 4): inner dimensions 4 and 2 differ, in Model");
  CHECK(model_error([](auto&, Tensor x) { return x.reshape({3, -1}); }) ==
        "Reshape: (2, 4) float32 to (3, -1): a shape of 8 elements expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return x + x.cast(tw::float16); }) ==
        "Add: (2, 4) float32 and (2, 4) float16: equal dtypes expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return x * ops::sum(x, 0).reshape({2, 2}); }) ==
        "Mul: (2, 4) and (2, 2): shapes that broadcast expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return ops::tanh(x.cast(tw::int32)); }) ==
        "Tanh: (2, 4) int32: float16, float32, float64 or bfloat16 expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return ops::softmax(x, 2); }) ==
        "Softmax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return x * static_cast<double>(x.shape(2)); }) ==
        "shape: axis 2 of (2, 4): an axis from -2 to 1 expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return ops::cross_entropy(x, x); }) ==
        "CrossEntropy: labels (2, 4) float32 for logits (2, 4) float32: (2,) int32 or uint32 expected, in Model");
}

TEST_CASE("errors name the whole way to the module") {
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Outer{}, TensorSpec{{3, 5}, tw::float32}); }) ==
        "MatMul: (3, 4) x (3, 5): inner dimensions 4 and 3 differ, in Outer/layers.1");
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Net{}, TensorSpec{{5, 5}, tw::float32}); }) ==
        "Reshape: (5, 5) float32 to (-1, 784): a shape of 25 elements expected, in Net");
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Linear<4>{}, TensorSpec{}); }) ==
        "shape: axis -1 of (): an axis from 0 to -1 expected, in Linear");
}

TEST_CASE("errors of modules and names") {
  CHECK(model_error([](auto& module, Tensor x) {
          module.add_variable_input("w", tw::zeros(), {4});
          return x + module.add_variable_input("w", tw::zeros(), {4});
        }) == "DotTree: 'w' exists already: a new name, or overwrite, expected, in Model");
  CHECK(model_error([](auto& module, Tensor x) { return x + module.add_variable_input("my weight", tw::zeros(), {4}); }) ==
        "DotTree: 'my weight': identifiers or numbers, joined by dots, expected, in Model");
  CHECK(model_error([](auto& module, Tensor x) {
          module.add_variable_input("w", tw::zeros(), {4});
          return x + module.add_variable_input("w.x", tw::zeros(), {4});
        }) == "DotTree: 'w.x': 'w' is a leaf: a subtree expected, in Model");
  CHECK(model_error([](auto& module, Tensor x) { return x + module.ir().variable(tw::zeros(), {4}, tw::float32, "w"); }) ==
        "variable: 'w' in graph Model_subgraph(0): variables live in the main graph only, in Model");
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Unnamed{}, rows); }) ==
        "Module: Linear used outside of create_graph: a member named by BOOST_HANA_DEFINE_STRUCT, or create_graph, expected, in "
        "Unnamed");
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Linear<4>{}, rows).factories.init()["wieght"]; }) ==
        "DotTree: no leaf 'wieght': one of bias, weight expected");
  CHECK(error_of([](Ir& ir) { tw::create_graph(ir, Linear<4>{}, rows).factories.init().subtree("fc9"); }) ==
        "DotTree: no subtree 'fc9' in the tree of bias, weight: the part before a dot in one of its names expected");
}

TEST_CASE("a graph with named inputs is called like a graph") {
  Ir ir;
  const auto [facts, graph] = tw::create_graph(ir, Linear<4>{}, rows);
  const tw::NamedTensors variables = facts.init();
  const Tensor weight = variables["weight"], bias = variables["bias"];
  const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  CHECK(tw::repeat(graph, 3, {x, weight, bias})[0].spec() == rows);
  CHECK(tw::repeat(graph, 3, x, {{graph.args()["weight"], weight}, {graph.args()["bias"], bias}})[0].spec() == rows);
  const Tensor condition = ir.constant(1, tw::boolean);
  CHECK(tw::conditional(condition, {graph, {x, weight, bias}}, {graph, {x, weight, bias}})[0].spec() == rows);
  CHECK(graph.graph().called_graphs().empty());
  CHECK(ir.main_graph().called_graphs() == tw::List<Graph>{graph.graph()});
}

TEST_CASE("errors of calls") {
  const auto error = [](auto use) {
    return error_of([&](Ir& ir) {
      const auto [facts, graph] = tw::create_graph(ir, Linear<4>{}, rows);
      use(graph, facts.init(), ir.variable(tw::ones(), {2, 4}, tw::float32, "x"));
    });
  };
  CHECK(error([](auto& graph, auto, Tensor x) { graph.call(x); }) ==
        "call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 4)], is missing: all 3 inputs must be given or bound");
  CHECK(error([](auto& graph, auto variables, Tensor) { graph.bind(variables).call(); }) ==
        "call of Linear_subgraph(0): input 0, Tensor[float32 (2, 4)], is missing: all 3 inputs must be given or bound");
  CHECK(error([](auto& graph, auto variables, Tensor x) { graph.bind(variables).call(x, x); }) ==
        "call of Linear_subgraph(0): 2 tensors for 1 unbound inputs: one for each expected");
  CHECK(error([](auto& graph, auto variables, Tensor) { graph.bind(variables).call(variables["bias"]); }) ==
        "call of Linear_subgraph(0): (4,) float32 for input 0, Tensor[float32 (2, 4)]: (2, 4) float32 expected");
  CHECK(error([](auto& graph, auto variables, Tensor x) { graph.bind(variables).call(x.cast(tw::float16)); }) ==
        "call of Linear_subgraph(0): (2, 4) float16 for input 0, Tensor[float32 (2, 4)]: (2, 4) float32 expected");
  CHECK(error([](auto& graph, auto variables, Tensor x) {
          const auto grads = graph.bind(variables).call(x);
          [[maybe_unused]] const auto [a, b] = grads.template as<2>();
        }) == "call: output 1 of 1: an index below 1 expected");
  CHECK(error([](auto& graph, auto, Tensor) { graph.grad_graph_info(); }) ==
        "grad_graph_info of Linear_subgraph(0): a graph made by autodiff expected");
}

TEST_CASE("errors of recursion") {
  const auto error = [](auto make_cycle) {
    return error_of([&](Ir& ir) {
      const auto make = [&](const char* name) {
        const Graph graph = ir.create_empty_graph(name);
        const tw::GraphScope scope(graph);
        tw::graph_output(tw::graph_input(ir, {2}));
        return graph;
      };
      const auto call = [](Graph caller, Graph called) {
        const tw::GraphScope scope(caller);
        tw::call(called, caller.input(0));
      };
      const Graph a = make("a"), b = make("b"), c = make("c");
      make_cycle(call, a, b, c);
    });
  };
  CHECK(error([](auto call, Graph a, Graph, Graph) { call(a, a); }) ==
        "call of a_subgraph(0): from itself: a call without recursion expected");
  CHECK(error([](auto call, Graph a, Graph b, Graph) { call(a, b), call(b, a); }) ==
        "call of a_subgraph(0): from b_subgraph(1), which a_subgraph(0) calls: a call without recursion expected");
  CHECK(error([](auto call, Graph a, Graph b, Graph c) { call(b, c), call(a, b), call(c, a); }) ==
        "call of a_subgraph(0): from c_subgraph(2), which a_subgraph(0) calls: a call without recursion expected");
  CHECK(error([](auto call, Graph a, Graph b, Graph c) { call(a, b), call(a, c), call(b, c), call(a, c); }) == "no TraceError");
}

TEST_CASE("errors of tensors in the wrong place") {
  CHECK(error_of([](Ir& ir) {
          const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
          ir.create_graph([&](Tensor y) { return ops::exp(x) + y; }, rows);
        }) ==
        "Exp: input 0, Tensor[x float32 (2, 4)], of the main graph: a tensor of graph 'graph_subgraph(0)', which is being built, "
        "expected, in graph");
  CHECK(error_of([](Ir& ir) {
          const Graph graph = ir.create_graph([&](Tensor y) { return y; }, rows);
          ops::exp(graph.output(0));
        }) ==
        "Exp: input 0, Tensor[float32 (2, 4)], of graph 'graph_subgraph(0)': a tensor of the main graph, which is being built, "
        "expected");
  CHECK(error_of([](Ir& ir) {
          Ir other;
          ir.constant(1.0) + other.constant(2.0);
        }) == "Add: input 1, Tensor[float32 ()], of another Ir: a tensor of the main graph, which is being built, expected");
  CHECK(error_of([](Ir& ir) {
          Ir other;
          ops::host_store(ir.d2h_stream("y", tw::Shape{}), other.constant(2.0));
        }) ==
        "HostStore: input 0, Tensor[float32 ()], of another Ir: a tensor of the main graph, which is being built, expected");
  CHECK(error_of([](Ir& ir) {
          const Graph graph = ir.create_graph([&](Tensor y) { return y; }, rows);
          tw::graph_output(graph.input(0));
        }) == "graph_output: Tensor[float32 (2, 4)]: a tensor of the current graph expected");
  CHECK(error_of([](Ir& ir) { ops::scaled_add_(ir.constant(1.0), ir.constant(2.0)); }) ==
        "ScaledAddLhsInplace: Tensor[float32 ()] is a constant: a tensor that may change in place expected");
}

TEST_CASE("errors of streams, variables and constants") {
  CHECK(error_of([](Ir& ir) { ir.h2d_stream("x", {2}), ir.h2d_stream("x", {3}); }) ==
        "stream: 'x' exists already: stream names are unique");
  CHECK(error_of([](Ir& ir) { ops::host_store(ir.d2h_stream("y", {2}), ir.constant(1.0)); }) ==
        "HostStore: () float32 for stream 'y': (2,) float32 expected");
  CHECK(error_of([](Ir& ir) { ir.variable(tw::values({1, 2}), {3}, tw::float32, "v"); }) ==
        "variable: 2 values for 'v' of shape (3,): 3 expected");
  CHECK(error_of([](Ir& ir) { ir.constant({1, 2}, {3}); }) == "constant: 2 values for shape (3,): 3 expected");
}

TEST_CASE("errors of autodiff") {
  const auto error = [](auto function, auto options) {
    return error_of([&](Ir& ir) {
      const Graph graph = ir.create_graph(function, rows, TensorSpec{{2}, tw::int32});
      tw::autodiff(graph, options(graph));
    });
  };
  const auto defaults = [](Graph) { return tw::AutodiffOptions{}; };
  CHECK(error([](Tensor p, Tensor labels) { return ops::nll_loss_with_softmax_grad(p, labels).loss; }, defaults) ==
        "autodiff of graph_subgraph(0): NlllWithSoftmaxGradDirect.100 on (2, 4) float32 has no gradient: "
        "a differentiable op, or detach before it, expected");
  CHECK(error([](Tensor x, Tensor) { return ops::scaled_add_(x, x); }, defaults) ==
        "autodiff of graph_subgraph(0): ScaledAddLhsInplace.100 changes its input in place: ops that do not expected");
  CHECK(error([](Tensor x, Tensor) { return x; },
              [](Graph graph) { return tw::AutodiffOptions{.grads_required = std::vector{graph.input(1)}}; }) ==
        "autodiff of graph_subgraph(0): no gradient reaches Tensor[int32 (2,)]: tensors that the provided outputs depend on "
        "through differentiable ops expected in grads_required");
  CHECK(error_of([](Ir& ir) {
          const auto [facts, graph] = tw::create_graph(ir, Linear<4>{}, rows);
          const auto variables = facts.init();
          const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
          const auto call = graph.bind(variables).call_with_info(x);
          const auto info = tw::autodiff(graph).grad_graph_info();
          info.inputs_dict(tw::call_with_info(info.graph(), x, info.inputs_dict(call)));
        }) == "inputs_dict: a call of Linear_subgraph(0)_bwd: a call of Linear_subgraph(0) expected");
  CHECK(error_of([](Ir& ir) {
          const Tensor x = ir.constant(1.0);
          tw::TensorMap()[x];
        }) == "TensorMap: Tensor[float32 ()]: a tensor with an entry in the map expected");
  CHECK(error_of([](Ir& ir) {
          const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), y = ir.variable(tw::ones(), {}, tw::float32, "y");
          const Graph graph = ir.create_graph([](Tensor t) { return t + t; }, rows);
          const auto call = tw::call_with_info(graph, x);
          const auto info = tw::autodiff(graph);
          const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, tw::call_with_info(info.graph(), x));
          CHECK(gradients[x].spec() == rows);
          gradients[y];
        }) ==
        "gradients: none of Tensor[y float32 ()]: a tensor that the forward call reads, and that a gradient reaches, expected");
}

TEST_CASE("DotTree: errors without an Ir are std::out_of_range") {
  using Numbers = tw::DotTree<int>;
  const auto numbers = Numbers::from_dict({{"a", 1}, {"b.c", 2}});
  CHECK_THROWS_WITH(numbers["b.d"], "DotTree: no leaf 'b.d': one of a, b.c expected");
  CHECK_THROWS_AS(numbers["b"], std::out_of_range);
  CHECK_THROWS_AS(Numbers::pack({"a", "b"}, {1}), std::out_of_range);
  for (const char* name : {".a", "a.", "b..c", "", "-1", "b.-1"}) {
    INFO(name);
    CHECK_THROWS_WITH(Numbers().insert(name, 3),
                      "DotTree: '" + std::string(name) + "': identifiers or numbers, joined by dots, expected");
  }
  CHECK_THROWS_WITH(Numbers(numbers).insert("a.b", 3), Catch::Contains("'a'"));  // below a leaf
}

TEST_CASE("an Ir that records errors keeps the first and goes on") {
  Ir ir(tw::OnError::record);
  const auto graph = tw::create_graph(ir, Outer{}, TensorSpec{{3, 5}, tw::float32}).graph;
  tw::autodiff(graph);
  CHECK(ir.failure() == "MatMul: (3, 4) x (3, 5): inner dimensions 4 and 3 differ, in Outer/layers.1");
}

TEST_CASE("extents and counts must be positive") {
  CHECK(error_of([](Ir& ir) { ir.h2d_stream("x", {2, 0}); }) == "stream: 'x' of shape (2, 0): extents above 0 expected");
  CHECK(error_of([](Ir& ir) { ir.variable(tw::zeros(), {-1}, tw::float32, "w"); }) ==
        "variable: 'w' of shape (-1,): extents above 0 expected");
  CHECK(error_of([](Ir& ir) { tw::graph_input(ir, {0}, tw::float32, "x"); }) ==
        "graph input: 'x' of shape (0,): extents above 0 expected");
  CHECK(error_of([](Ir& ir) { ir.set_num_host_transfers(0); }) == "num_host_transfers: 0: at least 1 expected");
  CHECK(error_of([](Ir& ir) { ir.constant({1.0}, {-3, 4}); }) == "constant: shape (-3, 4): extents above 0 expected");
  CHECK(error_of([](Ir& ir) { ir.constant({1.0}, {0, 4}); }) == "constant: shape (0, 4): extents above 0 expected");
  CHECK(error_of([](Ir& ir) { ir.constant({1.0}, {0}, tw::int32, "table"); }) ==
        "constant: 'table' of shape (0,): extents above 0 expected");
}

TEST_CASE("tensors that no machine can hold are errors where they enter a program") {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  const std::string expected = "a tensor of at most 2^47 bytes expected";
  CHECK(error_of([](Ir& ir) { ir.variable(tw::zeros(), {std::int64_t{1} << 62}, tw::float32, "w"); }) ==
        "variable: 'w' of (4611686018427387904,) float32: " + expected);
  CHECK(error_of([](Ir& ir) { ir.variable(tw::zeros(), {large, large, 1 << 16}, tw::int8, "w"); }) ==
        "variable: 'w' of (1099511627776, 1099511627776, 65536) int8: " + expected);
  CHECK(error_of([](Ir& ir) { ir.constant({0}, {large, large}); }) ==
        "constant: (1099511627776, 1099511627776) float32: " + expected);
  CHECK(error_of([](Ir& ir) { ir.h2d_stream("x", {128 * large}); }) == "stream: 'x' of (140737488355328,) float32: " + expected);
  CHECK(error_of([](Ir& ir) { ir.h2d_stream("x", {128 * large}, tw::int8); }) == "no TraceError");  // 2^47 bytes
  CHECK(error_of([](Ir& ir) { tw::graph_input(ir, {large, large}); }) ==
        "graph input: (1099511627776, 1099511627776) float32: " + expected);
  CHECK(error_of([](Ir& ir) { ir.remote_buffer({large, large}); }) ==
        "remote_buffer: '1' of (1099511627776, 1099511627776) float32: " + expected);
  CHECK(error_of([](Ir& ir) { ir.remote_buffer({large}, tw::float32, large); }) ==
        "remote_buffer: 1099511627776 entries of (1099511627776,) float32: at most 2^47 bytes expected");
  CHECK(error_of([](Ir& ir) { ir.remote_buffer({large}).set_entries(64); }) ==
        "remote_buffer: 64 entries for remote buffer 1 with 1 rows of (1099511627776,) float32: at most 2^47 bytes expected");
  CHECK(error_of([](Ir& ir) {
          ir.set_replication_factor(2);
          ir.replica_sharded_variable(tw::zeros(), {large, large}, tw::float32, "w");
        }) == "replica_sharded_variable: 'w' of (1099511627776, 1099511627776) float32: " + expected);
  CHECK(model_error([](auto&, Tensor x) { return x + x.T(); }, {{large, 1}, tw::float32}) ==
        "Add: (1099511627776, 1099511627776) float32: " + expected + ", in Model");
  CHECK(model_error([](auto&, Tensor x) { return x.reshape({large, large, large}); }) ==
        "Reshape: (2, 4) float32 to (1099511627776, 1099511627776, 1099511627776): a shape of 8 elements expected, in Model");
}

TEST_CASE("numbers that a dtype does not have are errors") {
  const std::string whole = "a whole number from -2147483648 to 2147483647 expected";
  const TensorSpec integers{{2}, tw::int32};
  CHECK(model_error([](auto&, Tensor x) { return x * 1.5; }, integers) == "Mul: 1.5 as int32: " + whole + ", in Model");
  CHECK(model_error([](auto&, Tensor x) { return 0.1 - x; }, integers) == "Sub: 0.1 as int32: " + whole + ", in Model");
  CHECK(model_error([](auto&, Tensor x) { return x * 2.0 + 3; }, integers) == "no TraceError");
  CHECK(model_error([](auto&, Tensor x) { return ops::scaled_add(x, x, {.a = 2, .b = 0.5}); }, integers) ==
        "ScaledAdd: b 0.5 as int32: " + whole + ", in Model");
  CHECK(error_of([](Ir& ir) {
          const Tensor v = ir.variable(tw::zeros(), {2}, tw::int32, "v");
          ops::scaled_add_(v, v, {.a = 1e300});
        }) == "ScaledAddLhsInplace: a 1e+300 as int32: " + whole);
  CHECK(model_error([](auto&, Tensor x) { return ops::scaled_add(x, x); }, {{2}, tw::boolean}) ==
        "ScaledAdd: (2,) bool: float16, float32, float64 or bfloat16 expected, in Model");
  CHECK(model_error([](auto&, Tensor x) { return ops::scaled_add(x, x, {.b = 1e5}); }, {{2}, tw::float16}) == "no TraceError");

  const auto error = [](std::initializer_list<double> values, tw::DType dtype) {
    return error_of([&](Ir& ir) { ir.constant(tw::List<double>(values), {static_cast<std::int64_t>(values.size())}, dtype); });
  };
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(error({nan}, tw::int32) == "constant: nan as int32: " + whole);
  CHECK(error({1, 2, -infinity}, tw::int32) == "constant: -inf as int32: " + whole);
  CHECK(error({0x1p31}, tw::int32) == "constant: 2147483648 as int32: " + whole);
  CHECK(error({0x1p31 - 1, -0x1p31}, tw::int32) == "no TraceError");
  CHECK(error({0x1p64}, tw::uint64) ==
        "constant: 1.84467440737e+19 as uint64: a whole number from 0 to 1.84467440737e+19 expected");
  CHECK(error({-1}, tw::uint8) == "constant: -1 as uint8: a whole number from 0 to 255 expected");
  CHECK(error({0, 1, 2}, tw::boolean) == "constant: 2 as bool: 0 or 1 expected");
  CHECK(error({65504, -65504, infinity, nan, 0.1}, tw::float16) == "no TraceError");
  CHECK(error({65536}, tw::float16) == "constant: 65536 as float16: a number from -65504 to 65504 expected");
  CHECK(error({1e300}, tw::float32) ==
        "constant: 1e+300 as float32: a number from -3.40282346639e+38 to 3.40282346639e+38 expected");
  CHECK(error({1e300, 1e-300, nan}, tw::float64) == "no TraceError");
  CHECK(error_of([](Ir& ir) { ir.constant((std::int64_t{1} << 53) + 1, tw::int64); }) == "no TraceError");
  CHECK(error_of([](Ir& ir) { ir.constant((std::int64_t{1} << 53) + 1, tw::int32); }) ==
        "constant: 9.00719925474e+15 as int32: a whole number from -2147483648 to 2147483647 expected");
  CHECK(error_of([](Ir& ir) { ir.variable(tw::values({0, 0.5}), {2}, tw::uint8, "v"); }) ==
        "variable: 'v': 0.5 as uint8: a whole number from 0 to 255 expected");
}

TEST_CASE("parameters that are no numbers, or out of range, are errors") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto variable = [](const tw::Initialiser& initialiser) {
    return error_of([&](Ir& ir) { ir.variable(initialiser, {2}, tw::float32, "w"); });
  };
  CHECK(variable(tw::normal(0, -1)) ==
        "variable: 'w' of normal(0, -1) as float32: finite numbers, the second at least 0, expected");
  CHECK(variable(tw::normal(nan, 1)) ==
        "variable: 'w' of normal(nan, 1) as float32: finite numbers, the second at least 0, expected");
  CHECK(variable(tw::uniform(1, -1)) ==
        "variable: 'w' of uniform(1, -1) as float32: finite numbers, the first at most the second, expected");
  CHECK(variable(tw::uniform(0, infinity)) ==
        "variable: 'w' of uniform(0, inf) as float32: finite numbers, the first at most the second, expected");
  const auto of_dtype = [](const tw::Initialiser& initialiser, tw::DType dtype) {
    return error_of([&](Ir& ir) { ir.variable(initialiser, {2}, dtype, "w"); });
  };
  CHECK(of_dtype(tw::normal(0, 1), tw::int32) ==
        "variable: 'w' of normal(0, 1) as int32: a floating-point dtype, or drawn_by, expected");
  CHECK(of_dtype(tw::uniform(0, 8), tw::uint8) ==
        "variable: 'w' of uniform(0, 8) as uint8: a floating-point dtype, or drawn_by, expected");
  CHECK(of_dtype(tw::uniform(0, 1), tw::boolean) ==
        "variable: 'w' of uniform(0, 1) as bool: a floating-point dtype, or drawn_by, expected");
  CHECK(of_dtype(tw::uniform(0, 1e5), tw::float16) ==
        "variable: 'w' of uniform(0, 100000) as float16: finite numbers, the first at most the second, expected");
  for (const tw::DType dtype : {tw::float16, tw::bfloat16, tw::float64, tw::float8_143})
    CHECK(of_dtype(tw::normal(0, 1), dtype) == "no TraceError");
  const auto norm = [](double eps) {
    return error_of([&](Ir& ir) {
      const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), w = ir.variable(tw::ones(), {4}, tw::float32, "w");
      ops::layer_norm(x, w, w, eps);
    });
  };
  CHECK(norm(-1) == "layer_norm: eps -1: a finite number of at least 0 expected");
  CHECK(norm(nan) == "layer_norm: eps nan: a finite number of at least 0 expected");
  const auto step = [](const auto& parameters) {
    return error_of([&](Ir& ir) {
      const Tensor w = ir.variable(tw::ones(), {4}, tw::float32, "w");
      typename std::remove_cvref_t<decltype(parameters)>::Optimiser optimiser;
      optimiser.create_graph(w, w.spec(), parameters);
    });
  };
  using tw::optim::AdamParameters, tw::optim::SgdParameters;
  CHECK(step(AdamParameters{.beta1 = 1}).starts_with("optimiser: beta1 1: a finite number of at least 0, and below 1, expected"));
  CHECK(step(AdamParameters{.beta2 = nan}).starts_with("optimiser: beta2 nan: a finite number"));
  CHECK(step(AdamParameters{.epsilon = -1}).starts_with("optimiser: epsilon -1: a finite number"));
  CHECK(step(AdamParameters{.lr = infinity}).starts_with("optimiser: lr inf: a finite number"));
  CHECK(step(SgdParameters{.momentum = -0.5}).starts_with("optimiser: momentum -0.5: a finite number"));
  CHECK(step(SgdParameters{.weight_decay = nan}).starts_with("optimiser: weight_decay nan: a finite number"));
  using tw::optim::AdagradParameters, tw::optim::LionParameters, tw::optim::RmsPropParameters;
  CHECK(step(RmsPropParameters{.lr = nan}).starts_with("optimiser: lr nan: a finite number"));
  CHECK(step(RmsPropParameters{.alpha = 1}).starts_with("optimiser: alpha 1: a finite number of at least 0, and below 1,"));
  CHECK(step(RmsPropParameters{.epsilon = -1}).starts_with("optimiser: epsilon -1: a finite number"));
  CHECK(step(RmsPropParameters{.weight_decay = nan}).starts_with("optimiser: weight_decay nan: a finite number"));
  CHECK(step(RmsPropParameters{.momentum = -0.5}).starts_with("optimiser: momentum -0.5: a finite number"));
  CHECK(step(AdagradParameters{.lr = infinity}).starts_with("optimiser: lr inf: a finite number"));
  CHECK(step(AdagradParameters{.lr = -1, .lr_decay = 0.5}).starts_with("optimiser: lr -1: a finite number"));
  CHECK(step(AdagradParameters{.lr_decay = -0.5}).starts_with("optimiser: lr_decay -0.5: a finite number"));
  CHECK(step(AdagradParameters{.weight_decay = nan}).starts_with("optimiser: weight_decay nan: a finite number"));
  CHECK(step(AdagradParameters{.initial_accumulator_value = -1})
            .starts_with("optimiser: initial_accumulator_value -1: a finite number"));
  CHECK(step(AdagradParameters{.epsilon = nan}).starts_with("optimiser: epsilon nan: a finite number"));
  CHECK(step(LionParameters{.lr = nan}).starts_with("optimiser: lr nan: a finite number"));
  CHECK(step(LionParameters{.beta1 = 1}).starts_with("optimiser: beta1 1: a finite number of at least 0, and below 1,"));
  CHECK(step(LionParameters{.beta2 = -1}).starts_with("optimiser: beta2 -1: a finite number"));
  CHECK(step(LionParameters{.weight_decay = nan}).starts_with("optimiser: weight_decay nan: a finite number"));
  CHECK(step(AdamParameters{.beta2 = 1, .amsgrad = true}).starts_with("optimiser: beta2 1: a finite number"));
  CHECK(step(AdamParameters{.beta1 = nan, .amsgrad = true}).starts_with("optimiser: beta1 nan: a finite number"));
}
TEST_CASE("errors of generators") {
  CHECK(error_of([](Ir& ir) { ir.constant(tw::eye(), {4}); }) ==
        "constant: a generator for shape (4,): at least 2 axes expected");
  CHECK(error_of([](Ir& ir) { ir.variable(tw::causal_mask(), {}, tw::float32, "v"); }) ==
        "variable: a generator for shape (): at least 2 axes expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::normal(0, 1), {4, 4}); }) ==
        "constant: random values: values or a generator expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::causal_mask(), {4, 4}, tw::boolean); }) ==
        "constant: -inf as bool: 0 or 1 expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::causal_mask(-1e9), {4, 4}, tw::float16, "mask"); }) ==
        "constant: 'mask': -1000000000 as float16: a number from -65504 to 65504 expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::range(0, 0.5), {4}, tw::int32); }) ==
        "constant: 0.5 as int32: a whole number from -2147483648 to 2147483647 expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::range(), {200}, tw::int8); }) ==
        "constant: 199 as int8: a whole number from -128 to 127 expected");
  CHECK(error_of([](Ir& ir) { ir.constant(tw::values({1, 2}), {3}); }) == "constant: 2 values for shape (3,): 3 expected");
}

TEST_CASE("other default-constructed handles are errors") {
  const std::string graph = "Graph: a Graph() of no program: a graph that create_graph or autodiff gave expected";
  CHECK(error_of([](Ir&) { tw::call(Graph(), {}); }) == graph);
  CHECK(error_of([](Ir&) { tw::autodiff(Graph()); }) == graph);
  CHECK(error_of([](Ir&) { (void)Graph().inputs(); }) == graph);
  CHECK(error_of([](Ir&) { (void)Graph().get_tensor("x"); }) == graph);
  CHECK(error_of([](Ir&) { tw::repeat(Graph(), 2, {}); }) == graph);
  CHECK(error_of([](Ir&) { (void)tw::print_schedule(Graph()); }) == graph);
  CHECK(error_of([](Ir&) { ops::remote_load(tw::RemoteBuffer(), 0); }) ==
        "RemoteBuffer: a RemoteBuffer() of no program: one that ir.remote_buffer gave expected");
  const std::string stream = "Stream: a stream of no program: one that ir.h2d_stream or ir.d2h_stream gave expected";
  CHECK(error_of([](Ir&) { ops::host_load(tw::HostToDeviceStream()); }) == stream);
  CHECK(error_of([](Ir& ir) { ops::host_store(tw::DeviceToHostStream(), ir.variable(tw::zeros(), {2}, tw::float32, "x")); }) ==
        stream);
  CHECK(error_of([](Ir&) { tw::VariableFactory().create_tensor("x"); }) ==
        "VariableFactory: a VariableFactory() of no program: one that create_graph gave expected");
}
TEST_CASE("default-constructed tensors are errors") {
  const std::string first = "Tensor: a Tensor() of no graph: a tensor that an op, a stream or an input gave expected";
  CHECK(error_of([](Ir&) { Tensor() + Tensor(); }) == first);
  CHECK(error_of([](Ir&) { (void)Tensor().reshape({1}); }) == first);
  CHECK(error_of([](Ir& ir) { ir.create_graph([](Tensor) { return Tensor(); }, rows); }) == first);
  CHECK(model_error([](auto&, Tensor x) { return x + Tensor(); }) ==
        "Add: input 1 is a Tensor() of no graph: a tensor expected, in Model");
  CHECK(error_of([](Ir& ir) { ops::host_store(ir.d2h_stream("y", {2}), Tensor()); }) ==
        "HostStore: input 0 is a Tensor() of no graph: a tensor expected");
  const auto call_error = [](auto call) {
    return error_of([&](Ir& ir) { call(ir, ir.create_graph([](Tensor x) { return x; }, rows)); });
  };
  CHECK(call_error([](Ir&, Graph graph) { tw::call(graph, Tensor()); }) ==
        "call of graph_subgraph(0): a Tensor() of no graph for input 0: a tensor expected");
  CHECK(call_error([](Ir&, Graph graph) { tw::repeat(graph, 2, {}, {{graph.input(0), Tensor()}}); }) ==
        "call of graph_subgraph(0): a Tensor() of no graph for input Tensor[float32 (2, 4)]: a tensor expected");
  CHECK(call_error([](Ir& ir, Graph graph) {
          const tw::Branch branch{graph, {ir.constant({0}, {2, 4})}};
          tw::conditional(Tensor(), branch, branch);
        }) == "conditional: a Tensor() of no graph as condition: a tensor expected");
}
