#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tilewright/data/loader.hpp"
#include "tilewright/session/session.hpp"
#include "tilewright/train/progress.hpp"
#include "tilewright/train/step_inputs.hpp"

namespace tilewright::train {

/// Length of the training by run_epochs, and the seed of its steps.
struct EpochLoopOptions {
  std::uint64_t epochs = 1;  ///< epochs of this call; the unfinished part of the loader's current epoch counts as one
  std::uint64_t until_epoch =
      0;  ///< replaces `epochs`: total number of epochs at the end, counted from the loader's first; 0: not set
  std::uint64_t limit_batches = 0;  ///< batches of an epoch to train on; 0: all
  std::uint64_t seed = 0;  ///< determines the stream "seed" of each step, if the program has one, such as for dropout
};

/// Length of the training by run_steps, and the seed of its steps.
struct StepLoopOptions {
  std::uint64_t steps = 1;  ///< steps of this call
  std::uint64_t until_step = 0;  ///< replaces `steps`: total number of steps at the end, counted from step 0; 0: not set
  std::uint64_t first_step = 0;  ///< number of steps before the first one, for a function that makes batches
  std::uint64_t seed = 0;  ///< determines the stream "seed" of each step, if the program has one, such as for dropout
};

/// Result of a training loop.
struct Trained {
  std::uint64_t steps = 0;  ///< runs of the session
  double seconds = 0;  ///< wall-clock time
};

/// Batches by epoch, such as a data::Loader: an iteration is an epoch, size() the number of its batches, and state() the position
/// after the last batch, which has the members `epoch` and `batch`.
template <class T>
concept EpochBatches = requires(T batches) {
  { batches.size() } -> std::convertible_to<std::uint64_t>;
  { batches.state().epoch } -> std::convertible_to<std::uint64_t>;
  { batches.state().batch } -> std::convertible_to<std::uint64_t>;
  *batches.begin();
};
/// Batches without epochs, such as data::TextBatches: next() returns the next batch, step() the number of batches before it.
template <class T>
concept StepBatches = requires(T batches) {
  batches.next();
  { batches.step() } -> std::convertible_to<std::uint64_t>;
};
/// Report of a loop: report(progress) or report(progress, outputs of the run). It returns nothing, or a bool that is false to end
/// the training.
template <class T, class Session>
concept StepReport = std::invocable<T&, const Progress&> || std::invocable<T&, const Progress&, const typename Session::Outputs&>;

namespace detail {

/// Calls the report of a step. Returns whether the training goes on.
template <class Outputs>
bool reported(auto& report, const Progress& progress, const Outputs& outputs) {
  const auto call = [&]() -> decltype(auto) {
    if constexpr (requires { report(progress, outputs); }) return report(progress, outputs);
    else return report(progress);
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return true;
  } else {
    static_assert(std::same_as<std::remove_cvref_t<decltype(call())>, bool>,
                  "the report of a loop: a function that returns nothing, or a bool that is false to end the training, expected");
    return call();
  }
}

/// Measures the time of a loop.
class LoopClock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Returns the stream that has the samples of a batch: "image", or else the first one with an axis, apart from "seed".
template <class Session>
constexpr ExpectedStream samples_of() {
  const auto streams = expected_streams<Session::plan, StreamDirection::host_to_device>();
  for (const ExpectedStream& stream : streams)
    if (stream.name == "image") return stream;
  for (const ExpectedStream& stream : streams)
    if (stream.spec.shape.rank > 0 && !is_seed(stream)) return stream;
  return {};
}

/// Returns the sum of two numbers of epochs or steps, at most 2^64 - 1.
constexpr std::uint64_t sum_of_counts(std::uint64_t a, std::uint64_t b) {
  return a + (std::min)(b, (std::numeric_limits<std::uint64_t>::max)() - a);
}

}  // namespace detail

/// Number of samples in one run of a session's program, those of all micro-batches on all replicas: the first axis of the stream
/// "image", or else of the first stream that has an axis, times the micro-batches and replicas.
template <class Session>
inline constexpr std::size_t batch_size = [] {
  const ExpectedStream samples = detail::samples_of<Session>();
  return samples.spec.shape.rank == 0
             ? std::size_t{0}
             : static_cast<std::size_t>(samples.host_shape.nelms() / samples.spec.nelms() * samples.spec.shape[0]);
}();

/// Trains a session on batches of `batch_size<Session>` samples, and calls report(Progress) after each step. Each stream of the
/// program gets the array of the batch with its name, or with the plural of its name, such as `images` for "image". Other streams
/// are given by name: a number, an array, or a function of the step, counted from 0, such as a schedule. The stream "seed", (2,)
/// uint32, gets seeds that depend on `options.seed` and the step only, other ones for each micro-batch and replica. The stream
/// "loss" is reported.
///
/// Training starts at the loader's position, which is in the middle of an epoch after Loader::resume, or if a report ended the
/// training there. A run that may be resumed sets `until_epoch`: if it was finished, it makes no further step.
/// Errors: a stream without an array. Throws std::invalid_argument for a batch of another size. If several processes train, each
/// has a loader of its shard of the batches, see tilewright::distributed::shard.
///
///     tw::data::Loader loader(digits.train, {.batch_size = tw::train::batch_size<decltype(session)>, .shuffle = true});
///     tw::train::run_epochs(session, loader, {.epochs = 3}, tw::train::ProgressBar(), "rate"_s = schedule);
template <class Session, EpochBatches Loader, StepReport<Session> Report, class... Names, class... Values>
Trained run_epochs(Session& session, Loader& loader, const EpochLoopOptions& options, Report&& report,
                   NamedArgument<Names, Values>... given) {
  const detail::LoopClock clock;
  const std::uint64_t all = loader.size(), batches = options.limit_batches == 0 ? all : (std::min)(options.limit_batches, all);
  const auto finished = [&](const auto& state) { return state.epoch + (state.batch >= batches ? 1 : 0); };
  const std::uint64_t last = options.until_epoch != 0 ? options.until_epoch
                                                      : detail::sum_of_counts(finished(loader.state()), options.epochs);
  if constexpr (requires { loader.resume(loader.state()); })  // an epoch that a report ended goes on
    if (const auto state = loader.state(); state.batch > 0 && state.batch < batches) loader.resume(state);
  Trained trained;
  bool goes_on = true;
  while (goes_on && finished(loader.state()) < last) {
    for (const auto& batch : loader) {
      const auto next = loader.state();
      const bool is_last = next.batch == 0;  // then the loader is at the next epoch's beginning
      const std::uint64_t epoch = is_last ? next.epoch : next.epoch + 1, number = is_last ? all : next.batch;
      if (number > batches) break;
      const std::uint64_t step = (epoch - 1) * batches + number;
      const auto outputs = detail::run_batch(session, batch, {step - 1, options.seed}, given...);
      ++trained.steps;
      const Progress progress{.epoch = epoch,
                              .epochs = last,
                              .batch = number,
                              .batches = batches,
                              .loss = detail::loss_of<Session>(outputs),
                              .step = step};
      goes_on = detail::reported(report, progress, outputs);
      if (!goes_on) break;
    }
  }
  trained.seconds = clock.seconds();
  return trained;
}
/// Trains without a report.
template <class Session, EpochBatches Loader, class... Names, class... Values>
Trained run_epochs(Session& session, Loader& loader, const EpochLoopOptions& options = {},
                   NamedArgument<Names, Values>... given) {
  return run_epochs(
      session, loader, options, [](const Progress&) {}, NamedArgument<Names, Values>{std::forward<Values>(given.value)}...);
}

/// Trains a session on batches that have no epochs: those of `source.next()`, from `source.step()` on, or those that a function
/// source(step) draws, from `options.first_step` on. Streams, seeds and the report are those of run_epochs; `Progress::batch` is
/// the number of steps so far.
///
///     tw::data::TextBatches texts(corpus.training, {.batch_size = 12, .context = 64, .seed = 1});
///     tw::train::run_steps(session, texts, {.until_step = 2000}, tw::train::ProgressBar());
template <class Session, class Source, StepReport<Session> Report, class... Names, class... Values>
  requires(StepBatches<Source> || std::invocable<Source&, std::uint64_t>)
Trained run_steps(Session& session, Source&& source, const StepLoopOptions& options, Report&& report,
                  NamedArgument<Names, Values>... given) {
  const detail::LoopClock clock;
  std::uint64_t step = options.first_step;
  if constexpr (StepBatches<Source>) step = source.step();
  const std::uint64_t last = options.until_step != 0 ? options.until_step : detail::sum_of_counts(step, options.steps);
  const auto next_batch = [&]() -> decltype(auto) {
    if constexpr (StepBatches<Source>) return source.next();
    else return source(step);
  };
  Trained trained;
  bool goes_on = true;
  for (; step < last && goes_on; ++step) {
    const auto& batch = next_batch();
    const auto outputs = detail::run_batch(session, batch, {step, options.seed}, given...);
    ++trained.steps;
    const Progress progress{.batch = step + 1, .batches = last, .loss = detail::loss_of<Session>(outputs), .step = step + 1};
    goes_on = detail::reported(report, progress, outputs);
  }
  trained.seconds = clock.seconds();
  return trained;
}
/// Trains without a report.
template <class Session, class Source, class... Names, class... Values>
  requires(StepBatches<Source> || std::invocable<Source&, std::uint64_t>)
Trained run_steps(Session& session, Source&& source, const StepLoopOptions& options = {}, NamedArgument<Names, Values>... given) {
  return run_steps(
      session, source, options, [](const Progress&) {}, NamedArgument<Names, Values>{std::forward<Values>(given.value)}...);
}

}  // namespace tilewright::train
