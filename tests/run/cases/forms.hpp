#pragma once
// The cases of tests/reference/ops_forms.txt: operands that are views, and tensors of few elements. And cases of other files with
// other dtypes, or for other targets.
#include "elementwise.hpp"
#include "indexing.hpp"
#include "networks.hpp"
#include "random.hpp"
#include "slices.hpp"

namespace op_cases {

constexpr auto every_second = tw::slice(tw::none, tw::none, 2);
constexpr auto odd_ones = tw::slice(1, tw::none, 2);

constexpr void views_of_elements(Ir& ir) {
  const TensorSpec x = f32({5, 19}), turned = f32({19, 5}), wide = f32({5, 38});
  differentiable(ir, "view_exp", [](Tensor t) { return ops::exp(t[{all, every_second}]); }, wide);
  differentiable(ir, "view_mul", [](Tensor a, Tensor b) { return a.T() * b[back]; }, turned, x);
  differentiable(
      ir, "view_inplace",
      [](Tensor a, Tensor b) {
        Tensor t = a * 2;
        t += b.T();
        return ops::negate_(t);
      },
      x, turned);
  differentiable(
      ir, "view_where", [](Tensor c, Tensor a, Tensor b) { return ops::where(c.T(), a[back], b[{all, odd_ones}]); },
      bools({19, 5}), x, wide);
  differentiable(
      ir, "view_maximum", [](Tensor a, Tensor b) { return ops::maximum(a.T(), b[{all, every_second}]); }, turned, wide);
  forward(ir, "view_less_equal", [](Tensor a, Tensor b) { return ops::less_equal(a.T(), b[back]); }, turned, x);
  differentiable(ir, "view_cast", [](Tensor t) { return t.T().cast(tw::float16); }, turned);
  differentiable(
      ir, "view_scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a.T(), b[back], {.a = 0.5, .b = -2}); }, turned, x);
  forward(ir, "view_adam", [](Tensor m, Tensor v) { return ops::adam_updater(m.T(), v[{all, every_second}]); }, turned, wide);
}
constexpr void views_of_lines(Ir& ir) {
  const TensorSpec turned = f32({19, 5}), wide = f32({5, 38});
  differentiable(
      ir, "view_matmul", [](Tensor a, Tensor b) { return a.T().matmul(b[{all, every_second}]); }, f32({37, 5}), f32({37, 14}));
  differentiable(ir, "view_sum", [](Tensor t) { return t[{all, odd_ones}].sum(0); }, wide);
  differentiable(ir, "view_max", [](Tensor t) { return ops::max(t.T(), 1); }, f32({7, 19}));
  differentiable(ir, "view_cumsum", [](Tensor t) { return ops::cumsum(t.T(), 1); }, turned);
  differentiable(ir, "view_topk", [](Tensor t) { return ops::topk(t.T(), 3, 1).values; }, turned);
  forward(ir, "view_argmax", [](Tensor t) { return ops::argmax(t[{all, every_second}], 1); }, wide);
  forward(ir, "view_histogram", [](Tensor t) { return ops::histogram(t[{all, every_second}], {-2, -1, 0, 1, 2}); }, wide);
  differentiable(ir, "view_softmax", [](Tensor t) { return ops::softmax(t.T()); }, turned);
  differentiable(
      ir, "view_nll_loss", [](Tensor p, Tensor labels) { return ops::nll_loss(p.T(), labels[back]); }, f32({5, 9}), i32({9}));
  differentiable(
      ir, "view_cross_entropy", [](Tensor t, Tensor labels) { return ops::cross_entropy(t.T(), labels[every_second]); },
      f32({5, 9}), i32({18}));
  forward(
      ir, "view_loss_grad",
      [](Tensor t, Tensor labels) {
        const auto both = ops::cross_entropy_with_grad(t.T(), labels[every_second]);
        return std::array{both.loss, both.gradient};
      },
      f32({5, 9}), i32({18}));
  differentiable(
      ir, "view_layer_norm", [](Tensor t, Tensor w, Tensor b) { return ops::layer_norm(t.T(), w[every_second], b[back], 0.125); },
      turned, f32({38}), f32({19}));
}
/// Images whose channels stand behind their pixels in memory.
constexpr Tensor channels_first(Tensor x) { return x.transpose({0, 3, 1, 2}); }
constexpr void views_of_images(Ir& ir) {
  const TensorSpec x = f32({2, 5, 6, 3}), samples = f32({3, 5, 4});
  differentiable(
      ir, "view_conv",
      [](Tensor t, Tensor w) { return ops::conv(channels_first(t), channels_first(w), {.padding = {1, 1, 1, 1}}); }, x,
      f32({4, 3, 3, 3}));
  differentiable(
      ir, "view_conv_transpose",
      [](Tensor t, Tensor w) { return ops::conv_transpose(channels_first(t), channels_first(w), {.stride = {2, 2}}); },
      f32({1, 3, 4, 3}), f32({3, 3, 2, 4}));
  differentiable(ir, "view_max_pool", [](Tensor t) { return ops::max_pool(channels_first(t), {2, 2}, {.stride = {2, 2}}); }, x);
  differentiable(ir, "view_average_pool", [](Tensor t) { return ops::average_pool(channels_first(t), {2, 2}); }, x);
  differentiable(
      ir, "view_group_norm",
      [](Tensor t, Tensor w, Tensor b) { return ops::group_norm(t.transpose({0, 2, 1}), w[every_second], b[back], 2, 0.125); },
      samples, f32({8}), f32({4}));
  differentiable(
      ir, "view_batch_norm",
      [](Tensor t, Tensor w, Tensor b, Tensor mean, Tensor var) {
        return ops::batch_norm(t.transpose({0, 2, 1}), w[every_second], b[back], mean.cast(tw::float32), var.cast(tw::float32),
                               {.eps = 0.125});
      },
      samples, f32({8}), f32({4}), i32({4}), i32({4}));
  differentiable(
      ir, "view_batch_norm_inference",
      [](Tensor t, Tensor w, Tensor b, Tensor mean, Tensor var) {
        return ops::batch_norm_inference(t.transpose({0, 2, 1}), w[every_second], b[back], mean[back], var[every_second]);
      },
      samples, f32({8}), f32({4}), f32({4}), f32({8}));
}
/// Cases of networks.hpp, of the same numbers, which stand in memory in the order of the reversed axes.
constexpr void views_of_resized_images(Ir& ir) {
  const auto turned = [](Tensor t) { return ops::identity(t.T()).T(); };
  differentiable(
      ir, "interpolate_linear", [=](Tensor t) { return interpolate({1, 1, 2, 1.25}, {.mode = ResizeMode::linear})(turned(t)); },
      f32({1, 1, 2, 37}));
  differentiable(
      ir, "roi_align",
      [=](Tensor t, Tensor rois, Tensor index) {
        return ops::roi_align(turned(t), turned(rois.cast(tw::float32)), index[all],
                              {.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2});
      },
      f32({2, 3, 6, 7}), i32({4, 4}), i32({4}));
}
constexpr void views_at_indices(Ir& ir) {
  const auto second = tw::slice(1, 2);
  const TensorSpec seeds{{2, 2}, tw::uint32};
  differentiable(ir, "view_gather", [](Tensor t, Tensor i) { return ops::gather(t.T(), i.T()); }, f32({7, 19}), i32({3, 4}));
  differentiable(
      ir, "view_scatter", [](Tensor t, Tensor i, Tensor v) { return ops::scatter(t.T(), i.T(), v[{all, every_second}]); },
      f32({7, 5}), i32({7, 2}), f32({2, 14}));
  differentiable(
      ir, "view_scatter_sum",
      [](Tensor t, Tensor i) { return ops::scatter_reduce(t.T(), i[back], ScatterReduction::sum, {.axis_size = 4}); },
      f32({7, 9}), i32({9}));
  differentiable(
      ir, "view_dynamic_slice", [=](Tensor t, Tensor i) { return ops::dynamic_slice(t.T(), i[second], {0}, {3}); }, f32({7, 19}),
      i32({3}));
  differentiable(
      ir, "view_dynamic_update",
      [=](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t.T(), i[second], u.T(), {0}, {3}); }, f32({7, 19}),
      i32({3}), f32({7, 3}));
  differentiable(
      ir, "view_onehot", [](Tensor i, Tensor values) { return ops::onehot(i.T(), 5, values[tw::slice(2, tw::none, -2)]); },
      i32({7, 3}), f32({4}));
  forward(
      ir, "view_sparse_accumulate",
      [](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x.T(), i[every_second], 0, 0.5); }, f32({7, 5}),
      f32({5, 9}), i32({18}));
  differentiable(
      ir, "view_concat", [](Tensor a, Tensor b) { return ops::concat_({a.T(), b[back]}, 1); }, f32({19, 5}), f32({5, 7}));
  differentiable(ir, "view_slice", [](Tensor t) { return t.T()[{tw::slice(1, tw::none), every_second}]; }, f32({19, 5}));
  forward(ir, "view_uniform", [](Tensor s) { return ops::random_uniform(s[1], {5, 19}, -2, 3); }, seeds);
  differentiable(ir, "view_dropout", [](Tensor t, Tensor s) { return ops::dropout(t.T(), s[1], 0.25); }, f32({19, 5}), seeds);
}

