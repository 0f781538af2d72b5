// labels: clang
// A layer is given images whose channels stand last.
// expect: Conv: (8, 28, 28, 1) with a kernel of (5, 5): axis 3 has 1 elements, at least 5 with padding expected;
// expect: channels are axis 1: if they stand last, x.transpose({0, 3, 1, 2}), in Net/conv
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Conv2d<8, 5>, conv), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(conv(x).reshape({8, -1})); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 28, 28, 1}}); }
int main() { tw::Session<step> session; }
