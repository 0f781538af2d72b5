// labels: none
// Which ops the planner joins, as the printed plan shows it.
#include "../../../examples/tutorial/net.hpp"
#include "../../../examples/tutorial/steps.hpp"
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/lower/print_plan.hpp"

namespace {

namespace ops = tw::ops;
using tw::Tensor;

using support::load, support::plan_of, support::plan_text, support::store, support::variable;

TW_SAME(plan_text(train_step<Net, 8, 28, 28>),
        "Body 0 : 9 steps, 425984 bytes\n"
        "  8 of 512 x 8 x 104: MatMul\n"
        "  --\n"
        "  8 of 8 x 8 x 64: ReduceSum [Add, Gelu, GeluSlope]; MatMul\n"
        "  --\n"
        "  8 of 8 x 8 x 64: ReduceSum [Add, Gelu, GeluSlope]; MatMul\n"
        "  --\n"
        "  8 of 8 x 8 x 64: ReduceSum [Add, Gelu, GeluSlope]; MatMul\n"
        "  --\n"
        "  1 of 8 x 8 x 10: ReduceSum [Add]; CrossEntropyWithGrad; Identity; ReduceSum "
        "[ScaledAddLhsInplace]\n"
        "  --\n"
        "  8 of 8 x 64 x 10: MatMul [Mul]; ReduceSum [ScaledAddLhsInplace]; MatMul [ScaledAddLhsInplace]\n"
        "  --\n"
        "  32 of 16 x 8 x 512: MatMul [Mul]; ReduceSum [ScaledAddLhsInplace]; MatMul [ScaledAddLhsInplace]\n"
        "  --\n"
        "  32 of 16 x 8 x 512: MatMul [Mul]; ReduceSum [ScaledAddLhsInplace]; MatMul [ScaledAddLhsInplace]\n"
        "  --\n"
        "  8 of 104 x 512 x 8: MatMul [ScaledAddLhsInplace]\n",
        "each tile keeps its rows of a weight, forward, backward and in the update; bias, activation and its gradient in "
        "epilogues; loss and its gradient in one step; no gradient of a weight is stored");
constexpr auto large_batch = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {512, 256}), w = variable(ir, "w", {256, 1024}), b = variable(ir, "b", {1024});
  store("y", ops::gelu(x.matmul(w) + b));
};
TW_SAME(plan_text(large_batch), "Body 0 : 1 steps, 0 bytes\n  8 of 128 x 512 x 256: MatMul [Identity <Add, Gelu>]\n",
        "bias and activation in the product's epilogue");

/// Descent for a weight with more columns than rows, after the product that gives dx.
constexpr auto wide_weight = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {8, 256}), dy = load(ir, "dy", {8, 1024}), w = variable(ir, "w", {256, 1024});
  store("dx", dy.matmul(w.T()));
  ops::scaled_add_(w, x.T().matmul(dy), {.b = -0.5});
};
TW_SAME(
    plan_text(wide_weight), "Body 0 : 1 steps, 0 bytes\n  8 of 32 x 8 x 1024: MatMul [Identity]; MatMul [ScaledAddLhsInplace]\n",
    "one pass over the weight for both; 16 rows of it are 64 KB, more than a first-level cache holds, so vertices are larger");

constexpr auto more_columns_than_rows = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {80, 784}), w = variable(ir, "w", {784, 512});
  store("y", x.matmul(w));
};
TW_SAME(plan_text(more_columns_than_rows), "Body 0 : 1 steps, 0 bytes\n  8 of 64 x 80 x 784: MatMul [Identity]\n",
        "each tile reads its columns of the weight once");

