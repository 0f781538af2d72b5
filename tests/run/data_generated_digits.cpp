#include "tilewright/data/generated_digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"

namespace {

namespace tw = tilewright;

constexpr std::size_t pixels = 28 * 28;

const float* image(const tw::Dataset& dataset, std::size_t index) { return dataset.images.data() + index * pixels; }

/// The mean image of each digit.
tw::Dataset mean_images(const tw::Dataset& dataset) {
  tw::Dataset result{xt::xtensor<float, 3>::from_shape({10, 28, 28}), xt::xtensor<std::int32_t, 1>::from_shape({10})};
  result.images.fill(0);
  for (std::int32_t digit = 0; digit < 10; ++digit) {
    result.labels(digit) = digit;
    const auto count = static_cast<float>(std::ranges::count(dataset.labels.storage(), digit));
    for (std::size_t i = 0; i < dataset.labels.size(); ++i)
      for (std::size_t pixel = 0; dataset.labels(i) == digit && pixel < pixels; ++pixel)
        result.images.data()[static_cast<std::size_t>(digit) * pixels + pixel] += image(dataset, i)[pixel] / count;
  }
  return result;
}

/// The part of the test images that are given the right label by the nearest of the known images.
double nearest_accuracy(const tw::Dataset& known, const tw::Dataset& test) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    float least = std::numeric_limits<float>::infinity();
    std::int32_t label = -1;
    for (std::size_t j = 0; j < known.labels.size(); ++j) {
      float distance = 0;
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const float difference = image(known, j)[pixel] - image(test, i)[pixel];
        distance += difference * difference;
      }
      if (distance < least) least = distance, label = known.labels(j);
    }
    if (label == test.labels(i)) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(test.labels.size());
}

/// Image `index` as grey values 0 to 255.
std::array<std::uint8_t, pixels> greys(const tw::Dataset& dataset, std::size_t index) {
  std::array<std::uint8_t, pixels> result{};
  std::transform(image(dataset, index), image(dataset, index) + pixels, result.begin(), [](float pixel) {
    return static_cast<std::uint8_t>(std::lround(255 * (pixel * tw::mnist_standard_deviation + tw::mnist_mean)));
  });
  return result;
}

/// FNV-1a of all grey values.
std::uint64_t hash_of_greys(const tw::Dataset& dataset) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < dataset.labels.size(); ++i)
    for (const std::uint8_t grey : greys(dataset, i)) hash = (hash ^ grey) * 0x100000001b3u;
  return hash;
}

/// Every digit has a form, every form strokes, and every stroke at least two points, within the square of side 100.
constexpr bool forms_are_drawable() {
  for (const auto& forms : tw::detail::handwriting::digit_forms) {
    if (forms.size() == 0) return false;
    for (const auto& form : forms) {
      if (form.size() == 0) return false;
      for (const auto& stroke : form) {
        if (stroke.size() < 2) return false;
        for (const auto& [x, y] : stroke)
          if (x < 0 || x > 100 || y < 0 || y > 100) return false;
      }
    }
  }
  return true;
}
static_assert(forms_are_drawable());

using tw::detail::Fixed;
static_assert(Fixed(2.5) * Fixed(-3) == -7.5 && Fixed(1) / 4 == 0.25 && 3 - Fixed(0.5) == 2.5);
static_assert(Fixed(-1.5).floor() == -2 && Fixed(-1.5).ceil() == -1 && Fixed(1.5).ceil() == 2 && Fixed(2).ceil() == 2);

}  // namespace

TEST_CASE("generate_digits: normalised images of MNIST's shape, every digit about as often") {
  const tw::Dataset digits = tw::generate_digits(2'000, 1);
  CHECK((digits.images.shape(0) == 2'000 && digits.images.shape(1) == 28 && digits.images.shape(2) == 28));
  REQUIRE(digits.labels.shape(0) == 2'000);

  const auto [least, most] = std::ranges::minmax_element(digits.images.storage());
  CHECK(*least == tw::mnist_normalised(0));
  CHECK(*most == tw::mnist_normalised(255));
  for (int digit = 0; digit < 10; ++digit) {
    const auto count = std::ranges::count(digits.labels.storage(), digit);
    CHECK((count > 150 && count < 250));
  }
}

TEST_CASE("generate_digits: every image has ink, and paper around it") {
  const tw::Dataset digits = tw::generate_digits(1'000, 2);
  for (std::size_t i = 0; i < 1'000; ++i) {
    INFO(i);
    const auto dark = std::count_if(image(digits, i), image(digits, i) + pixels,
                                    [](float pixel) { return pixel > tw::mnist_normalised(100); });
    CHECK((dark > 15 && dark < 350));
  }
}

TEST_CASE("generate_digits: the seed decides the images, and fewer are the first of more") {
  const tw::Dataset digits = tw::generate_digits(20, 5);
  const tw::Dataset fewer = tw::generate_digits(10, 5), other = tw::generate_digits(20, 6);
  CHECK(std::equal(fewer.images.begin(), fewer.images.end(), digits.images.begin()));
  CHECK(std::equal(fewer.labels.begin(), fewer.labels.end(), digits.labels.begin()));
  CHECK(digits.images != other.images);
  CHECK(tw::generate_digits(0, 5).labels.size() == 0);
}

TEST_CASE("generate_digits: labels and greys are the same on every platform and with every compiler") {
  const tw::Dataset digits = tw::generate_digits(1'000, 42);
  CHECK(std::vector<std::int32_t>(digits.labels.begin(), digits.labels.begin() + 10) ==
        std::vector<std::int32_t>{3, 8, 9, 2, 0, 5, 1, 1, 9, 0});
  CHECK(hash_of_greys(digits) == 0u);
}

TEST_CASE("generate_digits: examples tell the digits apart, and the more the better, but not without fail") {
  const tw::Dataset train = tw::generate_digits(2'000, 1), test = tw::generate_digits(300, 2);
  const double by_means = nearest_accuracy(mean_images(train), test), by_examples = nearest_accuracy(train, test);
  CHECK(by_means > 0.5);
  CHECK(by_means < 0.9);  // MNIST: 0.82
  CHECK(by_examples > by_means + 0.05);
  CHECK(by_examples > 0.8);
  CHECK(by_examples < 1);
}
