// labels: alone standard-library tsan
// Data sets of the user's arrays, and changes of samples in a loader.
#include "tilewright/data/arrays.hpp"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/core/bfloat16.hpp"
#include "tilewright/data/loader.hpp"
#include "tilewright/data/subset.hpp"

namespace {

namespace tw = tilewright;
using namespace tw::literals;
using tw::data::Arrays, tw::data::Loader, tw::data::LoaderOptions;

using Tokens = xt::xtensor<std::int32_t, 2>;
using Images = xt::xtensor<std::uint8_t, 4>;

/// Texts of 3 tokens and images of 2 x 2 x 1 pixels: everything of sample i is i.
Tokens texts(std::size_t count) {
  Tokens result({count, 3});
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = static_cast<std::int32_t>(i / 3);
  return result;
}
Images images(std::size_t count) {
  Images result({count, 2, 2, 1});
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = static_cast<std::uint8_t>(i / 4);
  return result;
}
xt::xtensor<tw::bfloat16_t, 1> targets(std::size_t count) {
  auto result = xt::xtensor<tw::bfloat16_t, 1>::from_shape({count});
  for (std::size_t i = 0; i < count; ++i) result(i) = static_cast<tw::bfloat16_t>(static_cast<float>(i));
  return result;
}
auto named(std::size_t count) { return Arrays("text"_s = texts(count), "image"_s = images(count), "target"_s = targets(count)); }
using Named = decltype(named(1));
static_assert(tw::data::Samples<Named> && std::tuple_size_v<Named> == 3);

/// The numbers of the samples of all batches; all arrays of a sample are checked to belong together.
std::vector<int> samples(Loader<Named>& loader) {
  std::vector<int> result;
  for (const auto& batch : loader) {
    const auto& [text, image, target] = batch;
    REQUIRE(text.shape() == std::array<std::size_t, 2>{batch.size(), 3});
    REQUIRE(image.shape() == std::array<std::size_t, 4>{batch.size(), 2, 2, 1});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const int number = text(i, 2);
      REQUIRE(image(i, 1, 1, 0) == number);
      REQUIRE(static_cast<float>(batch["target"_s](i)) == static_cast<float>(number));
      result.push_back(number);
    }
  }
  return result;
}

TEST_CASE("Arrays: by name, by position, and copied or moved as they are given") {
  Tokens own = texts(4);
  const std::int32_t* elements = own.data();
  const Arrays copied("text"_s = own, "image"_s = images(4));
  CHECK(own.size() == 12);
  CHECK(copied["text"_s] == own);
  Arrays moved(std::move(own), images(4));
  CHECK(moved.get<0>().data() == elements);
  CHECK(moved.size() == 4);
  moved.get<1>()(3, 0, 0, 0) = 9;
  const auto& [text, image] = moved;
  CHECK(text == texts(4));
  CHECK(image(3, 0, 0, 0) == 9);
  const Arrays copy = moved;
  CHECK(copy.get<1>() == image);
}

TEST_CASE("Arrays: unequal numbers of samples") {
  CHECK_THROWS_WITH(Arrays("text"_s = texts(3), "image"_s = images(2)),
                    "Arrays: 3 text and 2 image: arrays with equal numbers of samples expected");
  CHECK_THROWS_WITH(Arrays(texts(3), images(2)),
                    "Arrays: 3 array_0 and 2 array_1: arrays with equal numbers of samples expected");
}

