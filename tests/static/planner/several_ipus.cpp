// labels: none
// Plans for several simulated IPUs, and for IO tiles: the memory and the time of each set of tiles.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Plan, tw::Target, tw::Tensor;
using tw::internal::TileSets;

// ---- tiles and their sets

constexpr TileSets sets(tw::gc200.with_ipus(3).with_io_tiles(64));
static_assert(sets.size() == 6 && sets.all() == 3 * 1472);
static_assert(sets.count(0) == 1408 && sets.first(0) == 64 && sets.count(3) == 64 && sets.first(3) == 1472);
static_assert(sets.of(0) == 1 && sets.of(64) == 0 && sets.of(1472) == 3 && sets.of(3 * 1472 - 1) == 4);
static_assert(sets.number({2, tw::TileSet::io}) == 5 && sets.placement(5) == tw::Placement{2, tw::TileSet::io});
constexpr TileSets one(tw::gc200);
static_assert(one.size() == 1 && one.number({}) == 0 && one.count(0) == 1472 && one.first(0) == 0);
static_assert(tw::internal::without_io_tiles(tw::gc200.with_io_tiles(64)) == tw::gc200.with_tiles(1408));

// ---- memory

/// A product on each of two IPUs; the second weight is eight times as large.
constexpr void two_products(Ir& ir) {
  const Tensor x = support::load(ir, "x", {16, 256});
  const Tensor hidden = x.matmul(support::variable(ir, "first", {256, 256})).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  support::store("y", hidden.matmul(support::variable(ir, "second", {256, 2048})));
}
constexpr Target small = tw::gc200.with_tiles(16), two = small.with_ipus(2);
constexpr auto use = tw::tile_sets<two_products, two>;
static_assert(use.size() == 2 && use[0].ipu == 0 && use[1].ipu == 1 && !use[0].is_io);
static_assert(use[0].tile.variables == 256 * 256 * 4 / 16 && use[1].tile.variables == 256 * 2048 * 4 / 16);
static_assert(tw::peak_memory<two_products, two> == use[1].tile, "the fullest tile is on IPU 1");
static_assert(tw::fits<two_products, two.with_bytes_per_tile(300'000)>);
static_assert(!tw::fits<two_products, two.with_bytes_per_tile(150'000)>);

constexpr void two_products_on_one(Ir& ir) {
  const Tensor x = support::load(ir, "x", {16, 256});
  const Tensor hidden = x.matmul(support::variable(ir, "first", {256, 256}));
  support::store("y", hidden.matmul(support::variable(ir, "second", {256, 2048})));
}
constexpr auto one_use = tw::tile_sets<two_products_on_one, small>;
static_assert(one_use.size() == 1 && one_use[0].tile.variables == use[0].tile.variables + use[1].tile.variables);
static_assert(one_use[0].cycles == tw::cycle_use<two_products_on_one, small> && one_use[0].cycles.waiting == 0);
static_assert(tw::tile_sets<two_products_on_one, tw::cpu>.empty(), "the host has none");

// ---- memory proportions by IPU

enum class Given { not_at_all, by_op, by_ipu };
/// The two products, each with its own share of a tile's memory.
template <Given given>
constexpr void proportioned(Ir& ir) {
  const auto options = [](double proportion) {
    if (given == Given::by_op) return tw::MatMulOptions{.available_memory_proportion = proportion};
    return tw::MatMulOptions();
  };
  const Tensor x = support::load(ir, "x", {16, 256}), first = support::variable(ir, "first", {256, 256});
  const Tensor hidden = ops::matmul(x, first, options(0.02)).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  support::store("y", ops::matmul(hidden, support::variable(ir, "second", {256, 2048}), options(0.05)));
  if (given == Given::by_ipu) tw::set_available_memory_proportion_by_ipu(ir, {0.02, 0.05});
}
template <Given given>
constexpr auto memory_and_cycles = std::pair(tw::peak_memory<proportioned<given>, two>, tw::cycles<proportioned<given>, two>);
static_assert(memory_and_cycles<Given::by_op> != memory_and_cycles<Given::not_at_all>, "the plan depends on them");
static_assert(memory_and_cycles<Given::by_ipu> == memory_and_cycles<Given::by_op>);

struct Products : tw::Module<Products> {
  constexpr Tensor build(Tensor x, Tensor image) {
    const Tensor kernel = add_variable_input("kernel", tw::ones(), {2, 2, 3, 3});
    const Tensor convolved = ops::conv(image, kernel, {.available_memory_proportions = {0.5}, .partials_types = {tw::float32}});
    return ops::sum(convolved) + ops::sum(x.matmul(add_variable_input("weight", tw::ones(), {4, 4})));
  }
};
/// Proportions of all products and convolutions of a model and its gradient, set for the program or for the gradient only.
template <bool all>
constexpr tw::Text proportions() {
  Ir ir;
  const auto [factories, graph] = tw::create_graph(ir, Products{}, tw::TensorSpec{{2, 4}}, tw::TensorSpec{{1, 2, 8, 8}});
  const auto backward = tw::autodiff(graph);
  if (all) tw::set_available_memory_proportion_by_ipu(ir, {0.25});
  else tw::set_graph_available_memory_proportion_by_ipu(backward.graph(), {0});
  tw::Text result;
  for (const tw::Graph& each : {graph.graph(), backward.graph()})
    for (const tw::Node& node : ir.tables.record(each.id()).nodes)
      if (tw::ipu_rules_of(*node.op).with_memory_proportion)
        result += tw::text(node.op->name, " ", node.op->options(node.attributes), "\n");
  return result;
}
TW_SAME(proportions<true>(),
        "Conv available_memory_proportion=0.25, partials_type=float32\n"
        "MatMul available_memory_proportion=0.25\n"
        "MatMul available_memory_proportion=0.25\n"
        "MatMul available_memory_proportion=0.25\n"
        "ConvDataGrad available_memory_proportion=0.25, partials_type=float32\n"
        "ConvWeightsGrad available_memory_proportion=0.25, partials_type=float32\n");
TW_SAME(proportions<false>(),
        "Conv available_memory_proportion=0.5, partials_type=float32\n"
        "MatMul \n"
        "MatMul available_memory_proportion=0\n"
        "MatMul available_memory_proportion=0\n"
        "ConvDataGrad available_memory_proportion=0, partials_type=float32\n"
        "ConvWeightsGrad available_memory_proportion=0, partials_type=float32\n");
TW_SAME(support::failure([](Ir& ir) { tw::set_available_memory_proportion_by_ipu(ir, {0.5, 1.5}); }),
        "set_available_memory_proportion_by_ipu: 1.5 for IPU 1: a number from 0 to 1 expected");
TW_SAME(support::failure([](Ir& ir) { tw::set_graph_available_memory_proportion_by_ipu(ir.main_graph(), {-0.5}); }),
        "set_graph_available_memory_proportion_by_ipu: -0.5 for IPU 0: a number from 0 to 1 expected");
TW_SAME(support::failure([](Ir& ir) {
          two_products(ir);
          tw::set_available_memory_proportion_by_ipu(ir, {0.5});
        }),
        "set_available_memory_proportion_by_ipu: 1 numbers, and MatMul.103 on IPU 1: one for each IPU expected");

// ---- time

static_assert(use[0].cycles.total() == use[1].cycles.total() && tw::cycles<two_products, two> == use[0].cycles.total());
static_assert(use[0].cycles.waiting > use[1].cycles.compute, "IPU 0 is done when IPU 1 begins");

template <int destination>
constexpr void one_copy(Ir& ir) {
  const Tensor v = support::variable(ir, "v", {1024});
  const auto device = tw::ipu(ir, destination);
  ops::add_(support::variable(ir, "sum", {1024}), v.copy_to_ipu(destination, 0));
}
constexpr tw::CycleUse copied = tw::tile_sets<one_copy<1>, two>[0].cycles;
static_assert(copied.links == 600 + (4096LL * 1'325'000'000 + 6 * 13'600'000'000 - 1) / (6 * 13'600'000'000),
              "over the six links of a pair, after the barrier of all machines");
static_assert(copied.exchange == 0 && copied.compute == 0, "the copy's vertices are on the other IPU");
static_assert(tw::tile_sets<one_copy<2>, small.with_ipus(3)>[0].cycles.links ==
              600 + (4096LL * 1'325'000'000 + 2 * 13'600'000'000 - 1) / (2 * 13'600'000'000));

// ---- copies with nothing between them share an exchange

constexpr std::int64_t over_links(std::int64_t bytes, std::int64_t links) {
  return 600 + (bytes * 1'325'000'000 + links * 13'600'000'000 - 1) / (links * 13'600'000'000);
}
constexpr Tensor vector_on(Ir& ir, int ipu) {
  const auto device = tw::ipu(ir, ipu);
  return support::variable(ir, tw::text("v", ipu).view(), {1024});
}
/// Adds what came to an IPU, of which nothing goes on.
constexpr void keep(Ir& ir, int ipu, Tensor copy, std::string_view name = "sum") {
  const auto device = tw::ipu(ir, ipu);
  ops::add_(support::variable(ir, tw::text(name, ipu).view(), {1024}), copy);
}
constexpr void both_ways(Ir& ir) {
  const Tensor first = vector_on(ir, 0), second = vector_on(ir, 1);
  const Tensor there = first.copy_to_ipu(1, 0), back = second.copy_to_ipu(0, 1);
  keep(ir, 1, there), keep(ir, 0, back);
}
template <bool computes_between>
constexpr void two_one_way(Ir& ir) {
  const Tensor first = vector_on(ir, 0);
  const auto negated = [&] {
    const auto device = tw::ipu(ir, 0);
    return ops::negate(first);
  };
  Tensor second;
  if (!computes_between) second = negated();
  const Tensor copy = first.copy_to_ipu(1, 0);
  if (computes_between) second = negated();
  const Tensor other = second.copy_to_ipu(1, 0);
  keep(ir, 1, copy), keep(ir, 1, other, "more");
}
/// Of four IPUs, first 0 and 1, and 2 and 3, then 1 and 2 copy.
constexpr void to_neighbours(Ir& ir) {
  const Tensor vectors[] = {vector_on(ir, 0), vector_on(ir, 1), vector_on(ir, 2), vector_on(ir, 3)};
  const Tensor copies[] = {vectors[0].copy_to_ipu(1, 0), vectors[2].copy_to_ipu(3, 2), vectors[1].copy_to_ipu(2, 1)};
  keep(ir, 1, copies[0]), keep(ir, 3, copies[1]), keep(ir, 2, copies[2]);
}
constexpr void onwards(Ir& ir) { keep(ir, 2, vector_on(ir, 0).copy_to_ipu(1, 0).copy_to_ipu(2, 1)); }
template <auto program>
constexpr std::int64_t links_of(int ipu) {
  return tw::tile_sets<program, small.with_ipus(4)>[static_cast<std::size_t>(ipu)].cycles.links;
}
static_assert(links_of<both_ways>(0) == over_links(4096, 6) && links_of<both_ways>(1) == over_links(4096, 6));
static_assert(links_of<two_one_way<false>>(0) == over_links(8192, 6), "their bytes add up, after one barrier");
static_assert(links_of<two_one_way<true>>(0) == 2 * over_links(4096, 6), "IPU 0 computes between");
static_assert(links_of<to_neighbours>(1) == over_links(4096, 2), "two links take longer than the six of a pair");
static_assert(links_of<onwards>(1) == over_links(4096, 6) + over_links(4096, 2), "what has come goes on later");

/// The same on each of so many IPUs.
template <int ipus>
constexpr void side_by_side(Ir& ir) {
  for (int i = 0; i < ipus; ++i) {
    const auto device = tw::ipu(ir, i);
    const tw::Text number = tw::text(i);
    ops::add_(support::variable(ir, tw::text("sum", i).view(), {64, 64}),
              support::variable(ir, tw::text("a", i).view(), {64, 64})
                  .matmul(support::variable(ir, tw::text("b", i).view(), {64, 64})));
  }
}
static_assert(tw::cycles<side_by_side<4>, small.with_ipus(4)> == tw::cycles<side_by_side<1>, small>,
              "IPUs work at the same time");
static_assert(tw::cycles<side_by_side<4>, small.with_ipus(64)> == tw::cycles<side_by_side<1>, small>,
              "others have nothing to do");

/// Steps of two stages of equal work: six products each.
struct Stages {
  Tensor x, first, second, sum;
  constexpr explicit Stages(Ir& ir)
      : x(support::variable(ir, "x", {64, 512})),
        first(support::variable(ir, "first", {512, 512})),
        second(support::variable(ir, "second", {512, 512})),
        sum(support::variable(ir, "sum", {64, 512})) {}
  static constexpr Tensor products(Tensor t, const Tensor& weight) {
    for (int i = 0; i < 6; ++i) t = t.matmul(weight);
    return t;
  }
  constexpr Tensor run_first(int ipus) const {
    const auto device = tw::ipu(x.ir(), 0);
    const Tensor hidden = products(x, first);
    return ipus > 1 ? hidden.copy_to_ipu(1) : hidden;
  }
  constexpr void run_second(const Tensor& hidden, int ipus) const {
    const auto device = tw::ipu(x.ir(), ipus - 1);
    ops::add_(sum, products(hidden, second));
  }
};
constexpr void on_one(Ir& ir) {
  const Stages stages(ir);
  for (int i = 0; i < 8; ++i) stages.run_second(stages.run_first(1), 1);
}
template <int steps>
constexpr void pipelined(Ir& ir) {
  const Stages stages(ir);
  auto pipeline = tw::pipelined_execution(ir, steps);
  Tensor hidden;
  {
    const auto stage = pipeline.stage(0);
    hidden = stages.run_first(2);
  }
  const auto stage = pipeline.stage(1);
  stages.run_second(hidden, 2);
}
constexpr Target full = tw::gc200.with_ipus(2);
constexpr std::int64_t cycles_on_one = tw::cycles<on_one, tw::gc200>;
static_assert(tw::cycles<pipelined<8>, full> * 3 < cycles_on_one * 2, "1.5 times as fast");
/// Of a pipeline of 8 steps in two stages, each IPU has nothing to do in one of 9 cycles.
constexpr double idle(const tw::CycleUse& cycles) {
  return static_cast<double>(cycles.waiting) / static_cast<double>(cycles.total());
}
template <int steps, int ipu>
constexpr double idle_ipu = idle(tw::tile_sets<pipelined<steps>, full>[ipu].cycles);
static_assert(idle_ipu<8, 0> > 1. / 9 - 0.02 && idle_ipu<8, 0> < 1. / 9 + 0.02);
static_assert(idle_ipu<8, 1> > 1. / 9 - 0.02 && idle_ipu<8, 1> < 1. / 9 + 0.02);
static_assert(idle_ipu<40, 0> < 1. / 41 + 0.02, "more steps, a smaller bubble");

// ---- IO tiles

/// Loads the next input while it works on this one, and stores the last result, on IO tiles or on those that compute.
template <bool on_io_tiles>
constexpr void overlapped(Ir& ir) {
  const auto inputs = ir.h2d_stream("x", {64, 512});
  const auto results = ir.d2h_stream("y", {64, 512});
  const Tensor weight = support::variable(ir, "weight", {512, 512});
  const auto load = [&] {
    if (!on_io_tiles) return ops::host_load(inputs);
    const auto io = tw::io_tiles(ir);
    return ops::host_load(inputs);
  };
  const auto copy = [](const Tensor& x) { return on_io_tiles ? ops::io_tile_copy(x) : x; };
  Tensor x = copy(load());
  for (int i = 0; i < 4; ++i) {
    const Tensor next = i < 3 ? load() : Tensor();
    Tensor y = x;
    for (int layer = 0; layer < 6; ++layer) y = ops::gelu(y.matmul(weight));
    const Tensor result = copy(y);
    {
      const auto io = tw::io_tiles(ir);
      if (on_io_tiles) ops::host_store(results, result);
    }
    if (!on_io_tiles) ops::host_store(results, result);
    if (i < 3) x = copy(next);
  }
}
constexpr Target with_io = tw::gc200.with_io_tiles(32);
constexpr auto beside = tw::tile_sets<overlapped<true>, with_io>;
static_assert(beside.size() == 2 && beside[1].is_io && beside[0].cycles.host == 0 && beside[1].cycles.compute > 0);
static_assert(beside[0].cycles.total() == beside[1].cycles.total());
constexpr tw::CycleUse alone = tw::cycle_use<overlapped<false>, tw::gc200>;
static_assert(alone.waiting == 0 && beside[1].cycles.host == alone.host);
/// The run takes as long as the streams, but for what comes before the first and after the last.
static_assert(beside[1].cycles.total() < alone.total() - alone.compute / 2);
static_assert(beside[1].tile.variables == 0 && beside[1].tile.frame > 0 && beside[0].tile.variables > 0);

}  // namespace
