#include "tilewright/data/loader.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include "catch.hpp"

namespace {

namespace tw = tilewright;

/// Images of 2 x 3 pixels: pixel p of image i is 10 i + p, and its label is i.
tw::Dataset numbered(std::size_t count) {
  auto result = tw::Dataset{xt::xtensor<float, 3>::from_shape({count, 2, 3}),
                              xt::xtensor<std::int32_t, 1>::from_shape({count})};
  for (std::size_t i = 0; i < count; ++i) {
    result.labels(i) = static_cast<std::int32_t>(i);
    for (std::size_t pixel = 0; pixel < 6; ++pixel)
      result.images(i, pixel / 3, pixel % 3) = static_cast<float>(10 * i + pixel);
  }
  return result;
}

/// One epoch's labels, batch by batch; every image is checked to be its label's.
std::vector<std::vector<int>> epoch(tw::Loader& loader) {
  std::vector<std::vector<int>> result;
  for (const auto& [images, labels] : loader) {
    REQUIRE(images.shape(0) == labels.shape(0));
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t pixel = 0; pixel < 6; ++pixel)
        REQUIRE(images(i, pixel / 3, pixel % 3) == static_cast<float>(10 * labels(i)) + static_cast<float>(pixel));
    result.emplace_back(labels.begin(), labels.end());
  }
  return result;
}

std::vector<int> flat(const std::vector<std::vector<int>>& batches) {
  std::vector<int> result;
  for (const auto& batch : batches) result.insert(result.end(), batch.begin(), batch.end());
  return result;
}

std::vector<int> sorted(std::vector<int> values) {
  std::ranges::sort(values);
  return values;
}

std::vector<int> first_numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

template <class Action>
std::string error_text(Action action) {
  try {
    action();
  } catch (const tw::DataError& error) {
    return error.what();
  }
  return "no DataError";
}

using Batches = std::vector<std::vector<int>>;

static_assert(std::ranges::input_range<tw::Loader>);
static_assert(!std::is_constructible_v<tw::Loader, tw::Dataset, std::size_t>, "a temporary would dangle");

/// SplitMix64's published first output for this seed.
static_assert(tw::Random(1234567).bits() == 6457827717110365317u);

constexpr bool draws_stay_below_their_bound() {
  tw::Random random(1);
  for (std::uint64_t bound = 1; bound < 50; ++bound)
    if (tw::detail::draw_below(bound, random) >= bound) return false;
  return tw::detail::draw_below(std::uint64_t{1} << 63, random) < std::uint64_t{1} << 63;
}
static_assert(draws_stay_below_their_bound());

}  // namespace

TEST_CASE("Loader: without shuffling, batches follow the data set in every epoch") {
  const tw::Dataset dataset = numbered(7);
  tw::Loader loader(dataset, 3, {.shuffle = false});
  CHECK(loader.size() == 2);
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("Loader: without drop_last, the last batch is smaller") {
  const tw::Dataset dataset = numbered(7);
  tw::Loader loader(dataset, 3, {.shuffle = false, .drop_last = false});
  CHECK(loader.size() == 3);
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}, {6}});

  tw::Loader larger(dataset, 10, {.shuffle = false, .drop_last = false});
  CHECK(larger.size() == 1);
  CHECK(epoch(larger) == Batches{{0, 1, 2, 3, 4, 5, 6}});

  tw::Loader even(dataset, 7, {.shuffle = false, .drop_last = false});
  CHECK(even.size() == 1);
  CHECK(epoch(even) == Batches{{0, 1, 2, 3, 4, 5, 6}});

  const tw::Dataset empty = numbered(0);
  tw::Loader none(empty, 4, {.drop_last = false});
  CHECK(none.size() == 0);
  CHECK(epoch(none).empty());
}

TEST_CASE("Loader: an epoch hands out every image once, in a new order each time") {
  const tw::Dataset dataset = numbered(100);
  tw::Loader loader(dataset, 8, {.drop_last = false});
  const auto first = epoch(loader), second = epoch(loader);
  CHECK(loader.size() == 13);
  CHECK(first.back().size() == 4);
  CHECK(sorted(flat(first)) == first_numbers(100));
  CHECK(sorted(flat(second)) == first_numbers(100));
  CHECK(flat(first) != first_numbers(100));
  CHECK(first != second);
}

TEST_CASE("Loader: drop_last drops other images each epoch") {
  const tw::Dataset dataset = numbered(7);
  tw::Loader loader(dataset, 4);
  std::vector<int> seen;
  for (int i = 0; i < 20; ++i) {
    const auto batches = epoch(loader);
    REQUIRE(batches.size() == 1);
    seen.insert(seen.end(), batches[0].begin(), batches[0].end());
  }
  for (int label = 0; label < 7; ++label) CHECK(std::ranges::count(seen, label) > 0);
}

TEST_CASE("Loader: the seed decides every epoch") {
  const tw::Dataset dataset = numbered(50);
  tw::Loader loader(dataset, 5, {.seed = 7}), equal(dataset, 5, {.seed = 7}), other(dataset, 5, {.seed = 8});
  for (int i = 0; i < 3; ++i) {
    const auto batches = epoch(loader);
    CHECK(batches == epoch(equal));
    CHECK(batches != epoch(other));
  }
}

TEST_CASE("Loader: orders are the same on every platform") {
  const tw::Dataset dataset = numbered(10);
  tw::Loader loader(dataset, 10);
  // Computed by an independent program from the definitions of SplitMix64 and of Fisher and Yates's shuffle.
  CHECK(flat(epoch(loader)) == std::vector<int>{0, 9, 5, 8, 6, 4, 7, 2, 1, 3});
  CHECK(flat(epoch(loader)) == std::vector<int>{0, 3, 8, 5, 4, 2, 9, 7, 1, 6});
}

TEST_CASE("Loader: batches of a size share their memory") {
  const tw::Dataset dataset = numbered(11);
  tw::Loader loader(dataset, 4, {.drop_last = false});
  std::vector<const float*> addresses;
  for (int i = 0; i < 2; ++i)
    for (const auto& [images, labels] : loader) addresses.push_back(images.data());
  REQUIRE(addresses.size() == 6);
  CHECK(addresses[1] == addresses[0]);
  CHECK(addresses[3] == addresses[0]);
  CHECK(addresses[4] == addresses[0]);
  CHECK(addresses[5] == addresses[2]);
}

TEST_CASE("Loader: arguments that give no batches") {
  const tw::Dataset dataset = numbered(5);
  CHECK(error_text([&] { tw::Loader(dataset, 0); }) == "Loader: batch size 0: expected at least 1");
  CHECK(error_text([&] { tw::Loader(dataset, 6); }) ==
        "Loader: batch size 6 with drop_last: expected at most the data set's 5 images");
  tw::Dataset unequal = numbered(5);
  unequal.labels.resize({4});
  CHECK(error_text([&] { tw::Loader(unequal, 1); }) ==
        "Loader: 5 images and 4 labels: expected one label for each image");
}

TEST_CASE("shuffle: every order is as likely as any other") {
  tw::Random random(3);
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 60'000; ++i) {
    std::vector<int> items{1, 2, 3};
    tw::detail::shuffle(std::span(items), random);
    ++counts[items];
  }
  CHECK(counts.size() == 6);
  // Each count has standard deviation 91.
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 10'000) < 400);
}
