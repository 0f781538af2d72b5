#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright::data {

struct LoaderOptions {
  std::size_t batch_size = 1;
  bool shuffle = false;  ///< a new order every epoch; else always the data set's
  bool drop_last = true;  ///< leave out the last images if they fill no batch; else the last batch is smaller
  std::uint64_t seed = 0;  ///< decides the orders of all epochs, on every platform
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
  }
  Loader(const Dataset&&, const LoaderOptions&) = delete;  // the data set would not outlive the loader

  /// The number of batches in an epoch.
  std::size_t size() const { return (order_.size() + (options_.drop_last ? 0 : options_.batch_size - 1)) / options_.batch_size; }
  /// Starts a new epoch, which ends the one before.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  /// Fills the batch with the next images of the epoch. (Only a smaller last batch allocates.)
  void gather(std::size_t index) {
    const std::size_t begin = index * options_.batch_size, count = std::min(options_.batch_size, order_.size() - begin);
    const std::size_t image_size = dataset_.image_size();
    batch_.images.resize({count, dataset_.images.shape(1), dataset_.images.shape(2)});
    batch_.labels.resize({count});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = order_[begin + i];
      std::copy_n(dataset_.images.data() + from * image_size, image_size, batch_.images.data() + i * image_size);
      batch_.labels(i) = dataset_.labels(from);
    }
  }

  const Dataset& dataset_;
  LoaderOptions options_;
  Random random_;
  std::vector<std::size_t> order_;  // a permutation of the data set's indices
  Dataset batch_;
};

/// Walks through one epoch, once.
class Loader::Iterator {
 public:
  using value_type = Dataset;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(Loader& loader) : loader_(&loader) { gather(); }
  const Dataset& operator*() const { return loader_->batch_; }
  Iterator& operator++() {
    ++index_;
    gather();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return index_ == loader_->size(); }

 private:
  void gather() {
    if (index_ < loader_->size()) loader_->gather(index_);
  }

  Loader* loader_;
  std::size_t index_ = 0;
};

inline Loader::Iterator Loader::begin() {
  if (options_.shuffle) shuffle(std::span(order_), random_);
  return Iterator(*this);
}

}  // namespace tilewright::data
