// labels: none
// Cycles of what a tile of an IPU computes and exchanges, by the formulas of poplibs. The numbers are worked out by hand.
#include "tilewright/target/ipu_exchange_cycles.hpp"
#include "tilewright/target/ipu_indexed_cycles.hpp"
#include "tilewright/target/ipu_link_cycles.hpp"
#include "tilewright/target/ipu_presets.hpp"
#include "tilewright/target/ipu_reduction_cycles.hpp"

namespace {

namespace tw = tilewright;
using tw::float16, tw::float32, tw::gc200_model, tw::gc2_model, tw::CycleCount;

// ---- maps of 1,200 or 2,400 elements: 200 or 400 for a worker, 100 vectors

constexpr tw::LoopCost three_float32{3, 2}, three_float16{3, 4};
static_assert(map_cycles(gc200_model, three_float32, 1200) == 20 + 6 * (17 + 100 * 3), "relu");
static_assert(map_cycles(gc200_model, three_float32, 1201) == 20 + 6 * (17 + 101 * 3), "a worker has one element more");
static_assert(map_cycles(gc200_model, {4, 4, 33}, 2400) == 20 + 6 * (33 + 100 * 4), "exp in float16");
static_assert(map_cycles(gc200_model, {22, 1}, 6) == 20 + 6 * (17 + 22), "gelu in float32, an element at a time");
static_assert(binary_map_cycles(gc200_model, three_float32, float32, 1200) == 11 + 6 * (29 + 300));
static_assert(binary_map_cycles(gc200_model, three_float16, float16, 2400) == 11 + 6 * (26 + 300));
static_assert(binary_map_cycles(gc200_model, three_float32, float32, 1200, true) == 11 + 6 * (58 + 300));
static_assert(add_in_place_cycles(gc200_model, 4800) == 11 + 6 * (58 + 300));
static_assert(cast_cycles(gc200_model, 2400) == 12 + 6 * (18 + 19 + 200));
static_assert(scaled_add_cycles(gc200_model, float32, 1200) == 97 + 6 * (24 + 3 * 99));
static_assert(scaled_add_cycles(gc200_model, float32, 1200, tw::OperandBanks::different) == 97 + 6 * (24 + 2 * 99));
static_assert(scaled_add_cycles(gc200_model, float32, 1200, tw::OperandBanks::interleaved) == 97 + 6 * (24 + 99));
static_assert(scaled_add_cycles(gc200_model, float32, 180, tw::OperandBanks::interleaved) == 97 + 6 * (24 + 2 * 14),
              "15 vectors");
static_assert(fill_cycles(gc200_model, float16, 1000) == 23 + 250);
static_assert(copy_cycles(gc200_model, 4096) == 288 + 512 && copy_cycles(gc200_model, 0) == 0);

/// A loop of several maps has their arithmetic and one set of loads and stores.
constexpr std::int64_t fused(std::initializer_list<tw::VertexCost> ops, int tensors) {
  tw::FusedMap map(float32, gc200_model);
  for (const tw::VertexCost& op : ops) map.add(op);
  return map.cycles(gc200_model, 1200, tensors);
}
constexpr tw::VertexCost add = tw::binary_map_cost({3, 2}, {3, 4}), relu = tw::map_cost({3, 2}, {3, 4});
static_assert(fused({add}, 3) == 11 + 6 * (29 + 300) && fused({relu}, 2) == 20 + 6 * (17 + 300), "as alone");
static_assert(fused({add, relu}, 3) == 11 + 6 * (29 + 100 * (2 + 2)));
static_assert(fused({add, add, add, relu}, 9) == 11 + 6 * (29 + 100 * (4 + 4)), "four slots at most");

// ---- reductions, lines, windows

static_assert(reduce_rows_cycles(gc200_model, float32, float32, 1200, 10) == 6 * (16 + 100 * (6 + 5 + 9)));
static_assert(reduce_rows_cycles(gc200_model, float16, float32, 2400, 10) == 6 * (16 + 100 * (6 + 7 + 9)));
static_assert(reduce_rows_cycles(gc200_model, float16, float16, 2400, 10, 13) == 6 * (16 + 100 * (6 + 8 + 9 * 13)), "log-add");
static_assert(reduce_line_cycles(gc200_model, float32, 1200) == 6 * (22 + 100) + 6 * (22 + 3));
static_assert(reduce_lines_cycles(gc200_model, float32, 1, 1200) == reduce_line_cycles(gc200_model, float32, 1200));
static_assert(reduce_lines_cycles(gc200_model, float32, 12, 100) == 6 * 2 * (22 + 50), "two lines for a worker");
constexpr std::int64_t two_reductions = 2 * 6 * 2 * (22 + 50), maps_of_three = 11 + 6 * (29 + 300);  // 12 rows of 100
static_assert(softmax_cycles(gc200_model, float32, 12, 100) ==
              two_reductions + 2 * maps_of_three + (20 + 6 * (17 + 100 * 6)) + (20 + 6 * (17 + 6)));
static_assert(softmax_cycles(gc200_model, float32, 12, 100) - softmax_cycles(gc200_model, float32, 12, 100, false) ==
              two_reductions / 2 + maps_of_three);
static_assert(norm_cycles(gc200_model, float32, 12, 100, true) == two_reductions + 3 * maps_of_three);
static_assert(norm_cycles(gc200_model, float32, 12, 100, false) == two_reductions + 4 * maps_of_three + 20 + 6 * (17 + 8));
static_assert(line_cycles(gc200_model, {14, 2}, 5, 12, 100) == 5 * (20 + 6 * (17 + 22)) + 6 * 100 * 14);
static_assert(reduce_columns_cycles(gc200_model, float16, 8, 32, 1, 2) == 11 + 6 * (16 + 2 * (14 + 31)),
              "one worker makes both vectors of sums");
static_assert(reduce_columns_cycles(gc200_model, float16, 8, 96, 1, 2) ==
                  11 + 6 * (16 + 2 * (14 + 15)) + 126 + 11 + 6 * (16 + 4 * (11 + 5)),
              "six workers make parts of 16 terms, and one adds these in float32");
static_assert(reduce_columns_cycles(gc200_model, float16, 8, 128, 1, 1) == 11 + 6 * (16 + 14 + 42) + 126 + 11 + 6 * (16 + 14 + 2),
              "three workers for each vector of maxima");
static_assert(reduce_runs_cycles(gc200_model, float16, 8, 16, 4, 1, 2) ==
                  11 + 6 * (16 + 2 * (14 + 3)) + 126 + 11 + 6 * 2 * (22 + 1),
              "32 columns of 4 terms, and 8 lines of 4 terms");
static_assert(pool_cycles(gc200_model, {.rows = 12, .columns = 8, .terms = 9}) ==
                  13 + 6 * (45 + 16 + 2 * (15 + 9 * (25 + 3 + 4)) + 9 * 3 * 16),
              "each worker has two rows");
static_assert(pool_cycles(gc200_model,
                          {.columns = 12, .vectors = 2, .terms = 3, .spacing = 2, .start = 51, .loop_start = 7, .cycles = 5}) ==
                  13 + 6 * (55 + 4 + 15 + 3 * (25 + 2 * 10) + 3 * 2 * 5),
              "the gradient of a maximum, of which a worker has two columns");
static_assert(tw::cross_entropy_cycles(float32, 100, false) == 25 + 400 &&
              tw::cross_entropy_cycles(float16, 100, true) == 25 + 450);

// ---- places that are known in a run

static_assert(dynamic_slice_cycles(gc200_model, float32, 2, 1200) == 25 + 6 * (39 + 2 * (24 + 2 * 100)));
static_assert(gather_cycles(gc200_model, 3, 2, 64) == 6 * (30 + 3 * (19 + 2 * 32) + 2 * 8));
static_assert(gather_cycles(gc200_model, 3, 2, 64, 8) == 6 * (30 + 3 * (19 + 2 * 32) + 2 * 8 + 3 * 20));
static_assert(scatter_add_cycles(gc200_model, float32, 3, 2, 64) == 6 * (38 + 3 * (11 + 3 * 63) + 2 * 5));
static_assert(scatter_add_cycles(gc200_model, float16, 3, 2, 64) == 6 * (37 + 3 * (13 + 3 * 31) + 2 * 5));
static_assert(scatter_add_cycles(gc200_model, float16, 1, 0, 3) == 6 * (37 + 13 + 3 + 3 * 20), "elements that share an atom");
static_assert(scatter_add_cycles(gc200_model, float16, 3, 2, 4) == 6 * (36 + 3 * 9 + 2 * 5), "8 bytes");
static_assert(scatter_add_cycles(gc200_model, float32, 3, 2, 4) == 6 * (37 + 3 * 16 + 2 * 5), "16 bytes");

// ---- exchange

static_assert(payload_cycles(gc200_model, {.in = 1000, .out = 400}) == 250);
static_assert(payload_cycles(gc200_model, {.in = 1000, .out = 400, .shares_bus = true}) == 125);
static_assert(payload_cycles(gc200_model, {.in = 1000, .out = 600, .shares_bus = true}) == 150, "out is not doubled");
static_assert(payload_cycles(gc2_model, {.in = 1000, .shares_bus = true}) == 250, "Mk1: one tile for a bus");
static_assert(tile_exchange_cycles(gc200_model, {.in = 8, .fragments = 10}).cycles == 30, "three instructions for a fragment");
static_assert(tile_exchange_cycles(gc200_model, {.in = 1000, .fragments = 10}).cycles == 250, "while bytes are on their way");
constexpr tw::TileTraffic traffic[] = {{.in = 1000, .fragments = 10}, {.out = 1200, .fragments = 1}, {.fragments = 90}};
static_assert(exchange_phase_cycles(gc200_model, traffic).cycles == 126 + 300 + 30);
static_assert(exchange_phase_cycles(gc200_model, traffic).assumed == 30, "the way between tiles");
static_assert(exchange_phase_cycles(gc200_model, {}) == CycleCount(126));
static_assert(exchange_phase_cycles(gc2_model, {}).assumed == 100, "Mk1's barrier");

// ---- host, streaming memory

constexpr std::int64_t one_number[] = {4}, two_transfers[] = {32 * 1024, 32 * 1024};
static_assert(host_cycles(gc200_model, one_number).cycles == 600 + 1000 + 55, "4 x 32 x 1.325 / 3.125 = 54.3");
static_assert(host_cycles(gc200_model, one_number).assumed == 1000, "the latency");
static_assert(host_cycles(gc2_model, one_number).assumed == 1000 + 26, "the bandwidth is recalled");
static_assert(host_cycles(gc200_model, two_transfers).cycles == 600 + 1000 + 27788, "65536 x 1.325 / 3.125 = 27787.3");
static_assert(host_cycles(gc200_model, {}) == CycleCount());
static_assert(streaming_memory_cycles(gc200_model, one_number).cycles == 600 + 17);
static_assert(streaming_memory_cycles(gc200_model, one_number).assumed == 17);

// ---- links: a byte to a neighbour takes 1.325 / 27.2 cycles

static_assert(link_cycles(gc200_model, 81'600, 6).cycles == 600 + 1325 && link_cycles(gc200_model, 0, 2) == CycleCount());
using tw::RingScheme;
constexpr std::int64_t ring(std::int64_t bytes, std::int64_t group, RingScheme scheme, bool reduces) {
  return ring_cycles(gc200_model, 1472, bytes, {group, 1, group}, scheme, reduces).cycles;
}
static_assert(ring(1 << 20, 4, RingScheme::two_ways, false) == 3 * (600 + 6385), "2^17 bytes in each step");
static_assert(ring(1 << 20, 4, RingScheme::middle, false) == 2 * (600 + 12770), "2^18 bytes");
static_assert(ring(1 << 20, 4, RingScheme::two_ways, true) == 3 * (600 + 6385 + 11 + 6 * (58 + 3 * 4)),
              "179 bytes a tile are added");
constexpr CycleCount large = collective_cycles(gc200_model, 1472, 1 << 20, {128, 1, 128}, false);
static_assert(large.cycles > fastest_ring_cycles(gc200_model, 1472, 1 << 20, {64, 1, 64}, false).cycles && large.assumed > 0,
              "two pods of 64");

// ---- counts

constexpr CycleCount sum = CycleCount(10) + 2 * CycleCount(5, tw::Confidence::recalled) + CycleCount(1, tw::Confidence::given);
static_assert(sum.cycles == 21 && sum.assumed == 10);

}  // namespace