/// A product by a transposed matrix, whose rows have the axes (batch, length).
constexpr auto transposed_weight = [](tw::Ir& ir) {
  const Tensor dy = load(ir, "dy", {4, 64, 512}), w = variable(ir, "w", {128, 512});
  store("dx", dy.matmul(w.T()));
};
TW_SAME(plan_text(transposed_weight), "Body 0 : 1 steps, 0 bytes\n  8 of 2 x 32 x 64 x 512: MatMul [Identity]\n",
        "two vertices turn the same columns of the weight, not four; each has two vectors of columns");

/// Products of heads: each has a matrix of its own, which is turned once.
constexpr auto heads = [](tw::Ir& ir) {
  const Tensor q = load(ir, "q", {8, 64, 32}), k = load(ir, "k", {8, 64, 32});
  store("scores", q.matmul(k.transpose({0, 2, 1})));
};
TW_SAME(plan_text(heads), "Body 0 : 1 steps, 0 bytes\n  8 of 1 x 64 x 64 x 32: MatMul [Identity]\n");

/// The gradient of a weight in half precision.
constexpr auto half_gradient = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {768, 128}, tw::float16), dy = load(ir, "dy", {768, 512}, tw::float16);
  store("dw", x.T().matmul(dy));
};
TW_SAME(plan_text(half_gradient), "Body 0 : 1 steps, 0 bytes\n  8 of 128 x 64 x 768: MatMul [Identity]\n",
        "half of x is converted by 4 vertices, which takes longer than to convert dy twice");

/// Adam's step for one weight: the time step is counted first, so that all else can follow the gradient.
constexpr auto adam = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {8, 512}), dy = load(ir, "dy", {8, 512}), w = variable(ir, "w", {512, 512});
  const Tensor gradient = x.T().matmul(dy);
  const Tensor m = ops::accumulate_moving_average_(variable(ir, "m", {512, 512}), gradient, 0.9);
  const Tensor v = ops::accumulate_moving_average_square_(variable(ir, "v", {512, 512}), gradient, 0.999);
  const Tensor step = variable(ir, "step", {});
  ops::scaled_add_(w, ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.999}), {.b = -0.001});
};
TW_SAME(plan_text(adam),
        "Body 0 : 2 steps, 128 bytes\n  1 of : AdamFactors\n  --\n"
        "  8 of 64 x 512 x 8: MatMul [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>]\n",
        "the gradient is never stored");

constexpr auto tree = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64}), y = load(ir, "y", {64});
  const Tensor quotient = x / y;
  store("z", ops::exp(x * y) - quotient);
};
TW_SAME(plan_text(tree), "Body 0 : 1 steps, 0 bytes\n  4 of 16: Identity <Div, Mul, Exp, Sub>\n", "one lazy expression");
TW_SAME(plan_text(tree, tw::cpu.without_fusion()),
        "Body 0 : 5 steps, 512 bytes\n  4 of 16: Div\n  4 of 16: Mul\n  --\n  4 of 16: Exp\n  --\n  4 of 16: Sub\n"
        "  --\n  4 of 16: Identity\n");

constexpr auto two_readers = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64}), sum = x + x;
  store("y", ops::exp(sum) * sum);
};
TW_SAME(plan_text(two_readers), "Body 0 : 1 steps, 0 bytes\n  4 of 16: Add; Identity <Exp, Mul>\n",
        "a value that is read twice is computed once");

constexpr auto changed_before_it_is_read = [](tw::Ir& ir) {
  const Tensor x = variable(ir, "x", {64}), y = load(ir, "y", {64});
  const Tensor product = x * y;
  ops::scaled_add_(x, y);
  store("z", product + x);
};
TW_SAME(plan_text(changed_before_it_is_read), "Body 0 : 1 steps, 0 bytes\n  4 of 16: Mul; ScaledAddLhsInplace; Identity <Add>\n",
        "a value is computed before what it reads is overwritten");

