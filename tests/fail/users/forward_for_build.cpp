// labels: clang
// A module has a function of another name than build.
// expect: Module: Net has a function forward, but no build for 1 arguments of these types: a public constexpr member function
// build expected, in Net
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor forward(tw::Tensor x) { return head(x); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() { tw::Session<step> session; }
