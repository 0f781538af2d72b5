#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "tilewright/data/dataset.hpp"
#include "tilewright/data/subset.hpp"
#include "tilewright/train/loop.hpp"
#include "tilewright/train/metrics.hpp"

namespace tilewright::train {

/// Runs a session on all samples of a data set, in its order, in batches of `batch_size<Session>`, and calls use(outputs, batch,
/// count) after each. Only the first `count` samples of the batch count: the last batch is filled up with samples from the
/// beginning. Streams get their arrays as in run_epochs; arrays that the program does not use, such as labels, are there for
/// `use`. Throws std::invalid_argument for a data set without samples.
///
///     tw::train::Accuracy accuracy;
///     tw::train::evaluate(test, digits.test, [&](const auto& outputs, const auto& batch, std::size_t count) {
///       accuracy.add(outputs["outputs"_s], batch.labels, count);
///     });
template <class Session, data::Samples Data, class Use, class... Names, class... Values>
void evaluate(Session& session, const Data& dataset, Use&& use, NamedArgument<Names, Values>... given) {
  const std::size_t samples = data::detail::sample_count(dataset, "evaluate");
  if (samples == 0) throw std::invalid_argument("evaluate: no samples: at least one expected");
  constexpr std::size_t size = batch_size<Session>;
  static_assert(size > 0, "evaluate: a program with a stream that has an axis of the samples expected");
  std::vector<std::size_t> rows(size);
  for (std::size_t first = 0; first < samples; first += size) {
    for (std::size_t i = 0; i < size; ++i) rows[i] = (first + i) % samples;
    const Data batch = data::subset(dataset, std::span<const std::size_t>(rows));
    const auto outputs = detail::run_batch(session, batch, {first / size, 0}, given...);
    use(outputs, batch, (std::min)(size, samples - first));
  }
}

/// Returns the share of samples, from 0 to 1, whose largest output is that of the label, for a session of a test_step and a data
/// set with `labels`. Each sample counts once. Outputs that contain a NaN are wrong. Throws std::invalid_argument for a data set
/// without samples, and for a label that is no class.
template <class Session, data::Samples Data>
double accuracy(Session& session, const Data& dataset) {
  using namespace literals;
  Accuracy metric;
  evaluate(session, dataset, [&](const auto& outputs, const Data& batch, std::size_t count) {
    metric.add(outputs["outputs"_s], detail::array_at<detail::array_for<Data>("label")>(batch), count);
  });
  return metric.value();
}

}  // namespace tilewright::train
