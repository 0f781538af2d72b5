// labels: none
// A variable is asked for by a name without its module.
// expect: get_tensor_data: `weight` is no variable or constant: one of head.bias, head.weight expected;
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(x); }
};
constexpr void step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 784}}); }
int main() {
  using namespace tw::literals;
  tw::Session<step> session;
  return session.get_tensor_data("weight"_s)(0, 0) > 1 ? 1 : 0;
}
