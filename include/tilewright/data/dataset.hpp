#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/members.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/memory/with_memory.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/data_error.hpp"

namespace tilewright::data {

/// Whether T is an xt::xtensor with a first axis, over samples, and with elements that a tensor can have.
template <class T>
concept SampleArray = requires(T array) {
  requires std::integral<typename T::value_type> ||
               requires { tilewright::detail::dtype_with<typename T::value_type>(tilewright::detail::dtype_table); };
  requires std::tuple_size<typename T::shape_type>::value >= 1;
  requires T::static_layout == xt::layout_type::row_major;
  array.resize(array.shape());
};

namespace detail {
template <class T>
constexpr bool has_sample_arrays() {
  if constexpr (boost::hana::Struct<T>::value && std::is_default_constructible_v<T>) {
    using Arrays = decltype(boost::hana::members(std::declval<const T&>()));
    return []<class... Array>(std::type_identity<boost::hana::tuple<Array...>>) {
      return sizeof...(Array) > 0 && (SampleArray<Array> && ...);
    }(std::type_identity<Arrays>{});
  } else return false;
}
}  // namespace detail

/// Samples in memory: a Boost.Hana struct whose members are xt::xtensors of any dtype. The first axis of each is over samples,
/// the others are those of one sample. A Loader's batch has the same type.
///
///     struct Sentences {
///       xt::xtensor<std::int32_t, 2> tokens;  // (count, length)
///       xt::xtensor<bool, 2> mask;            // (count, length)
///     };
///     BOOST_HANA_ADAPT_STRUCT(Sentences, tokens, mask);
template <class T>
concept Samples = detail::has_sample_arrays<T>();

namespace detail {
/// Returns the number of samples of a data set. Throws DataError, which names the reader, if its arrays have different numbers of
/// samples.
template <Samples Data>
std::size_t sample_count(const Data& dataset, std::string_view reader) {
  std::optional<std::size_t> count;
  const char* first = "";
  boost::hana::for_each(boost::hana::accessors<Data>(), [&](auto name_and_access) {
    const char* const name = boost::hana::to<const char*>(boost::hana::first(name_and_access));
    const std::size_t here = boost::hana::second(name_and_access)(dataset).shape(0);
    if (!count) count = here, first = name;
    if (*count != here)
      throw DataError(reader, text(*count, " ", first, " and ", here, " ", name).string(),
                      "arrays with equal numbers of samples");
  });
  return *count;
}
/// Returns the position of the array of a data set with a name. Another name does not compile.
template <class Data, NameText name>
constexpr std::size_t array_index() {
  constexpr std::size_t none = ~std::size_t{0}, found = [] {
    std::size_t index = 0, result = none;
    boost::hana::for_each(boost::hana::accessors<Data>(), [&](auto name_and_access) {
      using Key = std::remove_cvref_t<decltype(boost::hana::first(name_and_access))>;
      if (std::string_view(boost::hana::to<const char*>(Key{})) == name.view()) result = index;
      ++index;
    });
    return result;
  }();
  static_assert(found != none, "[\"name\"_s]: no array of this name: the name of an array of the data set expected");
  return found == none ? 0 : found;
}
/// Returns the number of elements of one sample of an array.
template <SampleArray Array>
std::size_t sample_size(const Array& array) {
  std::size_t size = 1;
  for (std::size_t axis = 1; axis < array.dimension(); ++axis) size *= array.shape(axis);
  return size;
}
/// Returns the bytes of one sample of a data set.
template <Samples Data>
std::size_t sample_bytes(const Data& dataset) {
  std::size_t bytes = 0;
  boost::hana::for_each(boost::hana::accessors<Data>(), [&](auto name_and_access) {
    const auto& array = boost::hana::second(name_and_access)(dataset);
    bytes += sample_size(array) * sizeof(*array.data());
  });
  return bytes;
}
/// Returns an array of `shape`. Throws std::length_error if it does not fit in memory, or if the product of the extents, without
/// those that are 0, is above 2^47.
template <class Array, std::size_t rank>
Array allocated(const std::array<std::size_t, rank>& shape) {
  std::uint64_t elements = 1;
  std::string extents;
  for (const std::size_t extent : shape) {
    elements = tilewright::detail::saturated_product({elements, (std::max)(extent, std::size_t{1})});
    extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
  }
  if (elements > std::uint64_t{1} << 47)
    throw std::length_error("LabelledImages: " + extents + " elements: at most 2^47 expected");
  const std::uint64_t bytes = elements * sizeof(typename Array::value_type);
  return tilewright::detail::with_memory(
      bytes, [&] { return Array(shape); },
      [&] {
        return std::length_error("LabelledImages: " + extents + " elements, " + std::to_string(bytes) +
                                 " bytes: as much as fits in memory expected");
      });
}
}  // namespace detail

/// Labelled images in memory. An image has `rank` axes: LabelledImages<float, 3> are colour images, (count, channels, height,
/// width) for ops::conv.
template <class Element, std::size_t rank, class Label = std::int32_t>
struct LabelledImages {
  using Images = xt::xtensor<Element, rank + 1>;
  using Labels = xt::xtensor<Label, 1>;
  /// `images`: (count, extents of an image...). `labels`: (count,), the class of each image, or another number to predict.
  BOOST_HANA_DEFINE_STRUCT(LabelledImages, (Images, images), (Labels, labels));

  LabelledImages() = default;
  /// Allocates arrays for `count` images of these extents. Throws std::length_error for more elements than fit in memory, and
  /// for more than 2^47.
  explicit LabelledImages(std::size_t count, std::convertible_to<std::size_t> auto... extents)
    requires(sizeof...(extents) == rank)
      : images(detail::allocated<Images>(std::array{count, static_cast<std::size_t>(extents)...})),
        labels(detail::allocated<Labels>(std::array{count})) {}

  /// Takes the user's images and labels. Throws DataError if their numbers differ.
  ///
  ///     tw::data::Dataset dataset(images, labels);  // xt::xtensor<float, 3> and xt::xtensor<std::int32_t, 1>
  LabelledImages(Images own_images, Labels own_labels) : images(std::move(own_images)), labels(std::move(own_labels)) {
    if (images.shape(0) != labels.shape(0))
      throw DataError("LabelledImages",
                      std::to_string(images.shape(0)) + " images for " + std::to_string(labels.shape(0)) + " labels",
                      "one label for each image");
  }

  std::size_t size() const { return labels.size(); }
  /// Returns the number of elements of one image.
  std::size_t image_size() const {
    std::size_t result = 1;
    for (std::size_t axis = 1; axis <= rank; ++axis) result *= images.shape(axis);
    return result;
  }
};

/// Labelled grey images, normalised: (count, height, width) float32, and int32 labels.
using Dataset = LabelledImages<float, 2>;

/// Pictures of the digits 0 to 9, 28 x 28: MNIST or generated ones.
struct Digits {
  Dataset train, test;
};

/// The usual MNIST statistics: mean and standard deviation of all pixels of the training set, scaled to [0, 1].
inline constexpr float mnist_mean = 0.1307f;
inline constexpr float mnist_standard_deviation = 0.3081f;

/// Normalises a grey value for networks: 0 (paper) becomes -0.4242, 255 (ink) becomes 2.8215.
[[nodiscard]] constexpr float normalised(std::uint8_t grey) {
  return (static_cast<float>(grey) / 255.0f - mnist_mean) / mnist_standard_deviation;
}

}  // namespace tilewright::data
