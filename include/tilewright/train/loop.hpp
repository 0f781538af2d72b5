#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "tilewright/data/loader.hpp"
#include "tilewright/session/session.hpp"
#include "tilewright/train/progress.hpp"

namespace tilewright::train {

/// Length of the training by run_epochs.
struct LoopOptions {
  std::uint64_t epochs = 1;  ///< epochs of this call; the unfinished part of the loader's current epoch counts as one
  std::uint64_t until_epoch =
      0;  ///< replaces `epochs`: total number of epochs at the end, counted from the loader's first; 0: not set
  std::uint64_t limit_batches = 0;  ///< batches of an epoch to train on; 0: all
};

/// Result of a training loop.
struct Trained {
  std::uint64_t steps = 0;  ///< runs of the session
  double seconds = 0;  ///< wall-clock time
};

namespace detail {

/// Returns the input with a name, or a scalar if no input has the name.
constexpr ExpectedStream input_named(std::string_view name, const auto& inputs) {
  for (const ExpectedStream& stream : inputs)
    if (stream.name == name) return stream;
  return {};
}
/// Returns the host array of an input of a session's program, for all replicas together, or a scalar if no input has the name.
template <class Session>
constexpr ExpectedStream input_named(std::string_view name) {
  return input_named(name, expected_streams<Session::plan, StreamDirection::host_to_device>());
}

/// Returns the images or labels of a batch in the shape of the session's input `name`. The shape has leading axes for several
/// micro-batches and replicas.
template <class Session, NameText name, class Array>
decltype(auto) as_input([[maybe_unused]] const Session& session, Name<name>, const Array& batch) {
  constexpr int rank = input_named<Session>(name.view()).host_shape.rank;
  if constexpr (rank <= static_cast<int>(std::tuple_size_v<typename Array::shape_type>)) {
    return (batch);
  } else {
    const Shape shape = input_named(name.view(), session.expected_inputs()).host_shape;
    if (static_cast<std::int64_t>(batch.size()) != shape.nelms())
      throw std::invalid_argument(text("batch: '", name.view(), "' has ", batch.size(), " elements: ", shape.nelms(), " for ",
                                       to_text(shape), " expected")
                                      .string());
    std::array<std::size_t, static_cast<std::size_t>(rank)> extents{};
    for (std::size_t axis = 0; axis < extents.size(); ++axis) extents[axis] = static_cast<std::size_t>(shape.extents[axis]);
    return xt::adapt(batch.data(), batch.size(), xt::no_ownership(), extents);
  }
}

/// Returns the mean of an array of numbers, in float32.
float mean(const auto& values) {
  const auto add = [](float sum, auto value) { return sum + static_cast<float>(value); };
  return std::accumulate(values.data(), values.data() + values.size(), 0.0F, add) / static_cast<float>(values.size());
}

}  // namespace detail

/// Number of images in one run of a session's program: those of all micro-batches on all replicas.
template <class Session>
inline constexpr std::size_t batch_size = [] {
  const ExpectedStream images = detail::input_named<Session>("image");
  return images.spec.shape.rank == 0
             ? std::size_t{0}
             : static_cast<std::size_t>(images.host_shape.nelms() / images.spec.nelms() * images.spec.shape[0]);
}();

/// Trains a session of a train_step on a loader's batches of `batch_size<Session>` images, and calls report(Progress) after each.
/// Training starts at the loader's position, which is in the middle of an epoch after Loader::resume. A run that may be resumed
/// sets `until_epoch`: if it was finished, it makes no further step. Throws std::invalid_argument for a batch of another size. If
/// several processes train, each has a loader of its shard of the batches, see tilewright::distributed::shard. Not yet stable.
///
///     tw::data::Loader loader(digits.train, {.batch_size = tw::train::batch_size<decltype(session)>, .shuffle = true});
///     tw::train::run_epochs(session, loader, {.epochs = 3}, tw::train::ProgressBar());
template <class Session, class Data, std::invocable<const Progress&> Report>
Trained run_epochs(Session& session, data::Loader<Data>& loader, const LoopOptions& options, Report&& report) {
  using namespace literals;
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t all = loader.size(), batches = options.limit_batches == 0 ? all : std::min(options.limit_batches, all);
  const auto finished = [&](const data::LoaderState& state) { return state.epoch + (state.batch >= batches ? 1 : 0); };
  const std::uint64_t before = finished(loader.state()), most = std::numeric_limits<std::uint64_t>::max() - before;
  const std::uint64_t last = options.until_epoch != 0 ? options.until_epoch : before + std::min(options.epochs, most);
  Trained trained;
  while (finished(loader.state()) < last) {
    for (const Data& batch : loader) {
      const data::LoaderState next = loader.state();
      const bool is_last = next.batch == 0;  // then the loader is at the next epoch's beginning
      const std::uint64_t epoch = is_last ? next.epoch : next.epoch + 1, number = is_last ? all : next.batch;
      if (number > batches) break;
      const auto& images = detail::as_input(session, "image"_s, batch.images);
      const auto& labels = detail::as_input(session, "label"_s, batch.labels);
      const auto loss = session.run("image"_s = images, "label"_s = labels)["loss"_s];
      ++trained.steps;
      report(Progress{.epoch = epoch, .epochs = last, .batch = number, .batches = batches, .loss = detail::mean(loss)});
    }
  }
  trained.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trained;
}
template <class Session, class Data>
Trained run_epochs(Session& session, data::Loader<Data>& loader, const LoopOptions& options = {}) {
  return run_epochs(session, loader, options, [](const Progress&) {});
}

/// Returns the share of images, from 0 to 1, whose largest output is that of the label, for a session of a test_step. Each image
/// counts once; images that only fill up the last batch do not count. Outputs that contain a NaN are wrong. Throws
/// std::invalid_argument for a data set without images. Not yet stable.
template <class Session, data::Samples Data>
double accuracy(Session& session, const Data& dataset) {
  using namespace literals;
  const std::size_t count = dataset.size();
  if (count == 0) throw std::invalid_argument("accuracy: no images: at least one expected");
  auto shape = dataset.images.shape();
  shape[0] = batch_size<Session>;
  auto images = std::remove_cvref_t<decltype(dataset.images)>::from_shape(shape);
  const std::size_t elements = dataset.images.size() / count;  // of an image
  std::size_t right = 0;
  for (std::size_t first = 0; first < count; first += batch_size<Session>) {
    for (std::size_t i = 0; i < batch_size<Session>; ++i)
      std::copy_n(dataset.images.data() + (first + i) % count * elements, elements, images.data() + i * elements);
    const auto outputs = session.run("image"_s = detail::as_input(session, "image"_s, images))["outputs"_s];
    const std::size_t classes = outputs.shape(outputs.dimension() - 1);
    for (std::size_t i = 0; i < batch_size<Session> && first + i < count; ++i) {
      const auto* row = outputs.data() + i * classes;
      const bool has_nan = std::any_of(row, row + classes, [](auto output) { return output != output; });
      right += !has_nan && std::max_element(row, row + classes) - row == dataset.labels(first + i);
    }
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace tilewright::train
