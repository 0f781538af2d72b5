// labels: none
// Profiles of programs on several simulated IPUs.
#include <algorithm>
#include <cstdint>

#include "../../catch.hpp"
#include "../../support/ipu_programs.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/profile/make_profile.hpp"
#include "tilewright/profile/print_profile.hpp"
#include "tilewright/train/minimise.hpp"
#include "tilewright/train/train.hpp"

using namespace ipu_programs;

namespace {
tw::Profile profile_of(const tw::Target& target) {
  return tw::profile([](Ir& ir) { inference<true>(ir); }, target, "inference");
}
constexpr void convolution(Ir& ir) {
  const Tensor x = ir.variable(tw::zeros(), {8, 1, 28, 28}, tw::float32, "x");
  const Tensor w = ir.variable(tw::zeros(), {8, 1, 3, 3}, tw::float32, "w");
  ops::host_store(ir.d2h_stream("y", {8, 8, 14, 14}), ops::conv(x, w, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}));
}
namespace layers = tw::layers;
template <int channels>
using Stage = layers::Sequential<layers::Conv2d<channels, 3, {.padding = 1, .bias = false}>, layers::BatchNorm<>,
                                 layers::Apply<ops::relu>, layers::MaxPool2d<2>>;
using Images = layers::Sequential<Stage<16>, Stage<32>, layers::Flatten<>, layers::Linear<4>>;
constexpr void train_images(Ir& ir) {
  tw::train::train_step(ir, Images{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 3, 32, 32}});
}
/// Layers that add ops for several operands of an op.
struct Sequences : tw::Module<Sequences> {
  BOOST_HANA_DEFINE_STRUCT(Sequences, (layers::Embedding<20, 16, {.padding_idx = 0}>, embedding),
                           (layers::MultiheadAttention<16, 2>, attention), (layers::LlamaBlock<16, 24, 2, 1>, block),
                           (layers::LoraLinear<16, 2>, adapted), (layers::GRU<16>, gru), (layers::LSTM<8>, lstm));
  constexpr tw::train::MeanLoss build(Tensor tokens) {
    const Tensor x = adapted(block(attention(embedding(tokens))));
    const Tensor y = std::get<0>(lstm(std::get<0>(gru(x)))), squares = y * y;
    return {ops::sum(squares), ops::sum(ops::cast(ops::greater(tokens, 0), tw::float32))};
  }
};
constexpr void train_sequences(Ir& ir) {
  tw::train::minimise(ir, Sequences{}, tw::optim::LambParameters{.lr = 1e-3}, {{"tokens", {2, 6}, tw::int32}});
}
/// A program's plan as text, made at run time; it has the figures of the constants.
template <auto program, tw::Target target>
tw::Text plan_at_run_time() {
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(program, target), target));
  CHECK(plan.memory.fullest_tile == tw::peak_bytes<program, target>);
  CHECK(plan.cycles.total() == tw::cycles<program, target>);
  return tw::print_plan(plan);
}
}  // namespace

TEST_CASE("profile: a plan that is made at run time is the one that the compiler made") {
  constexpr std::int64_t bytes = tw::Program<convolution, tw::ipu_model>::plan.memory.fullest_tile;
  const tw::internal::ProductProblem problem;
  for (const auto& axis : problem.axes)
    CHECK(axis == tw::internal::ConvolutionAxis{.field = 1, .kernel = 1, .stride = 1, .dilation = 1});
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(convolution, tw::ipu_model), tw::ipu_model));
  CHECK(plan.memory.fullest_tile == bytes);
  CHECK(tw::print_plan(plan).view() == tw::print_plan(tw::Program<convolution, tw::ipu_model>::plan).view());
}

TEST_CASE("profile: a plan that is made at run time has the order of ops of the one that the compiler made") {
  constexpr tw::Target small = tw::gc200.with_tiles(8);
  CHECK(plan_at_run_time<train_images, tw::gc200>().view() == tw::print_plan(tw::Program<train_images, tw::gc200>::plan).view());
  CHECK(plan_at_run_time<train_sequences, small>().view() == tw::print_plan(tw::Program<train_sequences, small>::plan).view());
}

