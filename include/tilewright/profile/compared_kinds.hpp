#pragma once
// ./dev bench fidelity --write makes this header: how far plans of each kind were from others' figures.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tilewright {

/// Kinds of steps that were compared with others' figures. The last one is what nothing was compared with.
enum class ComparedKind : std::uint8_t { products, convolutions, pools, lookups, reductions, loops, links, others };

/// Between which parts of the predicted time the programs of a kind took.
struct RangeOfKind {
  std::string_view name;
  double least, most;
};
inline constexpr RangeOfKind compared_kinds[] = {
    {"products", 0.57, 2.19},
    {"convolutions", 0.66, 1.51},
    {"pools", 0.85, 1.09},
    {"lookups", 1.37, 1.40},
    {"reductions", 1.03, 1.57},
    {"loops", 0.78, 1.58},
    {"links", 1.00, 1.23},
    {"others", 0.57, 2.19},
};
inline constexpr std::size_t compared_kind_count = std::size(compared_kinds);

}  // namespace tilewright
