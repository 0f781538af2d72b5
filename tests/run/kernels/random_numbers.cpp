// labels: clang portable
// The kernels of random numbers, without a session: words, groups, views of all kinds, and what the numbers are like.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/kernel/random/random.hpp"
#include "tilewright/ops/random/random.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/session/seeds.hpp"

#if __has_include(<Random123/philox.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <Random123/philox.h>
#pragma GCC diagnostic pop
#define HAS_RANDOM123 1
#endif

namespace tw = tilewright;
using Philox = tw::kernel::PhiloxVectors<tw::kernel::WideVector>;

namespace {

/// A hash of bytes: FNV-1a with words of 32 bits.
template <class T>
std::uint32_t hash_of(const std::vector<T>& values) {
  std::uint32_t hash = 0x811c9dc5;
  for (const T& value : values) {
    std::array<unsigned char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(T));
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x01000193;
  }
  return hash;
}
template <class Numbers, class T>
std::vector<T> draw(const Numbers& numbers, std::int64_t count, std::uint64_t first_group = 0) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; i += Numbers::size)
    numbers.fill(first_group + static_cast<std::uint64_t>(i / Numbers::size), result.data() + i);
  return result;
}
std::vector<float> normals(tw::PhiloxKey key, std::int64_t count) {
  return draw<tw::kernel::NormalNumbers<float>, float>({Philox(key), 0, 1}, count);
}
std::vector<float> uniforms(tw::PhiloxKey key, std::int64_t count) {
  return draw<tw::kernel::UniformNumbers<float>, float>({Philox(key), 0, 1, 0x1.fffffep-1f}, count);
}

/// The normal numbers of a tensor of 6 x 100.
template <class T>
std::vector<T> whole_tensor() {
  auto numbers = draw<tw::kernel::NormalNumbers<T>, T>({Philox({1, 2}), 0, 1}, 640);
  numbers.resize(600);
  return numbers;
}
/// A slice of that tensor, from the element `first` on, is written with strides of its own. Elements between them stay as they
/// are.
template <class T, std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride>
void check_slice(std::int64_t first) {
  constexpr auto dtype = sizeof(T) == 8 ? tw::float64 : tw::float32;
  constexpr tw::ViewSpec out = tw::written_out({dtype, {rows, columns}, {row_stride, column_stride}});
  constexpr tw::ViewSpec positions = tw::written_out({tw::uint8, {rows, columns}, {100, 1}});
  std::vector<T> result(static_cast<std::size_t>((rows - 1) * row_stride + (columns - 1) * column_stride + 1), T(-9));
  std::vector<T> expected = result;
  const std::vector<T> all = whole_tensor<T>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      expected[static_cast<std::size_t>(row * row_stride + column * column_stride)] =
          all[static_cast<std::size_t>(first + row * 100 + column)];
  const auto origin = reinterpret_cast<std::intptr_t>(&tw::position_origin) + first;
  tw::kernel::assign_random(
      tw::kernel::NormalNumbers<T>{Philox({1, 2}), 0, 1}, [](const auto& number) { return number; }, tw::View<out>{result.data()},
      tw::View<positions>{reinterpret_cast<std::uint8_t*>(origin)});
  INFO(rows << " x " << columns << " from " << first);
  CHECK(result == expected);
}
template <class T>
void check_slices() {
  check_slice<T, 6, 100, 100, 1>(0);    // all of it, one run
  check_slice<T, 2, 100, 100, 1>(100);  // rows
  check_slice<T, 6, 70, 100, 1>(15);    // columns, with groups that begin inside a run
  check_slice<T, 3, 10, 10, 1>(45);     // to a dense copy
  check_slice<T, 6, 100, 1, 6>(0);      // to a transposed tensor
  check_slice<T, 6, 40, 200, 2>(7);     // to every other element
  check_slice<T, 6, 1, 1, 1>(99);       // a column
  check_slice<T, 1, 1, 1, 1>(234);
}

