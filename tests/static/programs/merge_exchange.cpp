// labels: none
// Loads and stores that are one exchange: which they are, in which order ops then run, and what that saves.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/graph/dot.hpp"
#include "tilewright/tilewright.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

using support::load, support::store;

constexpr tw::Plan plan_of(auto build, const tw::Target& target = tw::ipu_model) { return support::plan_of(build, target); }

// ---- one op

/// The ops of the main graph as they run: "MultiExchange.100 Add.103 ".
constexpr tw::Text order_of(Ir& ir) {
  tw::Text result;
  tw::detail::for_each_op(ir, tw::GraphId::main, [&](std::span<const tw::NodeId> nodes) {
    const tw::Node& first = ir.tables.graphs[tw::GraphId::main].nodes[nodes[0]];
    if (nodes.size() > 1) result += "MultiExchange";
    else result += first.op->name;
    result += tw::text(".", first.id, " ");
  });
  return result;
}
constexpr tw::Text order(auto build) {
  Ir ir;
  build(ir);
  return order_of(ir);
}

constexpr auto mixed = [](Ir& ir) {  // what is multiplied by 2 comes from the exchange, what is multiplied by 3 goes there
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 3);
  const Tensor x = load(ir, "x", {4});
  Tensor a, b, twice;
  {
    const auto scope = tw::merge_exchange(ir);
    a = ops::remote_load(buffer, 0);
    twice = a * 2;
    const Tensor thrice = x * 3;
    b = ops::remote_load(buffer, 1);
    ops::remote_store(buffer, 2, thrice);
  }
  store("y", twice + b);
};
constexpr tw::Text printed_as_one() {
  Ir ir;
  mixed(ir);
  return tw::print_schedule(ir.main_graph());
}
TW_SAME(printed_as_one(),
        "Graph : \n  () -> () {\n"
        "    HostLoad.100 () -> (%1 [(4,) float32])\n"
        "    Mul.103 (%1 [(4,) float32], %2 [() float32]) -> (%3 [(4,) float32])\n"
        "    MultiExchange.101 (%3 [(4,) float32]) -> (%4 [(4,) float32], %5 [(4,) float32])\n"
        "    Mul.102 (%4 [(4,) float32], %6 [() float32]) -> (%7 [(4,) float32])\n"
        "    Add.106 (%7 [(4,) float32], %5 [(4,) float32]) -> (%8 [(4,) float32])\n"
        "    HostStore.107 (%8 [(4,) float32]) -> ()\n  }\n");

constexpr bool is_drawn_as_one() {
  Ir ir;
  mixed(ir);
  const tw::Text dot = to_dot(ir);
  const auto has = [&](std::string_view part) { return dot.view().find(part) != std::string_view::npos; };
  return has("g0_op1 [label=\"MultiExchange.101\" shape=box]") && has("g0_op1 -> g0_op2") && has("g0_op3 -> g0_op1") &&
         has("g0_op1 -> g0_op6") && !has("g0_op4") && !has("g0_op5");
}
static_assert(is_drawn_as_one());

/// Loads and stores of the host, of remote buffers and of code; a scope of one op is that op.
constexpr auto all_kinds = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 3);
  const Tensor variable = ir.variable(tw::zeros(), {4}, tw::float32, "v");
  const Graph graph = ir.create_graph([](Tensor t) { return t + t; }, variable);
  {
    const auto scope = tw::merge_exchange(ir);
    load(ir, "x", {4});
    store("y", ir.constant({1, 2, 3, 4}, {4}));
    ops::remote_load_(buffer, 0, variable);
    ops::remote_load(buffer, 0);
    ops::remote_store(buffer, 1, ir.constant({0}, {4}));
    ops::remote_code_load(graph);
  }
  {
    const auto scope = tw::merge_exchange(ir);
    ops::remote_load(buffer, 2);
  }
  store("z", tw::call(graph, variable));
};
TW_SAME(order(all_kinds), "MultiExchange.101 RemoteLoad.107 Call.108 HostStore.109 ");

constexpr auto nested = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 6);
  const auto load_twice = [&](std::int64_t row) {
    const auto scope = tw::merge_exchange(ir);
    ops::remote_load(buffer, row);
    ops::remote_load(buffer, row + 1);
  };
  load_twice(0);
  const auto outer = tw::merge_exchange(ir);
  load_twice(2);
  load_twice(4);
};
TW_SAME(order(nested), "MultiExchange.100 MultiExchange.102 ", "the outer scope has what the inner ones have");

