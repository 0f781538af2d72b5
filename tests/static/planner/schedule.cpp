// labels: none
// print_schedule: graphs as text, as the tutorial shows them.
#include "../../support/same.hpp"
#include "../programs/models.hpp"

using tw::Ir, tw::Tensor, tw::TensorSpec, tw::Text;

constexpr Text schedule_of(auto module, const TensorSpec& spec) {
  Ir ir;
  return tw::create_graph(ir, module, spec).graph.print_schedule();
}
constexpr Text factory_names(auto module, const TensorSpec& spec) {
  Ir ir;
  std::vector<Text> names;
  for (const auto& [name, factory] : tw::create_graph(ir, module, spec).factories.to_dict()) names.push_back(name);
  return tw::join(names, " ");
}
constexpr TensorSpec image{{28, 28}, tw::float32};

static_assert(schedule_of(Linear<32>{}, {{2, 4}, tw::float32}) ==
              R"(Graph : Linear_subgraph(0)
  (%1, weight=%2, bias=%3) -> (%5) {
    MatMul.100 (%1 [(2, 4) float32], %2 [(4, 32) float32]) -> (%4 [(2, 32) float32])
    Add.101 (%4 [(2, 32) float32], %3 [(32,) float32]) -> (%5 [(2, 32) float32])
  }
)");

static_assert(schedule_of(Linear<32, {.bias = false}>{}, {{2, 4}, tw::float16}) ==
              R"(Graph : Linear_subgraph(0)
  (%1, weight=%2) -> (%3) {
    MatMul.100 (%1 [(2, 4) float16], %2 [(4, 32) float16]) -> (%3 [(2, 32) float16])
  }
)");

TW_SAME(factory_names(Net{}, image), "fc1.weight fc1.bias fc2.weight fc2.bias fc3.weight fc3.bias fc4.weight fc4.bias");
static_assert(schedule_of(Net{}, image) ==
              R"(Graph : Net_subgraph(0)
  (%1, fc1.weight=%2, fc1.bias=%3, fc2.weight=%4, fc2.bias=%5, fc3.weight=%6, fc3.bias=%7, fc4.weight=%8, fc4.bias=%9) -> (%21) {
    Reshape.100 (%1 [(28, 28) float32]) -> (%10 [(1, 784) float32])
    MatMul.101 (%10 [(1, 784) float32], %2 [(784, 512) float32]) -> (%11 [(1, 512) float32])
    Add.102 (%11 [(1, 512) float32], %3 [(512,) float32]) -> (%12 [(1, 512) float32])
    Gelu.103 (%12 [(1, 512) float32]) -> (%13 [(1, 512) float32])
    MatMul.104 (%13 [(1, 512) float32], %4 [(512, 512) float32]) -> (%14 [(1, 512) float32])
    Add.105 (%14 [(1, 512) float32], %5 [(512,) float32]) -> (%15 [(1, 512) float32])
    Gelu.106 (%15 [(1, 512) float32]) -> (%16 [(1, 512) float32])
    MatMul.107 (%16 [(1, 512) float32], %6 [(512, 512) float32]) -> (%17 [(1, 512) float32])
    Add.108 (%17 [(1, 512) float32], %7 [(512,) float32]) -> (%18 [(1, 512) float32])
    Gelu.109 (%18 [(1, 512) float32]) -> (%19 [(1, 512) float32])
    MatMul.110 (%19 [(1, 512) float32], %8 [(512, 10) float32]) -> (%20 [(1, 10) float32])
    Add.111 (%20 [(1, 10) float32], %9 [(10,) float32]) -> (%21 [(1, 10) float32])
  }
)");

TW_SAME(factory_names(NetOutlined{}, image), "fc1.weight fc1.bias fc4.weight fc4.bias fc2.weight fc2.bias fc3.weight fc3.bias");
static_assert(schedule_of(NetOutlined{}, image) ==
              R"(Graph : NetOutlined_subgraph(0)
  (%1, fc1.weight=%2, fc1.bias=%3, fc2.weight=%4, fc2.bias=%5, fc3.weight=%6, fc3.bias=%7, fc4.weight=%8, fc4.bias=%9) -> (%19) {
    Reshape.100 (%1 [(28, 28) float32]) -> (%10 [(1, 784) float32])
    MatMul.101 (%10 [(1, 784) float32], %2 [(784, 512) float32]) -> (%11 [(1, 512) float32])
    Add.102 (%11 [(1, 512) float32], %3 [(512,) float32]) -> (%12 [(1, 512) float32])
    Gelu.103 (%12 [(1, 512) float32]) -> (%13 [(1, 512) float32])
    Call.106(Linear_subgraph(1)) (%13 [(1, 512) float32], %4 [(512, 512) float32], %5 [(512,) float32]) -> (%14 [(1, 512) float32])
    Gelu.107 (%14 [(1, 512) float32]) -> (%15 [(1, 512) float32])
    Call.108(Linear_subgraph(1)) (%15 [(1, 512) float32], %6 [(512, 512) float32], %7 [(512,) float32]) -> (%16 [(1, 512) float32])
    Gelu.109 (%16 [(1, 512) float32]) -> (%17 [(1, 512) float32])
    MatMul.110 (%17 [(1, 512) float32], %8 [(512, 10) float32]) -> (%18 [(1, 10) float32])
    Add.111 (%18 [(1, 10) float32], %9 [(10,) float32]) -> (%19 [(1, 10) float32])
  }
)");

