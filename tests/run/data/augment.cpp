// labels: standard-library
#include "tilewright/data/augment.hpp"

#include <map>
#include <string>
#include <utility>

#include "../../catch.hpp"
#include "tilewright/core/bfloat16.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/arrays.hpp"
#include "tilewright/data/loader.hpp"

namespace {

namespace tw = tilewright;
namespace data = tw::data;
using namespace tw::literals;
using data::ChannelAxis, data::DataError;
using Grey = xt::xtensor<int, 2>;
using Colours = xt::xtensor<int, 3>;

const Grey grey{{1, 2, 3}, {4, 5, 6}};
/// Channel c of pixel p of `grey` is 10 c + p.
const Colours first{{{1, 2, 3}, {4, 5, 6}}, {{11, 12, 13}, {14, 15, 16}}};
const Colours last{{{1, 11}, {2, 12}, {3, 13}}, {{4, 14}, {5, 15}, {6, 16}}};

/// The results of a change of all three.
struct Changed {
  Grey grey;
  Colours first, last;
};
Changed changed(auto change) {
  Changed result{grey, first, last};
  change(result.grey, ChannelAxis::first);
  change(result.first, ChannelAxis::first);
  change(result.last, ChannelAxis::last);
  return result;
}
/// Checks the grey image, and that the channels of the others are the same change.
void check(const Changed& found, const Grey& expected) {
  CHECK(found.grey == expected);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      const int pixel = expected(row, column);
      const bool is_fill = pixel < 0;
      CHECK(found.first(0, row, column) == pixel);
      CHECK(found.first(1, row, column) == (is_fill ? pixel : pixel + 10));
      CHECK(found.last(row, column, 0) == pixel);
      CHECK(found.last(row, column, 1) == (is_fill ? pixel : pixel + 10));
    }
}

TEST_CASE("flip_horizontal, flip_vertical") {
  check(changed([](auto& image, ChannelAxis axis) { data::flip_horizontal(image, axis); }), {{3, 2, 1}, {6, 5, 4}});
  check(changed([](auto& image, ChannelAxis axis) { data::flip_vertical(image, axis); }), {{4, 5, 6}, {1, 2, 3}});
}

TEST_CASE("shift: all directions, and beyond the image") {
  const auto shifted = [](std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return changed([=](auto& image, ChannelAxis axis) { data::shift(image, rows, columns, -1, axis); });
  };
  check(shifted(0, 0), grey);
  check(shifted(1, 0), {{-1, -1, -1}, {1, 2, 3}});
  check(shifted(-1, 0), {{4, 5, 6}, {-1, -1, -1}});
  check(shifted(0, 1), {{-1, 1, 2}, {-1, 4, 5}});
  check(shifted(0, -2), {{3, -1, -1}, {6, -1, -1}});
  check(shifted(1, -1), {{-1, -1, -1}, {2, 3, -1}});
  check(shifted(-1, 1), {{-1, 4, 5}, {-1, -1, -1}});
  const Grey none{{-1, -1, -1}, {-1, -1, -1}};
  constexpr std::ptrdiff_t most = PTRDIFF_MAX;
  for (const auto& [rows, columns] :
       {std::pair{most, std::ptrdiff_t{0}}, {-most - 1, std::ptrdiff_t{0}}, {0, most}, {0, -most - 1}})
    check(shifted(rows, columns), none);
}

TEST_CASE("random_shift, random_crop: each move is as frequent as another") {
  const auto counts_of = [](auto draw) {
    tw::Random random(3);
    std::map<std::pair<int, int>, int> counts;
    for (int i = 0; i < 15'000; ++i) {
      xt::xtensor<int, 2> image = xt::zeros<int>({5, 7});
      image(2, 3) = 1;
      draw(image, random);
      for (int row = 0; row < 5; ++row)
        for (int column = 0; column < 7; ++column)
          if (image(row, column) == 1) ++counts[{row - 2, column - 3}];
    }
    return counts;
  };
  const auto shifts = counts_of([](auto& image, tw::Random& random) { data::random_shift(image, random, 1, 2); });
  CHECK(shifts.size() == 15);
  for (const auto& [move, count] : shifts) {
    CHECK((std::abs(move.first) <= 1 && std::abs(move.second) <= 2));
    CHECK((count > 850 && count < 1150));  // five standard deviations
  }
  const auto crops = counts_of([](auto& image, tw::Random& random) { data::random_crop(image, random, 1); });
  CHECK(crops.size() == 9);
  for (const auto& [move, count] : crops) CHECK((std::abs(move.first) <= 1 && std::abs(move.second) <= 1 && count > 1400));
}

TEST_CASE("random_flip: with its probability") {
  const auto flips = [](double probability) {
    tw::Random random(1);
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
      Grey image = grey;
      data::random_flip(image, random, probability);
      count += image(0, 0) == 3;
    }
    return count;
  };
  CHECK(flips(0) == 0);
  CHECK(flips(1) == 1000);
  CHECK((flips(0.25) > 180 && flips(0.25) < 320));  // five standard deviations
}

TEST_CASE("augmentation: numbers that fit no image") {
  Grey image = grey;
  tw::Random random(1);
  CHECK_THROWS_WITH(data::random_shift(image, random, 3, 0), "random_shift: 3 rows of an image with 2: at most 2 expected");
  CHECK_THROWS_WITH(data::random_shift(image, random, 0, 4), "random_shift: 4 columns of an image with 3: at most 3 expected");
  CHECK_THROWS_WITH(data::random_crop(image, random, 3),
                    "random_crop: 3 pixels of padding of an image with 2: at most 2 expected");
  CHECK_THROWS_WITH(data::random_flip(image, random, 1.5), "random_flip: a probability of 1.500000: 0 to 1 expected");
  CHECK((image == grey));
}

TEST_CASE("augmentation: in a loader, of images with any elements") {
  const auto of = [&]<class Element>(Element fill) {
    auto images = xt::xtensor<Element, 4>::from_shape({40, 3, 4, 4});
    images.fill(Element{});
    const data::Arrays dataset("image"_s = std::move(images));
    data::Loader loader(dataset, {.batch_size = 20, .seed = 1}, [=](auto& sample, std::uint64_t seed) {
      tw::Random random(seed);
      data::random_crop(sample["image"_s], random, 4, fill);
      data::random_flip(sample["image"_s], random);
    });
    std::size_t filled = 0;
    for (const auto& batch : loader)
      for (const Element element : batch["image"_s]) filled += element == fill;
    return filled;
  };
  const std::size_t filled = of(2.0F);
  CHECK(filled > 500);
  CHECK(of(std::uint8_t{255}) == filled);
  CHECK(of(static_cast<tw::bfloat16_t>(3.0F)) == filled);
}

}  // namespace
