#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/loader_state.hpp"
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
///
/// state() and resume() continue a run that ended, batch for batch; batches that a thread made ahead do not count:
///
///     loader.resume(state);
///     for (auto epoch = state.epoch; epoch < 10; ++epoch)
///       for (const auto& batch : loader) train(batch.images, batch.labels), save(loader.state());
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
  /// Starts a new epoch, which ends the one before; after resume(), goes on with the epoch that it led into.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  /// What comes after the batch that was handed out last. At the end of an epoch, that is its end: nothing is left of it.
  LoaderState state() const {
    return {options_.seed, begun_ == 0 ? 0 : begun_ - 1, handed_out_, options_.batch_size, order_.size(), options_.shuffle};
  }
  /// Goes to a state of a loader of an equal data set and equal options; the seed is the state's. It draws the orders of all
  /// epochs so far, and ends the one before: its iterators are not to be used any more. Throws DataError, and changes nothing,
  /// for a state of a loader that differs.
  void resume(const LoaderState& state) {
    const auto require = [](std::string_view what, std::uint64_t given, std::uint64_t expected, bool fits) {
      if (!fits)
        throw DataError("Loader::resume", std::string(what) + " " + std::to_string(given),
                        "the loader's " + std::to_string(expected));
    };
    require("a batch size of", state.batch_size, options_.batch_size, state.batch_size == options_.batch_size);
    require("a number of images of", state.images, order_.size(), state.images == order_.size());
    require("shuffle", state.shuffle, options_.shuffle, state.shuffle == options_.shuffle);
    require("a number of batches of", state.batch, size(), state.batch <= size());
    if (prefetch_) prefetch_->cancel();  // nobody reads the order now
    options_.seed = state.seed;
    random_ = Random(state.seed);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    handed_out_ = state.batch;
    begun_ = 0;
    resumes_ = state.epoch > 0 || state.batch > 0;
    if (resumes_)
      while (begun_ <= state.epoch) draw_order();
  }

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
    for (std::size_t i = 0, index = first_ + chunk * chunk_; i < chunk_ && index < size(); ++i, ++index)
      gather(batches[i], index);
  }
  /// The order of the next epoch, which permutes that of the last one.
  void draw_order() {
    if (options_.shuffle) shuffle(std::span(order_), random_);
    ++begun_;
  }
  void start_epoch() {
    if (prefetch_) prefetch_->cancel();  // nobody reads the order now
    if (!std::exchange(resumes_, false)) {
      draw_order();
      handed_out_ = 0;
    }
    first_ = static_cast<std::size_t>(handed_out_);
    if (prefetch_) prefetch_->start((size() - first_ + chunk_ - 1) / chunk_);
  }
  const Dataset& batch(std::size_t index) {
    const std::size_t in_pass = index - first_;
    if (in_pass % chunk_ == 0) {
      if (prefetch_) made_ = &prefetch_->next();
      else gather_chunk(own_, in_pass);
    }
    handed_out_ = index + 1;
    return (*made_)[in_pass % chunk_];
  }

  const Dataset& dataset_;
  LoaderOptions options_;
  Random random_;
  std::vector<std::size_t> order_;  // a permutation of the data set's indices
  std::uint64_t begun_ = 0;  // epochs, with the current one
  std::uint64_t handed_out_ = 0;  // batches of the current epoch
  bool resumes_ = false;  // the next pass goes on with the current epoch
  std::size_t first_ = 0;  // the first batch of this pass
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

  explicit Iterator(Loader& loader) : loader_(&loader), index_(loader.first_) { gather(); }
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
  std::size_t index_;
};

inline Loader::Iterator Loader::begin() {
  start_epoch();
  return Iterator(*this);
}

}  // namespace tilewright::data
