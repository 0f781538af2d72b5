// Trains the network of mnist.cpp with Adam in phases: the weights of its layers and Adam's moments are in streaming memory, and
// those of one layer at a time are on the machine. A plain program, which has all of them there, gives the same losses and
// weights to the last bit.
//
// labels: more strict
// test: --limit-batches 60 --threads 1
// expect-regex: ^losses: [0-9]+ of 60 are the same$
// expect-regex: ^weights and moments: [0-9]+ of 32 are the same; they differ by [0-9.e-]+ of their norm, at most 1e-6 expected$
// expect: on the machine: 11188928 bytes in the plain program, 0 in phases, and 11263168 in streaming memory
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 12 --device ipu_model
// strict: --strict
// expect: losses: 12 of 12 are the same
// expect: weights and moments: 32 of 32 are the same; they differ by 0 of their norm
// test: --data $TILEWRIGHT_MNIST --limit-batches 1500
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <tilewright/train/phased_layers.hpp>
#include <vector>

#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

namespace train = tw::train;

constexpr int batch_size = 8;
constexpr tw::optim::AdamParameters adam{.lr = 1e-3};

/// All layers but the last. A variable of it in the network is `fc1.weight` or `fc1.bias`.
struct Hidden : tw::Module<Hidden> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), 512});
    return tw::ops::gelu(x.matmul(weight) + add_variable_input("bias", tw::zeros(), {512}));
  }
};
struct HiddenNet : tw::Module<HiddenNet> {
  BOOST_HANA_DEFINE_STRUCT(HiddenNet, (Hidden, fc1), (Hidden, fc2), (Hidden, fc3), (Linear<10>, fc4));
  constexpr tw::Tensor build(tw::Tensor x) { return fc4(fc3(fc2(fc1(x.reshape({-1, 28 * 28}))))); }
};

constexpr void train_plain(tw::Ir& ir) { train::train_step(ir, HiddenNet{}, adam, {{batch_size, 28, 28}}); }

/// There are three kinds of layers. The second and the third layer are of one kind: they share a graph, which a loop calls.
constexpr void train_in_phases(tw::Ir& ir) {
  using train::PhasedLayers;
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {batch_size, 28, 28}));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {batch_size}, tw::int32));
  const auto x = images.reshape({-1, 28 * 28});

  // from the first layer to the last: load the weights, keep the input for the way back, call
  PhasedLayers first(tw::create_graph(Hidden{}, x), {"fc1"}, adam, {.input_gradient = false});
  const auto y1 = first.forward(x);
  PhasedLayers middle(tw::create_graph(Hidden{}, y1), {"fc2", "fc3"}, adam);
  const auto y3 = middle.forward(y1);
  PhasedLayers last(tw::create_graph(Linear<10>{}, y3), {"fc4"}, adam);
  const auto [loss, dy] = tw::ops::cross_entropy_with_grad(last.forward(y3), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);

  // back: load weights and input, compute gradients, load the moments, take Adam's step, store weights and moments
  first.backward(middle.backward(last.backward(dy)));
}

/// Trains a session and returns the losses.
template <class Session>
std::vector<float> train_session(Session& session, const Options& options, const tw::data::Digits& digits) {
  tw::data::Loader loader(digits.train, {.batch_size = batch_size, .shuffle = true, .seed = options.seed});
  std::vector<float> losses;
  train::run_epochs(session, loader,
                    {.epochs = static_cast<std::uint64_t>(options.epochs), .limit_batches = options.limit_batches},
                    [&losses](const train::Progress& progress) { losses.push_back(progress.loss); });
  return losses;
}

struct Comparison {
  std::size_t variables = 0, same = 0;
  double squares = 0, squares_of_differences = 0;
  void add(std::span<const float> expected, std::span<const float> found) {
    ++variables;
    if (std::ranges::equal(expected, found)) ++same;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = double{expected[i]} - double{found[i]};
      squares += double{expected[i]} * double{expected[i]};
      squares_of_differences += difference * difference;
    }
  }
};
std::span<const float> floats(const auto& tensor) {
  return {reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}
/// Compares all variables of two sessions by name.
Comparison compare(const auto& plain, const auto& phased) {
  Comparison result;
  const auto found = phased.host_tensors();
  for (const auto& expected : plain.host_tensors())
    for (const auto& tensor : found)
      if (tensor.name == expected.name) result.add(floats(expected), floats(tensor));
  return result;
}

template <tw::Target device>
void train_both(const Options& options, const tw::data::Digits& digits) {
  const tw::SessionOptions settings{.seed = options.seed, .threads = options.threads, .strict = options.strict};
  tw::Session<train_plain, device> plain(settings);
  tw::Session<train_in_phases, device> phased(settings);
  const auto expected = train_session(plain, options, digits), losses = train_session(phased, options, digits);
  std::size_t same = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) same += losses[i] == expected[i];
  std::printf("losses: %zu of %zu are the same\n", same, losses.size());

  const Comparison compared = compare(plain, phased);
  const double difference = std::sqrt(compared.squares_of_differences / compared.squares);
  std::printf("weights and moments: %zu of %zu are the same; they differ by %g of their norm, at most 1e-6 expected\n",
              compared.same, compared.variables, difference);
  std::printf(
      "the weights and moments on the machine: %lld bytes in the plain program, %lld in phases, and %lld in streaming memory\n",
      static_cast<long long>(plain.plan.memory.variables), static_cast<long long>(phased.plan.memory.variables),
      static_cast<long long>(phased.plan.memory.remote));
  if (!(difference <= 1e-6)) throw std::runtime_error("the programs differ");

  tw::Session<test_step<HiddenNet, 80, 28, 28>, device> test({.threads = options.threads, .strict = options.strict});
  test.load_from_session(phased);
  std::printf("Accuracy on test set: %.2f%%\n", 100 * train::accuracy(test, digits.test));
}

int main(int argc, char** argv) {
  return run_mnist_program(argc, argv, "Trains a network on MNIST with one layer at a time on the machine, and tests it.",
                           [](const Options& options, const tw::data::Digits& digits) {
                             tw::visit_device(options.device, [&](auto device) { train_both<device.value>(options, digits); });
                           });
}
