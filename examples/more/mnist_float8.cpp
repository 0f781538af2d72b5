// Trains a small convolutional network in float32, and reads the test digits with it in float32 and in both formats of float8.
//
// labels: more
// test: --limit-batches 400 --threads 1
// expect: These are generated digits
// expect-regex: ^Accuracy in float32: *[5-9][0-9]\.[0-9]{2}%$
// expect-regex: ^Accuracy in float8_143: *[5-9][0-9]\.[0-9]{2}%$
// expect-regex: ^Accuracy in float8_152: *[5-9][0-9]\.[0-9]{2}%$
// test: --data $TILEWRIGHT_MNIST --limit-batches 3000
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy in float32: *9[0-9]\.[0-9]{2}%$
// expect-regex: ^Accuracy in float8_143: *9[0-9]\.[0-9]{2}%$
// expect-regex: ^Accuracy in float8_152: *9[0-9]\.[0-9]{2}%$
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>

#include "../tutorial/float8_net.hpp"
#include "../tutorial/options.hpp"
#include "../tutorial/steps.hpp"

namespace train = tw::train;
using namespace tw::literals;

/// Writes a trained weight in float8, times the largest power of 2 with which it fits, and its bias in float16.
template <tw::DType format, class Session>
void quantise(Session& session, auto weight_name, const auto& weight, auto scale_name, auto bias_name, const auto& bias) {
  const double largest_number = format == tw::float8_143 ? 240 : 57344;
  float largest = 0;
  for (const float element : weight) largest = std::max(largest, std::abs(element));
  const int scale = std::clamp(static_cast<int>(std::floor(std::log2(largest_number / largest))), -32, 31);
  session.write_variable_data(weight_name, tw::host_pow2scale_then_cast<format>(weight, scale));
  session.write_variable_data(scale_name, std::int32_t{-scale});
  std::vector<tw::float16_t> halves;
  for (const float element : bias) halves.push_back(static_cast<tw::float16_t>(element));
  session.write_variable_data(bias_name, xt::adapt(halves, bias.shape()));
}

void print_accuracy(tw::DType dtype, double accuracy) {
  std::printf("Accuracy in %-11s %.2f%%\n", (std::string(tw::to_text(dtype)) + ":").c_str(), 100 * accuracy);
}

template <tw::DType format>
void test_in_float8(auto& trained, const Options& options, const tw::data::Digits& digits) {
  tw::Session<float8_test_step<format, 80>> session({.threads = options.threads});
  const auto layer = [&](auto weight, auto scale, auto bias) {
    quantise<format>(session, weight, trained.get_tensor_data(weight), scale, bias, trained.get_tensor_data(bias));
  };
  layer("conv1.weight"_s, "conv1.log2_scale"_s, "conv1.bias"_s);
  layer("conv2.weight"_s, "conv2.log2_scale"_s, "conv2.bias"_s);
  layer("linear.weight"_s, "linear.log2_scale"_s, "linear.bias"_s);
  print_accuracy(format, train::accuracy(session, digits.test));
}

int main(int argc, char** argv) {
  return run_mnist_program(
      argc, argv, "Trains a convolutional network on MNIST, and tests it in float8.",
      [](const Options& options, const tw::data::Digits& digits) {
        tw::Session<train_step<ConvNet, 8, 28, 28>> session({.seed = options.seed, .threads = options.threads});
        tw::data::Loader loader(digits.train, {.batch_size = 8, .shuffle = true, .seed = options.seed});
        train::run_epochs(session, loader,
                          {.epochs = static_cast<std::uint64_t>(options.epochs), .limit_batches = options.limit_batches});
        tw::Session<test_step<ConvNet, 80, 28, 28>> test_session({.threads = options.threads});
        test_session.load_from_session(session);
        print_accuracy(tw::float32, train::accuracy(test_session, digits.test));
        test_in_float8<tw::float8_143>(session, options, digits);
        test_in_float8<tw::float8_152>(session, options, digits);
      });
}
