#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "tilewright/data/loader.hpp"

namespace {

namespace tw = tilewright;
using tw::data::Dataset, tw::data::Loader, tw::data::LoaderState;
using Batches = std::vector<std::vector<int>>;

/// Images of 2 x 3 pixels: pixel p of image i is 10 i + p, and its label is i.
Dataset numbered(std::size_t count) {
  Dataset result(count, 2, 3);
  for (std::size_t i = 0; i < count; ++i) {
    result.labels(i) = static_cast<std::int32_t>(i);
    for (std::size_t pixel = 0; pixel < 6; ++pixel) result.images(i, pixel / 3, pixel % 3) = static_cast<float>(10 * i + pixel);
  }
  return result;
}

/// One epoch's labels, batch by batch; every image is checked to be its label's.
Batches epoch(Loader& loader) {
  Batches result;
  for (const auto& batch : loader) {
    REQUIRE(batch.images.shape(0) == batch.labels.size());
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (std::size_t pixel = 0; pixel < 6; ++pixel)
        REQUIRE(batch.images(i, pixel / 3, pixel % 3) == static_cast<float>(10 * batch.labels(i)) + static_cast<float>(pixel));
    result.emplace_back(batch.labels.begin(), batch.labels.end());
  }
  return result;
}

std::vector<int> flat(const Batches& batches) {
  std::vector<int> result;
  for (const auto& batch : batches) result.insert(result.end(), batch.begin(), batch.end());
  return result;
}

bool is_permutation_of_first(std::vector<int> values, int count) {
  std::ranges::sort(values);
  for (int i = 0; i < static_cast<int>(values.size()); ++i)
    if (values[static_cast<std::size_t>(i)] != i) return false;
  return static_cast<int>(values.size()) == count;
}

static_assert(std::ranges::input_range<Loader>);
static_assert(!std::is_constructible_v<Loader, Dataset, tw::data::LoaderOptions>, "a temporary would dangle");
static_assert(tw::Random(1234567).bits() == 6457827717110365317u, "SplitMix64's published first output for this seed");

constexpr bool draws_stay_below_their_bound() {
  tw::Random random(1);
  for (std::uint64_t bound = 1; bound < 50; ++bound)
    if (tw::data::draw_below(bound, random) >= bound) return false;
  return true;
}
static_assert(draws_stay_below_their_bound());

}  // namespace

