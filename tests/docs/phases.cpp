#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/phased_layers.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;

constexpr int batch = 8, features = 16;
struct Layer : tw::Module<Layer> {
  constexpr tw::Tensor build(tw::Tensor x) {
    return ops::gelu(x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {features, features})));
  }
};
using Head = tw::layers::Linear<10>;
