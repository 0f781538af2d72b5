#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <boost/hana/accessors.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/data/dataset.hpp"
#include "tilewright/data/loader_options.hpp"
#include "tilewright/data/loading/loader_order.hpp"
#include "tilewright/data/prefetch.hpp"
#include "tilewright/data/sample.hpp"
#ifndef TILEWRIGHT_COMPILED  // then a library of the user's build has this code: cmake/compiled.cpp
#include "tilewright/data/loading/loader_order_code.hpp"
#endif

namespace tilewright::data {

/// Divides a data set into mini-batches. One iteration is one epoch: begin() draws the next order, so a loader's epochs differ,
/// and loaders with equal seeds have equal epochs. All batches use the same memory, so a batch is valid until the next one. The
/// loader does not copy the data set, which must outlive it. The data set may be any Samples; a batch has the same type.
///
///     tw::data::Loader loader(digits.train, {.batch_size = 8, .shuffle = true, .seed = 1});
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const auto& batch : loader) train(batch.images, batch.labels);
///
/// state() and resume() continue an interrupted run with the next batch. Batches that a thread prepared ahead do not count:
///
///     loader.resume(state);
///     for (auto epoch = loader.state().epoch; epoch < 10; ++epoch)
///       for (const auto& batch : loader) train(batch.images, batch.labels), save(loader.state());
///
/// A Transform changes each sample of a batch, in the thread that prepares batches:
///
///     tw::data::Loader loader(digits.train, {.batch_size = 8, .shuffle = true}, [](auto& sample, std::uint64_t seed) {
///       tw::Random random(seed);
///       tw::data::random_shift(sample["images"_s], random, 2, 2);
///     });
///
/// If the options of several loaders differ in `shard` only, the loaders return parts of the same batches and have equal states.
/// Their batch_size is that of a whole batch.
template <class Data = Dataset>
class Loader {
  static_assert(
      Samples<Data>,
      "Loader: a data set of this type: Arrays, or a struct that Boost.Hana knows, of arrays xt::xtensor with elements of a "
      "dtype and an axis of the samples, expected");

 public:
  /// Iterates over one epoch, once.
  class Iterator {
   public:
    using value_type = Data;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Loader& loader) : loader_(&loader), index_(loader.first_) { gather(); }
    const Data& operator*() const { return *batch_; }
    const Data* operator->() const { return batch_; }
    Iterator& operator++() {
      ++index_;
      gather();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return index_ == loader_->size(); }

   private:
    void gather() {
      if (index_ < loader_->size()) batch_ = &loader_->batch(index_);
    }