TEST_CASE("Loader: without shuffling, batches follow the data set in every epoch") {
  const Dataset dataset = numbered(7);
  Loader loader(dataset, {.batch_size = 3});
  CHECK(loader.size() == 2);
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("Loader: stands in a range-based for as a temporary") {
  const Dataset dataset = numbered(6);
  int count = 0;
  for (const auto& batch : Loader(dataset, {.batch_size = 2, .shuffle = true, .seed = 1}))
    count += static_cast<int>(batch.size());
  CHECK(count == 6);
}

TEST_CASE("Loader: without drop_last, the last batch is smaller") {
  const Dataset dataset = numbered(7), empty = numbered(0);
  Loader loader(dataset, {.batch_size = 3, .drop_last = false}), larger(dataset, {.batch_size = 10, .drop_last = false}),
      even(dataset, {.batch_size = 7, .drop_last = false}), none(empty, {.batch_size = 4, .drop_last = false});
  CHECK(loader.size() == 3);
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(epoch(loader) == Batches{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(epoch(larger) == Batches{{0, 1, 2, 3, 4, 5, 6}});
  CHECK(epoch(even) == Batches{{0, 1, 2, 3, 4, 5, 6}});
  CHECK(epoch(none).empty());
}

TEST_CASE("Loader: an epoch hands out every image once, in a new order each time") {
  const Dataset dataset = numbered(100);
  Loader loader(dataset, {.batch_size = 8, .shuffle = true, .drop_last = false});
  const auto first = epoch(loader), second = epoch(loader);
  CHECK(first.size() == 13);
  CHECK(is_permutation_of_first(flat(first), 100));
  CHECK(is_permutation_of_first(flat(second), 100));
  CHECK(!std::ranges::is_sorted(flat(first)));
  CHECK(first != second);
}

TEST_CASE("Loader: drop_last drops other images each epoch") {
  const Dataset dataset = numbered(7);
  Loader loader(dataset, {.batch_size = 4, .shuffle = true});
  std::vector<int> seen;
  for (int i = 0; i < 20; ++i) {
    const auto batches = epoch(loader);
    REQUIRE(batches.size() == 1);
    seen.insert(seen.end(), batches[0].begin(), batches[0].end());
  }
  for (int label = 0; label < 7; ++label) CHECK(std::ranges::count(seen, label) > 0);
}

TEST_CASE("Loader: the seed decides every epoch") {
  const Dataset dataset = numbered(50);
  Loader loader(dataset, {.batch_size = 5, .shuffle = true, .seed = 7}),
      equal(dataset, {.batch_size = 5, .shuffle = true, .seed = 7}),
      other(dataset, {.batch_size = 5, .shuffle = true, .seed = 8});
  for (int i = 0; i < 3; ++i) {
    const auto batches = epoch(loader);
    CHECK(batches == epoch(equal));
    CHECK(batches != epoch(other));
  }
}

TEST_CASE("Loader: orders are the same on every platform") {
  const Dataset dataset = numbered(10);
  Loader loader(dataset, {.batch_size = 10, .shuffle = true, .seed = 42});
  // computed by an independent program from the definitions of SplitMix64 and of Fisher and Yates's shuffle
  CHECK(flat(epoch(loader)) == std::vector<int>{0, 9, 5, 8, 6, 4, 7, 2, 1, 3});
  CHECK(flat(epoch(loader)) == std::vector<int>{0, 3, 8, 5, 4, 2, 9, 7, 1, 6});
}

TEST_CASE("Loader: batches share their memory") {
  const Dataset dataset = numbered(100'000);  // batches of 240 bytes: many chunks of them
  Loader loader(dataset, {.batch_size = 10, .shuffle = true}), synchronous(dataset, {.batch_size = 10, .prefetch = false});
  std::set<const float*> first, second, single;
  for (const auto& batch : loader) first.insert(batch.images.data());
  for (const auto& batch : loader) second.insert(batch.images.data());
  for (const auto& batch : synchronous) single.insert(batch.images.data());
  CHECK(first.size() < loader.size() / 2);
  CHECK(second == first);
  CHECK(single.size() == 1);
}

TEST_CASE("Loader: batches made by another thread are those made by the caller") {
  const Dataset dataset = numbered(50'003);
  const auto options = [](bool prefetch) {
    return tw::data::LoaderOptions{.batch_size = 8, .shuffle = true, .drop_last = false, .seed = 5, .prefetch = prefetch};
  };
  Loader ahead(dataset, options(true)), synchronous(dataset, options(false));
  CHECK(ahead.size() == 6251);
  for (int i = 0; i < 3; ++i) {
    auto expected = synchronous.begin();
    std::size_t equal = 0;
    for (const auto& batch : ahead) {
      equal += batch.images == (*expected).images && batch.labels == (*expected).labels;
      ++expected;
      if (i == 1 && equal == 4000) break;  // the next epoch's order does not depend on how far this one got
    }
    CHECK(equal == (i == 1 ? 4000 : 6251));
  }
}

TEST_CASE("Loader: a loader that resumes goes on with the batches of the one that was stopped") {
  const Dataset dataset = numbered(50'003);
  for (const bool prefetch : {true, false}) {
    for (const bool shuffle : {true, false}) {
      const tw::data::LoaderOptions options{
          .batch_size = 8, .shuffle = shuffle, .drop_last = false, .seed = 5, .prefetch = prefetch};
      Loader loader(dataset, options);
      CHECK(loader.state() == LoaderState{5, 0, 0, 8, 50'003, shuffle});
      std::vector<LoaderState> states{loader.state()};
      std::vector<std::vector<int>> batches;
      for (int i = 0; i < 3; ++i)
        for (const auto& batch : loader) {
          batches.emplace_back(batch.labels.begin(), batch.labels.end());
          states.push_back(loader.state());  // after this batch
        }
      CHECK(batches.size() == 3 * 6251);
      CHECK(states.back() == LoaderState{5, 2, 6251, 8, 50'003, shuffle});

      // before the first batch, within a chunk that the other thread made, at and around the ends of epochs
      for (const std::size_t taken : {0, 1, 2, 777, 6250, 6251, 6252, 6253, 12'502, 15'000, 18'752, 18'753}) {
        Loader resumed(dataset, {.batch_size = 8, .shuffle = shuffle, .drop_last = false, .seed = 99, .prefetch = prefetch});
        for (const auto& batch : resumed)
          if (batch.labels(0) >= 0) break;  // what it did before does not matter
        resumed.resume(states[taken]);
        CHECK(resumed.state() == states[taken]);
        std::size_t next = taken;
        for (auto epoch = states[taken].epoch; epoch < 3; ++epoch)
          for (const auto& batch : resumed) {
            REQUIRE(std::equal(batch.labels.begin(), batch.labels.end(), batches[next].begin(), batches[next].end()));
            REQUIRE(resumed.state() == states[++next]);
          }
        CHECK(next == batches.size());
      }
    }
  }
}

TEST_CASE("Loader: an epoch that was broken off counts as one") {
  const Dataset dataset = numbered(100);
  const tw::data::LoaderOptions options{.batch_size = 10, .shuffle = true, .seed = 1};
  Loader loader(dataset, options), resumed(dataset, options);
  int count = 0;
  for (const auto& batch : loader)
    if (batch.size() == 10 && ++count == 3) break;
  CHECK(loader.state() == LoaderState{1, 0, 3, 10, 100, true});
  const auto second = epoch(loader);
  auto third = loader.begin();
  ++third;
  CHECK(loader.state() == LoaderState{1, 2, 2, 10, 100, true});
  resumed.resume({1, 1, 0, 10, 100, true});
  CHECK(epoch(resumed) == second);
}

TEST_CASE("Loader: states of other loaders") {
  const Dataset dataset = numbered(10);
  Loader loader(dataset, {.batch_size = 2});
  CHECK_THROWS_WITH(loader.resume({0, 0, 1, 3, 10, false}), "Loader::resume: a batch size of 3: the loader's 2 expected");
  CHECK_THROWS_WITH(loader.resume({0, 0, 1, 2, 9, false}), "Loader::resume: a number of images of 9: the loader's 10 expected");
  CHECK_THROWS_WITH(loader.resume({0, 0, 1, 2, 10, true}), "Loader::resume: shuffle 1: the loader's 0 expected");
  CHECK_THROWS_WITH(loader.resume({0, 0, 6, 2, 10, false}), "Loader::resume: a number of batches of 6: the loader's 5 expected");
  CHECK(epoch(loader) == Batches{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}});
}

TEST_CASE("Loader: may be destroyed after any number of batches") {
  const Dataset dataset = numbered(20'000);
  for (std::size_t taken : {0u, 1u, 1999u, 2000u}) {
    Loader loader(dataset, {.batch_size = 10});
    std::size_t count = 0;
    if (taken > 0)
      for (const auto& batch : loader) {
        REQUIRE(batch.labels(0) == static_cast<int>(10 * count));
        if (++count == taken) break;
      }
    CHECK(count == taken);
  }
}

TEST_CASE("Loader: arguments that give no batches") {
  const Dataset dataset = numbered(5);
  CHECK_THROWS_WITH(Loader(dataset, {.batch_size = 0}), "Loader: a batch size of 0: at least 1 expected");
  CHECK_THROWS_WITH(Loader(dataset, {.batch_size = 6}),
                    "Loader: a batch size of 6 with drop_last: at most the data set's 5 expected");
  Dataset unequal = numbered(5);
  unequal.labels.resize({4});
  CHECK_THROWS_WITH(Loader(unequal, {}), "Loader: 5 images for 4 labels: one label for each image expected");
}

TEST_CASE("shuffle: every order is as likely as any other") {
  tw::Random random(3);
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 60'000; ++i) {
    std::vector<int> items{1, 2, 3};
    tw::data::shuffle(std::span(items), random);
    ++counts[items];
  }
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 10'000) < 400);  // the standard deviation is 91
}
