#pragma once
#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/derivatives/vjp.hpp"

namespace tilewright {

namespace detail {

/// Stands for the numbers of all arguments. Those of no floating point get zeros.
template <std::size_t count>
struct AllArguments {};

constexpr std::array<int, 1> numbers_of(int number) { return {number}; }
template <std::size_t count>
constexpr std::array<int, count> numbers_of(AllArguments<count>) {
  std::array<int, count> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<int>(i);
  return numbers;
}
template <std::size_t count>
constexpr const std::array<int, count>& numbers_of(const std::array<int, count>& numbers) {
  return numbers;
}

/// Fails unless all numbers are those of arguments of floating point.
constexpr void check_argnums(const AppliedGraph& applied, std::string_view what, std::span<const int> numbers) {
  Ir& ir = applied.ir();
  for (int number : numbers) {
    if (ir.failed()) return;
    if (number < 0 || number >= static_cast<int>(applied.arguments.size())) {
      ir.fail(text(what, " of ", applied.graph.name(), ": argument ", number, " of ", applied.arguments.size(),
                   ": a number of at least 0 and below ", applied.arguments.size(), " expected"));
    } else if (const TensorSpec spec = applied.argument_spec(static_cast<std::size_t>(number)); !is_floating_point(spec.dtype)) {
      ir.fail(text(what, " of ", applied.graph.name(), ": argument ", number, ", ", to_text(spec),
                   ": a dtype of floating point expected"));
    }
  }
}
/// Fails unless a graph has one result of floating point.
constexpr void check_result(const AppliedGraph& applied, std::string_view what, bool is_scalar) {
  Ir& ir = applied.ir();
  if (ir.failed()) return;
  const auto fail = [&](const Text& found) {
    ir.fail(text(what, " of ", applied.graph.name(), ": ", found, ": ",
                 is_scalar ? "one result of one element, of" : "one result of", " floating point, expected",
                 is_scalar ? "; vjp or jacobian for others" : ""));
  };
  if (applied.results != 1) return fail(text(applied.results, " results"));
  const TensorSpec spec = applied.result(0).spec();
  if (!is_floating_point(spec.dtype) || (is_scalar && spec.nelms() != 1)) fail(text("a result ", to_text(spec)));
}

/// The gradient of a function, with its value or without.
template <class F, class Numbers, bool with_value>
class Gradient {
 public:
  static constexpr std::string_view traced_name = "grad";
  constexpr Gradient(F function, Numbers numbers) : function_(std::move(function)), numbers_(numbers) {}

  constexpr const F& original() const { return function_; }
  constexpr Gradient of(F function) const { return {std::move(function), numbers_}; }

  template <std::convertible_to<Tensor>... Arguments>
  constexpr auto operator()(const Arguments&... arguments) const {
    constexpr std::string_view what = with_value ? "value_and_grad" : "grad";
    const auto numbers = numbers_of(numbers_);
    const AppliedGraph applied = apply_function(what, function_, array_of(arguments...));
    check_result(applied, what, true);
    if constexpr (!std::is_empty_v<Numbers>) check_argnums(applied, what, numbers);
    const DifferentiatedCall call = call_and_differentiate(applied, List<int>(numbers.begin(), numbers.end()));
    auto gradients = gradients_at(call, numbers);
    if constexpr (!with_value) return gradients;
    else return std::pair(Tensor(call.results), gradients);
  }

 private:
  constexpr auto gradients_at(const DifferentiatedCall& call, const auto& numbers) const {
    std::array<Tensor, std::tuple_size_v<std::remove_cvref_t<decltype(numbers)>>> gradients;
    Ir& ir = call.ir();
    List<Tensor> of_results;
    if (!ir.failed()) {
      const TensorSpec spec = call.applied.result(0).spec();
      of_results.push_back(ir.constant(List<double>{1}, spec.shape, spec.dtype));
    }
    gradients_of_arguments(call, of_results, numbers, gradients);
    if constexpr (std::same_as<Numbers, int>) return gradients[0];
    else return gradients;
  }

  F function_;
  Numbers numbers_;
};

}  // namespace detail

/// Returns the gradient of a function: `tw::grad(f)(x, w)` is a tensor, the gradient of f(x, w) for argument `argnum`. The
/// function is a lambda, a module without variables, a graph, or a bound graph, whose bound tensors are constants; or a
/// derivative of one, so that `tw::grad(tw::grad(f))` is the second derivative. Arguments are tensors of the current graph. A
/// lambda uses its arguments only, no other tensors. Errors: more than one result, or more than one element; an argument that is
/// not of floating point; those of autodiff.
template <class F>
[[nodiscard]] constexpr auto grad(F function, int argnum = 0) {
  return detail::Gradient<F, int, false>(std::move(function), argnum);
}
/// Returns the gradient of a function for several arguments, an array: `const auto [dx, dw] = tw::grad(f, {0, 1})(x, w)`.
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr auto grad(F function, const int (&argnums)[count]) {
  return detail::Gradient<F, std::array<int, count>, false>(std::move(function), std::to_array(argnums));
}
/// Returns a function for the value and the gradient: `const auto [y, dx] = tw::value_and_grad(f)(x)`. Arguments and errors are
/// those of grad.
template <class F>
[[nodiscard]] constexpr auto value_and_grad(F function, int argnum = 0) {
  return detail::Gradient<F, int, true>(std::move(function), argnum);
}
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr auto value_and_grad(F function, const int (&argnums)[count]) {
  return detail::Gradient<F, std::array<int, count>, true>(std::move(function), std::to_array(argnums));
}

/// Returns x, for which no derivative of any kind has a part: ops::detach.
[[nodiscard]] constexpr Tensor stop_gradient(Tensor x) { return ops::detach(x); }

}  // namespace tilewright
