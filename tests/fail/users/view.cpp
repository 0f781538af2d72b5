// labels: clang
// A tensor is given another shape as in PyTorch.
// expect: Tensor: no view(-1, 784): x.reshape({-1, 784}) expected, in Net
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(x.view(-1, 784)); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 28, 28}}); }
int main() { tw::Session<step> session; }
