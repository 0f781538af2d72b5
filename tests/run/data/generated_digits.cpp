// labels: optimised
#include "tilewright/data/generated_digits.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../catch.hpp"

namespace {

namespace data = tilewright::data;
using data::Dataset, data::generated_digits;

constexpr std::size_t pixel_count = 28 * 28;

const float* image(const Dataset& dataset, std::size_t index) { return dataset.images.data() + index * pixel_count; }

/// The mean image of each digit.
Dataset mean_images(const Dataset& dataset) {
  Dataset result(10, 28, 28);
  result.images.fill(0);
  for (std::size_t digit = 0; digit < 10; ++digit) result.labels(digit) = static_cast<std::int32_t>(digit);
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const auto count = static_cast<float>(std::ranges::count(dataset.labels.storage(), dataset.labels(i)));
    float* mean = result.images.data() + static_cast<std::size_t>(dataset.labels(i)) * pixel_count;
    for (std::size_t pixel = 0; pixel < pixel_count; ++pixel) mean[pixel] += image(dataset, i)[pixel] / count;
  }
  return result;
}

/// The part of the test images that are given the right label by the nearest of the known images.
double nearest_accuracy(const Dataset& known, const Dataset& test) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    float least = std::numeric_limits<float>::infinity();
    std::int32_t label = -1;
    for (std::size_t j = 0; j < known.size(); ++j) {
      float distance = 0;
      for (std::size_t pixel = 0; pixel < pixel_count; ++pixel) {
        const float difference = image(known, j)[pixel] - image(test, i)[pixel];
        distance += difference * difference;
      }
      if (distance < least) least = distance, label = known.labels(j);
    }
    right += label == test.labels(i);
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

/// Every digit has a form, every form strokes, and every stroke at least two points, within the square of side 100.
constexpr bool forms_are_drawable() {
  for (const auto& forms : data::handwriting::digit_forms) {
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

}  // namespace

TEST_CASE("generated_digits: normalised images of MNIST's shape, every digit about as often") {
  const auto [train, test] = generated_digits(2'000, 1);
  CHECK((train.images.shape(0) == 2'000 && train.images.shape(1) == 28 && train.images.shape(2) == 28));
  CHECK(train.labels.size() == 2'000);
  CHECK(test.size() == 333);
  const auto [least, most] = std::ranges::minmax_element(train.images.storage());
  CHECK(*least == data::normalised(0));
  CHECK(*most == data::normalised(255));
  for (int digit = 0; digit < 10; ++digit) {
    const auto count = std::ranges::count(train.labels.storage(), digit);
    CHECK((count > 150 && count < 250));
  }
}

TEST_CASE("generated_digits: every image has ink, and paper around it") {
  const auto digits = generated_digits(1'000, 2).train;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto dark = std::count_if(image(digits, i), image(digits, i) + pixel_count,
                                    [](float pixel) { return pixel > data::normalised(100); });
    CHECK((dark > 15 && dark < 350));
  }
}

TEST_CASE("generated_digits: the seed decides them") {
  const auto digits = generated_digits(20, 5), equal = generated_digits(20, 5), other = generated_digits(20, 6);
  CHECK((digits.train.images == equal.train.images && digits.train.labels == equal.train.labels));
  CHECK(digits.test.images == equal.test.images);
  CHECK(digits.train.images != other.train.images);
  CHECK(generated_digits(0, 5).train.size() == 0);
  const auto labels = generated_digits(10, 42).train.labels;  // the same on every platform
  CHECK(std::vector<int>(labels.begin(), labels.end()) == std::vector<int>{3, 8, 9, 2, 0, 5, 1, 1, 9, 0});
}

TEST_CASE("generated_digits: examples tell the digits apart, and the more the better, but not without fail") {
  const auto [train, test] = generated_digits(2'000, 1);
  const double by_means = nearest_accuracy(mean_images(train), test), by_examples = nearest_accuracy(train, test);
  CHECK(by_means > 0.6);
  CHECK(by_means < 0.9);  // MNIST: 0.82
  CHECK(by_examples > by_means + 0.05);
  CHECK(by_examples < 1);
}
