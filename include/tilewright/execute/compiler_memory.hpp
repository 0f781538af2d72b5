#pragma once
#include <algorithm>
#include <cstddef>

namespace tilewright::internal::detail {

/// Leaves GCC free memory in the sizes that it asks for later. What the evaluation of a constant expression has allocated becomes
/// a list of free pages when it has ended: several 100,000 for a program of hundreds of steps. The optimiser then takes blocks of
/// 16 KB for functions, some 4,000 in a program with a session, and for each GCC 12 searches the list for a free one of that size
/// (alloc_page in its ggc-page.cc), in vain: that took a quarter of the time of a training program of GPT-2 with 124 million
/// weights, 509 steps. An array of 1000 elements takes 16 KB; each copy below leaves two blocks.
constexpr void leave_blocks_to_compiler([[maybe_unused]] std::size_t steps) {
#if defined(__GNUC__) && !defined(__clang__)
  if (steps < 64) return;  // the list is short
  struct Block {
    char elements[1000]{};
  };
  Block block;
  for (char& element : block.elements) element = 1;
  for (std::size_t copies = std::min<std::size_t>(4 * steps, 2000); copies > 0; --copies) {
    const Block copy = block;
    static_cast<void>(copy);
  }
#endif
}

}  // namespace tilewright::internal::detail
