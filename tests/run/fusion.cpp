// An encoder block, and sums of columns, give the same whether the planner joins ops or makes each a step of its own.
#include "fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// Layer normalisation, attention with a mask, two layers, and additions around them.
struct Encoder : tw::Module<Encoder> {
  constexpr Tensor build(Tensor x) {
    const auto matrix = [&](std::string_view name, std::int64_t rows, std::int64_t columns) {
      return add_variable_input(name, tw::zeros(), {rows, columns}) * 0.25;
    };
    const auto vector = [&](std::string_view name) { return add_variable_input(name, tw::zeros(), {24}); };
    const auto heads = [&](Tensor t, const tw::Shape& order) { return t.reshape({2, 20, 3, 8}).transpose(order); };
    const Tensor normal = ops::layer_norm(x, vector("scale"), vector("shift"));
    const Tensor q = heads(normal.matmul(matrix("q", 24, 24)), {0, 2, 1, 3});
    const Tensor k = heads(normal.matmul(matrix("k", 24, 24)), {0, 2, 3, 1});
    const Tensor v = heads(normal.matmul(matrix("v", 24, 24)), {0, 2, 1, 3});
    const Tensor p = ops::softmax(q.matmul(k) * 0.5 + add_variable_input("mask", tw::zeros(), {20, 20}));
    x = x + p.matmul(v).transpose({0, 2, 1, 3}).reshape({2, 20, 24}).matmul(matrix("out", 24, 24)) + vector("bias");
    return x + ops::gelu(x.matmul(matrix("widen", 24, 96))).matmul(matrix("narrow", 96, 24));
  }
};
constexpr void encoder(Ir& ir) { train<Encoder>(variable(ir, "x", {2, 20, 24}), descend); }

/// Sums of columns, of which some are no full vector, and what is chosen of them by bools in memory.
constexpr void chosen_sums(Ir& ir) {
  const Tensor sums = ops::sum(variable(ir, "x", {5, 42}), {0});
  store("sums", sums);
  const Tensor bias = variable(ir, "bias", {42}), is_above = variable(ir, "is_above", {42}, tw::boolean);
  ops::copy_var_update_(is_above, ops::greater(bias, variable(ir, "limit", {})));
  store("chosen", ops::where(is_above, sums * 2 + bias, sums));
}

/// A product that sums over what is cut, and sums and copies of the same shape that are cut along their rows.
constexpr void copies_beside_a_product(Ir& ir) {
  const auto rows = [&](std::string_view name) { return ops::expand(variable(ir, name, {132}), {132, 132}); };
  const Tensor x = variable(ir, "x", {132, 2}), y = rows("a").matmul(x) * 0.5, sum = y + x;
  store("product", rows("b").matmul(sum));
  store("sum", sum);
  store("y", y);
}

}  // namespace

TEST_CASE("joined ops of an encoder block give what single ones give") {
  check_fusion<encoder, tw::cpu>(1e-5);
  check_fusion<encoder, tw::ipu_model>(1e-5);
}
TEST_CASE("joined ops of sums of columns give what single ones give") {
  check_fusion<chosen_sums, tw::cpu>(1e-6);
  check_fusion<chosen_sums, tw::ipu_model>(1e-6);
}
TEST_CASE("joined ops beside a product give what single ones give") {
  check_fusion<copies_beside_a_product, tw::cpu>(1e-5);
  check_fusion<copies_beside_a_product, tw::ipu_model>(1e-5);
}
