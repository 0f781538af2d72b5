// labels: strict ubsan
// A pooling in the epilogue of a convolution gives what it gives as a step of its own.
#include "fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// Convolutions of several forms, each with a pooling.
struct Pooled : tw::Module<Pooled> {
  constexpr Tensor convolved(Tensor x, std::string_view name, std::int64_t channels, std::int64_t size,
                             const tw::ConvOptions& options) {
    const Tensor w = add_variable_input(name, tw::zeros(), {channels, x.shape(1) / options.groups, size, size});
    const Tensor b = add_variable_input(tw::text("bias_", name).view(), tw::zeros(), {channels, 1, 1});
    return ops::conv(x, w * 0.25, options) + b;
  }
  constexpr Tensor build(Tensor x) {
    // sums of 9 terms: vectors go along rows; the last row and column are in no window
    x = ops::max_pool(ops::relu(convolved(x, "few_terms", 20, 3, {.padding = {1, 1, 1, 1}})), {2, 2}, {.stride = {2, 2}});
    // Winograd's form, whose tiles are cut by the end of rows; the mean is of the convolution's own values
    const Tensor mean = ops::average_pool(convolved(x, "mean", 8, 3, {.padding = {1, 1, 1, 1}}), {3, 2}, {.stride = {3, 2}});
    // windows that leave gaps
    x = ops::max_pool(ops::tanh(convolved(x, "gaps", 24, 3, {})), {2, 3}, {.stride = {3, 4}});
    // in groups: no epilogue
    const Tensor groups = ops::max_pool(ops::relu(convolved(x, "groups", 16, 1, {.groups = 2})), {2, 2}, {.stride = {2, 2}});
    // a kernel with a stride; the pooling is over all of a plane, and the plane is also read by a product with the mean
    x = ops::relu(convolved(x, "stride", 18, 2, {.stride = {2, 1}}));
    x = x * ops::average_pool(x, {x.shape(2), x.shape(3)});
    const auto rows = [](Tensor t) { return t.reshape({t.shape(0), -1}); };
    return ops::concat({rows(x), rows(groups), rows(mean)}, 1);
  }
};
constexpr void training(Ir& ir) { train<Pooled>(variable(ir, "x", {12, 1, 29, 31}), descend); }

/// A layer whose result only the pooling reads, and one whose result is also stored.
constexpr void inference(Ir& ir) {
  const auto layer = [&](Tensor t, std::string_view name, std::int64_t channels, std::int64_t size) {
    const Tensor w = variable(ir, name, {channels, t.shape(1), size, size});
    return ops::relu(ops::conv(t, w) + variable(ir, tw::text("bias_", name).view(), {channels, 1, 1}));
  };
  const Tensor x = variable(ir, "x", {8, 3, 25, 26});
  const Tensor first = ops::max_pool(layer(x, "first", 40, 4), {2, 2}, {.stride = {2, 2}});
  const Tensor second = layer(first, "second", 32, 3);
  store("second", second);
  store("mean", ops::average_pool(second, {2, 2}, {.stride = {2, 2}}));
  store("largest", ops::max_pool(second, {3, 3}, {.stride = {3, 3}}));
}

}  // namespace

TEST_CASE("poolings in epilogues of convolutions: values and gradients") { check_fusion<training, tw::cpu>(1e-5); }
TEST_CASE("poolings in epilogues of convolutions: the same bits") { check_bits<inference, tw::cpu>(); }
