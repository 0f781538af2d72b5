// labels: none
// A layer is called for inputs of two sizes.
// expect: Module: call 2 of `hidden`, whose variable `weight` is (784, 512) float32: what takes (512, 512) float32 must be
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<512>, hidden), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(hidden(hidden(x))); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() { tw::Session<step> session; }
