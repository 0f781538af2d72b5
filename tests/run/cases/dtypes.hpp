#pragma once
// The cases of tests/reference/ops_dtypes.txt, as programs of one dtype each.
#include <array>
#include <type_traits>
#include <vector>

#include "of_ops.hpp"

namespace op_cases {

template <tw::DType dtype>
constexpr void float_functions(Ir& ir) {
  add_cases<Program::floats>({ir, dtype, {2, 7}, "floats_"});
}
template <tw::DType dtype>
constexpr void float_reductions(Ir& ir) {
  add_cases<Program::reduced_floats>({ir, dtype, {2, 7}, "floats_"});
}

template <tw::DType dtype>
constexpr void float_arithmetic(Ir& ir) {
  const TensorSpec x{{3, 7}, dtype}, row{{7}, dtype}, special{{3, 11}, dtype};
  add_cases<Program::arithmetic_of_floats>({ir, dtype, {}, "floats_"});
  forward(
      ir, "floats_inplace",
      [](Tensor a) {
        std::vector<Tensor> results;
        for (Tensor (*op)(Tensor) :
             {ops::relu_, ops::exp_, ops::tanh_, ops::sigmoid_, ops::sqrt_, ops::gelu_, ops::geluerf_, ops::swish_})
          results.push_back(op(ops::identity(a)));
        results.push_back(ops::clip_(ops::identity(a), -1.25, 0.875));
        results.push_back(ops::negate_(ops::identity(a)));
        results.push_back(ops::increment_mod_(ops::identity(a), 1.5, 2));
        return results;
      },
      x);
  forward(
      ir, "floats_assignments",
      [](Tensor a, Tensor b) {
        Tensor t = ops::identity(a);
        t += b;
        t *= a;
        t -= b;
        t /= b;
        return std::array{t, ops::scaled_add_(ops::identity(a), ops::expand(b, {3, 7}), {.a = 2, .b = -1}),
                          ops::accumulator_scale_(ops::identity(a), 0.5)};
      },
      x, row);
  forward(
      ir, "floats_compared",
      [](Tensor a, Tensor b) {
        return std::array{ops::less(a, b),      ops::less_equal(a, b), ops::greater_equal(a, b),
                          ops::not_equal(a, b), ops::isfinite(a),      ops::isinf(a),
                          ops::isnan(a)};
      },
      special, special);
  add_cases<Program::float_arithmetic>({ir, dtype});
}

template <tw::DType dtype>
constexpr void float_lines_and_indices(Ir& ir) {
  add_cases<Program::float_lines_and_indices>({ir, dtype});
}

/// With all digits of float64, which a step in float32 would lose.
constexpr void exact_functions_and_losses(Ir& ir) {
  add_cases<Program::exact>({ir, tw::float64, {2, 7}, "exact_"});
  add_cases<Program::exact_functions_and_losses>({ir});
}
constexpr void exact_networks(Ir& ir) { add_cases<Program::exact_networks>({ir}); }

/// Ops that only move elements; where the dtype is one of integers, the indices have it too.
template <tw::DType dtype>
constexpr void moved(Ir& ir) {
  constexpr bool is_integer = dtype >= tw::int8 && dtype <= tw::uint64;
  const TensorSpec x{{3, 5}, dtype}, i{{2}, is_integer ? dtype : tw::int32}, rows{{3}, i.dtype};
  const auto move = [](Tensor a, Tensor b, Tensor at, Tensor to) {
    const auto copy = [&] { return ops::identity(a); };
    const Tensor start = at[tw::slice(0, 1)], part = b[{tw::all, tw::slice(1, 4)}], zeros = ops::init(a.ir(), {3, 5}, dtype);
    const Tensor last_rows = copy();
    ops::copy_var_update_(ops::slice_(last_rows, 1, 3), b[tw::slice(0, 2)]);
    ops::copy_var_update_(ops::slice_(zeros, 1, 2), a[tw::slice(1, 2)]);
    return std::vector<Tensor>{
        ops::concat({a, b}, 1),
        ops::concat_({copy(), ops::identity(b)}),
        a.diag(),
        ops::diag(a[0]),
        a[{tw::slice(tw::none, tw::none, -2), tw::slice(1, 4)}],
        last_rows,
        ops::identity(a).reshape({3, 1, 5}).squeeze(),
        ops::expand(a, {2, 3, 5}),
        zeros,
        copy().detach(),
        ops::dynamic_slice(a, start, {1}, {3}),
        ops::dynamic_update(a, start, part, {1}, {3}),
        ops::dynamic_update_(copy(), start, part, {1}, {3}),
        ops::onehot(at, 4, a[0][tw::slice(0, 2)]),
        ops::tied_gather(a, at),
        ops::scatter_reduce(a, to, dtype == tw::boolean ? tw::ScatterReduction::none : tw::ScatterReduction::max,
                            {.axis_size = 2})};
  };
  forward(ir, dtype == tw::boolean ? "moved_bool" : "moved", move, x, x, i, rows);
}
constexpr void compared_bools(Ir& ir) {
  forward(
      ir, "compared_bool",
      [](Tensor a, Tensor b) {
        return std::array{ops::less(a, b),      ops::less_equal(a, b), ops::greater_equal(a, b),
                          ops::not_equal(a, b), ops::maximum(a, b),    ops::minimum(a, b)};
      },
      bools({3, 5}), bools({3, 5}));
}

template <tw::DType dtype>
constexpr void all_of_integers(Ir& ir) {
  const TensorSpec x{{3, 7}, dtype};
  const auto named = [](std::string_view name) { return tw::text("more_", tw::to_text(dtype), "_", name); };
  forward(
      ir, named("inplace").view(),
      [](Tensor a, Tensor b) {
        const auto copy = [&] { return ops::identity(a); };
        Tensor t = copy();
        t += b;
        t *= b;
        t -= a;
        ops::negate_(t);
        t /= b;
        return std::array{t, ops::clip_(copy(), 2, 100), ops::increment_mod_(ops::identity(b), 3, 5),
                          ops::scaled_add(a, b, {.a = 2, .b = 3}), ops::scaled_add_(ops::identity(b), a, {.a = 2, .b = 3})};
      },
      x, x);
  forward(
      ir, named("lines").view(),
      [](Tensor a) {
        const auto [values, places] = ops::topk(a, 3);
        return std::array{ops::argmax(a, 1), ops::argmin(a, 1), values, places, ops::cumsum(a, 1)};
      },
      x);
  forward(
      ir, named("reduced").view(),
      [](Tensor a, Tensor b) {
        return std::array{ops::l1(a, 1),     ops::max(a, 1),  ops::min(a, 1),
                          ops::median(a, 1), ops::prod(b, 1), ops::sumsquare(b, 1)};
      },
      x, x);
  forward(
      ir, named("compared").view(),
      [](Tensor a, Tensor b) {
        return std::array{ops::less(a, b),      ops::less_equal(a, b), ops::greater_equal(a, b),
                          ops::not_equal(a, b), ops::isfinite(a),      ops::isinf(a),
                          ops::isnan(a)};
      },
      x, x);
  forward(
      ir, named("powers").view(),
      [](Tensor a, Tensor b) { return std::array{ops::pow(a, b), ops::pow(a, 3), ops::increment_mod(a, 3, 5)}; }, x, x);
}

}  // namespace op_cases
