// Lesson 11: a simulated IPU.
//
// The second argument of a session is the machine. `tw::gc200` is a model of Graphcore's chip: 1,472 tiles with 624 KiB of memory
// each. The planner cuts the work for them, and says where each number lies and what tiles send each other. A run computes on the
// host, with the results that a chip would have. Bytes and cycles are arithmetic on the plan. So the compiler knows them: a
// static_assert can hold a program to its memory, and main() prints them without a run.
//
// `./dev report mnist` makes the whole report of such a plan, a page for a browser: the memory of each tile, and the cycles of
// each step.
//
// It prints:
//
//     bytes of the fullest tile: 56068 of 638976
//       variables 656, constants 0, frame 2400, padding 31168, code 12372, stack 1280, reserve 8192
//     cycles of a run: 37637
//       compute 13319, exchange 2110, barriers 3024, host 19184
//     loss of the last step: 0.0...
//
// The frame is what the fullest step of the program uses: tensors, and data from other tiles. The padding is gaps between them:
// most of it lies between the input and the sums of a product, which are loaded in the same cycle and so in different banks.
// The reserve is for the chip's run-time system.
//
// Try: tiles of 16 KiB, by tw::gc200.with_bytes_per_tile(16 * 1024). The first static_assert fails, and the error of the
// session says what needs the memory. Without a session, static_assert(tw::require_fits<train_step, ipu>()) says the same.
//
// labels: none
#include <iostream>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<128>, fc1), (Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor images) { return fc2(tw::ops::gelu(fc1(images.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }

constexpr tw::Target ipu = tw::gc200;
static_assert(tw::fits<train_step, ipu>);
static_assert(tw::peak_bytes<train_step, ipu> < 64 * 1024);  // of the fullest tile
static_assert(tw::cycles<train_step, ipu> < 100'000);  // of a run

int main() {
  constexpr auto memory = tw::peak_memory<train_step, ipu>;
  std::cout << "bytes of the fullest tile: " << memory.total() << " of " << ipu.bytes_per_tile << "\n  variables "
            << memory.variables << ", constants " << memory.constants << ", frame " << memory.frame << ", padding "
            << memory.padding << ", code " << memory.code.total() << ", stack " << memory.stack << ", reserve " << memory.reserve
            << '\n';
  constexpr auto use = tw::cycle_use<train_step, ipu>;
  std::cout << "cycles of a run: " << use.total() << "\n  compute " << use.compute << ", exchange " << use.exchange
            << ", barriers " << use.sync << ", host " << use.host << '\n';

  const auto digits = tw::data::generated_digits(2'000, /*seed*/ 1);
  tw::Session<train_step, ipu> session({.seed = 1});
  tw::data::Loader batches(digits.train, {.batch_size = 8, .shuffle = true, .seed = 1});
  float loss = 0;
  tw::train::run_epochs(session, batches, {.epochs = 2}, [&](const auto& progress) { loss = progress.loss; });
  std::cout << "loss of the last step: " << loss << '\n';
}
