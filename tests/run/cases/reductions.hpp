#pragma once
// The cases of tests/reference/ops_reductions.txt.
#include <array>
#include <utility>

#include "of_ops.hpp"

namespace op_cases {

constexpr TensorSpec of(tw::DType dtype, std::initializer_list<std::int64_t> shape) { return {shape, dtype}; }

constexpr void selections(Ir& ir) { add_cases<Program::selections>({ir, tw::float32, {}}); }
constexpr void sums_of_functions(Ir& ir) { add_cases<Program::sums_of_functions>({ir, tw::float32, {}}); }

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

constexpr void ties_and_special_numbers(Ir& ir) { add_cases<Program::ties>({ir, tw::float32, {}}); }

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

  add_cases<Program::of_integers>({ir, tw::int32, {}, "reduced_int_"});
  forward(ir, "reduced_int_topk", top(3, 1), of(tw::int64, {5, 19}));
  forward(ir, "reduced_int_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, i32({5, 19}));
}

constexpr void half_reductions(Ir& ir) {
  add_cases<Program::reduced_half>({ir, tw::float16, {}, "reduced_half_"});
  forward(ir, "reduced_half_argmax", maximum_index(0), f16({3, 37}));
  forward(ir, "reduced_half_topk", top(3, 1), f16({3, 19}));
  forward(ir, "reduced_half_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, f16({2, 19}));
  forward(ir, "reduced_half_cumsum_columns", [](Tensor x) { return ops::cumsum(x, 0); }, f16({2, 19}));
}

constexpr void double_reductions(Ir& ir) {
  add_cases<Program::reduced_double>({ir, tw::float64, {}, "reduced_double_"});
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
  add_cases<Program::in_tiles>({ir, tw::float32, {}, "tiles_"});
  differentiable(ir, "tiles_cumsum", [](Tensor x) { return ops::cumsum(x, 1); }, f32({5, 19}));
  differentiable(ir, "tiles_topk", [](Tensor x) { return ops::topk(x, 3).values; }, f32({5, 19}));
  forward(ir, "tiles_argmax", maximum_index(0), f32({9, 34}));
  forward(ir, "tiles_histogram", [](Tensor x) { return ops::histogram(x, {-1, -0.5, 0, 0.25, 2}); }, f32({9, 34}));
}

/// Of lines of which blocks have parts on a target that cuts reductions.
constexpr void reductions_in_parts(Ir& ir) { add_cases<Program::in_parts>({ir, tw::float32, {}, "parts_"}); }
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