constexpr auto scores = [](tw::Ir& ir) {
  const Tensor q = load(ir, "q", {8, 128, 64}), k = load(ir, "k", {8, 128, 64}), mask = load(ir, "mask", {128, 128});
  store("p", ops::softmax(q.matmul(k.transpose({0, 2, 1})) * 0.125 + mask));
};
TW_SAME(plan_text(scores), "Body 0 : 1 steps, 0 bytes\n  32 of 1 x 32 x 128 x 64: MatMul [Add <Mul>]; Softmax; Identity\n",
        "attention scores are scaled, masked and softmaxed block by block");

constexpr auto long_lines = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {2, 100'000});
  store("y", ops::softmax(ops::softmax(ops::exp(x))) * x);
};
constexpr bool scratch_fits_a_stack(auto build) {
  bool fits = true;
  for (const tw::internal::ComputeSet& set : plan_of(build).compute_sets)
    fits = fits && set.scratch_bytes <= tw::internal::max_scratch_bytes;
  return fits;
}
static_assert(scratch_fits_a_stack(long_lines) && scratch_fits_a_stack(scores) &&
              scratch_fits_a_stack(train_step<Net, 8, 28, 28>));
TW_SAME(plan_text(long_lines),
        "Body 0 : 3 steps, 2400000 bytes\n  8 of 1 x 25008: Exp\n  --\n  2 of 1 x 100000: Softmax; Softmax\n  "
        "--\n  8 of 1 x 25008: Identity <Mul>\n",
        "lines that are too long for a stack are passed on in the frame");

constexpr auto whole_columns = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {512, 512}), w = variable(ir, "w", {512, 512});
  store("y", ops::sum(x.matmul(w), 0));
};
TW_SAME(plan_text(whole_columns),
        "Body 0 : 2 steps, 1048576 bytes\n  8 of 64 x 512 x 512: MatMul\n  --\n  8 of 512 x 64: ReduceSum [Identity]\n",
        "no fusion where it would leave most tiles without work");

/// A convolution with bias and relu, and a pooling.
template <bool stores, int stride, int groups = 1>
constexpr auto pooled = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {16, 8, 30, 30}), w = variable(ir, "w", {16, 8 / groups, 3, 3});
  const Tensor t = ops::relu(ops::conv(x, w, {.groups = groups}) + variable(ir, "b", {16, 1, 1}));
  if (stores) store("t", t);
  store("y", ops::max_pool(t, {2, 2}, {.stride = {stride, stride}}));
};
TW_SAME(plan_text(pooled<false, 2>), "Body 0 : 1 steps, 0 bytes\n  8 of 2 x 8 x 16: Conv [Relu <Add>, MaxPool]; Identity\n",
        "planes before the pooling are in scratch, one image at a time");
TW_SAME(plan_text(pooled<true, 2>),
        "Body 0 : 1 steps, 0 bytes\n  8 of 2 x 8 x 16: Conv [Relu <Add>, Identity, MaxPool]; Identity\n",
        "a result that is also stored");
TW_SAME(plan_text(pooled<false, 1>), "Body 0 : 1 steps, 0 bytes\n  16 of 1 x 8 x 16: Conv [Relu <Add>]; MaxPool; Identity\n",
        "windows overlap");
TW_SAME(plan_text(pooled<false, 2, 2>), "Body 0 : 1 steps, 0 bytes\n  16 of 1: Conv; Relu <Add>; MaxPool; Identity\n",
        "a convolution in groups has no epilogue");

constexpr auto independent = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {512}), w = variable(ir, "w", {512}), v = variable(ir, "v", {512});
  ops::scaled_add_(w, x);
  ops::scaled_add_(v, x);
  ops::scaled_add_(w, v);
};
TW_SAME(plan_text(independent, tw::cpu.without_fusion()),
        "Body 0 : 3 steps, 0 bytes\n  8 of 64: ScaledAddLhsInplace\n  8 of 64: ScaledAddLhsInplace\n"
        "  --\n  8 of 64: ScaledAddLhsInplace\n",
        "no barrier is needed between steps that do not touch each other's memory");

}  // namespace
