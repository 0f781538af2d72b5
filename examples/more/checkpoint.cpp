// Trains with Adam and saves a checkpoint every few steps; --resume goes on from the newest one. A run that was stopped,
// however often, ends with the same variables, bit for bit, as one that never was: the hash shows it.
//
// labels: none
// test: --limit-batches 60 --every 20 --threads 1
// expect: Saved step 60
// expect-regex: ^Variables after step 60: [0-9a-f]{16}$
// test: --limit-batches 30 --epochs 2 --every 25 --resume
// expect: Saved step 25
// expect: Saved step 60
// test: --help
// expect: --resume
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/train/train.hpp>

#include "../tutorial/net.hpp"
#include "../tutorial/options.hpp"

/// Adam's state, two moments and a count of steps for each variable, are variables like all others:
/// adam.fc1.weight.first_order and so on.
constexpr void train_with_adam(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 1e-3}, {{8, 28, 28}}, {.optimiser_prefix = "adam"});
}

struct CheckpointOptions {
  std::string folder = "checkpoints";
  std::uint64_t every = 500;
  bool resume = false;
};

/// FNV-1a of the bytes of all variables, one after the other.
std::uint64_t hash_of(std::span<const tw::HostTensor> variables) {
  std::string bytes;
  for (const auto& variable : variables)
    bytes.append(reinterpret_cast<const char*>(variable.bytes.data()), variable.bytes.size());
  return tw::hash_of(bytes);
}

template <tw::Target device>
void train(const Options& options, const CheckpointOptions& checkpoint_options, const tw::data::Dataset& dataset) {
  using Session = tw::Session<train_with_adam, device>;
  Session session({.seed = options.seed, .threads = options.threads});
  tw::data::Loader loader(dataset, {.batch_size = tw::train::batch_size<Session>, .shuffle = true, .seed = options.seed});
  const tw::Checkpoints checkpoints(checkpoint_options.folder, {.keep = 3});

  std::uint64_t step = 0;
  if (checkpoint_options.resume) {
    if (const auto last = checkpoints.newest()) {
      for (const auto& problem : last->skipped) std::printf("Skipped: %s\n", problem.c_str());
      session.load_tensors(last->file);
      loader.resume(last->file.metadata<tw::data::LoaderState>("loader"));
      step = last->step;
    }
    std::printf("Resuming after step %llu\n", static_cast<unsigned long long>(step));
  } else if (!checkpoints.steps().empty()) {
    throw std::runtime_error(checkpoint_options.folder +
                             " has checkpoints of another run: --resume, or another --folder, expected");
  }
  std::fflush(stdout);

  const tw::train::EpochLoopOptions loop{.until_epoch = static_cast<std::uint64_t>(options.epochs),
                                         .limit_batches = options.limit_batches};
  tw::train::run_epochs(session, loader, loop, [&](const tw::train::Progress& progress) {
    const bool last = progress.epoch == progress.epochs && progress.batch == progress.batches;
    if (++step % checkpoint_options.every != 0 && !last) return;
    tw::Metadata metadata;
    metadata.set("loader", loader.state());
    checkpoints.save(step, session.host_tensors(), metadata);
    std::printf("Saved step %llu\n", static_cast<unsigned long long>(step));
    std::fflush(stdout);
  });
  std::printf("Variables after step %llu: %016llx\n", static_cast<unsigned long long>(step),
              static_cast<unsigned long long>(hash_of(session.host_tensors())));
}

int main(int argc, char** argv) {
  CheckpointOptions checkpoint_options;
  return run_mnist_program(
      argc, argv, "Trains a network of four linear layers on MNIST with Adam, and saves checkpoints.",
      [&](const Options& options, const tw::data::Digits& digits) {
        if (options.device == "cpu") train<tw::cpu>(options, checkpoint_options, digits.train);
        else train<tw::ipu_model>(options, checkpoint_options, digits.train);
      },
      [&](CLI::App& app) {
        app.add_option("--folder", checkpoint_options.folder, "Folder of the run's checkpoints")->capture_default_str();
        app.add_option("--every", checkpoint_options.every, "Steps from one checkpoint to the next")
            ->capture_default_str()
            ->check(CLI::PositiveNumber);
        app.add_flag("--resume", checkpoint_options.resume, "Continue from the newest checkpoint, if there is one");
      });
}
