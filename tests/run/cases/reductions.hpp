#pragma once
// The cases of tests/reference/ops_reductions.txt.
#include <array>
#include <utility>

#include "op_case.hpp"

namespace op_cases {

struct NamedReduction {
  const char* name;
  Tensor (*op)(Tensor, const Axes&, tw::Flag);
};
inline constexpr NamedReduction reductions[] = {
    {"max", ops::max}, {"min", ops::min}, {"median", ops::median}, {"prod", ops::prod},          {"sumsquare", ops::sumsquare},
    {"l1", ops::l1},   {"l2", ops::l2},   {"logsum", ops::logsum}, {"logsumexp", ops::logsumexp}};

constexpr TensorSpec of(tw::DType dtype, std::initializer_list<std::int64_t> shape) { return {shape, dtype}; }

constexpr void add_reductions(Ir& ir, int first, int last) {
  for (int i = first; i < last; ++i) {
    const NamedReduction& each = reductions[i];
    const auto named = [&](const char* form) { return tw::text(each.name, form); };
    differentiable(ir, each.name, [op = each.op](Tensor x) { return op(x, {}, false); }, f32({2, 3, 4}));
    differentiable(ir, named("_rows").view(), [op = each.op](Tensor x) { return op(x, -1, false); }, f32({2, 35}));
    differentiable(ir, named("_columns").view(), [op = each.op](Tensor x) { return op(x, 0, false); }, f32({3, 19}));
    differentiable(ir, named("_axes").view(), [op = each.op](Tensor x) { return op(x, {0, 2}, true); }, f32({2, 3, 4}));
    differentiable(ir, named("_transposed").view(), [op = each.op](Tensor x) { return op(x.T(), 1, false); }, f32({2, 2, 19}));
  }
}
constexpr void selections(Ir& ir) { add_reductions(ir, 0, 4); }
constexpr void sums_of_functions(Ir& ir) { add_reductions(ir, 4, 9); }

constexpr void lines(Ir& ir) {
  differentiable(ir, "cumsum_first", [](Tensor x) { return ops::cumsum(x); }, f32({2, 2, 19}));
  differentiable(ir, "cumsum_middle", [](Tensor x) { return ops::cumsum(x, 1); }, f32({2, 2, 19}));
  differentiable(ir, "cumsum_last", [](Tensor x) { return ops::cumsum(x, -1); }, f32({2, 2, 19}));
  differentiable(ir, "cumsum_transposed", [](Tensor x) { return ops::cumsum(x.T(), 1); }, f32({5, 19}));
  differentiable(ir, "cumsum_one", [](Tensor x) { return ops::cumsum(x, 1); }, f32({3, 1}));
  differentiable(ir, "topk", [](Tensor x) { return ops::topk(x, 5).values; }, f32({3, 37}));
  differentiable(ir, "topk_smallest", [](Tensor x) { return ops::topk(x, 2, 0, false).values; }, f32({5, 7}));
  differentiable(ir, "topk_transposed", [](Tensor x) { return ops::topk(x.T(), 3, 0).values; }, f32({4, 6}));
}

/// A function of two results.
constexpr auto top(std::int64_t k, int axis, bool largest = true) {
  return [=](Tensor x) {
    const auto [values, indices] = ops::topk(x, k, axis, largest);
    return std::array{values, indices};
  };
}
constexpr auto maximum_index(int axis) {
  return [=](Tensor x) { return ops::argmax(x, axis); };
}
constexpr auto minimum_index(int axis) {
  return [=](Tensor x) { return ops::argmin(x, axis); };
}

constexpr void ties_and_special_numbers(Ir& ir) {
  for (int i = 0; i < 3; ++i) {
    const NamedReduction& each = reductions[i];
    const auto over = [op = each.op](const Axes& axes) { return [=](Tensor x) { return op(x, axes, false); }; };
    differentiable(ir, tw::text(each.name, "_ties_rows").view(), over(1), f32({3, 37}));
    differentiable(ir, tw::text(each.name, "_ties_columns").view(), over(0), f32({4, 21}));
    differentiable(ir, tw::text(each.name, "_ties_all").view(), over({}), f32({4, 19}));
    differentiable(ir, tw::text(each.name, "_nan_rows").view(), over(1), f32({5, 19}));
    differentiable(ir, tw::text(each.name, "_nan_columns").view(), over(0), f32({5, 19}));
  }
  differentiable(ir, "prod_zeros", [](Tensor x) { return ops::prod(x, 1); }, f32({4, 5}));
  differentiable(ir, "l2_zero", [](Tensor x) { return ops::l2(x, 1); }, f32({2, 3}));
  differentiable(ir, "l1_zero", [](Tensor x) { return ops::l1(x); }, f32({4, 5}));
  forward(ir, "logsumexp_large", [](Tensor x) { return ops::logsumexp(x, 1); }, f32({6, 3}));
  for (const NamedReduction& each : reductions)
    differentiable(ir, tw::text(each.name, "_scalar").view(), [op = each.op](Tensor x) { return op(x, {}, false); }, f32({}));
}

constexpr void indices(Ir& ir) {
  forward(ir, "argmax_rows", maximum_index(-1), f32({5, 37}));
  forward(ir, "argmax_columns", maximum_index(0), f32({5, 37}));
  forward(ir, "argmax_ties", [](Tensor x) { return ops::argmax(x, 1, true); }, f32({3, 4, 19}));
  forward(ir, "argmax_transposed", [](Tensor x) { return ops::argmax(x.T()); }, f32({6, 19}));
  forward(ir, "argmin_rows", minimum_index(-1), f32({5, 37}));
  forward(ir, "argmin_columns", minimum_index(0), f32({5, 37}));
  forward(ir, "argmin_ties", [](Tensor x) { return ops::argmin(x, 1, true); }, f32({3, 4, 19}));
  forward(ir, "argmin_transposed", [](Tensor x) { return ops::argmin(x.T()); }, f32({6, 19}));
  forward(ir, "topk_special", top(4, 1), f32({5, 37}));
  forward(ir, "topk_special_smallest", top(36, -1, false), f32({5, 37}));
  forward(ir, "topk_ties", top(7, 1), f32({4, 19}));
  forward(ir, "topk_all", top(6, 0), f32({6, 5}));
  forward(ir, "topk_one", top(1, 0, false), f32({1}));

  const auto histogram = [](bool absolute) {
    return [=](Tensor x) { return ops::histogram(x, {-1, -0.5, 0, 0.25, 2}, absolute); };
  };
  forward(ir, "histogram", histogram(false), f32({4, 33}));
  forward(ir, "histogram_absolute", histogram(true), f32({4, 33}));
  forward(ir, "histogram_one", [](Tensor x) { return ops::histogram(x, {0, 1}); }, f32({}));

  forward(ir, "reduced_int_mean", [](Tensor x) { return ops::mean(x, 1); }, i32({5, 19}));
  forward(ir, "reduced_int_mean_all", [](Tensor x) { return ops::mean(x); }, of(tw::int64, {5, 19}));
  forward(ir, "reduced_int_sum", [](Tensor x) { return ops::sum(x, 0); }, of(tw::int8, {5, 19}));
  forward(ir, "reduced_int_max", [](Tensor x) { return ops::max(x, 1); }, of(tw::int16, {5, 19}));
  forward(ir, "reduced_int_topk", top(3, 1), of(tw::int64, {5, 19}));
  forward(ir, "reduced_int_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, i32({5, 19}));
}

constexpr void half_reductions(Ir& ir) {
  for (const NamedReduction& each : reductions)
    differentiable(
        ir, tw::text("reduced_half_", each.name).view(), [op = each.op](Tensor x) { return op(x, 1, false); }, f16({2, 19}));
  forward(ir, "reduced_half_columns", [](Tensor x) { return ops::max(x, 0); }, f16({5, 37}));
  forward(ir, "reduced_half_argmax", maximum_index(0), f16({3, 37}));
  forward(ir, "reduced_half_topk", top(3, 1), f16({3, 19}));
  forward(ir, "reduced_half_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, f16({2, 19}));
  forward(ir, "reduced_half_cumsum_columns", [](Tensor x) { return ops::cumsum(x, 0); }, f16({2, 19}));
}

constexpr void double_reductions(Ir& ir) {
  for (const NamedReduction& each : reductions)
    differentiable(
        ir, tw::text("reduced_double_", each.name).view(), [op = each.op](Tensor x) { return op(x, 1, false); },
        of(tw::float64, {2, 19}));
  differentiable(ir, "reduced_double_cumsum", [](Tensor x) { return ops::cumsum(x, 0); }, of(tw::float64, {2, 19}));
  differentiable(ir, "reduced_double_topk", [](Tensor x) { return ops::topk(x, 5, 1).values; }, of(tw::float64, {2, 19}));
}
/// Of integers of all kinds, and indices and counts of double and half precision.
constexpr void reductions_of_other_dtypes(Ir& ir) {
  forward(
      ir, "reduced_double_indices",
      [](Tensor x) {
        const auto [values, places] = ops::topk(x, 3, 1, false);
        return std::array{ops::argmax(x, 1), ops::argmin(x, 0), values, places};
      },
      of(tw::float64, {5, 37}));
  for (const auto& [name, dtype] : {std::pair("double", tw::float64), std::pair("half", tw::float16)})
    forward(
        ir, tw::text("reduced_", name, "_histogram").view(), [](Tensor x) { return ops::histogram(x, {-1, -0.5, 0, 0.25, 2}); },
        of(dtype, {4, 33}));
  for (const tw::DType dtype : {tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
    forward(
        ir, tw::text("reduced_", tw::to_text(dtype)).view(),
        [](Tensor x) {
          const auto [values, places] = ops::topk(x, 2, 1);
          return std::array{ops::max(x, 1), ops::min(x, 1),    ops::median(x, 1), ops::prod(x, 1),   ops::sumsquare(x, 1),
                            ops::l1(x, 1),  ops::cumsum(x, 1), ops::argmax(x, 1), ops::argmin(x, 1), values,
                            places};
        },
        of(dtype, {3, 11}));
}

/// Of which tiles have parts.
constexpr void reductions_in_tiles(Ir& ir) {
  for (const NamedReduction& each : reductions)
    differentiable(ir, tw::text("tiles_", each.name).view(), [op = each.op](Tensor x) { return op(x, {}, false); }, f32({5, 34}));
  differentiable(ir, "tiles_rows", [](Tensor x) { return ops::max(x, 1); }, f32({5, 34}));
  differentiable(ir, "tiles_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, f32({5, 19}));
  differentiable(ir, "tiles_topk", [](Tensor x) { return ops::topk(x, 3).values; }, f32({5, 19}));
  forward(ir, "tiles_argmax", maximum_index(0), f32({9, 34}));
  forward(ir, "tiles_histogram", [](Tensor x) { return ops::histogram(x, {-1, -0.5, 0, 0.25, 2}); }, f32({9, 34}));
  forward(ir, "tiles_mean", [](Tensor x) { return ops::mean(x); }, i32({9, 34}));
}

/// Of lines of which blocks have parts on a target that cuts reductions.
constexpr void reductions_in_parts(Ir& ir) {
  for (const NamedReduction& each : reductions)
    differentiable(ir, tw::text("parts_", each.name).view(), [op = each.op](Tensor x) { return op(x, {}, false); }, f32({2, 70}));
  for (const NamedReduction& each : {reductions[0], reductions[1]}) {
    forward(
        ir, tw::text("parts_", each.name, "_both").view(), [op = each.op](Tensor x) { return op(x, {}, true); }, f32({66, 65}));
    forward(
        ir, tw::text("parts_", each.name, "_nan").view(), [op = each.op](Tensor x) { return op(x, 1, false); }, f32({3, 200}));
  }
  forward(ir, "parts_logsumexp_large", [](Tensor x) { return ops::logsumexp(x, 1); }, f32({6, 150}));
}
constexpr void other_reductions_in_parts(Ir& ir) {
  forward(
      ir, "parts_half", [](Tensor x) { return std::array{ops::max(x), ops::min(x), ops::prod(x), ops::logsumexp(x)}; },
      f16({100}));
}
constexpr void integers_in_parts(Ir& ir) {
  forward(ir, "parts_int8", [](Tensor x) { return std::array{ops::max(x), ops::min(x), ops::prod(x)}; }, of(tw::int8, {300}));
}
constexpr void losses_in_parts(Ir& ir) {
  const auto loss = [](const NllOptions& options) {
    return [options](Tensor p, Tensor labels) { return ops::nll_loss(p, labels, options); };
  };
  differentiable(ir, "parts_nll_mean", loss({}), f32({130, 5}), i32({130}));
  differentiable(ir, "parts_nll_sum", loss({.reduction = Reduction::sum}), f32({130, 5}), i32({130}));
  differentiable(ir, "parts_nll_ignore", loss({.ignore_index = 2}), f32({130, 5}), i32({130}));
  differentiable(ir, "parts_nll_axes", loss({}), f32({3, 70, 4}), i32({3, 70}));
  differentiable(ir, "parts_nll_none", loss({.reduction = Reduction::none}), f32({3, 70, 4}), i32({3, 70}));
  const auto with_gradient = [](const tw::LossAndGradient& both) { return std::array{both.loss, both.gradient}; };
  forward(
      ir, "parts_loss_grad", [=](Tensor p, Tensor t) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t)); },
      f32({3, 70, 4}), i32({3, 70}));
  forward(
      ir, "parts_loss_grad_ignore",
      [=](Tensor p, Tensor t) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t, 2, {.ignore_index = 1})); },
      f32({3, 70, 4}), i32({3, 70}));
  forward(
      ir, "parts_loss_grad_tensor",
      [=](Tensor p, Tensor t, Tensor scale) { return with_gradient(ops::nll_loss_with_softmax_grad(p, t, scale)); },
      f32({3, 70, 4}), i32({3, 70}), f32({}));
}

}  // namespace op_cases
