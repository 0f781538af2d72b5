#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/products/product_problem.hpp"

namespace tilewright::internal {

/// Share of a tile's memory for the operands and results of a product, if its op does not set it: poplibs' default
/// (availableMemoryProportion). In `./dev bench ipu`, products of 1024 rows and more are divided differently with 0.45 and 0.75.
inline constexpr double default_memory_proportion = 0.6;

namespace detail {

// Each number below has its unit, the reason for the limit, and in brackets the plans that change with it: products of `./dev
// bench ipu` by rows, its encoders of BERT-Large, and workloads of `./dev plans` for ipu_model.

/// Largest number of slices of a product: each is a separate operation with separate exchange code. [16: 3072 and more on gc2;
/// 64: 4096 on gc2]
inline constexpr std::int64_t most_slices = 32;
/// Largest number of slices of the inner axis: their parts need memory until all are added. No benchmark has such slices.
inline constexpr std::int64_t most_inner_slices = 16;
/// Largest number of group divisions that are searched: fewer parts leave tiles without groups, and each number needs a separate
/// search. In no benchmark is a number other than the first one best.
inline constexpr int most_group_tries = 3;
/// Number of candidates with the lowest estimates that are priced, because a price takes more operations. [3: 3072 and 3584; 6:
/// 4096; 2: encoders]
inline constexpr int kept_candidates = 4;
/// A step along an axis is 1 grain plus this part of a tile's grains. Long axes therefore have few steps, and consider_neighbours
/// searches between them. [10 and 16: from 2048; 6: encoders, inference of MNIST]
inline constexpr std::int64_t step_divisor = 12;
/// Largest number of rows of a product for which tiles with more rows than necessary are also tried: fewer tiles then receive the
/// same weights, but more have no rows. [less than a batch of 8: training steps of MNIST; more: none]
inline constexpr std::int64_t few_rows = 32;
/// Cycles of a slice of columns in addition to its product, an estimate: slice_cycles takes 403 without any elements, once for
/// weights and once for results. [0 to 20 times this number: none; 100 times: 2048]
inline constexpr std::int64_t slice_estimate = 1000;
/// A candidate is priced only if its estimate exceeds the lowest by at most this part of it, because no estimate is lower than
/// the price by more. [8: none; 24 and 32: encoders]
inline constexpr std::int64_t estimate_error = 16;
/// A number above all numbers of cycles and bytes.
inline constexpr std::int64_t unlimited = (std::numeric_limits<std::int64_t>::max)() / 4;

/// Searches for the fastest partition within a number of bytes. Every partition whose tiles have different shares is estimated in
/// a few operations; the best few are priced. Constant expressions pay for every operation here: a large product has about a
/// thousand partitions.
class PartitionSearch {
 public:
  constexpr PartitionSearch(const ProductProblem& problem, const ProductMachine& machine, bool in_slices)
      : problem_(problem), machine_(machine), in_slices_(in_slices) {}

  /// Returns whether a partition needs at most `limit` bytes of a tile if the inner axis is divided into `inner_slices` slices.
  /// `fewest_bytes`: searches for the smallest partition instead of the fastest.
  constexpr bool find(std::int64_t limit, std::int64_t inner_slices = 1, bool fewest_bytes = false) {
    limit_ = limit;
    inner_slices_ = inner_slices;
    fewest_bytes_ = fewest_bytes;
    found_ = false;
    const AmpModel& amp = *grains_of(problem_, machine_, ProductMethod::amp).amp;
    const bool has_unit = amp.units > 0 && (problem_.element_bytes == 2 || problem_.element_bytes == 4);
    if (has_unit) search(ProductMethod::amp);
    if (takes_slic(problem_, amp)) search(ProductMethod::slic);
    if (!has_unit || 2 * problem_.columns <= amp.units) search(ProductMethod::dots);
    return found_;
  }
  constexpr const ProductPartition& best() const { return best_; }