TEST_CASE("Arrays: loaded with shards, prefetched and resumed as other data sets") {
  const auto dataset = named(23);
  const LoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 5};
  Loader loader(dataset, options);
  const std::vector<int> first = samples(loader), second = samples(loader);
  CHECK(first.size() == 20);
  CHECK(first != second);

  Loader without_thread(dataset, {.batch_size = 4, .shuffle = true, .seed = 5, .prefetch = false});
  CHECK(samples(without_thread) == first);

  Loader interrupted(dataset, options);
  for (int batch = 0; [[maybe_unused]] const auto& one : interrupted)
    if (++batch == 2) break;
  Loader resumed(dataset, options);
  resumed.resume(interrupted.state());
  CHECK(samples(resumed) == std::vector<int>(first.begin() + 8, first.end()));
  CHECK(samples(resumed) == second);

  std::vector<int> of_shards[2];
  for (const std::size_t shard : {0U, 1U}) {
    Loader half(dataset, {.batch_size = 4, .shuffle = true, .seed = 5, .shards = 2, .shard = shard});
    of_shards[shard] = samples(half);
  }
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(of_shards[i / 2 % 2][i / 4 * 2 + i % 2] == first[i]);
}

TEST_CASE("Arrays: parts of them") {
  const auto dataset = named(10);
  const auto [training, validation] = tw::data::random_split(dataset, {0.8, 0.2}, 3);
  CHECK(training.size() == 8);
  CHECK(validation.size() == 2);
  const auto some = tw::data::subset(dataset, {7, 1});
  CHECK(some["text"_s] == Tokens{{7, 7, 7}, {1, 1, 1}});
  CHECK(some["image"_s](0, 1, 0, 0) == 7);
}

