#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <cstddef>

#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/module_list.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/random/random.hpp"

namespace tilewright::layers {

/// A function of a tensor as a module: an element of Sequential such as torch.nn.ReLU. The function is one of ops that takes a
/// tensor only, or a lambda without captures. The layer has no variables.
///
///     tw::layers::Apply<tw::ops::relu>
///     tw::layers::Apply<[](tw::Tensor x) { return tw::ops::softmax(x, 1); }>
template <auto function>
  requires std::invocable<decltype(function)&, Tensor>
struct Apply : Module<Apply<function>> {
  constexpr Tensor build(Tensor x) { return function(x); }
};

namespace detail {
/// A name that compilers show where a function stands for an element: Apply of it is one.
template <class Element>
concept ModuleOrApplyOfFunction = true;
/// Base of modules that pass a tensor through their elements, one after the other.
template <class D, class... Elements>
class Chain : public ModuleListOf<D, Elements...> {
 public:
  using ModuleListOf<D, Elements...>::ModuleListOf;
  static constexpr bool takes_seed = (tilewright::detail::takes_seed<Elements>() || ...);

 protected:
  /// Returns the result of the last element. Each element from `i` on that takes a seed gets one of its own, derived from `seed`
  /// if that is valid.
  template <std::size_t i = 0, class X>
  constexpr auto pass(const X& x, Tensor seed) {
    if constexpr (i == sizeof...(Elements)) return x;
    else return pass<i + 1>(call<i>(x, seed), seed);
  }

 private:
  template <std::size_t i, class X>
  constexpr auto call(const X& x, Tensor seed) {
    auto& element = this->template get<i>();
    using Element = std::remove_reference_t<decltype(element)>;
    if constexpr (tilewright::detail::takes_seed<Element>()) {
      if (seed.valid()) return element(x, ops::create_random_seed(seed, std::int64_t{i}));
    }
    if constexpr (std::derived_from<Element, ModuleBase> || std::invocable<Element&, const X&>) return element(x);
    else
      return this->ir().fail(
          text(type_name<D>(), ": element ", int{i}, ": a module, or a function of what the element before returns, expected"));
  }
};
}  // namespace detail

/// Passes x through its elements, one after the other: torch.nn.Sequential. Elements are modules, or lambdas without captures. x:
/// what the first element takes; the result is that of the last element. Variables: those of the elements, with their initial
/// values. Numbers stand before their names as in PyTorch: `0.weight`, `0.bias`, `2.weight`.
///
/// If an element takes a seed, as Dropout does, `build` takes one, (2,) uint32, as the last argument; training requires it.
/// Element i gets the seed create_random_seed(seed, i).
///
///     using Body = tw::layers::Sequential<tw::layers::Linear<64>, tw::layers::Apply<tw::ops::relu>, tw::layers::Dropout>;
///     tw::layers::Sequential net(tw::layers::Linear<64>(), tw::layers::Dropout(0.1), [](tw::Tensor x) { return x * 2; });
template <detail::ModuleOrApplyOfFunction... Elements>
struct Sequential : detail::Chain<Sequential<Elements...>, Elements...> {
  using detail::Chain<Sequential<Elements...>, Elements...>::Chain;

  constexpr auto build(Tensor x) { return this->pass(x, {}); }
  constexpr auto build(Tensor x, Tensor seed)
    requires(Sequential::takes_seed)
  {
    return this->pass(x, seed);
  }
};
template <class... Elements>
Sequential(const Elements&...) -> Sequential<Elements...>;

/// Adds x to what its elements make of x, one after the other: x + f(x) ("Deep Residual Learning for Image Recognition", arXiv
/// 1512.03385). torch.nn has no such layer. Elements, variables, their initial values and the seed are those of Sequential. x:
/// what the first element takes. The result has x's shape and dtype. Errors: a last element with a result of another shape or
/// dtype.
///
///     tw::layers::Residual<tw::layers::LayerNorm<>, tw::layers::Linear<64>>  // for x of (..., 64)
template <detail::ModuleOrApplyOfFunction... Elements>
struct Residual : detail::Chain<Residual<Elements...>, Elements...> {
  using detail::Chain<Residual<Elements...>, Elements...>::Chain;

  constexpr Tensor build(Tensor x) { return add(x, this->pass(x, {})); }
  constexpr Tensor build(Tensor x, Tensor seed)
    requires(Residual::takes_seed)
  {
    return add(x, this->pass(x, seed));
  }

 private:
  template <class Y>
  static constexpr Tensor add(Tensor x, const Y& y) {
    if constexpr (!std::convertible_to<const Y&, Tensor>)
      return x.ir().fail("Residual: several results of the last element, as of a GRU: one tensor expected");
    else if (x.spec() == y.spec() || !y.valid()) return x + y;
    else
      return x.ir().fail(
          text("Residual: ", to_text(y.spec()), " of x ", to_text(x.spec()), ": a result of the shape and dtype of x expected"));
  }
};
template <class... Elements>
Residual(const Elements&...) -> Residual<Elements...>;

}  // namespace tilewright::layers
