#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/namespace.hpp"
#include "tilewright/target/ipu_product_banks.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// Properties of a simulated machine on which the partition of a product depends.
struct ProductMachine {
  std::int64_t tiles = 1;
  std::int64_t bytes_per_tile = 0;
  std::int64_t exchange_bytes = 4;  ///< received by a tile in a cycle
  std::int64_t tiles_of_bus = 1;  ///< neighbours that receive equal bytes at their joint rate
  std::int64_t step_cycles = 0;  ///< of the barriers of a step and of its exchange, for the sum of parts
  AmpModel half{};    ///< of float16 with sums of float16
  AmpModel mixed{};   ///< of float16 with sums of float32
  AmpModel single{};  ///< of float32

  constexpr bool operator==(const ProductMachine&) const = default;
};

/// Returns the properties of a target that simulates an IPU.
constexpr ProductMachine product_machine(const Target& target) {
  const IpuModel& model = *target.ipu;
  return {.tiles = target.tiles,
          .bytes_per_tile = memory_of_tile(target),
          .exchange_bytes = model.exchange_bytes_per_cycle,
          .tiles_of_bus = model.tiles_per_exchange_bus,
          .step_cycles = 2 * model.sync_cycles + model.hop_cycles,
          .half = model.products.float16,
          .mixed = model.products.float16_float32,
          .single = model.products.float32};
}

/// A spatial axis of a convolution, in positions of the result; `kernel`, `stride` and `dilation` in positions of the input.
struct ConvolutionAxis {
  std::int64_t field = 1;  ///< extent of the result
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t spacing = 1;  ///< distance of the elements of the input: between them are zeros, which no product has

  /// Returns the elements of the kernel that meet elements of the input, for each position of the result.
  constexpr std::int64_t taps() const { return ceil_divide(kernel, spacing); }
  /// Returns the extent of the input for `places` neighbouring positions of the result.
  constexpr std::int64_t input(std::int64_t places) const {
    return ceil_divide(places - 1, spacing) * stride + (taps() - 1) * dilation + 1;
  }
  constexpr bool operator==(const ConvolutionAxis&) const = default;
};

/// `groups` products of (rows, inner) by (inner, columns). In a convolution, rows are the positions of all images, inner and
/// columns the channels of a group, and there is such a product for each element of the kernel.
struct ProductProblem {
  std::int64_t groups = 1, rows = 1, inner = 1, columns = 1;
  std::int64_t element_bytes = 2, partial_bytes = 4, output_bytes = 2;
  /// Blocks of rows are multiples of it, for example of an image's positions if only images can be divided
  std::int64_t row_grain = 1;
  std::int64_t column_grain = 1, inner_grain = 1;
  bool is_convolution = false;
  bool sums_positions = false;  ///< whether the kernel's elements are in the sum: one product, not one for each of them
  ConvolutionAxis axes[3]{{}, {}, {}};  ///< spatial, the last one innermost; GCC 11 to 15 would clear some with {}

  constexpr std::int64_t kernel_elements() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  /// Returns the number of products for each position of the result.
  constexpr std::int64_t taps() const { return axes[0].taps() * axes[1].taps() * axes[2].taps(); }
  constexpr std::int64_t macs() const { return groups * rows * inner * columns * kernel_elements(); }
  constexpr bool operator==(const ProductProblem&) const = default;
};

/// How a tile computes its product.
enum class ProductMethod : std::uint8_t {
  amp,  ///< by the unit for products
  dots,  ///< by dot products of vectors
  slic  ///< by the unit's mode for convolutions of few channels
};

/// Cycles of a product by activity, over all its serial slices; without barriers.
struct ProductCycles {
  std::int64_t inputs = 0, weights = 0;  ///< exchange of both operands
  std::int64_t compute = 0;
  std::int64_t partials = 0;  ///< exchange of parts of sums
  std::int64_t reduction = 0;  ///< to add parts
  std::int64_t slices = 0;  ///< to extract serial slices of operands, and to assemble those of results

  constexpr std::int64_t total() const { return inputs + weights + compute + partials + reduction + slices; }
  constexpr bool operator==(const ProductCycles&) const = default;
};

/// How a product is divided: into parts that work in parallel, on a tile each, and into slices of columns or of the inner axis
/// that run in sequence.
struct ProductPartition {
  ProductMethod method = ProductMethod::amp;
  std::int64_t group_parts = 1, row_parts = 1, column_parts = 1, inner_parts = 1;
  std::int64_t column_slices = 1, inner_slices = 1;
  std::int64_t tile_groups = 1, tile_rows = 1, tile_inner = 1, tile_columns = 1;  ///< of a tile in a slice, in whole grains
  ReductionStages stages{};
  ProductCycles cycles{};
  std::int64_t temporary_bytes = 0;  ///< of a tile, while a slice is computed
  bool fits = false;  ///< whether the temporary bytes are within the given share of the tile's memory