 private:
  struct Candidate {
    std::int64_t estimate = unlimited;  ///< cycles, or bytes
    std::int64_t row_parts = 0, column_parts = 0, inner_parts = 0, column_slices = 1;
  };

  constexpr void search(ProductMethod method) {
    // Groups need nothing of each other, so they are cut first; fewer parts than tiles or groups leave fewer tiles idle.
    std::int64_t most = (std::min)(problem_.groups, machine_.tiles);
    for (int tries = 0; tries < most_group_tries && most > 0; ++tries) {
      const std::int64_t groups = ceil_divide(problem_.groups, most), parts = ceil_divide(problem_.groups, groups);
      for (Candidate& each : candidates_) each.estimate = unlimited;
      estimate_all(method, groups, machine_.tiles / parts);
      for (const Candidate& each : candidates_)
        if (each.row_parts > 0 && each.estimate < unlimited) consider(each, method, parts);
      if (found_ && !fewest_bytes_ && best_.method == method && best_.group_parts == parts) consider_neighbours();
      most = parts - 1;
    }
  }

  constexpr void estimate_all(const ProductMethod method, const std::int64_t groups, const std::int64_t tiles) {
    const ProductGrains grains = grains_of(problem_, machine_, method);
    const std::int64_t row_grains = ceil_divide(problem_.rows, problem_.row_grain), row_grain = problem_.row_grain;
    const std::int64_t inner_grains = ceil_divide(ceil_divide(problem_.inner, grains.inner), inner_slices_);
    const std::int64_t column_grains = ceil_divide(problem_.columns, grains.columns);
    const std::int64_t exchange = machine_.exchange_bytes, kernel = problem_.kernel_elements();
    // Bytes of one grain of an operand, and of the result.
    const std::int64_t places =  // of the input, for a grain of rows
        problem_.is_convolution ? ceil_divide(input_places(problem_, problem_.rows), row_grains) : row_grain;
    const std::int64_t input = groups * places * grains.inner * problem_.element_bytes;
    const std::int64_t weight = groups * kernel * grains.inner * grains.columns * problem_.element_bytes;
    const std::int64_t output = groups * row_grain * grains.columns * problem_.partial_bytes;
    const bool amp = method == ProductMethod::amp;
    const std::int64_t vector = amp ? grains.amp->channels : 8 / problem_.element_bytes;
    // Cycles of a block of weights: to begin, for a row of each worker, and more for one or two rows of each. Then there are
    // passes over the result that set it to zero, which takes row_cycles for float32, or end dot products.
    const std::int64_t products = groups *
                                  (problem_.sums_positions ? ceil_divide(grains.inner * kernel, vector) : problem_.taps());
    const std::int64_t block_cycles = amp ? products * grains.amp->block_cycles() : 0;
    const std::int64_t row_cycles = products * tile_workers * (amp ? grains.amp->row_cycles : grains.columns);
    const std::int64_t zeros = !amp ? dot_product_end : problem_.element_bytes == 4 ? 1 : 0;
    const AmpCorrections corrections = amp_corrections(problem_.element_bytes);
    const std::int64_t more_cycles[] = {0, amp ? products * corrections.one_row : 0, amp ? products * corrections.two_rows : 0};
    const std::int64_t inner_cycles = products * corrections.inner_block;
    const bool has_few_rows = problem_.rows <= few_rows;
    const std::int64_t limit = limit_, bus = machine_.tiles_of_bus;
    const bool by_bytes = fewest_bytes_;
    // What no partition is faster than: all tiles multiply all the time.
    const std::int64_t least = inner_grains * column_grains * row_grains * row_grain / tiles * row_cycles / tile_workers;
    std::int64_t most_cycles = unlimited;  // of a candidate to keep
    std::int64_t columns = column_grains, column_parts = 1;  // grains of columns of a tile, and parts that give so many
    while (true) {
      const std::int64_t most_inner_parts = tiles / column_parts;
      const std::int64_t weights = columns * weight, results = columns * output;  // of a grain of the inner axis, and of rows
      // Cycles for a grain of the inner axis: of all columns, of a row that each worker has, of a received row (in sixteenths)
      // and of received weights. Inputs come from tiles with other columns, weights from those with other rows.
      const std::int64_t for_columns = columns * block_cycles + inner_cycles, for_row = columns * row_cycles;
      const std::int64_t for_inputs = 16 * input * (column_parts - 1) /
                                      (column_parts % bus == 0 ? column_parts * exchange * bus : column_parts * exchange);
      const std::int64_t for_weights = weights / exchange, for_zeros = zeros * for_row;
      // A reduction reads 16 bytes in 2 instructions, and takes 7 more for each result.
      const std::int64_t for_results = results / exchange + results / 8, for_sums = results / 2;
      const std::int64_t least_of_columns = least + row_grains * inner_grains / tiles * column_parts * for_inputs / 16;
      const std::int64_t least_of_part = row_grains * column_parts * for_results / tiles;
      std::int64_t inner = inner_grains, inner_parts = 1;
      while (true) {
        if (least_of_columns + inner * for_columns < most_cycles) {
          const std::int64_t most_row_parts = most_inner_parts / inner_parts;
          const std::int64_t for_sum = machine_.step_cycles + reduction_start_cycles(inner_parts);
          std::int64_t rows = most_row_parts < row_grains ? (row_grains + most_row_parts - 1) / most_row_parts : 1;
          while (true) {
            const std::int64_t worker_rows = (rows * row_grain + tile_workers - 1) / tile_workers;
            std::int64_t cycles = inner * (for_columns + worker_rows * for_row + rows * for_inputs / 16 +
                                           for_weights * (row_grains - rows) / row_grains) +
                                  worker_rows * for_zeros;
            if (worker_rows < 3) cycles += inner * columns * more_cycles[worker_rows];
            if (inner_parts > 1) cycles += for_sum + rows * (for_results + for_sums / inner_parts);
            if (cycles < most_cycles) {
              const std::int64_t bytes_of_columns = inner * weights + rows * results, inputs = inner * rows * input;
              if (inputs + bytes_of_columns <= limit && !by_bytes)
                most_cycles = keep({cycles, rows, column_parts, inner_parts, 1});
              else if (by_bytes || cycles + inner * rows * for_inputs / 16 + 2 * slice_estimate < most_cycles)
                most_cycles = keep_in_slices({cycles, rows, column_parts, inner_parts, columns}, inputs, bytes_of_columns,
                                             inner * rows * for_inputs / 16);
            }
            if (!has_few_rows || rows == row_grains) break;
            // As many rows as take no more time, then all of them: fewer tiles need the same weights.
            const std::int64_t most_rows = worker_rows * tile_workers / row_grain;
            rows = rows < most_rows && most_rows < row_grains ? most_rows : row_grains;
          }
        }
        if (inner == 1) break;
        inner_parts = (inner_grains - 1) / (inner - 1 - inner / step_divisor) + 1;
        if (inner_parts > most_inner_parts || least_of_columns + least_of_part * inner_parts > most_cycles) break;
        inner = (inner_grains + inner_parts - 1) / inner_parts;
      }
      if (columns == 1) break;
      column_parts = (column_grains - 1) / (columns - 1 - columns / step_divisor) + 1;
      if (column_parts > tiles) break;
      columns = (column_grains + column_parts - 1) / column_parts;
    }
  }

