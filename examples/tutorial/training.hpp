#pragma once
#include <algorithm>
#include <cstdio>
#include <tilewright/tilewright.hpp>

#include "options.hpp"
#include "progress.hpp"

/// Trains a session that takes "image" and "label" and gives "loss", and says how fast it was.
template <class Session>
void train(Session& session, const tilewright::data::Dataset& dataset, std::size_t batch_size, const Options& options) {
  using namespace tilewright::literals;
  tilewright::data::Loader loader(dataset, {.batch_size = batch_size, .shuffle = true, .seed = options.seed});
  const std::size_t batches = options.limit_batches == 0 ? loader.size() : std::min(options.limit_batches, loader.size());
  const Timer timer;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    std::printf("Epoch %d/%d\n", epoch, options.epochs);
    ProgressBar bar(batches);
    std::size_t count = 0;
    for (const auto& batch : loader) {
      if (count++ == batches) break;
      const auto outputs = session.run("image"_s = batch.images, "label"_s = batch.labels);
      bar.step(outputs["loss"_s]());
    }
  }
  const std::size_t steps = batches * static_cast<std::size_t>(options.epochs);
  std::printf("Trained %zu steps in %.2f s: %.0f it/s\n", steps, timer.seconds(), static_cast<double>(steps) / timer.seconds());
}

/// The share of images, in percent, for which the largest of a session's "outputs" is the label's.
template <class Session>
double accuracy(Session& session, const tilewright::data::Dataset& dataset, std::size_t batch_size) {
  using namespace tilewright::literals;
  std::size_t right = 0, count = 0;
  for (const auto& batch : tilewright::data::Loader(dataset, {.batch_size = batch_size})) {
    const auto outputs = session.run("image"_s = batch.images)["outputs"_s];
    for (std::size_t i = 0; i < batch_size; ++i) {
      const float* row = &outputs(i, 0);
      right += std::max_element(row, row + outputs.shape(1)) - row == batch.labels(i);
      ++count;
    }
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(count);
}