constexpr auto where_of = [](Tensor c, Tensor a, Tensor b) { return ops::where(c, a, b); };
constexpr auto less_equal_of = [](Tensor a, Tensor b) { return ops::less_equal(a, b); };

constexpr void few_elements(Ir& ir) {
  const auto each = [&](std::string_view kind, const Shape& shape) {
    const TensorSpec x{shape, tw::float32}, i{shape, tw::int32};
    const auto named = [&](std::string_view name) { return tw::text(kind, "_", name); };
    add_cases<Program::few_elements>({ir, tw::float32, shape, named("").view()});
    differentiable(
        ir, named("inplace").view(),
        [](Tensor a, Tensor b) {
          Tensor t = a * 2;
          t += b;
          return ops::negate_(t);
        },
        x, x);
    differentiable(ir, named("where").view(), where_of, TensorSpec{shape, tw::boolean}, x, x);
    forward(ir, named("less_equal").view(), less_equal_of, i, i);
    differentiable(ir, named("cast").view(), [](Tensor t) { return t.cast(tw::float16); }, x);
    differentiable(
        ir, named("scaled_add").view(), [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 0.5, .b = -2}); }, x, x);
    forward(ir, named("adam").view(), [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, x, x);
    forward(ir, named("histogram").view(), [](Tensor t) { return ops::histogram(t, {-1, 0.25, 0.5}); }, x);
    differentiable(ir, named("dropout").view(), [](Tensor t, Tensor s) { return ops::dropout(t, s, 0.25); }, x, seed_spec);
    forward(ir, named("uniform").view(), [&](Tensor s) { return ops::random_uniform(s, shape, -2, 3); }, seed_spec);
  };
  each("scalar", {});
  each("one", {1, 1});
  forward(ir, "outer_less_equal", less_equal_of, i32({4, 1}), i32({1, 7}));
  differentiable(ir, "outer_where", where_of, bools({4, 1, 1}), f32({3, 1}), f32({1, 7}));
}
constexpr void lines_of_one(Ir& ir) {
  const auto softmax = [](int axis) { return [axis](Tensor x) { return ops::softmax(x, axis); }; };
  differentiable(ir, "one_matmul", product, f32({1, 1}), f32({1, 1}));
  differentiable(ir, "one_sum", [](Tensor x) { return ops::sum(x, 1); }, f32({3, 1, 5}));
  differentiable(ir, "one_max", [](Tensor x) { return ops::max(x, 0); }, f32({1, 5}));
  differentiable(ir, "one_logsumexp", [](Tensor x) { return ops::logsumexp(x, 1); }, f32({3, 1}));
  differentiable(ir, "one_topk", [](Tensor x) { return ops::topk(x, 1).values; }, f32({3, 1}));
  forward(ir, "one_argmax", [](Tensor x) { return ops::argmax(x, 0); }, f32({1, 5}));
  differentiable(ir, "one_softmax", softmax(1), f32({3, 1}));
  differentiable(ir, "line_softmax", softmax(0), f32({7}));
  differentiable(ir, "one_nll_loss", [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); }, f32({1, 3}), i32({1}));
  differentiable(ir, "one_cross_entropy", cross_entropy({}), f32({1, 1}), i32({1}));
  differentiable(ir, "line_cross_entropy", cross_entropy({}), f32({5}), i32({}));
  differentiable(ir, "one_layer_norm", layer_norm_of, f32({3, 1}), f32({1}), f32({1}));
  differentiable(ir, "one_group_norm", group_norm_of, f32({1, 2}), f32({2}), f32({2}));
  differentiable(ir, "one_batch_norm", batch_norm({.eps = 0.125}), f32({3, 1, 1}), f32({1}), f32({1}), i32({1}), i32({1}));
}
constexpr void images_of_one(Ir& ir) {
  const TensorSpec x = f32({1, 1, 1, 1});
  differentiable(ir, "one_conv", [](Tensor t, Tensor w) { return ops::conv(t, w); }, x, x);
  differentiable(ir, "one_conv_transpose", conv_transpose(), x, x);
  differentiable(ir, "one_max_pool", max_pool_of({1, 1}, {}), x);
  differentiable(ir, "one_average_pool", average_pool_of({1, 1}, {}), x);
  differentiable(ir, "one_interpolate", interpolate({1, 1, 3, 2}, {.mode = ResizeMode::linear}), x);
  differentiable(ir, "one_roi_align", roi_align({.output_size = {2, 2}}), x, i32({1, 4}), i32({1}));
}
constexpr void indices_of_one(Ir& ir) {
  const auto part = [](std::int64_t size) { return [=](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {0}, {size}); }; };
  differentiable(ir, "one_gather", take(), f32({1, 5}), i32({1}));
  differentiable(ir, "one_scatter", scatter_along(), f32({1, 3}), i32({1}), f32({1, 3}));
  differentiable(ir, "one_scatter_sum", reduced(ScatterReduction::sum, {.axis_size = 1}), f32({4, 3}), i32({4}));
  differentiable(ir, "one_dynamic_slice", part(1), f32({5}), i32({1}));
  differentiable(ir, "whole_dynamic_slice", part(3), f32({3}), i32({1}));
  differentiable(
      ir, "one_dynamic_update", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {0}, {1}); }, f32({5}),
      i32({1}), f32({1}));
  differentiable(ir, "scalar_onehot", [](Tensor i, Tensor values) { return ops::onehot(i, 5, values); }, i32({}), f32({2}));
  differentiable(ir, "one_onehot", [](Tensor i, Tensor values) { return ops::onehot(i, 1, values); }, i32({3}), f32({2}));
  forward(
      ir, "one_sparse_accumulate", [](Tensor t, Tensor x, Tensor i) { return ops::sparse_accumulate_(t, x, i); }, f32({1}),
      f32({3}), i32({3}));
  differentiable(ir, "one_concat", [](Tensor a, Tensor b) { return ops::concat({a, b}); }, f32({1}), f32({1}));
}

