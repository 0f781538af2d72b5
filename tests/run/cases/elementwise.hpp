#pragma once
// The cases of tests/reference/ops_elementwise.txt.
#include <array>
#include <span>

#include "op_case.hpp"

namespace op_cases {

constexpr auto pow_of_tensors = [](Tensor x, Tensor e) { return ops::pow(x, e); };
constexpr auto maximum_of_two = [](Tensor a, Tensor b) { return ops::maximum(a, b); };
constexpr auto fmod_of_tensors = [](Tensor a, Tensor b) { return a % b; };
constexpr auto pow_by(double e) {
  return [e](Tensor x) { return ops::pow(x, e); };
}
constexpr auto clip_to(double min, double max) {
  return [=](Tensor x) { return ops::clip(x, min, max); };
}

/// Of zeros, infinities and NaN.
constexpr auto powers_of = [](Tensor x) {
  std::array<Tensor, 18> results;
  for (std::size_t i = 0; i < 9; ++i) {
    constexpr double exponents[] = {0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5};
    results[i] = ops::pow(x, exponents[i]);
    results[i + 9] = 1 / results[i];
  }
  return results;
};

constexpr void functions(Ir& ir) {
  differentiable(ir, "abs", ops::abs, f32({2, 19}));
  differentiable(ir, "sin", ops::sin, f32({2, 19}));
  differentiable(ir, "cos", ops::cos, f32({2, 19}));
  differentiable(ir, "geluerf", ops::geluerf, f32({2, 19}));
  differentiable(ir, "swish", ops::swish, f32({2, 19}));
  differentiable(ir, "sigmoid", ops::sigmoid, f32({2, 19}));
  differentiable(ir, "softplus", [](Tensor x) { return ops::softplus(x); }, f32({2, 19}));
  differentiable(ir, "clip", clip_to(-1.03, 0.97), f32({2, 19}));
  differentiable(ir, "clip_below", [](Tensor x) { return ops::clamp(x, 0.28); }, f32({2, 19}));
  differentiable(ir, "log2", ops::log2, f32({3, 19}));
  differentiable(ir, "sign", ops::sign, f32({3, 19}));
  differentiable(ir, "scalar", ops::sin, f32({}));
}
constexpr void powers(Ir& ir) {
  differentiable(ir, "square", pow_by(2), f32({2, 19}));
  differentiable(ir, "cube", pow_by(3), f32({2, 19}));
  differentiable(ir, "power_of_4", pow_by(4), f32({2, 19}));
  differentiable(ir, "power_of_0", pow_by(0), f32({2, 19}));
  differentiable(ir, "inverse", pow_by(-1), f32({2, 19}));
  differentiable(ir, "root", pow_by(0.5), f32({3, 19}));
  differentiable(ir, "power_of_number_e", pow_by(-1.75), f32({3, 19}));
  differentiable(ir, "power_of_number", [](Tensor x) { return ops::pow(2.5, x); }, f32({2, 19}));
  differentiable(ir, "pow", pow_of_tensors, f32({3, 19}), f32({3, 19}));
  differentiable(ir, "pow_row", pow_of_tensors, f32({5, 1}), f32({19}));
}
constexpr void choices(Ir& ir) {
  differentiable(ir, "maximum", maximum_of_two, f32({3, 19}), f32({3, 19}));
  differentiable(ir, "maximum_outer", maximum_of_two, f32({4, 1}), f32({1, 19}));
  differentiable(
      ir, "maximum_of_three", [](Tensor a, Tensor b, Tensor c) { return ops::maximum(a, b, c); }, f32({3, 5}), f32({5}),
      f32({3, 1}));
  differentiable(
      ir, "minimum", [](Tensor a, Tensor b) { return ops::minimum(ops::minimum(a, b), 1.25); }, f32({3, 19}), f32({19}));
  const auto where = [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); };
  differentiable(ir, "where", where, bools({2, 1, 19}), f32({5, 1}), f32({2, 5, 19}));
  differentiable(ir, "where_number", [](Tensor c, Tensor x) { return ops::where(c, x, 0.5); }, bools({1, 19}), f32({5, 19}));
  differentiable(ir, "where_integers", where, i32({5}), f32({5}), f32({5}));
  differentiable(
      ir, "masked",
      [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a * b, ops::where(ops::less_equal(a, -1.03), b, a)); },
      f32({3, 19}), f32({3, 19}));
  differentiable(
      ir, "mask_of_both",
      [](Tensor a, Tensor b) { return ops::where((ops::greater(a, 0) & !ops::greater(b, 0)) | ops::less(a, -1.53), a, b); },
      f32({3, 19}), f32({3, 19}));
  differentiable(
      ir, "mask_as_number", [](Tensor a, Tensor b) { return ops::greater(a, b).cast(tw::float32) * b + a; }, f32({3, 19}),
      f32({3, 19}));
}
/// Of the above: what is cut and planned in another way.
constexpr void choices_of_each_form(Ir& ir) {
  differentiable(ir, "maximum_outer", maximum_of_two, f32({4, 1}), f32({1, 19}));
  differentiable(
      ir, "masked",
      [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a * b, ops::where(ops::less_equal(a, -1.03), b, a)); },
      f32({3, 19}), f32({3, 19}));
}
constexpr void in_place(Ir& ir) {
  const auto after_product = [&](std::string_view name, auto op) {
    differentiable(ir, name, [op](Tensor a, Tensor b) { return op(a * b); }, f32({3, 19}), f32({19}));
  };
  after_product("relu_inplace", ops::relu_);
  after_product("exp_inplace", ops::exp_);
  after_product("tanh_inplace", ops::tanh_);
  after_product("sigmoid_inplace", ops::sigmoid_);
  after_product("sqrt_inplace", ops::sqrt_);
  // of an input by value, which the caller keeps
  differentiable(ir, "gelu_inplace", ops::gelu_, f32({3, 19}));
  differentiable(ir, "geluerf_inplace", ops::geluerf_, f32({3, 19}));
  differentiable(ir, "swish_inplace", ops::swish_, f32({3, 19}));
  differentiable(ir, "clip_inplace", [](Tensor x) { return ops::clip_(x, -0.53, 0.53); }, f32({3, 19}));
  differentiable(
      ir, "assignments",
      [](Tensor a, Tensor b) {
        Tensor x = a * 2;
        x += b;
        x -= a * b;
        x *= 3;
        x -= 1;
        x /= 2;
        return x;
      },
      f32({3, 19}), f32({19}));
}
/// The derivative jumps, or values are not finite.
constexpr void without_steps(Ir& ir) {
  differentiable(ir, "softplus_steep", [](Tensor x) { return ops::softplus(x, 8, 4); }, f32({2, 19}));
  differentiable(ir, "ceil", ops::ceil, f32({3, 19}));
  differentiable(ir, "floor", ops::floor, f32({3, 19}));
  differentiable(ir, "clip_at_bounds", clip_to(-1, 0.5), f32({20}));
  differentiable(ir, "clip_reversed", clip_to(1, -1), f32({5}));
  differentiable(ir, "maximum_ties", maximum_of_two, f32({5, 11}), f32({5, 11}));
  differentiable(ir, "minimum_ties", [](Tensor a, Tensor b) { return ops::minimum(a, b); }, f32({5, 11}), f32({5, 11}));
  differentiable(ir, "abs_at_zero", ops::abs, f32({4}));
  differentiable(ir, "power_at_zero", pow_by(3), f32({3}));
  differentiable(ir, "pow_at_zero", pow_of_tensors, f32({5}), f32({5}));
  differentiable(
      ir, "where_ignores", [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); }, bools({3}), f32({3}), f32({3}));
  forward(ir, "powers_of_special", powers_of, f32({12}));
  forward(ir, "fmod", fmod_of_tensors, f32({4, 19}), f32({4, 1}));
  forward(ir, "fmod_of_special", fmod_of_tensors, f32({5, 11}), f32({5, 11}));
  forward(ir, "increment_mod", [](Tensor x) { return ops::increment_mod(x, 1.5, 2); }, f32({3, 19}));
  forward(ir, "increment_mod_inplace_in_float", [](Tensor x) { return ops::increment_mod_(x, -1.5, 2); }, f32({3, 19}));
  forward(ir, "sign_of_special", ops::sign, f32({5, 11}));
  forward(ir, "ceil_of_special", ops::ceil, f32({5, 11}));
  forward(ir, "swish_of_special", ops::swish, f32({5}));
  forward(ir, "softplus_of_special", [](Tensor x) { return ops::softplus(x); }, f32({7}));
  differentiable(ir, "mul_inplace", [](Tensor a, Tensor b) { return ops::mul_(a + 1, b.detach()); }, f32({3, 19}), f32({3, 1}));
}
constexpr void predicates(Ir& ir) {
  const auto compare = [&](std::string_view name, auto op) { forward(ir, name, op, f32({5, 11}), f32({5, 11})); };
  compare("equal", [](Tensor a, Tensor b) { return ops::equal(a, b); });
  compare("not_equal", [](Tensor a, Tensor b) { return ops::not_equal(a, b); });
  compare("greater", [](Tensor a, Tensor b) { return ops::greater(a, b); });
  compare("greater_equal", [](Tensor a, Tensor b) { return ops::greater_equal(a, b); });
  compare("less", [](Tensor a, Tensor b) { return ops::less(a, b); });
  compare("less_equal", [](Tensor a, Tensor b) { return ops::less_equal(a, b); });
  compare("logical_and", [](Tensor a, Tensor b) { return a & b; });
  compare("logical_or", [](Tensor a, Tensor b) { return a | b; });
  forward(ir, "logical_not", [](Tensor a) { return !a; }, f32({5, 11}));
  forward(ir, "greater_number", [](Tensor a) { return ops::greater(a, 0.5); }, f32({5, 11}));
  forward(ir, "number_greater", [](Tensor a) { return ops::greater(0.5, a); }, f32({5, 11}));
  forward(ir, "isfinite", ops::isfinite, f32({5, 11}));
  forward(ir, "isinf", ops::isinf, f32({5, 11}));
  forward(ir, "isnan", ops::isnan, f32({5, 11}));
  forward(ir, "equal_transposed", [](Tensor a, Tensor b) { return ops::equal(a, b.T()); }, f32({3, 4}), f32({4, 3}));
  forward(
      ir, "bools", [](Tensor a, Tensor b, Tensor c) { return ops::where(a, ops::equal(b, c), ops::not_equal(a, b)); },
      bools({3, 19}), bools({3, 19}), bools({3, 19}));
  forward(
      ir, "bool_choices",
      [](Tensor a, Tensor b) {
        return std::array{ops::less(a, b), ops::less_equal(a, b), ops::greater_equal(a, b), ops::maximum(a, b),
                          ops::minimum(a, b)};
      },
      bools({3, 19}), bools({3, 19}));
  forward(ir, "bools_ordered", [](Tensor a, Tensor b) { return ops::greater(a, b); }, bools({3, 19}), bools({3, 19}));
}

