#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/execute/library/library_program.hpp"
#include "tilewright/kernel/copy/transpose.hpp"
#include "tilewright/op/elementwise_code.hpp"
#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/bias_add.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"

namespace tilewright::internal {

/// The loop of an op's formula with a number of inputs, for any attributes.
template <class O, std::size_t inputs>
struct FormulaOf {
  static void run(const PackedAttributes& packed, const float* const* from, float* to, std::int64_t count) {
    using kernel::float_width, kernel::FloatBatch;
    const auto compute = [&](const float* const* at, float* result, std::int64_t k) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        if constexpr (std::is_empty_v<typename O::Attributes>)
          O::forward(FloatBatch::load_unaligned(at[i] + k)...).store_unaligned(result + k);
        else
          O::forward(FloatBatch::load_unaligned(at[i] + k)..., unpack<typename O::Attributes>(packed)).store_unaligned(result + k);
      }(std::make_index_sequence<inputs>{});
    };
    const std::int64_t whole = count / float_width * float_width;
    for (std::int64_t k = 0; k < whole; k += float_width) compute(from, to, k);
    if (whole == count) return;
    float elements[inputs + 1][FloatBatch::size]{};
    const float* rests[inputs];
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::int64_t k = whole; k < count; ++k) elements[i][k - whole] = from[i][k];
      rests[i] = elements[i];
    }
    compute(rests, elements[inputs], 0);
    for (std::int64_t k = whole; k < count; ++k) to[k] = elements[inputs][k - whole];
  }
};

/// The formulas whose loops the library has. Other formulas are compiled in the program that uses them, once for all shapes.
template <class... Formulas>
struct FormulaList {};
using LibraryFormulas =
    FormulaList<FormulaOf<Add, 2>, FormulaOf<Sub, 2>, FormulaOf<Mul, 2>, FormulaOf<Div, 2>, FormulaOf<Negate, 1>,
                FormulaOf<BiasAdd, 2>, FormulaOf<Identity, 1>, FormulaOf<Cast, 1>, FormulaOf<ScaledAdd, 2>,
                FormulaOf<ScaledAddLhsInplace, 2>, FormulaOf<ScaledAddLhsInplace, 3>, FormulaOf<Gelu, 1>,
                FormulaOf<Slope<Gelu>, 1>, FormulaOf<UnaryGrad<Gelu>, 2>, FormulaOf<Relu, 1>, FormulaOf<UnaryGrad<Relu>, 2>,
                FormulaOf<Sigmoid, 1>, FormulaOf<UnaryGrad<Sigmoid>, 2>, FormulaOf<Swish, 1>, FormulaOf<Slope<Swish>, 1>,
                FormulaOf<Tanh, 1>, FormulaOf<UnaryGrad<Tanh>, 2>, FormulaOf<Exp, 1>, FormulaOf<Log, 1>, FormulaOf<Sqrt, 1>>;

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
