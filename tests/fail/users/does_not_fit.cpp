// labels: clang
// A program needs more than a tile's memory.
// expect: memory: tile 0 of 1472 needs
// expect: bytes: at most 638976 expected; variables
// expect: largest tensors: MatMul in Net_subgraph(0)_bwd/hidden (8000, 30000) float32
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<30000>, hidden), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::relu(hidden(x))); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 8000}}); }
static_assert(tw::require_fits<step, tw::gc200>());
int main() {}
