#pragma once
// The cases of tests/reference/ops_elementwise.txt.
#include <array>
#include <span>

#include "of_ops.hpp"

namespace op_cases {

constexpr auto maximum_of_two = [](Tensor a, Tensor b) { return ops::maximum(a, b); };
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

constexpr void functions(Ir& ir) { add_cases<Program::functions>({ir, tw::float32, {2, 19}}); }
constexpr void powers(Ir& ir) { add_cases<Program::powers>({ir, tw::float32, {2, 19}}); }
constexpr void choices(Ir& ir) {
  add_cases<Program::choices>({ir, tw::float32, {}});
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
  add_cases<Program::in_place_of_product>({ir, tw::float32, {3, 19}, "", "_inplace"});
  add_cases<Program::in_place_of_input>({ir, tw::float32, {3, 19}, "", "_inplace"});  // the caller keeps an input by value
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
  add_cases<Program::steps>({ir, tw::float32, {3, 19}});
  add_cases<Program::special>({ir, tw::float32, {5, 11}, "", "_of_special"});
  differentiable(
      ir, "where_ignores", [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); }, bools({3}), f32({3}), f32({3}));
  forward(ir, "powers_of_special", powers_of, f32({12}));
  differentiable(ir, "mul_inplace", [](Tensor a, Tensor b) { return ops::mul_(a + 1, b.detach()); }, f32({3, 19}), f32({3, 1}));
}
constexpr void predicates(Ir& ir) {
  add_cases<Program::predicates>({ir, tw::float32, {5, 11}});
  forward(ir, "greater_number", [](Tensor a) { return ops::greater(a, 0.5); }, f32({5, 11}));
  forward(ir, "number_greater", [](Tensor a) { return ops::greater(0.5, a); }, f32({5, 11}));
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
    const tw::Text name = tw::text(tw::to_text(dtype), "_");
    add_cases<Program::integers>({ir, dtype, x.shape, name.view()});
    forward(ir, tw::text(name, "where").view(), [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); }, i, x, x);
    if (wraps) add_cases<Program::narrow_integers>({ir, dtype, x.shape, name.view()});
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

constexpr void precision(Ir& ir, std::string_view kind, tw::DType dtype) {
  const TensorSpec x{{3, 19}, dtype};
  const auto named = [&](std::string_view name) { return tw::text(kind, name); };
  differentiable(
      ir, named("_functions").view(),
      [](Tensor a) { return ops::sin(a) + ops::abs(a) * ops::swish(a) - ops::geluerf(a) * ops::pow(a, 2); }, x);
  add_cases<Program::smooth_precision_of_two>({ir, dtype, {}, named("_").view()});
  differentiable(ir, named("_where").view(), [](Tensor a, Tensor b) { return ops::where(ops::greater(a, b), a, b * a); }, x, x);
}
constexpr void precision_without_steps(Ir& ir, std::string_view kind, tw::DType dtype) {
  const auto named = [&](std::string_view name) { return tw::text(kind, name); };
  add_cases<Program::precision_of_two>({ir, dtype, {}, named("_").view()});
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
  add_cases<Program::precision_of_steps>({ir, dtype, {2, 19}, "", tw::text("_in_", kind).view()});
  differentiable(
      ir, tw::text("scaled_add_of_tensors_in_", kind).view(),
      [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, TensorSpec{{3, 19}, dtype},
      TensorSpec{{3, 19}, dtype}, TensorSpec{{}, dtype}, TensorSpec{{1}, dtype});
}
constexpr void doubles(Ir& ir) {
  precision(ir, "double", tw::float64);
  add_cases<Program::precision>({ir, tw::float64, {2, 19}, "", "_in_double"});
  differentiable(
      ir, "scaled_add_in_double", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.a = 0.5, .b = -2}); }, f64({3, 19}),
      f64({3, 19}));
}
constexpr void halves(Ir& ir) {
  precision(ir, "half", tw::float16);
  add_cases<Program::precision>({ir, tw::float16, {2, 19}, "", "_in_half"});
  precision_without_steps(ir, "half", tw::float16);
  differentiable(ir, "half_by_number", [](Tensor a, Tensor b) { return a * b; }, f16({3, 19}), f32({1}));
}
constexpr void doubles_without_steps(Ir& ir) {
  precision_without_steps(ir, "double", tw::float64);
  forward(ir, "double_powers_of_special", powers_of, f64({12}));
}

}  // namespace op_cases