  /// Keeps a candidate that fits only in slices of columns, if it does. `row_parts` of the candidate are rows, and its slices are
  /// columns.
  constexpr std::int64_t keep_in_slices(Candidate candidate, std::int64_t inputs, std::int64_t bytes_of_columns,
                                        std::int64_t input_cycles) {
    const std::int64_t columns = candidate.column_slices, each = bytes_of_columns / columns;
    if (!in_slices_) {
      candidate.column_slices = 1;
      candidate.estimate = inputs + bytes_of_columns;
      if (fewest_bytes_ && candidate.estimate < candidates_[kept_candidates - 1].estimate) keep(candidate);
      return fewest_bytes_ ? unlimited : highest_estimate();
    }
    if (fewest_bytes_) {
      candidate.column_slices = (std::min)(columns, most_slices / inner_slices_);
      candidate.estimate = inputs + each * ceil_divide(columns, candidate.column_slices);
      if (candidate.estimate < candidates_[kept_candidates - 1].estimate) keep(candidate);
      return unlimited;
    }
    if (inputs + each <= limit_) {
      const std::int64_t slices = ceil_divide(columns, (limit_ - inputs) / each), padded = slices * ceil_divide(columns, slices);
      if (slices * inner_slices_ > most_slices) return highest_estimate();
      candidate.column_slices = slices;
      candidate.estimate += (candidate.estimate - input_cycles) * (padded - columns) / columns + (slices - 1) * input_cycles +
                            slice_estimate * slices;
      if (candidate.estimate < candidates_[kept_candidates - 1].estimate) return keep(candidate);
    }
    return highest_estimate();
  }
  /// Returns the highest estimate of a candidate to keep.
  constexpr std::int64_t highest_estimate() const {
    const std::int64_t lowest = candidates_[0].estimate;
    return (std::min)(candidates_[kept_candidates - 1].estimate, lowest + lowest / estimate_error);
  }
  /// Keeps a candidate whose `row_parts` are rows. Returns the highest estimate kept.
  constexpr std::int64_t keep(Candidate candidate) {
    candidate.row_parts = ceil_divide(ceil_divide(problem_.rows, problem_.row_grain), candidate.row_parts);
    int i = kept_candidates - 1;
    for (; i > 0 && candidate.estimate < candidates_[i - 1].estimate; --i) candidates_[i] = candidates_[i - 1];
    candidates_[i] = candidate;
    return highest_estimate();
  }

