// Lesson 2: a graph printed.
//
// Modules are made of modules. A member that BOOST_HANA_DEFINE_STRUCT names can be called in `build`: its ops become part of the
// graph that is being built, and its variables are named after the member, such as fc1.weight. The library has layers:
// tw::layers::Linear is the layer of lesson 1 with PyTorch's initial values.
//
// `print_schedule` shows what `build` has written down: the inputs of the graph with the names of its variables, each op with its
// operands and results, and the outputs. Look at it whenever you are not sure what a model does.
//
// It prints:
//
//     Graph : Net_subgraph(0)
//       (%1, fc1.weight=%2, fc1.bias=%3, fc2.weight=%4, fc2.bias=%5) -> (%11) {
//         Reshape.100 (%1 [(8, 28, 28) float32]) -> (%6 [(8, 784) float32])
//         MatMul.101 (%6 [(8, 784) float32], %2 [(784, 32) float32]) -> (%7 [(8, 32) float32])
//         Add.102 (%7 [(8, 32) float32], %3 [(32,) float32]) -> (%8 [(8, 32) float32])
//         Gelu.103 (%8 [(8, 32) float32]) -> (%9 [(8, 32) float32])
//         MatMul.104 (%9 [(8, 32) float32], %4 [(32, 10) float32]) -> (%10 [(8, 10) float32])
//         Add.105 (%10 [(8, 10) float32], %5 [(10,) float32]) -> (%11 [(8, 10) float32])
//       }
//
// Try: reshape the images to 27 * 28 numbers in place of 28 * 28. The program then aborts with an error that names the op, the
// two shapes and the module. Here, `build` runs when the program runs. From lesson 3 on the compiler runs it, and the same
// mistake is an error of the compiler.
//
// labels: none
#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>  // modules and ops; compiles faster than tilewright.hpp

namespace tw = tilewright;
using tw::layers::Linear;

/// Images of 28 x 28 pixels to a number for each of ten digits.
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<32>, fc1), (Linear<10>, fc2));

  constexpr tw::Tensor build(tw::Tensor images) {
    const tw::Tensor x = images.reshape({-1, 28 * 28});  // -1: as many as there are
    return fc2(tw::ops::gelu(fc1(x)));
  }
};

int main() {
  tw::Ir ir;
  const auto [factories, net] = tw::create_graph(ir, Net{}, tw::TensorSpec{{8, 28, 28}, tw::float32});
  std::cout << net.print_schedule();
}