double mean_of(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += value;
  return sum / static_cast<double>(x.size());
}
/// The mean of products of two lists of numbers, each less `middle`.
double product_mean(std::span<const float> x, std::span<const float> y, double middle) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - middle) * (y[i] - middle);
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("Philox 4x32-10 gives the published words") {
  using Counter = tw::PhiloxCounter;
  CHECK(tw::philox({0, 0, 0, 0}, {0, 0}) == Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(tw::philox({ones, ones, ones, ones}, {ones, ones}) == Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(tw::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}
#if defined(HAS_RANDOM123)
TEST_CASE("Philox 4x32-10 gives the words of Random123") {
  tw::PhiloxCounter counter{1, 2, 3, 4};
  tw::PhiloxKey key{5, 6};
  for (int i = 0; i < 1000; ++i) {
    r123::Philox4x32::ctr_type r123_counter{{counter[0], counter[1], counter[2], counter[3]}};
    r123::Philox4x32::key_type r123_key{{key[0], key[1]}};
    const auto expected = r123::Philox4x32()(r123_counter, r123_key);
    counter = tw::philox(counter, key);
    for (std::size_t w = 0; w < 4; ++w) REQUIRE(counter[w] == expected[w]);
    key = {counter[3], counter[1]};
  }
}
#endif
TEST_CASE("words in vectors are those of Philox") {
  const tw::PhiloxKey key{0x243f6a88, 0x85a308d3};
  for (const std::uint64_t group : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 28) - 1, std::uint64_t{1} << 28,
                                    (std::uint64_t{1} << 57) + 12345}) {
    std::vector<std::uint32_t> words(64), expected(64);
    Philox(key).for_each_block(group, [&](const tw::kernel::WordVector(&block)[4], std::int64_t offset) {
      for (int w = 0; w < 4; ++w) std::memcpy(words.data() + 16 * w + offset, &block[w], sizeof(block[w]));
    });
    for (std::uint64_t i = 0; i < 16; ++i) {
      const std::uint64_t counter = group * 16 + i;
      const auto four = tw::philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key);
      for (std::size_t w = 0; w < 4; ++w) expected[16 * w + i] = four[w];
    }
    CHECK(words == expected);
  }
}
TEST_CASE("a slice of a tensor has the numbers of its elements, whatever its strides") {
  check_slices<float>();
  check_slices<double>();
}
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
TEST_CASE("random numbers are the same bits on every machine and from every compiler") {
  const tw::PhiloxKey key{0x243f6a88, 0x85a308d3};
  constexpr std::int64_t count = 1 << 16;
  const Philox philox(key);
  CHECK(hash_of(normals(key, count)) == 0xf4ece7e3);
  CHECK(hash_of(uniforms(key, count)) == 0x00eeb817);
  CHECK(hash_of(draw<tw::kernel::NormalNumbers<float>, float>({philox, 0.1f, 0.7f}, count)) == 0xce0e0ab9);
  CHECK(hash_of(draw<tw::kernel::NormalNumbers<double>, double>({philox, 0.1, 0.7}, count)) == 0xa0f891ce);
  CHECK(hash_of(draw<tw::kernel::UniformNumbers<double>, double>({philox, -0.1, 0.7, 0.6}, count)) == 0xde9ebb13);
  CHECK(hash_of(draw<tw::kernel::DropoutFactors<float>, float>({philox, 0x80000001, 2.f}, count)) == 0x2ae22985);
}
#endif

