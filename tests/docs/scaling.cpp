#include <tilewright/layers/linear.hpp>
#include <tilewright/scaling/scaling.hpp>
#include <tilewright/train/train.hpp>
namespace scaling = tw::scaling;
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<10>, fc));
  constexpr tw::Tensor build(tw::Tensor x) { return fc(x.reshape({-1, 28 * 28})); }
};
constexpr void train_step(tw::Ir& ir) {
  ir.set_replication_factor(2);
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{64, 28, 28}});
}
// the block
