// labels: none
// Remote buffers as they are traced and planned, and what they cost.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/train/phased_layers.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

using support::Facts, support::plan_of, support::store;

// ---- buffers

constexpr tw::Text buffers() {
  Ir ir;
  Facts facts;
  const RemoteBuffer first = ir.remote_buffer({1, 2, 3}, tw::float16), second = ir.remote_buffer({2}, tw::int32, 5);
  facts.check(first.id() == 1 && second.id() == 2, "ids count from 1");
  facts.check(first.entries() == 1 && second.entries() == 5, "entries");
  facts.check(first.tensor_shape() == tw::Shape{1, 2, 3} && first.tensor_dtype() == tw::float16, "spec of an entry");
  first.set_entries(2);
  facts.check(first.entries() == 2, "more entries");
  second.set_entries(1);
  facts.check(second.entries() == 1, "fewer entries, while nobody uses the others");
  first.set_remote_buffer_info({3, 11, 5}, tw::int16, 42);
  facts.check(first.tensor_shape() == tw::Shape{3, 11, 5} && first.tensor_dtype() == tw::int16, "another spec");
  return facts.check(first.entries() == 42 && first.id() == 1, "other entries, the same id");
}
TW_SAME(buffers(), "");

/// What is wrong about a use of a buffer of 3 x (1, 2, 3) float32.
constexpr tw::Text buffer_failure(auto use) {
  Ir ir(tw::OnError::record);
  use(ir, ir.remote_buffer({1, 2, 3}, tw::float32, 3));
  return ir.failure();
}
TW_SAME(buffer_failure([](Ir&, RemoteBuffer buffer) { buffer.set_entries(0); }),
        "remote_buffer: 0 entries for remote buffer 1 with 3 rows of (1, 2, 3) float32: at least 1 expected");
TW_SAME(buffer_failure([](Ir&, RemoteBuffer buffer) {
          ops::remote_load(buffer, 1);
          buffer.set_entries(2);
          buffer.set_entries(1);
        }),
        "remote_buffer: 1 entries for remote buffer 1 with 2 rows of (1, 2, 3) float32, of which row 1 is in use: at least 2 "
        "expected");
static_assert(buffer_failure([](Ir& ir, RemoteBuffer buffer) {
                buffer.validate_tensor_matches_buffer(ir.constant({0}, {1, 2, 3}));
              }).empty());
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer buffer) {
          buffer.validate_tensor_matches_buffer(ir.variable(tw::zeros(), {1, 3, 5}, tw::float32, "x"));
        }),
        "validate_tensor_matches_buffer: Tensor[x float32 (1, 3, 5)] for remote buffer 1 with 3 rows of (1, 2, 3) float32: "
        "(1, 2, 3) float32 expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer buffer) {
          buffer.validate_tensor_matches_buffer(ir.variable(tw::zeros(), {1, 2, 3}, tw::int16, "x"));
        }),
        "validate_tensor_matches_buffer: Tensor[x int16 (1, 2, 3)] for remote buffer 1 with 3 rows of (1, 2, 3) float32: "
        "(1, 2, 3) float32 expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer buffer) {
          ops::remote_load(buffer, ir.variable(tw::zeros(), {}, tw::uint32, "row"));
          buffer.set_remote_buffer_info({4}, tw::float32, 1);
        }),
        "set_remote_buffer_info: (4,) float32 for remote buffer 1 with 3 rows of (1, 2, 3) float32, which is in use: a buffer "
        "without variables, loads and stores expected");
static_assert(buffer_failure([](Ir& ir, RemoteBuffer buffer) {
                ir.remote_variable(tw::zeros(), buffer, 0, "x");
                buffer.set_remote_buffer_info({4}, tw::float32, 1);
              })
                  .view()
                  .ends_with("which is in use: a buffer without variables, loads and stores expected"));
TW_SAME(buffer_failure([](Ir&, RemoteBuffer buffer) { buffer.set_remote_buffer_info({0}, tw::int8, 1); }),
        "set_remote_buffer_info: '1' of shape (0,): extents above 0 expected");
TW_SAME(buffer_failure([](Ir&, RemoteBuffer buffer) { buffer.set_remote_buffer_info({2}, tw::int8, 0); }),
        "remote_buffer: 0 entries for remote buffer 1 with 3 rows of (2,) int8: at least 1 expected");

constexpr bool a_remote_variable_is_one_of_the_graphs_variables() {
  Ir ir;
  const Tensor x = ir.remote_variable(tw::zeros(), ir.remote_buffer({4}, tw::float32, 3), 2, "x");
  const auto variables = ir.main_graph().variables();
  return variables.size() == 1 && variables[0] == x && x.spec() == tw::TensorSpec{{4}, tw::float32};
}
static_assert(a_remote_variable_is_one_of_the_graphs_variables());

