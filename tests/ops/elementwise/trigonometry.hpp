#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Tan : SmoothTest<Tan> {
  using Op = tw::Tan;
  static constexpr std::string_view op = "Tan", function = "tan";
  static constexpr Tensor call(Tensor x) { return ops::tan(x); }
  static constexpr Tensor inside(Tensor x) { return x * 0.25; }
  static double value(double x) { return std::tan(x); }
  static double slope(double x) { return bend(std::tan(x)); }
  static double bend(double y) { return 1 + y * y; }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 4) return std::nullopt;
    return Step{call(inside(x.tensor)), {-1.6, 1.6}};
  }
};

struct Asin : SmoothTest<Asin> {
  using Op = tw::Asin;
  static constexpr std::string_view op = "Asin", function = "asin";
  static constexpr Tensor call(Tensor x) { return ops::asin(x); }
  static constexpr Tensor inside(Tensor x) { return x * 0.25; }
  static double value(double x) { return std::asin(x); }
  static double slope(double x) { return 1 / std::sqrt((1 - x) * (1 + x)); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 3) return std::nullopt;
    return Step{call(inside(x.tensor)), {-1.01, 1.01}};
  }
};

struct Acos : SmoothTest<Acos> {
  using Op = tw::Acos;
  static constexpr std::string_view op = "Acos", function = "acos";
  static constexpr Tensor call(Tensor x) { return ops::acos(x); }
  static constexpr Tensor inside(Tensor x) { return x * 0.25; }
  static double value(double x) { return std::acos(x); }
  static double slope(double x) { return -Asin::slope(x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 3) return std::nullopt;
    return Step{call(inside(x.tensor)), {0.5, 2.6}};
  }
};

struct Atan : SmoothTest<Atan> {
  using Op = tw::Atan;
  static constexpr std::string_view op = "Atan", function = "atan";
  static constexpr Tensor call(Tensor x) { return ops::atan(x); }
  static double value(double x) { return std::atan(x); }
  static double slope(double x) { return 1 / (1 + x * x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real()) return std::nullopt;
    return Step{call(x.tensor), {-1.6, 1.6}};
  }
};

struct Atan2 : OpTest {
  static constexpr std::string_view op = "Atan2";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m.binary(op, [](double y, double x) { return std::atan2(y, x); });
  }
  /// x further from 0, on the same side.
  static constexpr Tensor away(Tensor x) { return x + ops::sign(x) * 2; }
  static constexpr void cases(const auto& c) {
    const auto by_y = [](Tensor y, Tensor x) { return ops::atan2(away(y), away(x)); };
    const auto by_x = [](Tensor x, Tensor y) { return ops::atan2(away(y), away(x)); };
    c.add_forward("atan2_near", ops::atan2, c.real({7, 19}), c.real({7, 19}));
    c.add("atan2", by_y, c.real({7, 19}), c.real({7, 19}));
    c.add("atan2_of_x", by_x, c.real({7, 19}), c.real({7, 19}));
    c.add("atan2_by_rows", by_y, c.real({19}), c.real({3, 19}));
    c.add("atan2_of_column", by_x, c.real({3, 1}), c.real({3, 19}));
    c.add("atan2_scalar", by_y, c.real({}), c.real({}));
    c.add("atan2_view", [=](Tensor y, Tensor x) { return by_y(y.transpose({1, 0}), x); }, c.real({3, 5}), c.real({5, 3}));
  }
  static constexpr void shapes(const auto& s) {
    for (const DType dtype : {tw::float16, tw::bfloat16, tw::float32, tw::float64})
      s.result({{2, 3}, dtype}, ops::atan2, TensorSpec{{2, 1}, dtype}, TensorSpec{{3}, dtype});
    s.error("Atan2: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph", ops::atan2, i32(2), i32(2));
    s.error("Atan2: (2,) and (3,): shapes that broadcast expected, in graph", ops::atan2, f32(2), f32(3));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool) {
    if (!x.is_real() || x.bound() > 4) return std::nullopt;
    if (random.one_in(2)) return Step{ops::atan2(x.tensor, x.tensor * x.tensor + 1), {-0.5, 0.5}};
    return Step{ops::atan2(x.tensor * x.tensor + 1, x.tensor), {1, 2.1}};
  }
  static constexpr void handles(auto& list) {
    list.add("atan2", [] { (void)ops::atan2(Tensor(), Tensor()); });
  }
};

