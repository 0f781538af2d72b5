#pragma once
#include <array>
#include <concepts>
#include <string_view>
#include <tuple>

#include "tilewright/derivatives/custom_rules.hpp"
#include "tilewright/derivatives/vjp.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright {

/// Result of fixed_point and root.
struct Solution {
  Tensor x{};  ///< of the shape and dtype of the first value
  Tensor residual{};  ///< the largest absolute value of what would be 0 at the exact x: one element, without derivatives
};

namespace detail {

/// Returns the tensors without derivatives.
template <std::size_t count>
constexpr std::array<Tensor, count> detached(const std::array<Tensor, count>& tensors) {
  std::array<Tensor, count> result;
  for (std::size_t i = 0; i < count; ++i) result[i] = ops::detach(tensors[i]);
  return result;
}
/// Returns (first, rest...).
template <std::size_t count>
constexpr std::array<Tensor, count + 1> joined_arguments(Tensor first, const std::array<Tensor, count>& rest) {
  std::array<Tensor, count + 1> result;
  result[0] = first;
  for (std::size_t i = 0; i < count; ++i) result[i + 1] = rest[i];
  return result;
}
/// Calls a function with the tensors of an array.
template <class F, std::size_t count>
constexpr auto call_with_array(const F& function, const std::array<Tensor, count>& arguments) {
  return std::apply([&function](const auto&... each) { return function(each...); }, arguments);
}

struct FirstArgument {
  template <std::same_as<Tensor>... Others>
  constexpr Tensor operator()(Tensor first, const Others&...) const {
    return first;
  }
};
/// Returns a solution, which is known, as a function of the arguments on which it depends: `rule(dy, solution, arguments...)`
/// returns the gradients of both, the first of which is none. A rule calls this for the solution that it is given, so that its
/// results are functions of the arguments, too, and have derivatives.
template <class Rule, std::size_t count>
constexpr Tensor depends_on(const Rule& rule, Tensor solution, const std::array<Tensor, count>& arguments) {
  if constexpr (count == 0) return solution;
  else return call_with_array(CustomDerivative<FirstArgument, Rule, false>({}, rule), joined_arguments(solution, arguments));
}

/// Returns the largest absolute value of the elements.
constexpr Tensor largest_of(Tensor x) { return (ops::max)(ops::abs(x)); }

}  // namespace detail

}  // namespace tilewright
