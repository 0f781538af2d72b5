// labels: none
// A wrong model in a whole program: the loop over batches and the accuracy add no errors.
// expect: Reshape: (8, 28, 28) float32 to (-1, 756): a shape of 6272 elements expected, in Net
#include <cstdio>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>

namespace tw = tilewright;
using namespace tw::literals;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<10>, fc));
  constexpr tw::Tensor build(tw::Tensor x) { return fc(x.reshape({-1, 27 * 28})); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 28, 28}}); }

int main() {
  const auto digits = tw::data::generated_digits(600, 1);
  tw::Session<train_step> session;
  tw::data::Loader batches(digits.train, {.batch_size = 8});
  tw::train::run_epochs(session, batches, {.epochs = 1}, tw::train::ProgressBar());
  const auto outputs = session.run("image"_s = digits.test.images, "label"_s = digits.test.labels);
  for (const float loss : outputs["loss"_s]) std::printf("%g\n", static_cast<double>(loss));
  std::printf("%g\n", tw::train::accuracy(session, digits.test));
}
