#pragma once
#include <cstdio>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/progress_bar.hpp>

#include "options.hpp"
#include "processes.hpp"

/// Trains one session, copies the trained variables to a session for testing, tests that, and says how it went.
template <auto train_step, auto test_step, tilewright::Target device>
void train_and_test(const Options& options, const tilewright::data::Digits& digits) {
  namespace train = tilewright::train;
  using TrainSession = processes::Session<train_step, device>;
  TrainSession train_session({.seed = options.seed, .threads = options.threads, .strict = options.strict});
  tilewright::data::Loader loader(
      digits.train,
      processes::shard(train_session, {.batch_size = train::batch_size<TrainSession>, .shuffle = true, .seed = options.seed}));
  const train::LoopOptions loop{.epochs = static_cast<std::uint64_t>(options.epochs), .limit_batches = options.limit_batches};
  train::ProgressBar bar;
  const auto [steps, seconds] = train::run_epochs(train_session, loader, loop, [&bar](const train::Progress& progress) {
    if (progress.batch == 1) std::printf("Epoch %d/%d\n", static_cast<int>(progress.epoch), static_cast<int>(progress.epochs));
    if (processes::is_first()) bar(progress);
  });
  std::printf("Trained %d steps in %.2f s: %.0f it/s\n", static_cast<int>(steps), seconds, static_cast<double>(steps) / seconds);

  tilewright::Session<test_step, device> test_session({.threads = options.threads, .strict = options.strict});
  test_session.load_from_session(train_session);  // all processes fetch the variables together
  if (processes::is_first()) std::printf("Accuracy on test set: %.2f%%\n", 100 * train::accuracy(test_session, digits.test));
}

/// Options and data, then `train` with both, for each of the program's processes; one of them speaks for all. The exit status.
inline int run_in_processes(int argc, char** argv, const char* description, const MnistProgram& train) {
  processes::silence_others();
  return run_mnist_program(argc, argv, description, [&](const Options& options, const tilewright::data::Digits& digits) {
    processes::end_all_on_exception([&] { train(options, digits); });
  });
}

/// The whole program: options, data, training and testing on the device that was asked for.
template <auto train_step, auto test_step>
int run_mnist(int argc, char** argv, const char* description) {
  return run_in_processes(argc, argv, description, [&](const Options& options, const tilewright::data::Digits& digits) {
    tilewright::visit_device(options.device,
                             [&](auto device) { train_and_test<train_step, test_step, device.value>(options, digits); });
  });
}