// ---- factories, variables and graphs that are no modules
constexpr bool factories_and_variables_print() {
  Ir ir;
  const auto facts = tw::create_graph(ir, Linear<32>{}, TensorSpec{{2, 4}, tw::float32}).factories;
  return to_text(facts) == "{'weight': VariableFactory((4, 32) float32), 'bias': VariableFactory((32,) float32)}" &&
         to_text(facts.init()) == "{'bias': Tensor[bias float32 (32,)], 'weight': Tensor[weight float32 (4, 32)]}";
}
static_assert(factories_and_variables_print());

constexpr bool functions_print_as_graph() {
  Ir ir;
  const auto graph = ir.create_graph([](Tensor a, Tensor b) { return std::pair(a + b, a); }, image, image);
  return print_schedule(graph) == R"(Graph : graph_subgraph(0)
  (%1, %2) -> (%3, %1) {
    Add.100 (%1 [(28, 28) float32], %2 [(28, 28) float32]) -> (%3 [(28, 28) float32])
  }
)";
}
static_assert(functions_print_as_graph());

constexpr bool the_main_graph_has_no_name() {
  Ir ir;
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2}));
  tw::ops::host_store(ir.d2h_stream("y", {2}), x);
  return print_schedule(ir.main_graph()) == tw::text("Graph : \n", R"(  () -> () {
    HostLoad.100 () -> (%1 [(2,) float32])
    HostStore.101 (%1 [(2,) float32]) -> ()
  }
)");
}
static_assert(the_main_graph_has_no_name());

// ---- updates of variables: a time step is an input of the updater, which changes it
constexpr Text updates(bool has_rate) {
  Ir ir;
  const auto update = [&](Tensor weight, Tensor gradient, Tensor rate, Tensor m, Tensor v, Tensor step) {
    tw::ops::accumulate_moving_average_(m, gradient, 0.9);
    tw::ops::accumulate_moving_average_square_(v, gradient, 0.999);
    const Tensor change = tw::ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-5});
    if (has_rate) tw::ops::scaled_add_(weight, change, {.b = -rate});
    else tw::ops::scaled_add_(weight, change, {.b = -1e-3});
  };
  const TensorSpec matrix{{2, 2}}, half{{2, 2}, tw::float16}, scalar{tw::Shape{}};
  return print_schedule(ir.create_graph(update, matrix, matrix, scalar, half, matrix, scalar));
}
static_assert(updates(false) ==
              R"(Graph : graph_subgraph(0)
  (%1, %2, %3, %4, %5, %6) -> () {
    Accumulate.100 (%4 [(2, 2) float16], %2 [(2, 2) float32]) -> (%7 [(2, 2) float16])
    Accumulate.101 (%5 [(2, 2) float32], %2 [(2, 2) float32]) -> (%8 [(2, 2) float32])
    AdamUpdater.102 (%4 [(2, 2) float16], %5 [(2, 2) float32], %6 [() float32]) -> (%9 [(2, 2) float16])
    ScaledAddLhsInplace.103 (%1 [(2, 2) float32], %9 [(2, 2) float16]) -> (%10 [(2, 2) float32])
  }
)");
static_assert(updates(true) ==
              R"(Graph : graph_subgraph(0)
  (%1, %2, %3, %4, %5, %6) -> () {
    Accumulate.100 (%4 [(2, 2) float16], %2 [(2, 2) float32]) -> (%7 [(2, 2) float16])
    Accumulate.101 (%5 [(2, 2) float32], %2 [(2, 2) float32]) -> (%8 [(2, 2) float32])
    AdamUpdater.102 (%4 [(2, 2) float16], %5 [(2, 2) float32], %6 [() float32]) -> (%9 [(2, 2) float16])
    Neg.103 (%3 [() float32]) -> (%10 [() float32])
    ScaledAddLhsInplace.104 (%1 [(2, 2) float32], %9 [(2, 2) float16], %10 [() float32]) -> (%11 [(2, 2) float32])
  }
)");
