#pragma once
#include <algorithm>
#include <cstddef>

namespace tilewright::internal::detail {

/// Leaves GCC free memory in the sizes that it needs later. After the evaluation of a constant expression, its memory becomes
/// a list of free pages: several 100,000 for a program of hundreds of steps. After that, the optimiser allocates blocks of 16
/// KB for functions, some 4,000 in a program with a session. For each, GCC 12 searches the whole list for a free block of that
/// size and finds none (alloc_page in its ggc-page.cc). That took a quarter of the compile time of a training program of GPT-2
/// with 124 million weights, 509 steps. An array of 1000 elements takes 16 KB; each copy below leaves two blocks.
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
