#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/core/text.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/loading/loader_order.hpp"
#include "tilewright/data/shards.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright::data::detail {

/// Throws the error of options that a loader does not take, if there is one.
[[gnu::noinline]] inline void check_options(const LoaderOptions& options, std::size_t samples) {
  if (options.batch_size == 0) throw DataError("Loader", "a batch size of 0", "at least 1");
  if (options.drop_last && options.batch_size > samples)
    throw DataError("Loader", text("a batch size of ", options.batch_size, " with drop_last").string(),
                    text("at most the data set's ", samples).string());
  if (options.runs == 0 || options.shard >= options.shards || !divide(options.shards, options.runs, options.batch_size))
    throw DataError("Loader",
                    text("shard ", options.shard, " of ", options.shards, " of batches of ", options.batch_size, " in ",
                         options.runs, " runs")
                        .string(),
                    "a batch size that shards times runs divides, and a shard below shards,");
  if (options.shards > 1 && !options.drop_last)
    throw DataError("Loader", text(options.shards, " shards without drop_last").string(), "batches of one size");
}

template <class Build>
[[gnu::noinline]] LoaderOrder<Build>::LoaderOrder(const LoaderOptions& options, std::size_t samples)
    : batch_size_(options.batch_size),
      drops_last_(options.drop_last),
      shuffles_(options.shuffle),
      seed_(options.seed),
      random_(options.seed) {
  check_options(options, samples);
  order_ = sample_numbers("Loader", samples);
}

template <class Build>
std::size_t LoaderOrder<Build>::batches() const {
  const bool has_smaller = !drops_last_ && order_.size() % batch_size_ != 0;
  return order_.size() / batch_size_ + has_smaller;
}

template <class Build>
void LoaderOrder<Build>::draw_order() {
  if (shuffles_) shuffle(std::span(order_), random_);  // a permutation of the current order
  ++begun_;
}
template <class Build>
void LoaderOrder<Build>::start_epoch() {
  if (std::exchange(resumes_, false)) return;
  draw_order();
  handed_out_ = 0;
}

template <class Build>
LoaderState LoaderOrder<Build>::state() const {
  LoaderState state{seed_, 0, handed_out_, batch_size_, order_.size(), shuffles_};
  if (begun_ > 0) state.epoch = begun_ - 1;
  if (begun_ > 0 && !resumes_ && handed_out_ == batches()) state.epoch = begun_, state.batch = 0;
  return state;
}
template <class Build>
[[gnu::noinline]] void LoaderOrder<Build>::require_equal(const LoaderState& state) const {
  const auto fail = [](std::string_view what, std::uint64_t given, const Text& expected) {
    throw DataError("Loader::resume", text(what, " ", given).string(), expected.string());
  };
  const auto require_own = [&](std::string_view what, std::uint64_t given, std::uint64_t own, bool fits) {
    if (!fits) fail(what, given, text("the loader's ", own));
  };
  require_own("a batch size of", state.batch_size, batch_size_, state.batch_size == batch_size_);
  require_own("a number of samples of", state.images, order_.size(), state.images == order_.size());
  require_own("shuffle", state.shuffle, shuffles_, state.shuffle == shuffles_);
  require_own("a number of batches of", state.batch, batches(), state.batch <= batches());
  const std::uint64_t most_epochs = most_samples / (std::max)(order_.size(), std::size_t{1});
  if (state.epoch > most_epochs) fail("an epoch of", state.epoch, text("at most ", most_epochs));
}
template <class Build>
void LoaderOrder<Build>::move_to(const LoaderState& state) {
  seed_ = state.seed;
  random_ = Random(state.seed);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const bool is_at_end = state.batch > 0 && state.batch == batches();
  const std::uint64_t epoch = state.epoch + is_at_end;
  handed_out_ = is_at_end ? 0 : state.batch;
  resumes_ = epoch > 0 || handed_out_ > 0;
  begun_ = shuffles_ || !resumes_ ? 0 : epoch + 1;
  if (resumes_)
    while (begun_ <= epoch) draw_order();
}

}  // namespace tilewright::data::detail
