// labels: alone standard-library tsan windows
#include "tilewright/data/loader.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/core/platform/platform.hpp"
#include "tilewright/data/shuffle.hpp"

#if !defined(_WIN32)
#include "../../support/child_process.hpp"
#endif

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
Batches epoch(Loader<>& loader) {
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

static_assert(std::ranges::input_range<Loader<>>);

/// One day each.
struct Weather {
  xt::xtensor<float, 2> wind;
  xt::xtensor<std::int8_t, 3> clouds;
  xt::xtensor<double, 1> rain;
};
struct Unknown {  // to Hana
  xt::xtensor<float, 2> images;
};
struct WithNumber {
  xt::xtensor<float, 2> images;
  int count;
};
struct WithLongDoubles {
  xt::xtensor<long double, 2> images;
};
struct WithoutSamples {
  xt::xtensor<float, 0> image;
};

static_assert(!std::is_constructible_v<Loader<>, Dataset, tw::data::LoaderOptions>, "a temporary would dangle");
static_assert(tw::Random(1234567).bits() == 6457827717110365317u, "SplitMix64's published first output for this seed");

constexpr bool draws_stay_below_their_bound() {
  tw::Random random(1);
  for (std::uint64_t bound = 1; bound < 50; ++bound)
    if (tw::data::draw_below(bound, random) >= bound) return false;
  return true;
}
static_assert(draws_stay_below_their_bound());

}  // namespace

BOOST_HANA_ADAPT_STRUCT(Weather, wind, clouds, rain);
BOOST_HANA_ADAPT_STRUCT(WithNumber, images, count);
BOOST_HANA_ADAPT_STRUCT(WithLongDoubles, images);
BOOST_HANA_ADAPT_STRUCT(WithoutSamples, image);

