#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Where : OpTest {
  static constexpr std::string_view op = "Where";
  static constexpr auto where = [](Tensor condition, Tensor a, Tensor b) { return ops::where(condition, a, b); };
  static void meanings(auto& m) {
    m.elementwise(op, [](const Line& x) { return x[0] != 0 ? x[1] : x[2]; });
  }
  static constexpr void compared(In<choices>, const auto& c) {
    c.add("where", where, bools(2, 1, 19), f32(5, 1), f32(2, 5, 19));
    c.add("where_number", [](Tensor condition, Tensor x) { return ops::where(condition, x, 0.5); }, bools(1, 19), f32(5, 19));
    c.add("where_integers", where, i32(5), f32(5), f32(5));
    c.add(
        "masked",
        [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a * b, ops::where(ops::less_equal(a, -1.03), b, a)); },
        f32(3, 19), f32(3, 19));
    c.add(
        "mask_of_both",
        [](Tensor a, Tensor b) { return ops::where((ops::greater(a, 0) & !ops::greater(b, 0)) | ops::less(a, -1.53), a, b); },
        f32(3, 19), f32(3, 19));
    c.add(
        "mask_as_number", [](Tensor a, Tensor b) { return ops::greater(a, b).cast(tw::float32) * b + a; }, f32(3, 19),
        f32(3, 19));
  }
  static constexpr void compared(In<without_steps>, const auto& c) { c.add("where_ignores", where, bools(3), f32(3), f32(3)); }
  static constexpr void compared(In<of_precision>, const auto& c) {
    c.add(
        "_where", [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a, b * a); }, c.real({3, 19}), c.real({3, 19}));
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add(
        "view_where", [](Tensor condition, Tensor a, Tensor b) { return ops::where(condition.T(), a[back], b[{all, odd_ones}]); },
        bools(19, 5), f32(5, 19), f32(5, 38));
  }
  static constexpr void compared(In<integers>, const auto& c) { c.add_forward("where", where, i32(c.shape), c.real(), c.real()); }
  static constexpr void compared(In<few_elements>, const auto& c) { c.add("where", where, bools(c.shape), c.real(), c.real()); }
  static constexpr void compared(In<few_outer>, const auto& c) {
    c.add("outer_where", where, bools(4, 1, 1), f32(3, 1), f32(1, 7));
  }
  static constexpr void edges(const auto& c) {
    c.add("where", where, bools(8), c.real({8}), c.real({8}));
    c.add("where_row", where, bools(3, 4), c.real({4}), c.real({3, 1}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(4, 5, 3), where, bools(4, 1, 1), f16(5, 1), f16(3));
    s.result(i32(3, 2), [](Tensor condition, Tensor x) { return ops::where(condition, 1, x); }, i32(2), i32(3, 2));
    s.error("Where: (2,) float32 and (2,) int32: equal dtypes expected, in graph", where, bools(2), f32(2), i32(2));
    s.error("Where: (4,) and (2,): shapes that broadcast expected, in graph", where, bools(4), f32(2), f32(2));
  }
  static void numbers(auto& list) {
    list.real("where.a", list.everything, [](auto& s, auto n) { return ops::where(ops::less(s.x, 0), n, s.x); });
    list.real("where.b", list.everything, [](auto& s, auto n) { return ops::where(ops::less(s.x, 0), s.x, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("where", [] { (void)ops::where(Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
