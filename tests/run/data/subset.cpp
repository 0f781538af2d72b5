// labels: alone standard-library windows
// Parts of data sets, and data sets of one's own arrays.
#include "tilewright/data/subset.hpp"

#include <algorithm>
#include <boost/hana/adapt_struct.hpp>
#include <limits>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/data/loader.hpp"

namespace {
struct Weather {
  xt::xtensor<float, 2> wind{};        // (days, 2)
  xt::xtensor<std::uint8_t, 1> rain{};  // (days,)
};
}  // namespace
BOOST_HANA_ADAPT_STRUCT(Weather, wind, rain);

namespace {

namespace tw = tilewright;
using tw::data::DataError, tw::data::Dataset, tw::data::random_split, tw::data::subset;
using Numbers = std::vector<int>;

/// Images of 2 x 3 pixels: pixel p of image i is 10 i + p, and its label is i.
Dataset numbered(std::size_t count) {
  auto images = xt::xtensor<float, 3>::from_shape({count, 2, 3});
  auto labels = xt::xtensor<std::int32_t, 1>::from_shape({count});
  for (std::size_t i = 0; i < count; ++i) {
    labels(i) = static_cast<std::int32_t>(i);
    for (std::size_t pixel = 0; pixel < 6; ++pixel) images(i, pixel / 3, pixel % 3) = static_cast<float>(10 * i + pixel);
  }
  return Dataset(std::move(images), std::move(labels));
}
/// The labels; every image is checked to be its label's.
Numbers samples(const Dataset& dataset) {
  REQUIRE(dataset.images.shape() == std::array<std::size_t, 3>{dataset.size(), 2, 3});
  for (std::size_t i = 0; i < dataset.size(); ++i)
    for (std::size_t pixel = 0; pixel < 6; ++pixel)
      REQUIRE(dataset.images(i, pixel / 3, pixel % 3) == static_cast<float>(10 * dataset.labels(i)) + static_cast<float>(pixel));
  return {dataset.labels.begin(), dataset.labels.end()};
}
template <std::size_t parts>
std::vector<std::size_t> sizes(const std::array<Dataset, parts>& split) {
  std::vector<std::size_t> result;
  for (const Dataset& part : split) result.push_back(part.size());
  return result;
}

TEST_CASE("a data set of one's own arrays is handed out as others are") {
  const Dataset dataset = numbered(5);
  CHECK(samples(dataset) == Numbers{0, 1, 2, 3, 4});
  Numbers seen;
  for (const Dataset& batch : tw::data::Loader(dataset, {.batch_size = 2, .drop_last = false}))
    for (const int label : samples(batch)) seen.push_back(label);
  CHECK(seen == Numbers{0, 1, 2, 3, 4});
  CHECK_THROWS_WITH(Dataset(xt::xtensor<float, 3>::from_shape({3, 2, 2}), xt::xtensor<std::int32_t, 1>::from_shape({2})),
                    "LabelledImages: 3 images for 2 labels: one label for each image expected");
}

TEST_CASE("subset: samples by their numbers, in their order, or by a range") {
  const Dataset dataset = numbered(6);
  CHECK(samples(subset(dataset, {4, 0, 4})) == Numbers{4, 0, 4});
  const std::vector<std::size_t> indices{5, 2};
  CHECK(samples(subset(dataset, indices)) == Numbers{5, 2});
  CHECK(samples(subset(dataset, 2, 5)) == Numbers{2, 3, 4});
  CHECK(samples(subset(dataset, 6, 6)).empty());
  CHECK(samples(subset(dataset, {})).empty());
  CHECK(samples(subset(numbered(0), 0, 0)).empty());
  CHECK_THROWS_WITH(subset(dataset, {1, 6}), "subset: sample 6 of 6: a number below 6 expected");
  CHECK_THROWS_WITH(subset(dataset, 5, 7), "subset: samples 5 to before 7 of 6: a range within 0 to 6 expected");
  CHECK_THROWS_AS(subset(dataset, 3, 2), DataError);
}

TEST_CASE("subset: of any arrays, which have as many samples") {
  const Weather weather{xt::xtensor<float, 2>{{1, 2}, {3, 4}, {5, 6}}, xt::xtensor<std::uint8_t, 1>{7, 8, 9}};
  const Weather days = subset(weather, {2, 0});
  CHECK(days.wind == xt::xtensor<float, 2>{{5, 6}, {1, 2}});
  CHECK(days.rain == xt::xtensor<std::uint8_t, 1>{9, 7});
  const Weather unequal{xt::xtensor<float, 2>{{1, 2}}, xt::xtensor<std::uint8_t, 1>{7, 8}};
  CHECK_THROWS_WITH(subset(unequal, {0}), "subset: 1 wind and 2 rain: arrays with equal numbers of samples expected");
  CHECK_THROWS_WITH(random_split(unequal, {1.0}),
                    "random_split: 1 wind and 2 rain: arrays with equal numbers of samples expected");
}

TEST_CASE("random_split: each sample is in one part, and the seed decides in which") {
  const Dataset dataset = numbered(100);
  const auto [training, validation] = random_split(dataset, {0.9, 0.1}, 1);
  CHECK(training.size() == 90);
  CHECK(validation.size() == 10);
  Numbers all = samples(training);
  const Numbers drawn = samples(validation);
  CHECK(!std::ranges::is_sorted(all));
  all.insert(all.end(), drawn.begin(), drawn.end());
  std::ranges::sort(all);
  CHECK(all == samples(dataset));
  CHECK(samples(random_split(dataset, {0.9, 0.1}, 1)[1]) == drawn);
  CHECK(samples(random_split(dataset, {0.9, 0.1}, 2)[1]) != drawn);
}

TEST_CASE("random_split: sizes of parts, as torch.utils.data.random_split has them") {
  const auto by_shares = [](std::size_t count, const auto&... share) { return sizes(random_split(numbered(count), {share...})); };
  CHECK(by_shares(10, 0.3, 0.3, 0.4) == std::vector<std::size_t>{3, 3, 4});
  CHECK(by_shares(11, 0.5, 0.5) == std::vector<std::size_t>{6, 5});
  CHECK(by_shares(11, 0.25, 0.25, 0.25, 0.25) == std::vector<std::size_t>{3, 3, 3, 2});
  CHECK(by_shares(3, 1.0, 0.0) == std::vector<std::size_t>{3, 0});
  CHECK(by_shares(0, 0.5, 0.5) == std::vector<std::size_t>{0, 0});
  CHECK(sizes(random_split(numbered(10), {7, 2, 1})) == std::vector<std::size_t>{7, 2, 1});
}

TEST_CASE("random_split: parts that are not all") {
  const Dataset dataset = numbered(10);
  CHECK_THROWS_WITH(random_split(dataset, {7, 2}),
                    "random_split: parts 7, 2 of 10 samples: numbers of samples whose sum is theirs expected");
  CHECK_THROWS_AS(random_split(dataset, {11, -1}), DataError);
  CHECK_THROWS_AS(random_split(dataset, {0.5, 0.4}), DataError);
  CHECK_THROWS_AS(random_split(dataset, {1.5, -0.5}), DataError);
  CHECK_THROWS_AS(random_split(dataset, {std::numeric_limits<double>::quiet_NaN(), 1.0}), DataError);
}

}  // namespace