using tw::data::Samples;
static_assert(Samples<Dataset> && Samples<Weather>);
static_assert(!Samples<Unknown> && !Samples<WithNumber> && !Samples<WithLongDoubles> && !Samples<WithoutSamples>);

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
      CHECK(states.back() == LoaderState{5, 3, 0, 8, 50'003, shuffle});

      // before the first batch, within a chunk that the other thread made, at and around the ends of epochs
      for (const std::size_t taken :
           std::initializer_list<std::size_t>{0, 1, 2, 777, 6250, 6251, 6252, 6253, 12'502, 15'000, 18'752, 18'753}) {
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
  CHECK_THROWS_WITH(loader.resume({0, 0, 1, 2, 9, false}), "Loader::resume: a number of samples of 9: the loader's 10 expected");
  CHECK_THROWS_WITH(loader.resume({0, 0, 1, 2, 10, true}), "Loader::resume: shuffle 1: the loader's 0 expected");
  CHECK_THROWS_WITH(loader.resume({0, 0, 6, 2, 10, false}), "Loader::resume: a number of batches of 6: the loader's 5 expected");
  CHECK(epoch(loader) == Batches{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}});
}

TEST_CASE("Loader: after an epoch's last batch, its state is the start of the next epoch") {
  const Dataset dataset = numbered(7), none = numbered(0);
  for (const bool shuffle : {false, true}) {
    const tw::data::LoaderOptions options{.batch_size = 2, .shuffle = shuffle, .drop_last = false, .seed = 3};
    Loader loader(dataset, options), resumed(dataset, options);
    const LoaderState second_epoch{3, 1, 0, 2, 7, shuffle};
    for (const auto& batch : loader)
      if (batch.size() == 1) CHECK(loader.state() == second_epoch);
    CHECK(loader.state() == second_epoch);
    const auto second = epoch(loader);
    // a state that counts all batches of an epoch is the same place
    for (const LoaderState& state : {second_epoch, LoaderState{3, 0, 4, 2, 7, shuffle}}) {
      resumed.resume(state);
      CHECK(resumed.state() == second_epoch);
      std::uint64_t passes = 0;
      for (auto i = resumed.state().epoch; i < 3; ++i, ++passes) {
        const auto batches = epoch(resumed);
        REQUIRE(batches.size() == 4);
        if (passes == 0) CHECK(batches == second);
      }
      CHECK(passes == 2);
      CHECK(resumed.state() == LoaderState{3, 3, 0, 2, 7, shuffle});
    }
  }
  Loader empty(none, {.batch_size = 4, .drop_last = false});
  CHECK(epoch(empty).empty());
  CHECK(empty.state() == LoaderState{0, 1, 0, 4, 0, false});
  empty.resume(empty.state());
  CHECK(empty.state() == LoaderState{0, 1, 0, 4, 0, false});
}

TEST_CASE("Loader: the largest batch sizes and epochs") {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  const Dataset dataset = numbered(5);
  for (const std::size_t batch_size : {largest, largest - 1, largest - 3, largest / 2}) {
    Loader loader(dataset, {.batch_size = batch_size, .drop_last = false});
    CHECK(loader.size() == 1);
    CHECK(epoch(loader) == Batches{{0, 1, 2, 3, 4}});
    CHECK(epoch(loader) == Batches{{0, 1, 2, 3, 4}});
  }
  for (const bool shuffle : {false, true}) {
    Loader loader(dataset, {.batch_size = 2, .shuffle = shuffle});
    for (const std::uint64_t epoch : {largest, largest - 1, (std::uint64_t{1} << 40) / 5 + 1})
      CHECK_THROWS_WITH(loader.resume({0, epoch, 1, 2, 5, shuffle}),
                        "Loader::resume: an epoch of " + std::to_string(epoch) + ": at most 219902325555 expected");
    CHECK(loader.state() == LoaderState{0, 0, 0, 2, 5, shuffle});
  }
  Loader in_order(dataset, {.batch_size = 2});
  in_order.resume({0, 219'902'325'555, 1, 2, 5, false});
  CHECK(epoch(in_order) == Batches{{2, 3}});
  CHECK(in_order.state() == LoaderState{0, 219'902'325'556, 0, 2, 5, false});
}

TEST_CASE("Loader: samples of any dtype and shape") {
  const auto check = [](auto dataset, auto element_of) {
    for (std::size_t i = 0; i < dataset.images.size(); ++i) dataset.images.data()[i] = element_of(i);
    for (std::size_t i = 0; i < dataset.size(); ++i) dataset.labels(i) = element_of(i);
    const std::size_t size = dataset.image_size();
    for (const bool prefetch : {false, true}) {
      Loader loader(dataset, {.batch_size = 7, .shuffle = true, .drop_last = false, .seed = 1, .prefetch = prefetch});
      CHECK(loader.size() == 2858);
      std::vector<bool> seen(dataset.size());
      std::size_t wrong = 0;
      tw::Random random(1);
      std::vector<std::size_t> order(dataset.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      tw::data::shuffle(std::span(order), random);
      std::size_t next = 0;
      for (const auto& batch : loader) {
        auto shape = dataset.images.shape();
        shape[0] = batch.size();
        REQUIRE(batch.images.shape() == shape);
        for (std::size_t i = 0; i < batch.size(); ++i, ++next) {
          seen[order[next]] = true;
          wrong += !std::equal(batch.images.data() + i * size, batch.images.data() + (i + 1) * size,
                               dataset.images.data() + order[next] * size) ||
                   batch.labels(i) != dataset.labels(order[next]);
        }
      }
      CHECK(wrong == 0);
      CHECK(std::ranges::count(seen, true) == 20'001);
    }
  };
  using tw::data::LabelledImages;
  check(LabelledImages<std::uint8_t, 3>(20'001, 3, 4, 5), [](std::size_t i) { return static_cast<std::uint8_t>(i * 7 % 251); });
  check(LabelledImages<double, 1, double>(20'001, 13), [](std::size_t i) { return 0.5 * static_cast<double>(i); });
  check(LabelledImages<tw::float16_t, 0, std::uint64_t>(20'001), [](std::size_t i) { return static_cast<std::uint8_t>(i % 97); });
  check(LabelledImages<bool, 2, bool>(20'001, 5, 2), [](std::size_t i) { return i % 3 == 0; });
  check(LabelledImages<std::int64_t, 5, float>(20'001, 1, 2, 1, 2, 3),
        [](std::size_t i) { return static_cast<std::int16_t>(i); });
}

TEST_CASE("Loader: a struct of one's own, with arrays of several dtypes and shapes") {
  Weather weather{xt::xtensor<float, 2>::from_shape({9, 2}), xt::xtensor<std::int8_t, 3>::from_shape({9, 2, 2}),
                  xt::xtensor<double, 1>::from_shape({9})};
  for (std::size_t day = 0; day < 9; ++day)
    for (std::size_t i = 0; i < 4; ++i) {
      weather.wind(day, i % 2) = static_cast<float>(day) + 0.25f * static_cast<float>(i % 2);
      weather.clouds(day, i / 2, i % 2) = static_cast<std::int8_t>(10 * day + i);
      weather.rain(day) = static_cast<double>(day) / 3;
    }
  Loader loader(weather, {.batch_size = 4, .drop_last = false});
  std::size_t day = 0;
  for (const auto& batch : loader)
    for (std::size_t i = 0; i < batch.rain.size(); ++i, ++day) {
      CHECK((batch.wind(i, 0) == static_cast<float>(day) && batch.wind(i, 1) == static_cast<float>(day) + 0.25f));
      CHECK((batch.clouds(i, 0, 1) == static_cast<int>(10 * day + 1) && batch.clouds(i, 1, 1) == static_cast<int>(10 * day + 3)));
      CHECK(batch.rain(i) == static_cast<double>(day) / 3);
    }
  CHECK(day == 9);
  weather.clouds.resize({8, 2, 2});
  CHECK_THROWS_WITH(Loader(weather, {}), "Loader: 9 wind and 8 clouds: arrays with equal numbers of samples expected");
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

#if !defined(_WIN32)
TEST_CASE("Loader: in a child that was forked within an epoch, there are batches or an error") {
  if (is_sanitized || !tilewright::internal::counts_forks) return;
  constexpr std::size_t count = 60'000;  // of several chunks: else no thread makes them
  const Dataset dataset = numbered(count);
  Loader loader(dataset, {.batch_size = 8});
  std::size_t images = 0;
  const auto use_up = [&] {
    images = 0;
    for (const auto& batch : loader) images += batch.size();
  };
  for (const auto& batch : loader)
    if (batch.labels(0) == 80) break;
  CHECK(in_child([&](Report& report) {
          try {
            use_up();
            if (images != count) report.add(std::to_string(images) + " images");
          } catch (const std::logic_error& error) {
            if (std::string(error.what()).find("fork") == std::string::npos) report.add(error.what());
          }
        }) == "");
  use_up();
  CHECK(images == count);
}
#endif

TEST_CASE("Loader: arguments that give no batches") {
  const Dataset dataset = numbered(5);
  CHECK_THROWS_WITH(Loader(dataset, {.batch_size = 0}), "Loader: a batch size of 0: at least 1 expected");
  CHECK_THROWS_WITH(Loader(dataset, {.batch_size = 6}),
                    "Loader: a batch size of 6 with drop_last: at most the data set's 5 expected");
  Dataset unequal = numbered(5);
  unequal.labels.resize({4});
  CHECK_THROWS_WITH(Loader(unequal, {}), "Loader: 5 images and 4 labels: arrays with equal numbers of samples expected");
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

TEST_CASE("loader: shards are the parts of each batch, run by run", "[data]") {
  const auto data = numbered(50);
  Loader<> whole(data, {.batch_size = 12, .shuffle = true, .seed = 3});
  for (int pass = 0; pass < 2; ++pass) {
    const Batches batches = epoch(whole);
    REQUIRE(batches.size() == 4);
    for (std::size_t shard = 0; shard < 2; ++shard) {
      Loader<> in_one_run(data, {.batch_size = 12, .shuffle = true, .seed = 3, .shards = 2, .shard = shard});
      Loader<> in_three_runs(data, {.batch_size = 12, .shuffle = true, .seed = 3, .shards = 2, .shard = shard, .runs = 3});
      for (int before = 0; before < pass; ++before) epoch(in_one_run), epoch(in_three_runs);
      const Batches halves = epoch(in_one_run), pairs = epoch(in_three_runs);
      REQUIRE((halves.size() == 4 && pairs.size() == 4));
      CHECK(in_one_run.state() == (pass == 0 ? LoaderState{3, 1, 0, 12, 50, true} : LoaderState{3, 2, 0, 12, 50, true}));
      for (std::size_t b = 0; b < 4; ++b) {
        const auto& all = batches[b];
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(6 * shard);
        CHECK(halves[b] == std::vector<int>(first, first + 6));
        // of three runs of four samples, each shard has two
        CHECK(pairs[b] == (shard == 0 ? std::vector<int>{all[0], all[1], all[4], all[5], all[8], all[9]}
                                      : std::vector<int>{all[2], all[3], all[6], all[7], all[10], all[11]}));
      }
    }
  }
}

TEST_CASE("loader: shards that do not divide the batches are refused", "[data]") {
  const auto data = numbered(50);
  CHECK_THROWS_WITH((Loader<>(data, {.batch_size = 10, .shards = 4, .shard = 1})),
                    "Loader: shard 1 of 4 of batches of 10 in 1 runs: a batch size that shards times runs divides, and a shard "
                    "below shards, expected");
  CHECK_THROWS_AS((Loader<>(data, {.batch_size = 8, .shards = 4, .shard = 4})), tw::data::DataError);
  CHECK_THROWS_AS((Loader<>(data, {.batch_size = 8, .shards = 4, .shard = 0, .runs = 4})), tw::data::DataError);
  CHECK_THROWS_WITH((Loader<>(data, {.batch_size = 8, .drop_last = false, .shards = 2})),
                    "Loader: 2 shards without drop_last: batches of one size expected");
}