constexpr bool prints() {
  Ir ir;
  const RemoteBuffer buffer = ir.remote_buffer({4}, tw::float32, 3);
  const Tensor x = ops::remote_load(buffer, 0, "x");
  ops::remote_load_(buffer, ir.variable(tw::zeros(), {}, tw::uint32, "row"), x);
  ops::remote_store(buffer, 2, x);
  return x.name() == "x_remote_loaded" &&
         tw::print_schedule(ir.main_graph()) ==
             "Graph : \n  () -> () {\n"
             "    RemoteLoad.100 () -> (%1 [(4,) float32])\n"
             "    RemoteLoadInplace.101 (%1 [(4,) float32], %2 [() uint32]) -> (%3 [(4,) float32])\n"
             "    RemoteStore.102 (%1 [(4,) float32]) -> ()\n  }\n";
}
static_assert(prints());

TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) { tw::mapped_buffer(ir, "", {4}); }),
        "mapped_buffer: an empty name: one by which a session gets the array expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) {
          tw::mapped_buffer(ir, "table", {4});
          tw::mapped_buffer(ir, "table", {5});
        }),
        "mapped_buffer: 'table', which another mapped buffer is named: a new name expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) { tw::mapped_buffer(ir, "table", {1, 1, 1, 1, 1, 1}); }),
        "mapped_buffer: 'table' with rows of 6 axes: at most 5 expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) { ir.remote_variable(tw::ones(), tw::mapped_buffer(ir, "table", {4}), 0, "w"); }),
        "remote_variable: 'w' in mapped buffer 'table': a buffer of ir.remote_buffer expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) {
          tw::mapped_buffer(ir, "table", {4}).set_remote_buffer_info({5}, tw::int8, 2);
        }),
        "set_remote_buffer_info: mapped buffer 'table': a buffer of ir.remote_buffer expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) { ir.constant(tw::given(), {4}); }),
        "constant: given(), the values of a variable: values or a generator expected");

TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) { ir.constant(tw::computed_by([](std::int64_t) { return 1.0; }), {1}); }),
        "constant: computed_by of one element: its value expected");
TW_SAME(buffer_failure([](Ir& ir, RemoteBuffer) {
          ir.constant(tw::computed_by([](std::int64_t, std::int64_t) { return 1.0; }), {3});
        }),
        "constant: a generator for shape (3,): at least 2 axes expected");

/// Rows of a mapped buffer have no gaps, and are not in the session's memory.
constexpr void mapped(Ir& ir) {
  const RemoteBuffer table = tw::mapped_buffer(ir, "table", {5}, tw::float32, 3), rows = ir.remote_buffer({5}, tw::float32, 3);
  ops::remote_store(rows, 0, ops::remote_load(table, 2));
}
static_assert([] {
  const tw::Plan plan = plan_of(mapped);
  const auto& [table, rows] = std::tie(plan.remote_buffers[0], plan.remote_buffers[1]);
  return table.mapping == 1 && table.row_bytes() == 20 && !table.is_stored && rows.mapping == 0 && rows.is_stored &&
         plan.memory.remote == 3 * 64;
}());
/// Replicas have one array.
constexpr tw::Text stored_by_two() {
  Ir ir(tw::OnError::record);
  ir.set_replication_factor(2);
  const RemoteBuffer table = tw::mapped_buffer(ir, "table", {5}, tw::float32, 3);
  ops::remote_store(table, 0, ops::remote_load(table, 2));
  return tw::lower(tw::prepare(std::move(ir), tw::cpu)).failure;
}
TW_SAME(stored_by_two(), "remote_store: mapped buffer 'table', whose rows 2 replicas share: one replica expected");
/// A session would give the array of the name to the variable.
constexpr tw::Text named_as_a_variable() {
  Ir ir(tw::OnError::record);
  mapped(ir);
  ir.variable(tw::zeros(), {5}, tw::float32, "table");
  return tw::lower(tw::prepare(std::move(ir), tw::cpu)).failure;
}
TW_SAME(named_as_a_variable(), "mapped_buffer: 'table', which a variable is named: a name of its own expected");

// ---- plans

constexpr auto copies = [](Ir& ir) {  // 3 rows of 400 bytes: 448 with what aligns them
  const RemoteBuffer buffer = ir.remote_buffer({100}, tw::float32, 3);
  ir.remote_variable(tw::ones(), buffer, 1, "x");
  ir.variable(tw::ones(), {3}, tw::float32, "y");
  const Tensor x = ops::remote_load(buffer, 1);
  ops::remote_store(buffer, 2, x + x);
};
constexpr auto memory_of_copies = [] { return plan_of(copies).memory; }();
static_assert(memory_of_copies.remote == 3 * 448 && memory_of_copies.variables == 64);
static_assert(plan_of(copies).steps.size() == 3, "load, add, store: streaming memory is not the tiles' memory");
static_assert(memory_of_copies.frame >= 448, "a row that is loaded has a place of its own");
static_assert([] {
  const tw::Plan plan = plan_of(copies);
  return plan.variables[0].base == tw::internal::Base::remote && plan.variables[0].offset == 448 &&
         plan.variables[1].base == tw::internal::Base::variable && plan.variables[1].offset == 0;
}());

