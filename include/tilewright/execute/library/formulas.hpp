#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/execute/library/library_program.hpp"
#include "tilewright/kernel/copy/transpose.hpp"
#include "tilewright/op/elementwise_code.hpp"
#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"

namespace tilewright::internal {

/// The loop of an op's formula with a number of inputs, for any attributes.
template <class O, std::size_t inputs>
struct FormulaOf {
  static void run(const PackedAttributes& packed, const float* const* from, float* to, std::int64_t count) {
    run(packed, from, to, count, std::make_index_sequence<inputs>{});
  }

 private:
  using Batch = kernel::FloatBatch;
  using Attributes = typename O::Attributes;
  static constexpr std::int64_t width = kernel::float_width;

  static Batch forward(const Attributes& attributes, const std::same_as<Batch> auto&... x) {
    if constexpr (std::is_empty_v<Attributes>) return O::forward(x...);
    else return O::forward(x..., attributes);
  }
  template <std::size_t... i>
  static void run(const PackedAttributes& packed, const float* const* given, float* to, std::int64_t count,
                  std::index_sequence<i...>) {
    const auto attributes = unpack<Attributes>(packed);
    const float* const from[] = {given[i]...};  // stores of vectors may change `given`, for all that a compiler knows
    const std::int64_t whole = count / width * width;
    for (std::int64_t k = 0; k < whole; k += width)
      forward(attributes, Batch::load_unaligned(from[i] + k)...).store_unaligned(to + k);
    if (whole == count) return;
    float rest[inputs + 1][Batch::size]{};
    (std::copy_n(from[i] + whole, count - whole, rest[i]), ...);
    forward(attributes, Batch::load_unaligned(rest[i])...).store_unaligned(rest[inputs]);
    std::copy_n(rest[inputs], count - whole, to + whole);
  }
};

/// The formulas whose loops the library has. Other formulas are compiled in the program that uses them, once for all shapes.
template <class... Formulas>
struct FormulaList {};
using LibraryFormulas =
    FormulaList<FormulaOf<Add, 2>, FormulaOf<Sub, 2>, FormulaOf<Mul, 2>, FormulaOf<Div, 2>, FormulaOf<Negate, 1>,
                FormulaOf<Identity, 1>, FormulaOf<Cast, 1>, FormulaOf<ScaledAdd, 2>, FormulaOf<ScaledAddLhsInplace, 2>,
                FormulaOf<ScaledAddLhsInplace, 3>, FormulaOf<Gelu, 1>, FormulaOf<Slope<Gelu>, 1>, FormulaOf<UnaryGrad<Gelu>, 2>,
                FormulaOf<Relu, 1>, FormulaOf<UnaryGrad<Relu>, 2>, FormulaOf<Sigmoid, 1>, FormulaOf<UnaryGrad<Sigmoid>, 2>,
                FormulaOf<Swish, 1>, FormulaOf<Slope<Swish>, 1>, FormulaOf<Tanh, 1>, FormulaOf<UnaryGrad<Tanh>, 2>,
                FormulaOf<Exp, 1>, FormulaOf<Log, 1>, FormulaOf<Sqrt, 1>>;

namespace detail {
template <class F, class... Formulas>
consteval bool is_listed(FormulaList<Formulas...>) {
  return (std::is_same_v<F, Formulas> || ...);
}
}  // namespace detail

/// Returns the loop of a formula that a program compiles, or null if the library has it.
template <class O, std::size_t inputs>
consteval FormulaLoop formula_loop() {
  if constexpr (detail::is_listed<FormulaOf<O, inputs>>(LibraryFormulas{})) return nullptr;
  else return &FormulaOf<O, inputs>::run;
}

}  // namespace tilewright::internal