/// Cases of other files, with labels, indices and numbers of other dtypes.
constexpr void other_index_dtypes(Ir& ir) {
  differentiable(ir, "nll_loss", [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); }, f32({4, 3}), u32({4}));
  forward(
      ir, "loss_grad",
      [](Tensor p, Tensor labels) {
        const auto both = ops::nll_loss_with_softmax_grad(p, labels, 1);
        return std::array{both.loss, both.gradient};
      },
      f32({4, 3}), u32({4}));
  differentiable(ir, "roi_align", roi_align({.output_size = {2, 3}, .spatial_scale = 0.75, .sampling_ratio = 2}),
                 f32({2, 3, 6, 7}), i32({4, 4}), u32({4}));
  const auto seed_of = [](Tensor seed, Tensor modifier) { return ops::create_random_seed(seed, modifier); };
  forward(ir, "seed_of_int32", seed_of, seed_spec, TensorSpec{{}, tw::int64});
  forward(ir, "seed_of_uint32", seed_of, seed_spec, TensorSpec{{}, tw::uint64});
}
/// Sums of at most six elements, which half precision rounds once.
constexpr void interpolated_halves(Ir& ir) { differentiable(ir, "interpolate", interpolate({1, 1, 2, 3}), f16({1, 2, 4, 5})); }
/// Random numbers and dropout, for machines on which their work is cut in other ways.
constexpr void some_random_numbers(Ir& ir) {
  forward(ir, "uniform", [](Tensor seed) { return ops::random_uniform(seed, {3, 5, 7}, -2, 3); }, seed_spec);
  forward(ir, "normal", [](Tensor seed) { return ops::random_normal(seed, {13, 15}); }, seed_spec);
  differentiable(ir, "dropout", drop(0.3), f32({9, 23}), seed_spec);
  differentiable(ir, "dropout_columns", drop_shaped({9}, 0.4), f32({3, 9}), seed_spec);
}

}  // namespace op_cases
