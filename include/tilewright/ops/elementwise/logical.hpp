#pragma once
#include "tilewright/ops/elementwise/compare.hpp"

namespace tilewright {

struct And : Predicate<And> {
  static constexpr std::string_view name = "And";
  constexpr operator VertexCost() const { return binary_map_cost({6, 4}, {6, 4}); }
  template <class M> static M forward(M a, M b) { return a & b; }
};
struct Or : Predicate<Or> {
  static constexpr std::string_view name = "Or";
  constexpr operator VertexCost() const { return binary_map_cost({6, 4}, {6, 4}); }
  template <class M> static M forward(M a, M b) { return a | b; }
};
struct Not : Predicate<Not> {
  static constexpr std::string_view name = "Not";
  constexpr operator VertexCost() const { return map_cost({5, 4}, {5, 4}); }
  template <class M> static M forward(M x) { return !x; }
};

namespace ops {
/// Returns whether both are true, as bool. Inputs of any dtype are cast to bool: everything except 0 is true, NaN included.
/// Shapes broadcast as in NumPy. No gradient.
[[nodiscard]] constexpr Tensor logical_and(Tensor a, Tensor b) { return apply<And>({a.cast(boolean), b.cast(boolean)}); }
/// Returns whether at least one is true, as bool. Inputs are cast and broadcast as in logical_and. No gradient.
[[nodiscard]] constexpr Tensor logical_or(Tensor a, Tensor b) { return apply<Or>({a.cast(boolean), b.cast(boolean)}); }
/// Returns whether x is false, as bool. x is cast as in logical_and. No gradient.
[[nodiscard]] constexpr Tensor logical_not(Tensor x) { return apply<Not>({x.cast(boolean)}); }
}  // namespace ops

constexpr Tensor operator&(Tensor a, Tensor b) { return ops::logical_and(a, b); }
constexpr Tensor operator|(Tensor a, Tensor b) { return ops::logical_or(a, b); }
constexpr Tensor operator!(Tensor x) { return ops::logical_not(x); }

}  // namespace tilewright
