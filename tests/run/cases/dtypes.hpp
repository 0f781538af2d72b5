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
  differentiable(ir, "floats_scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 2, .b = -0.5}); }, x, x);
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
  forward(ir, "floats_increment_mod", [](Tensor a) { return ops::increment_mod(a, 1.5, 2); }, x);
  forward(
      ir, "floats_compared",
      [](Tensor a, Tensor b) {
        return std::array{ops::less(a, b),      ops::less_equal(a, b), ops::greater_equal(a, b),
                          ops::not_equal(a, b), ops::isfinite(a),      ops::isinf(a),
                          ops::isnan(a)};
      },
      special, special);
  forward(
      ir, "floats_adam",
      [](Tensor m, Tensor v, Tensor w, Tensor step) {
        return ops::adam_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125, .beta1 = 0.9, .beta2 = 0.875});
      },
      x, x, x, f32({}));
  forward(
      ir, "floats_adam_var_update",
      [](Tensor w, Tensor update) {
        const auto norm = [&](double square) { return w.ir().constant(square); };
        return ops::adam_var_update(w, update, norm(2.25), norm(0.25), 0.5);
      },
      x, x);
}

template <tw::DType dtype>
constexpr void float_lines_and_indices(Ir& ir) {
  const TensorSpec x{{3, 7}, dtype}, tall{{5, 7}, dtype};
  differentiable(ir, "floats_cumsum", [](Tensor t) { return ops::cumsum(t, 1); }, x);
  differentiable(ir, "floats_topk", [](Tensor t) { return ops::topk(t, 3).values; }, x);
  forward(ir, "floats_places", [](Tensor t) { return std::array{ops::argmax(t, 1), ops::argmin(t, 1)}; }, x);
  forward(ir, "floats_histogram", [](Tensor t) { return ops::histogram(t, {-1, -0.5, 0, 0.25, 2}); }, tall);
  forward(ir, "floats_lamb_square", ops::lamb_square, tall);
  differentiable(ir, "floats_gather", [](Tensor t, Tensor i) { return ops::gather(t, i); }, tall, i32({3}));
  differentiable(ir, "floats_tied_gather", [](Tensor t, Tensor i) { return ops::tied_gather(t, i); }, tall, i32({3}));
  differentiable(
      ir, "floats_scatter", [](Tensor t, Tensor i, Tensor v) { return ops::scatter(t, i, v); }, TensorSpec{{5, 3}, dtype},
      i32({2, 3}), TensorSpec{{2, 3}, dtype});
  differentiable(
      ir, "floats_scatter_max",
      [](Tensor t, Tensor i) { return ops::scatter_reduce(t, i, tw::ScatterReduction::max, {.axis_size = 4}); },
      TensorSpec{{6, 7}, dtype}, i32({6}));
  differentiable(
      ir, "floats_onehot", [](Tensor i, Tensor values) { return ops::onehot(i, 5, values); }, i32({7}), TensorSpec{{2}, dtype});
  differentiable(ir, "floats_dynamic_slice", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {1}, {3}); }, x, i32({1}));
  differentiable(
      ir, "floats_dynamic_update", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {1}, {3}); }, x,
      i32({1}), TensorSpec{{3, 3}, dtype});
  differentiable(ir, "floats_slice", [](Tensor t) { return t[{tw::slice(1, tw::none), tw::slice(tw::none, tw::none, 2)}]; }, x);
  forward(
      ir, "floats_sparse_accumulate", [](Tensor t, Tensor u, Tensor i) { return ops::sparse_accumulate_(t, u, i, 0, 0.5); }, tall,
      TensorSpec{{4, 7}, dtype}, i32({4}));
}

/// With all digits of float64, which a step in float32 would lose.
constexpr void exact_functions_and_losses(Ir& ir) {
  const TensorSpec x = f64({2, 7}), rows = f64({4, 3}), labels = i32({4});
  add_cases<Program::exact>({ir, tw::float64, {2, 7}, "exact_"});
  differentiable(ir, "exact_matmul", [](Tensor a, Tensor b) { return a.matmul(b); }, f64({3, 19}), f64({19, 3}));
  differentiable(ir, "exact_softmax", [](Tensor t) { return ops::softmax(t); }, f64({3, 7}));
  differentiable(ir, "exact_nll_loss", [](Tensor p, Tensor t) { return ops::nll_loss(p, t); }, rows, labels);
  differentiable(ir, "exact_cross_entropy", [](Tensor t, Tensor l) { return ops::cross_entropy(t, l); }, rows, labels);
  forward(
      ir, "exact_loss_grad",
      [](Tensor t, Tensor l) {
        const auto both = ops::cross_entropy_with_grad(t, l, 3);
        return std::array{both.loss, both.gradient};
      },
      rows, labels);
}
constexpr void exact_networks(Ir& ir) {
  differentiable(
      ir, "exact_layer_norm", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, 0.125); }, f64({3, 7}), f64({7}),
      f64({7}));
  differentiable(
      ir, "exact_group_norm", [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 2, 0.125); }, f64({2, 4, 3}),
      f64({4}), f64({4}));
  differentiable(
      ir, "exact_batch_norm",
      [](Tensor x, Tensor w, Tensor b, Tensor mean, Tensor var) {
        return ops::batch_norm(x, w, b, mean.cast(tw::float64), var.cast(tw::float64), {.eps = 0.125});
      },
      f64({3, 2, 5}), f64({2}), f64({2}), i32({2}), i32({2}));
  differentiable(
      ir, "exact_conv", [](Tensor x, Tensor w) { return ops::conv(x, w, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}); },
      f64({1, 3, 5, 6}), f64({2, 3, 3, 3}));
  differentiable(
      ir, "exact_conv_transpose", [](Tensor x, Tensor w) { return ops::conv_transpose(x, w, {.stride = {2, 2}}); },
      f64({1, 3, 2, 3}), f64({3, 2, 2, 3}));
  differentiable(ir, "exact_average_pool", [](Tensor x) { return ops::average_pool(x, {3, 1}); }, f64({1, 2, 5, 3}));
  const auto resized = [](tw::ResizeMode mode) {
    return [=](Tensor x) { return ops::interpolate(x, {1, 1, 2, 1.5}, {.mode = mode}); };
  };
  differentiable(ir, "exact_interpolate", resized(tw::ResizeMode::linear), f64({1, 2, 3, 4}));
  differentiable(ir, "exact_interpolate_cubic", resized(tw::ResizeMode::cubic), f64({1, 2, 3, 4}));
  differentiable(
      ir, "exact_roi_align",
      [](Tensor x, Tensor rois, Tensor index) {
        return ops::roi_align(x, rois.cast(tw::float64), index, {.output_size = {2, 2}, .sampling_ratio = 1});
      },
      f64({1, 2, 5, 6}), i32({1, 4}), i32({1}));
}

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
