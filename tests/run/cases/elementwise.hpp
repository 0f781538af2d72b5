#pragma once
// The cases of tests/reference/ops_elementwise.txt.
#include <array>

#include "of_ops.hpp"

namespace op_cases {

constexpr void functions(Ir& ir) { add_cases<Program::functions>({ir, tw::float32, {2, 19}}); }
constexpr void powers(Ir& ir) { add_cases<Program::powers>({ir, tw::float32, {2, 19}}); }
constexpr void choices(Ir& ir) { add_cases<Program::choices>({ir, tw::float32, {}}); }
/// Of the above: what is cut and planned in another way.
constexpr void choices_of_each_form(Ir& ir) {
  constexpr std::string_view names[] = {"maximum_outer", "masked"};
  add_some<Program::choices>(ir, names);
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
  add_cases<Program::without_steps>({ir});
}
constexpr void predicates(Ir& ir) {
  add_cases<Program::predicates>({ir, tw::float32, {5, 11}});
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
}

template <tw::DType... dtypes>
constexpr void functions_of_integers(Ir& ir) {
  for (const tw::DType dtype : {dtypes...}) {
    const bool wraps = tw::size_of(dtype) < 8, has_sign = dtype < tw::uint8;
    const TensorSpec x{{(wraps ? 12 : 11) + (has_sign ? 3 : 0)}, dtype};
    const tw::Text name = tw::text(tw::to_text(dtype), "_");
    add_cases<Program::integers>({ir, dtype, x.shape, name.view()});
    if (wraps) add_cases<Program::narrow_integers>({ir, dtype, x.shape, name.view()});
  }
}
/// What the cases above do not have.
template <tw::DType... dtypes>
constexpr void more_of_integers(Ir& ir) {
  const auto compare = [](Tensor a, Tensor b) {
    return std::array{ops::not_equal(a, b), ops::less(a, b), ops::less_equal(a, b), ops::greater_equal(a, b)};
  };
  const auto powers = [](Tensor x, Tensor y) { return std::array{ops::pow(x, y), ops::pow(x, 3), ops::increment_mod(x, 1, 5)}; };
  for (const tw::DType dtype : {dtypes...}) {
    const auto named = [dtype](std::string_view name) { return tw::text(tw::to_text(dtype), name); };
    const TensorSpec x{{11}, dtype}, eight{{8}, dtype};
    forward(ir, named("_comparisons").view(), compare, x, x);
    forward(
        ir, named("_predicates").view(), [](Tensor t) { return std::array{ops::isfinite(t), ops::isinf(t), ops::isnan(t)}; }, x);
    add_cases<Program::more_of_integers>({ir, dtype, {}, named("_").view()});
    if (tw::size_of(dtype) == 8) forward(ir, named("_powers").view(), powers, eight, eight);
  }
}

constexpr void signed_integers(Ir& ir) {
  functions_of_integers<tw::int8, tw::int16, tw::int32, tw::int64>(ir);
  more_of_integers<tw::int8, tw::int16, tw::int32, tw::int64>(ir);
  add_cases<Program::signed_integers>({ir});
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
  add_cases<Program::of_precision>({ir, dtype, {}, kind});
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
}
constexpr void doubles(Ir& ir) {
  precision(ir, "double", tw::float64);
  add_cases<Program::precision>({ir, tw::float64, {2, 19}, "", "_in_double"});
  add_cases<Program::doubles>({ir});
}
constexpr void halves(Ir& ir) {
  precision(ir, "half", tw::float16);
  add_cases<Program::precision>({ir, tw::float16, {2, 19}, "", "_in_half"});
  precision_without_steps(ir, "half", tw::float16);
  add_cases<Program::halves>({ir});
}
constexpr void doubles_without_steps(Ir& ir) {
  precision_without_steps(ir, "double", tw::float64);
  add_cases<Program::doubles_without_steps>({ir});
}

}  // namespace op_cases
