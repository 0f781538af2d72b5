#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// D has `op` and `function`, their names, `call(a, b)` of tensors and numbers, `value(a, b)`, `rows`, and `elements(a, b)`.
template <class D>
struct BinaryTest : OpTest {
  static constexpr Input input = Input::two;
  static constexpr bool has_gradient = true;  ///< of rows
  static constexpr Tensor of_tensors(Tensor a, Tensor b) { return D::call(a, b); }

  static void meanings(auto& m) { m.binary(D::op, D::value); }
  static constexpr void fixtures(const auto& c) {
    for (const Row& row : D::rows)
      c.add(row.program, row.name.empty() ? D::function : row.name, of_tensors, row.a.value_or(c.shape), row.b.value_or(c.shape),
            D::has_gradient);
  }
  static constexpr void edges(const auto& c) { c.add(D::function, of_tensors, c.real({8}), c.real({8})); }
  static constexpr void edges_of_rows(const auto& c) {
    c.add(tw::text(D::function, "_row").view(), of_tensors, c.real({6, 4}), c.real({4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(8, 512), of_tensors, f32(8, 512), f32(512));
    s.result({{4, 5, 6}, tw::float16}, of_tensors, TensorSpec{{4, 1, 6}, tw::float16}, TensorSpec{{5, 1}, tw::float16});
    s.result(i32(2), of_tensors, i32(2), i32(2));
    s.result(i32(2), [](Tensor x) { return D::call(x, 7); }, i32(2));
    if constexpr (requires { D::symbol; }) s.result(i32(2), [](Tensor x) { return D::call(7, x); }, i32(2));
    const auto error = [](std::string_view text) { return tw::text(D::op, ": (2,) ", text, " expected, in graph"); };
    s.error(error("and (3,): shapes that broadcast").view(), of_tensors, f32(2), f32(3));
    s.error(error("float32 and (2,) int32: equal dtypes").view(), of_tensors, f32(2), i32(2));
  }
  static constexpr std::optional<Step> random_of_two(const Known& a, const Known& b, Random&, bool) {
    const Result result = D::elements(a.elements, b.elements);
    return result ? std::optional(Step{of_tensors(a.tensor, b.tensor), *result}) : std::nullopt;
  }
  static void numbers(auto& list) {
    const std::string symbol(D::symbol);
    list.real(symbol + ".a", list.everything, [](auto& s, auto n) { return D::call(n, s.x); });
    list.real(symbol + ".b", list.everything, [](auto& s, auto n) { return D::call(s.x, n); });
  }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)of_tensors(Tensor(), Tensor()); });
    if constexpr (requires { D::in_place(Tensor(), Tensor()); })
      list.add(D::function, [] { (void)D::in_place(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