// ---- as few as the dependencies allow

/// The order of the ops that `use` makes in a scope, with three rows and two tensors.
constexpr tw::Text order_in_scope(auto use) {
  Ir ir;
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 3);
  const Tensor x = ir.variable(tw::zeros(), {4}, tw::float32, "x"), y = ir.variable(tw::zeros(), {4}, tw::float32, "y");
  {
    const auto scope = tw::merge_exchange(ir);
    use(buffer, x, y);
  }
  return order_of(ir);
}
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor y) {
          ops::remote_load_(buffer, 0, x);
          ops::remote_store(buffer, 0, y);  // must not be seen by the load
          ops::remote_load_(buffer, 1, y);  // must not be seen by the store
          ops::remote_store(buffer, 2, ops::remote_load(buffer, 1));
        }),
        "MultiExchange.100 MultiExchange.101 RemoteLoadInplace.102 ");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor) {
          ops::remote_store(buffer, 0, x);
          ops::remote_store(buffer, 0, x);
        }),
        "RemoteStore.100 RemoteStore.101 ");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor) {
          const Tensor row = x.ir().variable(tw::zeros(), {}, tw::uint32, "row");
          ops::remote_store(buffer, 0, x);
          ops::remote_load(buffer, row);  // may be row 0
          ops::remote_load(buffer, 1);
        }),
        "MultiExchange.100 RemoteLoad.101 ");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor) {
          ops::remote_store(buffer, 0, x);
          ops::remote_load(x.ir().remote_buffer({4}), 0);
        }),
        "MultiExchange.100 ", "rows of different buffers");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor y) {
          const Tensor view = x.reshape({2, 2});
          ops::remote_load_(buffer, 0, x);
          store("view", view);  // a copy of what was there before
          ops::remote_load_(buffer, 1, y);
        }),
        "Reshape.100 MultiExchange.101 HostStore.102 ");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor y) {
          ops::remote_load_(buffer, 0, x);
          ops::scaled_add_(y, x);
          ops::remote_store(buffer, 1, y);
          ops::remote_load(buffer, 2);
        }),
        "MultiExchange.100 ScaledAddLhsInplace.101 RemoteStore.102 ", "an op in place between a load and a store");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor y) {
          ops::print_tensor(ops::remote_load(buffer, 0));
          ops::print_tensor(y, {.title = "second"});
          ops::remote_load_(buffer, 1, x);
        }),
        "MultiExchange.100 PrintTensor.101 PrintTensor.102 ", "what is printed keeps its order");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor) {
          const auto fetch = [&](Tensor t) { return ops::remote_load(buffer, 0) + t; };
          const Graph graph = x.ir().create_graph(fetch, x);
          ops::remote_load(buffer, 1);
          ops::remote_load(buffer, 2);
          tw::call(graph, x);
          ops::remote_load(buffer, 1);
          ops::remote_code_load(graph);
          tw::call(graph, x);
        }),
        "MultiExchange.102 Call.104 MultiExchange.105 Call.107 ",
        "a call that loads or stores stays where it is, and code is loaded after earlier calls");
TW_SAME(order_in_scope([](RemoteBuffer buffer, Tensor x, Tensor y) {
          const auto stream = x.ir().h2d_stream("s", {4});
          ops::host_load(stream);
          ops::remote_store(buffer, 0, ops::host_load(stream));
          ops::remote_load_(buffer, 1, y);
          ops::host_load(stream);
        }),
        "MultiExchange.100 RemoteStore.102 ", "elements of a stream, in order");

// ---- in_sequence

constexpr tw::Text order_in_sequence(bool inner) {
  Ir ir;
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 4);
  const auto sequence = tw::in_sequence(ir);
  ops::remote_load(buffer, 0);
  {
    const auto unordered = tw::in_sequence(ir, inner);
    const auto scope = tw::merge_exchange(ir);
    ops::remote_load(buffer, 1);
    ops::remote_load(buffer, 2);
  }
  ops::remote_load(buffer, 3);
  return order_of(ir);
}
TW_SAME(order_in_sequence(true), "RemoteLoad.100 RemoteLoad.101 RemoteLoad.102 RemoteLoad.103 ");
TW_SAME(order_in_sequence(false), "RemoteLoad.100 MultiExchange.101 RemoteLoad.103 ");

// ---- one is asked for

