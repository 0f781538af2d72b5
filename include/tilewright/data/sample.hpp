#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/size.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/name.hpp"
#include "tilewright/core/philox.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/dataset.hpp"

namespace tilewright::data {

/// One sample of a batch that a Loader prepares, for a Transform. Its arrays are views of the batch, without the axis of the
/// samples: `sample["images"_s]` of a batch (count, 28, 28) is (28, 28). An array (count,) gives a reference to one number. Their
/// names are those of the data set. A structured binding gives them in their order: `auto [image, label] = sample;`.
template <class Data>
class Sample {
 public:
  Sample(Data& batch, std::size_t index) : batch_(&batch), index_(index) {}

  template <NameText name>
  decltype(auto) operator[](Name<name>) const {
    return get<detail::array_index<Data, name>()>();
  }
  template <std::size_t position>
  decltype(auto) get() const {
    return view_of(boost::hana::second(boost::hana::at_c<position>(boost::hana::accessors<Data>()))(*batch_));
  }

 private:
  template <SampleArray Array>
  decltype(auto) view_of(Array& array) const {
    constexpr std::size_t rank = std::tuple_size_v<typename Array::shape_type> - 1;
    if constexpr (rank == 0) {
      return static_cast<typename Array::reference>(array(index_));
    } else {
      std::array<std::size_t, rank> shape;
      std::copy(array.shape().begin() + 1, array.shape().end(), shape.begin());
      const std::size_t size = detail::sample_size(array);
      return xt::adapt(array.data() + index_ * size, size, xt::no_ownership(), shape);
    }
  }

  Data* batch_;
  std::size_t index_;
};

/// Changes one sample of a batch in place, as an augmentation does. `seed` depends on the loader's seed, the epoch and the
/// sample's number in the data set only, so a resumed run, shards and prefetching change no sample. Random(seed) draws from it.
template <class Data>
using Transform = std::function<void(Sample<Data>& sample, std::uint64_t seed)>;

namespace detail {
/// Returns the seed of a sample in an epoch. The lower 48 bits of sample and epoch count.
constexpr std::uint64_t sample_seed(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const std::uint32_t high = low(sample >> 32 << 16) | (low(epoch >> 32) & 0xffff);
  const auto use = static_cast<std::uint32_t>(tilewright::detail::PhiloxUse::sample_seeds);
  const PhiloxCounter random = philox({low(sample), low(epoch), high, use}, {low(seed), low(seed >> 32)});
  return std::uint64_t{random[1]} << 32 | random[0];
}
}  // namespace detail

}  // namespace tilewright::data

namespace std {
template <class Data>
struct tuple_size<tilewright::data::Sample<Data>>
    : integral_constant<size_t, decltype(boost::hana::size(boost::hana::accessors<Data>()))::value> {};
template <size_t position, class Data>
struct tuple_element<position, tilewright::data::Sample<Data>> {
  using type = decltype(std::declval<const tilewright::data::Sample<Data>&>().template get<position>());
};
}  // namespace std
