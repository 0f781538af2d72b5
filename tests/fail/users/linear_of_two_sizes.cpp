// labels: clang
// The number of inputs is given to a layer, which finds it.
// expect: Linear<784, 10>: Linear<10> expected: the number of inputs is found from x, (8, 784) float32, in Net/head
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<784, 10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(x.reshape({-1, 784})); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 28, 28}}); }
int main() { tw::Session<step> session; }
