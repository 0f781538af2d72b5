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
    {"products", 0.57, 1.60},  // 116 figures
    {"convolutions", 0.80, 1.51},  // 31 figures
    {"pools", 0.85, 1.09},  // 8 figures
    {"lookups", 1.37, 1.40},  // 2 figures
    {"reductions", 1.03, 1.57},  // 12 figures
    {"loops", 0.78, 1.56},  // 12 figures
    {"links", 1.00, 1.23},  // 8 figures
    {"others", 0.57, 1.60},  // 189 figures
};
inline constexpr std::size_t compared_kind_count = std::size(compared_kinds);

}  // namespace tilewright
