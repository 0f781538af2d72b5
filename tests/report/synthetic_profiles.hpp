#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tilewright/profile/profile.hpp"

// Profiles as a planner would make them, without one: figures are made up, but hang together.
namespace synthetic {

using tilewright::MemoryCategory;
using tilewright::Profile;

/// How a machine and a plan differ from the first: clock, and what exchange and memory cost beside it.
struct Variant {
  const char* target = "gc200";
  std::int64_t clock_hz = 1'325'000'000;
  double peak_flops = 249.7e12;
  double exchange = 1;  ///< factor
  double weights = 1;   ///< factor of the bytes of variables
};
inline constexpr Variant bow{"bow", 1'850'000'000, 348.6e12, 0.8, 0.9};

/// A fraction of 0 to 1 that looks random and is the same on every machine.
inline double fraction(std::uint64_t seed) {
  seed = (seed + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((seed ^ seed >> 31) >> 40) / 16777216.0;
}
inline std::int64_t around(double middle, double spread, std::uint64_t seed) {
  return static_cast<std::int64_t>(middle * (1 - spread + 2 * spread * fraction(seed)));
}

namespace detail {
/// A kind of work: what a step of it costs for one unit.
struct Work {
  const char *label, *kind;
  double compute, exchange, balance;
  std::int64_t flops, vertices, assumed_percent;
};
inline constexpr Work product{"MatMul [Add, Gelu]", "superstep", 8200, 2600, 0.93, 402'653'184, 1472, 0},
    product_gradient{"MatMul; ScaledAdd", "superstep", 9400, 3300, 0.86, 402'653'184, 1440, 0},
    scores{"MatMul <Mul>", "superstep", 1900, 900, 0.71, 33'554'432, 1024, 0},
    softmax{"Softmax", "superstep", 2300, 310, 0.66, 10'485'760, 1024, 60},
    norm{"LayerNorm", "superstep", 1500, 420, 0.48, 5'242'880, 512, 70},
    add{"Add", "superstep", 310, 40, 0.97, 1'048'576, 1472, 20}, arrange{"Copy", "copy", 700, 1800, 0.31, 0, 368, 40};
}  // namespace detail

inline Profile::Step step(const detail::Work& work, std::string module, int body, std::int64_t times, double size,
                          const Variant& variant, std::uint64_t seed) {
  Profile::Step result;
  result.label = work.label;
  result.module = std::move(module);
  result.kind = work.kind;
  result.body = body;
  result.times = times;
  result.vertices = work.vertices;
  result.tiles_used = std::min<std::int64_t>(work.vertices, 1472);
  result.compute = around(work.compute * size, 0.2, seed);
  result.exchange = around(work.exchange * size * variant.exchange, 0.3, seed + 1);
  result.sync = 126 + 2 * (static_cast<std::int64_t>(seed) % 20);
  result.balance = work.balance * (0.9 + 0.1 * fraction(seed + 2));
  result.flops = static_cast<std::int64_t>(static_cast<double>(work.flops) * size);
  result.assumed = result.compute * work.assumed_percent / 100 + result.sync;
  result.bytes_in = 4 * result.exchange;
  result.bytes_out = 3 * result.exchange;
  result.fragments = 1 + result.exchange / 90;
  result.exchanged_bytes = result.bytes_in * result.tiles_used * 3 / 4;
  return result;
}

/// The training step of a small transformer on 1,472 tiles: 60 steps in four bodies, 40 tensors.
inline Profile transformer(const Variant& variant = {}) {
  Profile profile;
  profile.program = "encoder_train_step";
  profile.target = variant.target;
  profile.bytes_per_tile = 638'976;
  profile.clock_hz = variant.clock_hz;
  profile.peak_flops = variant.peak_flops;
  profile.bodies = {{"main"}, {"Encoder/Layer"}, {"Encoder/Layer_grad"}, {"Adam/update"}};
  profile.calls = {{0, 1, 4}, {0, 2, 4}, {0, 3, 1}, {2, 3, 1}};

  // Steps.
  std::uint64_t seed = 1;
  const auto add = [&](const detail::Work& work, std::string module, int body, std::int64_t times, double size = 1) {
    profile.steps.push_back(step(work, std::move(module), body, times, size, variant, seed += 7));
    return &profile.steps.back();
  };
  Profile::Step* load = add(detail::arrange, "", 0, 1, 0);
  load->label = "HostLoad tokens, labels";
  load->kind = "stream";
  load->compute = 0, load->exchange = 0, load->host = 14'200, load->tiles_used = 64, load->vertices = 0;
  load->assumed = load->host;
  add(detail::arrange, "Encoder/embedding", 0, 1)->label = "Gather";
  add(detail::add, "Encoder/embedding", 0, 1);
  add(detail::norm, "Encoder/embedding/norm", 0, 1);
  for (const char* name : {"query", "key", "value"})
    add(detail::product, std::string("Encoder/Layer/attention/") + name, 1, 4, 0.8)->label = "MatMul [Add]";
  add(detail::arrange, "Encoder/Layer/attention", 1, 4)->label = "Transpose";
  add(detail::scores, "Encoder/Layer/attention", 1, 4);
  add(detail::softmax, "Encoder/Layer/attention/softmax", 1, 4);
  add(detail::scores, "Encoder/Layer/attention", 1, 4)->label = "MatMul";
  add(detail::product, "Encoder/Layer/attention/output", 1, 4, 0.8)->label = "MatMul [Add]";
  add(detail::add, "Encoder/Layer/attention", 1, 4);
  add(detail::norm, "Encoder/Layer/norm1", 1, 4);
  add(detail::product, "Encoder/Layer/feed_forward/wide", 1, 4, 2.6);
  add(detail::product, "Encoder/Layer/feed_forward/narrow", 1, 4, 2.4)->label = "MatMul [Add]";
  add(detail::add, "Encoder/Layer/feed_forward", 1, 4);
  add(detail::norm, "Encoder/Layer/norm2", 1, 4);
  add(detail::product, "Encoder/head", 0, 1, 5.5)->label = "MatMul [Add]";
  add(detail::softmax, "Encoder/loss", 0, 1, 3)->label = "Softmax; NllLoss";
  add(detail::softmax, "Encoder/loss", 0, 1, 1.5)->label = "NllLossGrad";
  add(detail::product_gradient, "Encoder/head", 0, 1, 5)->label = "MatMul; ReduceSum";
  for (const char* name : {"norm2", "feed_forward/narrow", "feed_forward/wide", "norm1", "attention/output", "attention",
                           "attention/softmax", "attention/query", "attention/key", "attention/value"}) {
    const std::string module = std::string("Encoder/Layer_grad/") + name;
    const bool is_norm = module.find("norm") != module.npos, is_feed = module.find("feed") != module.npos;
    if (is_norm) {
      add(detail::norm, module, 2, 4, 1.4)->label = "LayerNormGrad";
    } else if (module.ends_with("softmax")) {
      add(detail::softmax, module, 2, 4, 1.2)->label = "SoftmaxGrad";
      add(detail::arrange, module, 2, 4)->label = "Transpose";
    } else {
      add(detail::product_gradient, module, 2, 4, is_feed ? 2.5 : 0.8);
      add(detail::product, module, 2, 4, is_feed ? 2.3 : 0.8)->label = "MatMul";
      add(detail::add, module, 2, 4)->label = "ReduceSum";
    }
  }
  add(detail::norm, "Encoder/embedding/norm", 0, 1)->label = "LayerNormGrad";
  Profile::Step* collective = add(detail::add, "Adam", 0, 1);
  collective->label = "ReplicatedAllReduce", collective->kind = "collective", collective->collective = 9'800;
  collective->assumed = 4'900 + collective->sync;
  profile.replicas = 4;
  Profile::Step* remote = add(detail::arrange, "Adam", 0, 1);
  remote->label = "RemoteLoad moments", remote->kind = "remote", remote->remote = 7'300,
  remote->assumed = remote->remote + remote->sync;
  for (int i = 0; profile.steps.size() < 58; ++i)
    add(detail::add,
        "Adam/update/" + std::vector<std::string>{"moments", "weights", "biases", "norms"}[static_cast<std::size_t>(i % 4)], 3, 5,
        2.2)
        ->label = i % 4 == 0 ? "Mul <Sub, Div, Sqrt>" : "ScaledAdd";
  Profile::Step* back = add(detail::arrange, "Adam", 0, 1);
  back->label = "RemoteStore moments", back->kind = "remote", back->remote = 7'100, back->assumed = back->remote + back->sync;
  Profile::Step* store = add(detail::arrange, "", 0, 1, 0);
  store->label = "HostStore loss", store->kind = "stream", store->compute = 0, store->exchange = 0, store->host = 1'900;
  store->tiles_used = 1, store->vertices = 0, store->assumed = store->host;
  const int last = static_cast<int>(profile.steps.size()) - 1;

  // Tensors: eighteen variables and two constants, twenty others with live ranges.
  const auto tensor = [&](std::string name, std::string module, double bytes, int first, int end, MemoryCategory category) {
    Profile::Tensor result{std::move(name), std::move(module), around(bytes, 0.1, seed += 3), 0, first, end, false, category};
    result.always_live = always_live(category);
    result.whole_bytes = result.bytes * around(1300, 0.1, seed);
    profile.tensors.push_back(std::move(result));
  };
  for (const char* name : {"query", "key", "value", "output"})
    tensor("weight", std::string("Encoder/Layer/attention/") + name, 11'400 * variant.weights, 0, last,
           MemoryCategory::variables);
  for (const char* name : {"wide", "narrow"})
    tensor("weight", std::string("Encoder/Layer/feed_forward/") + name, 45'000 * variant.weights, 0, last,
           MemoryCategory::variables);
  tensor("table", "Encoder/embedding", 42'600 * variant.weights, 0, last, MemoryCategory::variables);
  tensor("weight", "Encoder/head", 21'300 * variant.weights, 0, last, MemoryCategory::variables);
  for (const char* name : {"first_moment", "second_moment"})
    for (const char* part : {"Encoder/head", "Encoder/embedding", "Encoder/Layer"})
      tensor(name, part, 8'700, 0, last, MemoryCategory::variables);
  for (const char* name : {"query", "key", "value", "output"})
    tensor("bias", std::string("Encoder/Layer/attention/") + name, 64, 0, last, MemoryCategory::variables);
  tensor("positions", "Encoder/embedding", 1'400, 0, last, MemoryCategory::constants);
  tensor("mask", "Encoder/Layer/attention", 700, 0, last, MemoryCategory::constants);
  const char* const names[] = {"Gather",    "LayerNorm",    "MatMul",      "MatMul.1",      "MatMul.2",
                               "Transpose", "Mul",          "Softmax",     "MatMul.3",      "MatMul.4",
                               "Gelu",      "MatMul.5",     "logits",      "probabilities", "logits_grad",
                               "Gelu_grad", "Softmax_grad", "MatMul_grad", "weight_grad",   "moments"};
  for (int i = 0; i < 20; ++i) {
    const int first = 1 + i * 2 + i / 3, reach = i < 12 ? 52 - 2 * first : 3 + i % 4;
    tensor(names[i],
           i < 12   ? "Encoder/Layer"
           : i < 15 ? "Encoder/loss"
                    : "Encoder/Layer_grad",
           7'000 + 2'100 * ((i * 5) % 11), first, std::min(last, first + std::max(2, reach)), MemoryCategory::frame);
  }
  std::sort(profile.tensors.begin(), profile.tensors.end(), [](const auto& a, const auto& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name + a.module < b.name + b.module;
  });

  // What is live in steps, and the memory of tiles. A share of the fullest tile's bytes is on each other one.
  Profile::TileMemory full;
  std::int64_t most_live = 0, buffers = 0;
  for (int i = 0; i <= last; ++i) {
    Profile::Step& each = profile.steps[static_cast<std::size_t>(i)];
    const std::int64_t received = std::min<std::int64_t>(each.bytes_in, 24'000);
    each.live_bytes = received;
    for (const auto& one : profile.tensors)
      if (!one.always_live && one.first_step <= i && i <= one.last_step) each.live_bytes += one.bytes;
    if (each.live_bytes > most_live) most_live = each.live_bytes, buffers = received;
  }
  for (const auto& one : profile.tensors)
    if (one.always_live) full[one.category] += one.bytes;
  full[MemoryCategory::frame] = most_live - buffers;
  full[MemoryCategory::exchange_buffers] = buffers;
  full[MemoryCategory::vertex_code] = 6'566;
  full[MemoryCategory::vertex_state] = 8'714;
  full[MemoryCategory::exchange_code] = 10'560;
  full[MemoryCategory::control_code] = 11'234;
  full[MemoryCategory::stack] = 9'472;
  full[MemoryCategory::padding] = 5'120;
  profile.fullest_tile = 417;
  std::int64_t compute = 0;
  for (const auto& each : profile.steps) compute += each.times * each.compute;
  for (int tile = 0; tile < 1472; ++tile) {
    Profile::TileMemory memory = full;
    const double part = (tile < 1024 ? 0.86 : tile < 1440 ? 0.68 : 0.32) + 0.1 * fraction(static_cast<std::uint64_t>(tile / 4));
    for (auto& bytes : memory.bytes)
      if (tile != profile.fullest_tile) bytes = static_cast<std::int64_t>(static_cast<double>(bytes) * part);
    memory[MemoryCategory::stack] = full[MemoryCategory::stack];
    profile.tiles.push_back(memory);
    profile.compute_by_tile.push_back(static_cast<std::int64_t>(
        static_cast<double>(compute) * (tile == profile.fullest_tile ? 0.98 : std::min(0.98, part + 0.04))));
  }
  profile.numbers = {{"tiles", "1,472", "published", "Hot Chips 2021 summary"},
                     {"clock", variant.clock_hz > 1'500'000'000 ? "1.850 GHz" : "1.325 GHz", "derived",
                      "Pod datasheet: peak by tiles and units"},
                     {"exchange", "4 bytes a cycle, in and out", "published", "target of the library's source"},
                     {"internal sync", "126 cycles at most", "assumed", "measured for another generation"},
                     {"streaming memory", "10 GB/s", "assumed", "half of the ceiling of Gen4 x8"},
                     {"square products, best", "44.2 TFLOP/s", "recalled", "arXiv 2310.00256"}};
  return profile;
}

/// Two steps on three tiles, with names that are hard on JSON and HTML.
inline Profile small() {
  Profile profile;
  profile.program = "two <steps> & \"quotes\" </script><script>throw 1</script>";
  profile.target = "three_tiles";
  profile.bytes_per_tile = 4096;
  profile.clock_hz = 1'000'000;
  profile.peak_flops = 1e6;
  profile.bodies = {{"main"}};
  profile.steps.resize(2);
  Profile::Step& product = profile.steps[0];
  product.label = "MatMul\n\\ <b>\x80</b>";
  product.module = "Net/fc1";
  product.kind = "superstep";
  product.vertices = 3, product.tiles_used = 3, product.compute = 100, product.exchange = 40, product.sync = 10,
  product.balance = 0.5;
  product.flops = 60, product.bytes_in = 32, product.bytes_out = 16, product.fragments = 2, product.exchanged_bytes = 64,
  product.live_bytes = 256;
  Profile::Step& sum = profile.steps[1];
  sum.label = "ReduceSum";
  sum.kind = "superstep";
  sum.times = 3;
  sum.vertices = 1, sum.tiles_used = 1, sum.compute = 20, sum.sync = 10, sum.assumed = 15, sum.balance = 1.0 / 3,
  sum.live_bytes = 64;
  profile.tensors = {{"weight", "Net/fc1", 512, 1536, 0, 1, true, MemoryCategory::variables},
                     {"MatMul", "Net/fc1", 192, 500, 0, 1, false, MemoryCategory::frame}};
  profile.tiles.resize(3);
  for (auto& tile : profile.tiles) tile[MemoryCategory::variables] = 512, tile[MemoryCategory::stack] = 128;
  profile.tiles[1][MemoryCategory::frame] = 256;
  profile.fullest_tile = 1;
  return profile;
}

/// Stages on two IPUs of two tiles each, and a copy between them: three times, of which a loop makes two.
inline Profile pipeline() {
  Profile profile;
  profile.program = "pipeline";
  profile.target = "two_ipus";
  profile.bytes_per_tile = 4096;
  profile.clock_hz = 1'000'000;
  profile.peak_flops = 1e6;
  profile.bodies = {{"main"}};
  const auto step = [&](const char* label, int set, int from, std::int64_t compute, std::int64_t exchange) {
    Profile::Step result;
    result.label = label, result.kind = "superstep";
    result.tile_set = set, result.from_tile_set = from;
    result.times = 3, result.vertices = 2, result.tiles_used = 2;
    result.compute = compute, result.exchange = exchange, result.sync = 10, result.live_bytes = 64;
    profile.steps.push_back(result);
  };
  step("MatMul", 0, -1, 190, 0);
  step("IpuCopy", 1, 0, 0, 40);
  step("Gelu", 1, -1, 90, 0);
  profile.tile_sets = {
      {.name = "IPU 0", .tiles = 2, .fullest_tile_bytes = 192, .compute = 570, .exchange = 120, .sync = 60, .waiting = 100},
      {.name = "IPU 1",
       .first_tile = 2,
       .tiles = 2,
       .fullest_tile_bytes = 128,
       .compute = 270,
       .exchange = 120,
       .sync = 60,
       .waiting = 400}};
  profile.slices = {{0, 1, 0}, {1, 1, 200}, {0, 2, 250}, {2, 2, 250}, {1, 2, 650}, {2, 1, 750}};
  profile.tiles.resize(4);
  for (auto& tile : profile.tiles) tile[MemoryCategory::stack] = 128;
  profile.tiles[0][MemoryCategory::frame] = 64;
  profile.fullest_tile = 0;
  return profile;
}

/// No step, no tile, no tensor.
inline Profile nothing() {
  Profile profile;
  profile.program = "nothing";
  profile.target = "gc200";
  profile.bytes_per_tile = 638'976;
  profile.clock_hz = 1'325'000'000;
  profile.peak_flops = 249.7e12;
  return profile;
}

}  // namespace synthetic
