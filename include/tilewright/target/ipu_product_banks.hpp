#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/target/amp.hpp"
#include "tilewright/target/operand_banks.hpp"

// Cycles that a product takes longer if the banks of its operands do not serve all accesses of an instruction in one cycle.
// poplibs has no codelet for such operands: its vertices refuse them (the constraints of poplin's codelets ConvPartial1x1Out,
// ConvPartialnx1, ConvPartial1xNSLIC and ConvPartialHorizontalMac, sdk-release-3.4). So these cycles are assumed: accesses to
// one bank take an instruction each, as in loops over elements (scaled_add_cycles). How many accesses an instruction has is
// published: in each instruction of its loop over rows, the unit loads 8 bytes of the input, loads 8 bytes of sums, and stores 8
// bytes of sums (ld2xst64pace in poplin/codelets/asm/conv_partial_1x1_half_float_8_and_half_half_h16.S; without the load of sums
// for the first block of float16). A dot product loads 8 bytes of each operand (ld2x64pace in conv_hzmac_half_float.S).

namespace tilewright {

/// Returns the instructions for the accesses of one: to the input, to store sums and, if `loads_sums`, to load sums.
constexpr std::int64_t instructions_of_accesses(OperandBanks banks, bool loads_sums) {
  switch (banks) {
    case OperandBanks::same: return loads_sums ? 3 : 2;
    case OperandBanks::same_pair: return 2;
    case OperandBanks::different: return loads_sums ? 2 : 1;
    default: return 1;
  }
}

/// Returns the additional cycles of amp_cycles. The sums of float32 are set to zero before the first block, and then loaded.
constexpr std::int64_t amp_bank_cycles(const AmpModel& amp, std::int64_t rows, std::int64_t inner, std::int64_t columns,
                                       std::int64_t groups, OperandBanks banks) {
  const std::int64_t first = instructions_of_accesses(banks, amp.element_bytes == 4) - 1;
  const std::int64_t next = instructions_of_accesses(banks, true) - 1;
  const std::int64_t of_block = tile_workers * ceil_divide(rows, tile_workers) * amp.row_cycles;
  return groups * ceil_divide(columns, amp.units) * of_block * (first + (ceil_divide(inner, amp.channels) - 1) * next);
}
/// Returns the additional cycles of convolution_cycles, whose passes all load sums.
constexpr std::int64_t convolution_bank_cycles(const AmpModel& amp, const ConvolutionBlock& block, std::int64_t filter_rows,
                                               OperandBanks banks) {
  const std::int64_t workers_of_line = std::max<std::int64_t>(1, tile_workers / std::max<std::int64_t>(1, block.rows));
  const std::int64_t places = ceil_divide(block.rows, tile_workers) * ceil_divide(block.line, workers_of_line);  // of a worker
  const std::int64_t passes = ceil_divide(block.kernel_rows, filter_rows) * block.kernel_line *
                              ceil_divide(block.inner * filter_rows, amp.channels) * ceil_divide(block.columns, amp.units);
  return block.groups * passes * tile_workers * places * amp.row_cycles * (instructions_of_accesses(banks, true) - 1);
}
/// Returns the additional cycles of slic_cycles, whose first window loads no sums.
constexpr std::int64_t slic_bank_cycles(const ConvolutionBlock& block, OperandBanks banks) {
  const std::int64_t windows = block.kernel_rows * ceil_divide(block.kernel_line, 4);
  const std::int64_t macs = block.groups * block.rows * block.line * block.inner * block.columns * 4;  // of a window
  const std::int64_t of_window = ceil_divide(macs, std::min<std::int64_t>(4, block.inner) * 4 * 2);
  return of_window * (instructions_of_accesses(banks, false) - 1 + (windows - 1) * (instructions_of_accesses(banks, true) - 1));
}
/// Returns the additional cycles of dot_product_cycles: two loads instead of one instruction for each vector of terms.
constexpr std::int64_t dot_product_bank_cycles(std::int64_t element_bytes, std::int64_t rows, std::int64_t inner,
                                               std::int64_t columns, std::int64_t groups, OperandBanks banks) {
  if (banks >= OperandBanks::different) return 0;
  return tile_workers * ceil_divide(rows * groups, tile_workers) * columns * ceil_divide(inner, 8 / element_bytes);
}

}  // namespace tilewright