  constexpr std::int64_t tiles() const { return group_parts * row_parts * column_parts * inner_parts; }
  constexpr std::int64_t slices() const { return column_slices * inner_slices; }
  /// Returns the number of phases of exchange, each of which begins with a barrier.
  constexpr std::int64_t phases() const { return slices() * (2 + stages.count); }
};

namespace detail {

/// Grains of the division, and the method: see ProductProblem and ProductMethod.
struct ProductGrains {
  const AmpModel* amp = nullptr;
  std::int64_t inner = 1, columns = 1;
};

constexpr std::int64_t common_multiple(std::int64_t a, std::int64_t b) {
  std::int64_t result = a;
  while (result % b != 0) result += a;
  return result;
}
constexpr ProductGrains grains_of(const ProductProblem& problem, const ProductMachine& machine, ProductMethod method) {
  const AmpModel& amp = problem.element_bytes == 4 ? machine.single : problem.partial_bytes == 4 ? machine.mixed : machine.half;
  const std::int64_t vector = std::max<std::int64_t>(1, 8 / problem.element_bytes);
  return {&amp,
          problem.sums_positions ? problem.inner_grain
                                 : common_multiple(method == ProductMethod::amp ? amp.channels : vector, problem.inner_grain),
          common_multiple(method == ProductMethod::amp ? amp.units : 1, problem.column_grain)};
}

/// Returns whether the unit's mode for convolutions of few channels can compute it.
constexpr bool takes_slic(const ProductProblem& problem, const AmpModel& amp) {
  return amp.units > 0 && problem.is_convolution && problem.element_bytes == 2 && problem.inner <= 4 && !problem.sums_positions;
}

/// Returns the positions of the input, of all images, for `rows` positions of the result.
constexpr std::int64_t input_places(const ProductProblem& problem, std::int64_t rows) {
  std::int64_t places = 1;
  for (int axis = 2; axis >= 0; --axis) {
    const ConvolutionAxis& each = problem.axes[axis];
    places *= each.input((std::min)(each.field, rows));
    rows = ceil_divide(rows, each.field);
  }
  return rows * places;
}

/// Returns the cycles to copy bytes within a tile into another order, with `together` of them in a piece (poplin, ConvModel).
constexpr std::int64_t regrouping_cycles(std::int64_t bytes, std::int64_t together) {
  return ceil_divide(5 * bytes, 4 * std::min<std::int64_t>(8, together));
}

/// Returns the cycles of a tile's part. A convolution is one product for each element of the kernel, or one for all of them,
/// whose channels are those of each element: for that the input is copied, an element of the kernel after the other. `banks`:
/// where its operands are; of dot products, those of both operands, and of others those of the input and the sums.
constexpr std::int64_t compute_cycles(const ProductProblem& problem, const ProductPartition& part, const AmpModel& amp,
                                      OperandBanks banks = OperandBanks::interleaved) {
  const std::int64_t rows = part.tile_rows, columns = part.tile_columns, groups = part.tile_groups;
  const std::int64_t inner = part.tile_inner * (problem.sums_positions ? problem.kernel_elements() : 1);
  if (part.method == ProductMethod::dots) {
    const std::int64_t terms = part.tile_inner * problem.taps();
    return dot_product_cycles(problem.element_bytes, rows, terms, columns, groups) +
           dot_product_bank_cycles(problem.element_bytes, rows, terms, columns, groups, banks);
  }
  const auto by_unit = [&](std::int64_t terms) {
    return amp_cycles(amp, rows, terms, columns, groups) + amp_bank_cycles(amp, rows, terms, columns, groups, banks);
  };
  if (!problem.is_convolution || problem.sums_positions) return by_unit(inner);
  const std::int64_t line = (std::min)(rows, problem.axes[2].field), kernel_line = problem.axes[2].taps();
  const ConvolutionBlock block{.rows = ceil_divide(rows, line),
                               .line = line,
                               .inner = inner,
                               .columns = columns,
                               .groups = groups,
                               .kernel_rows = problem.taps() / kernel_line,
                               .kernel_line = kernel_line};
  if (part.method == ProductMethod::slic) return slic_cycles(block) + slic_bank_cycles(block, banks);
  if (problem.taps() == 1) return by_unit(inner);
  const auto in_passes = [&](std::int64_t filter_rows) {
    return convolution_cycles(amp, block, filter_rows) + convolution_bank_cycles(amp, block, filter_rows, banks);
  };
  const std::int64_t expanded = groups * rows * inner * problem.taps() * problem.element_bytes;
  std::int64_t best = (std::min)(in_passes(1),
                                 by_unit(inner * problem.taps()) + regrouping_cycles(expanded, inner * problem.element_bytes));
  for (std::int64_t filter_rows = 2; filter_rows <= 4 && inner * filter_rows <= amp.channels; filter_rows *= 2)
    best = (std::min)(best, in_passes(filter_rows));
  return best;
}

/// Returns the cycles of a part's copy between its slice and the whole on a tile (popops' estimate of a dynamic slice).
constexpr std::int64_t slice_cycles(std::int64_t elements, std::int64_t element_bytes) {
  return 25 + tile_workers * (39 + 24 + 2 * ceil_divide(ceil_divide(elements, tile_workers), 8 / element_bytes));
}

/// Computes the tile's share, cycles and bytes from the numbers of parts and slices.
constexpr void price(ProductPartition& part, const ProductProblem& problem, const ProductMachine& machine) {
  const ProductGrains grains = grains_of(problem, machine, part.method);
  const std::int64_t element = problem.element_bytes, partial = problem.partial_bytes;
  part.tile_groups = ceil_divide(problem.groups, part.group_parts);
  part.tile_rows = problem.row_grain * ceil_divide(ceil_divide(problem.rows, problem.row_grain), part.row_parts);
  part.tile_inner = grains.inner * ceil_divide(ceil_divide(problem.inner, grains.inner), part.inner_parts * part.inner_slices);
  part.tile_columns = grains.columns *
                      ceil_divide(ceil_divide(problem.columns, grains.columns), part.column_parts * part.column_slices);
  part.stages = reduction_stages(part.inner_parts);

  const std::int64_t groups = part.tile_groups;
  const std::int64_t places = problem.is_convolution ? input_places(problem, part.tile_rows) : part.tile_rows;
  const std::int64_t inputs = groups * places * part.tile_inner;
  const std::int64_t weights = groups * part.tile_inner * part.tile_columns * problem.kernel_elements();
  const std::int64_t results = groups * part.tile_rows * part.tile_columns;
  const std::int64_t bus = part.column_parts % machine.tiles_of_bus == 0 ? machine.tiles_of_bus : 1;

  ProductCycles cycles;
  cycles.inputs = ceil_divide((inputs - inputs / part.column_parts) * element, machine.exchange_bytes * bus);
  cycles.weights = ceil_divide((weights - weights / part.row_parts) * element, machine.exchange_bytes);
  cycles.compute = compute_cycles(problem, part, *grains.amp);
  std::int64_t received = results * partial;  // by a tile in a stage
  for (int stage = 0; stage < part.stages.count; ++stage) {
    cycles.partials += ceil_divide(received, machine.exchange_bytes);
    received = ceil_divide(received, part.stages.depth[stage]);
  }
  cycles.reduction = reduction_cycles(ceil_divide(results, part.inner_parts), part.inner_parts, partial, problem.output_bytes);
  if (part.inner_parts > 1) cycles.reduction += machine.step_cycles;
  const std::int64_t slices = part.slices();
  if (slices > 1) {
    const std::int64_t of_weights = ceil_divide(
        ceil_divide(problem.groups * problem.inner * problem.columns * problem.kernel_elements(), machine.tiles), slices);
    const std::int64_t of_results = ceil_divide(problem.groups * problem.rows * problem.columns, machine.tiles);
    cycles.slices = slice_cycles(of_weights, element);
    if (part.column_slices > 1) cycles.slices += slice_cycles(ceil_divide(of_results, part.column_slices), problem.output_bytes);
    if (part.inner_slices > 1)  // a slice of the input, too; and the parts of all slices are added
      cycles.slices += slice_cycles(
                           ceil_divide(ceil_divide(problem.groups * problem.rows * problem.inner, machine.tiles), slices),
                           element) +
                       reduction_stage_cycles(ceil_divide(of_results, part.column_slices), 2, partial, partial);
  }
  part.cycles = {cycles.inputs * slices,   cycles.weights * slices,   cycles.compute * slices,
                 cycles.partials * slices, cycles.reduction * slices, cycles.slices * slices};
  part.temporary_bytes = (inputs + weights) * element + results * partial;
  if (part.inner_slices > 1) part.temporary_bytes += part.inner_slices * ceil_divide(results, part.inner_parts) * partial;
}

}  // namespace detail

}  // namespace tilewright::internal
