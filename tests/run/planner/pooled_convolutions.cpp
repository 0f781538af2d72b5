// labels: strict ubsan
// A pooling in the epilogue of a convolution gives what it gives as a step of its own.
#include "fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// A convolution of which vectors go along rows, and one in Winograd's form.
struct Pooled : tw::Module<Pooled> {
  constexpr Tensor convolved(Tensor x, std::string_view name, std::int64_t channels) {
    const Tensor w = add_variable_input(name, tw::zeros(), {channels, x.shape(1), 3, 3});
    const Tensor b = add_variable_input(tw::text("bias_", name).view(), tw::zeros(), {channels, 1, 1});
    return ops::conv(x, w * 0.25, {.padding = {1, 1, 1, 1}}) + b;
  }
  constexpr Tensor build(Tensor x) {
    x = ops::max_pool(ops::relu(convolved(x, "first", 20)), {2, 2}, {.stride = {2, 2}});  // no window has the last row and column
    return ops::average_pool(convolved(x, "second", 18), {3, 2}, {.stride = {3, 2}}).reshape({x.shape(0), -1});
  }
};
constexpr void training(Ir& ir) { train<Pooled>(variable(ir, "x", {12, 1, 29, 31}), descend); }

constexpr void inference(Ir& ir) {
  const auto layer = [&](Tensor t, std::string_view name, std::int64_t channels, std::int64_t size, std::int64_t groups = 1) {
    const Tensor w = variable(ir, name, {channels, t.shape(1) / groups, size, size});
    const Tensor b = variable(ir, tw::text("bias_", name).view(), {channels, 1, 1});
    return ops::relu(ops::conv(t, w, {.groups = groups}) + b);
  };
  // only the pooling reads the first result; windows leave gaps
  Tensor x = ops::max_pool(layer(variable(ir, "x", {16, 3, 25, 26}), "first", 40, 2), {2, 3}, {.stride = {3, 4}});
  store("in_groups", ops::max_pool(layer(x, "second", 16, 1, 2), {2, 2}, {.stride = {2, 2}}));  // without an epilogue
  // all others read the third, too
  x = layer(x, "third", 32, 3);
  const Tensor mean = ops::average_pool(x, {2, 2}, {.stride = {2, 2}}), largest = ops::max_pool(x, {x.shape(2), x.shape(3)});
  const Tensor product = x * largest;
  store("third", x);
  store("mean", mean);
  store("product", product);
}

}  // namespace

TEST_CASE("poolings in epilogues of convolutions: values and gradients") { check_fusion<training, tw::cpu>(1e-5); }
TEST_CASE("poolings in epilogues of convolutions: the same bits") { check_bits<inference, tw::cpu>(); }
