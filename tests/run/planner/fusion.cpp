// labels: strict
// An encoder block, and sums of columns, give the same whether the planner joins ops or makes each a step of its own.
#include "fusion_encoder.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

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

TEST_CASE("joined ops of an encoder block give what single ones give") { check_fusion<encoder, tw::cpu>(1e-5); }
TEST_CASE("joined ops of sums of columns give what single ones give") {
  check_fusion<chosen_sums, tw::cpu>(1e-6);
  check_fusion<chosen_sums, tw::ipu_model>(1e-6);
}
TEST_CASE("joined ops beside a product give what single ones give") {
  check_fusion<copies_beside_a_product, tw::cpu>(1e-5);
  check_fusion<copies_beside_a_product, tw::ipu_model>(1e-5);
}
