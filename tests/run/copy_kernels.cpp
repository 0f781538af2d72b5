// Runs of elements that kernels copy as they are, of lengths around vectors and around what memcpy copies.
#include <random>
#include <utility>
#include <vector>

#include "../catch.hpp"
#include "tilewright/kernel/copy_run.hpp"

namespace {

/// Copies `count` elements between odd addresses; whether they arrived, and nothing before or after them changed.
template <class T, std::size_t count>
bool arrives() {
  std::minstd_rand random(1);
  std::vector<T> from(count + 3), to(count + 5);
  for (auto* const elements : {&from, &to})
    for (T& element : *elements) element = static_cast<T>(random());
  std::vector<T> expected = to;
  for (std::size_t i = 0; i < count; ++i) expected[i + 3] = from[i + 1];
  tilewright::detail::copy_run<count>(to.data() + 3, from.data() + 1);
  return to == expected;
}
template <class T, std::size_t first, std::size_t... i>
std::vector<std::size_t> lost(std::index_sequence<i...>) {
  std::vector<std::size_t> counts;
  ((arrives<T, first + i>() ? void() : counts.push_back(first + i)), ...);
  return counts;
}

TEST_CASE("copied runs: all elements arrive, and none beside them changes") {
  constexpr std::make_index_sequence<140> counts;
  CHECK(lost<std::uint8_t, 1>(counts).empty());
  CHECK(lost<std::uint32_t, 1>(counts).empty());
  CHECK(lost<std::uint8_t, 4090>(std::make_index_sequence<12>()).empty());
  CHECK(lost<std::uint64_t, 510>(std::make_index_sequence<5>()).empty());
}

}  // namespace
