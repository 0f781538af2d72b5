#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>
using Net = tw::layers::Linear<10>;
struct Batches {
  xt::xtensor<float, 2> images(int) const { return xt::zeros<float>({8, 784}); }
  xt::xtensor<std::int32_t, 1> labels(int) const { return xt::zeros<std::int32_t>({8}); }
};
// the block
