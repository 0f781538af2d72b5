#pragma once
// Cases that stand in the files of tests/ops.
#include <algorithm>
#include <span>

#include "../../ops/ops.hpp"
#include "op_case.hpp"

namespace op_cases {

using op_tests::Program;

/// Adds cases, of the functions that are given.
struct CasesOfOps {
  Ir& ir;
  tw::DType dtype = tw::float32;
  Shape shape{};                             ///< of cases that state none
  std::string_view before = "", after = "";  ///< what stands around their names
  std::span<const std::string_view> only{};  ///< their names, if not all are added

  constexpr bool has(std::string_view name) const { return only.empty() || std::ranges::find(only, name) != only.end(); }

  constexpr TensorSpec real(const Shape& own_shape) const { return {own_shape, dtype}; }
  constexpr TensorSpec real() const { return {shape, dtype}; }
  template <class Op>
  constexpr void add(std::string_view name, Op op, const auto&... inputs) const {
    if (has(name)) differentiable(ir, tw::text(before, name, after).view(), op, inputs...);
  }
  template <class Op>
  constexpr void add_forward(std::string_view name, Op op, const auto&... inputs) const {
    if (has(name)) forward(ir, tw::text(before, name, after).view(), op, inputs...);
  }
  /// Of variables of the main graph themselves, which the op may change.
  template <class Op>
  constexpr void add_in_main(std::string_view name, Op op, const auto&... inputs) const {
    if (!has(name)) return;
    const Case test(ir, name);
    std::size_t i = 0, k = 0;
    const std::array given{test.variable("x", i++, inputs)...};
    for (const Tensor& result : std::apply(op, given)) test.store("y", k++, result);
  }
};
/// Adds the rows of one program.
struct RowsOfOps : CasesOfOps {
  Program program;

  constexpr void add(Program of, std::string_view name, op_tests::Function op, const TensorSpec& x) const {
    if (of != program || !has(name)) return;
    if (tw::is_int(x.dtype) || of == Program::special || of == Program::predicates) return add_forward(of, name, op, x);
    const tw::Text full = tw::text(before, name, after);
    if (of == Program::in_place_of_product)
      return differentiable(ir, full.view(), [op](Tensor a, Tensor b) { return op(a * b); }, x, TensorSpec{{x.shape[-1]}, dtype});
    differentiable(ir, full.view(), op, x);
  }
  constexpr void add(Program of, std::string_view name, op_tests::Function op, const Shape& own_shape) const {
    add(of, name, op, TensorSpec{own_shape, dtype});
  }
  constexpr void add(Program of, std::string_view name, op_tests::Function op) const { add(of, name, op, shape); }
  constexpr void add_forward(Program of, std::string_view name, op_tests::Function op, const TensorSpec& x) const {
    if (of == program && has(name)) forward(ir, tw::text(before, name, after).view(), op, x);
  }
  constexpr void add_forward(Program of, std::string_view name, op_tests::Function op, const Shape& own_shape) const {
    add_forward(of, name, op, TensorSpec{own_shape, dtype});
  }
  constexpr void add_forward(Program of, std::string_view name, op_tests::Function op) const { add_forward(of, name, op, shape); }
  /// Of two tensors.
  constexpr void add(Program of, std::string_view name, op_tests::Function2 op, const Shape& a, const Shape& b,
                     bool has_gradient) const {
    if (of != program || !has(name)) return;
    const tw::Text full = tw::text(before, name, after);
    const TensorSpec x{a, dtype}, y{b, dtype};
    has_gradient && !tw::is_int(dtype) ? differentiable(ir, full.view(), op, x, y) : forward(ir, full.view(), op, x, y);
  }
  constexpr void add(Program of, std::string_view name, op_tests::Function2 op) const { add(of, name, op, shape, shape, false); }
};
template <Program program>
constexpr void add_compared(const auto& cases) {
  op_tests::for_each([&]<class Test>(Test) {
    if constexpr (requires { Test::compared(op_tests::In<program>(), cases); }) Test::compared(op_tests::In<program>(), cases);
  });
}
template <Program program>
constexpr void add_cases(const CasesOfOps& cases) {
  if constexpr (program <= op_tests::last_program_of_rows) {
    const RowsOfOps rows{cases, program};
    op_tests::for_each([&](auto test) { test.fixtures(rows); });
  }
  add_compared<program>(cases);
}
/// Adds the cases of these names.
template <Program... programs>
constexpr void add_some(Ir& ir, std::span<const std::string_view> names) {
  (add_cases<programs>({.ir = ir, .only = names}), ...);
}

}  // namespace op_cases
