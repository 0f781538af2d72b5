#pragma once
#include <cstdint>

#include "tilewright/target/ipu_model.hpp"

namespace tilewright {

/// Numbers of Graphcore's IPUs, each with its source and confidence. No other part of the library has numbers of a machine,
/// except cycles of kernels in target/ipu_cycles*.hpp and target/amp.hpp, and those that ops state.
namespace ipu_presets {

using enum Confidence;

// ---- sources

inline constexpr const char* poplibs_2017 = "poplibs of January 2017, defaults of options";
inline constexpr const char* poplibs_2019 = "poplibs of 2019, link model";
inline constexpr const char* ipu21 = "a third-party compiler for ipu21: values of Poplar's target, and measurements";
inline constexpr const char* hot_chips = "graphcore.ai: summary of Hot Chips 2021";
inline constexpr const char* tile_blog = "graphcore.ai: Exploiting Tile-Level Parallelism on Graphcore IPUs";
inline constexpr const char* popliner = "popliner tests: test_popart_bert_inf.py";
inline constexpr const char* mk2_die = "the chip is that of gc200";
inline constexpr const char* byte_mlperf = "ByteMLPerf: backends/IPU/README";
inline constexpr const char* own_choice = "the model's choice";

// ---- parts that chips share

/// Returns blocks of products: 16 channels of float16, 8 of float32, with the given units and cycles of a row by a block.
constexpr ProductUnits product_units(std::int64_t float16_units, std::int64_t float32_units, const char* source) {
  return {.float16 = {.units = float16_units, .channels = 16, .row_cycles = 4, .element_bytes = 2, .partial_bytes = 2},
          // 8 units: of 16 results of float16 in 4 cycles, and 2 of float32 stored in each (poplibs' tools/single_conv_layer)
          .float16_float32 = {.units = 8, .channels = 16, .row_cycles = 4, .element_bytes = 2, .partial_bytes = 4},
          .float32 = {.units = float32_units, .channels = 8, .row_cycles = 8, .element_bytes = 4, .partial_bytes = 4},
          .confidence = derived,
          .source = source};
}

inline constexpr IpuLink mk2_links{
    .bytes_per_second = {13'600'000'000, derived, "16 GB/s each way by 0.85: poplibs of 2019, link model"},
    .links = {2, published, poplibs_2019},
    .pair_links = {6, published, "block diagram of the IPU-M2000"},
    .sync_cycles = {600, published, ipu21},
    .linked_ipus = {64, published, "IPU-POD64 datasheet 2.1"},
    .gateway_bytes_per_second = {6'250'000'000, derived, "2 x 100 Gbit/s for 4 IPUs: Bow-2000 datasheet"}};

/// Returns rough averages over tiles of the numbers that popliner's tests expect from Poplar's profiles, without padding and
/// exchange code.
constexpr CodeSizes code_sizes() {
  constexpr const char* by_eye = "read off the averages of popliner's tests by eye";
  CodeSizes sizes{.vertex = {4, derived, popliner},
                  .operand = {4, derived, popliner},
                  .step = {8, derived, popliner},
                  .exchange = {20, derived, popliner},
                  .branch = {40, assumed, by_eye},
                  .exchange_instruction = {4, published, "poplibs sdk-release-3.4: popops/DynamicSlice.cpp"},
                  .stack = {6 * 160 + 320, assumed, own_choice},
                  .reserve = {8192, assumed, own_choice}};
  const auto set = [&](CodeKind kind, Figure bytes) { sizes.vertex_code[static_cast<std::size_t>(kind)] = bytes; };
  set(CodeKind::other, {300, assumed, by_eye});
  set(CodeKind::map, {220, derived, popliner});
  set(CodeKind::copy, {200, assumed, by_eye});
  set(CodeKind::reduction, {400, assumed, by_eye});
  set(CodeKind::product, {1000, derived, popliner});
  set(CodeKind::softmax, {1560, derived, popliner});
  set(CodeKind::norm, {2020, derived, popliner});
  return sizes;
}

// ---- chips

inline constexpr IpuModel gc200{
    .tiles = {1472, published, hot_chips},
    .bytes_per_tile = {638'976, published, popliner},
    .clock_hz = {1'325'000'000, derived, "IPU-POD64 datasheet 2.1: 15.978 Pflop/s / 64 / (1472 x 64 x 2)"},
    .workers = {6, published, tile_blog},
    .data_path_bytes = {8, published, tile_blog},
    .load_bytes = {8, published, ipu21},
    .interleaved_load_bytes = {16, published, ipu21},
    .store_bytes = {8, derived, "24 bytes a cycle are 46.8 TB/s, of 47.5 that are published"},
    .copy_bytes = {8, published, ipu21},
    .accumulator_bytes = {16, published, "poplibs sdk-release-3.4: popops estimates of reductions"},
    .memory_element_bytes = {0x4000, published, "poplibs sdk-release-3.4: TileConstants.hpp"},
    // from address 0x80000 on; the 624 KiB begin at 0x4c000
    .interleaved_bytes = {416 * 1024, derived,
                          "poplibs sdk-release-3.4: ScaledAddSupervisor_fp.S; a third-party compiler for ipu21"},
    .launch_cycles = {11, published, "poplibs sdk-release-3.4: basicOpSupervisorOverhead"},
    .copy_call_cycles = {288, published, ipu21},
    .products = product_units(16, 16,
                              "poplibs sdk-release-3.4: ConvPartial1x1Out.cpp; units for float32 from the datasheet's peak"),
    .exchange_bytes_per_cycle = {4, published, ipu21},
    .tiles_per_exchange_bus = {2, published, "poplibs sdk-release-3.4: ExchangeEstimator.hpp"},
    .sync_cycles = {126, published, ipu21},
    .nearest_sync_cycles = {30, assumed, own_choice},
    .hop_cycles = {30, assumed, own_choice},
    .fragment_instructions = {3, published, ipu21},
    .host = {.bytes_per_second = {3'125'000'000, derived, "100 Gbit/s of Ethernet for 4 IPUs: Bow-2000 datasheet"},
             .sync_cycles = {600, published, ipu21},
             .latency_cycles = {1000, assumed, own_choice},
             .exchange_blocks = {32, published, "poplibs sdk-release-3.4: popops/HostSliceTensor.cpp"},
             .packet_bytes = {1024, published, "poplibs sdk-release-3.4: popops/HostSliceTensor.cpp"}},
    .streaming_memory = {.bytes_per_second = {10'000'000'000, assumed, "of 16 GB/s of PCIe, so many are taken to arrive"},
                         .sync_cycles = {600, published, ipu21},
                         .latency_cycles = {0, assumed, own_choice},
                         .exchange_blocks = {32, published, "poplibs sdk-release-3.4: popops/HostSliceTensor.cpp"},
                         .packet_bytes = {1024, published, "poplibs sdk-release-3.4: popops/HostSliceTensor.cpp"}},
    .link = mk2_links,
    .code = code_sizes()};

inline constexpr IpuModel bow = [] {
  IpuModel model = gc200;
  model.tiles = {1472, published, "announcements of Bow"};
  model.bytes_per_tile = {638'976, derived, mk2_die};
  model.clock_hz = {1'850'000'000, derived, "Bow Pod256 datasheet 2.1: 89.23 Pflop/s / 256 / (1472 x 64 x 2)"};
  model.sync_cycles = {126, assumed, mk2_die};
  return model;
}();

/// The PCIe card.
inline constexpr IpuModel c600 = [] {
  IpuModel model = gc200;
  model.tiles = {1472, published, byte_mlperf};
  model.bytes_per_tile = {638'976, derived, mk2_die};
  model.clock_hz = {1'486'000'000, derived, "ByteMLPerf: backends/IPU/README: 280 Tflop/s / (1472 x 64 x 2)"};
  model.host.bytes_per_second = {16'000'000'000, assumed, "8 lanes of PCIe of the fourth generation, as gc200 has"};
  model.link.links = {2, derived, "4 links, half of them to each neighbour: ByteMLPerf: backends/IPU/README"};
  model.link.pair_links = {2, assumed, own_choice};
  model.link.linked_ipus = {8, assumed, own_choice};
  model.link.gateway_bytes_per_second = {0, assumed, "a card has no gateway"};
  return model;
}();

/// The first generation, on cards of two IPUs. Remote buffers are in the host's memory.
inline constexpr IpuModel gc2 = [] {
  IpuModel model = gc200;
  model.tiles = {1216, published, poplibs_2017};
  model.bytes_per_tile = {262'144, published, poplibs_2017};
  model.clock_hz = {1'600'000'000, derived, "arXiv 1912.03413: 124.5 Tflop/s / (1216 x 32 x 2); systems may run at 1.3 GHz"};
  model.data_path_bytes = {8, published, poplibs_2017};
  model.interleaved_bytes = {128 * 1024, published, "poplibs sdk-release-3.4: binaryOps1D.S, the map of memory"};
  model.copy_call_cycles = {250, assumed, own_choice};
  model.products = product_units(8, 8, "poplibs of January 2017, defaults of options; units for float32 from the published peak");
  model.exchange_bytes_per_cycle = {4, published, poplibs_2017};
  model.tiles_per_exchange_bus = {1, assumed, "poplibs of January 2017 had an option for 2, which was off"};
  model.sync_cycles = {100, assumed, own_choice};
  for (OffChipPath* path : {&model.host, &model.streaming_memory}) {
    path->bytes_per_second = {8'000'000'000, recalled, "16 lanes of PCIe of the third generation for two IPUs"};
    path->sync_cycles = {500, published, "poplibs of 2016: setGlobalSyncCycles"};
  }
  model.streaming_memory.latency_cycles = model.host.latency_cycles;
  model.link.pair_links = {4, published, poplibs_2019};
  model.link.sync_cycles = {640, published, "lbm-graphcore, exchange-vs-compute: 16 IPUs, float; 501 for half4"};
  model.link.linked_ipus = {16, recalled, "a chassis of 8 cards"};
  model.link.gateway_bytes_per_second = {0, assumed, "there was no gateway"};
  return model;
}();

}  // namespace ipu_presets

inline constexpr const IpuModel &gc2_model = ipu_presets::gc2, &gc200_model = ipu_presets::gc200, &bow_model = ipu_presets::bow,
                                &c600_model = ipu_presets::c600;

}  // namespace tilewright