    Loader* loader_;
    const Data* batch_ = nullptr;
    std::size_t index_;
  };

  /// Throws DataError for a batch size of 0 or one that leaves no batch, for arrays with different numbers of samples, for shards
  /// that do not divide all batches, and if memory runs out. `transform` is called for one sample at a time. With `prefetch` the
  /// loader's thread calls it while the program uses earlier batches, so it must not use what the program changes meanwhile. What
  /// it throws, the loader throws at the batch of the sample.
  Loader(const Data& dataset, const LoaderOptions& options, Transform<std::type_identity_t<Data>> transform = {})
      : dataset_(dataset),
        options_(options),
        transform_(std::move(transform)),
        order_(options, detail::sample_count(dataset, "Loader")) {
    const std::size_t rows = (std::min)(options.batch_size, order_.samples()) / options.shards;
    const std::size_t batch_bytes = rows * detail::sample_bytes(dataset);
    // Waking the thread costs some microseconds, as gathering a small batch does, so it makes many at once.
    const std::size_t chunk = std::clamp(chunk_bytes / (batch_bytes + 1), std::size_t{1}, size() + 1);
    detail::with_memory("Loader", detail::Amount{"batches of ", rows, " samples"}, batch_bytes, [&] {
      Data empty;
      for_each_array(empty, [&](auto& array, const auto& source) { resize(array, source, rows); });
      if (options.prefetch && chunk < size() && Prefetch<Batches>::has_core()) {
        chunk_ = chunk;
        prefetch_.emplace([this](Batches& batches, std::size_t index) { gather_chunk(batches, index); }, Batches(chunk, empty));
      } else {
        own_.push_back(std::move(empty));
      }
    });
  }
  Loader(const Data&&, const LoaderOptions&,
         Transform<std::type_identity_t<Data>> = {}) = delete;  // the data set would not outlive the loader

  /// Returns the number of batches in an epoch.
  std::size_t size() const { return order_.batches(); }
  /// Starts a new epoch and ends the current one. After resume(), continues the resumed epoch.
  Iterator begin() {
    start_epoch();
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// Returns the position after the last batch that was returned. After the last batch of an epoch, it is the start of the next
  /// one.
  LoaderState state() const { return order_.state(); }
  /// Moves to a state of a loader with an equal data set and equal options; the seed becomes that of the state. Draws the orders
  /// of all epochs so far and ends the current epoch, whose iterators become invalid. Throws DataError, and changes nothing, for
  /// a state of a loader that differs, and for one with more than 2^40 samples before it.
  void resume(const LoaderState& state) {
    order_.require_equal(state);
    if (prefetch_) prefetch_->cancel();  // nobody reads the order now
    order_.move_to(state);
  }

 private:
  static constexpr std::size_t chunk_bytes = 512 << 10;  // two chunks stay in a level 2 cache
  using Batches = std::vector<Data>;

  /// Calls f(array, the data set's array) for each array of a batch.
  void for_each_array(Data& batch, auto f) const {
    boost::hana::for_each(boost::hana::accessors<Data>(), [&](auto name_and_access) {
      constexpr auto access = boost::hana::second(name_and_access);
      f(access(batch), access(dataset_));
    });
  }
  template <class Array>
  static void resize(Array& array, const Array& source, std::size_t count) {
    auto shape = source.shape();
    shape[0] = count;
    array.resize(shape);
  }
  /// Copies the next samples of the epoch into a batch. (Only a smaller last batch allocates.)
  void gather(Data& batch, std::size_t index) const {
    const std::size_t begin = index * options_.batch_size, all = (std::min)(options_.batch_size, order_.samples() - begin);
    const std::size_t count = all / options_.shards, run = count / options_.runs;
    const auto sample = [&](std::size_t i) {
      if (options_.shards == 1) return order_.sample(begin + i);
      return order_.sample(begin + (i / run * options_.shards + options_.shard) * run + i % run);
    };
    for_each_array(batch, [&]<class Array>(Array& array, const Array& source) {
      resize(array, source, count);
      if constexpr (std::tuple_size_v<typename Array::shape_type> == 1) {
        for (std::size_t i = 0; i < count; ++i) array.data()[i] = source.data()[sample(i)];
      } else {
        const std::size_t size = detail::sample_size(source);
        for (std::size_t i = 0; i < count; ++i) std::copy_n(source.data() + sample(i) * size, size, array.data() + i * size);
      }
    });
    if (!transform_) return;
    for (std::size_t i = 0; i < count; ++i) {
      Sample<Data> changed(batch, i);
      transform_(changed, detail::sample_seed(order_.seed(), order_.epoch(), sample(i)));
    }
  }
  void gather_chunk(Batches& batches, std::size_t chunk) const {
    for (std::size_t i = 0, index = first_ + chunk * chunk_; i < chunk_ && index < size(); ++i, ++index)
      gather(batches[i], index);
  }
  [[gnu::noinline]] void start_epoch() {
    if (prefetch_) prefetch_->cancel();  // nobody reads the order now
    order_.start_epoch();
    first_ = order_.handed_out();
    if (prefetch_) prefetch_->start((size() - first_ + chunk_ - 1) / chunk_);
  }
  [[gnu::noinline]] const Data& batch(std::size_t index) {
    const std::size_t in_pass = index - first_;
    if (in_pass % chunk_ == 0) {
      if (prefetch_) made_ = &prefetch_->next();
      else gather_chunk(own_, in_pass);
    }
    order_.hand_out(index + 1);
    return (*made_)[in_pass % chunk_];
  }

  const Data& dataset_;
  LoaderOptions options_;
  Transform<Data> transform_;  // none: samples as they are
  detail::LoaderOrder<ThisBuild> order_;
  std::size_t first_ = 0;  // the first batch of this pass
  std::size_t chunk_ = 1;  // batches that are made at once
  Batches own_;
  const Batches* made_ = &own_;
  std::optional<Prefetch<Batches>> prefetch_;  // last: its thread ends before what it uses
};

}  // namespace tilewright::data
