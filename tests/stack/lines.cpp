// labels: more
// Kernels of reductions and of lines, each alone.
#include "alone.hpp"

using op_cases::f16, op_cases::f32, op_cases::f64, tw::Tensor;
namespace ops = tw::ops;

constexpr auto columns = f32({300, 9000}), rows = f32({64, 3000});
constexpr auto layer_norm = [](Tensor x, Tensor weight, Tensor bias) { return ops::layer_norm(x, weight, bias); };

int main() {
  int wrong = 0;
  wrong += check_memory<alone<[](Tensor x) { return ops::max(x, 0); }, columns>>("largest");
  wrong += check_memory<alone<[](Tensor x) { return ops::max(x, 1); }, rows>>("of rows");
  wrong += check_memory<alone<[](Tensor x) { return ops::l2(x, 0); }, f64({300, 9000})>>("wide norms");
  wrong += check_memory<alone<[](Tensor x) { return ops::logsumexp(x, 0); }, columns>>("logsumexp");
  wrong += check_memory<alone<[](Tensor x) { return ops::cumsum(x, 0); }, columns>>("running sums");
  wrong += check_memory<alone<[](Tensor x) { return ops::argmax(x, 0); }, columns>>("index");
  wrong += check_memory<alone<[](Tensor x) { return ops::median(x, 1); }, rows>>("median");
  wrong += check_memory<with_gradients<[](Tensor x) { return ops::max(x, 0); }, f64({20, 9000})>>("first largest");
  wrong += check_memory<with_gradients<[](Tensor x) { return ops::softmax(x); }, f16({64, 4000})>>("softmax");
  wrong += check_memory<with_gradients<layer_norm, f16({4096, 512}), f16({512}), f16({512})>>("layer norm");
  return wrong;
}
