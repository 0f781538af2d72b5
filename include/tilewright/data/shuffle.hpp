#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/core/random/random.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/draw_below.hpp"

namespace tilewright::data {

/// Shuffles the items uniformly (Fisher and Yates's shuffle, from the end).
template <class T> constexpr void shuffle(std::span<T> items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[static_cast<std::size_t>(draw_below(left, random))]);
}

namespace detail {
/// Returns the numbers of `count` samples, from `first` on. Throws DataError, which names the reader, if they do not fit in
/// memory.
inline std::vector<std::size_t> sample_numbers(std::string_view reader, std::size_t count, std::size_t first = 0) {
  return with_memory(reader, Amount{"numbers of ", count, " samples"},
                     tilewright::detail::saturated_product({count, sizeof(std::size_t)}), [&] {
                       std::vector<std::size_t> numbers(count);
                       std::iota(numbers.begin(), numbers.end(), first);
                       return numbers;
                     });
}
}  // namespace detail

}  // namespace tilewright::data
