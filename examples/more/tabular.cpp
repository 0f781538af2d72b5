// A regression on a table with columns of both kinds: categories, each of which has an embedding, and numbers. The table is
// generated: flats, and what their rent is. AdamW trains the network by a learning rate that warms up and then falls along a
// cosine; biases have no weight decay. Predictions are made by a moving average of the weights.
//
// labels: more
// test:
// expect-regex: error on held-out rows: 0\.(09|10|11)
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/data/subset.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <tilewright/train/train.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::minimise;

constexpr int districts = 20, kinds = 5;  // categories: where a flat is, and of which kind it is
constexpr int measures = 3;              // area, age and floor, each scaled to about -1 to 1
constexpr int batch_size = 64;
constexpr int test_batch = 200;

struct Net : tw::Module<Net> {
  using District = tw::layers::Embedding<districts, 8>;
  using Kind = tw::layers::Embedding<kinds, 4>;
  using Linear64 = tw::layers::Linear<64>;
  using Linear1 = tw::layers::Linear<1>;
  BOOST_HANA_DEFINE_STRUCT(Net, (District, district), (Kind, kind), (Linear64, hidden1), (Linear64, hidden2), (Linear1, head));

  constexpr Tensor build(Tensor categories, Tensor numbers) {
    const Tensor district_vector = district(categories[{tw::all, 0}]), kind_vector = kind(categories[{tw::all, 1}]);
    Tensor x = ops::concat({district_vector, kind_vector, numbers}, 1);
    x = ops::relu(hidden2(ops::relu(hidden1(x))));
    return head(x);
  }
};

constexpr Tensor square_error(Net& net, Tensor categories, Tensor numbers, Tensor rent) {
  return ops::mse_loss(net(categories, numbers), rent);
}
constexpr void train(tw::Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  minimise(ir, Net{}, square_error, tw::optim::AdamWParameters{.lr = rate, .weight_decay = 0.05},
           {{"categories", {batch_size, 2}, tw::int32}, {"numbers", {batch_size, measures}}, {"rent", {batch_size, 1}}},
           {.groups = {{"*.bias", {.weight_decay = 0}}}, .average = tw::optim::AverageOptions{.decay = 0.99}});
}

/// The rents that the network expects.
constexpr void predict(tw::Ir& ir) {
  const Tensor categories = ops::host_load(ir.h2d_stream("categories", {test_batch, 2}, tw::int32));
  const Tensor columns = ops::host_load(ir.h2d_stream("numbers", {test_batch, measures}));
  const auto [factories, net] = tw::create_graph(ir, Net{}, categories, columns);
  ops::host_store(ir.d2h_stream("predicted", {test_batch, 1}), net.bind(factories.init()).call(categories, columns));
}

/// A table of flats with the logarithms of their rents, which nobody can foretell better than to within `noise`: what a square
/// metre costs differs by district, and what a lift is worth by kind of house.
constexpr float noise = 0.1F;
auto draw_flats(std::size_t count, std::mt19937 random) {
  std::normal_distribution<float> normal;
  float price_of_district[districts], worth_of_height[kinds];
  for (float& price : price_of_district) price = 0.5F * normal(random);
  for (float& worth : worth_of_height) worth = 0.3F * normal(random);
  std::uniform_int_distribution<std::int32_t> any_district(0, districts - 1), any_kind(0, kinds - 1);
  std::uniform_real_distribution<float> any_number(-1, 1);
  xt::xtensor<std::int32_t, 2> categories({count, 2});
  xt::xtensor<float, 2> numbers({count, measures}), rent({count, 1});
  for (float& number : numbers) number = any_number(random);
  for (std::size_t i = 0; i < count; ++i) {
    const auto district = categories(i, 0) = any_district(random), kind = categories(i, 1) = any_kind(random);
    const float area = numbers(i, 0), age = numbers(i, 1), floor = numbers(i, 2);
    rent(i, 0) = price_of_district[district] * (1 + 0.5F * area) + 0.7F * area - 0.3F * age * age +
                 worth_of_height[kind] * floor + noise * normal(random);
  }
  return tw::data::Arrays("categories"_s = categories, "numbers"_s = numbers, "rent"_s = rent);
}

/// The root of the mean square error of predictions.
double error_of(tw::Session<predict>& prediction, const auto& flats) {
  tw::train::Mean error;
  tw::train::evaluate(prediction, flats, [&](const auto& outputs, const auto& some, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) error.add(std::pow(double{outputs["predicted"_s](i, 0)} - some["rent"_s](i, 0), 2));
  });
  return std::sqrt(error.value());
}

int main() {
  const auto [training, test] = tw::data::random_split(draw_flats(11'000, std::mt19937(1)), {10'000, 1000}, /*seed*/ 1);

  tw::Session<train> session({.seed = 1});
  tw::data::Loader loader(training, {.batch_size = batch_size, .shuffle = true, .seed = 1});
  constexpr int epochs = 20;
  const std::int64_t steps = epochs * static_cast<std::int64_t>(loader.size());
  const tw::optim::WarmUp schedule{.steps = 100, .after = tw::optim::CosineDecay{.peak = 5e-3, .steps = steps - 100}};
  tw::train::Mean loss;
  const auto report = [&](const tw::train::Progress& progress) {
    loss.add(double{progress.loss});
    if (!progress.ends_epoch()) return;
    if (progress.epoch % 5 == 0)
      std::printf("epoch %d: mean square error %.4f\n", static_cast<int>(progress.epoch), loss.value());
    loss.reset();
  };
  tw::train::run_epochs(session, loader, {.epochs = epochs}, report, "rate"_s = schedule);

  tw::Session<predict> prediction;
  prediction.load_from_session(session);
  std::printf("error of the last weights: %.3f\n", error_of(prediction, test));
  prediction.load_from_session(session, "average"_s);
  std::printf("error on held-out rows: %.3f, where the best possible is %.3f\n", error_of(prediction, test), double{noise});
}