/// The program with a buffer of so many rows, of which it uses one.
template <int entries>
constexpr auto with_entries = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({1024}, tw::float32, entries);
  store("x", ops::remote_load(buffer, 0));
};
static_assert(plan_of(with_entries<1>, tw::ipu_model).memory.fullest_tile ==
                  plan_of(with_entries<1'000'000>, tw::ipu_model).memory.fullest_tile,
              "streaming memory is not on the tiles");

constexpr auto rows_apart = [](Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({64}, tw::float32, 2);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {64}));
  ops::remote_store(buffer, 0, x);
  ops::remote_store(buffer, 1, x);
};
constexpr int barriers_of(auto build) {
  int count = 0;
  for (const tw::internal::Step& step : plan_of(build).steps) count += step.barrier_before;
  return count;
}
static_assert(barriers_of(rows_apart) == 0, "nobody waits between stores to different rows");
static_assert(barriers_of(copies) == 2, "load, add and store wait for each other");

constexpr auto rows_share_code = [](Ir& ir) {
  const RemoteBuffer a = ir.remote_buffer({2, 32}, tw::float32, 2), b = ir.remote_buffer({64}, tw::float32, 5);
  for (int row = 0; row < 2; ++row) store(row == 0 ? "0" : "1", ops::remote_load(a, row));
  store("b", ops::remote_load(b, 4));
};
static_assert(plan_of(rows_share_code).compute_sets.size() == 2 + 1, "one load for all, and stores of two shapes");

// ---- cost on the simulated machine: 600 cycles, and the time that the fullest of 32 exchange blocks needs for its bytes at
// 10 GB/s / 32 = 0.3125 GB/s, which is 4.24 cycles a byte at 1.325 GHz

constexpr std::int64_t cycles_of(std::int64_t bytes) {
  return tw::gc200_model.streaming_memory.cycles(bytes, tw::gc200_model.clock_hz);
}
static_assert(cycles_of(0) == 0, "nothing to wait for");
static_assert(cycles_of(4) == 600 + 17);              // 4 x 4.24 = 16.96
static_assert(cycles_of(1024) == 600 + 4342);         // a packet: 1024 x 4.24 = 4341.76
static_assert(cycles_of(32 * 1024) == 600 + 4342);    // a packet on each block
static_assert(cycles_of(32 * 1024 + 1) == 600 + 4346);  // 1025 x 4.24 = 4346
static_assert(cycles_of(std::int64_t{1} << 30) == 600 + 142'270'792);  // 2^25 x 4.24 = 142270791.68
static_assert(tw::ipu_model.seconds(1'325'000) == 1e-3);

constexpr auto traffic = [](Ir& ir) {  // a graph that is called three times loads 4 KB, stores 64 bytes
  const RemoteBuffer in = ir.remote_buffer({1024}, tw::float32, 3), out = ir.remote_buffer({16}, tw::float32, 3);
  const auto phase = [&](Tensor row) { ops::remote_store(out, row, ops::sum(ops::remote_load(in, row).reshape({16, 64}), 1)); };
  const Graph graph = ir.create_graph(phase, tw::TensorSpec{{}, tw::int32});
  for (int row = 0; row < 3; ++row) tw::call(graph, ir.constant(row, tw::int32));
};
constexpr tw::RemoteTraffic on_ipu = plan_of(traffic, tw::ipu_model).remote, on_cpu = plan_of(traffic).remote;
static_assert(on_ipu.loaded_bytes == 3 * 4096 && on_ipu.stored_bytes == 3 * 64);
static_assert(on_ipu.cycles == 3 * (600 + 4342) + 3 * (600 + 272), "4 packets on 4 blocks; 64 x 4.24 = 271.36");
static_assert(on_cpu == tw::RemoteTraffic{3 * 4096, 3 * 64, 0, 0, 6}, "the host counts no cycles");

