#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/prefetch.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright::data {

struct LoaderOptions {
  std::size_t batch_size = 1;
  bool shuffle = false;  ///< a new order every epoch; else always the data set's
  bool drop_last = true;  ///< leave out the last images if they fill no batch; else the last batch is smaller
  std::uint64_t seed = 0;  ///< decides the orders of all epochs, on every platform
  bool prefetch = true;  ///< another thread makes batches ahead, where there is a core for it; the batches are the same
};

/// Hands out a data set in mini-batches. Iterating once is one epoch: begin() draws the next order, so a loader's epochs
/// differ, and loaders of equal seeds agree epoch by epoch. Batches share their memory: each is valid until the next.
/// The data set is not copied: it must outlive the loader.
///
///     tw::data::Loader loader(digits.train, {.batch_size = 8, .shuffle = true, .seed = 1});
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const auto& batch : loader) train(batch.images, batch.labels);
class Loader {
 public:
  class Iterator;

  /// Throws DataError for a batch size of 0, one that leaves no batch at all, or a data set with another number of labels
  /// than images.
  Loader(const Dataset& dataset, const LoaderOptions& options)
      : dataset_(dataset), options_(options), random_(options.seed), order_(dataset.size()) {
    if (options.batch_size == 0) throw DataError("Loader", "a batch size of 0", "at least 1");
    if (dataset.images.shape(0) != dataset.size())
      throw DataError("Loader",
                      std::to_string(dataset.images.shape(0)) + " images for " + std::to_string(dataset.size()) + " labels",
                      "one label for each image");
    if (options.drop_last && options.batch_size > dataset.size())
      throw DataError("Loader", "a batch size of " + std::to_string(options.batch_size) + " with drop_last",
                      "at most the data set's " + std::to_string(dataset.size()));
    std::iota(order_.begin(), order_.end(), std::size_t{0});

    const Dataset empty(std::min(options.batch_size, dataset.size()), dataset.images.shape(1), dataset.images.shape(2));
    // Waking the thread costs some microseconds, as gathering a small batch does, so it makes many at once.
    const std::size_t chunk = std::clamp(chunk_bytes / (empty.images.size() * sizeof(float) + 1), std::size_t{1}, size() + 1);
    if (options.prefetch && chunk < size() && std::thread::hardware_concurrency() > 1) {
      chunk_ = chunk;
      prefetch_.emplace([this](Batches& batches, std::size_t index) { gather_chunk(batches, index); }, Batches(chunk, empty));
    } else {
      own_.push_back(empty);
    }
  }
  Loader(const Dataset&&, const LoaderOptions&) = delete;  // the data set would not outlive the loader

  /// The number of batches in an epoch.
  std::size_t size() const { return (order_.size() + (options_.drop_last ? 0 : options_.batch_size - 1)) / options_.batch_size; }
  /// Starts a new epoch, which ends the one before.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  static constexpr std::size_t chunk_bytes = 512 << 10;  // two chunks stay in a level 2 cache
  using Batches = std::vector<Dataset>;

  /// Makes a batch of the next images of the epoch. (Only a smaller last batch allocates.)
  void gather(Dataset& batch, std::size_t index) const {
    const std::size_t begin = index * options_.batch_size, count = std::min(options_.batch_size, order_.size() - begin);
    const std::size_t image_size = dataset_.image_size();
    batch.images.resize({count, dataset_.images.shape(1), dataset_.images.shape(2)});
    batch.labels.resize({count});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = order_[begin + i];
      std::copy_n(dataset_.images.data() + from * image_size, image_size, batch.images.data() + i * image_size);
      batch.labels(i) = dataset_.labels(from);
    }
  }
  void gather_chunk(Batches& batches, std::size_t chunk) const {
    for (std::size_t i = 0, index = chunk * chunk_; i < chunk_ && index < size(); ++i, ++index) gather(batches[i], index);
  }
  void start_epoch() {
    if (prefetch_) prefetch_->cancel();  // nobody reads the order now
    if (options_.shuffle) shuffle(std::span(order_), random_);
    if (prefetch_) prefetch_->start((size() + chunk_ - 1) / chunk_);
  }
  const Dataset& batch(std::size_t index) {
    if (index % chunk_ == 0) {
      if (prefetch_) made_ = &prefetch_->next();
      else gather_chunk(own_, index);
    }
    return (*made_)[index % chunk_];
  }

  const Dataset& dataset_;
  LoaderOptions options_;
  Random random_;
  std::vector<std::size_t> order_;  // a permutation of the data set's indices
  std::size_t chunk_ = 1;  // batches that are made at once
  Batches own_;
  const Batches* made_ = &own_;
  std::optional<Prefetch<Batches>> prefetch_;  // last: its thread ends before what it uses
};

/// Walks through one epoch, once.
class Loader::Iterator {
 public:
  using value_type = Dataset;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(Loader& loader) : loader_(&loader) { gather(); }
  const Dataset& operator*() const { return *batch_; }
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
  const Dataset* batch_ = nullptr;
  std::size_t index_ = 0;
};

inline Loader::Iterator Loader::begin() {
  start_epoch();
  return Iterator(*this);
}

}  // namespace tilewright::data
