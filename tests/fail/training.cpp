// Training steps that do not compile.
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<5>, fc1));
  constexpr tw::Tensor build(tw::Tensor x) { return fc1(x); }
};
constexpr tw::optim::SgdParameters sgd{.lr = 0.1};

// CASE no_micro_batches
// expect: train_step: 0 micro-batches of (2, 4) float32: at least 1, with a first axis of images, expected
#ifdef CASE_no_micro_batches
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, sgd, {{2, 4}}, {.micro_batches = 0}); }
#endif

// CASE scalar_image
// expect: shape: axis -1
// expect: in Scalar/net/fc1
#ifdef CASE_scalar_image
struct Scalar : tw::Module<Scalar> {
  BOOST_HANA_DEFINE_STRUCT(Scalar, (Net, net));
  constexpr tw::Tensor build(tw::Tensor x) { return net(x.reshape({})); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Scalar{}, sgd, {{1}}); }
#endif

// CASE no_optimiser
// expect: OptimiserParameters
// expect: UpdateFunction
#ifdef CASE_no_optimiser
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, 0.1, {{2, 4}}); }
#endif

#if !defined(CASE_no_micro_batches) && !defined(CASE_scalar_image) && !defined(CASE_no_optimiser)
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, sgd, {{2, 4}}); }
#endif
tw::Session<train_step> session;