// Bounds below are six standard deviations of what is measured, for numbers as they should be. The seeds are fixed.
TEST_CASE("random numbers have the moments of their distributions") {
  constexpr std::int64_t count = 1 << 20;
  const double n = static_cast<double>(count), deviations = 6 / std::sqrt(n);
  for (const std::uint32_t seed : {0u, 1u, 42u}) {
    const auto z = normals({0, seed}, count), u = uniforms({0, seed}, count);
    double second = 0, third = 0, fourth = 0, uniform_second = 0;
    for (const double x : z) second += x * x / n, third += x * x * x / n, fourth += x * x * x * x / n;
    for (const double x : u) uniform_second += (x - 0.5) * (x - 0.5) / n;
    CHECK(std::abs(mean_of(z)) < deviations);
    CHECK(std::abs(second - 1) < deviations * std::sqrt(2));
    CHECK(std::abs(third) < deviations * std::sqrt(15));
    CHECK(std::abs(fourth - 3) < deviations * std::sqrt(96));
    CHECK(std::abs(mean_of(u) - 0.5) < deviations * std::sqrt(1.0 / 12));
    CHECK(std::abs(uniform_second - 1.0 / 12) < deviations * std::sqrt(1.0 / 180));
    CHECK(*std::ranges::max_element(u) < 1);
    CHECK(*std::ranges::min_element(u) >= 0);
  }
}
TEST_CASE("random numbers fill the cells of their distributions evenly") {
  constexpr std::int64_t count = 1 << 20;
  constexpr int cells = 256;  // chi square has 255 degrees of freedom: mean 255, standard deviation sqrt(510)
  const auto chi_square = [](const std::vector<float>& x, auto probability) {
    std::array<std::int64_t, cells> filled{};
    for (const float value : x)
      ++filled[static_cast<std::size_t>(std::min(cells - 1, static_cast<int>(probability(value) * cells)))];
    double sum = 0;
    for (const auto in_cell : filled) {
      const double expected = static_cast<double>(count) / cells, difference = static_cast<double>(in_cell) - expected;
      sum += difference * difference / expected;
    }
    return sum;
  };
  for (const std::uint32_t seed : {0u, 1u, 42u}) {
    const double of_uniform = chi_square(uniforms({0, seed}, count), [](double x) { return x; });
    const double of_normal = chi_square(normals({0, seed}, count), [](double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); });
    for (const double sum : {of_uniform, of_normal}) CHECK(std::abs(sum - 255) < 6 * std::sqrt(510));
  }
}
/// How often each number of half precision comes among uniform ones, by the share of [low, high) up to the next number: chi
/// square in standard deviations from its mean.
template <class T>
double deviation_of_frequencies(const std::vector<T>& numbers, double low, double high) {
  std::map<double, std::int64_t> found;
  for (const T number : numbers) ++found[static_cast<double>(number)];
  const double total = static_cast<double>(numbers.size()), least = 100;  // in a cell: numbers near 0 are rare, and share one
  double sum = 0, from = low, in_cell = 0;
  int cells = 0;
  for (auto number = found.begin(); number != found.end(); ++number) {
    CHECK(number->first >= low);
    CHECK(number->first < high);
    const auto next = std::next(number);
    const double to = next == found.end() ? high : next->first, expected = total * (to - from) / (high - low);
    in_cell += static_cast<double>(number->second);
    if (expected < least && next != found.end()) continue;
    sum += (in_cell - expected) * (in_cell - expected) / expected;
    in_cell = 0;
    from = to;
    ++cells;
  }
  REQUIRE(cells > 100);
  return (sum - (cells - 1)) / std::sqrt(2.0 * (cells - 1));
}
/// Of the op's kernel and of a session's first values.
template <class T>
void check_frequencies(double low, double high) {
  constexpr tw::DType dtype = std::is_same_v<T, tw::float16_t> ? tw::float16 : tw::bfloat16;
  constexpr std::int64_t count = 1 << 20;
  const auto bounds = tw::detail::uniform_bounds(low, high, dtype);
  const tw::kernel::UniformNumbers<float, T> kernel{Philox({42, 7}), static_cast<float>(bounds.low),
                                                    static_cast<float>(bounds.scale), static_cast<float>(bounds.most)};
  std::vector<T> numbers;
  for (const float number : draw<tw::kernel::UniformNumbers<float, T>, float>(kernel, count)) {
    numbers.push_back(static_cast<T>(number));
    if (static_cast<float>(numbers.back()) != number) FAIL(number << " is no number of the dtype");
  }
  CHECK(std::abs(deviation_of_frequencies(numbers, low, high)) < 6);
  std::vector<double> first(count);
  tw::Random random(3);
  tw::detail::fill_uniform(first, low, high, random);
  tw::detail::write_uniform(dtype, first, reinterpret_cast<std::byte*>(numbers.data()));
  CHECK(std::abs(deviation_of_frequencies(numbers, low, high)) < 6);
}
TEST_CASE("each number of half precision comes as often as its distance to the next one says") {
  for (const auto& [low, high] : {std::pair(0., 1.), std::pair(-1., 1.), std::pair(0.5, 0.75), std::pair(-0.25, 3.)}) {
    if (low != 0.5) check_frequencies<tw::bfloat16_t>(low, high);  // which has 64 numbers there
    check_frequencies<tw::float16_t>(low, high);
  }
}
TEST_CASE("numbers of derived seeds, of the host's seeds and of neighbours are not correlated") {
  constexpr std::int64_t count = 1 << 18;
  const double bound = 6 / std::sqrt(static_cast<double>(count));  // the product of two has mean 0 and variance 1
  const tw::PhiloxKey seed{7, 8};
  std::vector<tw::PhiloxKey> keys{seed, {7, 9}, {8, 8}};
  for (std::uint32_t modifier = 0; modifier < 4; ++modifier) {
    const auto words = tw::philox({modifier, 0, 0, 1}, seed);
    keys.push_back({words[0], words[1]});
  }
  const auto of_host = tw::create_seeds(7, {.batches_per_step = 2, .replicas = 2});
  for (std::size_t i = 0; i < of_host.size(); i += 2) keys.push_back({of_host.data()[i], of_host.data()[i + 1]});
  std::vector<std::vector<float>> numbers;
  for (const auto& key : keys) numbers.push_back(normals(key, count));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      INFO("seeds " << j << " and " << i);
      CHECK(keys[i] != keys[j]);
      CHECK(std::abs(product_mean(numbers[i], numbers[j], 0)) < bound);
    }
    for (const std::size_t lag :
         std::initializer_list<std::size_t>{1, 2, 15, 16, 17, 32, 48, 64, 1024}) {  // 16, 32 and 48: words of one counter
      INFO("seed " << i << ", distance " << lag);
      const std::span<const float> all = numbers[i];
      const double covariance = product_mean(all.first(all.size() - lag), all.subspan(lag), 0);
      CHECK(std::abs(covariance) < 6 / std::sqrt(static_cast<double>(all.size() - lag)));
    }
  }
}
TEST_CASE("dropout drops with its probability") {
  constexpr std::int64_t count = 1 << 20;
  for (const double p : {0.001, 0.1, 0.5, 0.9}) {
    const auto factors = draw<tw::kernel::DropoutFactors<float>, float>(
        {Philox({3, 4}), static_cast<std::uint32_t>(p * 0x1p32 + 0.5), 1.f}, count);
    const auto dropped = static_cast<double>(std::ranges::count(factors, 0.f));
    CHECK(std::abs(dropped - p * count) < 6 * std::sqrt(p * (1 - p) * count));
  }
}