  /// Tries one grain less and one grain more of each long axis for the best candidates, because long axes are searched in steps.
  constexpr void consider_neighbours() {
    const ProductPartition around = best_;
    const ProductGrains grains = grains_of(problem_, machine_, around.method);
    const std::int64_t row_grains = ceil_divide(problem_.rows, problem_.row_grain), tiles = machine_.tiles / around.group_parts;
    const std::int64_t inner_grains = ceil_divide(ceil_divide(problem_.inner, grains.inner), inner_slices_);
    const std::int64_t column_grains = ceil_divide(problem_.columns, grains.columns);
    const std::int64_t inner = around.tile_inner / grains.inner, columns = ceil_divide(column_grains, around.column_parts);
    const auto consider_parts = [&](std::int64_t column_parts, std::int64_t inner_parts) {
      if (column_parts * inner_parts > tiles) return;
      const std::int64_t rows = ceil_divide(row_grains, (std::min)(row_grains, tiles / (column_parts * inner_parts)));
      consider({0, ceil_divide(row_grains, rows), column_parts, inner_parts, around.column_slices}, around.method,
               around.group_parts);
    };
    for (const std::int64_t step : {-1, 1}) {
      if (inner >= step_divisor - 2) consider_parts(around.column_parts, ceil_divide(inner_grains, inner + step));
      if (columns >= step_divisor - 2) consider_parts(ceil_divide(column_grains, columns + step), around.inner_parts);
    }
  }

