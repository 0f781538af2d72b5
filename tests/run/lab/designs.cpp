// labels: none
// Rows of a laboratory beside the constants of the same programs; traffic, energy and exchange of programs whose figures are
// known.
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tilewright/lab.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <vector>

#include "../../catch.hpp"

namespace {

namespace tw = tilewright;
namespace lab = tw::lab;
using nlohmann::json;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<64>, fc1), (tw::layers::Linear<8>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::relu(fc1(x))); }
};
constexpr void step(tw::Ir& ir) {
  const auto loss = [](Net& net, tw::Tensor x) { return tw::ops::mean(net(x)); };
  tw::train::minimise(ir, Net{}, loss, tw::optim::SgdParameters{}, {{"x", {16, 32}}});
}
/// y += 0.5 x, of 32 elements each on 4 tiles.
constexpr void add(tw::Ir& ir) {
  const auto x = ir.variable(tw::zeros(), {128}, tw::float32, "x"), y = ir.variable(tw::zeros(), {128}, tw::float32, "y");
  tw::ops::scaled_add_(y, x, {.b = 0.5});
}
constexpr void product(tw::Ir& ir) {
  const auto a = ir.variable(tw::zeros(), {64, 128}, tw::float16, "a"), b = ir.variable(tw::zeros(), {128, 32}, tw::float16, "b");
  tw::ops::host_store(ir.d2h_stream("c", {64, 32}, tw::float16), a.matmul(b));
}
/// A row of 48 floats from streaming memory to IPU 0, over links to IPU 1, and back to streaming memory.
constexpr void far(tw::Ir& ir) {
  const tw::RemoteBuffer rows = ir.remote_buffer({48}, tw::float32, 2);
  const tw::Tensor there = tw::ops::relu(tw::ops::remote_load(rows, 0)).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  tw::ops::remote_store(rows, 1, there + 1);
}
/// The tanh of both halves of 256 numbers, by two calls of a graph.
constexpr void halves(tw::Ir& ir) {
  const auto x = ir.variable(tw::zeros(), {256}, tw::float32, "x");
  const tw::Graph graph = ir.create_graph([](tw::Tensor half) { return tw::ops::tanh(half); }, tw::TensorSpec{{128}});
  for (const int half : {0, 1})
    tw::ops::host_store(ir.d2h_stream(half ? "second" : "first", {128}),
                        tw::call(graph, {x[tw::slice(128 * half, 128 * half + 128)]})[0]);
}
/// Products in a graph that is called with parts of a variable, in a loop, and in a branch.
constexpr void calls(tw::Ir& ir) {
  const auto x = ir.variable(tw::zeros(), {72, 64}, tw::float32, "x"), w = ir.variable(tw::zeros(), {64, 64}, tw::float32, "w");
  const tw::TensorSpec rows{{32, 64}};
  const tw::Graph layer = ir.create_graph([](tw::Tensor t, tw::Tensor u) { return t.matmul(u); }, rows, w);
  const tw::Graph other = ir.create_graph([](tw::Tensor t, tw::Tensor u) { return tw::ops::softmax(t).matmul(u.T()); }, rows, w);
  const tw::Tensor y = tw::call(layer, {x[tw::slice(0, 32)], w})[0], z = tw::call(layer, {x[tw::slice(40, 72)], w.T()})[0];
  const tw::Tensor turned = tw::repeat(layer, 3, {y, w})[0];
  const tw::Tensor chosen = tw::conditional(tw::ops::greater(tw::ops::sum(z), 0), {layer, {turned, w}}, {other, {z, w}})[0];
  tw::ops::host_store(ir.d2h_stream("chosen", {32, 64}), chosen);
}
lab::Laboratory laboratory() {
  return lab::Laboratory(
      {{"step", step}, {"add", add}, {"product", product}, {"far", far}, {"halves", halves}, {"calls", calls}});
}