constexpr tw::Text failure_in_scope(auto use) {
  Ir ir(tw::OnError::record);
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 3);
  const Tensor x = ir.variable(tw::zeros(), {4}, tw::float32, "x");
  {
    const auto scope = tw::merge_exchange(ir, {.into_one = true});
    use(buffer, x);
  }
  return ir.failure();
}
static_assert(failure_in_scope([](RemoteBuffer buffer, Tensor x) {
                ops::remote_load(buffer, 0);
                ops::remote_store(buffer, 1, x);
              }).empty());
static_assert(failure_in_scope([](RemoteBuffer, Tensor) {}).empty());
TW_SAME(failure_in_scope([](RemoteBuffer buffer, Tensor) {
          ops::remote_load(buffer, 0);
          ops::remote_store(buffer, 1, ops::remote_load(buffer, 2) * 2);
        }),
        "merge_exchange: RemoteStore.103 has to come after RemoteLoad.101: loads and stores that one exchange can "
        "hold expected");
TW_SAME(failure_in_scope([](RemoteBuffer buffer, Tensor x) {
          const auto sequence = tw::in_sequence(x.ir());
          ops::remote_load(buffer, 0);
          ops::relu(x);
          ops::remote_load(buffer, 1);
        }),
        "merge_exchange: RemoteLoad.102 has to come after RemoteLoad.100: loads and stores that one exchange can "
        "hold expected");

// ---- what it costs: one synchronisation, then the bytes of all transfers on all exchange blocks

constexpr std::int64_t cycles_of(std::initializer_list<std::int64_t> transfers) {
  return tw::gc200_model.streaming_memory.cycles(std::span(transfers.begin(), transfers.size()), tw::gc200_model.clock_hz);
}
static_assert(cycles_of({}) == 0 && cycles_of({0, 0}) == 0);
static_assert(cycles_of({4, 4, 4}) == 600 + 17, "each on a block: 4 x 4.24 = 16.96");
static_assert(cycles_of({4, 64, 16}) == 600 + 272, "the block with most: 64 x 4.24 = 271.36");
static_assert(cycles_of({31 * 1024, 4, 8}) == 600 + 4342, "31 packets, and a block for both rests");
static_assert(cycles_of({32 * 1024, 4}) == 600 + 4359, "1028 x 4.24 = 4358.72");
static_assert(cycles_of({16 * 1024, 16 * 1024}) == cycles_of({32 * 1024}));
static_assert(cycles_of({30 * 1024, 100, 300, 200}) == 600 + 4342, "of 2 free blocks one has 300 bytes, the other 200 and 100");
static_assert(cycles_of({1022, 1022, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
                         100,  100,  100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}) == 600 + 4334,
              "34 rests on 32 blocks: 1022 x 4.24 = 4333.28, as the smallest come together");

template <bool merged>
constexpr auto rows = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({1024}, tw::float32, 8);
  const auto load_rows = [&] {
    std::vector<Tensor> all;
    for (int row = 0; row < 4; ++row) all.push_back(ops::remote_load(buffer, row));
    return all;
  };
  std::vector<Tensor> all;
  if (merged) {
    const auto scope = tw::merge_exchange(ir);
    all = load_rows();
  } else {
    all = load_rows();
  }
  const auto scope = tw::merge_exchange(ir);
  ops::remote_store(buffer, 4, all[0] + all[1]);
  ops::remote_store(buffer, 5, all[2] + all[3]);
};
constexpr tw::RemoteTraffic apart = plan_of(rows<false>).remote, together = plan_of(rows<true>).remote;
static_assert(together.loaded_bytes == apart.loaded_bytes && together.stored_bytes == apart.stored_bytes);
static_assert(apart.exchanges == 4 + 1 && together.exchanges == 1 + 1);
static_assert(apart.cycles == 5 * (600 + 4342) && together.cycles == 2 * (600 + 4342), "16 packets at a time, on 32 blocks");
static_assert(plan_of(rows<true>, tw::cpu).remote == tw::RemoteTraffic{4 * 4096, 2 * 4096, 0, 0, 2});

/// The steps are the same, in another order.
constexpr auto steps_of(auto build) {
  const tw::Plan plan = plan_of(build, tw::cpu);
  return std::array{plan.steps.size(), plan.compute_sets.size(), static_cast<std::size_t>(plan.memory.frame)};
}
static_assert(steps_of(rows<false>) == steps_of(rows<true>));
static_assert(plan_of(mixed).exchanges.size() == 1);
static_assert(plan_of(mixed).exchanges[0].step_count == 3);

