// labels: none
// An embedding is given numbers that are no indices.
// expect: Embedding: indices (8, 5) float32: integers expected, in Net/tokens
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Embedding<100, 16>, tokens), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tokens(x)); }
};
constexpr void step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 5}}, {.target_shape = {8, 5}});
}
int main() { tw::Session<step> session; }