template <tw::DType... dtypes>
constexpr void functions_of_integers(Ir& ir) {
  for (const tw::DType dtype : {dtypes...}) {
    const bool wraps = tw::size_of(dtype) < 8, has_sign = dtype < tw::uint8;
    const TensorSpec x{{(wraps ? 12 : 11) + (has_sign ? 3 : 0)}, dtype}, i{x.shape, tw::int32};
    const auto test = [&](std::string_view name, auto op, const auto&... inputs) {
      forward(ir, tw::text(tw::to_text(dtype), "_", name).view(), op, inputs...);
    };
    test("abs", ops::abs, x);
    test("sign", ops::sign, x);
    test("fmod", fmod_of_tensors, x, x);
    test("maximum", maximum_of_two, x, x);
    test("minimum", [](Tensor a, Tensor b) { return ops::minimum(a, b); }, x, x);
    test("greater", [](Tensor a, Tensor b) { return ops::greater(a, b); }, x, x);
    test("equal", [](Tensor a, Tensor b) { return ops::equal(a, b); }, x, x);
    test("where", [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); }, i, x, x);
    test("clip", clip_to(2, 100), x);
    if (!wraps) continue;
    test("negate", ops::negate, x);
    test("add", [](Tensor a, Tensor b) { return a + b; }, x, x);
    test("cube", pow_by(3), x);
    test("pow", pow_of_tensors, x, x);
    test("increment_mod", [](Tensor a) { return ops::increment_mod(a, 1, 5); }, x);
  }
}
/// What the cases above do not have.
template <tw::DType... dtypes>
constexpr void more_of_integers(Ir& ir) {
  const auto compare = [](Tensor a, Tensor b) {
    return std::array{ops::not_equal(a, b), ops::less(a, b), ops::less_equal(a, b), ops::greater_equal(a, b)};
  };
  const auto scaled_adds = [](Tensor x, Tensor y, Tensor a, Tensor b) {
    return std::array{ops::scaled_add(x, y, {.a = 3, .b = 2}), ops::scaled_add(x, y, a, b)};
  };
  const auto powers = [](Tensor x, Tensor y) { return std::array{ops::pow(x, y), ops::pow(x, 3), ops::increment_mod(x, 1, 5)}; };
  for (const tw::DType dtype : {dtypes...}) {
    const auto named = [dtype](std::string_view name) { return tw::text(tw::to_text(dtype), name); };
    const TensorSpec x{{11}, dtype}, eight{{8}, dtype};
    forward(ir, named("_comparisons").view(), compare, x, x);
    forward(
        ir, named("_predicates").view(), [](Tensor t) { return std::array{ops::isfinite(t), ops::isinf(t), ops::isnan(t)}; }, x);
    forward(ir, named("_scaled_add").view(), scaled_adds, x, x, TensorSpec{{}, dtype}, TensorSpec{{1}, dtype});
    if (tw::size_of(dtype) == 8) forward(ir, named("_powers").view(), powers, eight, eight);
  }
}

