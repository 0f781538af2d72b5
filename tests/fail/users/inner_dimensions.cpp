// labels: clang
// A weight with another number of rows than the input has columns.
// expect: MatMul: (8, 784) x (783, 10): inner dimensions 784 and 783 differ, in Net
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  constexpr tw::Tensor build(tw::Tensor x) { return x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {783, 10})); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() { tw::Session<step> session; }
