// labels: more
// Kernels of products, each alone.
#include "alone.hpp"

using op_cases::f16, op_cases::f32, tw::Tensor;
namespace ops = tw::ops;

constexpr auto product = [](Tensor a, Tensor b) { return a.matmul(b); };
constexpr auto transposed = [](Tensor a, Tensor b) { return ops::tanh(ops::transpose(a.matmul(b), {1, 0})); };
constexpr auto rounded = [](Tensor a, Tensor b) { return ops::matmul(a, b, {.partials_type = tw::float16}); };
constexpr auto biased = [](Tensor a, Tensor b, Tensor bias) { return ops::gelu(a.matmul(b) + bias); };

int main() {
  int wrong = 0;
  wrong += check_memory<alone<product, f32({512, 512}), f32({512, 512})>>("packed");
  wrong += check_memory<with_gradients<transposed, f32({512, 256}), f32({256, 384})>>("transposed");
  wrong += check_memory<alone<product, f16({512, 1024}), f16({1024, 512})>>("half");
  wrong += check_memory<alone<rounded, f16({64, 256}), f16({256, 64})>>("rounded");
  wrong += check_memory<alone<biased, f16({256, 512}), f16({512, 512}), f16({512})>>("biased");
  wrong += check_memory<alone<product, f32({8, 4, 128, 64}), f32({64, 256})>>("many rows");
  wrong += check_memory<alone<product, f32({8, 4, 128, 64}), f32({8, 4, 64, 128})>>("matrices");
  wrong += check_memory<alone<product, f32({1, 4000}), f32({4000, 5000})>>("row");
  return wrong;
}
