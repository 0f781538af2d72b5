#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright {

struct LoaderOptions {
  bool shuffle = true;      ///< a new order every epoch, or always the data set's
  bool drop_last = true;    ///< leave out the batch that is not full, or hand it out smaller
  std::uint64_t seed = 42;  ///< decides every order of every epoch, on every platform
};

/// A view of one mini-batch, valid until the loader moves on.
struct Batch {
  const xt::xtensor<float, 3>& images;         ///< [batch size, height, width]
  const xt::xtensor<std::int32_t, 1>& labels;  ///< [batch size]
};

/// Hands out a data set in mini-batches. Iterating once is one epoch: begin() draws the next order from the generator,
/// so epochs differ, and two loaders of equal seeds agree epoch by epoch. All memory is allocated at construction.
/// The data set is not copied: it must outlive the loader and keep its shape. A loader runs one epoch at a time.
///
///     tw::Loader loader(train, 8, {.seed = 7});
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const auto& batch : loader) session.run("image"_s = batch.images, "label"_s = batch.labels);
class Loader {
 public:
  class Iterator;

  /// Throws DataError when batch_size is 0, when the data set has not one label for each image, and when drop_last
  /// would leave no batch at all.
  Loader(const Dataset& dataset, std::size_t batch_size, LoaderOptions options = {})
      : dataset_(dataset), options_(options), random_(options.seed), order_(dataset.images.shape(0)) {
    const std::size_t count = order_.size();
    if (dataset.labels.shape(0) != count)
      fail(std::to_string(count) + " images and " + std::to_string(dataset.labels.shape(0)) + " labels",
           "one label for each image");
    if (batch_size == 0) fail("batch size 0", "at least 1");
    if (options.drop_last && batch_size > count)
      fail("batch size " + std::to_string(batch_size) + " with drop_last",
           "at most the data set's " + std::to_string(count) + " images");

    std::iota(order_.begin(), order_.end(), std::size_t{0});
    full_count_ = count / batch_size;
    if (full_count_ > 0) full_ = buffers(batch_size);
    if (!options.drop_last) rest_ = buffers(count % batch_size);
  }
  Loader(const Dataset&&, std::size_t, LoaderOptions = {}) = delete;  // the data set must outlive the loader

  /// The number of batches in an epoch.
  std::size_t size() const { return full_count_ + (rest_.labels.size() > 0 ? 1 : 0); }

  /// Starts a new epoch. Iterators of the epoch before are no longer valid.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  [[noreturn]] static void fail(const std::string& given, const std::string& expected) {
    throw DataError("Loader: " + given + ": expected " + expected);
  }

  Dataset buffers(std::size_t batch_size) const {
    return {xt::xtensor<float, 3>::from_shape({batch_size, dataset_.images.shape(1), dataset_.images.shape(2)}),
            xt::xtensor<std::int32_t, 1>::from_shape({batch_size})};
  }

  /// A batch of another size has buffers of its own: resizing an xtensor allocates.
  Dataset& buffers_of(std::size_t batch) { return batch < full_count_ ? full_ : rest_; }

  void gather(std::size_t batch) {
    Dataset& to = buffers_of(batch);
    const std::size_t image_size = dataset_.images.shape(1) * dataset_.images.shape(2);
    const std::size_t* indices = order_.data() + batch * full_.labels.size();
    for (std::size_t i = 0; i < to.labels.size(); ++i) {
      std::copy_n(dataset_.images.data() + indices[i] * image_size, image_size, to.images.data() + i * image_size);
      to.labels.data()[i] = dataset_.labels.data()[indices[i]];
    }
  }

  const Dataset& dataset_;
  LoaderOptions options_;
  Random random_;
  std::vector<std::size_t> order_;  // a permutation of the data set's indices
  std::size_t full_count_ = 0;
  Dataset full_, rest_;  // buffers of the full batches and of the smaller last one
};

/// Walks through one epoch: a single-pass input iterator.
class Loader::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(Loader& loader) : loader_(&loader) { gather(); }

  Batch operator*() const {
    const Dataset& batch = loader_->buffers_of(batch_);
    return {batch.images, batch.labels};
  }
  Iterator& operator++() {
    ++batch_;
    gather();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return batch_ == loader_->size(); }

 private:
  void gather() {
    if (batch_ < loader_->size()) loader_->gather(batch_);
  }

  Loader* loader_;
  std::size_t batch_ = 0;
};

inline Loader::Iterator Loader::begin() {
  if (options_.shuffle) detail::shuffle(std::span(order_), random_);
  return Iterator(*this);
}

}  // namespace tilewright