/// The seeds that a loader gives, by epoch and sample, in the order of the batches.
using Seeds = std::vector<std::pair<int, std::uint64_t>>;
struct Recorded {
  xt::xtensor<std::int32_t, 1> number;
  xt::xtensor<std::uint64_t, 1> seed;
};
}  // namespace
BOOST_HANA_ADAPT_STRUCT(Recorded, number, seed);
namespace {
Recorded numbers(std::size_t count) {
  Recorded result{xt::xtensor<std::int32_t, 1>::from_shape({count}), xt::zeros<std::uint64_t>({count})};
  for (std::size_t i = 0; i < count; ++i) result.number(i) = static_cast<std::int32_t>(i);
  return result;
}
void record(auto& sample, std::uint64_t seed) { sample["seed"_s] = seed; }
Seeds seeds(Loader<Recorded>& loader) {
  Seeds result;
  for (const Recorded& batch : loader)
    for (std::size_t i = 0; i < batch.number.size(); ++i) result.emplace_back(batch.number(i), batch.seed(i));
  return result;
}

TEST_CASE("transform: seeds depend on the loader's seed, the epoch and the sample only") {
  const Recorded dataset = numbers(30);
  const auto recorded = [](auto& sample, std::uint64_t seed) { record(sample, seed); };
  const LoaderOptions options{.batch_size = 5, .shuffle = true, .seed = 7};
  Loader loader(dataset, options, recorded);
  const Seeds first = seeds(loader), second = seeds(loader);
  std::map<std::uint64_t, int> uses;
  std::map<int, std::uint64_t> of_first;
  for (const auto& [number, seed] : first) ++uses[seed], of_first[number] = seed;
  for (const auto& [number, seed] : second) ++uses[seed];
  CHECK(uses.size() == 60);  // all differ
  CHECK(dataset.seed == xt::zeros<std::uint64_t>({30}));  // the data set stays as it is

  SECTION("not on prefetching and the order") {
    Loader in_order(dataset, {.batch_size = 3, .seed = 7, .prefetch = false}, recorded);
    for (const auto& [number, seed] : seeds(in_order)) CHECK(of_first[number] == seed);
  }
  SECTION("not on where a run was interrupted") {
    Loader interrupted(dataset, options, recorded);
    for (int batch = 0; [[maybe_unused]] const Recorded& one : interrupted)
      if (++batch == 4) break;
    Loader resumed(dataset, options, recorded);
    resumed.resume(interrupted.state());
    CHECK(seeds(resumed) == Seeds(first.begin() + 20, first.end()));
    CHECK(seeds(resumed) == second);
    Loader in_order(dataset, {.batch_size = 5, .seed = 7}, recorded);
    in_order.resume({.seed = 7, .epoch = 1, .batch = 0, .batch_size = 5, .images = 30});
    std::map<int, std::uint64_t> of_second(second.begin(), second.end());
    for (const auto& [number, seed] : seeds(in_order)) CHECK(of_second[number] == seed);
  }
  SECTION("not on the shard") {
    for (const std::size_t shard : {0U, 1U, 2U, 3U, 4U}) {
      Loader part(dataset, {.batch_size = 5, .shuffle = true, .seed = 7, .shards = 5, .shard = shard}, recorded);
      const Seeds of_part = seeds(part);
      CHECK(of_part.size() == 6);
      for (const auto& [number, seed] : of_part) CHECK(of_first[number] == seed);
    }
  }
  SECTION("but on the loader's seed") {
    Loader other(dataset, {.batch_size = 5, .shuffle = true, .seed = 8}, recorded);
    for (const auto& [number, seed] : seeds(other)) CHECK(uses.count(seed) == 0);
  }
}

/// 200 samples, each of 16 KiB: enough for batches to be made ahead.
auto large() {
  return Arrays("wave"_s = xt::xtensor<float, 2>(xt::ones<float>({200, 4096})),
                "label"_s = xt::xtensor<float, 1>(xt::arange<float>(200)));
}

TEST_CASE("transform: what it throws, the loader throws at its batch") {
  const auto dataset = large();
  for (const bool prefetch : {false, true}) {
    Loader loader(dataset, {.batch_size = 8, .prefetch = prefetch}, [](auto& sample, std::uint64_t) {
      if (sample["label"_s] == 170) throw std::runtime_error("sample 170");
    });
    int batches = 0;
    const auto pass = [&] {
      for ([[maybe_unused]] const auto& batch : loader) ++batches;
    };
    CHECK_THROWS_WITH(pass(), "sample 170");
    CHECK(batches <= 21);
  }
}

TEST_CASE("transform: runs in the loader's thread, and changes batches only") {
  const auto dataset = large();
  const std::thread::id caller = std::this_thread::get_id();
  std::thread::id of_transform;
  Loader loader(dataset, {.batch_size = 8}, [&](auto& sample, std::uint64_t) {
    auto [wave, label] = sample;
    if (wave.dimension() != 1 || wave.shape(0) != 4096) throw std::runtime_error("another shape");
    wave *= label;
    label = -label;
    of_transform = std::this_thread::get_id();
  });
  for (float expected = 0; const auto& batch : loader)
    for (std::size_t i = 0; i < 8; ++i, ++expected) {
      REQUIRE(batch["label"_s](i) == -expected);
      REQUIRE(batch["wave"_s](i, 0) == expected);
      REQUIRE(batch["wave"_s](i, 4095) == expected);
    }
  CHECK((of_transform != caller || std::thread::hardware_concurrency() < 2));
  CHECK(dataset["wave"_s] == xt::ones<float>({200, 4096}));
}

TEST_CASE("transform: views of samples of any rank, and references to numbers") {
  const auto dataset = named(6);
  Loader loader(dataset, {.batch_size = 3}, [](auto& sample, std::uint64_t) {
    auto [text, image, target] = sample;
    REQUIRE((text.dimension() == 1 && image.dimension() == 3));
    for (auto& token : text) token += 1000;
    image(1, 1, 0) = 77;
    target = tw::bfloat16_t(0.5F);
  });
  for (std::size_t i = 0; const auto& batch : loader)
    for (std::size_t row = 0; row < 3; ++row) {
      CHECK(batch["text"_s](row, 1) == static_cast<int>(1000 + i));
      CHECK(batch["image"_s](row, 1, 1, 0) == 77);
      CHECK(batch["image"_s](row, 1, 0, 0) == i++);
      CHECK(static_cast<float>(batch["target"_s](row)) == 0.5F);
    }
}

}  // namespace
