#pragma once
// The cases of tests/reference/ops_slices.txt.
#include <array>
#include <vector>

#include "op_case.hpp"

namespace op_cases {

using tw::all, tw::ellipsis, tw::none;

constexpr auto back = tw::slice(none, none, -1);

constexpr void slices(Ir& ir) {
  differentiable(ir, "slice_first", [](Tensor x) { return ops::slice(x, 1, 6); }, f32({7, 5}));
  differentiable(ir, "slice_number_of_last_axis", [](Tensor x) { return x[{ellipsis, 3}]; }, f32({7, 5}));
  differentiable(ir, "slice_steps", [](Tensor x) { return ops::slice(x, {1, none}, none, {2, 3}); }, f32({7, 20}));
  differentiable(ir, "slice_back", [](Tensor x) { return x[{back, tw::slice(5, 1, -1)}]; }, f32({3, 19}));
  differentiable(
      ir, "slice_back_in_steps", [](Tensor x) { return ops::slice(x, {-2, -1}, {-18, none}, {-3, -2}, {-1, 0}); }, f32({6, 19}));
  differentiable(ir, "slice_beyond", [](Tensor x) { return ops::slice(x, {-100, 100}, {100, -100}, {1, -4}); }, f32({3, 19}));
  differentiable(ir, "slice_one", [](Tensor x) { return x[{tw::slice(2, 3), tw::slice(-1, none)}]; }, f32({3, 4}));
  differentiable(ir, "slice_vector", [](Tensor x) { return x[tw::slice(3, 36)]; }, f32({37}));
  differentiable(ir, "slice_middle_axis", [](Tensor x) { return ops::slice(x, 1, 3, none, 1); }, f32({2, 4, 17}));
  differentiable(
      ir, "slice_six_axes",
      [](Tensor x) { return ops::slice(x, {0, -1, 1, none, 1, 3}, {3, none, 2, 0, none, 0}, {2, -2, none, -1, 1, -2}); },
      f32({3, 3, 2, 3, 2, 4}));
  differentiable(
      ir, "slice_of_slice",
      [](Tensor x) { return x[{tw::slice(none, none, -2), tw::slice(1, 18)}][{tw::slice(1, none), tw::slice(none, none, 3)}]; },
      f32({8, 19}));
  differentiable(ir, "subscript_all_numbers", [](Tensor x) { return x[{1, -2}]; }, f32({3, 4}));
  differentiable(ir, "subscript_mixed", [](Tensor x) { return x[{tw::slice(1, none), 2, ellipsis, back}]; }, f32({3, 4, 2, 5}));
  differentiable(ir, "subsample", [](Tensor x) { return ops::subsample(x, {3, 2}); }, f32({7, 4, 3}));
  differentiable(ir, "subsample_first_axis", [](Tensor x) { return ops::subsample(x, 2); }, f32({5, 3}));
  differentiable(ir, "flip", [](Tensor x) { return ops::flip(x, {1, -1}); }, f32({2, 3, 17}));
  differentiable(ir, "squeeze", [](Tensor x) { return x.squeeze(); }, f32({1, 3, 1, 4}));
  differentiable(ir, "squeeze_axes", [](Tensor x) { return x.squeeze({0, -2}); }, f32({1, 3, 1, 1}));
  differentiable(ir, "squeeze_transposed", [](Tensor x) { return x.T().squeeze(1); }, f32({4, 1, 3}));
}

constexpr void readers_of_slices(Ir& ir) {
  differentiable(
      ir, "sum_of_slice", [](Tensor x) { return x[{tw::slice(1, none), tw::slice(none, none, -2)}].sum(); }, f32({5, 41}));
  differentiable(ir, "row_sums_of_slice", [](Tensor x) { return x[{tw::slice(1, 4), tw::slice(1, 20)}].sum(1); }, f32({5, 23}));
  differentiable(
      ir, "column_sums_of_slice", [](Tensor x) { return x[{tw::slice(none, none, 2), tw::slice(2, 39)}].sum(0); }, f32({5, 41}));
  differentiable(
      ir, "matmul_of_slices",
      [](Tensor a, Tensor b) { return a[{back, tw::slice(1, 18)}].matmul(b[{tw::slice(17, 0, -1), tw::slice(none, none, 2)}]); },
      f32({9, 19}), f32({18, 20}));
  differentiable(
      ir, "matmul_of_steps",
      [](Tensor a, Tensor b) {
        return a[{all, tw::slice(none, none, 2)}].matmul(b[{tw::slice(none, none, 3), tw::slice(none, none, -2)}]);
      },
      f32({5, 24}), f32({36, 14}));
  differentiable(
      ir, "softmax_of_slice", [](Tensor x) { return ops::softmax(x[{all, tw::slice(none, none, -2)}], 1); }, f32({4, 37}));
  differentiable(ir, "reshape_of_slice", [](Tensor x) { return x[{all, tw::slice(1, 4)}].reshape({2, -1}); }, f32({4, 6}));
  differentiable(
      ir, "mul_of_slices", [](Tensor x) { return x[{all, tw::slice(0, 20)}] * x[{all, tw::slice(20, 40)}]; }, f32({3, 40}));
  differentiable(
      ir, "rotary",
      [](Tensor x) {
        const Tensor even = ops::subsample(x, {1, 2}), odd = x[{ellipsis, tw::slice(1, none, 2)}];
        return ops::concat({(-odd).reshape({3, 10, 1}), (even * 2).reshape({3, 10, 1})}, -1).reshape({3, 20});
      },
      f32({3, 20}));

  const auto subscript = [](Tensor x, Tensor index) { return x[index]; };
  differentiable(ir, "subscript_rows", subscript, f32({5, 3}), i32({2, 2}));
  differentiable(ir, "subscript_mask", subscript, f32({5, 3}), TensorSpec{{3}, tw::boolean});

  differentiable(ir, "slices_with_gaps", [](Tensor x) { return x[tw::slice(1, 3)] * 2 + x[tw::slice(5, 7)]; }, f32({9, 5}));
  differentiable(
      ir, "slices_overlap", [](Tensor x) { return x[tw::slice(0, 5)] * x[tw::slice(1, 6)] + x[tw::slice(2, 7)]; }, f32({7, 3}));
  differentiable(
      ir, "slices_two_axes",
      [](Tensor x) {
        return x[{tw::slice(0, 2), tw::slice(1, 4)}] +
               x[{tw::slice(1, 3), tw::slice(0, 3)}] * x[{tw::slice(2, none, -1), tw::slice(1, 4)}][tw::slice(1, none)];
      },
      f32({3, 4}));
  differentiable(ir, "rows_by_number", [](Tensor x) { return x[0] * x[2] + x[-1]; }, f32({4, 6}));
  differentiable(ir, "slice_and_whole", [](Tensor x) { return x[tw::slice(1, 2)] * x; }, f32({3, 4}));
}

constexpr void concats(Ir& ir) {
  const auto rows = [](Tensor a, Tensor b, Tensor c) { return ops::concat({a, b, c}); };
  differentiable(ir, "concat_rows", rows, f32({2, 5}), f32({1, 5}), f32({4, 5}));
  const auto columns = [](Tensor a, Tensor b, Tensor c) { return ops::concat_({a, b, c}, 1); };
  differentiable(ir, "concat_columns", columns, f32({3, 17}), f32({3, 1}), f32({3, 6}));
  differentiable(ir, "concat_middle", [](Tensor a, Tensor b) { return ops::concat({a, b}, -2); }, f32({2, 3, 4}), f32({2, 1, 4}));
  differentiable(ir, "concat_of_one", [](Tensor a) { return ops::concat({a}); }, f32({3}));
  differentiable(ir, "concat_twice_the_same", [](Tensor a) { return ops::concat({a, a}, 1); }, f32({2, 3}));
  differentiable(
      ir, "concat_of_made", [](Tensor a, Tensor b) { return ops::concat({ops::exp(a), a.matmul(b) * 2}, 1) * 3; }, f32({4, 4}),
      f32({4, 5}));
  differentiable(
      ir, "concat_of_views", [](Tensor a, Tensor b) { return ops::concat({a.T(), b[tw::slice(none, none, -2)]}); }, f32({3, 4}),
      f32({5, 3}));
  differentiable(
      ir, "split_equal",
      [](Tensor x) {
        const auto [a, b, c] = ops::split<3>(x);
        return a * b + c;
      },
      f32({6, 5}));
  differentiable(
      ir, "split_lengths",
      [](Tensor x) {
        const auto parts = ops::split(x, {5, 1, 3}, -1);
        return ops::concat({parts[1] * parts[0], parts[2] + 1}, 1);
      },
      f32({2, 9}));
  differentiable(ir, "split_one_unused", [](Tensor x) { return ops::split(x, 3, 1)[1] * 2; }, f32({2, 9}));
  differentiable(ir, "diag_square", [](Tensor x) { return x.diag(); }, f32({4, 4}));
  differentiable(ir, "diag_wide", [](Tensor x) { return x.diag(); }, f32({3, 5}));
  differentiable(ir, "diag_tall", [](Tensor x) { return x.diag(); }, f32({5, 3}));
  differentiable(ir, "diag_of_vector", [](Tensor x) { return ops::diag(x); }, f32({4}));
}

/// Writing through aliases of parts; reading values that views have had.
constexpr void parts_in_place(Ir& ir) {
  forward(
      ir, "slice_in_place",
      [](Tensor x, Tensor u) {
        ops::accumulate_(ops::slice_(x, {1, 2}, {4, 5}), u);
        return x;
      },
      f32({6, 7}), f32({3, 3}));
  forward(
      ir, "slice_back_in_place",
      [](Tensor x, Tensor u) {
        ops::accumulate_(ops::slice_(x, {1, none}, {2, none}, {none, -1}), u.reshape({1, 5}));
        return x;
      },
      f32({3, 5}), f32({5}));
  forward(
      ir, "diagonal_early",
      [](Tensor x, Tensor u) {
        const Tensor early = ops::slice(x, 1, 3);  // what it was before x changes
        ops::accumulate_(x, u);
        return std::array{early, x};
      },
      f32({4, 3}), f32({4, 3}));
  forward(
      ir, "init_and_fill",
      [](Tensor u) {
        const Tensor result = ops::init(u.ir(), {5, 3});
        ops::copy_var_update_(ops::slice_(result, 2, -1), u);
        return result;
      },
      f32({2, 3}));
}

constexpr void parts_of_other_dtypes(Ir& ir) {
  const auto parts = [](Tensor a, Tensor b) {
    return std::array{ops::concat({a, b}, 1)[{tw::slice(none, none, -2), tw::slice(1, 9)}], a[2], ops::subsample(b, {1, 2}),
                      a.diag(), b[1].diag()};
  };
  const auto of = [&](std::string_view name, tw::DType dtype) {
    forward(ir, tw::text("parts_", name).view(), parts, TensorSpec{{3, 5}, dtype}, TensorSpec{{3, 5}, dtype});
  };
  of("i8", tw::int8), of("u8", tw::uint8), of("i16", tw::int16), of("i32", tw::int32), of("i64", tw::int64);
  of("u64", tw::uint64), of("bool", tw::boolean), of("f16", tw::float16), of("f64", tw::float64);
  of("u16", tw::uint16), of("u32", tw::uint32);
}

constexpr void all_slices(Ir& ir) {
  slices(ir);
  readers_of_slices(ir);
  concats(ir);
}

}  // namespace op_cases