  constexpr void consider(const Candidate& candidate, ProductMethod method, std::int64_t group_parts) {
    ProductPartition part;
    part.method = method;
    part.group_parts = group_parts;
    part.row_parts = candidate.row_parts;
    part.column_parts = candidate.column_parts;
    part.inner_parts = candidate.inner_parts;
    part.column_slices = candidate.column_slices;
    part.inner_slices = inner_slices_;
    price(part, problem_, machine_);
    if (part.temporary_bytes > limit_) return;
    if (found_) {
      const std::int64_t more_cycles = part.cycles.total() - best_.cycles.total();
      const std::int64_t more_bytes = part.temporary_bytes - best_.temporary_bytes;
      if (fewest_bytes_ ? more_bytes > 0 || (more_bytes == 0 && more_cycles >= 0)
                        : more_cycles > 0 || (more_cycles == 0 && more_bytes >= 0))
        return;
    }
    best_ = part;
    found_ = true;
  }

  const ProductProblem& problem_;
  const ProductMachine& machine_;
  bool in_slices_ = true;
  std::int64_t limit_ = 0, inner_slices_ = 1;
  bool fewest_bytes_ = false, found_ = false;
  Candidate candidates_[kept_candidates];  ///< the lowest estimates, lowest first
  ProductPartition best_{};
};

}  // namespace detail

/// Divides a product for a machine so that it takes the fewest cycles with at most a proportion of a tile's memory for its
/// operands and results (ties: the fewest bytes). If nothing fits, the inner axis is also divided into slices; then the limit is
/// doubled, up to twice the memory; then there is none. A proportion of 0 requests the fewest bytes. The order of these steps is
/// poplibs' (poplin, ConvPlan). `in_slices`: whether slices are allowed at all.
constexpr ProductPartition partition_product(const ProductProblem& problem, const ProductMachine& machine,
                                             double available_memory_proportion = default_memory_proportion,
                                             bool in_slices = true) {
  const std::int64_t most_inner_slices = in_slices ? detail::most_inner_slices : 1;
  const auto given = static_cast<std::int64_t>(available_memory_proportion * static_cast<double>(machine.bytes_per_tile));
  detail::PartitionSearch search(problem, machine, in_slices);
  bool found = false;
  if (given == 0) {
    ProductPartition least;
    for (std::int64_t slices = 1; slices <= most_inner_slices && slices <= problem.inner; slices *= 2) {
      search.find(detail::unlimited, slices, true);
      if (slices == 1 || search.best().temporary_bytes < least.temporary_bytes) least = search.best();
    }
    return least;
  }
  for (std::int64_t limit = given; !found && limit < 2 * machine.bytes_per_tile; limit *= 2)
    for (std::int64_t slices = 1; !found && slices <= most_inner_slices && slices <= problem.inner; slices *= 2)
      found = search.find(limit, slices);
  if (!found) search.find(detail::unlimited);
  ProductPartition result = search.best();
  result.fits = result.temporary_bytes <= given;
  return result;
}

/// Partitions that a pass has found, by problem, because a body often has equal products. A partition has slices only if it needs
/// more than its share of the memory at once: slices are not fused, and their price does not include the rearrangement of their
/// operands.
class ProductPartitions {
 public:
  constexpr explicit ProductPartitions(const ProductMachine& machine) : machine_(machine) {}

  constexpr const ProductMachine& machine() const { return machine_; }
  constexpr const ProductPartition& find(const ProductProblem& problem, double available_memory_proportion) {
    for (const Known& known : known_)
      if (known.proportion == available_memory_proportion && known.problem == problem) return known.partition;
    ProductPartition best = partition_product(problem, machine_, available_memory_proportion, false);
    if (!best.fits) {
      const ProductPartition slices = partition_product(problem, machine_, available_memory_proportion);
      if (slices.temporary_bytes < best.temporary_bytes) best = slices;
    }
    known_.push_back({problem, available_memory_proportion, best});
    return known_.back().partition;
  }

 private:
  struct Known {
    ProductProblem problem{};
    double proportion = 0;
    ProductPartition partition{};
  };
  ProductMachine machine_;
  List<Known> known_{};
};

}  // namespace tilewright::internal