constexpr void signed_integers(Ir& ir) {
  functions_of_integers<tw::int8, tw::int16, tw::int32, tw::int64>(ir);
  forward(ir, "increment_mod_inplace", [](Tensor x) { return ops::increment_mod_(x, 1, 3); }, i32({4}));
  forward(ir, "div_inplace", [](Tensor a, Tensor b) { return a /= b; }, i32({5}), i32({5}));
  more_of_integers<tw::int8, tw::int16, tw::int32, tw::int64>(ir);
}
constexpr void unsigned_integers(Ir& ir) {
  functions_of_integers<tw::uint8, tw::uint16, tw::uint32, tw::uint64>(ir);
  more_of_integers<tw::uint8, tw::uint16, tw::uint32, tw::uint64>(ir);
}

/// Functions of one tensor with other cases in float32; those of `steps` have no derivative at some places.
constexpr void functions_in(Ir& ir, std::string_view kind, tw::DType dtype) {
  const auto test = [&](std::string_view name, auto op) {
    differentiable(ir, tw::text(name, "_in_", kind).view(), op, TensorSpec{{2, 19}, dtype});
  };
  test("exp", ops::exp);
  test("cos", ops::cos);
  test("tanh", ops::tanh);
  test("relu", ops::relu);
  test("sigmoid", ops::sigmoid);
  test("gelu", ops::gelu);
  test("softplus", [](Tensor x) { return ops::softplus(x); });
  test("identity", [](Tensor x) { return ops::identity(x); });
  test("clip", clip_to(-1.03, 0.97));
  test("log", ops::log);
  test("log2", ops::log2);
  test("sqrt", ops::sqrt);
}
constexpr void steps_in(Ir& ir, std::string_view kind, tw::DType dtype) {
  const auto test = [&](std::string_view name, Tensor (*op)(Tensor)) {
    differentiable(ir, tw::text(name, "_in_", kind).view(), op, TensorSpec{{2, 19}, dtype});
  };
  test("sign", ops::sign);
  test("ceil", ops::ceil);
  test("floor", ops::floor);
}

