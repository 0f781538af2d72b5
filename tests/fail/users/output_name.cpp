// labels: clang
// A result is asked for by another name than the program's.
// expect: outputs: no stream `losses` to the host: `loss` expected
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
  const xt::xtensor<float, 2> images = xt::zeros<float>({8, 784});
  const xt::xtensor<std::int32_t, 1> labels = xt::zeros<std::int32_t>({8});
  const auto outputs = session.run("image"_s = images, "label"_s = labels);
  return outputs["losses"_s]() > 1 ? 1 : 0;
}
