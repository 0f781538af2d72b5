// labels: none
// How products are cut for the tiles of an IPU, and what that takes.
#include "tilewright/lower/products/product_partition.hpp"

#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
using std::int64_t;
using tw::internal::partition_product, tw::internal::product_machine, tw::internal::ProductMethod;
using tw::internal::ProductPartition, tw::internal::ProductProblem;

// ---- the unit for products

constexpr tw::AmpModel half = tw::gc200_model.products.float16, single = tw::gc200_model.products.float32;
static_assert(half.block_cycles() == 203 && half.with_measured_overhead().block_cycles() == 235 && single.block_cycles() == 221);
static_assert(tw::gc2_model.products.float16.block_cycles() == 171);
static_assert(tw::amp_cycles(half, 64, 96, 16) == 3077 && tw::amp_cycles(half, 171, 208, 32) == 23874, "poplibs' estimate");
static_assert(tw::amp_cycles(single, 24, 64, 32) == 7195);

/// Teraflop/s, rounded to tenths, times 10.
constexpr int64_t tenths(double flops) { return static_cast<int64_t>(flops / 1e11 + 0.5); }
static_assert(tenths(tw::peak_flops(tw::gc2_model, tw::float16, tw::float16)) == 1245);
static_assert(tenths(tw::peak_flops(tw::gc200_model, tw::float16, tw::float16)) == 2497);
static_assert(tenths(tw::peak_flops(tw::bow_model, tw::float16, tw::float16)) == 3486);
static_assert(tenths(tw::peak_flops(tw::gc2_model, tw::float32, tw::float32)) == 311);
static_assert(tenths(tw::peak_flops(tw::gc200_model, tw::float32, tw::float32)) == 624);
static_assert(tenths(tw::peak_flops(tw::bow_model, tw::float32, tw::float32)) == 871);

// ---- sums of parts

static_assert(tw::reduction_stages(1).count == 0 && tw::reduction_cycles(64, 1, 2, 2) == 0);
static_assert(tw::reduction_stages(15).count == 1 && tw::reduction_stages(16).count == 2 && tw::reduction_stages(125).count == 3);
constexpr bool stages_hold_all(int64_t most) {
  for (int64_t parts = 1; parts <= most; ++parts) {
    const tw::ReductionStages stages = tw::reduction_stages(parts);
    int64_t product = 1;
    for (int i = 0; i < 3; ++i) product *= stages.depth[i];
    if (product < parts || product > 2 * parts) return false;
  }
  return true;
}
static_assert(stages_hold_all(1472));
static_assert(tw::reduction_stage_cycles(48, 4, 4, 4) == 33 + 6 * (20 + (2 * 3 + 8) * 2), "12 vectors of 4 for 6 workers");
static_assert(tw::reduction_stage_cycles(48, 4, 4, 4, true) == 33 + 6 * (20 + (3 + 8) * 2));

// ---- the choice, priced by another estimate: that of the prototype from which the expected cycles are

