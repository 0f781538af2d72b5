// What sums of float16 do to training: MNIST and a GPT of characters in float16, each with products whose partial sums are
// float32 and float16, for seeds 1, 2 and 3. Both start from the same weights and have the same batches.
//
//     cmake --build build/gcc --target sums_benchmarks; build/gcc/benchmarks/sums_float16_sums MNIST_FOLDER TEXT_FILE
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <tilewright/data/data.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/step.hpp>

#include "../../examples/gpt/nano.hpp"
#include "../../examples/gpt/steps.hpp"
#include "../../examples/tutorial/net.hpp"

namespace {

using namespace tw::literals;

inline constexpr tw::Target float32_sums = tw::cpu, float16_sums = tw::cpu.with_partials_type(tw::float16);
inline constexpr std::uint64_t seeds[] = {1, 2, 3};

// ---- MNIST: the tutorial's network of four linear layers

inline constexpr int mnist_steps = 1500, mnist_batch = 8;

/// The network in float16, between images and logits of float32.
struct HalfNet : tw::Module<HalfNet> {
  BOOST_HANA_DEFINE_STRUCT(HalfNet, (Net, net));
  constexpr tw::Tensor build(tw::Tensor x) { return net(x.cast(tw::float16)).cast(tw::float32); }
};
constexpr void mnist_step(tw::Ir& ir) {
  tw::train::train_step(ir, HalfNet{}, tw::optim::SgdParameters{.lr = 0.05}, {{mnist_batch, 28, 28}},
                        {.variable_dtype = tw::float32, .loss_scaling = tw::optim::LossScaling{}});
}
/// Reads the variables that HalfNet trains, and computes in float32.
struct WholeNet : tw::Module<WholeNet> {
  BOOST_HANA_DEFINE_STRUCT(WholeNet, (Net, net));
  constexpr tw::Tensor build(tw::Tensor x) { return net(x); }
};
constexpr void mnist_test(tw::Ir& ir) { tw::train::test_step(ir, WholeNet{}, {{80, 28, 28}}); }

/// Percent of the test images that are read right, by products with sums of float32, after training.
template <tw::Target target>
double mnist_accuracy(std::uint64_t seed, const tw::data::Digits& digits) {
  tw::Session<mnist_step, target> session({.seed = seed, .threads = 1});
  tw::data::Loader loader(digits.train, {.batch_size = mnist_batch, .shuffle = true, .seed = seed});
  int step = 0;
  for (const auto& batch : loader) {
    if (++step > mnist_steps) break;
    session.run("image"_s = batch.images, "label"_s = batch.labels);
  }
  tw::Session<mnist_test> test({.threads = 1});
  test.load_from_session(session, {.allow_extra = true});
  return 100 * tw::train::accuracy(test, digits.test);
}

// ---- the GPT of examples/gpt.cpp --dtype float16

inline constexpr int gpt_steps = 200, validation_batches = 20;
inline constexpr gpt::Size half_nano = [] {
  gpt::Size size = nano;
  size.dtype = tw::float16;
  return size;
}();

/// The mean loss of validation texts, by products with sums of float32, after training.
template <tw::Target target>
double gpt_loss(std::uint64_t seed, const tw::data::TextCorpus& corpus) {
  tw::Session<gpt::train_step<half_nano, nano_batch>, target> session({.seed = seed, .threads = 1});
  tw::data::TextBatches batches(corpus.training, {.batch_size = nano_batch, .context = std::size_t{nano.context}, .seed = seed});
  for (int step = 0; step < gpt_steps; ++step) {
    const auto& [tokens, targets] = batches.next();
    session.run("tokens"_s = tokens, "targets"_s = targets, "rate"_s = 1e-3F);
  }
  tw::Session<gpt::loss_step<nano, nano_batch>> test({.threads = 1});
  test.load_from_session(session, {.allow_extra = true});
  tw::data::TextBatches texts(corpus.validation, {.batch_size = nano_batch, .context = std::size_t{nano.context}, .seed = 1});
  double sum = 0;
  for (int i = 0; i < validation_batches; ++i) {
    const auto& [tokens, targets] = texts.next();
    sum += static_cast<double>(test.run("tokens"_s = tokens, "targets"_s = targets)["loss"_s]());
  }
  return sum / validation_batches;
}

/// Prints a line of the table, with a mean.
void print(const char* what, const char* sums, auto figure, const char* format) {
  double sum = 0;
  std::printf("| %s | %s |", what, sums);
  for (const std::uint64_t seed : seeds) {
    const double value = figure(seed);
    sum += value;
    std::printf(" ");
    std::printf(format, value);
    std::printf(" |");
    std::fflush(stdout);
  }
  std::printf(" ");
  std::printf(format, sum / static_cast<double>(std::size(seeds)));
  std::printf(" |\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: float16_sums MNIST_FOLDER TEXT_FILE\n"), 2;
  const tw::data::Digits digits = tw::data::load_mnist(argv[1]);
  const tw::data::TextCorpus corpus = tw::data::load_text(argv[2]);
  std::printf("| what | partial sums | seed 1 | seed 2 | seed 3 | mean |\n| --- | --- | ---: | ---: | ---: | ---: |\n");
  constexpr const char *mnist = "MNIST, test accuracy, %", *characters = "GPT of characters, validation loss";
  print(mnist, "float32", [&](std::uint64_t seed) { return mnist_accuracy<float32_sums>(seed, digits); }, "%.2f");
  print(mnist, "float16", [&](std::uint64_t seed) { return mnist_accuracy<float16_sums>(seed, digits); }, "%.2f");
  print(characters, "float32", [&](std::uint64_t seed) { return gpt_loss<float32_sums>(seed, corpus); }, "%.4f");
  print(characters, "float16", [&](std::uint64_t seed) { return gpt_loss<float16_sums>(seed, corpus); }, "%.4f");
}
