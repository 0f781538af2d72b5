// Trains the network of mnist.cpp on four replicas in one, two or four processes: `./dev launch 2 mnist_instances`. The accuracy
// and the weights do not depend on the number of processes, nor on how often a run was killed and resumed, with another number of
// processes too.
//
// labels: more
// test: --limit-batches 100 --threads 1
// processes: 2 4
// expect-regex: ^Hash of weights: [0-9a-f]{16}$
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --help
// expect: --resume
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <tilewright/distributed/checkpoints.hpp>
#include <tilewright/distributed/distributed.hpp>
#include <tilewright/target/devices.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/progress_bar.hpp>

#include "../tutorial/net.hpp"
#include "../tutorial/options.hpp"
#include "../tutorial/steps.hpp"

constexpr void train_on_replicas(tw::Ir& ir) {
  constexpr int replicas = 4;
  ir.set_replication_factor(replicas);
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = replicas * learning_rate}, {{8, 28, 28}});
}

/// FNV-1a of the bytes of all variables.
template <class Session>
std::uint64_t hash_of_weights(const Session& session) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const tw::HostTensor& tensor : session.host_tensors())
    for (const std::byte byte : tensor.bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

struct CheckpointOptions {
  std::string folder;  ///< empty: none
  std::uint64_t every = 500;
  bool resume = false;
};

template <tw::Target device>
void train_and_test(const Options& options, const CheckpointOptions& checkpoint_options, const tw::data::Digits& digits) {
  const bool is_first = tw::distributed::Processes::world().is_first();
  using TrainSession = tw::distributed::Session<train_on_replicas, device>;
  TrainSession session({.seed = options.seed, .threads = options.threads});
  // the batches of the program, of which each process loads what its replicas take
  tw::data::Loader loader(
      digits.train, tw::distributed::shard(
                        session, {.batch_size = tw::train::batch_size<TrainSession>, .shuffle = true, .seed = options.seed}));

  std::optional<tw::distributed::Checkpoints> checkpoints;
  std::uint64_t step = 0;
  if (!checkpoint_options.folder.empty()) checkpoints.emplace(checkpoint_options.folder);
  if (checkpoints && checkpoint_options.resume) {
    if (const auto last = checkpoints->newest()) {
      session.load_tensors(last->file);
      loader.resume(last->file.metadata<tw::data::LoaderState>("loader"));
      step = last->step;
    }
    std::printf("Resuming after step %llu\n", static_cast<unsigned long long>(step));
  } else if (checkpoints && !checkpoints->steps().empty()) {
    throw std::runtime_error(checkpoint_options.folder +
                             " has checkpoints of another run: --resume, or another --folder, expected");
  }

  const tw::train::EpochLoopOptions loop{.until_epoch = static_cast<std::uint64_t>(options.epochs),
                                         .limit_batches = options.limit_batches};
  tw::train::ProgressBar bar;
  const auto [steps, seconds] = tw::train::run_epochs(session, loader, loop, [&](const tw::train::Progress& progress) {
    if (is_first && progress.batch == 1)
      std::printf("Epoch %d/%d\n", static_cast<int>(progress.epoch), static_cast<int>(progress.epochs));
    if (is_first) bar(progress);
    const bool last = progress.epoch == progress.epochs && progress.batch == progress.batches;
    if (++step % checkpoint_options.every != 0 && !last) return;
    if (!checkpoints) return;
    tw::Metadata metadata;
    metadata.set("loader", loader.state());
    checkpoints->save(step, session.host_tensors(), metadata);
    std::printf("Saved step %llu\n", static_cast<unsigned long long>(step));
    std::fflush(stdout);
  });
  std::printf("Trained %d steps in %.2f s: %.0f it/s\n", static_cast<int>(steps), seconds, static_cast<double>(steps) / seconds);

  tw::Session<test_step<Net, 80, 28, 28>, device> test_session({.threads = options.threads});
  test_session.load_from_session(session);  // all processes fetch the variables together
  std::printf("Hash of weights: %016llx\n", static_cast<unsigned long long>(hash_of_weights(session)));
  if (is_first) std::printf("Accuracy on test set: %.2f%%\n", 100 * tw::train::accuracy(test_session, digits.test));
}

int main(int argc, char** argv) {
  // one process speaks for all
  if (!tw::distributed::Processes::world().is_first() && !std::freopen("/dev/null", "w", stdout)) return 1;
  CheckpointOptions checkpoint_options;
  return run_mnist_program(
      argc, argv, "Trains a network on MNIST, on four replicas in several processes, and tests it.",
      [&](const Options& options, const tw::data::Digits& digits) {
        tw::distributed::end_all_on_exception([&] {
          tw::visit_device(options.device,
                           [&](auto device) { train_and_test<device.value>(options, checkpoint_options, digits); });
        });
      },
      [&](CLI::App& app) {
        app.add_option("--folder", checkpoint_options.folder, "Folder of the run's checkpoints; default: none are written");
        app.add_option("--every", checkpoint_options.every, "Steps from one checkpoint to the next")
            ->capture_default_str()
            ->check(CLI::PositiveNumber);
        app.add_flag("--resume", checkpoint_options.resume, "Continue from the newest checkpoint, if there is one");
      });
}
