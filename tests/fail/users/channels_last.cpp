// labels: none
// A convolution of images whose channels stand last.
// expect: Conv: weight (8, 3, 3, 3) for (8, 32, 32, 3) in 1 group: 32 channels expected; channels are axis 1: if they stand last,
// expect: x.transpose({0, 3, 1, 2}), in Net
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto kernels = add_variable_input("kernels", tw::normal(0, 0.1), {8, 3, 3, 3});
    return head(tw::ops::conv(x, kernels).reshape({8, -1}));
  }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 32, 32, 3}}); }
int main() { tw::Session<step> session; }
