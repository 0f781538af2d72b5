// labels: clang
// A module names another one as its own type.
// expect: Module: Net derives from tw::Module<Block>: tw::Module<Net> expected
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Block : tw::Module<Block> {
  BOOST_HANA_DEFINE_STRUCT(Block, (layers::Linear<16>, inner));
  constexpr tw::Tensor build(tw::Tensor x) { return inner(x); }
};
struct Net : tw::Module<Block> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(x); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() { tw::Session<step> session; }
