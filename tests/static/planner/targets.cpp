// labels: none
// Targets: the models of IPUs, their peaks, and models of a user's own.
#include "../../support/same.hpp"
#include "tilewright/target/devices.hpp"

namespace {

namespace tw = tilewright;
using tw::float16, tw::float32, tw::Confidence;

// ---- peaks are the published ones

/// Whether a rate agrees with a published one to three digits.
constexpr bool is(std::int64_t rate, double published) {
  const double ours = static_cast<double>(rate);
  return ours > published * 0.9995 && ours < published * 1.0005;
}
static_assert(is(tw::gc2.peak_flops(float16, float16), 124.5e12) && is(tw::gc2.peak_flops(float16, float32), 124.5e12));
static_assert(is(tw::gc2.peak_flops(float32, float32), 31.13e12), "published: 31.1");
static_assert(is(tw::gc200.peak_flops(float16, float16), 249.66e12) && is(tw::gc200.peak_flops(float32, float32), 62.41e12));
static_assert(tw::gc200.peak_flops(float16, float32) == tw::gc200.peak_flops(float16, float16) / 2);
static_assert(is(tw::bow.peak_flops(float16, float16), 348.55e12) && is(tw::bow.peak_flops(float32, float32), 87.15e12));
static_assert(is(tw::c600.peak_flops(float16, float16), 280e12));
static_assert(tw::gc200.with_tiles(736).peak_flops(float32, float32) == tw::gc200.peak_flops(float32, float32) / 2);
static_assert(tw::cpu.peak_flops(float32, float32) == 0 && tw::cpu.clock_hz() == 0 && tw::cpu.seconds(1000) == 0);

static_assert(is(exchange_bandwidth(tw::gc2_model), 7.782e12) && is(exchange_bandwidth(tw::gc200_model), 7.802e12));
static_assert(is(exchange_bandwidth(tw::bow_model), 10.893e12));
static_assert(is(memory_bandwidth(tw::gc200_model), 46.81e12) && is(memory_bandwidth(tw::bow_model), 65.36e12));
static_assert(is(memory_read_bandwidth(tw::gc2_model), 31.13e12), "published: 31.1");

// ---- targets take their tiles and memory from their models

static_assert(tw::ipu_model == tw::gc200 && tw::gc200.ipu == &tw::gc200_model);
static_assert(tw::gc200.tiles == 1472 && tw::gc200.bytes_per_tile == 638'976 && tw::gc200.clock_hz() == 1'325'000'000);
static_assert(tw::gc2.tiles == 1216 && tw::gc2.bytes_per_tile == 262'144);
static_assert(tw::bow.tiles == 1472 && tw::bow != tw::gc200 && tw::c600 != tw::gc200);
static_assert(tw::bow.seconds(1'850'000) == 1e-3);
static_assert(!tw::cpu.ipu && tw::cpu.code().code(tw::CodeKind::product) == 1000);

// ---- names

TW_SAME(tw::device_name(tw::ipu_model), "ipu_model");
TW_SAME(tw::device_name(tw::gc200), "ipu_model");
TW_SAME(tw::device_name(tw::gc2), "gc2");
TW_SAME(tw::device_name(tw::c600), "c600");
TW_SAME(tw::device_name(tw::bow.with_tiles(4)), "custom");
constexpr tw::Target two[] = {tw::gc200, tw::bow};
TW_SAME(tw::device_names(two), "ipu_model, gc200, bow");

template <tw::Target... targets>
constexpr std::int64_t chosen_clock(std::string_view name) {
  std::int64_t clock = 0;
  tw::visit_device<targets...>(name, [&](auto device) { clock = device.value.clock_hz() / 1'000'000; });
  return clock;
}
static_assert(chosen_clock("gc200") == 1325 && chosen_clock("ipu_model") == 1325, "the same machine by two names");
static_assert(chosen_clock<tw::cpu, tw::bow>("bow") == 1850 && chosen_clock<tw::cpu, tw::bow>("cpu") == 0);

// ---- a user's own model

constexpr tw::IpuModel wide_model = [] {
  auto model = tw::gc200_model;
  model.exchange_bytes_per_cycle = 8;
  model.tiles = 64;
  return model;
}();
constexpr tw::Target wide = tw::gc200.with_ipu(&wide_model);
static_assert(wide.tiles == 64 && wide.bytes_per_tile == 638'976 && wide.ipu->exchange_bytes_per_cycle == 8);
static_assert(wide.shortest_reduction == tw::gc200.shortest_reduction && wide != tw::gc200.with_tiles(64));
static_assert(wide.with_tiles(32).tiles == 32 && wide.with_tiles(32).ipu == &wide_model);

template <tw::Target target>
struct OfTarget {
  static constexpr std::int64_t bytes = target.ipu->exchange_bytes_per_cycle;
};
static_assert(OfTarget<wide>::bytes == 8 && OfTarget<tw::bow>::bytes == 4, "a target is a template argument");

// ---- numbers know where they are from

static_assert(wide_model.exchange_bytes_per_cycle.confidence == Confidence::given && !wide_model.tiles.has_source());
static_assert(tw::gc200_model.clock_hz.confidence == Confidence::derived && !tw::gc200_model.clock_hz.guessed());
static_assert(tw::gc200_model.hop_cycles.guessed() && tw::gc2_model.host.bytes_per_second.confidence == Confidence::recalled);
static_assert(tw::gc200_model.interleaved_bytes == tw::gc200_model.bytes_per_tile - (0x80000 - 0x4c000), "behind 0x80000");
static_assert(!tw::gc200_model.interleaved_bytes.guessed() && !tw::gc2_model.interleaved_bytes.guessed());
static_assert(tw::bow_model.sync_cycles.guessed() && !tw::gc200_model.sync_cycles.guessed());
static_assert(name_of(Confidence::derived) == "derived" && name_of(Confidence::given) == "given");

/// Whether all numbers of a model have a source.
constexpr bool has_sources(const tw::IpuModel& m) {
  const auto all = [](auto&... figures) { return (... && figures.has_source()); };
  const auto path = [&](const tw::OffChipPath& p) {
    return all(p.bytes_per_second, p.sync_cycles, p.latency_cycles, p.exchange_blocks, p.packet_bytes);
  };
  for (const tw::Figure& bytes : m.code.vertex_code)
    if (!bytes.has_source() || bytes == 0) return false;
  return all(m.tiles, m.bytes_per_tile, m.clock_hz, m.workers, m.data_path_bytes, m.load_bytes, m.interleaved_load_bytes,
             m.store_bytes, m.copy_bytes, m.accumulator_bytes, m.memory_element_bytes, m.interleaved_bytes, m.launch_cycles,
             m.copy_call_cycles, m.products) &&
         all(m.exchange_bytes_per_cycle, m.tiles_per_exchange_bus, m.sync_cycles, m.nearest_sync_cycles, m.hop_cycles,
             m.fragment_instructions) &&
         path(m.host) && path(m.streaming_memory) &&
         all(m.link.bytes_per_second, m.link.links, m.link.pair_links, m.link.sync_cycles, m.link.linked_ipus,
             m.link.gateway_bytes_per_second) &&
         all(m.code.vertex, m.code.operand, m.code.step, m.code.exchange, m.code.branch, m.code.exchange_instruction,
             m.code.stack, m.code.reserve);
}
static_assert(has_sources(tw::gc2_model) && has_sources(tw::gc200_model) && has_sources(tw::bow_model) &&
              has_sources(tw::c600_model));
static_assert(!has_sources(wide_model));

}  // namespace
