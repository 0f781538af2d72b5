// labels: clang
// A layer is given all results of a GRU.
// expect: Module: Linear has no build for 1 arguments of these types: a public constexpr member function build expected;
// expect: argument 1 is 2 results, as of a GRU: `const auto [y, last] = gru(x)` and then `head(y)`, for example, expected,
// expect: in Net/head
#include <tilewright/layers/layers.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
namespace layers = tw::layers;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (layers::GRU<16>, gru), (layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(gru(x)); }
};
constexpr void step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 5, 4}}, {.target_shape = {8, 5}});
}
int main() { tw::Session<step> session; }