TEST_CASE("create_seeds gives a seed to each batch, accumulation step and replica") {
  const tw::SeedOptions options{.batches_per_step = 3, .replicas = 9, .gradient_accumulation_factor = 7};
  const auto seeds = tw::create_seeds(42, options);
  CHECK(seeds.shape() == std::array<std::size_t, 4>{3, 7, 9, 2});
  CHECK(tw::create_seeds(42).shape() == std::array<std::size_t, 4>{1, 1, 1, 2});
  CHECK(seeds == tw::create_seeds(42, options));
  std::vector<std::uint64_t> all;
  const auto add = [&](const auto& more) {
    for (std::size_t i = 0; i < more.size(); i += 2) all.push_back(tw::two_uint32_to_uint64(more.data()[i], more.data()[i + 1]));
  };
  add(seeds);
  add(tw::create_seeds(43, options));
  add(tw::create_seeds(42, {.offset = 1, .batches_per_step = 1000}));
  add(tw::create_seeds(42, {.offset = std::uint64_t{1} << 32, .batches_per_step = 1000}));
  const std::size_t count = all.size();
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  CHECK(all.size() == count);
  CHECK_THROWS_WITH(tw::create_seeds(42, {.replicas = 0}), "create_seeds: replicas 0: at least 1 expected");
  CHECK_THROWS_WITH(tw::create_seeds(42, {.batches_per_step = -1}), "create_seeds: batches_per_step -1: at least 1 expected");
  CHECK_THROWS_AS(tw::create_seeds(-1), std::out_of_range);
}
TEST_CASE("a seed's two words are the halves of its number, the most significant first") {
  using Words = std::array<std::uint32_t, 2>;
  constexpr std::uint64_t most = 0xffffffffffffffff;
  CHECK(tw::uint64_to_two_uint32(0) == Words{0, 0});
  CHECK(tw::uint64_to_two_uint32(100) == Words{0, 100});
  CHECK(tw::uint64_to_two_uint32(most) == Words{0xffffffff, 0xffffffff});
  CHECK(tw::uint64_to_two_uint32(std::uint64_t{100} << 32 | 32) == Words{100, 32});
  CHECK(tw::two_uint32_to_uint64(100, 32) == (std::uint64_t{100} << 32 | 32));
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 32, most, std::uint64_t{31} << 32 | 32})
    CHECK(tw::two_uint32_to_uint64(tw::uint64_to_two_uint32(number)) == number);
  CHECK_THROWS_WITH(tw::uint64_to_two_uint32(-1), "uint64_to_two_uint32: -1: a number of at least 0 expected");
  CHECK_THROWS_WITH(tw::two_uint32_to_uint64(-1, 2), "two_uint32_to_uint64: -1 and 2: numbers from 0 to 4294967295 expected");
  CHECK_THROWS_AS(tw::two_uint32_to_uint64(1, std::int64_t{1} << 32), std::out_of_range);
}
