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

/// Returns what `iterations` calls of step(arguments) make of the first argument. Others are parameters, for which `rule` gives
/// the derivative. The residual is the largest |rest(arguments)|, with the solution in place of the first one.
template <class Step, class Rule, class Rest, std::size_t count>
constexpr Solution solve_by_steps(const Step& step, std::int64_t iterations, const Rule& rule, const Rest& rest,
                                  const std::array<Tensor, count>& arguments) {
  auto at = detached(arguments);
  at[0] = repeat_with_info(at[0].ir().create_graph(step, at), iterations, at).output(0);
  std::array<Tensor, count - 1> parameters;
  for (std::size_t i = 1; i < count; ++i) parameters[i - 1] = arguments[i];
  return {depends_on(rule, at[0], parameters), (ops::max)(ops::abs(rest(at)))};
}

}  // namespace detail

}  // namespace tilewright
