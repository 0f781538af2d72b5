#pragma once
#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <tilewright/tilewright.hpp>
#include <tuple>
#include <xtensor/xadapt.hpp>

#include "options.hpp"
#include "progress.hpp"

struct BatchSizes {
  std::size_t train, test;
};

/// A batch as a session takes it: replicas have a part each, along a first axis.
template <class Session, class Batch>
decltype(auto) parts(const Batch& batch) {
  if constexpr (Session::plan.replicas == 1) {
    return (batch);
  } else {
    constexpr auto replicas = static_cast<std::size_t>(Session::plan.replicas);
    std::array<std::size_t, 1 + std::tuple_size_v<typename Batch::shape_type>> shape{replicas};
    std::ranges::copy(batch.shape(), shape.begin() + 1);
    shape[1] /= replicas;
    return xt::adapt(batch.data(), batch.size(), xt::no_ownership(), shape);
  }
}

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
      const auto loss = session.run("image"_s = parts<Session>(batch.images), "label"_s = parts<Session>(batch.labels))["loss"_s];
      bar.step(std::accumulate(loss.data(), loss.data() + loss.size(), 0.0F) / static_cast<float>(loss.size()));
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

/// Trains one session, copies the trained variables to a session for testing, and tests that.
template <auto train_step, auto test_step, tilewright::Target device>
void train_and_test(const Options& options, const tilewright::data::Digits& digits, BatchSizes batch_sizes) {
  tilewright::Session<train_step, device> train_session({.seed = options.seed, .threads = options.threads});
  train(train_session, digits.train, batch_sizes.train, options);

  tilewright::Session<test_step, device> test_session({.threads = options.threads});
  test_session.load_from_session(train_session);
  std::printf("Accuracy on test set: %.2f%%\n", accuracy(test_session, digits.test, batch_sizes.test));
}

/// The whole program: options, data, training and testing on the device that was asked for.
template <auto train_step, auto test_step>
int run_mnist(int argc, char** argv, const char* description, BatchSizes batch_sizes) {
  return run_mnist_program(argc, argv, description, [&](const Options& options, const tilewright::data::Digits& digits) {
    tilewright::visit_device(
        options.device, [&](auto device) { train_and_test<train_step, test_step, device.value>(options, digits, batch_sizes); });
  });
}
