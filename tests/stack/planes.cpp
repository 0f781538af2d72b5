// labels: more
// Kernels of images, each alone: wide planes, and one with NaN.
#include <limits>

#include "alone.hpp"

using op_cases::f16, op_cases::f32, op_cases::i32, tw::Tensor;
namespace ops = tw::ops;

constexpr auto wide = f32({1, 4, 16, 4096});
template <std::int64_t kernel>
constexpr auto largest = [](Tensor x) { return ops::max_pool(x, {kernel, kernel}, {.stride = {2, 2}}); };
constexpr auto mean = [](Tensor x) { return ops::average_pool(x, {3, 3}, {.stride = {2, 2}}); };
constexpr auto resized = [](Tensor x) { return ops::interpolate(x, {1, 1, 1, 2}, {.mode = tw::ResizeMode::linear}); };
template <std::int64_t bins>
constexpr auto regions = [](Tensor x, Tensor rois, Tensor index) {
  return ops::roi_align(x, rois, index, {.output_size = {bins, bins}, .sampling_ratio = 1});
};
constexpr void not_a_number(tw::Ir& ir) {
  const Tensor x = ir.variable(tw::full(std::numeric_limits<double>::quiet_NaN()), wide.shape, wide.dtype, "x");
  const Tensor y = largest<3>(x);
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
}
/// A pooling in the epilogue of a convolution, with rows of 598 elements.
constexpr void pooled(tw::Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {2, 4, 16, 600}, tw::float32, "x");
  const Tensor y = ops::average_pool(ops::conv(x, ir.variable(tw::ones(), {16, 4, 3, 3}, tw::float32, "w")), {3, 3},
                                     {.stride = {3, 3}});
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
}

int main() {
  int wrong = 0;
  wrong += check_memory<alone<largest<2>, wide>>("pairs");
  wrong += check_memory<alone<largest<3>, wide>>("threes");
  wrong += check_memory<not_a_number>("NaN");
  wrong += check_memory<pooled>("pooled");
  wrong += check_memory<with_gradients<mean, wide>>("mean");
  wrong += check_memory<with_gradients<resized, f32({1, 2, 4, 2000})>>("resized");
  wrong += check_memory<with_gradients<regions<2>, f16({2, 8, 128, 200}), f16({3, 4}), i32({3})>>("regions");
  wrong += check_memory<alone<regions<64>, f32({2, 8, 128, 200}), f32({3, 4}), i32({3})>>("many bins");
  return wrong;
}