std::vector<lab::Design> plans_of(const std::vector<lab::Setting>& settings) {
  lab::Laboratory programs = laboratory();
  std::vector<lab::Design> designs;
  for (const lab::Setting& setting : settings) designs.push_back(programs.plan(setting));
  return designs;
}

constexpr tw::IpuModel wide_model = [] {
  tw::IpuModel model = tw::bow_model;
  model.exchange_bytes_per_cycle = 8;
  model.sync_cycles = 50;
  return model;
}();
constexpr tw::Target wide = tw::bow.with_ipu(&wide_model);

}  // namespace

TEST_CASE("lab: rows have the figures that are constants of a program") {
  const std::vector<lab::Setting> settings{{"step", {"gc2", {}}},
                                           {"step", {"bow", {{"exchange_bytes_per_cycle", 8}, {"sync_cycles", 50}}}}};
  const std::vector<lab::Design> designs = plans_of(settings);
  const json rows = json::parse(lab::to_json(designs));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["cycles"] == tw::cycles<step, tw::gc2>);
  CHECK(rows[1]["cycles"] == tw::cycles<step, wide>);
  CHECK(rows[0]["tile_bytes"] == tw::peak_bytes<step, tw::gc2>);
  CHECK(rows[1]["tile_bytes"] == tw::peak_bytes<step, wide>);
  CHECK(rows[1]["cycles_exchange"] == tw::cycle_use<step, wide>.exchange);
  CHECK(rows[1]["tile_code"] == tw::peak_memory<step, wide>.code.total());
  CHECK(rows[0]["operations_float32"] == tw::cycle_use<step, tw::gc2>.flops);
  CHECK(rows[1]["seconds"] == wide.seconds(tw::cycles<step, wide>));
  CHECK(rows[1]["machine"] == "bow with exchange_bytes_per_cycle=8, sync_cycles=50");
  CHECK(rows[0]["exchange_bytes_per_cycle"] == 4);
  CHECK(rows[0]["joules"] == 0.0);
  CHECK(rows[0]["published_watts"].is_null());
  CHECK(lab::to_csv(plans_of(settings)) == lab::to_csv(designs));
}

