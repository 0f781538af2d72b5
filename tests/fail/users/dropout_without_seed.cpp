// labels: none
// A model with dropout is trained without a seed.
// expect: Dropout: (8, 128) float32 in training without a seed: dropout(x, seed) expected, in Net/dropout
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<128>, hidden), (layers::Dropout, dropout), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(dropout(hidden(x))); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() { tw::Session<step> session; }
