#pragma once
#include <cstdint>

namespace tilewright::kernel {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return ceil_div(value, multiple) * multiple; }
/// Returns the size of a block if `total` items are spread evenly over the smallest number of blocks of at most `largest`.
constexpr std::int64_t even_block(std::int64_t total, std::int64_t largest) {
  const std::int64_t blocks = ceil_div(total, largest);
  return blocks == 0 ? 0 : ceil_div(total, blocks);
}

}  // namespace tilewright::kernel
