// Lesson 5: an optimiser of your own.
//
// An optimiser is a module, too. Its `build` takes a weight, its gradient, and a struct of parameters, which names the module as
// `Optimiser`. The weight is a TensorByRef: what the graph changes, it changes in the tensor that the call gives. An op whose
// name ends with an underscore works in place. State, such as a moving average, is a variable that the graph takes by reference.
// Each weight gets state of its own. Weights of one shape share a graph if their parameters are equal. Hana's macro lists the
// members of the parameters, so that the library can compare them.
//
// This one moves each weight by a fixed step, against the sign of the moving average of its gradient.
//
// It prints:
//
//     a variable of the optimiser: optimiser.fc1.bias.average
//     a variable of the optimiser: optimiser.fc1.weight.average
//     a variable of the optimiser: optimiser.fc2.bias.average
//     a variable of the optimiser: optimiser.fc2.weight.average
//     loss of the first step: 2.3...
//     mean loss of the last 100 steps: 0.2...
//
// Try: weight decay. `scaled_add_` also takes `.a`, which the weight is multiplied with: let it lose a thousandth of itself in
// each step, by .a = 1 - 1e-3. The mean loss of the last 100 steps is then 0.26 in place of 0.21, since the decay pulls all
// weights towards 0.
//
// labels: none
#include <cstdio>
#include <numeric>
#include <string_view>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/step.hpp>
#include <vector>

namespace tw = tilewright;
using tw::layers::Linear;

struct SignDescent;
struct SignParameters {
  BOOST_HANA_DEFINE_STRUCT(SignParameters, (double, step), (double, decay));
  using Optimiser = SignDescent;
};
struct SignDescent : tw::Module<SignDescent> {
  constexpr void build(tw::TensorByRef weight, tw::Tensor gradient, const SignParameters& parameters) {
    const auto average = add_variable_input("average", tw::zeros(), weight.shape(), weight.dtype(), {.by_ref = true});
    tw::ops::accumulate_moving_average_(average, gradient, parameters.decay);
    tw::ops::scaled_add_(weight, tw::ops::sign(average), {.b = -parameters.step});  // weight - step sign(average)
  }
};

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<128>, fc1), (Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor images) { return fc2(tw::ops::gelu(fc1(images.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, SignParameters{.step = 5e-4, .decay = 0.9}, {{8, 28, 28}});
}

int main() {
  tw::Session<train_step> session({.seed = 1});
  for (const auto& variable : session.host_tensors())
    if (std::string_view(variable.name).starts_with("optimiser."))
      std::printf("a variable of the optimiser: %s\n", std::string(variable.name).c_str());

  const auto digits = tw::data::generated_digits(10'000, /*seed*/ 1);
  tw::data::Loader batches(digits.train, {.batch_size = 8, .shuffle = true, .seed = 1});
  std::vector<float> losses;
  tw::train::run_epochs(session, batches, {.epochs = 1}, [&](const auto& progress) { losses.push_back(progress.loss); });
  std::printf("loss of the first step: %.2f\n", static_cast<double>(losses.front()));
  std::printf("mean loss of the last 100 steps: %.2f\n", std::accumulate(losses.end() - 100, losses.end(), 0.0) / 100);
}
