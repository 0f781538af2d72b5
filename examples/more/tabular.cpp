// A regression on a table with columns of both kinds: categories, each of which has an embedding, and numbers. The table is
// generated: flats, and what their rent is. AdamW trains the network by a learning rate that warms up and then falls along a
// cosine; biases have no weight decay. Predictions are made by a moving average of the weights.
//
// labels: more
// test:
// expect-regex: error on held-out rows: 0\.(09|10|11)
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::minimise;

constexpr int districts = 20, kinds = 5;  // categories: where a flat is, and of which kind it is
constexpr int measures = 3;              // area, age and floor, each scaled to about -1 to 1
constexpr int batch = 64;
constexpr int held_out = 1000;  // flats to test with

/// The table. Boost.Hana tells the loader the columns.
struct Flats {
  xt::xtensor<std::int32_t, 2> categories;  // (flats, 2): district and kind
  xt::xtensor<float, 2> numbers;            // (flats, 3): area, age and floor
  xt::xtensor<float, 2> rent;               // (flats, 1): its logarithm
};
BOOST_HANA_ADAPT_STRUCT(Flats, categories, numbers, rent);

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
           {{"categories", {batch, 2}, tw::int32}, {"numbers", {batch, measures}}, {"rent", {batch, 1}}},
           {.groups = {{"*.bias", {.weight_decay = 0}}}, .average = tw::optim::AverageOptions{.decay = 0.99}});
}

/// The rents that the network expects.
constexpr void predict(tw::Ir& ir) {
  const Tensor categories = ops::host_load(ir.h2d_stream("categories", {held_out, 2}, tw::int32));
  const Tensor columns = ops::host_load(ir.h2d_stream("numbers", {held_out, measures}));
  const auto [factories, net] = tw::create_graph(ir, Net{}, categories, columns);
  ops::host_store(ir.d2h_stream("rent", {held_out, 1}), net.bind(factories.init()).call(categories, columns));
}

/// A market of flats: what a square metre costs in each district, and how much a lift is worth in each kind of house.
class Market {
 public:
  explicit Market(std::uint32_t seed) : random(seed) {
    for (float& price : price_of_district) price = 0.5F * normal(random);
    for (float& worth : worth_of_height) worth = 0.3F * normal(random);
  }

  /// Flats with the logarithms of their rents, which nobody can foretell better than to within `noise`.
  Flats draw(std::size_t count) {
    std::uniform_int_distribution<std::int32_t> any_district(0, districts - 1), any_kind(0, kinds - 1);
    std::uniform_real_distribution<float> any_number(-1, 1);
    Flats flats{.categories = xt::xtensor<std::int32_t, 2>::from_shape({count, 2}),
                .numbers = xt::xtensor<float, 2>::from_shape({count, measures}),
                .rent = xt::xtensor<float, 2>::from_shape({count, 1})};
    for (std::size_t i = 0; i < count; ++i) {
      const auto district = flats.categories(i, 0) = any_district(random), kind = flats.categories(i, 1) = any_kind(random);
      const float area = flats.numbers(i, 0) = any_number(random), age = flats.numbers(i, 1) = any_number(random);
      const float floor = flats.numbers(i, 2) = any_number(random);
      flats.rent(i, 0) = price_of_district[district] * (1 + 0.5F * area) + 0.7F * area - 0.3F * age * age +
                         worth_of_height[kind] * floor + noise * normal(random);
    }
    return flats;
  }

  static constexpr float noise = 0.1F;

 private:
  std::mt19937 random;
  std::normal_distribution<float> normal;
  float price_of_district[districts], worth_of_height[kinds];
};

/// The root of the mean square error of predictions for held-out flats.
double error_of(tw::Session<predict>& prediction, const Flats& flats) {
  const auto rent = prediction.run("categories"_s = flats.categories, "numbers"_s = flats.numbers)["rent"_s];
  double sum = 0;
  for (std::size_t i = 0; i < held_out; ++i) {
    const double error = static_cast<double>(rent(i, 0)) - static_cast<double>(flats.rent(i, 0));
    sum += error * error;
  }
  return std::sqrt(sum / held_out);
}

int main() {
  Market market(/*seed*/ 1);
  const Flats training = market.draw(10'000), test = market.draw(held_out);

  tw::Session<train> session({.seed = 1});
  tw::data::Loader loader(training, {.batch_size = batch, .shuffle = true, .seed = 1});
  constexpr int epochs = 20;
  const std::int64_t steps = epochs * static_cast<std::int64_t>(loader.size());
  const tw::optim::WarmUp schedule{.steps = 100, .after = tw::optim::CosineDecay{.peak = 5e-3, .steps = steps - 100}};
  std::int64_t step = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss = 0;
    for (const auto& flats : loader) {
      const auto rate = static_cast<float>(schedule(step++));
      loss += static_cast<double>(session.run("rate"_s = rate, "categories"_s = flats.categories, "numbers"_s = flats.numbers,
                                              "rent"_s = flats.rent)["loss"_s]());
    }
    if (epoch % 5 == 0) std::printf("epoch %d: mean square error %.4f\n", epoch, loss / static_cast<double>(loader.size()));
  }

  tw::Session<predict> prediction;
  prediction.load_from_session(session);
  std::printf("error of the last weights: %.3f\n", error_of(prediction, test));
  prediction.load_from_session(session, "average"_s);
  std::printf("error on held-out rows: %.3f, where the best possible is %.3f\n", error_of(prediction, test),
              static_cast<double>(Market::noise));
}