struct Parts {
  int64_t rows, columns, inner, slices;
};
constexpr int64_t up(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Float16 with sums of float16 on 1,472 tiles. It knows no later exchange of a sum in stages and no barriers.
constexpr int64_t reference_cycles(int64_t m, int64_t k, int64_t n, const Parts& parts) {
  constexpr int64_t tiles = 1472, workers = 6, block = 16, bytes = 2, load = block * block * bytes / 8;
  const int64_t tm = up(m, parts.rows), tk = block * up(up(k, block), parts.inner);
  const int64_t tn = block * up(up(up(n, block), parts.slices), parts.columns);
  const int64_t a = tm * tk, b = tk * tn, c = tm * tn, e = up(tm, workers), gk = tk / block, gn = tn / block;
  const int64_t later_row = e < 3 ? (e == 1 ? 26 : 35) : 31 + 4 * (e - 3);
  const int64_t multiply = 50 + workers * (7 + 3 * (gk - 1)) + 13 + (gk - 1) * (15 + gn * (19 + 6 + load + workers * later_row)) +
                           11 + gn * (18 + 7 + load + workers * (later_row - 1));
  int64_t depths[3] = {parts.inner, 1, 1}, reduction = 0, size = up(c, parts.inner) * parts.inner;
  if (parts.inner >= 16) {  // a second factor near the square root
    while (4 * parts.inner > (2 * depths[1] + 1) * (2 * depths[1] + 1)) ++depths[1];
    depths[0] = up(parts.inner, depths[1]);
  }
  for (const int64_t depth : depths) {
    if (depth == 1) continue;
    size = up(size, depth);
    reduction += 33 + workers * (20 + (2 * (depth - 1) + 8) * up(size >= 8 ? size / 8 : 1, workers));
  }
  const int64_t exchange = up((a - a / parts.columns) * bytes, parts.columns % 2 == 0 ? 8 : 4) +
                           up((b - b / parts.rows) * bytes, 4) + (parts.inner > 1 ? up(c * bytes, 4) : 0);
  int64_t slices = 0;
  if (parts.slices > 1)
    slices = 2 * 25 + workers * (2 * (39 + 24) + 2 * up(up(up(k * n, tiles), parts.slices), workers * 4) +
                                 2 * up(up(m * n, tiles) / parts.slices, workers * 4));
  return parts.slices * (exchange + multiply + reduction + slices);
}

constexpr tw::internal::ProductMachine without_barriers(tw::internal::ProductMachine machine) {
  machine.step_cycles = 0;
  return machine;
}
constexpr tw::internal::ProductMachine gc200 = without_barriers(product_machine(tw::gc200));
constexpr ProductPartition cut(int64_t m, int64_t k, int64_t n) {
  return partition_product({.rows = m, .inner = k, .columns = n, .element_bytes = 2, .partial_bytes = 2, .output_bytes = 2},
                           gc200);
}
/// Whether the choice takes at most 5 % more than the prototype's, `parts`, which takes `cycles`.
constexpr bool is_near(int64_t m, int64_t k, int64_t n, int64_t cycles, const Parts& parts) {
  const ProductPartition chosen = cut(m, k, n);
  if (reference_cycles(m, k, n, parts) != cycles) throw "the reference is not the prototype's estimate";
  const Parts ours{chosen.row_parts, chosen.column_parts, chosen.inner_parts, chosen.column_slices};
  return 20 * reference_cycles(m, k, n, ours) <= 21 * cycles;
}
static_assert(is_near(128, 1024, 1024, 5974, {2, 64, 11, 1}));
static_assert(is_near(128, 1024, 4096, 15634, {1, 128, 11, 1}));
static_assert(is_near(128, 4096, 1024, 16171, {1, 32, 43, 1}));
static_assert(is_near(512, 1024, 3072, 39990, {3, 96, 5, 1}));
static_assert(is_near(1, 1024, 1024, 1429, {1, 64, 22, 1}));
static_assert(is_near(32, 784, 512, 1993, {2, 32, 17, 1}));
static_assert(is_near(256, 256, 256, 1631, {11, 16, 8, 1}));

// ---- the figures of large square products

/// Tenths of a Tflop/s of a square product, with the barrier of each phase.
constexpr int64_t square(const tw::Target& target, int64_t size, tw::DType dtype, tw::DType partials) {
  const ProductPartition part = partition_product({.rows = size,
                                                   .inner = size,
                                                   .columns = size,
                                                   .element_bytes = tw::size_of(dtype),
                                                   .partial_bytes = tw::size_of(partials),
                                                   .output_bytes = tw::size_of(dtype)},
                                                  without_barriers(product_machine(target)));
  const int64_t cycles = part.cycles.total() + part.phases() * target.ipu->sync_cycles;
  return tenths(2.0 * static_cast<double>(size * size * size) / target.seconds(cycles));
}
constexpr bool is_share(int64_t flops, int64_t peak, int64_t least, int64_t most) {
  return 100 * flops >= least * peak && 100 * flops <= most * peak;
}
constexpr int64_t f512 = square(tw::gc200, 512, tw::float16, tw::float16);
constexpr int64_t f1024 = square(tw::gc200, 1024, tw::float16, tw::float16);
constexpr int64_t f2048 = square(tw::gc200, 2048, tw::float16, tw::float16);
static_assert(f512 < f1024 && f1024 < f2048);
static_assert(is_share(f2048, 2497, 50, 75));
static_assert(is_share(square(tw::gc200, 4096, tw::float16, tw::float16), 2497, 50, 75));
static_assert(is_share(square(tw::gc200, 2048, tw::float32, tw::float32), 624, 50, 75));
static_assert(is_share(square(tw::gc200, 2048, tw::float16, tw::float32), 1248, 50, 75));
static_assert(is_share(square(tw::bow, 2048, tw::float16, tw::float16), 3486, 50, 75));
static_assert(is_share(square(tw::gc2, 2048, tw::float32, tw::float32), 311, 50, 75));
// The prototype's figures, in tenths: for gc2 it lets tiles share buses, which the model does not.
static_assert(is_share(f1024, 970, 95, 105) && is_share(f2048, 1440, 95, 105));
static_assert(is_share(square(tw::gc2, 1024, tw::float32, tw::float32), 197, 90, 105));
static_assert(is_share(square(tw::gc2, 1024, tw::float16, tw::float32), 589, 90, 105));

// ---- what the search adds up is what the formulas have for the next block of the inner axis, and for the next part of a sum

constexpr bool agree(const tw::AmpModel& amp) {
  const tw::AmpCorrections corrections = tw::amp_corrections(amp.element_bytes);
  const auto more = [&](int64_t worker_rows) {
    const int64_t rows = tw::tile_workers * worker_rows;
    return tw::amp_cycles(amp, rows, 2 * amp.channels, amp.units) - tw::amp_cycles(amp, rows, amp.channels, amp.units) -
           amp.block_cycles() - rows * amp.row_cycles - corrections.inner_block;
  };
  return more(1) == corrections.one_row && more(2) == corrections.two_rows && more(3) == 0 && more(100) == 0;
}
static_assert(agree(tw::gc200_model.products.float16) && agree(tw::gc200_model.products.float16_float32) &&
              agree(tw::gc200_model.products.float32));
static_assert(agree(tw::gc2_model.products.float16) && agree(tw::gc2_model.products.float16_float32) &&
              agree(tw::gc2_model.products.float32));
constexpr int64_t of_part = tw::reduction_stage_cycles(1, 6, 4, 4) - tw::reduction_stage_cycles(1, 5, 4, 4);
static_assert(tw::reduction_start_cycles(5) == tw::reduction_stage_cycles(0, 5, 4, 4) + 5 * of_part);

// ---- limits

constexpr ProductProblem large{.rows = 2048, .inner = 2048, .columns = 2048, .element_bytes = 2, .partial_bytes = 2};
constexpr ProductPartition free_large = partition_product(large, gc200), tight_large = partition_product(large, gc200, 0.1);
static_assert(free_large.fits && free_large.slices() == 1 && free_large.temporary_bytes <= 6 * gc200.bytes_per_tile / 10);
static_assert(tight_large.fits && tight_large.slices() > 1 && tight_large.temporary_bytes <= gc200.bytes_per_tile / 10);
static_assert(tight_large.cycles.total() > free_large.cycles.total());
constexpr ProductPartition least_large = partition_product(large, gc200, 0), wrong_large = partition_product(large, gc200, 1e-4);
static_assert(least_large.temporary_bytes < tight_large.temporary_bytes / 2, "the fewest bytes");
static_assert(!wrong_large.fits && wrong_large.temporary_bytes >= least_large.temporary_bytes, "as little as is there");

// ---- products that are not one large matrix

constexpr ProductPartition heads = partition_product(
    {.groups = 16, .rows = 128, .inner = 64, .columns = 128, .element_bytes = 2, .partial_bytes = 2}, gc200);
static_assert(heads.group_parts == 16 && heads.tile_groups == 1 && heads.tiles() <= 1472);
constexpr ProductPartition one_column = partition_product({.rows = 512, .inner = 64, .columns = 1}, gc200);
static_assert(one_column.method == ProductMethod::dots && one_column.tile_columns == 1, "a block of 16 would be mostly padding");
constexpr ProductPartition doubles = partition_product(
    {.rows = 64, .inner = 64, .columns = 64, .element_bytes = 8, .partial_bytes = 8, .output_bytes = 8}, gc200);
static_assert(doubles.method == ProductMethod::dots, "the unit has no float64");
constexpr ProductProblem images{.rows = 8 * 28 * 28,
                                .inner = 64,
                                .columns = 64,
                                .row_grain = 28 * 28,
                                .is_convolution = true,
                                .axes = {{}, {.field = 28, .kernel = 3}, {.field = 28, .kernel = 3}}};
constexpr ProductPartition whole_images = partition_product(images, gc200);
static_assert(whole_images.tile_rows % (28 * 28) == 0 && whole_images.tiles() > 100);
static_assert(tw::internal::detail::input_places(images, 28 * 28) == 30 * 30 &&
                  tw::internal::detail::input_places(images, 28) == 3 * 30,
              "with the halo");

// ---- the table of a pass

constexpr bool finds_again() {
  tw::internal::ProductPartitions partitions(gc200);
  const ProductProblem problem{.rows = 8, .inner = 64, .columns = 32};
  const int64_t cycles = partitions.find(problem, 0.6).cycles.total();
  return partitions.find({.rows = 64, .inner = 64, .columns = 32}, 0.6).cycles.total() > cycles &&
         partitions.find(problem, 0.6).cycles.total() == cycles;
}
static_assert(finds_again());

// ---- a proportion that is given at the op

template <int percent>
constexpr void product(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {2048, 2048}, tw::float16));
  const tw::Tensor w = tw::ops::host_load(ir.h2d_stream("w", {2048, 2048}, tw::float16));
  const tw::MatMulOptions options{.available_memory_proportion = percent / 100.};
  tw::ops::host_store(ir.d2h_stream("y", {2048, 2048}, tw::float16), tw::ops::matmul(x, w, options));
}
static_assert(tw::peak_bytes<product<0>, tw::gc200> < tw::peak_bytes<product<60>, tw::gc200>);
static_assert(tw::cycles<product<0>, tw::gc200> > tw::cycles<product<60>, tw::gc200>);

}  // namespace
