// Lesson 9: checkpoints.
//
// A checkpoint is all that a run needs to go on: the variables of the session, those of the optimiser among them, and where the
// loader is. `Checkpoints` keeps them in a directory, one file for each. A file is either whole or not there, even if the program
// is killed while it writes. The files have the format safetensors, which Python reads, too.
//
// The program trains two sessions. The first makes 100 steps, and saves a checkpoint after 50. The second one begins with other
// weights, takes the checkpoint, and makes the last 50 steps. Both end with the same weights, bit for bit.
//
// It prints:
//
//     saved step 50
//     the second run goes on after step 50
//     both runs end with the same bits: yes
//
// Try: leave out the line with `resume`. The second loader then begins the epoch again. So the second session trains on other
// images than the first did after step 50, "saved step 50" comes twice, and the bits differ.
//
// labels: none
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <tilewright/checkpoint/checkpoints.hpp>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<32>, fc1), (Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor images) { return fc2(tw::ops::gelu(fc1(images.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05, .momentum = 0.9}, {{8, 28, 28}});
}

using Session = tw::Session<train_step>;
using Loader = tw::data::Loader<>;
constexpr tw::data::LoaderOptions in_batches{.batch_size = 8, .shuffle = true, .seed = 1};

/// Trains until the 100th batch of the first epoch.
void train(Session& session, Loader& loader, const tw::Checkpoints& checkpoints) {
  tw::train::run_epochs(session, loader, {.until_epoch = 1, .limit_batches = 100}, [&](const tw::train::Progress& progress) {
    if (progress.batch != 50) return;
    tw::Metadata metadata;
    metadata.set("loader", loader.state());
    checkpoints.save(progress.batch, session.host_tensors(), metadata);
    std::printf("saved step 50\n");
  });
}

bool equal(const Session& first, const Session& second) {
  return std::ranges::equal(first.host_tensors(), second.host_tensors(), [](const auto& a, const auto& b) {
    return a.name == b.name && std::ranges::equal(a.bytes, b.bytes);
  });
}

int main() {
  const auto digits = tw::data::generated_digits(1'000, /*seed*/ 1);
  const std::filesystem::path folder = "lesson_checkpoints";
  const tw::Checkpoints checkpoints(folder, {.keep = 3});  // the newest three

  Session first({.seed = 1});
  Loader first_loader(digits.train, in_batches);
  train(first, first_loader, checkpoints);

  Session second({.seed = 2});
  Loader second_loader(digits.train, in_batches);
  if (const auto last = checkpoints.newest()) {
    second.load_tensors(last->file);
    second_loader.resume(last->file.metadata<tw::data::LoaderState>("loader"));
    std::printf("the second run goes on after step %d\n", static_cast<int>(last->step));
  }
  train(second, second_loader, checkpoints);
  std::printf("both runs end with the same bits: %s\n", equal(first, second) ? "yes" : "no");
  std::filesystem::remove_all(folder);  // leave this out to look at the file
}