/// The gradient of y: the derivatives of its results are second derivatives.
struct Atan2Grad : OpTest {
  static constexpr std::string_view op = "Atan2Grad";
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m.elementwise(op, [](const auto& x) { return x[2] * x[0] / (x[0] * x[0] + x[1] * x[1]); });
  }
  static constexpr void cases(const auto& c) {
    if (tw::is_half(c.dtype)) return;  // which rounds each derivative
    const auto flat = [](Tensor x, Tensor y, Tensor dz) { return tw::apply<tw::Atan2Grad>({x + 3, y * 0.25, dz}); };
    const auto steep = [](Tensor x, Tensor y, Tensor dz) { return tw::apply<tw::Atan2Grad>({x * 0.25, y + 3, dz}); };
    const auto spec = c.real({3, 19});
    c.add("atan2_slope", flat, spec, spec, spec);
    c.add("atan2_slope_by_y", [=](Tensor y, Tensor x, Tensor dz) { return flat(x, y, dz); }, spec, spec, spec);
    c.add("atan2_slope_by_dz", [=](Tensor dz, Tensor x, Tensor y) { return flat(x, y, dz); }, spec, spec, spec);
    c.add("atan2_steep_slope", steep, spec, spec, spec);
    c.add("atan2_steep_slope_by_y", [=](Tensor y, Tensor x, Tensor dz) { return steep(x, y, dz); }, spec, spec, spec);
  }
  static constexpr void shapes(const auto&) {}
  static constexpr void handles(auto&) {}
};

struct Hypot : OpTest {
  static constexpr std::string_view op = "Hypot", function = "hypot";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m.binary(op, [](double a, double b) { return std::hypot(a, b); });
  }
  /// The derivative of hypot(x, 1.5).
  static double slope(double x) { return std::isinf(x) ? NAN : x / std::hypot(x, 1.5); }
  static constexpr auto beside(double number) {
    return [=](Tensor x) { return ops::hypot(x, x.ir().constant({number}, {}, x.dtype())); };
  }
  static constexpr void cases(const auto& c) {
    c.add("hypot", ops::hypot, c.real({7, 19}), c.real({7, 19}));
    c.add("hypot_of_row", ops::hypot, c.real({5}), c.real({4, 5}));
    c.add("hypot_by_column", ops::hypot, c.real({3, 19}), c.real({3, 1}));
    c.add("hypot_scalar", ops::hypot, c.real({}), c.real({}));
    c.add("hypot_view", [](Tensor a, Tensor b) { return ops::hypot(a.transpose({1, 0}), b); }, c.real({3, 5}), c.real({5, 3}));
    c.add("hypot_edges", beside(1.5), c.real({64}));
    c.add_forward("hypot_equal_edges", [](Tensor x) { return ops::hypot(x, -x); }, c.real({64}));
    c.add_forward("hypot_zero_edges", beside(0), c.real({64}));
    c.add_forward("hypot_infinity_edges", beside(-INFINITY), c.real({64}));
    c.add_forward("hypot_nan_edges", beside(NAN), c.real({64}));
  }
  static constexpr void compared(In<second_of_functions>, const auto& c) { c.add("hypot", ops::hypot, f64(2, 3), f64(3)); }
  static constexpr void shapes(const auto& s) {
    for (const DType dtype : {tw::float16, tw::bfloat16, tw::float32, tw::float64})
      s.result({{2, 3}, dtype}, ops::hypot, TensorSpec{{2, 1}, dtype}, TensorSpec{{3}, dtype});
    s.error("Hypot: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph", ops::hypot, i32(2), i32(2));
    s.error("Hypot: (2,) float32 and (2,) float64: equal dtypes expected, in graph", ops::hypot, f32(2), f64(2));
    s.error("Hypot: (2,) and (3,): shapes that broadcast expected, in graph", ops::hypot, f32(2), f32(3));
  }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real()) return std::nullopt;
    return Step{ops::hypot(x.tensor, 1 - x.tensor), {0.7, 2 * x.bound() + 1}};
  }
  static constexpr void handles(auto& list) {
    list.add("hypot", [] { (void)ops::hypot(Tensor(), Tensor()); });
  }
};

/// The gradient of a: the derivatives of its results are second derivatives.
struct HypotGrad : OpTest {
  static constexpr std::string_view op = "HypotGrad";
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m.elementwise(op, [](const Line& x) { return x[2] * x[0] / std::hypot(x[0], x[1]); });
  }
  static constexpr void cases(const auto& c) {
    if (tw::is_half(c.dtype)) return;  // which rounds each derivative
    const auto slope = [](Tensor a, Tensor b, Tensor dz) { return tw::apply<tw::HypotGrad>({a * 0.25, b + 3, dz}); };
    const auto spec = c.real({3, 19});
    c.add("hypot_slope", slope, spec, spec, spec);
    c.add("hypot_slope_by_b", [=](Tensor b, Tensor a, Tensor dz) { return slope(a, b, dz); }, spec, spec, spec);
    c.add("hypot_slope_by_dz", [=](Tensor dz, Tensor a, Tensor b) { return slope(a, b, dz); }, spec, spec, spec);
  }
};

}  // namespace op_tests