constexpr auto loop_traffic = [](Ir& ir) {  // five iterations, each of two loads in one branch, of a store in the other
  const RemoteBuffer buffer = ir.remote_buffer({16}, tw::float32);
  const Tensor condition = ops::host_load(ir.h2d_stream("condition", {}, tw::boolean));
  const auto branch = [&buffer](bool loads) {
    return [&buffer, loads](Tensor x) {
      if (loads) return ops::remote_load(buffer, 0) + ops::remote_load(buffer, 0) + x;
      ops::remote_store(buffer, 0, x);
      return x;
    };
  };
  const tw::TensorSpec spec{{16}, tw::float32};
  const Graph load_graph = ir.create_graph(branch(true), spec), store_graph = ir.create_graph(branch(false), spec);
  const auto iteration = [&](Tensor x, Tensor decision) {
    return tw::conditional(decision, {load_graph, {x}}, {store_graph, {x}})[0];
  };
  const Graph graph = ir.create_graph(iteration, spec, condition);
  store("y", tw::repeat(graph, 5, {ir.constant({0}, {16}), condition}));
};
static_assert(plan_of(loop_traffic, tw::ipu_model).remote == tw::RemoteTraffic{5 * 2 * 64, 5 * 64, 0, 5 * 2 * (600 + 272), 5 * 2},
              "of two branches the larger counts");

// ---- graphs that load and store rows by name

/// Loads row 0 of two buffers, and stores it in row 1.
template <bool use_io_tiles>
constexpr auto copied_rows = [](Ir& ir) {
  tw::NamedVariableFactories factories;
  factories.insert("a", tw::VariableFactory(ir, tw::ones(), {{1024}, tw::float32}));
  factories.insert("b.w", tw::VariableFactory(ir, tw::ones(), {{64, 2}, tw::float16}));
  const auto buffers = tw::named_variable_buffers(factories, 2);
  const tw::RemoteGraphOptions options{.use_io_tiles = use_io_tiles};
  const tw::NamedTensors row = tw::load_remote_graph(ir, buffers, options).call(0);
  tw::store_remote_graph(ir, buffers, options).bind(row).call(ir.constant(1, tw::uint32));
  store("y", row["a"] + 1.f);
};
constexpr tw::Target with_io_tiles = tw::gc200.with_io_tiles(32);
template <bool use_io_tiles>
constexpr bool only_those_tiles_transfer() {
  constexpr auto sets = tw::tile_sets<copied_rows<use_io_tiles>, with_io_tiles>;
  return sets[use_io_tiles].cycles.remote > 0 && sets[!use_io_tiles].cycles.remote == 0;
}
static_assert(only_those_tiles_transfer<true>() && only_those_tiles_transfer<false>());
constexpr tw::RemoteTraffic rows_on_io_tiles = plan_of(copied_rows<true>, with_io_tiles).remote,
                            rows_on_host = plan_of(copied_rows<true>).remote;
static_assert(rows_on_io_tiles.loaded_bytes == 4096 + 256 && rows_on_io_tiles.stored_bytes == 4096 + 256);
static_assert(rows_on_host.loaded_bytes == 4096 + 256, "the host has one set of tiles");
static_assert(plan_of(copied_rows<false>, with_io_tiles).remote.loaded_bytes == 4096 + 256);

// ---- layers that take turns

struct Product : tw::Module<Product> {
  constexpr Tensor build(Tensor x) { return ops::tanh(x.matmul(add_variable_input("weight", tw::normal(0, 1), {8, 8}))); }
};
/// Without state of the optimiser, for which there are no graphs of loads and stores.
template <std::int64_t layers, bool use_io_tiles = false>
constexpr auto in_phases = [](Ir& ir) {
  const Tensor x = support::load(ir, "x", {4, 8});
  tw::train::PhasedLayers phases(tw::create_graph(Product{}, x), tw::train::LayerNames::numbered("h", layers),
                                 tw::optim::SgdParameters{}, {.use_io_tiles = use_io_tiles});
  store("dx", phases.backward(phases.forward(x)));
};
constexpr tw::Text one_graph_for_all_layers() {
  Ir two, many;
  in_phases<2>(two);
  in_phases<12>(many);
  Facts facts;
  facts.check(many.tables.graphs.size() == two.tables.graphs.size(), "as many graphs of 12 layers as of 2");
  facts.check(many.main_graph().called_graphs().size() == 2, "loops of a forward and of a backward phase");
  const auto variables = many.main_graph().variables();
  return facts.check(variables.size() == 12 && variables[11].name() == "h.11.weight", "a variable of each layer");
}
TW_SAME(one_graph_for_all_layers(), "");
constexpr std::int64_t weight = 8 * 8 * 4, kept_input = 4 * 8 * 4;
constexpr tw::RemoteTraffic of_phases = plan_of(in_phases<12>).remote,
                            of_phases_on_io_tiles = plan_of(in_phases<12, true>, with_io_tiles).remote;
static_assert(of_phases.loaded_bytes == 12 * (2 * weight + kept_input) && of_phases.stored_bytes == 12 * (weight + kept_input));
static_assert(of_phases_on_io_tiles.loaded_bytes == of_phases.loaded_bytes &&
              of_phases_on_io_tiles.stored_bytes == of_phases.stored_bytes);
}  // namespace