constexpr auto strided = [](Ir& ir) {  // rows land beside the transposed tensors; what is stored is made dense before
  const RemoteBuffer buffer = ir.remote_buffer({4, 2}, tw::float32, 4);
  std::vector<Tensor> variables;
  for (const std::string_view name : {"a", "b", "c", "d"})
    variables.push_back(ir.variable(tw::zeros(), {2, 4}, tw::float32, name));
  const auto scope = tw::merge_exchange(ir);
  ops::remote_store(buffer, 0, variables[0].T());
  ops::remote_load_(buffer, 1, ops::transpose_(variables[1]));
  ops::remote_store(buffer, 2, variables[2].T());
  ops::remote_load_(buffer, 3, ops::transpose_(variables[3]));
};
static_assert(plan_of(strided).remote.exchanges == 1, "copies come before and after");
static_assert(plan_of(strided).remote.cycles == 600 + 136, "four rows on four blocks: 32 x 4.24 = 135.68");

constexpr auto looped = [](Ir& ir) {  // in each of 10 iterations, and once in an inlined graph, one exchange
  const RemoteBuffer buffer = ir.remote_buffer({16}, tw::float32, 4);
  const auto body = [&](Tensor t) {
    const auto scope = tw::merge_exchange(ir);
    const Tensor a = ops::remote_load(buffer, 0), b = ops::remote_load(buffer, 1);
    ops::remote_store(buffer, 2, t);
    return a + b;
  };
  const tw::TensorSpec spec{{16}, tw::float32};
  const Tensor x = tw::call(ir.create_graph(body, spec), load(ir, "x", {16}));
  store("y", tw::repeat(ir.create_graph(body, spec), 10, x));
};
static_assert(plan_of(looped).remote.exchanges == 11 && plan_of(looped).remote.cycles == 11 * (600 + 272));

// ---- code

template <bool loads, bool merged = false>
constexpr auto two_graphs = [](Ir& ir) {
  Tensor x = load(ir, "x", {16, 16});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const Graph softmax = ir.create_graph([](Tensor t) { return ops::softmax(t); }, x);
  if (merged) {
    const auto scope = tw::merge_exchange(ir, {.into_one = true});
    ops::remote_code_load(product);
    ops::remote_code_load(softmax);
  } else if (loads) {
    ops::remote_code_load(product);
    ops::remote_code_load(softmax);
  }
  store("y", tw::call(softmax, tw::call(product, tw::call(product, x))));
};
static_assert(plan_of(two_graphs<true>).memory == plan_of(two_graphs<true, true>).memory, "the same code at the same time");
static_assert(plan_of(two_graphs<true>).remote.code_bytes == plan_of(two_graphs<true, true>).remote.code_bytes);
static_assert(plan_of(two_graphs<true>).remote.exchanges == 2 && plan_of(two_graphs<true, true>).remote.exchanges == 1);
static_assert(plan_of(two_graphs<true>).remote.cycles - plan_of(two_graphs<true, true>).remote.cycles >= 600,
              "one synchronisation less");

constexpr auto dead_code = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({16});
  const Graph unused = ir.create_graph([](Tensor t) { return ops::softmax(t); }, tw::TensorSpec{{16}, tw::float32});
  {
    const auto scope = tw::merge_exchange(ir);
    ops::remote_code_load(unused);
    ops::remote_load(buffer, 0);
  }
  tw::call(unused, load(ir, "x", {16}));
};
static_assert(plan_of(dead_code).bodies.size() == 1 && plan_of(dead_code).remote.code_bytes == 0, "only the load of code goes");
static_assert(plan_of(dead_code).remote.loaded_bytes == 64 && plan_of(dead_code).remote.exchanges == 1);

// ---- gradients

constexpr tw::Text gradient_failure(bool in_place) {
  Ir ir(tw::OnError::record);
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 2);
  const auto forward = [&](Tensor x) {
    const auto scope = tw::merge_exchange(ir);
    const Tensor a = in_place ? ops::remote_load_(buffer, 0, x) : ops::remote_load(buffer, 0);
    return a * ops::remote_load(buffer, 1) * x;
  };
  tw::autodiff(ir.create_graph(forward, tw::TensorSpec{{4}, tw::float32}));
  return ir.failure();
}
static_assert(gradient_failure(false).empty());
TW_SAME(gradient_failure(true),
        "autodiff of graph_subgraph(0): RemoteLoadInplace.100 changes its input in place: ops that do not expected");

}  // namespace