TEST_CASE("profile: what each IPU does, and when") {
  const tw::Target target = tw::gc200.with_tiles(40).with_io_tiles(32).with_ipus(3);
  const tw::Profile profile = profile_of(target);
  const auto ir = tw::trace([](Ir& traced) { inference<true>(traced); }, target);
  const tw::Plan plan = tw::lower(tw::prepare(*ir, target));
  REQUIRE(profile.tile_sets.size() == 6);
  CHECK(profile.tiles.size() == 120);
  CHECK(profile.tile_sets[3].name == "IO tiles of IPU 1");
  CHECK(profile.tile_sets[3].first_tile == 40);
  CHECK(profile.tile_sets[2].first_tile == 72);
  CHECK(profile.totals().cycles == plan.cycles.total());
  for (std::size_t set = 0; set < 6; ++set) {
    INFO(profile.tile_sets[set].name);
    CHECK(profile.tile_sets[set].busy() + profile.tile_sets[set].waiting == plan.cycles.total());
    std::int64_t fullest = 0;
    for (std::int64_t tile = 0; tile < profile.tile_sets[set].tiles; ++tile)
      fullest = std::max(fullest, profile.tiles[static_cast<std::size_t>(profile.tile_sets[set].first_tile + tile)].total());
    CHECK(fullest <= profile.tile_sets[set].fullest_tile_bytes);
    CHECK(fullest > profile.tile_sets[set].fullest_tile_bytes * 9 / 10);
  }
  // The slices of a set of tiles follow each other, and the last one ends with the run.
  std::vector<std::int64_t> ends(6, 0);
  std::vector<std::int64_t> times(profile.steps.size(), 0);
  for (const tw::Profile::Slice& slice : profile.slices) {
    const tw::Profile::Step& step = profile.steps[static_cast<std::size_t>(slice.step)];
    const auto set = static_cast<std::size_t>(step.tile_set);
    CHECK(slice.begin >= ends[set]);
    ends[set] = slice.begin + slice.times * step.cycles();
    times[static_cast<std::size_t>(slice.step)] += slice.times;
  }
  CHECK(*std::ranges::max_element(ends) == plan.cycles.total());
  for (std::size_t i = 0; i < profile.steps.size(); ++i)
    if (profile.steps[i].cycles() > 0 && profile.steps[i].tile_set >= 0) CHECK(times[i] == profile.steps[i].times);
}

TEST_CASE("profile: its text has a line for each IPU") {
  const std::string text = tw::profile_to_string(profile_of(tw::gc200.with_tiles(16).with_ipus(3)));
  CHECK(text.find("Cycles of each IPU\n") != text.npos);
  for (const char* name : {"\nIPU 0 ", "\nIPU 1 ", "\nIPU 2 ", "\nwaiting "}) CHECK(text.find(name) != text.npos);
  CHECK(tw::profile_to_string(profile_of(tw::gc200.with_ipus(3))).find("IO tiles") == text.npos);
}

TEST_CASE("profile: a step has the banks of its operands if its cycles depend on them") {
  const auto update = [](Ir& ir) {
    const Tensor w = ir.variable(tw::zeros(), {1000 * 1472}, tw::float32, "w");
    ops::scaled_add_(w, ops::host_load(ir.h2d_stream("dw", w.spec())));
  };
  const tw::Profile profile = tw::profile(update, tw::gc200, "an update");
  REQUIRE(profile.steps.size() == 1);
  CHECK(profile.steps[0].banks == "interleaved");
  const auto map = [](Ir& ir) {
    ops::host_store(ir.d2h_stream("y", {1472}), ops::exp(ops::host_load(ir.h2d_stream("x", {1472}))));
  };
  CHECK(tw::profile_to_string(tw::profile(map, tw::gc200)).find("  banks") == std::string::npos);  // no such column
  CHECK(
      tw::profile_to_string(tw::profile(map, tw::gc200.with_banks(tw::BankPolicy::as_allocated))).find(", banks as_allocated") !=
      std::string::npos);
  CHECK(tw::profile_to_string(profile_of(tw::gc200.with_ipus(3))).find("  banks\n") != std::string::npos);
  CHECK(tw::profile_to_string(profile).find("  banks\n") != std::string::npos);
  CHECK(tw::profile_to_string(profile).find("  interleaved\n") != std::string::npos);
}

TEST_CASE("profile: steps have the cycles of streaming memory and of collectives") {
  const auto stored = [](Ir& ir) {
    const auto buffer = ir.remote_buffer({64}, tw::float32, 2);
    ops::remote_store(buffer, 1, ops::remote_load(buffer, 0) + 1);
  };
  const tw::Profile profile = tw::profile(stored, tw::gc200, "a row");
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(stored, tw::gc200), tw::gc200));
  CHECK(plan.remote.cycles > 0);
  CHECK(profile.totals().remote == plan.remote.cycles);
  CHECK(profile.totals().cycles == plan.cycles.total());
}
