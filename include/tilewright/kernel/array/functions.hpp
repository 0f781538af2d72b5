#pragma once
#include <concepts>
#include <type_traits>

#include "tilewright/core/xtensor.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/by_element.hpp"

namespace tilewright::kernel {

/// Applies a function object of xtensor to vectors or numbers. If kernel/math.hpp has the function, it is used, so results do not
/// depend on an element's position or on the versions of xtensor and xsimd.
template <class F, class X, class... Rest>
[[gnu::always_inline]] inline auto array_function(const F& f, const X& x, const Rest&... rest) {
  constexpr bool one_type = (std::is_same_v<X, Rest> && ...);
  if constexpr (std::is_same_v<F, xt::detail::conditional_ternary>) return math::select(x, rest...);
  else if constexpr (std::is_same_v<F, xt::detail::plus> && one_type) return math::add(x, rest...);
  else if constexpr (std::is_same_v<F, xt::detail::minus> && one_type) return math::subtract(x, rest...);
  else if constexpr (std::is_same_v<F, xt::detail::multiplies> && one_type) return math::multiply(x, rest...);
  else if constexpr (std::is_same_v<F, xt::detail::divides> && one_type) return math::divide(x, rest...);
  else if constexpr (std::is_same_v<F, xt::detail::negate>) return math::negate(x);
  else if constexpr (std::is_same_v<F, xt::math::maximum<void>> && one_type) return (math::max)(x, rest...);
  else if constexpr (std::is_same_v<F, xt::math::minimum<void>> && one_type) return (math::min)(x, rest...);
  else if constexpr (std::is_same_v<F, xt::math::clamp_fun> && one_type)
    return [&](const X& low, const X& high) { return math::select(x < low, low, math::select(high < x, high, x)); }(rest...);
  else if constexpr (std::is_same_v<F, xt::math::fma_fun> && one_type) return math::fma(x, rest...);
  else if constexpr (std::is_same_v<F, xt::math::abs_fun>) return math::absolute(x);
  else if constexpr (std::is_same_v<F, xt::math::sqrt_fun>) return math::sqrt(x);
  else if constexpr (std::is_same_v<F, xt::math::exp_fun>) return math::exp(x);
  else if constexpr (std::is_same_v<F, xt::math::log_fun>) return math::log(x);
  else if constexpr (std::is_same_v<F, xt::math::tanh_fun>) return math::tanh(x);
  else if constexpr (std::is_arithmetic_v<X>) return f(x, rest...);
  else if constexpr (!math::has_all_vector_functions &&
                     requires { requires !std::same_as<decltype(f(x.get(0), rest.get(0)...)), bool>; })
    return math::by_element(f, x, rest...);
  else return f.simd_apply(x, rest...);
}

/// Returns whether a function object of xtensor has equal results for numbers of type T and for vectors of them.
template <class F, class T>
constexpr bool is_exact = [] {
  const auto is_one_of = []<class... G>(std::type_identity<G>...) { return (std::is_same_v<F, G> || ...); };
  using std::type_identity;
  if (std::is_same_v<T, float> &&
      is_one_of(type_identity<xt::math::exp_fun>(), type_identity<xt::math::log_fun>(), type_identity<xt::math::tanh_fun>()))
    return true;
  return is_one_of(type_identity<xt::detail::plus>(), type_identity<xt::detail::minus>(), type_identity<xt::detail::multiplies>(),
                   type_identity<xt::detail::divides>(), type_identity<xt::detail::negate>(), type_identity<xt::math::abs_fun>(),
                   type_identity<xt::math::sqrt_fun>());
}();

}  // namespace tilewright::kernel