TEST_CASE("lab: a design on which a program does not fit has no times") {
  const json row = json::parse(lab::to_json(plans_of({{"product", {"gc200", {{"tiles", 2}, {"bytes_per_tile", 12'000}}}}})))[0];
  CHECK(row["fits"] == false);
  CHECK(row["cycles"].is_null());
  CHECK(row["seconds"].is_null());
  CHECK(row["joules"].is_null());
  CHECK(row["tile_bytes"] > 12'000);
  CHECK(row["limit"].get<std::string>().starts_with("memory: "));
}

TEST_CASE("lab: a time has the range of the kinds of its steps, weighted by their cycles") {
  tw::CyclesByKind cycles{};
  cycles[static_cast<std::size_t>(tw::ComparedKind::products)] = 30;
  cycles[static_cast<std::size_t>(tw::ComparedKind::links)] = 10;
  const tw::RangeOfKind &products = tw::compared_kinds[static_cast<int>(tw::ComparedKind::products)],
                        &links = tw::compared_kinds[static_cast<int>(tw::ComparedKind::links)];
  CHECK(tw::time_range(cycles).least == Approx(0.75 * products.least + 0.25 * links.least));
  CHECK(tw::time_range(cycles).most == Approx(0.75 * products.most + 0.25 * links.most));

  // The product of 64 x 128 by 128 x 32, whose result is streamed: all other cycles are products'.
  tw::KindCounter kinds;
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(product, tw::gc200), tw::gc200), kinds);
  const tw::CyclesByKind of_product = kinds.of_run(plan);
  CHECK(of_product[static_cast<std::size_t>(tw::ComparedKind::others)] >= plan.cycles.host);
  CHECK(of_product[static_cast<std::size_t>(tw::ComparedKind::products)] >= plan.cycles.compute);
  std::int64_t all = 0;
  for (const std::int64_t each : of_product) all += each;
  CHECK(all == plan.cycles.total());
  const json row = json::parse(lab::to_json(plans_of({{"product", {"gc200", {}}}})))[0];
  CHECK(row["seconds_least"] == Approx(row["seconds"].get<double>() * tw::time_range(of_product).least));
  CHECK(row["seconds_most"] == Approx(row["seconds"].get<double>() * tw::time_range(of_product).most));
}

TEST_CASE("lab: bytes that vertices read and write, and those that are exchanged, are those of the operands") {
  lab::Laboratory programs = laboratory();
  const lab::Design design = programs.plan({"add", {"gc200", {{"tiles", 4}}}});
  CHECK(design.traffic.read == 2 * 128 * 4);
  CHECK(design.traffic.written == 128 * 4);
  CHECK(design.traffic.exchanged == 0);
  CHECK(design.traffic.host == 0);
  const lab::Design one_tile = programs.plan({"product", {"gc200", {{"tiles", 1}}}});
  CHECK(one_tile.traffic.read == (64 * 128 + 128 * 32) * 2);
  CHECK(one_tile.traffic.written == 64 * 32 * 2);
  CHECK(one_tile.traffic.host == 64 * 32 * 2);
  CHECK(one_tile.traffic.float16_float32_operations == 2 * 64 * 128 * 32);
  CHECK(programs.plan({"product", {"gc200", {{"tiles", 1}, {"partials_bits", 16}}}}).traffic.float16_operations ==
        2 * 64 * 128 * 32);
}

TEST_CASE("lab: bytes over links and of streaming memory are those that move") {
  const std::vector<lab::Design> designs = plans_of({{"far", {"gc200", {{"ipus", 2}}}}});
  CHECK(designs[0].problem.empty());
  CHECK(designs[0].traffic.links == 48 * 4);
  CHECK(designs[0].traffic.streamed == 2 * 48 * 4);
  CHECK(designs[0].cycles.links + designs[0].cycles.remote > 0);
  CHECK(plans_of({{"far", {"gc200", {}}}})[0].problem.find("IPU") != std::string::npos);
}

TEST_CASE("lab: copies of arguments on their tiles are read and written") {
  const tw::Target target = tw::gc200.with_tiles(4);
  tw::Ir ir(tw::OnError::record);
  tw::trace_for(target, halves, ir);
  const tw::Plan plan = tw::lower(tw::prepare(std::move(ir), target));
  std::int64_t copied = 0;  // on each of 4 tiles, which have 32 elements of an argument each
  for (const auto& moves : plan.moves) copied += 4 * moves.local_bytes;
  CHECK(copied > 0);
  const lab::Design design = laboratory().plan({"halves", {"gc200", {{"tiles", 4}}}});
  CHECK(design.traffic.read == 2 * 128 * 4 + copied);
  CHECK(design.traffic.written == 2 * 128 * 4 + copied);
}

TEST_CASE("lab: energy is the sum of the terms that are known") {
  lab::Laboratory programs = laboratory();
  const lab::Setting setting{"product", {"gc200", {{"tiles", 1}}}};
  const lab::Design preset = programs.plan(setting);
  const double operations = 2 * 64 * 128 * 32;
  CHECK(preset.energy.total_joules == Approx(operations * 1.75e-12));
  CHECK(preset.energy.not_known == std::vector<std::string>{"read_byte", "written_byte", "host_byte", "idle_watts"});
  CHECK(preset.published_watts.value == 300);
  const lab::Design given = programs.plan(
      setting,
      {{"read_byte", 2}, {"written_byte", 3}, {"host_byte", 10}, {"idle_watts", 100}, {"float16_float32_operation", 0.5}});
  const double bytes = 2 * (64 * 128 + 128 * 32) * 2 + 3 * 64 * 32 * 2 + 10 * 64 * 32 * 2;
  CHECK(given.energy.total_joules == Approx(operations * 0.5e-12 + bytes * 1e-12 + 100 * given.seconds()));
  CHECK(given.energy.not_known.empty());
  CHECK(given.energy.watts == Approx(given.energy.total_joules / given.seconds()));
  CHECK_THROWS_WITH(programs.plan(setting, {{"read_bytes", 1}}),
                    Catch::Matchers::ContainsSubstring("lab: energy: unknown key 'read_bytes'"));
  CHECK_THROWS_WITH(programs.plan(setting, {{"read_byte", -1}}), "lab: energy: read_byte -1: a number from 0 on expected");
}

TEST_CASE("lab: the rows of an exchange are what the plan counts") {
  std::set<std::string> kinds;  // of steps with rows
  for (const auto& [build, target] :
       std::vector<std::pair<std::function<void(tw::Ir&)>, tw::Target>>{{step, tw::gc200.with_tiles(16)},
                                                                        {product, tw::gc200.with_tiles(8)},
                                                                        {step, tw::gc2},
                                                                        {calls, tw::gc200.with_tiles(8)}}) {
    const tw::Profile profile = tw::profile(build, target, "p");
    std::int64_t steps_with_rows = 0, of_full_blocks = 0;
    for (std::size_t s = 0; s < profile.steps.size(); ++s) {
      const tw::Profile::Step& of = profile.steps[s];
      const lab::StepExchange exchange = lab::exchange_of_step(build, target, profile, static_cast<int>(s));
      CHECK(exchange.label == of.label);
      std::int64_t all = 0;
      std::map<std::int64_t, std::int64_t> received;
      for (const lab::ExchangeRow& row : exchange.rows) {
        CHECK((row.from >= 0 && row.from < target.tiles && row.to >= 0 && row.to < target.tiles && row.bytes > 0));
        all += row.bytes;
        received[row.to] += row.bytes;
      }
      CHECK(all <= of.exchanged_bytes);
      if (of.kind == "call" || of.kind == "conditional") CHECK(all == of.exchanged_bytes);
      if (all > 0) kinds.insert(of.kind);
      CHECK((all > 0) == (of.exchanged_bytes > 0));
      for (const auto& [tile, bytes] : received) CHECK(bytes <= of.bytes_in);
      steps_with_rows += all > 0 ? 1 : 0;
      of_full_blocks += all > 0 && all == of.exchanged_bytes ? 1 : 0;
    }
    CHECK(steps_with_rows > 0);
    CHECK(of_full_blocks > 0);
  }
  for (const std::string kind : {"call", "loop", "conditional", "superstep"}) CHECK(kinds.contains(kind));
  CHECK_THROWS_AS(lab::exchange_of_step(add, tw::gc200, tw::profile(add, tw::gc200), 99), std::out_of_range);
}

TEST_CASE("lab: the arguments of a call come from the tiles that have them") {
  // Of 256 numbers, a half is on each of 2 tiles. A graph with one half has 64 numbers on each.
  const tw::Target target = tw::gc200.with_tiles(2);
  const tw::Profile profile = tw::profile(halves, target);
  std::vector<std::vector<lab::ExchangeRow>> rows_of_calls;
  for (std::size_t s = 0; s < profile.steps.size(); ++s)
    if (profile.steps[s].kind == "call")
      rows_of_calls.push_back(lab::exchange_of_step(halves, target, profile, static_cast<int>(s)).rows);
  REQUIRE(rows_of_calls.size() == 2);
  CHECK(rows_of_calls[0] == std::vector<lab::ExchangeRow>{{0, 0, 256, 0}, {0, 1, 256, 0}});
  CHECK(rows_of_calls[1] == std::vector<lab::ExchangeRow>{{1, 0, 256, 0}, {1, 1, 256, 0}});
}
