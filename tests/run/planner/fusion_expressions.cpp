// labels: more strict
// Expressions and updates give the same whether the planner joins ops or makes each a step of its own.
#include "fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// Updates with moments in half precision: of rows of full vectors and of shorter ones, after products and sums.
constexpr void half_moments(Ir& ir) {
  const Tensor x = variable(ir, "x", {12, 40}), wide = variable(ir, "wide", {12, 64}), narrow = variable(ir, "narrow", {12, 27});
  const auto update = [&](std::string_view name, Tensor gradient, tw::DType weight_dtype) {
    const auto state = [&](std::string_view of, tw::DType dtype) {
      return variable(ir, tw::text(name, " ", of).view(), gradient.shape(), dtype);
    };
    const Tensor weight = state("weight", weight_dtype), first = state("first", tw::float16),
                 second = state("second", tw::float32);
    const Tensor root = state("root", tw::float32);
    ops::copy_var_update_(second, root * root);
    const Tensor m = ops::accumulate_moving_average_(first, gradient, 0.9);
    const Tensor v = ops::accumulate_moving_average_square_(second, gradient, 0.999);
    ops::scaled_add_(weight, ops::adam_updater(m, v, {.weight = weight, .weight_decay = 0.01, .epsilon = 1e-5}), {.b = -0.001});
    store(tw::text(name, " after").view(), weight);
    store(tw::text(name, " first after").view(), m);
    const Tensor step = ops::adam_updater(m, v, {.epsilon = 1e-5});  // in half precision, in a register when it is fused
    store(tw::text(name, " step").view(), ops::scaled_add(weight, step, {.a = 0.3, .b = -0.7}));
  };
  update("wide", x.T().matmul(wide), tw::float32);
  update("narrow", x.T().matmul(narrow), tw::float32);
  update("transposed", narrow.T().matmul(x), tw::float16);
  update("row", ops::sum(narrow, 0), tw::float32);
  update("column", ops::sum(narrow, 1), tw::float16);
}
/// Chains of ops in half precision, contiguous, broadcast and strided.
constexpr void half_expressions(Ir& ir) {
  const Tensor x = variable(ir, "x", {40, 27}, tw::float16), y = variable(ir, "y", {40, 27}),
               row = variable(ir, "row", {27}, tw::float16);
  const Tensor column = variable(ir, "column", {40, 1}, tw::float16), third = variable(ir, "third", {}, tw::float16);
  const Tensor z = (y * 0.3).cast(tw::float16);
  store("1", (x * z + row) * column - third * z);
  store("2", ops::scaled_add(y, ops::exp(x) * third, {.a = 0.1, .b = 0.7}));
  store("3", (ops::tanh(x.T()) + z.T() * x.T()).cast(tw::float32) * y.T());
  store("4", ops::gelu(x * third).cast(tw::float32) + y);
  store("5", ops::softmax(x) * z);
}

/// Ops in half precision after products and sums, in rows of full vectors and of shorter ones, and along columns.
template <tw::DType dtype>
constexpr void half_products(Ir& ir) {
  const auto half = [&](std::string_view name, tw::Shape shape) { return variable(ir, name, shape, dtype); };
  const Tensor x = half("x", {12, 40}), wide = half("wide", {40, 64}), narrow = half("narrow", {40, 27}),
               few = half("few", {40, 3});
  const Tensor row = half("row", {64}), column = half("column", {12, 1}), weight = half("weight", {40, 27});
  store("1", ops::gelu(x.matmul(wide) + row));
  const Tensor product = x.matmul(narrow);
  store("2", ops::tanh(product) * column + product);
  store("3", (x.matmul(few) * 0.3 + column).cast(tw::float32) * 1.7);
  const Tensor third = ops::matmul(x, wide, {.output_type = tw::float32}) * 0.3;
  store("4", third.cast(dtype) + row);
  ops::scaled_add_(weight, x.T().matmul(product), {.b = -0.3});
  store("5", weight);
  store("6", ops::relu(ops::sum(wide, 0) * 0.3 + row));
  store("7", ops::exp(ops::mean(narrow, 1) * 0.3));
  store("8", ops::sum(x.matmul(wide) * x.matmul(wide), 0) * row);
}

/// Values that are read twice, broadcast, transposed and overwritten, and branches.
constexpr void expressions(Ir& ir) {
  const Tensor x = variable(ir, "x", {40, 24}), y = variable(ir, "y", {40, 24}), row = variable(ir, "row", {24});
  const Tensor column = variable(ir, "column", {40, 1}), square = variable(ir, "square", {24, 24});
  const Tensor sum = x + y, product = x * row;
  store("1", ops::exp(sum) * sum - product / (column * column + 2));
  store("2", ops::tanh(x.matmul(square) + row) * column + sum);
  store("3", ops::sum(x * y, 1) - ops::sum(ops::exp(x), 1));
  store("4", ops::softmax(x.T().matmul(y) * 0.25 + square) + square.T());
  const Tensor before = square.T() * 2;
  ops::scaled_add_(square, y.T().matmul(x), {.b = 0.5});
  store("5", before + square);
  ops::scaled_add_(square, square.T(), {.b = 0.5});
  store("6", ops::sum(square, 0) * row);
  ops::scaled_add_(y, x.matmul(square), {.a = 0.5, .b = 0.25});
  store("7", y + x.matmul(square));
}

}  // namespace

TEST_CASE("joined expressions give what single ones give") {
  check_fusion<expressions, tw::cpu>(1e-5);
  check_fusion<expressions, tw::ipu_model.with_tiles(30)>(1e-5);
}
TEST_CASE("half precision gives the same bits in vectors and alone, joined or not") {
  check_bits<half_moments, tw::cpu>();
  check_bits<half_moments, tw::ipu_model.with_tiles(30)>();
  check_bits<half_expressions, tw::cpu>();
  check_bits<half_products<tw::float16>, tw::cpu>();
  check_bits<half_products<tw::bfloat16>, tw::cpu>();
  check_bits<half_products<tw::float16>, tw::ipu_model.with_tiles(30)>();
}