constexpr void precision(Ir& ir, std::string_view kind, tw::DType dtype) {
  const TensorSpec x{{3, 19}, dtype};
  const auto named = [&](std::string_view name) { return tw::text(kind, name); };
  differentiable(
      ir, named("_functions").view(),
      [](Tensor a) { return ops::sin(a) + ops::abs(a) * ops::swish(a) - ops::geluerf(a) * ops::pow(a, 2); }, x);
  differentiable(ir, named("_pow").view(), pow_of_tensors, x, x);
  differentiable(ir, named("_where").view(), [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a, b * a); }, x, x);
}
constexpr void precision_without_steps(Ir& ir, std::string_view kind, tw::DType dtype) {
  const auto named = [&](std::string_view name) { return tw::text(kind, name); };
  differentiable(ir, named("_maximum").view(), maximum_of_two, TensorSpec{{1, 7}, dtype}, TensorSpec{{5, 7}, dtype});
  forward(ir, named("_fmod").view(), fmod_of_tensors, TensorSpec{{4, 19}, dtype}, TensorSpec{{4, 1}, dtype});
  forward(
      ir, named("_comparisons").view(),
      [](Tensor a, Tensor b) { return ops::equal(a, b) | (ops::less(a, b) & ops::isfinite(b)); }, TensorSpec{{5, 11}, dtype},
      TensorSpec{{5, 11}, dtype});
  forward(
      ir, tw::text("predicates_in_", kind).view(),
      [](Tensor a, Tensor b) {
        return std::array{ops::not_equal(a, b), ops::less_equal(a, b), ops::greater_equal(a, b), ops::isinf(a), ops::isnan(b)};
      },
      TensorSpec{{5, 11}, dtype}, TensorSpec{{5, 11}, dtype});
  steps_in(ir, kind, dtype);
  differentiable(
      ir, tw::text("minimum_in_", kind).view(), [](Tensor a, Tensor b) { return ops::minimum(a, b); }, TensorSpec{{1, 7}, dtype},
      TensorSpec{{5, 7}, dtype});
  forward(
      ir, tw::text("increment_mod_in_", kind).view(), [](Tensor x) { return ops::increment_mod(x, 1.5, 2); },
      TensorSpec{{3, 19}, dtype});
  differentiable(
      ir, tw::text("scaled_add_of_tensors_in_", kind).view(),
      [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, TensorSpec{{3, 19}, dtype},
      TensorSpec{{3, 19}, dtype}, TensorSpec{{}, dtype}, TensorSpec{{1}, dtype});
}
constexpr void doubles(Ir& ir) {
  precision(ir, "double", tw::float64);
  functions_in(ir, "double", tw::float64);
  differentiable(
      ir, "scaled_add_in_double", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.a = 0.5, .b = -2}); }, f64({3, 19}),
      f64({3, 19}));
}
constexpr void halves(Ir& ir) {
  precision(ir, "half", tw::float16);
  functions_in(ir, "half", tw::float16);
  precision_without_steps(ir, "half", tw::float16);
  differentiable(ir, "half_by_number", [](Tensor a, Tensor b) { return a * b; }, f16({3, 19}), f32({1}));
}
constexpr void doubles_without_steps(Ir& ir) {
  precision_without_steps(ir, "double", tw::float64);
  forward(ir, "double_powers_of_special", powers_of, f64({12}));
}

}  // namespace op_cases
