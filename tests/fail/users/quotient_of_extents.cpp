// labels: none
// An extent is divided by a number that does not divide it.
// expect: Reshape: (8, 128) float32 to (8, 3, 42): a shape of 1024 elements expected; a quotient of extents is rounded down, in
// Net
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(x.reshape({8, 3, x.shape(1) / 3})); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 128}}); }
int main() { tw::Session<step> session; }
